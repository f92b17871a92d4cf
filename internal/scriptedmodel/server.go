package scriptedmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
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
	// Reject names fields of the body that are answered with 400.
	Reject []string
	// ChunkSize is the number of characters in a piece of the stream; 0 means 12.
	ChunkSize int

	mu       sync.Mutex
	requests []*Request
	faults   map[string]int
}

// New returns a server of scripts that lists the one model "scripted-model".
func New(scripts ...Script) *Server {
	return &Server{Scripts: scripts, Models: []string{"scripted-model"}}
}

// Requests returns the chat requests so far, in the order of their arrival.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Running is a server on a port of its own.
type Running struct {
	URL  string // of the API, such as http://127.0.0.1:1234/v1
	http *http.Server
	done chan error
}

// Start serves on an address such as 127.0.0.1:0 until Close.
func (s *Server) Start(addr string) (*Running, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("start scripted model: %w", err)
	}
	r := &Running{URL: "http://" + l.Addr().String() + "/v1", http: &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}, done: make(chan error, 1)}
	go func() { r.done <- r.http.Serve(l) }()
	return r, nil
}

// Close ends the server and all its connections.
func (r *Running) Close() {
	_ = r.http.Close()
	<-r.done
}

// ServeHTTP answers GET …/v1/models and POST …/v1/chat/completions; anything else is
// 404, as with servers that have the API under /v1.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if s.Key != "" && q.Header.Get("Authorization") != "Bearer "+s.Key {
		fail(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer "))
		return
	}
	switch {
	case q.Method == http.MethodGet && q.URL.Path == "/v1/models":
		list := []object{}
		for _, m := range s.Models {
			list = append(list, object{"id": m, "object": "model", "created": 0, "owned_by": "scripted"})
		}
		sendJSON(w, http.StatusOK, object{"object": "list", "data": list})
	case q.Method == http.MethodPost && q.URL.Path == "/v1/chat/completions":
		s.chat(w, q)
	default:
		fail(w, http.StatusNotFound, "", fmt.Sprintf("Invalid URL (%s %s)", q.Method, q.URL.Path))
	}
}

func (s *Server) chat(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	if err != nil {
		fail(w, http.StatusBadRequest, "", err.Error())
		return
	}
	r, err := parseRequest(body)
	if err != nil {
		fail(w, http.StatusBadRequest, "", err.Error())
		return
	}
	r.Path, r.Header = q.URL.Path, q.Header.Clone()
	for _, name := range s.Reject {
		if r.fields[name] != nil {
			s.record(r)
			fail(w, http.StatusBadRequest, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", name))
			return
		}
	}
	t, err := s.turn(r)
	s.record(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "script", err.Error())
		return
	}
	s.answer(q.Context(), w, r, t)
}

func (s *Server) record(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
}

// turn finds the reply to a request and notes on r where it is from.
func (s *Server) turn(r *Request) (Turn, error) {
	i := slices.IndexFunc(s.Scripts, func(c Script) bool {
		return strings.Contains(r.User(), c.Match) && (c.When == nil || c.When(r))
	})
	if i < 0 {
		return Turn{}, fmt.Errorf("no script matches the request, which says: %.300s", r.User())
	}
	c := s.Scripts[i]
	r.Script, r.Turn = c.Name, r.replies()
	if c.Loop {
		r.Turn = min(r.Turn, len(c.Turns)-1)
	}
	if r.Turn >= len(c.Turns) {
		return Turn{}, fmt.Errorf("script %q has only %d turns, and this is turn %d", c.Name, len(c.Turns), r.Turn+1)
	}
	t := c.Turns[r.Turn]
	if t.Make != nil {
		t = t.Make(r)
	}
	if t.Times > 0 && !s.faultLeft(r, t.Times) {
		t.Status, t.Headers, t.Body, t.CutAfter = 0, nil, "", nil
	}
	return t, expected(t, r)
}

// faultLeft counts the faults of one turn of one conversation.
func (s *Server) faultLeft(r *Request, times int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%s\x00%d\x00%s", r.Script, r.Turn, r.User())
	if s.faults == nil {
		s.faults = map[string]int{}
	}
	s.faults[key]++
	return s.faults[key] <= times
}

func expected(t Turn, r *Request) error {
	if t.Expect == "" {
		return nil
	}
	re, err := regexp.Compile(t.Expect)
	if err != nil {
		return fmt.Errorf("script %q, turn %d: expect: %w", r.Script, r.Turn+1, err)
	}
	if got := strings.Join(r.LastResults(), "\n"); !re.MatchString(got) {
		return fmt.Errorf("script %q, turn %d: the tool results do not match %s: %.2000s", r.Script, r.Turn+1, t.Expect, got)
	}
	return nil
}

func (s *Server) answer(ctx context.Context, w http.ResponseWriter, r *Request, t Turn) {
	if !pause(ctx, t.DelayMS) {
		return
	}
	for k, v := range t.Headers {
		w.Header().Set(k, v)
	}
	if t.Status != 0 || t.Body != "" {
		sendBody(w, t)
		return
	}
	out, err := newReply(t, r)
	switch {
	case err != nil:
		fail(w, http.StatusBadRequest, "script", fmt.Sprintf("script %q, turn %d: %v", r.Script, r.Turn+1, err))
	case r.Stream:
		s.stream(ctx, w, r, out)
	case t.CutAfter != nil:
		panic(http.ErrAbortHandler) // the server's own way to drop a connection
	default:
		sendJSON(w, http.StatusOK, out.whole())
	}
}

func (s *Server) stream(ctx context.Context, w http.ResponseWriter, r *Request, out *reply) {
	size := s.ChunkSize
	if size == 0 {
		size = 12
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flush := http.NewResponseController(w)
	for n, c := range out.chunks(size, r.AsksUsage) {
		if out.turn.CutAfter != nil && n >= *out.turn.CutAfter {
			_ = flush.Flush()
			panic(http.ErrAbortHandler)
		}
		if n > 0 && !pause(ctx, out.turn.ChunkDelayMS) {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", c)
		_ = flush.Flush() // a client that is gone ends ctx
	}
	if pause(ctx, out.turn.HoldMS) && !out.turn.NoDone {
		fmt.Fprint(w, "data: [DONE]\n\n")
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

func sendBody(w http.ResponseWriter, t Turn) {
	status := t.Status
	if status == 0 {
		status = http.StatusOK
	}
	if w.Header().Get("Content-Type") == "" {
		kind := "application/json"
		if !json.Valid([]byte(t.Body)) {
			kind = "text/html"
		}
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, t.Body)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	e := object{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	sendJSON(w, status, object{"error": e})
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // fails only when the client is gone
}
