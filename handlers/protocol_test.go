package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
)

// TestOddRequestsAreAnswered sends what no good client sends: each gets an
// answer, none a 5xx, and the server goes on.
func TestOddRequestsAreAnswered(t *testing.T) {
	r := newRig(t)
	client := &http.Client{Timeout: patience}
	call := func(name string, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, args)
	}
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	both := "application/json, text/event-stream"
	tests := []struct{ name, method, path, body, accept, version string }{
		{"a batch with one id", "POST", "/mcp", "[" + list + "," + list + "]", both, ""},
		{"an empty batch", "POST", "/mcp", "[]", both, ""},
		{"a batch for a new version", "POST", "/mcp", "[" + list + "]", both, "2025-06-18"},
		{"nothing", "POST", "/mcp", "", both, ""},
		{"broken JSON", "POST", "/mcp", "{", both, ""},
		{"no Accept", "POST", "/mcp", list, "", ""},
		{"Accept of something else", "POST", "/mcp", list, "text/html", ""},
		{"an old version", "POST", "/mcp", list, both, "1999-01-01"},
		{"a version to come", "POST", "/mcp", list, both, "2099-01-01"},
		{"an unknown method", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, both, ""},
		{"a response to nothing", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"result":{}}`, both, ""},
		{"a notification", "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, both, ""},
		{"params that are none", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}`, both, ""},
		{"no params", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, both, ""},
		{"a tool without a name", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, both, ""},
		{"a tool with a number for a name", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, both, ""},
		{"deep arguments", "POST", "/mcp", call("submit_plan", deep), both, ""},
		{"deep REST", "POST", "/api/agents", `{"name":"d","harness":"mock","params":` + deep + `}`, "", ""},
		{"huge numbers", "POST", "/mcp", call("get_plan", `{"plan_id":1e400}`), both, ""},
		{"lone surrogates", "POST", "/mcp", call("create_plan", `{"title":"\ud800","working_directory":"/tmp"}`), both, ""},
		{"latin-1", "POST", "/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"caf\xe9\"}", both, ""},
		{"GET", "GET", "/mcp", "", both, ""},
		{"DELETE", "DELETE", "/mcp/observe", "", both, ""},
		{"PUT", "PUT", "/mcp", list, both, ""},
		{"a path with escapes", "GET", "/api/plans/%31%32", "", "", ""},
		{"a path that climbs", "GET", "/api/plans/..%2f..%2fetc", "", "", ""},
		{"an odd method", "BREW", "/api/plans", "", "", ""},
		{"OPTIONS", "OPTIONS", "/api/plans", "", "", ""},
		{"HEAD", "HEAD", "/api/plans", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, r.url+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			for name, value := range map[string]string{"Accept": tt.accept, "MCP-Protocol-Version": tt.version} {
				if value != "" {
					req.Header.Set(name, value)
				}
			}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode >= 500 {
				t.Errorf("got %s", res.Status)
			}
			t.Log(res.Status, res.Header.Get("Content-Type"))
		})
	}
	r.want(200, "GET", "/api/health", nil)
}

// TestListenersAreAnsweredAtOnce: the list of tools never changes here, so a
// client that wants to hear of changes, as the newest protocol has it, is told
// that there will be none and holds no connection.
func TestListenersAreAnsweredAtOnce(t *testing.T) {
	s := newServer(newRig(t).engine, Options{})
	meta := map[string]any{"notifications": map[string]any{"toolsListChanged": true}, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "t", "version": "0"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{}}}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": meta})
	if err != nil {
		t.Fatal(err)
	}
	req := newRequest(t, "POST", "/mcp", string(b))
	req.Header.Set("MCP-Protocol-Version", "2026-07-28")
	req.Header.Set("Mcp-Method", "subscriptions/listen")
	w := httptest.NewRecorder()
	s.mcpHandler(full, "").ServeHTTP(w, req)
	if got := w.Body.String(); !strings.Contains(got, `"notifications":{}`) || !strings.Contains(got, `"resultType":"complete"`) {
		t.Errorf("got %d %s", w.Code, got)
	}
}

func TestShutdownRoute(t *testing.T) {
	for body, want := range map[string]string{"": "stop", `{}`: "stop", `{"on_exit":"stop"}`: "stop", `{"on_exit":"detach"}`: "detach", `{"on_exit":"run"}`: "",
		`{"on_exit":7}`: ""} {
		asked := make(chan string, 1)
		r := newRigWith(t, rigOptions{http: Options{Shutdown: func(how engine.OnExit) { asked <- string(how) }}})
		a := r.do("POST", "/api/shutdown", body)
		if want == "" {
			if a.status != 400 && a.status != 422 || !strings.Contains(string(a.body), "on_exit") {
				t.Errorf("%s: %s", body, a)
			}
			continue
		}
		if a.status != 200 || string(a.body) != `{"stopping":true}` {
			t.Errorf("%s: %s", body, a)
		}
		if got := <-asked; got != want {
			t.Errorf("%s: asked to %s", body, got)
		}
	}
}
