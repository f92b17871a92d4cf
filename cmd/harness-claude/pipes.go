package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

const (
	// maxLine bounds one line of the program. The longest that were seen have a
	// quarter of a megabyte.
	maxLine  = 16 << 20
	keepTail = 8 << 10 // bytes of stderr
)

// splitter cuts what the program prints into lines. A line that is too long is left
// out, in bounded memory, and told by its length.
type splitter struct {
	max     int
	each    func(line []byte) // the line is valid for the call
	tooLong func(size int64)

	mu   sync.Mutex // guards what follows: the last line is taken by another goroutine
	line []byte
	lost int64 // bytes of a line that is too long
}

func (s *splitter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		s.add(part)
		if ended {
			s.give()
		}
		p = rest
	}
	return n, nil
}

func (s *splitter) add(part []byte) {
	if s.lost > 0 || len(s.line)+len(part) > s.max {
		s.lost += int64(len(s.line) + len(part))
		s.line = nil
		return
	}
	s.line = append(s.line, part...)
}

// end gives the last line, which may have no line break.
func (s *splitter) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give()
}

func (s *splitter) give() {
	switch {
	case s.lost > 0:
		s.tooLong(s.lost)
	case len(bytes.TrimSpace(s.line)) > 0:
		s.each(s.line)
	}
	s.lost = 0
	if cap(s.line) > 1<<20 {
		s.line = nil // one long line must not hold its memory for the whole run
	}
	s.line = s.line[:0]
}

// input is what the program reads: messages, one a line. Who sends never waits, so a
// program that stopped reading holds up nobody.
type input struct {
	mu     sync.Mutex // guards what follows
	more   *sync.Cond
	buf    bytes.Buffer
	closed bool
}

func newInput() *input {
	i := &input{}
	i.more = sync.NewCond(&i.mu)
	return i
}

// send queues a message. After close it is dropped: the program is leaving.
func (i *input) send(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("send to the program: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.closed {
		i.buf.Write(raw)
		i.buf.WriteByte('\n')
		i.more.Signal()
	}
	return nil
}

// close ends the input behind what is queued.
func (i *input) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	i.more.Broadcast()
}

// Read implements [io.Reader].
func (i *input) Read(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.buf.Len() == 0 {
		if i.closed {
			return 0, io.EOF
		}
		i.more.Wait()
	}
	return i.buf.Read(p)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(0, len(p)-keepTail):]
	t.b = append(t.b, p...)
	if len(t.b) > keepTail {
		t.b = append(t.b[:0], t.b[len(t.b)-keepTail:]...)
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(bytes.ToValidUTF8(t.b, []byte("\uFFFD"))))
}
