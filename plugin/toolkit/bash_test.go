package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/google/go-cmp/cmp"
)

// body is a harness that does nothing but what a test wants done in a run.
type body func(ctx context.Context, h plugin.Host)

func (body) Info(context.Context) (plugin.Info, error) { return plugin.Info{Slug: "body"}, nil }
func (body) Check(context.Context, plugin.Profile, bool) (plugin.Report, error) {
	return plugin.Report{OK: true}, nil
}
func (b body) Run(ctx context.Context, _ plugin.Task, h plugin.Host) (plugin.Result, error) {
	b(ctx, h)
	return plugin.Result{Text: "done"}, ctx.Err()
}

type deaf struct{}

func (deaf) Push(context.Context, []plugin.Event) error { return nil }
func (deaf) Answer(context.Context, plugin.Question) (plugin.Answer, error) {
	return plugin.Answer{}, nil
}

// inRun calls f with a kit inside a real run in dir, and returns when the run and
// everything that it started has ended.
func inRun(t *testing.T, dir string, f func(ctx context.Context, k *Kit), stop <-chan struct{}) {
	t.Helper()
	s := plugin.Local(body(func(ctx context.Context, h plugin.Host) {
		k, err := New(Config{Host: h, WorkDir: dir, Allowed: plugin.Full})
		if err != nil {
			t.Error(err)
			return
		}
		defer k.Close()
		f(ctx, k)
	}), plugin.Task{RunID: t.Name(), WorkDir: dir})
	if stop != nil {
		go func() {
			<-stop
			_ = s.Stop(context.Background())
		}()
	}
	if _, err := s.Follow(t.Context(), 0, deaf{}); err != nil {
		t.Error(err)
	}
	must(t, s.Close())
}

func bashArgs(command string, timeout int) json.RawMessage {
	a := m{"command": command}
	if timeout > 0 {
		a["timeout_ms"] = timeout
	}
	raw, _ := json.Marshal(a)
	return raw
}

func TestBash(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, tree{"a.txt": "a\n"})
	tests := []struct {
		name, command string
		want          string
		isErr         bool
	}{
		{"output and exit code", "cat a.txt", "a\n[exit code 0]", false},
		{"both streams in order", "echo 1; echo 2 >&2; echo 3", "1\n2\n3\n[exit code 0]", false},
		{"no output", "true", "(no output)\n[exit code 0]", false},
		{"failure", "echo no >&2; exit 3", "no\n[exit code 3]", true},
		{"killed by a signal", "kill -9 $$", "(no output)\n[exit code 137]", true},
		{"nothing to read", "cat; echo end", "end\n[exit code 0]", false},
		{"bytes that are no text", `printf 'a\377\000b'`, "a\uFFFD\uFFFDb\n[exit code 0]", false},
		{"a pipe that is closed early", "yes | head -1", "y\n[exit code 0]", false},
	}
	inRun(t, dir, func(ctx context.Context, k *Kit) {
		for _, tt := range tests {
			text, isErr := k.Call(ctx, "bash", bashArgs(tt.command, 0))
			if diff := cmp.Diff(tt.want, text); diff != "" || isErr != tt.isErr {
				t.Errorf("%s: error %v %s", tt.name, isErr, diff)
			}
		}
	}, nil)
}

func TestAFloodIsKeptWithHeadAndTail(t *testing.T) {
	inRun(t, t.TempDir(), func(ctx context.Context, k *Kit) {
		text, isErr := k.Call(ctx, "bash", bashArgs("echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last", 0))
		if isErr || len(text) > keepHead+keepTail+200 {
			t.Errorf("error %v, %d bytes", isErr, len(text))
		}
		if !strings.HasPrefix(text, "first\nxxx") || !strings.HasSuffix(text, "xxx\nlast\n[exit code 0]") || !strings.Contains(text, "\n[… 19970012 bytes left out …]\n") {
			t.Errorf("begins %q, ends %q", text[:20], text[len(text)-40:])
		}
	}, nil)
}

func TestHeadTailKeepsWhatItSays(t *testing.T) {
	for _, chunk := range []int{1, 7, 1000, keepTail - 1, keepTail, keepTail + 1, 100_000} {
		for _, total := range []int{0, 1, keepHead, keepHead + 1, keepHead + keepTail, keepHead + keepTail + 1, 100_003} {
			all := make([]byte, total)
			for i := range all {
				all[i] = 'a' + byte(i%23)
			}
			h := &headTail{}
			for rest := all; len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
				h.Write(rest[:min(chunk, len(rest))])
			}
			want := string(all)
			if left := total - keepHead - keepTail; left > 0 {
				want = fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", all[:keepHead], left, all[total-keepTail:])
			}
			if total == 0 {
				want = "(no output)"
			}
			if got := h.with("end").Error(); got != want+"\nend" {
				t.Errorf("chunks of %d, %d in all: got %d bytes, want %d", chunk, total, len(got), len(want)+4)
			}
		}
	}
}

// pidFrom waits until a command wrote its process id to a file.
func pidFrom(t *testing.T, file string) int {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		data, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && strings.HasSuffix(string(data), "\n") {
			return pid
		}
	}
	t.Errorf("no process id in %s", file)
	return 0
}

// wantGone waits until a process is gone, or a zombie that nobody collects.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if (err != nil && syscall.Kill(pid, 0) == syscall.ESRCH) || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d lives on", pid)
}

func TestTheTimeLimitEndsTheWholeGroup(t *testing.T) {
	dir := t.TempDir()
	inRun(t, dir, func(ctx context.Context, k *Kit) {
		text, isErr := k.Call(ctx, "bash", bashArgs("echo begun; sleep 600 & echo $! > pid; wait", 300))
		if !isErr || !strings.HasPrefix(text, "begun\n[ended after 300ms, its time limit") {
			t.Errorf("error %v: %q", isErr, text)
		}
		wantGone(t, pidFrom(t, filepath.Join(dir, "pid")))
	}, nil)
}

func TestTheEndOfTheRunEndsACommand(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	inRun(t, dir, func(ctx context.Context, k *Kit) {
		go func() {
			defer close(stop)
			pidFrom(t, filepath.Join(dir, "pid"))
		}()
		text, isErr := k.Call(ctx, "bash", bashArgs("sleep 600 & echo $! > pid; wait", 0))
		if !isErr || !strings.Contains(text, "[stopped: the run was ended]") {
			t.Errorf("error %v: %q", isErr, text)
		}
	}, stop)
	wantGone(t, pidFrom(t, filepath.Join(dir, "pid")))
}

func TestBackgroundWorkEndsWithTheRun(t *testing.T) {
	dir := t.TempDir()
	inRun(t, dir, func(ctx context.Context, k *Kit) {
		text, isErr := k.Call(ctx, "bash", bashArgs("sleep 600 >/dev/null 2>&1 & echo $! > pid; echo up", 0))
		if isErr || text != "up\n[exit code 0]" {
			t.Errorf("error %v: %q", isErr, text)
		}
		if err := syscall.Kill(pidFrom(t, filepath.Join(dir, "pid")), 0); err != nil {
			t.Errorf("the background process is gone already: %v", err)
		}
	}, nil)
	wantGone(t, pidFrom(t, filepath.Join(dir, "pid")))
}

func TestACommandThatCannotStartIsAnError(t *testing.T) {
	inRun(t, t.TempDir(), func(ctx context.Context, k *Kit) {
		k.shell = "no-such-shell"
		text, isErr := k.Call(ctx, "bash", bashArgs("true", 0))
		if !isErr || !strings.Contains(text, "no-such-shell") {
			t.Errorf("error %v: %q", isErr, text)
		}
	}, nil)
}
