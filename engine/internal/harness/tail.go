package harness

import (
	"bufio"
	"io"
	"os"
	"sync"
	"time"
)

const (
	tailSize     = 64 << 10
	maxHandshake = 4 << 10
	tailEvery    = 500 * time.Millisecond // how often the tail is written to disk at most
)

// tail keeps the end of what is written to it. It is safe for concurrent use
// and never blocks its writers for long.
type tail struct {
	changed chan struct{} // holds one value when there is something new

	mu  sync.Mutex
	buf []byte // at most twice the size; its last tailSize bytes count
}

func newTail() *tail { return &tail{changed: make(chan struct{}, 1)} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(0, n-tailSize):]
	if len(t.buf)+len(p) > 2*tailSize {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-min(len(t.buf), tailSize):]...)
	}
	t.buf = append(t.buf, p...)
	select {
	case t.changed <- struct{}{}:
	default:
	}
	return n, nil
}

// text is what is kept, as clean text.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cleanText(t.buf[max(0, len(t.buf)-tailSize):])
}

// save keeps a copy in a file until done is closed.
func (t *tail) save(path string, done <-chan struct{}) {
	for {
		select {
		case <-t.changed:
			_ = os.WriteFile(path, []byte(t.text()), 0o600) // a full disk must not end the run
		case <-done:
			return
		}
		select {
		case <-time.After(tailEvery):
		case <-done:
			return
		}
	}
}

// passFirstLine copies the first line of r to w, at most maxHandshake bytes of
// it, and the rest to t. It returns after the first line; rest reads on.
func passFirstLine(r io.Reader, w io.Writer, t *tail) (rest io.Reader) {
	in := bufio.NewReaderSize(r, maxHandshake)
	line, err := in.ReadSlice('\n')
	if err != nil && len(line) > 0 {
		line = append(line[:len(line):len(line)], '\n') // too long, or the end: no handshake, but worth showing
		_, _ = t.Write(line)
	}
	_, _ = w.Write(line) // a server that is gone needs it no more
	return in
}
