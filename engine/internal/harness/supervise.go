package harness

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	// killAfter is how long a tree may take to end after SIGTERM.
	killAfter = 4 * time.Second

	// forceAfter is how long SIGKILL may take to work; a process that hangs in
	// the kernel would otherwise keep the supervisor for ever.
	forceAfter = 5 * time.Second

	// drainAfter is how long output is still read after the end.
	drainAfter = time.Second

	exitUsage       = 2
	exitCannotStart = 127
)

// duty is what a supervisor is told on its command line. Nothing of it is
// secret: tasks go to the harness over its own connection.
type duty struct {
	folder      folder
	orphanAfter time.Duration
	attached    bool // file descriptor 3 is a connection to the server
	argv        []string
}

func (d duty) args() []string {
	args := []string{"-dir", d.folder.dir, "-sockets", d.folder.sockets, "-orphan-after", d.orphanAfter.String()}
	if d.attached {
		args = append(args, "-attached")
	}
	return append(append(args, "--"), d.argv...)
}

func parseDuty(args []string, errs io.Writer) (duty, error) {
	var d duty
	fs := flag.NewFlagSet("supervise", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.StringVar(&d.folder.dir, "dir", "", "run `folder`")
	fs.StringVar(&d.folder.sockets, "sockets", "", "`folder` of the sockets")
	fs.DurationVar(&d.orphanAfter, "orphan-after", defaultOrphanAfter, "how long to go on without a server")
	fs.BoolVar(&d.attached, "attached", false, "file descriptor 3 is a server")
	if err := fs.Parse(args); err != nil {
		return d, err
	}
	d.argv = fs.Args()
	if d.folder.dir == "" || d.folder.sockets == "" || len(d.argv) == 0 {
		return d, fmt.Errorf("supervise: -dir, -sockets and a program are needed")
	}
	return d, nil
}

// Supervise is the role of a process that starts one harness, outlives the
// server, and leaves nothing of the harness behind. args are those after the
// name of the role. It returns the exit status of the process: the harness's
// own, 128 and the number of the signal that ended it, 127 when it could not be
// started, 2 for wrong arguments.
//
// It takes over the whole process: signals, children, and standard output.
func Supervise(args []string) int {
	d, err := parseDuty(args, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	s := newSupervisor(d)
	if err := s.start(); err != nil {
		return s.report(exitRecord{Code: exitCannotStart, Error: "cannot be started: " + err.Error()})
	}
	return s.run()
}

// supervisor is owned by the goroutine that calls run.
type supervisor struct {
	duty   duty
	door   *door
	output *tail
	pid    int
	ended  chan syscall.WaitStatus // the harness's end, once
	gone   chan struct{}           // closed when no descendant is left
	drains chan struct{}           // gets a value as each of its two streams ends
	done   chan struct{}           // closed when all is over
	term   chan os.Signal

	cause  string
	orphan *time.Timer
	kill   *time.Timer // SIGKILL is due
	force  *time.Timer // SIGKILL did not help
}

func newSupervisor(d duty) *supervisor {
	s := &supervisor{
		duty: d, door: newDoor(), output: newTail(),
		ended: make(chan syscall.WaitStatus, 1), gone: make(chan struct{}),
		drains: make(chan struct{}, 2), done: make(chan struct{}), term: make(chan os.Signal, 1),
		orphan: stoppedTimer(), kill: stoppedTimer(), force: stoppedTimer(),
	}
	// Caught rather than ignored, because programs inherit what is ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT)
	signal.Notify(s.term, syscall.SIGTERM)
	return s
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// start opens the door and starts the harness.
func (s *supervisor) start() error {
	if s.duty.attached {
		syscall.CloseOnExec(3)
		f := os.NewFile(3, "server")
		conn, err := net.FileConn(f)
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("take over the connection to the server: %w", err)
		}
		s.door.enter(conn)
	}
	if err := adoptOrphans(); err != nil {
		return err
	}
	if err := s.door.open(s.duty.folder.supervisorSocket()); err != nil {
		return err
	}
	return s.fork()
}

// fork starts the harness with its output connected to us.
func (s *supervisor) fork() error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outW.Close()
	errR, errW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer errW.Close()
	s.pid, err = forkExec(s.duty.argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{null.Fd(), outW.Fd(), errW.Fd()},
		Sys:   harnessAttr(),
	})
	if err != nil {
		return err
	}
	go reap(s.pid, s.ended, s.gone)
	go s.drainOutput(outR)
	go s.drain(errR)
	go s.output.save(s.duty.folder.outputFile(), s.done)
	s.door.serve(report{Harness: identify(s.pid)}, s.output.text)
	return nil
}

// forkExec starts a program from a thread that lives as long as this process:
// a parent-death signal comes when the thread ends that forked.
func forkExec(argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		pid, err = syscall.ForkExec(argv[0], argv, attr)
		close(done)
		select {}
	}()
	<-done
	return pid, err
}

// drainOutput passes the handshake on. The rest is kept as a tail, whatever
// comes: a full pipe would stop the harness. Our own standard output stays open,
// so that the server does not take the end of the harness's for our end.
func (s *supervisor) drainOutput(r *os.File) {
	_, _ = io.Copy(s.output, passFirstLine(r, os.Stdout, s.output))
	s.drains <- struct{}{}
}

func (s *supervisor) drain(r *os.File) {
	_, _ = io.Copy(s.output, r)
	s.drains <- struct{}{}
}

// run waits for the end of the harness and brings it about when it is time.
func (s *supervisor) run() int {
	s.watchOrphan()
	for {
		select {
		case status := <-s.ended:
			return s.finish(status)
		case <-s.gone: // as well, when nothing outlived the harness
			select {
			case status := <-s.ended:
				return s.finish(status)
			default:
				return s.report(exitRecord{Code: -1, Error: "ended in a way that nobody saw"})
			}
		case <-s.door.changed:
			s.watchOrphan()
		case how := <-s.door.stops:
			s.end(causeStopped, how)
		case <-s.term:
			s.end(causeStopped, stopTerm)
		case <-s.orphan.C:
			s.end(causeOrphaned, stopTerm)
		case <-s.kill.C:
			s.end(s.cause, stopKill)
		case <-s.force.C:
			return s.report(exitRecord{Code: -1, Error: "does not end although it was killed"})
		}
	}
}

// watchOrphan starts the clock when the last server leaves.
func (s *supervisor) watchOrphan() {
	if s.door.servers() > 0 {
		s.orphan.Stop()
	} else {
		s.orphan.Reset(s.duty.orphanAfter)
	}
}

// end ends the tree. Asking again does not prolong anything.
func (s *supervisor) end(cause, how string) {
	first := s.cause == ""
	if first {
		s.cause = cause
	}
	if how == stopKill {
		signalTree(s.pid, syscall.SIGKILL)
		s.force.Reset(forceAfter)
	} else if first {
		signalTree(s.pid, syscall.SIGTERM)
		s.kill.Reset(killAfter)
	}
}

// finish ends what the harness left behind and reports.
func (s *supervisor) finish(status syscall.WaitStatus) int {
	s.killRest()
	timeout := time.After(drainAfter)
	for range cap(s.drains) {
		select {
		case <-s.drains:
		case <-timeout: // someone who is no descendant holds the pipe
		}
	}
	e := exitRecord{Code: status.ExitStatus(), Cause: s.cause}
	if status.Signaled() {
		e.Code, e.Signal = -1, int(status.Signal())
	}
	return s.report(e)
}

// killRest kills descendants until none is left. Each pass meets those that
// were forked during the one before.
func (s *supervisor) killRest() {
	limit := time.After(forceAfter)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		signalTree(s.pid, syscall.SIGKILL)
		select {
		case <-s.gone:
			return
		case <-limit:
			return
		case <-time.After(pause):
		}
	}
}

// report writes down how it ended, tells the servers, and gives the exit status.
func (s *supervisor) report(e exitRecord) int {
	close(s.done)
	e.At, e.Stderr = time.Now().Round(0), s.output.text()
	if b, err := json.Marshal(e); err == nil {
		if err := writeWhole(s.duty.folder.exitFile(), b); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	s.door.close(report{Exit: &e})
	if e.Signal != 0 {
		return 128 + e.Signal
	}
	return max(e.Code, 0)
}
