package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// fuzzed is a server over a real engine that fuzzing sends requests to, and what
// has been recorded in its database.
type fuzzed struct {
	*rig
	routes []operation
}

func newFuzzed(f *testing.F) *fuzzed {
	z := &fuzzed{rig: newRig(f)}
	z.plan("a b:a")
	for _, o := range table() {
		if m := o.doors.rest.method; m != "" && m != http.MethodGet && m != http.MethodDelete {
			z.routes = append(z.routes, o)
		}
	}
	return z
}

// send sends a body and returns the answer, and whether anything was recorded.
func (z *fuzzed) send(t *testing.T, method, path, body string) (a answer, changed bool) {
	t.Helper()
	before := z.engine.Subscribe(0, -1).Cursor()
	w, req := newAnswerWriter(), newRequest(t, method, path, body)
	req.Host = "localhost"
	z.server.Handler.ServeHTTP(w, req)
	a = answer{w.Code, w.Header(), w.Body.Bytes()}
	if a.status >= 500 {
		t.Fatalf("%s %s %q: %s", method, path, body, a)
	}
	return a, z.engine.Subscribe(0, -1).Cursor() != before
}

// checkPlans reads every plan whole, and removes those that fuzzing made.
func (z *fuzzed) checkPlans(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	all, err := z.engine.Overviews(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		s, err := z.engine.Snapshot(ctx, o.Plan.ID)
		if err != nil {
			t.Fatalf("plan %d: %v", o.Plan.ID, err)
		}
		if n := len(s.NodesOf(o.Plan.ID)); o.Tally.Total < n-1 {
			t.Errorf("plan %d has %d steps and counts %d", o.Plan.ID, n, o.Tally.Total)
		}
		if o.Plan.ID != 1 {
			if err := z.engine.DeletePlan(ctx, o.Plan.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// FuzzMCP posts any bytes to the MCP endpoints: no 5xx, no panic, and what is
// refused has recorded nothing.
func FuzzMCP(f *testing.F) {
	call := func(name, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, args)
	}
	dir, err := json.Marshal(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		call("submit_plan", `{"title":"T","working_directory":`+string(dir)+`,"nodes":[{"key":"a","title":"A","files":["a.go"]},{"key":"b","title":"B","results_from":["a"]}],"edges":[["a","b"]]}`),
		call("submit_plan", `{"title":"T","parent_plan_id":1,"parent_node_id":2,"nodes":[{"key":"a","title":"A"}],"edges":[["a","a"]]}`),
		call("create_plan", `{"title":"\ud800","working_directory":`+string(dir)+`}`),
		call("add_node", `{"plan_id":1,"title":"N","results_from":[1,1e3],"agent":12}`),
		call("update_node", `{"plan_id":1,"node_id":1,"title":null,"files":[]}`),
		call("add_edge", `{"plan_id":1,"from_node_id":2,"to_node_id":1}`),
		call("claim_next_node", `{"agent_name":"me","plan_id":null}`),
		call("list_plans", `{}`), call("no_such_tool", `[]`), call("get_plan", `{"plan_id":1e400}`),
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":{},"method":7}`, `[]`, `{`, "\xff", strings.Repeat("[", 5000), "null", "",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	z := newFuzzed(f)
	f.Fuzz(func(t *testing.T, body []byte, observing bool) {
		path := map[bool]string{false: "/mcp", true: "/mcp/observe"}[observing]
		a, changed := z.send(t, "POST", path, string(body))
		if !changed {
			return
		}
		var got struct {
			Error  json.RawMessage
			Result struct{ IsError bool }
		}
		if a.status != http.StatusOK || json.Unmarshal(a.body, &got) == nil && (got.Error != nil || got.Result.IsError) {
			t.Errorf("%q was refused and recorded something: %s", body, a)
		}
		z.checkPlans(t)
	})
}

// FuzzREST sends any body to any route that reads one.
func FuzzREST(f *testing.F) {
	z := newFuzzed(f)
	for i, o := range z.routes {
		body, err := json.Marshal(plausible(&o))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), string(body))
		f.Add(uint8(i), `{"title":null,"files":["a","../b"],"max_parallel":0,"agent":{},"node_ids":[1.0],"params":{"a":[]}}`)
		f.Add(uint8(i), `{"nodes":[{"key":"a","title":"A"},{"key":"a"}],"edges":[["a"]],"title":"T"}`)
		f.Add(uint8(i), "[")
	}
	f.Fuzz(func(t *testing.T, route uint8, body string) {
		o := &z.routes[int(route)%len(z.routes)]
		a, changed := z.send(t, o.doors.rest.method, pathOf(o, nil), body)
		if a.status != http.StatusOK && !strings.HasPrefix(string(a.body), `{"detail":"`) {
			t.Errorf("%s %q: %s", o.name, body, a)
		}
		// A plan that an earlier request started records by itself: what is refused
		// for its own sake is refused without a trace when all is quiet again.
		for again := 0; changed && a.status != http.StatusOK; again++ {
			if again == 100 {
				t.Fatalf("%s %q was refused and recorded something: %s", o.name, body, a)
			}
			a, changed = z.send(t, o.doors.rest.method, pathOf(o, nil), body)
		}
		if changed {
			z.checkPlans(t)
		}
	})
}
