package handlers

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// watch logs each request and turns a panic into an error.
func (s *server) watch(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		begun := time.Now()
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
			if err != nil {
				c.Error(err) // here, so that the status is known
			}
			s.logRequest(c, time.Since(begun))
		}()
		return next(c)
	}
}

func (s *server) logRequest(c echo.Context, took time.Duration) {
	r, res := c.Request(), c.Response()
	level := slog.LevelDebug
	if res.Status >= 500 {
		level = slog.LevelWarn
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	s.log.LogAttrs(r.Context(), level, "request", slog.String("method", r.Method), slog.String("path", safePath(r.URL.Path)),
		slog.Int("status", res.Status), slog.Int64("bytes", res.Size), slog.Duration("took", took))
}

// safePath returns a path without the token that it may have.
func safePath(path string) string {
	if at := strings.Index(path, "/mcp-agent/"); at >= 0 {
		return path[:at] + "/mcp-agent/…"
	}
	return clip(path)
}

const requestIDKey = "request id"

// requestID returns the number under which a request is found in the log.
func requestID(c echo.Context) string {
	if id, ok := c.Get(requestIDKey).(string); ok {
		return id
	}
	id := newRequestID()
	c.Set(requestIDKey, id)
	return id
}

func newRequestID() string {
	b := make([]byte, 6)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
