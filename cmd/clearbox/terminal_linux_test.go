package main

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a terminal of 90 columns and 24 lines, as a program sees one.
type terminal struct {
	t     testing.TB
	outer *os.File // what a person has: keys in, picture out
	inner *os.File // what the program has
	done  chan struct{}

	mu  sync.Mutex
	all strings.Builder
}

func newTerminal(t testing.TB) *terminal {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	raw, err := outer.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	var fault error
	if err := raw.Control(func(fd uintptr) {
		if fault = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); fault == nil {
			number, fault = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
		if fault == nil {
			fault = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 90})
		}
	}); err != nil || fault != nil {
		t.Skipf("terminals cannot be opened here: %v %v", err, fault)
	}
	inner, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("terminals cannot be opened here: %v", err)
	}
	x := &terminal{t: t, outer: outer, inner: inner, done: make(chan struct{})}
	go x.read()
	t.Cleanup(func() {
		x.inner.Close()
		x.outer.Close()
		<-x.done
	})
	return x
}

func (x *terminal) read() {
	defer close(x.done)
	b := make([]byte, 4096)
	for {
		n, err := x.outer.Read(b)
		x.mu.Lock()
		x.all.Write(b[:n])
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (x *terminal) shown() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.all.String()
}

func (x *terminal) await(text string) {
	x.t.Helper()
	await(x.t, "the terminal shows "+strconv.Quote(text), func() bool { return strings.Contains(x.shown(), text) })
}

// keys types a text.
func (x *terminal) keys(text string) {
	x.t.Helper()
	if _, err := io.WriteString(x.outer, text); err != nil {
		x.t.Fatal(err)
	}
}

// start starts a command on the terminal and returns how it ended, in time.
func (x *terminal) start(d *desk, args ...string) func() int {
	x.t.Helper()
	cmd := exec.Command(program(x.t, "clearbox"), args...)
	cmd.Dir, cmd.Env = d.dir, slices.Concat(d.env, []string{"TERM=xterm"})
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.inner, x.inner, x.inner
	if err := cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	x.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return func() int {
		await(x.t, "the command ends", func() bool {
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
		return cmd.ProcessState.ExitCode()
	}
}

func TestWatchDrawsOnATerminal(t *testing.T) {
	t.Parallel()
	r := prepareRig(t, "--mock")
	keepPort(r)
	r.restart()
	d := r.desk()
	x := newTerminal(t)
	id, dir := r.play(lines("text reading the grammar", until("go"), "result ok"))
	wait := x.start(d, "plan", "watch", strconv.Itoa(id))
	x.await("0/1")
	x.await("until [ -e go ]") // what the agent does was begun before
	r.kill()
	x.await("the server is gone; waiting for it to come back")
	r.restart()
	touch(t, dir, "go")
	if code := wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.await("plan 1 is done: 1 done")
	last := x.shown()[strings.LastIndex(x.shown(), "Plan 1"):]
	for _, want := range []string{"1/1", "\x1b[32m✓\x1b[0m 1.1", "\x1b[32m" + strings.Repeat("█", 20)} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is not in the last picture %q", want, last)
		}
	}
	if !strings.Contains(x.shown(), "\x1b[4A\r") {
		t.Error("it did not draw over the picture before")
	}
}

func TestADeletionIsAskedForOnATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	r.submit(graph{Title: "Precious", WorkingDirectory: t.TempDir()})
	x := newTerminal(t)
	wait := x.start(d, "plan", "delete", "1")
	x.await(`Delete plan 1, "Precious", with 0 steps and all that they did? [y/N]`)
	x.keys("\n")
	if code := wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	x.await("nothing was deleted")
	r.plan(1)
	wait = x.start(d, "plan", "delete", "1")
	x.keys("y\n")
	if code := wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if status, _, _ := r.ask("GET", "/api/plans/1", nil); status != 404 {
		t.Errorf("the plan answers %d", status)
	}
}
