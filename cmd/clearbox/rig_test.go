package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what has to happen. It only ends tests
// that would hang; nothing is asserted about time.
const patience = 3 * time.Minute

// await waits until something is so.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit := time.Now().Add(patience)
	for pause := 2 * time.Millisecond; !ok(); pause = min(2*pause, 100*time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(pause)
	}
}

// rig is a Clearbox of a test's own: a folder with its data, and the server that
// runs in it now, or ran last.
type rig struct {
	*server
	t     testing.TB
	dir   string // of the database
	flags []string
	env   []string // further variables of the server
	races string   // beginning of the names of reports of data races
}

// newRig starts a server with further flags. At the end of the test it is ended,
// and then nothing of it may be left.
func newRig(t testing.TB, flags ...string) *rig {
	t.Helper()
	r := prepareRig(t, flags...)
	r.restart()
	return r
}

// prepareRig is newRig without starting a server.
func prepareRig(t testing.TB, flags ...string) *rig {
	t.Helper()
	races, err := os.MkdirTemp("", "race-") // a name without commas, which GORACE would not take
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(t.TempDir(), "data"), flags: flags, races: filepath.Join(races, "report")}
	t.Cleanup(r.tidy)
	return r
}

func (r *rig) database() string { return filepath.Join(r.dir, "clearbox.sqlite") }

// command is the server that is not started yet.
func (r *rig) command() *exec.Cmd {
	args := append([]string{"serve", "--port", "0", "--db", r.database(), "--pass-env", "GORACE"}, r.flags...)
	cmd := exec.Command(program(r.t, "clearbox"), args...)
	cmd.Env = append(cleanEnv(), "GORACE=atexit_sleep_ms=0 log_path="+r.races)
	cmd.Env = append(cmd.Env, r.env...)
	return cmd
}

// cleanEnv is the environment of this test without what configures a Clearbox.
func cleanEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CLEARBOX_") && !strings.HasPrefix(v, "OPENAI_") {
			env = append(env, v)
		}
	}
	return env
}

// restart starts a server on the data of the one before, and waits until it
// listens.
func (r *rig) restart() {
	r.t.Helper()
	s, err := startServer(r.command(), filepath.Join(filepath.Dir(r.dir), "server.log"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.server = s
	await(r.t, "the server says where it is", func() bool { return s.url() != "" || s.isOver() })
	if s.url() == "" {
		r.t.Fatalf("the server ended with code %d instead of starting:\n%s", s.code(), s.tail())
	}
}

// kill kills the server without a word.
func (r *rig) kill() {
	r.t.Helper()
	r.signal(syscall.SIGKILL)
	r.wait()
}

// signal sends a signal to the server.
func (r *rig) signal(s os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.t.Fatal(err)
	}
}

// wait waits for the end of the server and returns its exit code, -1 when a
// signal ended it.
func (r *rig) wait() int {
	r.t.Helper()
	await(r.t, "the server ends", r.isOver)
	return r.code()
}

// tidy ends what the test left to run, and makes sure that nothing stays and
// that nothing raced.
func (r *rig) tidy() {
	if r.server != nil && !r.isOver() {
		r.signal(os.Interrupt)
		if code := r.wait(); code != 0 {
			r.t.Errorf("the server ended with code %d", code)
		}
	}
	r.awaitNobody()
	reports, _ := filepath.Glob(r.races + ".*")
	for _, path := range reports {
		b, _ := os.ReadFile(path)
		r.t.Errorf("%s", b)
	}
	if r.server != nil && r.t.Failed() {
		r.t.Logf("the server's log ends with:\n%s", r.tail())
	}
}

// awaitNobody waits until no process has to do with the data of the rig.
func (r *rig) awaitNobody() {
	r.t.Helper()
	await(r.t, "no process is left", func() bool { return len(processesIn(r.dir)) == 0 })
}

// server is one process of Clearbox.
type server struct {
	cmd    *exec.Cmd
	logged string // path of what it writes to stderr
	ended  chan struct{}
	result error // of Wait, once ended is closed

	mu     sync.Mutex
	banner bytes.Buffer
}

func startServer(cmd *exec.Cmd, logged string) (*server, error) {
	s := &server{cmd: cmd, logged: logged, ended: make(chan struct{})}
	log, err := os.OpenFile(logged, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = s, log
	cmd.WaitDelay = patience // no other process may hold its output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.result = cmd.Wait()
		close(s.ended)
	}()
	return s, nil
}

// Write takes what the server prints.
func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.banner.Write(p)
}

// printed returns what the server has printed so far.
func (s *server) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.banner.String()
}

// url reads the address from the banner, "" when it is not there yet.
func (s *server) url() string {
	for line := range strings.Lines(s.printed()) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "UI" && strings.HasSuffix(line, "\n") {
			return strings.TrimSuffix(f[1], "/")
		}
	}
	return ""
}

func (s *server) pid() int { return s.cmd.Process.Pid }

func (s *server) isOver() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// code returns the exit code of a server that has ended, -1 for a signal.
func (s *server) code() int {
	if errors.Is(s.result, exec.ErrWaitDelay) {
		return -2 // it is gone but somebody else has its output
	}
	return s.cmd.ProcessState.ExitCode()
}

// log returns all that servers of this rig have logged.
func (s *server) log() string {
	b, _ := os.ReadFile(s.logged)
	return string(b)
}

func (s *server) tail() string {
	text := s.log()
	return text[max(0, len(text)-6000):]
}
