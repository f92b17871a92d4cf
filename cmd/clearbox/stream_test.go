package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// listener reads /api/stream as a browser does: when the connection ends it
// comes back with the id of the last message.
type listener struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	url     string
	last    string // id of the newest message
	events  []event
	resyncs int
	raw     strings.Builder
	hellos  int
}

// listen follows the stream of a rig until the test ends.
func (r *rig) listen(t testing.TB) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &listener{cancel: cancel, done: make(chan struct{}), url: r.url()}
	go l.follow(ctx)
	t.Cleanup(l.stop)
	await(t, "the stream says hello", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.hellos > 0
	})
	return l
}

func (l *listener) stop() {
	l.cancel()
	<-l.done
}

// moved tells it where the server is now.
func (l *listener) moved(url string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.url = url
}

func (l *listener) follow(ctx context.Context) {
	defer close(l.done)
	for ctx.Err() == nil {
		l.once(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// once reads one connection to its end.
func (l *listener) once(ctx context.Context) {
	l.mu.Lock()
	url, last := l.url, l.last
	l.mu.Unlock()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/stream", nil)
	if err != nil {
		return
	}
	if last != "" {
		q.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	var id string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return // half a message does not count
		}
		id = l.take(strings.TrimSuffix(line, "\n"), id)
	}
}

// take takes one line. id is that of the message that it is part of.
func (l *listener) take(line, id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.raw.WriteString(line + "\n")
	switch {
	case line == "event: hello":
		l.hellos++
	case strings.HasPrefix(line, "id: "):
		return line[len("id: "):]
	case strings.HasPrefix(line, "data: "):
		var m struct {
			Type  string
			Event event
		}
		if json.Unmarshal([]byte(line[len("data: "):]), &m) != nil {
			break
		}
		switch m.Type {
		case "event":
			l.events = append(l.events, m.Event)
		case "resync":
			l.resyncs++
		}
	case line == "" && id != "":
		l.last = id
	}
	return id
}

// heard returns the texts that a step said, in the order in which they came.
func (l *listener) heard(id, n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return textsOf(l.events, id, n)
}

// all returns everything that came, byte for byte.
func (l *listener) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.raw.String()
}

// textsOf returns what an agent said in some events.
func textsOf(events []event, id, n int) []string {
	var out []string
	for _, e := range events {
		if e.Plan == id && e.Node == n && e.Kind == "text" {
			out = append(out, e.text())
		}
	}
	return out
}

// openStream opens the stream once and returns how it ended: nil for a clean
// end.
func (r *rig) openStream() <-chan error {
	r.t.Helper()
	res, err := http.Get(r.url() + "/api/stream")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { res.Body.Close() })
	in := bufio.NewReader(res.Body)
	if line, err := in.ReadString('\n'); err != nil || line != "event: hello\n" {
		r.t.Fatalf("the stream begins with %q, %v", line, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, in)
		ended <- err
	}()
	return ended
}
