package harness

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/plugin"
)

func TestDeathOfAHarnessIsToldInWords(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	for name, c := range map[string]struct {
		script string
		want   Lost
	}{
		"killed":           {"say on\ndie", Lost{"killed by signal 9", ""}},
		"gave up":          {"stderr no more memory\nexit 3", Lost{"exited with code 3", "no more memory\n"}},
		"without a result": {"say on\nexit 0", Lost{"exited with code 0", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := m.launch(t, strings.ReplaceAll(name, " ", "-"), c.script)
			_, err := follow(t, s, 0).wait(t)
			if d := cmp.Diff(&c.want, wantLost(t, err)); d != "" {
				t.Errorf("Lost (-want +got):\n%s", d)
			}
		})
	}
}

// families are the ways in which a program gets away from its harness.
func families(sleep string) map[string]string {
	return map[string]string{
		"child":       fmt.Sprintf("shell sleep %s >/dev/null 2>&1 & echo", sleep),
		"session":     fmt.Sprintf("shell setsid sleep %s >/dev/null 2>&1 & echo", sleep),
		"double fork": fmt.Sprintf("shell (setsid sh -c 'sleep %s & sleep %s & exit' &) >/dev/null 2>&1", sleep, sleep),
		"has stderr":  fmt.Sprintf("shell (setsid sleep %s &)", sleep),
		"no TMPDIR":   fmt.Sprintf("shell (env -i setsid sleep %s &) >/dev/null 2>&1", sleep),
		"suspended":   fmt.Sprintf("shell sleep %s >/dev/null 2>&1 & kill -STOP $!", sleep),
	}
}

func TestDeathOfAHarnessEndsAllItsDescendants(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	for name, start := range families("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "child" {
				linuxOnly(t)
			}
			sleep := nap()
			start = strings.ReplaceAll(start, "sleep ", "sleep "+sleep)
			s := m.launch(t, strings.ReplaceAll(name, " ", "-"), start+"\npid\nsay on\nwait")
			f := follow(t, s, 0)
			f.waitFor(t, "on")
			eventually(t, "the program runs", func() bool { return living(t, sleep) > 0 })
			if err := syscall.Kill(harnessPid(t, f), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_, err := f.wait(t)
			if l := wantLost(t, err); l.Exit != "killed by signal 9" {
				t.Errorf("got %q, want killed by signal 9", l.Exit)
			}
			if n := living(t, sleep); n != 0 {
				t.Errorf("%d programs outlived their harness", n)
			}
		})
	}
}

// harnessPid is what a harness said in answer to "pid".
func harnessPid(t *testing.T, f *followed) int {
	t.Helper()
	for _, text := range f.texts() {
		var pid int
		if n, _ := fmt.Sscanf(text, "pid %d", &pid); n == 1 {
			return pid
		}
	}
	t.Fatalf("no pid in %q", f.texts())
	return 0
}

func TestGoodEndEndsAllDescendantsToo(t *testing.T) {
	linuxOnly(t)
	t.Parallel()
	m := newStage(t, nil, "script")
	sleep := nap()
	s := m.launch(t, "r1", strings.ReplaceAll(families("")["double fork"], "sleep ", "sleep "+sleep))
	if _, err := follow(t, s, 0).wait(t); err != nil {
		t.Fatalf("Follow: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if n := living(t, sleep); n != 0 {
		t.Errorf("%d programs outlived their harness", n)
	}
}

func TestDeathOfTheSupervisorEndsTheTree(t *testing.T) {
	linuxOnly(t)
	t.Parallel()
	m := newStage(t, nil, "script")
	sleep := nap()
	s := m.launch(t, "r1", "stderr last words\n"+strings.ReplaceAll(families("")["double fork"], "sleep ", "sleep "+sleep)+"\nsay on\nwait")
	f := follow(t, s, 0)
	f.waitFor(t, "on")
	eventually(t, "the program runs", func() bool { return living(t, sleep) > 0 })
	eventually(t, "the output is saved", func() bool {
		b, _ := os.ReadFile(s.p.folder.outputFile())
		return len(b) > 0
	})
	if err := s.p.link.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, err := f.wait(t)
	l := wantLost(t, err)
	if !strings.Contains(l.Exit, "vanished without a trace") || l.Stderr != "last words\n" {
		t.Errorf("got %+v, want that it vanished, and the last words", l)
	}
	if n := living(t, sleep); n != 0 {
		t.Errorf("%d programs outlived their supervisor", n)
	}
	if p := s.p.link.lastHarness(); p.alive() {
		t.Errorf("the harness outlived its supervisor")
	}
}

func TestEndlessOutputNeitherBlocksNorFillsMemory(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	for _, stream := range []string{"stdout", "stderr"} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			s := m.launch(t, stream, "pid\nflood "+stream+" 10\nsay on\nwait")
			f := follow(t, s, 0)
			f.waitFor(t, "on")
			_ = syscall.Kill(harnessPid(t, f), syscall.SIGKILL)
			_, err := f.wait(t)
			l := wantLost(t, err)
			if l.Exit != "killed by signal 9" {
				t.Errorf("got %q, want killed by signal 9", l.Exit)
			}
			if len(l.Stderr) == 0 || len(l.Stderr) > tailSize {
				t.Errorf("got %d bytes of output, want at most %d", len(l.Stderr), tailSize)
			}
		})
	}
}

func TestOutputIsToldWithoutTheSecretsOfTheRun(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	run := task(t, "r1", "secret\nexit 1")
	run.Profile.Secret = "sk-abcdef"
	run.MCPURL = "http://127.0.0.1:1/mcp-agent/run-token"
	s, err := m.Launch(t.Context(), "script", run, func([]byte) error { return nil })
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	defer s.Close()
	_, err = follow(t, s, 0).wait(t)
	want := "key [secret], tools at http://127.0.0.1:1/mcp-agent/[secret]\n"
	if l := wantLost(t, err); l.Stderr != want {
		t.Errorf("got output %q, want %q", l.Stderr, want)
	}
}

func TestHarnessThatHangsIsEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the contract's heartbeat")
	}
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "pid\nsay on\nwait")
	f := follow(t, s, 0)
	f.waitFor(t, "on")
	if err := syscall.Kill(harnessPid(t, f), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := f.wait(t)
	if l := wantLost(t, err); !strings.HasPrefix(l.Exit, "did not answer any more") {
		t.Errorf("got %q, want that it did not answer", l.Exit)
	}
	if p := s.p.link.lastHarness(); p.alive() {
		t.Error("the harness lives on")
	}
}

func TestStopLetsAHarnessGiveItsResult(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "say on\nwait")
	f := follow(t, s, 0)
	f.waitFor(t, "on")
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
	res, err := f.wait(t)
	if err != nil || res.Text != "played" {
		t.Errorf("got %+v, %v, want the harness's own result", res, err)
	}
}

func TestStopEndsAHarnessThatDoesNotListen(t *testing.T) {
	linuxOnly(t)
	t.Parallel()
	m := newStage(t, nil, "script")
	for name, script := range map[string]string{"deaf": "pid\ndeaf", "frozen": "pid\nsay deaf\nwait"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sleep := nap()
			s := m.launch(t, name, "shell (trap '' TERM; setsid sleep "+sleep+" &) >/dev/null 2>&1\n"+script)
			f := follow(t, s, 0)
			f.waitFor(t, "deaf")
			if name == "frozen" {
				_ = syscall.Kill(harnessPid(t, f), syscall.SIGSTOP)
			}
			if err := s.Stop(t.Context()); err != nil {
				t.Errorf("Stop: %v", err)
			}
			if _, err := f.wait(t); name == "deaf" {
				wantLost(t, err) // the other one wakes up and gives its result
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if n := living(t, sleep); n != 0 {
				t.Errorf("%d programs are left", n)
			}
		})
	}
}

func TestDetachLeavesTheRunAlone(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	var attach []byte
	s, err := m.Launch(t.Context(), "script", task(t, "r1", "say on\nwait"), func(b []byte) error { attach = b; return nil })
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	f := follow(t, s, 0)
	f.waitFor(t, "on")
	m.Detach()
	m.Close()
	if _, err := f.wait(t); !errors.Is(err, ErrDetached) {
		t.Errorf("Follow: got %v, want ErrDetached", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close after Detach: %v", err)
	}
	if _, err := m.Launch(t.Context(), "script", task(t, "r2", "wait"), func([]byte) error { return nil }); !errors.Is(err, ErrDetached) {
		t.Errorf("Launch after Detach: got %v, want ErrDetached", err)
	}
	next := New(m.o)
	defer next.Close()
	back, err := next.Reattach(t.Context(), attach)
	if err != nil {
		t.Fatalf("Reattach: %v", err)
	}
	if err := back.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	m.wantNoRuns(t)
}

func TestExitWords(t *testing.T) {
	for want, e := range map[string]exitRecord{
		"exited with code 3": {Code: 3},
		"killed by signal 9": {Code: -1, Signal: 9, Cause: causeStopped},
		"killed by signal 15, because no server came back to it in time": {Code: -1, Signal: 15, Cause: causeOrphaned},
		"cannot be started: permission denied":                           {Code: 127, Error: "cannot be started: permission denied"},
	} {
		if got := e.words(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLostIsLost(t *testing.T) {
	err := fmt.Errorf("follow run 7: %w", &Lost{Exit: "exited with code 3"})
	if !errors.Is(err, plugin.ErrLost) || err.Error() != "follow run 7: the harness is gone: exited with code 3" {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsAHarnessThatHangsAfterItsResult(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "pid")
	f := follow(t, s, 0)
	if _, err := f.wait(t); err != nil {
		t.Fatalf("Follow: %v", err)
	}
	if err := syscall.Kill(harnessPid(t, f), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	m.wantNoRuns(t)
}
