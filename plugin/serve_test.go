package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
)

func TestAHostThatIsKilledComesBackWithoutLosingAnEvent(t *testing.T) {
	dir := t.TempDir()
	host := exec.Command(os.Args[0], dir)
	host.Env = append(os.Environ(), RoleEnv+"=host")
	host.Stderr = os.Stderr
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(dir, "events")
	until(t, "events and the question at the first host", func() bool {
		return len(lines(t, events)) > 50 && exists(filepath.Join(dir, "asked"))
	})
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	host.Wait()
	var r record
	b, err := os.ReadFile(filepath.Join(dir, "record.json"))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-r.Pid, syscall.SIGKILL) })
	before := lines(t, events)

	addr, err := net.ResolveUnixAddr(r.Network, r.Address)
	if err != nil {
		t.Fatal(err)
	}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: Handshake(), Plugins: PluginMap(), Logger: hclog.NewNullLogger(),
		Reattach: &goplugin.ReattachConfig{Protocol: goplugin.ProtocolNetRPC, Addr: addr, Pid: r.Pid},
	})
	defer client.Kill()
	p, err := client.Client()
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(p)
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{answer: func(_ context.Context, q Question) (Answer, error) {
		if q.ID != "q" || q.Text != "go on?" {
			t.Errorf("asked %+v", q)
		}
		return Answer{Allow: true}, nil
	}}
	rec.push = func(b []Event) error {
		if b[len(b)-1].Seq > int64(len(before)+100) && !exists(filepath.Join(dir, "stop")) {
			return os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600)
		}
		return nil
	}
	res, err := c.Attach("r1").Follow(t.Context(), int64(len(before)), rec)
	if err != nil || res.Text != "true <nil>" {
		t.Errorf("got %+v, %v", res, err)
	}
	all := before
	for _, e := range rec.events {
		text, _ := DecodeText(e)
		all = append(all, fmt.Sprintf("%d %s", e.Seq, text))
	}
	for i, line := range all {
		want := fmt.Sprintf("%d %d", i+1, i)
		if i == 0 {
			want = "1 session started"
		}
		if line != want {
			t.Fatalf("event %d is %q, want %q", i+1, line, want)
		}
	}
}

func TestAHarnessEndsWhenNobodyNeedsIt(t *testing.T) {
	const short = GraceEnv + "=100ms"
	finish := func(t *testing.T, s Session) {
		if _, err := s.Follow(t.Context(), 0, &recorder{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("its run over and the host gone", func(t *testing.T) {
		c := startHarness(t, short)
		s, cut := c.start("flood 10")
		finish(t, s)
		cut()
		c.ends()
		if left, _ := filepath.Glob(filepath.Join(c.dir, "h-*")); len(left) > 0 {
			t.Errorf("its socket is still there: %v", left)
		}
	})
	t.Run("released and the host gone, whatever the grace", func(t *testing.T) {
		c := startHarness(t)
		s, cut := c.start("flood 10")
		finish(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		cut()
		c.ends()
	})
	t.Run("not while a host is there, nor while the run goes on", func(t *testing.T) {
		c := startHarness(t, GraceEnv+"=1ms")
		s, _ := c.start("flood 10")
		finish(t, s)
		<-time.After(50 * time.Millisecond)
		finish(t, s) // the host is still connected: the result can be had again
		c = startHarness(t, GraceEnv+"=1ms")
		_, cut := c.start("wait")
		cut()
		<-time.After(50 * time.Millisecond)
		client, _ := c.connect()
		again := client.Attach("r1")
		if err := again.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if res, err := again.Follow(t.Context(), 0, &recorder{}); err != nil || res.Subtype != SubtypeStopped {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}

func TestStopAgainstARealProcess(t *testing.T) {
	c := startHarness(t)
	s, _ := c.start("wait")
	rec := &recorder{push: func([]Event) error { return s.Stop(t.Context()) }}
	res, err := s.Follow(t.Context(), 0, rec)
	if err != nil || res.Subtype != SubtypeStopped {
		t.Errorf("obeyed: got %+v, %v", res, err)
	}
	if diff := cmp.Diff([]string{"system session started", "text good bye"}, rec.said()); diff != "" {
		t.Error(diff)
	}
	c = startHarness(t)
	s, _ = c.start("ignore")
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	rec = &recorder{push: func([]Event) error { return c.cmd.Process.Kill() }}
	if _, err := s.Follow(t.Context(), 0, rec); !errors.Is(err, ErrLost) {
		t.Errorf("ignored, then killed: got %v, want ErrLost", err)
	}
}

func TestADyingHarnessLeavesWhatItHandedOver(t *testing.T) {
	c := startHarness(t)
	s, _ := c.start("exit")
	rec := &recorder{push: func([]Event) error { c.touch("go"); return nil }}
	if _, err := s.Follow(t.Context(), 0, rec); !errors.Is(err, ErrLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
	if len(rec.said()) == 0 {
		t.Error("what it had told is lost")
	}
	until(t, "its last words on stderr", func() bool { return strings.Contains(c.stderr.String(), "about to die") })
}

func TestAHungHarnessIsLost(t *testing.T) {
	c := startHarness(t)
	client, _ := c.connect()
	client.Heartbeat = 200 * time.Millisecond
	s, err := client.Start(t.Context(), Task{RunID: "r1", WorkDir: c.dir, Title: "wait"})
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{push: func([]Event) error { return c.cmd.Process.Signal(syscall.SIGSTOP) }}
	if _, err := s.Follow(t.Context(), 0, rec); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "no answer to Next") {
		t.Errorf("got %v, want ErrLost", err)
	}
}

func TestAPanicDoesNotEndTheProcess(t *testing.T) {
	c := startHarness(t)
	s, _ := c.start("panic")
	res, err := s.Follow(t.Context(), 0, &recorder{})
	if err != nil || res.Text != "the harness panicked: boom" {
		t.Errorf("got %+v, %v", res, err)
	}
	until(t, "the stack on stderr", func() bool { return strings.Contains(c.stderr.String(), "plugin.play(") })
	if strings.Contains(strings.Join(res.Errors, ""), "goroutine") {
		t.Error("a stack has no place in a transcript")
	}
}

func TestAFloodNeedsLittleMemory(t *testing.T) {
	const n = 12_000
	c := startHarness(t)
	s, _ := c.start(fmt.Sprint("flood ", n))
	rec := &recorder{push: func(b []Event) error {
		if b[0].Seq == 1 {
			<-time.After(300 * time.Millisecond) // a slow disk
		}
		return nil
	}}
	if _, err := s.Follow(t.Context(), 0, rec); err != nil {
		t.Fatal(err)
	}
	rec.inOrder(t, 1)
	if len(rec.events) != n+1 {
		t.Errorf("got %d events, want %d", len(rec.events), n+1)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid()))
	if err != nil {
		t.Skipf("peak memory is not known here: %v", err)
	}
	peak, _ := strconv.Atoi(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindStringSubmatch(string(status))[1])
	if peak > 150<<10 {
		t.Errorf("the harness took %d kB", peak)
	}
}

func TestSignalsOfAHarness(t *testing.T) {
	t.Run("TERM stops the run, hands over its end and leaves nothing", func(t *testing.T) {
		c := startHarness(t)
		s, cut := c.start("command sleep 600")
		rec := &recorder{push: func(b []Event) error {
			if b[len(b)-1].Kind == KindLog {
				c.cmd.Process.Signal(syscall.SIGINT) // both mean nothing to it
				c.cmd.Process.Signal(syscall.SIGHUP)
				return c.cmd.Process.Signal(syscall.SIGTERM)
			}
			return nil
		}}
		res, err := s.Follow(t.Context(), 0, rec)
		if err != nil || res.Subtype != SubtypeStopped {
			t.Errorf("got %+v, %v", res, err)
		}
		cut()
		c.ends()
		if pid := commandPid(t, rec); alive(pid) {
			t.Error("its program lives")
		}
	})
	t.Run("TERM ends one that ignores it", func(t *testing.T) {
		c := startHarness(t)
		c.start("ignore")
		c.cmd.Process.Signal(syscall.SIGTERM)
		c.ends()
	})
	t.Run("programs do not inherit what it ignores", func(t *testing.T) {
		c := startHarness(t)
		s, _ := c.start("command yes | head -n 1; kill -PIPE $$; echo alive")
		res, err := s.Follow(t.Context(), 0, &recorder{})
		if err != nil || res.Text != "y\n" {
			t.Errorf("got %q, %v", res.Text, err)
		}
	})
}

func TestQuitEndsTheRunAndItsPrograms(t *testing.T) {
	c := startHarness(t)
	s, _ := c.start("command trap '' TERM; sleep 600; sleep 600")
	rec := &recorder{}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	rec.push = func(b []Event) error {
		if b[len(b)-1].Kind == KindLog {
			leave()
		}
		return nil
	}
	s.Follow(ctx, 0, rec)
	c.client.Kill()
	c.ends()
	pid := commandPid(t, rec)
	until(t, "the end of its program", func() bool { return !alive(pid) })
}

func commandPid(t *testing.T, rec *recorder) int {
	t.Helper()
	for _, s := range rec.said() {
		var pid int
		if n, _ := fmt.Sscanf(s, "log pid %d", &pid); n == 1 {
			return pid
		}
	}
	t.Fatalf("no pid in %q", rec.said())
	return 0
}

func TestServeRefusesWhatItCannotServe(t *testing.T) {
	hs := Handshake()
	cookie := hs.MagicCookieKey + "=" + hs.MagicCookieValue
	for _, tt := range []struct {
		name, env, want string
	}{
		{"a person", "", "is a harness of Clearbox, which starts it by itself"},
		{"a host with TLS", cookie + "\nPLUGIN_CLIENT_CERT=x", "turn AutoMTLS off"},
		{"a bad grace time", cookie + "\n" + GraceEnv + "=soon", `CLEARBOX_RESULT_GRACE="soon" must be a duration such as 10m`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append([]string{RoleEnv + "=harness"}, strings.Split(tt.env, "\n")...)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), tt.want) {
				t.Errorf("got %v, %s", err, out)
			}
		})
	}
}

func TestALongFolderNameIsNoObstacle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := startHarness(t, "TMPDIR="+dir)
	client, _ := c.connect()
	if info, err := client.Info(t.Context()); err != nil || info.Slug != "fake" {
		t.Errorf("got %+v, %v", info, err)
	}
	c.client.Kill()
	c.ends()
	if folder := filepath.Dir(c.addr.String()); exists(folder) {
		t.Errorf("%s is still there", folder)
	}
}
