package handlers

import (
	"net"
	"strings"
	"sync"
	"testing"
)

// cutter is a way to a server that can be cut.
type cutter struct {
	mu    sync.Mutex
	to    string
	down  bool
	conns map[net.Conn]bool
}

// newCutter listens before a server, whose address is given to it later, and
// returns its own.
func newCutter(t testing.TB) (*cutter, string) {
	t.Helper()
	c := &cutter{conns: map[net.Conn]bool{}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.carry(conn) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		c.cut(true)
		all.Wait()
	})
	return c, ln.Addr().String()
}

// cut ends all connections, and lets none through until it is called with false.
func (c *cutter) cut(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
	for conn := range c.conns {
		conn.Close()
	}
}

// lead names the server behind.
func (c *cutter) lead(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = strings.TrimPrefix(url, "http://")
}

func (c *cutter) target() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to
}

func (c *cutter) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		if c.down {
			conn.Close()
		}
		c.conns[conn] = true
	}
	return !c.down
}

func (c *cutter) carry(in net.Conn) {
	defer in.Close()
	if !c.keep(in) {
		return
	}
	out, err := net.Dial("tcp", c.target())
	if err != nil {
		return
	}
	defer out.Close()
	if !c.keep(out) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pipe(out, in) })
	both.Go(func() { pipe(in, out) })
	both.Wait()
}

// pipe carries bytes one way and ends both ways when that ends.
func pipe(to, from net.Conn) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if _, werr := to.Write(b[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			to.Close()
			from.Close()
			return
		}
	}
}
