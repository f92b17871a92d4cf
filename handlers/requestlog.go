package handlers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// answerTime bounds how long a client may take to accept part of an answer, so
// that one that reads nothing does not hold it for ever. Streams have bounds of
// their own.
const answerTime = 5 * time.Minute

// visit is one request on its way through the server.
type visit struct {
	id    string // under which the log has it
	route string // the pattern that it matched; "" when it was turned away before
}

type visitKey struct{}

// visitOf returns the visit that a request belongs to. One that did not come
// through observe, as in tests of parts, gets one of its own.
func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{id: newRequestID()}
}

// observe stands around everything else: it counts and logs each request,
// whoever answers it, and tells the client under which id.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, v := time.Now(), &visit{id: newRequestID()}
		out := &recorder{ResponseWriter: w, visit: v, metrics: s.metrics}
		out.Header().Set(echo.HeaderXRequestID, v.id)
		// The connection may have served another request, whose deadline still stands.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		returned := false
		defer func() {
			took := time.Since(begun)
			status := out.end(returned)
			s.metrics.request(v.route, r.Method, status, took, out.stream)
			s.logRequest(r, out, status, took)
		}()
		next.ServeHTTP(out, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
		returned = true
	})
}

// logRequest writes the one line that the log has of each request: never a body,
// a query, a header or the token in a path.
func (s *server) logRequest(r *http.Request, out *recorder, status int, took time.Duration) {
	level := slog.LevelDebug
	switch {
	case status >= 500:
		level = slog.LevelWarn
	case out.visit.route == "" && status >= 400:
		level = slog.LevelInfo // turned away: someone will want to know why
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	s.log.LogAttrs(r.Context(), level, "request", slog.String("method", clip(r.Method)), slog.String("path", safePath(r.URL.Path)),
		slog.String("route", out.visit.route), slog.Int("status", status), slog.Int64("bytes", out.bytes),
		slog.Duration("took", took), slog.String("request", out.visit.id))
}

// safePath returns a path without the token that it may have.
func safePath(path string) string {
	const door = "/mcp-agent"
	if at := strings.Index(strings.ToLower(path), door); at >= 0 {
		return clip(path[:at]) + door + "/…"
	}
	return clip(path)
}

// recorder notes what is answered.
type recorder struct {
	http.ResponseWriter
	visit   *visit
	metrics *metrics
	status  int // 0 until the answer begins
	bytes   int64
	stream  bool // of events; it is counted as open
}

// WriteHeader begins the answer.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
			w.stream = true
			w.metrics.streamOpened(w.visit.route, 1)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes part of the answer.
func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.hurry()
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// hurry gives the client its time to accept what is written next.
func (w *recorder) hurry() {
	if !w.stream {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(answerTime))
	}
}

// Unwrap lets http.ResponseController find what can flush and has deadlines.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// end returns the status that the client got, or will get: a handler that
// answered nothing has answered 200, unless it panicked.
func (w *recorder) end(returned bool) int {
	w.hurry() // the server has yet to send what is buffered
	if w.stream {
		w.metrics.streamOpened(w.visit.route, -1)
	}
	switch {
	case w.status != 0:
		return w.status
	case returned:
		return http.StatusOK
	}
	return http.StatusInternalServerError
}

// requestID returns the id under which a request is found in the log.
func requestID(c echo.Context) string {
	r := c.Request()
	v, ok := r.Context().Value(visitKey{}).(*visit)
	if !ok {
		v = &visit{id: newRequestID()}
		c.SetRequest(r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
	}
	return v.id
}

func newRequestID() string {
	b := make([]byte, 6)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
