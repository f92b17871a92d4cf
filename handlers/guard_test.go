package handlers

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// everywhere is a request at each kind of door.
var everywhere = []struct{ method, path, body string }{
	{"GET", "/api/plans", ""},
	{"POST", "/api/agents", "{}"},
	{"GET", "/", ""},
	{"GET", "/no/such/page", ""},
	{"GET", "/api/stream", ""},
	{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
	{"POST", "/mcp/observe", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
	{"POST", "/mcp-agent/x", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
	{"GET", "/login", ""},
}

func (r *rig) at(i int, headers ...string) answer {
	e := everywhere[i]
	var body any
	if e.body != "" {
		body = e.body
	}
	return r.do(e.method, e.path, body, append(headers, "Accept: application/json, text/event-stream")...)
}

func TestForeignHostIsRefusedEverywhere(t *testing.T) {
	r := newRig(t)
	hosts := []string{"evil.example", fmt.Sprintf("evil.example:%d", r.port), fmt.Sprintf("localhost:%d", r.port+1), "localhost.evil.example",
		"127.0.0.1.evil.example", "0.0.0.0", "[::1", "::1", "localhost:", "localhost:x", "192.168.0.7", "[::]", "%6cocalhost"}
	for i, e := range everywhere {
		for _, host := range hosts {
			a := r.at(i, "Host: "+host)
			if a.status != http.StatusMisdirectedRequest || !strings.Contains(string(a.body), "not allowed") || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
				t.Errorf("%s %s with Host %q: %s", e.method, e.path, host, a)
			}
		}
	}
}

func TestForeignOriginIsRefusedEverywhere(t *testing.T) {
	r := newRig(t)
	origins := []string{"http://evil.example", "null", fmt.Sprintf("http://localhost:%d", r.port+1), "http://localhost", "https://127.0.0.1",
		fmt.Sprintf("http://evil.example:%d", r.port), fmt.Sprintf("ftp://127.0.0.1:%d", r.port), fmt.Sprintf("http://127.0.0.1:%d/x", r.port),
		fmt.Sprintf("http://u@127.0.0.1:%d", r.port), "127.0.0.1", " "}
	for i, e := range everywhere {
		for _, origin := range origins {
			if a := r.at(i, "Origin: "+origin); a.status != http.StatusForbidden || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
				t.Errorf("%s %s from %q: %s", e.method, e.path, origin, a)
			}
		}
	}
}

func TestOwnHostAndOriginPass(t *testing.T) {
	r := newRigWith(t, rigOptions{http: Options{AllowedHosts: []string{"Box.Example", "proxy.example:443"}}})
	port := fmt.Sprint(":", r.port)
	for _, headers := range [][]string{
		{"Host: localhost"}, {"Host: localhost" + port}, {"Host: LOCALHOST" + port}, {"Host: 127.0.0.1" + port}, {"Host: [::1]" + port}, {"Host: [::1]"},
		{"Host: box.example"}, {"Host: box.example" + port}, {"Host: proxy.example:443"},
		{"Origin: http://127.0.0.1" + port}, {"Origin: http://localhost" + port}, {"Origin: http://[::1]" + port}, {"Origin: https://box.example"},
		{"Host: localhost", "Origin: http://localhost"}, {"Host: proxy.example:443", "Origin: https://proxy.example:443"},
	} {
		if a := r.do("POST", "/api/agents", "{}", headers...); a.status != http.StatusUnprocessableEntity {
			t.Errorf("%v: %s", headers, a)
		}
	}
	for _, host := range []string{"proxy.example", "proxy.example:444", "box.example:1"} {
		if a := r.do("GET", "/api/plans", nil, "Host: "+host); a.status != http.StatusMisdirectedRequest {
			t.Errorf("Host %s: %s", host, a)
		}
	}
}

func TestBoundHostIsAName(t *testing.T) {
	tests := []struct {
		bound, host string
		want        bool
	}{
		{"192.168.0.7", "192.168.0.7:8765", true},
		{"192.168.0.7", "192.168.0.8:8765", false},
		{"fe80::1", "[fe80::1]:8765", true},
		{"0.0.0.0", "0.0.0.0:8765", false},
		{"::", "[::]:8765", false},
		{"", ":8765", false},
		{"", "", false},
	}
	for _, tt := range tests {
		h := newHosts(Options{Host: tt.bound, Port: 8765})
		if got := h.allow(tt.host); got != tt.want {
			t.Errorf("bound to %q, Host %q: %v", tt.bound, tt.host, got)
		}
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	r := newRig(t)
	for i, e := range everywhere {
		a := r.at(i)
		for name, want := range map[string]string{"Content-Security-Policy": "frame-ancestors 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"} {
			if got := a.header.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s %s: %s is %q", e.method, e.path, name, got)
			}
		}
		if csp := a.header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") {
			t.Errorf("%s %s: %s", e.method, e.path, csp)
		}
	}
}

// endless reads as JSON that never ends, up to a size; it has no length.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

func TestLargeBodiesAreRefused(t *testing.T) {
	r := newRig(t)
	for _, e := range everywhere {
		if e.method != "POST" || strings.HasPrefix(e.path, "/mcp-agent") {
			continue
		}
		start := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_plan","arguments":{"name":"`
		for how, body := range map[string]any{
			"with its length": bytes.NewReader(append([]byte(start), make([]byte, bodyLimit)...)),
			"in chunks":       io.MultiReader(strings.NewReader(start), &endless{bodyLimit}),
		} {
			a, err := r.try("POST", e.path, body)
			if err == nil && a.status != http.StatusRequestEntityTooLarge {
				t.Errorf("%s %s: %d %s", e.path, how, a.status, clip(string(a.body)))
			}
		}
	}
	if a := r.do("POST", "/api/agents", `{"name":"`+strings.Repeat("x", bodyLimit-100)+`"}`); a.status != http.StatusUnprocessableEntity {
		t.Errorf("just below the limit: %d", a.status)
	}
	r.want(200, "GET", "/api/health", nil)
}

// TestRefusalsAreShort: what a client sent is not sent back whole.
func TestRefusalsAreShort(t *testing.T) {
	r := newRig(t)
	id := r.plan("a")
	huge := strings.Repeat("x", 1<<20)
	for _, a := range []answer{
		r.do("POST", fmt.Sprintf("/api/plans/%d/start", id), `{"executor":"`+huge+`"}`),
		r.do("PUT", fmt.Sprintf("/api/plans/%d/workdir", id), `{"dir":"`+huge+`"}`),
		r.do("PUT", fmt.Sprintf("/api/plans/%d/nodes/1/files", id), `{"files":["/`+huge+`"]}`),
		r.do("POST", "/api/agents", `{"name":7,"harness":"`+huge+`"}`),
		r.do("POST", "/api/plans", `{"title":"t","`+huge+`":1}`),
		r.do("GET", "/api/stream?plan="+huge[:20_000], nil),
	} {
		if a.status < 400 || a.status > 499 || len(a.body) > 5000 {
			t.Errorf("%d with %d bytes: %s", a.status, len(a.body), clip(string(a.body)))
		}
	}
	text := bounded(strings.Repeat("- a fault that is named\n", 20_000))
	if len(text) > 300<<10 || !strings.HasSuffix(text, "…") {
		t.Errorf("%d bytes, ends in %q", len(text), text[len(text)-10:])
	}
}

// try sends a request whose sending may fail because the answer came first.
func (r *rig) try(method, path string, body any) (answer, error) {
	req, err := http.NewRequest(method, r.url+path, body.(io.Reader))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := noRedirects.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, b}, err
}
