package handlers

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/static"
)

func newAnswerWriter() *httptest.ResponseRecorder { return httptest.NewRecorder() }

func (s *server) panics(echo.Context) error { panic("on purpose") }

// guards are the headers of every answer, with what they must say.
var guards = map[string]string{
	"Content-Security-Policy":      "default-src 'self'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=()",
	"X-Request-Id":                 "",
}

func checkGuards(t *testing.T, what string, h http.Header) {
	t.Helper()
	for name, want := range guards {
		if got := h.Get(name); got == "" || !strings.Contains(got, want) {
			t.Errorf("%s: %s is %q", what, name, got)
		}
	}
	csp := h.Get("Content-Security-Policy")
	for _, want := range []string{"script-src 'self';", "style-src 'self';", "object-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("%s: the content policy has no %s", what, want)
		}
	}
	if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || strings.Contains(csp, "http") {
		t.Errorf("%s: the content policy is %s", what, csp)
	}
}

// TestEveryAnswerHasItsGuards gets each kind of answer that there is.
func TestEveryAnswerHasItsGuards(t *testing.T) {
	open, locked := newRig(t), authRig(t)
	open.plan("a")
	css := static.Load().URL("app.css")
	tests := []struct {
		r            *rig
		status       int
		method, path string
		headers      []string
	}{
		{open, 200, "GET", "/api/plans", nil},
		{open, 200, "GET", "/plans/1", nil},
		{open, 200, "GET", css, nil},
		{open, 200, "GET", "/metrics", nil},
		{open, 200, "GET", "/api/stream", nil},
		{open, 200, "HEAD", "/api/plans", nil},
		{open, 303, "GET", "/login", nil},
		{open, 404, "GET", "/no/such/page", nil},
		{open, 404, "GET", "/static/no-such.js", nil},
		{open, 404, "GET", "/api/plans/99", nil},
		{open, 404, "POST", "/mcp-agent/x", nil},
		{open, 405, "GET", "/mcp", nil},
		{open, 405, "PUT", "/api/plans", nil},
		{open, 422, "GET", "/api/plans/x", nil},
		{open, 503, "POST", "/api/shutdown", nil},
		{open, 421, "GET", "/", []string{"Host: evil.example"}},
		{open, 403, "GET", "/", []string{"Origin: http://evil.example"}},
		{locked, 401, "GET", "/api/plans", nil},
		{locked, 401, "GET", "/metrics", nil},
		{locked, 303, "GET", "/plans", nil},
		{locked, 200, "GET", "/login", nil},
		{locked, 200, "GET", "/login.css", nil},
		{locked, 401, "POST", "/login", nil},
	}
	for _, tt := range tests {
		what := fmt.Sprint(tt.method, " ", tt.path, " ", tt.headers)
		a := tt.r.do(tt.method, tt.path, nil, tt.headers...)
		if a.status != tt.status {
			t.Errorf("%s: %s, want %d", what, a, tt.status)
		}
		checkGuards(t, what, a.header)
	}
	large, err := open.try("POST", "/api/agents", &endless{bodyLimit + 1})
	if err == nil && large.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %s", large)
	}
}

// TestOptionsOfTheWholeServerAreGuarded: "OPTIONS *" is not answered by the
// library before the guard sees it.
func TestOptionsOfTheWholeServerAreGuarded(t *testing.T) {
	r := newRig(t)
	for host, want := range map[string]int{"localhost": http.StatusNotFound, "evil.example": http.StatusMisdirectedRequest} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "OPTIONS * HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != want {
			t.Errorf("Host %s: %s, want %d", host, res.Status, want)
		}
		checkGuards(t, "OPTIONS *", res.Header)
	}
}

// TestAnswersAreNotKept: what is about plans stays out of caches, what never
// changes may be kept.
func TestAnswersAreNotKept(t *testing.T) {
	r := newRig(t)
	r.plan("a")
	for _, path := range []string{"/api/plans", "/api/plans/1", "/api/plans/99", "/plans/1", "/no/such", "/metrics", "/api/openapi.json", "/static/no-such.js"} {
		if a := r.do("GET", path, nil); a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control is %q", path, a.header.Get("Cache-Control"))
		}
	}
	if a := r.do("GET", static.Load().URL("app.css"), nil); !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("a static file: Cache-Control is %q", a.header.Get("Cache-Control"))
	}
}
