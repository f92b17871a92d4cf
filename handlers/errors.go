package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// failure is what every refused REST request is answered with.
type failure struct {
	Detail string `json:"detail"`
}

// statusOf is the only map from kinds of errors to HTTP statuses.
func statusOf(k plan.ErrorKind) int {
	switch k {
	case plan.Malformed:
		return http.StatusUnprocessableEntity
	case plan.Invalid:
		return http.StatusBadRequest
	case plan.NotFound:
		return http.StatusNotFound
	case plan.Conflict:
		return http.StatusConflict
	case plan.Denied:
		return http.StatusForbidden
	case plan.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// problem is an error as a client sees it.
type problem struct {
	status int
	text   string
}

// problemOf turns any error of a request into what the client is told. What is
// our fault goes to the log, under a number that the client gets too.
func (s *server) problemOf(err error, id string) problem {
	var tooLarge *http.MaxBytesError
	var he *echo.HTTPError
	switch {
	case errors.As(err, &tooLarge):
		return problem{http.StatusRequestEntityTooLarge, tooLargeText}
	case errors.As(err, &he) && he.Code < 500:
		return problem{he.Code, fmt.Sprint(he.Message)}
	}
	kind := plan.KindOf(err)
	if kind == plan.Internal && !errors.As(err, &he) && isGone(err) {
		return problem{http.StatusServiceUnavailable, "the request was given up"}
	}
	if kind == plan.Internal {
		s.log.Error("request failed", "request", id, "err", err)
		return problem{http.StatusInternalServerError, "internal error; the server's log has it as request " + id}
	}
	return problem{statusOf(kind), bounded(plan.MessageOf(err))}
}

// bounded shortens a message that repeats something huge: each line, and the
// whole.
func bounded(text string) string {
	const perLine, whole = 2000, 256 << 10
	if len(text) <= perLine {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if b.Len() > whole {
			b.WriteString("…")
			break
		}
		if len(line) > perLine {
			line = strings.ToValidUTF8(line[:perLine], "") + "…\n"
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// isGone reports whether an error only says that nobody waits any more.
func isGone(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// handleError answers a request that failed: JSON under /api and for machines,
// plain text for people.
func (s *server) handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := s.problemOf(err, requestID(c))
	if c.Request().Method == http.MethodHead {
		_ = c.NoContent(p.status)
		return
	}
	if wantsJSON(c.Request()) {
		_ = writeJSON(c, p.status, failure{p.text})
		return
	}
	_ = c.String(p.status, p.text+"\n")
}

// wantsJSON reports whether a path is for programs.
func wantsJSON(r *http.Request) bool {
	for _, prefix := range []string{"/api", "/mcp", "/mcp-agent", "/metrics"} {
		if rest, ok := strings.CutPrefix(r.URL.Path, prefix); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
