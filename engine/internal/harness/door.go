package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// Ways to end a harness.
const (
	stopTerm = "term" // SIGTERM to the tree, SIGKILL 4 s later
	stopKill = "kill" // SIGKILL to the tree
)

const (
	maxCommand = 4 << 10 // bytes of one line from a server
	tellWithin = time.Second
)

// command is one line from a server to a supervisor.
type command struct {
	Stop   string `json:"stop,omitempty"`   // stopTerm or stopKill
	Status bool   `json:"status,omitempty"` // answer with a report
}

// report is one line from a supervisor to a server: at once when it comes in, as
// an answer to a status command, and at the end with Exit.
type report struct {
	Harness procID      `json:"harness,omitzero"`
	Stderr  string      `json:"stderr_tail,omitempty"`
	Exit    *exitRecord `json:"exit,omitempty"`
}

// door is the supervisor's socket and the servers that came through it. That
// one is connected means that a server cares for the run.
type door struct {
	changed chan struct{} // holds one value when a server came or left
	stops   chan string

	mu       sync.Mutex // guards what follows
	listener net.Listener
	conns    map[net.Conn]bool
	status   func() report // nil before serve
	closed   bool
}

func newDoor() *door {
	return &door{changed: make(chan struct{}, 1), stops: make(chan string), conns: map[net.Conn]bool{}}
}

// open makes the socket. Servers that connect wait for serve.
func (d *door) open(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("open the supervisor's socket: %w", err)
	}
	d.listener = l
	return os.Chmod(path, 0o600) // the folder keeps others out anyway
}

// enter adds a server.
func (d *door) enter(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		_ = c.Close()
		return
	}
	d.conns[c] = true
	d.tellChanged()
	if d.status != nil {
		go d.attend(c, d.status)
	}
}

func (d *door) leave(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = c.Close()
	delete(d.conns, c)
	d.tellChanged()
}

// tellChanged wakes the supervisor. The caller holds mu.
func (d *door) tellChanged() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (d *door) servers() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.conns)
}

// serve begins to attend to servers. Its goroutines end with the process.
func (d *door) serve(r report, output func() string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status = func() report { return report{Harness: r.Harness, Stderr: output()} }
	for c := range d.conns {
		go d.attend(c, d.status)
	}
	go d.accept(d.listener)
}

func (d *door) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		d.enter(c)
	}
}

// attend does what one server says until it leaves.
func (d *door) attend(c net.Conn, status func() report) {
	defer d.leave(c)
	if tell(c, status()) != nil {
		return
	}
	lines := bufio.NewScanner(c)
	lines.Buffer(nil, maxCommand)
	for lines.Scan() {
		var cmd command
		if json.Unmarshal(lines.Bytes(), &cmd) != nil {
			return
		}
		if cmd.Stop != "" {
			d.stops <- cmd.Stop
		}
		if cmd.Status && tell(c, status()) != nil {
			return
		}
	}
}

// tell writes one line. A server that does not read is given up.
func tell(c net.Conn, r report) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_ = c.SetWriteDeadline(time.Now().Add(tellWithin))
	_, err = c.Write(append(b, '\n'))
	return err
}

// close tells all servers the end and closes the socket, which removes it.
func (d *door) close(last report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.listener != nil {
		_ = d.listener.Close()
	}
	var told sync.WaitGroup
	for c := range d.conns {
		told.Go(func() {
			_ = tell(c, last)
			_ = c.Close()
		})
	}
	told.Wait()
}
