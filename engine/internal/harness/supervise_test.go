package harness

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// visitor is someone at a supervisor's socket.
type visitor struct {
	conn  net.Conn
	lines *bufio.Reader
}

func visitSupervisor(t *testing.T, s *Session) *visitor {
	t.Helper()
	conn, err := net.Dial("unix", s.p.folder.supervisorSocket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &visitor{conn, bufio.NewReader(conn)}
}

func (v *visitor) say(t *testing.T, line string) {
	t.Helper()
	if _, err := v.conn.Write([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
}

func (v *visitor) hear(t *testing.T) report {
	t.Helper()
	line, err := v.lines.ReadBytes('\n')
	if err != nil {
		t.Fatalf("hear the supervisor: %v", err)
	}
	var r report
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatalf("the supervisor says %s: %v", line, err)
	}
	return r
}

func TestSupervisorTellsWhoComes(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "stderr a warning\npid\nsay on\nwait")
	f := follow(t, s, 0)
	f.waitFor(t, "on")
	if info, err := os.Stat(s.p.folder.supervisorSocket()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: got %v, %v, want mode 0600", info, err)
	}
	if session, err := unix.Getsid(s.p.link.supervisor.Pid); session != s.p.link.supervisor.Pid {
		t.Errorf("the supervisor is in session %d, %v, want one of its own", session, err)
	}
	v := visitSupervisor(t, s)
	if pid := v.hear(t).Harness.Pid; pid != harnessPid(t, f) {
		t.Errorf("got pid %d, want %d", pid, harnessPid(t, f))
	}
	eventually(t, "the output is known", func() bool {
		v.say(t, `{"status":true}`)
		return v.hear(t).Stderr == "a warning\n"
	})
	v.say(t, `{"stop":"kill"}`)
	e := v.hear(t).Exit
	if e == nil || e.Signal != 9 || e.Cause != causeStopped {
		t.Errorf("got end %+v, want one by signal 9 because it was stopped", e)
	}
	_, err := f.wait(t)
	wantLost(t, err)
}

func TestNonsenseAtTheSupervisorHarmsNoRun(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "say on\nwait")
	f := follow(t, s, 0)
	f.waitFor(t, "on")
	for _, line := range []string{"nonsense", "[]", `{"stop":5}`, strings.Repeat("x", 2*maxCommand)} {
		v := visitSupervisor(t, s)
		v.hear(t)
		v.say(t, line)
		if _, err := v.lines.ReadByte(); err == nil {
			t.Errorf("%.20q was answered", line)
		}
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res, err := f.wait(t); err != nil || res.Text != "played" {
		t.Errorf("got %+v, %v, want the run's own result", res, err)
	}
}

func TestSupervisorHeedsSIGTERM(t *testing.T) {
	t.Parallel()
	m := newStage(t, nil, "script")
	s := m.launch(t, "r1", "say on\nwait")
	f := follow(t, s, 0)
	f.waitFor(t, "on")
	s.p.link.supervisor.signal(syscall.SIGTERM)
	if res, err := f.wait(t); err != nil || res.Text != "played" {
		t.Errorf("got %+v, %v, want the result of a run that was asked to end", res, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestRunsLeaveNothingInTheServer(t *testing.T) {
	m := newStage(t, nil, "script")
	open := func() int {
		entries, _ := os.ReadDir("/dev/fd")
		return len(entries)
	}
	goroutines, files := runtime.NumGoroutine(), 0
	for i, script := range []string{"say on", "say on", "die", "wait", "say on"} {
		if i == 1 { // what the first one set up for good does not count
			files = open()
		}
		s := m.launch(t, "r1", script)
		if script != "wait" {
			follow(t, s, 0).wait(t)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		eventually(t, "its goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	}
	eventually(t, "all files are closed", func() bool { return open() <= files })
}
