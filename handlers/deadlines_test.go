package handlers

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are made by the test, in memory, so that
// time can be the test's own.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// timed serves a handler, behind the guard, on a connection of the test; what the
// test does takes no time of its own.
func timed(t *testing.T, h http.HandlerFunc, use func(t *testing.T, conn net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{hosts: newHosts(Options{Host: "127.0.0.1", Port: 1}), metrics: newMetrics(), log: slog.New(slog.DiscardHandler)}
		srv := s.listenWith(s.observe(s.guard(h)))
		ln := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := srv.Serve(ln); err != http.ErrServerClosed {
				t.Errorf("serve: %v", err)
			}
		}()
		mine, theirs := net.Pipe()
		ln.made <- theirs
		use(t, mine)
		mine.Close()
		srv.Close()
		<-done
	})
}

// readAll is a handler that reads the body and says what came of it.
func readAll(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%d bytes, %v", len(b), err)
}

func TestBodiesThatTrickleInAreCutOff(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{"that a handler reads": readAll, "that no handler reads": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "no thanks")
	}} {
		t.Run(name, func(t *testing.T) {
			timed(t, h, func(t *testing.T, conn net.Conn) {
				begun := time.Now()
				fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
				ended := make(chan error, 1)
				go func() {
					_, err := io.Copy(io.Discard, conn)
					ended <- err
				}()
				for time.Since(begun) < time.Hour {
					if _, err := conn.Write([]byte("x")); err != nil {
						break
					}
					time.Sleep(10 * time.Second)
				}
				conn.Close()
				<-ended
				if took := time.Since(begun); took > bodyTime+time.Minute {
					t.Errorf("the connection lived for %s", took)
				}
			})
		})
	}
}

func TestHeadersThatTrickleInAreCutOff(t *testing.T) {
	timed(t, readAll, func(t *testing.T, conn net.Conn) {
		begun := time.Now()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\n")
		go io.Copy(io.Discard, conn)
		for i := 0; time.Since(begun) < time.Hour; i++ {
			if _, err := fmt.Fprintf(conn, "X-%d: x\r\n", i); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("the connection lived for %s", took)
		}
	})
}

// TestWhatIsDoneWithABodyMayTakeLong: the deadline is the body's alone, and the
// next request on the connection has its own.
func TestWhatIsDoneWithABodyMayTakeLong(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		readAll(w, r)
		select {
		case <-time.After(10 * bodyTime):
			fmt.Fprint(w, ", done")
		case <-r.Context().Done():
			fmt.Fprint(w, ", given up")
		}
	}
	timed(t, slow, func(t *testing.T, conn net.Conn) {
		in := bufio.NewReader(conn)
		for i := range 3 {
			go fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello")
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
			if b, err := io.ReadAll(res.Body); err != nil || string(b) != "5 bytes, <nil>, done" {
				t.Errorf("request %d: %q, %v", i, b, err)
			}
			time.Sleep(bodyTime)
		}
	})
}

func TestClientsThatReadNothingAreDropped(t *testing.T) {
	var failed chan error
	large := func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 1<<20))
		failed <- err
	}
	timed(t, large, func(t *testing.T, conn net.Conn) {
		begun := time.Now()
		failed = make(chan error, 1)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		err := <-failed
		if took := time.Since(begun); err == nil || took != answerTime {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

// TestStreamsOutliveTheDeadlines: a stream goes on for as long as its client reads.
func TestStreamsOutliveTheDeadlines(t *testing.T) {
	const messages = 100
	stream := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		out := &sseWriter{w: w, ctl: http.NewResponseController(w), pace: usualPace}
		defer out.end()
		w.WriteHeader(http.StatusOK)
		for range messages {
			if err := out.send([]byte("data: x\n\n")); err != nil {
				return
			}
			time.Sleep(time.Minute)
		}
	}
	timed(t, stream, func(t *testing.T, conn net.Conn) {
		go fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if n := strings.Count(string(b), "data: x"); err != nil || n != messages {
			t.Errorf("%d messages came, then %v", n, err)
		}
	})
}
