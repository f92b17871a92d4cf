package handlers

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// toolsOf has the tools that each MCP endpoint must have, no more.
var toolsOf = map[door]string{
	full: "add_edge add_node approve_plan claim_next_node complete_node create_plan export_plan fail_node get_plan get_reviews list_agents list_plans " +
		"plan_from_goal reject_plan release_node remove_edge remove_node report_progress reset_plan retry_failed retry_node review_node review_plan " +
		"revise_plan rework_node set_plan_agent set_plan_review_agent set_plan_workdir skip_node " +
		"start_plan stop_plan submit_plan unskip_node update_node update_plan",
	observe: "add_edge add_node claim_next_node complete_node export_plan fail_node get_plan remove_edge remove_node report_progress submit_plan",
	worker:  "add_edge add_node create_plan get_plan list_agents remove_edge remove_node report_progress submit_plan update_node",
	planner: "get_plan propose_plan",
}

// eachEndpoint runs a test at every MCP endpoint.
func eachEndpoint(t *testing.T, test func(t *testing.T, r *rig, path string, at door)) {
	r, paths := endpointRig(t)
	for at, path := range paths {
		t.Run(at.String(), func(t *testing.T) {
			r.t = t
			test(t, r, path, at)
		})
	}
}

func TestEndpointsHaveExactlyTheirTools(t *testing.T) {
	eachEndpoint(t, func(t *testing.T, r *rig, path string, at door) {
		var names []string
		for _, tool := range r.rpc(path, "tools/list", map[string]any{})["result"].(map[string]any)["tools"].([]any) {
			names = append(names, tool.(map[string]any)["name"].(string))
		}
		if diff := cmp.Diff(strings.Fields(toolsOf[at]), names); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
	})
}

// TestModelsApproveOnlyWhereTheyMay: the author of a plan is not who approves it.
func TestModelsApproveOnlyWhereTheyMay(t *testing.T) {
	for _, may := range []bool{true, false} {
		var at door
		for _, o := range operations("", may) {
			if o.name == "approve_plan" {
				at |= o.doors.mcp
			}
		}
		if want := map[bool]door{true: full}[may]; at != want {
			t.Errorf("models that may approve: %v; they can at the doors %b, want %b", may, at, want)
		}
	}
}

func TestServersIntroduceThemselves(t *testing.T) {
	eachEndpoint(t, func(t *testing.T, r *rig, path string, at door) {
		for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18",
			"2025-11-25": "2025-11-25", "1999-01-01": "2025-11-25"} {
			got := r.rpc(path, "initialize", map[string]any{"protocolVersion": asked, "capabilities": map[string]any{},
				"clientInfo": map[string]any{"name": "t", "version": "0"}})["result"].(map[string]any)
			if got["protocolVersion"] != want {
				t.Errorf("asked for %s, got %v", asked, got["protocolVersion"])
			}
			if name := got["serverInfo"].(map[string]any)["name"]; name != "clearbox" {
				t.Errorf("server name %v", name)
			}
			if _, ok := got["capabilities"].(map[string]any)["logging"]; ok {
				t.Error("logging is offered")
			}
			if text, _ := got["instructions"].(string); len(text) < 500 {
				t.Errorf("instructions have %d characters", len(text))
			}
		}
	})
}

func TestDiscover(t *testing.T) {
	eachEndpoint(t, func(t *testing.T, r *rig, path string, _ door) {
		meta := map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "t", "version": "0"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{}}}
		a := r.do("POST", path, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": meta},
			"Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover")
		if a.status != http.StatusOK || !strings.Contains(string(a.body), `"2026-07-28"`) || !strings.Contains(string(a.body), "instructions") {
			t.Errorf("discover: %s", a)
		}
	})
}

func TestInstructionsTeachTheWayOfWorking(t *testing.T) {
	r := newRig(t)
	for path, words := range map[string][]string{
		"/mcp":         {"submit_plan", "self-contained", "results_from", "files", "/#/plan/", "start_plan", "kind \"user\""},
		"/mcp/observe": {"claim_next_node", r.url + "/#/plan/", "complete_node", "one claim at a time", "kind \"user\"", "add_node", "report_progress"},
	} {
		got := r.rpc(path, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
			"clientInfo": map[string]any{"name": "t", "version": "0"}})["result"].(map[string]any)["instructions"].(string)
		for _, w := range words {
			if !strings.Contains(got, w) {
				t.Errorf("the instructions of %s do not say %q", path, w)
			}
		}
		if strings.Contains(got, "{base}") {
			t.Errorf("%s: the server's address is not filled in", path)
		}
	}
}

// TestEveryToolNamesWhatIsWrong calls every tool at every endpoint in each wrong
// way that its parameters allow.
func TestEveryToolNamesWhatIsWrong(t *testing.T) {
	eachEndpoint(t, func(t *testing.T, r *rig, path string, at door) {
		for _, o := range table() {
			if o.doors.mcp&at == 0 {
				continue
			}
			t.Run(o.name, func(t *testing.T) { badInput(t, r, path, o) })
		}
	})
}

func badInput(t *testing.T, r *rig, path string, o operation) {
	r.t = t
	var required []string
	for _, f := range o.in.fields {
		if f.name != "" && f.required {
			required = append(required, f.name)
		}
	}
	if len(required) > 0 {
		text := r.refused(path, o.name, map[string]any{})
		for _, name := range required {
			if !strings.Contains(text, name+" is required") {
				t.Errorf("without arguments: %q does not name %s", text, name)
			}
		}
	}
	if text := r.refused(path, o.name, map[string]any{"bogus_argument": 1}); !strings.Contains(text, `unknown field "bogus_argument"`) {
		t.Errorf("an unknown argument: %q", text)
	}
	if text := r.refused(path, o.name, []any{}); !strings.Contains(text, "arguments must be a JSON object") {
		t.Errorf("a list of arguments: %q", text)
	}
	for _, f := range o.in.fields {
		if f.name == "" {
			continue
		}
		if text := r.refused(path, o.name, map[string]any{f.name: wrongFor(f)}); !strings.Contains(text, f.name+" must be ") {
			t.Errorf("%s of the wrong type: %q", f.name, text)
		}
	}
}

// wrongFor returns a value that no field of a type takes.
func wrongFor(f field) any {
	typ := f.typ
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.String && typ != agentRefType {
		return 7
	}
	if typ.Kind() == reflect.Slice {
		return "x"
	}
	return []any{}
}

func TestUnknownToolIsARefusedCall(t *testing.T) {
	eachEndpoint(t, func(t *testing.T, r *rig, path string, _ door) {
		if text := r.refused(path, "no_such_tool", map[string]any{}); !strings.Contains(text, "no_such_tool") || !strings.Contains(text, "get_plan") {
			t.Errorf("got %q", text)
		}
	})
}

func TestToolValues(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b:a")
	tests := []struct {
		tool string
		args map[string]any
		want string // the whole of structuredContent
		text string
	}{
		{"create_plan", map[string]any{"title": "T", "working_directory": t.TempDir()}, `{"result":2}`, "2"},
		{"add_node", map[string]any{"plan_id": id, "title": "C"}, `{"result":[1,3]}`, "[1,3]"},
		{"update_node", map[string]any{"plan_id": id, "node_id": 3, "title": "C2", "files": nil}, `{"result":"updated"}`, "updated"},
		{"update_plan", map[string]any{"plan_id": id, "max_parallel": 2}, `{"result":"updated"}`, "updated"},
		{"remove_edge", map[string]any{"plan_id": id, "from_node_id": 3, "to_node_id": 1}, `{"result":"removed"}`, "removed"},
		{"remove_node", map[string]any{"plan_id": id, "node_id": 3}, `{"result":"removed"}`, "removed"},
		{"set_plan_agent", map[string]any{"plan_id": id, "agent": "mock"}, `{"result":"the plan runs on mock"}`, "the plan runs on mock"},
		{"set_plan_agent", map[string]any{"plan_id": id, "agent": nil}, `{"result":"the plan inherits its agent again"}`, "the plan inherits its agent again"},
		{"set_plan_workdir", map[string]any{"plan_id": id, "working_directory": nil}, "", "working directory reset to the server's own folder for the plan"},
		{"claim_next_node", map[string]any{"agent_name": "me", "plan_id": nil}, `{"result":null}`, "null"},
		{"claim_next_node", map[string]any{"agent_name": "me", "plan_id": 1.0}, `{"result":null}`, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			r.t = t
			res := r.rpc("/mcp", "tools/call", map[string]any{"name": tt.tool, "arguments": tt.args})["result"].(map[string]any)
			if got, _ := marshal(res["structuredContent"]); tt.want != "" && string(got) != tt.want {
				t.Errorf("structured: got %s, want %s", got, tt.want)
			}
			if got := res["content"].([]any)[0].(map[string]any)["text"]; got != tt.text {
				t.Errorf("text: got %q, want %q", got, tt.text)
			}
		})
	}
}

func TestTwelveFaultsAreAllNamed(t *testing.T) {
	r := newRig(t)
	id := r.plan("a")
	long := strings.Repeat("x", 1001)
	text := r.refused("/mcp", "submit_plan", map[string]any{"title": "T", "parent_plan_id": id, "parent_node_id": 1, "working_directory": t.TempDir(),
		"nodes": []any{
			map[string]any{"key": "a", "title": "A"},
			map[string]any{"key": "a", "title": "A again"},
			map[string]any{"key": "b", "title": "B", "results_from": []string{"c"}},
			map[string]any{"key": "c", "title": "C", "files": []string{"../x"}},
			map[string]any{"key": "d", "title": "D", "agent": "nobody"},
			map[string]any{"key": "e", "title": "E", "kind": "robot"},
			map[string]any{"key": "f", "title": ""},
			map[string]any{"key": "g", "title": long},
			map[string]any{"key": "h", "title": "H", "task_type": "dance"},
			map[string]any{"key": "i", "title": "I\x00"},
		},
		"edges": []any{[]string{"b", "b"}, []string{"c", "d"}, []string{"d", "c"}, []string{"a", "nope"}}})
	for _, want := range []string{"nothing was created", "duplicate node key 'a'", "results_from names ['c']", "escapes", "unknown agent profile 'nobody'",
		`unknown kind "robot"`, "title must not be empty", "title has 1001 characters", `unknown value "dance"`, "control characters", "self-loops",
		"would create a cycle", "unknown node key 'nope'", "top-level"} {
		if !strings.Contains(text, want) {
			t.Errorf("the refusal does not say %q:\n%s", want, text)
		}
	}
	if got := r.ok("/mcp", "list_plans", nil).([]any); len(got) != 1 {
		t.Errorf("%d plans afterwards", len(got))
	}
	if got := r.ok("/mcp", "get_plan", map[string]any{"plan_id": id}).(map[string]any); got["nodes"].([]any)[0].(map[string]any)["subplan_id"] != nil {
		t.Error("the parent step has a subplan")
	}
}

func TestManyMalformedNodesAreNamedInPart(t *testing.T) {
	r := newRig(t)
	var nodes []any
	for range 1000 {
		nodes = append(nodes, map[string]any{"key": 7})
	}
	text := r.refused("/mcp", "submit_plan", map[string]any{"title": "T", "nodes": nodes})
	if n := strings.Count(text, "\n"); n != maxFaults+1 || !strings.Contains(text, "nodes[0].key must be a string, not 7") || !strings.Contains(text, "nodes[0].title is required") {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

func TestClaimersNeverShareAStep(t *testing.T) {
	const steps, claimers = 48, 16
	r := newRig(t)
	id := r.plan(strings.TrimSpace(func() (s string) {
		for i := range steps {
			s += fmt.Sprintf("s%d ", i)
		}
		return
	}()))
	r.start(id, plan.External)
	var mu sync.Mutex
	taken := map[float64]int{}
	var all sync.WaitGroup
	for i := range claimers {
		all.Go(func() {
			for {
				got := r.ok("/mcp", "claim_next_node", map[string]any{"agent_name": fmt.Sprint("agent ", i)})
				if got == nil {
					return
				}
				claim := got.(map[string]any)
				mu.Lock()
				taken[claim["node_id"].(float64)]++
				mu.Unlock()
				r.ok("/mcp", "report_progress", map[string]any{"plan_id": id, "node_id": claim["node_id"], "message": "at it"})
				r.ok("/mcp", "complete_node", map[string]any{"plan_id": id, "node_id": claim["node_id"], "result": "r", "run": claim["run"]})
			}
		})
	}
	all.Wait()
	if len(taken) != steps {
		t.Errorf("%d of %d steps were claimed", len(taken), steps)
	}
	for n, times := range taken {
		if times != 1 {
			t.Errorf("step %v was claimed %d times", n, times)
		}
	}
	s, err := r.engine.Snapshot(context.Background(), id)
	if err != nil || s.Status(id) != plan.StatusDone {
		t.Errorf("the plan is %s (%v)", s.Status(id), err)
	}
}

func TestOddTitlesComeBackAsTheyWere(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	for _, title := range []string{"修复登录", "🚀 ship 👩‍👩‍👧", "\u202eevil\u202c", `<img src=x onerror=alert(1)>`, strings.Repeat("é", 300), "../x", `"quoted" \ {}`, "%2e%2e&<>"} {
		id := r.ok("/mcp", "create_plan", map[string]any{"title": title, "working_directory": dir, "description": title + "\n\t" + title})
		r.ok("/mcp", "add_node", map[string]any{"plan_id": id, "title": title, "description": title})
		got := r.ok("/mcp", "get_plan", map[string]any{"plan_id": id}).(map[string]any)
		if got["title"] != title || got["nodes"].([]any)[0].(map[string]any)["title"] != title {
			t.Errorf("MCP: title %q came back as %q", title, got["title"])
		}
		a := r.want(200, "GET", fmt.Sprintf("/api/plans/%v/nodes/1", id), nil)
		if got := a["node"].(map[string]any)["description"]; got != title {
			t.Errorf("REST: description %q came back as %q", title, got)
		}
	}
	for _, title := range []string{"with\x00NUL", "two\nlines", "", "   "} {
		if text := r.refused("/mcp", "create_plan", map[string]any{"title": title, "working_directory": dir}); !strings.Contains(text, "title") {
			t.Errorf("title %q: %s", title, text)
		}
	}
}

func TestObservedPlanIsStartedOrNotThere(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	args := map[string]any{"title": "O", "working_directory": dir, "nodes": []any{map[string]any{"key": "a", "title": "A"}, map[string]any{"key": "b", "title": "B"}},
		"edges": [][]string{{"a", "b"}}}
	got := r.ok("/mcp/observe", "submit_plan", args).(map[string]any)
	if text := got["started"].(string); !strings.Contains(text, "external") || !strings.Contains(text, fmt.Sprintf("%s/#/plan/%v", r.url, got["plan_id"])) {
		t.Errorf("started: %q", text)
	}
	if view := r.ok("/mcp/observe", "get_plan", map[string]any{"plan_id": got["plan_id"]}).(map[string]any); view["started"] != true {
		t.Error("the plan is not started")
	}
	if text := r.refused("/mcp/observe", "submit_plan", args); !strings.Contains(text, "nothing was created") {
		t.Errorf("a folder in use: %q", text)
	}
	if list := r.ok("/mcp", "list_plans", nil).([]any); len(list) != 1 {
		t.Errorf("%d plans", len(list))
	}
	sub := r.ok("/mcp/observe", "submit_plan", map[string]any{"title": "S", "parent_plan_id": got["plan_id"], "parent_node_id": 2,
		"nodes": []any{map[string]any{"key": "x", "title": "X"}}}).(map[string]any)
	if text := sub["started"].(string); !strings.Contains(text, "parent") {
		t.Errorf("started of a subplan: %q", text)
	}
}

func TestTableIsWhole(t *testing.T) {
	tools, routes := map[string]bool{}, map[string]bool{}
	for _, o := range table() {
		if o.doc == "" || !strings.HasSuffix(o.doc, ".") {
			t.Errorf("%s has no sentence that says what it does", o.name)
		}
		for d := full; d <= planner; d <<= 1 {
			key := fmt.Sprint(o.name, d)
			if o.doors.mcp&d != 0 && tools[key] {
				t.Errorf("%s is at one door twice", o.name)
			}
			tools[key] = tools[key] || o.doors.mcp&d != 0
		}
		if path := o.doors.rest.method + o.doors.rest.path; path != "" {
			if routes[path] {
				t.Errorf("%s is there twice", path)
			}
			routes[path] = true
		}
		described(t, o.name, o.in)
	}
}

// described checks that every parameter says what it is for.
func described(t *testing.T, what string, s *shape) {
	t.Helper()
	for _, f := range s.fields {
		if f.doc == "" {
			t.Errorf("%s: %s has no description", what, f.key())
		}
		if f.sub != nil {
			described(t, what+"."+f.name, f.sub)
		}
	}
	if len(s.byName) != len(s.fields) {
		t.Errorf("%s: names and fields differ", what)
	}
}
