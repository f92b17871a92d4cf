package scriptedmessages

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const maxBody = 64 << 20

// Server answers from its scripts. Its fields are set before it serves.
type Server struct {
	Scripts []Script
	// Models is what GET /v1/models lists.
	Models []string
	// Key is the only key that is let in; "" lets in everyone.
	Key string

	mu       sync.Mutex
	requests []*Request
	faults   map[string]int
	replies  int
}

// New returns a server of scripts.
func New(scripts ...Script) *Server {
	return &Server{Scripts: scripts, Models: []string{"claude-scripted-1"}, faults: map[string]int{}}
}

// Requests returns the message requests so far, in the order of their arrival.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Running is a server on a port of its own.
type Running struct {
	URL  string // base, without /v1
	http *http.Server
	done chan error
}

// Start serves on an address such as 127.0.0.1:0 until Close.
func (s *Server) Start(addr string) (*Running, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("start scripted messages: %w", err)
	}
	r := &Running{URL: "http://" + l.Addr().String(), http: &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}, done: make(chan error, 1)}
	go func() { r.done <- r.http.Serve(l) }()
	return r, nil
}

// Close ends the server and all its connections.
func (r *Running) Close() {
	_ = r.http.Close()
	<-r.done
}

// ServeHTTP answers GET /v1/models, POST /v1/messages and its count_tokens; anything
// else is 404.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	given := q.Header.Get("X-Api-Key")
	if given == "" {
		given = strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")
	}
	switch {
	case s.Key != "" && given != s.Key:
		fail(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key: "+given)
	case q.Method == http.MethodGet && q.URL.Path == "/v1/models":
		list := []object{}
		for _, m := range s.Models {
			list = append(list, object{"type": "model", "id": m, "display_name": m, "created_at": "2026-01-01T00:00:00Z"})
		}
		sendJSON(w, http.StatusOK, object{"data": list, "has_more": false})
	case q.Method == http.MethodPost && q.URL.Path == "/v1/messages/count_tokens":
		sendJSON(w, http.StatusOK, object{"input_tokens": 100})
	case q.Method == http.MethodPost && q.URL.Path == "/v1/messages":
		s.messages(w, q)
	default:
		fail(w, http.StatusNotFound, "not_found_error", "Not found")
	}
}

func (s *Server) messages(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "request_too_large", err.Error())
		return
	}
	r, err := parseRequest(body)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	r.Header = q.Header.Clone()
	t, err := s.turn(r)
	n := s.record(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	s.answer(q.Context(), w, asked{r, t, n})
}

// asked is a request with the turn that answers it and its number.
type asked struct {
	*Request
	turn Turn
	n    int
}

func (s *Server) record(r *Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	s.replies++
	return s.replies
}

// turn finds the reply to a request and notes on r where it is from.
func (s *Server) turn(r *Request) (Turn, error) {
	c, n, ok := r.find(s.Scripts)
	if !ok {
		return Turn{}, fmt.Errorf("no script matches the request, which says: %.300s", r.User())
	}
	r.Match, r.Turn = c.Match, n
	if c.Loop {
		r.Turn = min(n, len(c.Turns)-1)
	}
	if r.Turn >= len(c.Turns) {
		return Turn{}, fmt.Errorf("script %q has only %d turns, and this is turn %d", c.Match, len(c.Turns), r.Turn+1)
	}
	t := c.Turns[r.Turn]
	if t.Make != nil {
		t = t.Make(r)
	}
	if t.Times > 0 && !s.faultLeft(r, t.Times) {
		t.Status, t.CutAfter = 0, nil
	}
	return t, nil
}

// faultLeft counts the faults of one turn of one session.
func (s *Server) faultLeft(r *Request, times int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%s\x00%s\x00%d", r.session(), r.Match, r.Turn)
	s.faults[key]++
	return s.faults[key] <= times
}

func (s *Server) answer(ctx context.Context, w http.ResponseWriter, a asked) {
	if !pause(ctx, a.turn.DelayMS) {
		return
	}
	for k, v := range a.turn.Headers {
		w.Header().Set(k, v)
	}
	switch {
	case a.turn.Status != 0 && a.turn.Body != "":
		w.WriteHeader(a.turn.Status)
		_, _ = io.WriteString(w, a.turn.Body)
		return
	case a.turn.Status != 0:
		fail(w, a.turn.Status, a.turn.Kind, a.turn.Message)
		return
	}
	out, err := newReply(a.turn, a.Request, a.n)
	switch {
	case err != nil:
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
	case a.Stream:
		stream(ctx, w, out, a.turn)
	case a.turn.CutAfter != nil:
		panic(http.ErrAbortHandler) // the server's own way to drop a connection
	default:
		sendJSON(w, http.StatusOK, out.message())
	}
}

func stream(ctx context.Context, w http.ResponseWriter, out *reply, t Turn) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flush := http.NewResponseController(w)
	events := out.events()
	for n, e := range events {
		if t.CutAfter != nil && n >= *t.CutAfter {
			panic(http.ErrAbortHandler)
		}
		if n == len(events)-1 && !pause(ctx, t.HoldMS) {
			return
		}
		raw, err := json.Marshal(e)
		if err != nil {
			panic(http.ErrAbortHandler) // only a broken script gets here
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], raw)
		_ = flush.Flush() // a client that is gone ends ctx
	}
}

// pause waits and reports whether the client is still there.
func pause(ctx context.Context, ms int) bool {
	if ms == 0 {
		return true
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func fail(w http.ResponseWriter, status int, kind, message string) {
	sendJSON(w, status, object{"type": "error", "error": object{"type": kind, "message": message}})
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // fails only when the client is gone
}
