package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	maxReport   = 1 << 20 // bytes of one line from a supervisor
	reapWithin  = 2 * time.Second
	helloWithin = 5 * time.Second

	// endWithin is how long a supervisor may take to end its tree after SIGKILL.
	endWithin = forceAfter + 2*drainAfter
)

var errNoHello = errors.New("the supervisor did not answer")

// link is the server's connection to a supervisor. While it stands, the
// supervisor knows that a server cares for the run.
type link struct {
	conn       net.Conn
	cmd        *exec.Cmd     // nil when the supervisor is no child of ours
	supervisor procID        // zero when it is not known
	met        chan struct{} // closed when harness is known, or gone
	gone       chan struct{} // closed when the supervisor has ended, or was let go of

	mu       sync.Mutex // guards what follows
	harness  procID
	exit     *exitRecord
	detached bool
}

// newLink takes over a connection. The caller runs watch.
func newLink(conn net.Conn) *link {
	return &link{conn: conn, met: make(chan struct{}), gone: make(chan struct{})}
}

// dialLink connects to the supervisor that listens at a socket.
func dialLink(ctx context.Context, socket string, supervisor procID) (*link, error) {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("connect to the supervisor: %w", err)
	}
	l := newLink(conn)
	l.supervisor = supervisor
	return l, nil
}

// watch reads what the supervisor tells, until it ends or detach is called.
func (l *link) watch() {
	defer close(l.gone)
	lines := bufio.NewScanner(l.conn)
	lines.Buffer(nil, maxReport)
	met := sync.OnceFunc(func() { close(l.met) })
	defer met()
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break
		}
		l.mu.Lock()
		if r.Harness.Pid != 0 {
			l.harness = r.Harness
		}
		if r.Exit != nil {
			l.exit = r.Exit
		}
		l.mu.Unlock()
		met()
	}
	_ = l.conn.Close()
	l.reap()
}

// reap waits for the end of a supervisor that has said goodbye, or cannot any
// more. One that does not end in time is killed.
func (l *link) reap() {
	l.mu.Lock()
	detached := l.detached
	l.mu.Unlock()
	if detached {
		if l.cmd != nil {
			_ = l.cmd.Process.Release()
		}
		return
	}
	slow := time.AfterFunc(reapWithin, l.killSupervisor)
	defer slow.Stop()
	if l.cmd != nil {
		_ = l.cmd.Wait() // its status is the harness's, which exit tells better
		return
	}
	for limit := time.Now().Add(2 * reapWithin); l.supervisor.alive() && time.Now().Before(limit); {
		time.Sleep(time.Millisecond) // it is no child of ours, there is nothing to wait on
	}
}

// killSupervisor ends a supervisor that hangs. The harness dies with it.
func (l *link) killSupervisor() {
	if l.cmd != nil {
		_ = l.cmd.Process.Kill()
		return
	}
	l.supervisor.signal(syscall.SIGKILL)
}

// detach lets go of the supervisor without ending anything.
func (l *link) detach() {
	l.mu.Lock()
	l.detached = true
	l.mu.Unlock()
	_ = l.conn.Close()
}

// stop tells the supervisor to end its tree.
func (l *link) stop(how string) {
	b, _ := json.Marshal(command{Stop: how})
	_ = l.conn.SetWriteDeadline(time.Now().Add(tellWithin))
	_, _ = l.conn.Write(append(b, '\n')) // if it is gone, that is what we want
}

// end is stop and waiting for the end of a link that nobody watches yet.
func (l *link) end(ctx context.Context, how string) {
	go l.watch()
	l.stop(how)
	stop := context.AfterFunc(ctx, l.detach)
	defer stop()
	select {
	case <-l.gone:
	case <-time.After(killAfter + endWithin):
		l.detach()
		<-l.gone
	}
}

// hello waits until the supervisor has named its harness.
func (l *link) hello(ctx context.Context) (procID, error) {
	select {
	case <-l.met:
	case <-time.After(helloWithin):
		return procID{}, errNoHello
	case <-ctx.Done():
		return procID{}, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exit != nil || l.harness.Pid == 0 {
		return procID{}, errNoHello
	}
	return l.harness, nil
}

// lastHarness is the harness as far as it was told.
func (l *link) lastHarness() procID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.harness
}

// ending is what the supervisor said at its end, if it did.
func (l *link) ending() (exitRecord, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exit == nil {
		return exitRecord{}, false
	}
	return *l.exit, true
}

// pairedLink starts a supervisor with one end of a connection as its file
// descriptor 3, so that it is attached from its first moment.
func pairedLink(cmd *exec.Cmd) (*link, error) {
	fds, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("connect to the supervisor: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "server")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, fmt.Errorf("connect to the supervisor: %w", err)
	}
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	l := newLink(conn)
	l.cmd, l.supervisor = cmd, identify(cmd.Process.Pid)
	return l, nil
}

func socketPair() ([2]int, error) {
	syscall.ForkLock.RLock() // no other fork may inherit them before they are marked
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return fds, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds, nil
}
