package plugin

import (
	"net"
	"sync"
	"time"
)

// idle ends a process that nobody needs any more: no run goes on, no host is
// connected, and none has come back within the grace time.
type idle struct {
	over chan struct{} // closed when the time is up

	mu    sync.Mutex // guards what follows
	busy  int        // connections and runs
	grace time.Duration
	timer *time.Timer
	once  sync.Once
}

// newIdle waits first for the first connection, then, each time that nothing is
// left to do, for grace.
func newIdle(first, grace time.Duration) *idle {
	i := &idle{over: make(chan struct{}), grace: grace}
	i.timer = time.AfterFunc(first, i.expire)
	return i
}

func (i *idle) enter() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy++
	i.timer.Stop()
}

func (i *idle) leave() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy--
	if i.busy == 0 {
		i.timer.Reset(i.grace)
	}
}

// hurry ends the wait for a host: all is told.
func (i *idle) hurry() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.grace = 0
	if i.busy == 0 {
		i.timer.Reset(0)
	}
}

func (i *idle) expire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.busy == 0 { // else someone came in the same moment
		i.once.Do(func() { close(i.over) })
	}
}

// listener counts open connections, so that a host's death is known.
type listener struct {
	net.Listener
	idle *idle
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.idle.enter()
	return &countedConn{Conn: c, idle: l.idle}, nil
}

type countedConn struct {
	net.Conn
	idle *idle
	once sync.Once
}

func (c *countedConn) Close() error {
	defer c.once.Do(c.idle.leave)
	return c.Conn.Close()
}
