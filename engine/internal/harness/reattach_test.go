package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/plugin"
)

// server is a server in a process of its own, see playServer.
type server struct {
	*stage
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

func startServer(t *testing.T, script string) *server {
	t.Helper()
	s := &server{stage: newStage(t, nil, "script")}
	if err := os.WriteFile(filepath.Join(s.o.DataDir, "script"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(self(t), "__server", s.o.DataDir, s.dir)
	s.cmd.Stderr = &s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.kill()
		_ = New(s.o).Sweep(context.Background(), func(string) bool { return false })
	})
	return s
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// stored are the events that the server stored before it was killed.
func (s *server) stored(t *testing.T) []plugin.Event {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.o.DataDir, "stored"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var events []plugin.Event
	for line := range bytes.Lines(b) {
		var e plugin.Event
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	return events
}

func (s *server) attach(t *testing.T) []byte {
	t.Helper()
	var b []byte
	eventually(t, "the record is saved", func() bool {
		var err error
		b, err = os.ReadFile(filepath.Join(s.o.DataDir, "attach"))
		return err == nil
	})
	return b
}

func TestRunGoesOnWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	const n = 400
	s := startServer(t, fmt.Sprintf("stderr before\nevents %d 2ms\nstderr after", n))
	eventually(t, "some events are stored", func() bool { return len(s.stored(t)) > n/10 })
	s.kill()
	events := s.stored(t)
	session, err := s.Reattach(t.Context(), s.attach(t))
	if err != nil {
		t.Fatalf("Reattach: %v", err)
	}
	f := follow(t, session, events[len(events)-1].Seq)
	res, err := f.wait(t)
	if err != nil || res.Text != "played" {
		t.Fatalf("got %+v, %v, want the harness's result", res, err)
	}
	var want, got []string
	for i := range n {
		want = append(want, fmt.Sprintf("%d event %d", i+1, i+1))
	}
	for _, e := range slices.Concat(events, f.events) {
		text, _ := plugin.DecodeText(e)
		got = append(got, fmt.Sprintf("%d %s", e.Seq, text))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("events of both servers (-want +got):\n%s", d)
	}
	if len(f.events) == 0 {
		t.Error("the second server got nothing: the run was over before")
	}
	if err := session.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	s.wantNoRuns(t)
}

func TestHarnessThatDiesWithoutAServerLeavesItsExit(t *testing.T) {
	t.Parallel()
	s := startServer(t, "say on\nevents 1 300ms\nstderr out of memory\nexit 7")
	attach := s.attach(t)
	eventually(t, "an event is stored", func() bool { return len(s.stored(t)) > 0 })
	s.kill()
	exit := filepath.Join(s.runs, "r1", exitFile)
	eventually(t, "the exit is recorded", func() bool { _, err := os.Stat(exit); return err == nil })
	var recorded map[string]any
	if b, err := os.ReadFile(exit); err != nil || json.Unmarshal(b, &recorded) != nil {
		t.Errorf("the record is %s, %v", b, err)
	}
	delete(recorded, "at")
	if d := cmp.Diff(map[string]any{"code": 7., "stderr_tail": "out of memory\n"}, recorded); d != "" {
		t.Errorf("exit.json (-want +got):\n%s", d)
	}
	for range 2 { // a second crash changes nothing
		_, err := s.Reattach(t.Context(), attach)
		want := &Lost{Exit: "exited with code 7", Stderr: "out of memory\n"}
		if d := cmp.Diff(want, wantLost(t, err)); d != "" {
			t.Errorf("Lost (-want +got):\n%s", d)
		}
	}
	if err := s.Sweep(t.Context(), func(run string) bool { return run == "r1" }); err != nil {
		t.Errorf("Sweep: %v", err)
	}
	if _, err := os.Stat(exit); err != nil {
		t.Errorf("Sweep removed a run that it was told to keep: %v", err)
	}
	if err := s.Sweep(t.Context(), func(string) bool { return false }); err != nil {
		t.Errorf("Sweep: %v", err)
	}
	s.wantNoRuns(t)
}

func TestCrashBetweenTheRecordAndTheTask(t *testing.T) {
	t.Parallel()
	s := startServer(t, "say crash before the start\nwait")
	attach := s.attach(t)
	_ = s.cmd.Wait()
	_, err := s.Reattach(t.Context(), attach)
	if !errors.Is(err, ErrNotStarted) {
		t.Errorf("got error %v, want ErrNotStarted", err)
	}
	if n := living(t, s.runs); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

func TestSweepEndsRunsThatNobodyWants(t *testing.T) {
	linuxOnly(t)
	t.Parallel()
	sleep := nap()
	s := startServer(t, "shell (setsid sleep "+sleep+" &) >/dev/null 2>&1\nsay on\nwait")
	eventually(t, "the run is on", func() bool { return len(s.stored(t)) > 0 })
	eventually(t, "the program runs", func() bool { return living(t, sleep) > 0 })
	s.kill()
	if err := s.Sweep(t.Context(), func(string) bool { return false }); err != nil {
		t.Errorf("Sweep: %v", err)
	}
	if n := living(t, sleep); n != 0 {
		t.Errorf("%d programs are left", n)
	}
	s.wantNoRuns(t)
}

func TestServerSaysOnlyWhatItWantsToSay(t *testing.T) {
	t.Parallel()
	s := startServer(t, "pid\nsay on\nevents 100000 0s\nwait")
	eventually(t, "the run is on", func() bool { return len(s.stored(t)) > 200 })
	text, err := plugin.DecodeText(s.stored(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscanf(text, "pid %d", &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil { // in the middle of its output
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server ended: %v", err)
	}
	if got, want := s.stderr.String(), "the harness is gone: killed by signal 9\n"; got != want {
		t.Errorf("the server's stderr is %q, want %q", got, want)
	}
}

func TestSweepLeavesOwnRunsAlone(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "say on\nwait")
	if err := m.Sweep(t.Context(), func(string) bool { return false }); err != nil {
		t.Errorf("Sweep: %v", err)
	}
	follow(t, s, 0).waitFor(t, "on")
}

func TestSupervisorKilledWhileNoServerWasThere(t *testing.T) {
	linuxOnly(t)
	t.Parallel()
	sleep := nap()
	s := startServer(t, "shell (setsid sleep "+sleep+" &) >/dev/null 2>&1\nsay on\nwait")
	attach := s.attach(t)
	eventually(t, "the run is on", func() bool { return len(s.stored(t)) > 0 })
	s.kill()
	var r record
	if err := json.Unmarshal(attach, &r); err != nil {
		t.Fatal(err)
	}
	proc, err := os.FindProcess(r.Supervisor.Pid)
	if err != nil || !r.Supervisor.alive() {
		t.Fatalf("the supervisor is not there: %v", err)
	}
	_ = proc.Kill()
	eventually(t, "the harness died with it", func() bool { return !r.Harness.alive() })
	_, err = s.Reattach(t.Context(), attach)
	if l := wantLost(t, err); !strings.Contains(l.Exit, "vanished without a trace") {
		t.Errorf("got %q, want that it vanished", l.Exit)
	}
	if n := living(t, sleep); n != 0 {
		t.Errorf("%d programs are left", n)
	}
}

func TestReattachTwiceIsRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, "say on\nwait")
	attach := s.attach(t)
	eventually(t, "the run is on", func() bool { return len(s.stored(t)) > 0 })
	s.kill()
	first, err := s.Reattach(t.Context(), attach)
	if err != nil {
		t.Fatalf("Reattach: %v", err)
	}
	defer first.Close()
	if _, err := s.Reattach(t.Context(), attach); err == nil {
		t.Error("a second session of one run was given")
	}
}

func TestANumberThatBelongsToAnotherProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil)
	sleep := exec.Command("sleep", nap())
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleep.Process.Kill(); _ = sleep.Wait() }()
	stranger := identify(sleep.Process.Pid)
	stranger.Start++
	attach, _ := json.Marshal(record{
		Version: recordVersion, Protocol: plugin.ProtocolVersion, Run: "r1",
		Dir: filepath.Join(m.runs, "r1"), Sockets: filepath.Join(m.runs, "r1"), Supervisor: stranger, Harness: stranger,
	})
	_, err := m.Reattach(t.Context(), attach)
	wantLost(t, err)
	if !identify(sleep.Process.Pid).alive() {
		t.Error("a process that has nothing to do with the run was killed")
	}
}

func TestReattachOfAnotherVersionEndsTheRun(t *testing.T) {
	t.Parallel()
	s := startServer(t, "say on\nwait")
	var r record
	if err := json.Unmarshal(s.attach(t), &r); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the run is on", func() bool { return len(s.stored(t)) > 0 })
	s.kill()
	r.Protocol = 99
	attach, _ := json.Marshal(r)
	_, err := s.Reattach(t.Context(), attach)
	if l := wantLost(t, err); !strings.Contains(l.Exit, "version 99") {
		t.Errorf("got %q, want it to name the version", l.Exit)
	}
	if r.Harness.alive() {
		t.Error("the harness lives on")
	}
}

func TestReattachRefusesWhatIsNoRecord(t *testing.T) {
	m := newStage(t, nil)
	for _, attach := range []string{"", "null", "{}", "[]", `{"version":2,"run":"r","dir":"/x"}`, `{"version":1}`} {
		_, err := m.Reattach(t.Context(), []byte(attach))
		var l *Lost
		if err == nil || errors.As(err, &l) {
			t.Errorf("record %q: got %v, want an error about the record", attach, err)
		}
	}
}

func TestOrphanedRunIsEnded(t *testing.T) {
	linuxOnly(t)
	t.Parallel()
	m := newStage(t, func(o *Options) { o.OrphanAfter = time.Millisecond }, "script")
	sleep := nap()
	var attach []byte
	run := task(t, "r1", "shell (setsid sleep "+sleep+" &) >/dev/null 2>&1\nsay on\nwait")
	s, err := m.Launch(t.Context(), "script", run, func(b []byte) error { attach = b; return nil })
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	f := follow(t, s, 0)
	f.waitFor(t, "on") // a server is there: the time does not run
	m.Detach()
	eventually(t, "everything of the run has ended", func() bool { return living(t, m.runs)+living(t, sleep) == 0 })
	next := New(m.o)
	defer next.Close()
	_, err = next.Reattach(t.Context(), attach)
	if l := wantLost(t, err); !strings.Contains(l.Exit, "no server came back") {
		t.Errorf("got %q, want that no server came back", l.Exit)
	}
}
