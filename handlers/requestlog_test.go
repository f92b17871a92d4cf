package handlers

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// requestLines waits until the log has n lines about requests, and returns them.
func (r *rig) requestLines(n int) []string {
	r.t.Helper()
	for end := time.Now().Add(patience); ; <-time.After(time.Millisecond) {
		var lines []string
		for line := range strings.Lines(r.log.String()) {
			if strings.Contains(line, "msg=request ") {
				lines = append(lines, line)
			}
		}
		if len(lines) >= n {
			return lines
		}
		if time.Now().After(end) {
			r.t.Fatalf("the log has %d lines about requests, want %d", len(lines), n)
		}
	}
}

func TestEachRequestIsOneLineOfTheLog(t *testing.T) {
	r := newRigWith(t, rigOptions{http: Options{AuthToken: testToken}})
	bearer := "Authorization: Bearer " + testToken
	id := r.plan("a")
	tests := []struct {
		name, method, path string
		headers            []string
		want               string
	}{
		{"a route", "GET", fmt.Sprintf("/api/plans/%d", id), []string{bearer}, `level=DEBUG msg=request method=GET path=/api/plans/1 route=/api/plans/:plan_id status=200`},
		{"a refusal", "GET", "/api/plans/99", []string{bearer}, `path=/api/plans/99 route=/api/plans/:plan_id status=404`},
		{"a page", "GET", "/plans", []string{bearer}, `path=/plans route=/plans status=200`},
		{"no such page", "GET", "/no/such", []string{bearer}, `path=/no/such route=/* status=404`},
		{"another method", "PUT", "/api/plans", []string{bearer}, `method=PUT path=/api/plans route=/api/plans status=405`},
		{"turned away without a token", "GET", "/api/plans", nil, `level=INFO msg=request method=GET path=/api/plans route="" status=401`},
		{"turned away with another Host", "GET", "/", []string{"Host: evil.example"}, `route="" status=421`},
		{"sent to log in", "GET", "/plans", nil, `level=DEBUG msg=request method=GET path=/plans route="" status=303`},
		{"a worker that is not known", "POST", "/mcp-agent/abcdef", nil, `path=/mcp-agent/… route=/mcp-agent/:token status=404`},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.t = t
			a := r.do(tt.method, tt.path, nil, append(tt.headers, "Accept-Encoding: identity")...)
			lines := r.requestLines(i + 1)
			line := lines[len(lines)-1]
			if len(lines) != i+1 || !strings.Contains(line, tt.want) {
				t.Errorf("line %d of the log is %q, want %q", len(lines), line, tt.want)
			}
			if id := a.header.Get("X-Request-Id"); len(id) != 12 || !strings.Contains(line, " request="+id+"\n") {
				t.Errorf("request %q is logged as %q", id, line)
			}
			if size := fmt.Sprintf(" bytes=%d ", len(a.body)); !strings.Contains(line, size) || !strings.Contains(line, " took=") {
				t.Errorf("%q has no %q", line, size)
			}
		})
	}
}

// TestRequestsLeaveNoSecretsInTheLog sends a secret in each place where a request
// can have one.
func TestRequestsLeaveNoSecretsInTheLog(t *testing.T) {
	const secret = "s3cr3t-planted"
	r := newRigWith(t, rigOptions{http: Options{AuthToken: testToken}})
	requests := 0
	for _, path := range []string{"/mcp-agent/" + secret, "/MCP-Agent/" + secret, "/mcp%2Dagent/" + secret, "/mcp-agent/" + secret + "/x", "//mcp-agent//" + secret,
		"/api/plans?token=" + secret, "/login?next=" + secret, "/api/stream?plan=" + secret, "/plans/1?x=" + secret} {
		for _, method := range []string{"GET", "POST"} {
			for _, token := range []string{secret, testToken} {
				r.do(method, path, `{"api_key":"`+secret+`","title":"`+secret+`"}`, "Authorization: Bearer "+token, "Cookie: a="+secret, "X-Api-Key: "+secret)
				requests++
			}
		}
	}
	logIn(r, secret, "/"+secret)
	lines := r.requestLines(requests + 1)
	if len(lines) != requests+1 {
		t.Errorf("%d lines for %d requests", len(lines), requests+1)
	}
	if log := r.log.String(); strings.Contains(log, secret) || strings.Contains(log, testToken) {
		t.Errorf("the log has a secret:\n%s", regexp.MustCompile(`.*(`+secret+`|`+testToken+`).*`).FindString(log))
	}
}

// TestOddRequestsMakeOneLine: what a client sends cannot write lines of its own.
func TestOddRequestsMakeOneLine(t *testing.T) {
	r := newRig(t)
	r.do("GET", "/x%0Alevel=ERROR%20msg=forged", nil)
	r.do("GET", "/"+strings.Repeat("x", 20_000), nil)
	for _, line := range r.requestLines(2) {
		if len(line) > 500 || strings.HasPrefix(line, "level=ERROR") {
			t.Errorf("logged %q", line)
		}
	}
	if strings.Contains(r.log.String(), "\nlevel=ERROR msg=forged") {
		t.Error("a client wrote a line of the log")
	}
}

func TestFailuresNameTheRequestInTheLog(t *testing.T) {
	r := newRig(t)
	s := newServer(r.engine, Options{Host: "127.0.0.1", Port: 1})
	log := &logBuffer{}
	s.log = testLog(log)
	s.mount(http.MethodGet, "/api/test", s.panics)
	w := newAnswerWriter()
	req := newRequest(t, "GET", "/api/test")
	req.Host = "localhost"
	s.observe(s.guard(s.echo)).ServeHTTP(w, req)
	id := w.Header().Get("X-Request-Id")
	if w.Code != 500 || id == "" || strings.Count(log.String(), "request="+id) != 2 || !strings.Contains(w.Body.String(), id) ||
		!strings.Contains(log.String(), "level=WARN msg=request method=GET path=/api/test route=/api/test status=500") {
		t.Errorf("request %q: %d %s\n%s", id, w.Code, w.Body, log)
	}
}
