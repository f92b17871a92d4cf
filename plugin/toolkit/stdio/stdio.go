// Package stdio is the pipes of an agent program that is spoken to line by line.
package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

const (
	// MaxLine is a good bound of one line: the longest that agents were seen to print
	// have a quarter of a megabyte.
	MaxLine = 16 << 20

	// KeepTail is how many bytes a [Tail] keeps.
	KeepTail = 8 << 10
)

// Lines cuts what the program prints into lines. A line that is too long is left
// out, in bounded memory, and told by its length.
type Lines struct {
	Max     int
	Each    func(line []byte) // the line is valid for the call
	TooLong func(size int64)

	mu   sync.Mutex // guards what follows: the last line is taken by another goroutine
	line []byte
	lost int64 // bytes of a line that is too long
}

// Write implements [io.Writer].
func (s *Lines) Write(p []byte) (int, error) {
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

func (s *Lines) add(part []byte) {
	if s.lost > 0 || len(s.line)+len(part) > s.Max {
		s.lost += int64(len(s.line) + len(part))
		s.line = nil
		return
	}
	s.line = append(s.line, part...)
}

// End gives the last line, which may have no line break.
func (s *Lines) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.give()
}

func (s *Lines) give() {
	switch {
	case s.lost > 0:
		s.TooLong(s.lost)
	case len(bytes.TrimSpace(s.line)) > 0:
		s.Each(s.line)
	}
	s.lost = 0
	if cap(s.line) > 1<<20 {
		s.line = nil // one long line must not hold its memory for the whole run
	}
	s.line = s.line[:0]
}

// Input is what the program reads: messages, one a line. Who sends never waits, so a
// program that stopped reading holds up nobody.
type Input struct {
	mu     sync.Mutex // guards what follows
	more   *sync.Cond
	buf    bytes.Buffer
	closed bool
}

// NewInput returns an open, empty input.
func NewInput() *Input {
	i := &Input{}
	i.more = sync.NewCond(&i.mu)
	return i
}

// Send queues a message. After Close it is dropped: the program is leaving.
func (i *Input) Send(v any) error {
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

// Close ends the input behind what is queued.
func (i *Input) Close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	i.more.Broadcast()
}

// Read implements [io.Reader].
func (i *Input) Read(p []byte) (int, error) {
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

// Tail keeps the end of what is written to it.
type Tail struct {
	mu sync.Mutex
	b  []byte
}

// Write implements [io.Writer].
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(0, len(p)-KeepTail):]
	t.b = append(t.b, p...)
	if len(t.b) > KeepTail {
		t.b = append(t.b[:0], t.b[len(t.b)-KeepTail:]...)
	}
	return n, nil
}

// String returns the end as valid UTF-8.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(bytes.ToValidUTF8(t.b, []byte("\uFFFD"))))
}
