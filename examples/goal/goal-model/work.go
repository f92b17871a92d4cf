package main

// workers do the steps. A later attempt is known by what its prompt says of the one
// before.
func workers() []script {
	return []script{
		{Name: "handler", Match: handlerTask, Turns: []turn{
			{Calls: []call{{Name: "read_file", Args: object{"path": "store.go"}}}},
			{Calls: []call{{Name: "write_file", Args: object{"path": "health.go", "content": handlerCode}}}, Expect: "mu +sync.Mutex"},
			{Text: "health.go has the method health: it answers `{\"status\":\"ok\",\"notes\":n}` and takes the store's lock to count.", Expect: "health.go"},
		}},
		{Name: "route", Match: routeTask, Turns: []turn{
			{Calls: []call{{Name: "read_file", Args: object{"path": "server.go"}}}},
			{Calls: []call{{Name: "edit_file", Args: object{"path": "server.go", "old_string": "\tmux.HandleFunc(\"POST /notes\", s.add)\n",
				"new_string": "\tmux.HandleFunc(\"POST /notes\", s.add)\n\tmux.HandleFunc(\"GET /health\", s.health)\n"}}}, Expect: "POST /notes"},
			{Calls: []call{{Name: "bash", Args: object{"command": "go vet ./..."}}}, Expect: "1 replacement"},
			{Text: "GET /health leads to health; the router refuses other methods with 405 by itself. `go vet` has nothing to say.", Expect: "(?i)exit code:? 0|no output"},
		}},
		{Name: "tests, second attempt", Match: testsTask, When: told("The check command failed"), Turns: []turn{
			{Text: "The status is called ok, not up.", Calls: []call{{Name: "edit_file", Args: object{"path": "health_test.go", "old_string": `"status":"up"`, "new_string": `"status":"ok"`}}}},
			{Text: "The test wants what the handler answers now.", Expect: "1 replacement"},
		}},
		{Name: "tests, third attempt", Match: testsTask, When: told("405 is not tested"), Turns: []turn{
			{Text: "The refusal is not tested. I add that.", Calls: []call{{Name: "edit_file", Args: object{"path": "health_test.go", "old_string": "func TestHealth(", "new_string": refusalTest + "func TestHealth("}}}},
			{Calls: []call{{Name: "bash", Args: object{"command": "go test -count=1 -run Health ./..."}}}, Expect: "1 replacement"},
			{Text: "TestHealthRefusesOtherMethods asks with POST and wants 405. The tests pass.", Expect: "(?m)^ok "},
		}},
		{Name: "tests, first attempt", Match: testsTask, Turns: []turn{
			{Calls: []call{{Name: "read_file", Args: object{"path": "server_test.go"}}}},
			{Calls: []call{{Name: "write_file", Args: object{"path": "health_test.go", "content": healthTest}}}, Expect: "func do"},
			{Text: "health_test.go tests what GET /health answers.", Expect: "health_test.go"},
		}},
		{Name: "docs", Match: docsTask, Turns: []turn{
			{Calls: []call{{Name: "edit_file", Args: object{"path": "README.md", "old_string": "Tests: `go test ./...`",
				"new_string": "`GET /health` answers `{\"status\":\"ok\",\"notes\":2}` while the service is up.\nTests: `go test ./...`"}}}},
			{Text: "The README says what GET /health answers.", Expect: "1 replacement"},
		}},
		{Name: "metrics", Match: metricsTask, Turns: []turn{
			{Calls: []call{{Name: "write_file", Args: object{"path": "metrics.go", "content": metricsCode}}}},
			{Text: "metrics.go counts requests in a variable.", Expect: "metrics.go"},
		}},
	}
}

const handlerCode = `package main

import "net/http"

// health says that the service is up, and how many notes it holds.
func (s *store) health(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	n := len(s.notes)
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, struct {
		Status string ` + "`json:\"status\"`" + `
		Notes  int    ` + "`json:\"notes\"`" + `
	}{"ok", n})
}
`

const healthTest = `package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	h := newServer()
	do(t, h, "POST", "/notes", "milk")
	w := do(t, h, "GET", "/health", "")
	if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != ` + "`{\"status\":\"up\",\"notes\":1}`" + ` {
		t.Errorf("%d %s", w.Code, got)
	}
}
`

const refusalTest = `func TestHealthRefusesOtherMethods(t *testing.T) {
	if w := do(t, newServer(), "POST", "/health", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

`

const metricsCode = `package main

import "net/http"

// requests is how many requests were answered.
var requests int

func counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		next.ServeHTTP(w, r)
	})
}
`
