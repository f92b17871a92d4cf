package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestOnlyItsOwnHostsAndPagesAreAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock", "--allowed-host", "box.test", "--allowed-host", "proxy.test:443")
	at, err := url.Parse(r.url())
	if err != nil {
		t.Fatal(err)
	}
	own, port := at.Host, at.Port()
	doors := []string{"/", "/plans", "/agents", "/live", "/static/app.css", "/api/health", "/api/plans", "/api/stream", "/api/nothing",
		"POST /api/shutdown", "POST /mcp", "POST /mcp/observe", "POST /mcp-agent/some-token"}
	for _, tt := range []struct {
		host, origin string
		want         int // 0: neither of the refusals
	}{
		{own, "", 0},
		{own, "http://" + own, 0},
		{"localhost:" + port, "http://localhost:" + port, 0},
		{"[::1]:" + port, "", 0},
		{"localhost", "", 0},
		{"box.test", "https://box.test", 0},
		{"box.test:" + port, "http://box.test:" + port, 0},
		{"proxy.test:443", "", 0},
		{"evil.test", "", http.StatusMisdirectedRequest},
		{"evil.test:" + port, "http://evil.test:" + port, http.StatusMisdirectedRequest},
		{"127.0.0.1:1", "", http.StatusMisdirectedRequest},
		{"127.0.0.1.evil.test:" + port, "", http.StatusMisdirectedRequest},
		{"proxy.test:" + port, "", http.StatusMisdirectedRequest},
		{own, "http://evil.test", http.StatusForbidden},
		{own, "http://evil.test:" + port, http.StatusForbidden},
		{own, "http://127.0.0.1:1", http.StatusForbidden},
		{own, "http://localhost", http.StatusForbidden},
		{own, "null", http.StatusForbidden},
		{own, "file://", http.StatusForbidden},
	} {
		for _, door := range doors {
			method, path, ok := strings.Cut(door, " ")
			if !ok {
				method, path = http.MethodGet, door
			}
			if tt.want == 0 && path == "/api/shutdown" {
				continue
			}
			q, err := http.NewRequestWithContext(t.Context(), method, r.url()+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			q.Host = tt.host
			q.Header.Set("Content-Type", "application/json")
			if tt.origin != "" {
				q.Header.Set("Origin", tt.origin)
			}
			res, err := http.DefaultTransport.RoundTrip(q)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			refused := res.StatusCode == http.StatusMisdirectedRequest || res.StatusCode == http.StatusForbidden
			if tt.want == 0 && refused || tt.want != 0 && res.StatusCode != tt.want {
				t.Errorf("%s with Host %q and Origin %q: %s", door, tt.host, tt.origin, res.Status)
			}
		}
	}
}
