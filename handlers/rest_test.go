package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// step is one request of a scenario. In paths and bodies $P stands for a plan
// and $DIR for a folder.
type step struct {
	name   string
	method string
	path   string
	body   any
	status int
	has    []string // what the answer contains
	hasNot []string
}

func (r *rig) play(t *testing.T, vars []string, steps []step) {
	t.Helper()
	fill := strings.NewReplacer(vars...)
	for _, s := range steps {
		body := s.body
		if text, ok := body.(string); ok {
			body = fill.Replace(text)
		}
		a := r.do(s.method, fill.Replace(s.path), body)
		if a.status != s.status {
			t.Errorf("%s: %s %s: got %s, want %d", s.name, s.method, fill.Replace(s.path), a, s.status)
			continue
		}
		if got := a.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: content type %q", s.name, got)
		}
		for _, want := range s.has {
			if !strings.Contains(string(a.body), fill.Replace(want)) {
				t.Errorf("%s: answer has no %s:\n%s", s.name, want, a)
			}
		}
		for _, not := range s.hasNot {
			if strings.Contains(string(a.body), not) {
				t.Errorf("%s: answer has %s:\n%s", s.name, not, a)
			}
		}
	}
}

func TestRESTBasics(t *testing.T) {
	r := newRig(t)
	r.play(t, nil, []step{
		{"health is exactly this", "GET", "/api/health", nil, 200, []string{`{"app":"clearbox","version":"test"}`}, nil},
		{"health takes no POST", "POST", "/api/health", "{}", 405, []string{`"detail"`}, nil},
		{"unknown route", "GET", "/api/no-such-route", nil, 404, []string{`{"detail":"Not Found"}`}, nil},
		{"method not allowed", "PUT", "/api/plans", "{}", 405, []string{`"detail"`}, nil},
		{"no plans", "GET", "/api/plans", nil, 200, []string{`[]`}, nil},
		{"harnesses", "GET", "/api/harnesses", nil, 200, []string{`"slug":"mock"`, `"protocol":1`, `"refused":null`, `"settings":{}`}, nil},
		{"rescan", "POST", "/api/harnesses/rescan", nil, 200, []string{`"slug":"mock"`}, nil},
		{"no questions", "GET", "/api/questions", nil, 200, []string{`[]`}, nil},
		{"unknown question", "POST", "/api/questions/abc.q1", `{"answer":"allow"}`, 404, []string{`"detail"`}, nil},
		{"answers are allow or deny", "POST", "/api/questions/abc.q1", `{"answer":"maybe"}`, 400, []string{"answer", "maybe"}, nil},
		{"shutdown is not offered here", "POST", "/api/shutdown", nil, 503, []string{"detail"}, nil},
	})
}

func TestRESTPlans(t *testing.T) {
	r := newRig(t)
	vars := []string{"$DIR", t.TempDir()}
	r.play(t, vars, []step{
		{"create a whole plan", "POST", "/api/plans", `{"title":"Ship it","description":"d","working_directory":"$DIR","test_instructions":" make t ",
			"nodes":[{"key":"a","title":"A","files":["src/a.go","docs/"]},{"key":"b","title":"B","files":["SRC"]},{"key":"u","title":"U","kind":"user"},{"key":"s","title":"S"}],
			"edges":[["a","u"]]}`, 200, []string{`"plan_id":1`, `"a":1`, `"u":3`}, nil},
		{"a subplan", "POST", "/api/plans", `{"title":"Sub","description":"sd","parent_plan_id":1,"parent_node_id":4,"nodes":[{"key":"x","title":"X","files":["docs/x.md"]}]}`, 200,
			[]string{`"plan_id":2`}, nil},
		{"unknown field on a route of ours", "POST", "/api/plans", `{"title":"T","working_directory":"$DIR","zzz":1}`, 422, []string{"zzz", "unknown field"}, nil},
		{"unknown field of a node", "POST", "/api/plans", `{"title":"T","working_directory":"$DIR","nodes":[{"key":"a","title":"A","zzz":1}]}`, 422, []string{"nodes[0].zzz"}, nil},
		{"title missing", "POST", "/api/plans", `{"working_directory":"$DIR"}`, 422, []string{"title is required"}, nil},
		{"list", "GET", "/api/plans", nil, 200, []string{`"id":1`, `"started":false`, `"executor":null`, `"status":"pending"`, `"working_directory":"$DIR"`, `"total":4`}, []string{`"id":2`}},
		{"read", "GET", "/api/plans/1", nil, 200, []string{`"edges":[[1,3]]`, `"test_instructions":"make t"`, `"cwd":"$DIR"`, `"started":0`, `"isolate_steps":null`,
			`"root":{"id":1,"started":false,"executor":null,"isolate_steps":false}`, `"ancestors":[]`, `"active":[]`, `"waiting":[]`, `"review":null`,
			`"default_agent":null`, `"agent_done":0`, `"blocked_by":null`, `"source":"server-default"`, `"next_node_id":5`,
			`"conflicts":[{"plan_id":1,"node_id":2,"title":"B","files":["src/a.go"]}`, `"files":["docs/x.md"]`}, nil},
		{"read a subplan", "GET", "/api/plans/2", nil, 200, []string{`"ancestors":[{"plan_id":1,"title":"Ship it","description":"d","node_id":4,"node_title":"S","node_description":""}]`,
			`"parent_plan_id":1`, `"parent_node_id":4`, `"cwd":null`, `"working_directory":"$DIR"`, `"test_instructions":"make t"`}, nil},
		{"unknown plan", "GET", "/api/plans/99", nil, 404, []string{"99"}, nil},
		{"id that is no number", "GET", "/api/plans/abc", nil, 422, []string{"plan_id must be a whole number"}, nil},
		{"id that is too large", "GET", "/api/plans/99999999999999999999", nil, 422, []string{"plan_id"}, nil},
		{"negative id", "GET", "/api/plans/-1", nil, 404, nil, nil},

		{"patch", "PATCH", "/api/plans/1", `{"max_parallel":3}`, 200, []string{`{"plan":{"id":1`, `"max_parallel":3`}, nil},
		{"null clears", "PATCH", "/api/plans/1", `{"max_parallel":null,"test_instructions":null}`, 200, []string{`"max_parallel":null`, `"test_instructions":null`}, nil},
		{"zero is refused", "PATCH", "/api/plans/1", `{"max_parallel":0}`, 400, []string{"max_parallel", "positive"}, nil},
		{"nothing to change", "PATCH", "/api/plans/1", `{}`, 200, []string{`"plan"`}, nil},
		{"no body at all", "PATCH", "/api/plans/1", nil, 200, []string{`"plan"`}, nil},
		{"wrong type", "PATCH", "/api/plans/1", `{"max_parallel":"x"}`, 422, []string{"max_parallel must be a whole number"}, nil},
		{"broken JSON", "PATCH", "/api/plans/1", `{`, 422, []string{"JSON"}, nil},
		{"a body that is no object", "PATCH", "/api/plans/1", `[1]`, 422, []string{"object"}, nil},
		{"unknown field on an old route", "PATCH", "/api/plans/1", `{"zzz":1}`, 200, nil, nil},
		{"patch an unknown plan", "PATCH", "/api/plans/99", `{"max_parallel":1}`, 404, nil, nil},
		{"settings of a subplan", "PATCH", "/api/plans/2", `{"test_instructions":"x"}`, 400, []string{"top-level"}, nil},
		{"the path wins over the body", "PATCH", "/api/plans/1", `{"plan_id":99,"max_parallel":5}`, 200, []string{`"id":1`, `"max_parallel":5`}, nil},

		{"workdir", "PUT", "/api/plans/1/workdir", `{"dir":"$DIR"}`, 200, []string{`"working_directory":"$DIR"`, `"plan":{"id":1`}, nil},
		{"workdir that is none", "PUT", "/api/plans/1/workdir", `{"dir":"/no/such/dir"}`, 400, []string{"does not exist"}, nil},
		{"relative workdir", "PUT", "/api/plans/1/workdir", `{"dir":"x"}`, 400, []string{"absolute"}, nil},
		{"workdir of a subplan", "PUT", "/api/plans/2/workdir", `{"dir":"$DIR"}`, 400, []string{"top-level"}, nil},
		{"workdir of an unknown plan", "PUT", "/api/plans/99/workdir", `{"dir":"$DIR"}`, 404, nil, nil},
		{"workdir left out", "PUT", "/api/plans/1/workdir", `{}`, 422, []string{"dir is required"}, nil},
		{"workdir reset", "PUT", "/api/plans/1/workdir", `{"dir":null}`, 200, []string{`"cwd":null`, "plan-1"}, nil},

		{"agent by name", "PUT", "/api/plans/1/agent", `{"agent":"mock"}`, 200, []string{`{"ok":"set","plan_id":1,"default_agent_profile_id":2}`}, nil},
		{"seen in the plan", "GET", "/api/plans/1", nil, 200, []string{`"default_agent":{"id":2,"name":"mock","harness":"mock","model":null}`, `"source":"plan","from_plan":1`}, nil},
		{"agent by id", "PUT", "/api/plans/1/agent", `{"agent":1}`, 200, []string{`"default_agent_profile_id":1`}, nil},
		{"unknown agent", "PUT", "/api/plans/1/agent", `{"agent":"nobody"}`, 400, []string{"unknown agent profile"}, nil},
		{"agent of an unknown plan", "PUT", "/api/plans/99/agent", `{"agent":null}`, 404, nil, nil},
		{"agent of the wrong type", "PUT", "/api/plans/1/agent", `{"agent":[1]}`, 422, []string{"agent must be the name or id"}, nil},
		{"agent cleared", "PUT", "/api/plans/1/agent", `{"agent":null}`, 200, []string{`"default_agent_profile_id":null`}, nil},

		{"start with an unknown executor", "POST", "/api/plans/1/start", `{"executor":"robots"}`, 400, []string{"executor", "robots"}, nil},
		{"start an unknown plan", "POST", "/api/plans/99/start", `{}`, 404, nil, nil},
		{"stop an unknown plan", "POST", "/api/plans/99/stop", nil, 404, nil, nil},
		{"reset an unknown plan", "POST", "/api/plans/99/reset", nil, 404, nil, nil},
		{"retry in an unknown plan", "POST", "/api/plans/99/retry-failed", nil, 404, nil, nil},
		{"start", "POST", "/api/plans/1/start", `{"executor":"external"}`, 200, []string{`{"ok":"started"}`}, nil},
		{"workdir once started", "PUT", "/api/plans/1/workdir", `{"dir":"$DIR"}`, 400, []string{"started"}, nil},
		{"running", "GET", "/api/plans/1", nil, 200, []string{`"started":1`, `"executor":"external"`, `"status":"running"`}, nil},
		{"retry what has not failed", "POST", "/api/plans/1/retry-failed", nil, 200, []string{`{"ok":"retrying","count":0}`}, nil},
		{"stop", "POST", "/api/plans/1/stop", nil, 200, []string{`{"ok":"stopped"}`}, nil},
		{"reset", "POST", "/api/plans/1/reset", nil, 200, []string{`{"ok":"reset"}`}, nil},
		{"delete a subplan", "DELETE", "/api/plans/2", nil, 400, []string{"top-level"}, nil},
		{"delete", "DELETE", "/api/plans/1", nil, 200, []string{`{"ok":"deleted"}`}, nil},
		{"gone", "DELETE", "/api/plans/1", nil, 404, nil, nil},
		{"gone with it", "GET", "/api/plans/2", nil, 404, nil, nil},
	})
}

func TestRESTGraph(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b c:a")
	N := "/api/plans/$P/nodes"
	r.play(t, []string{"$P", fmt.Sprint(id)}, []step{
		{"add a node", "POST", N, `{"title":"D","files":["d.txt"],"acceptance_criteria":["it is there"],"task_type":"implement"}`, 200,
			[]string{`"node_id":4`, `"files":["d.txt"]`, `"acceptance_criteria":["it is there"]`, `"task_type":"implement"`}, nil},
		{"without a title", "POST", N, `{"description":"x"}`, 422, []string{"title is required"}, nil},
		{"unknown field", "POST", N, `{"title":"E","zzz":1}`, 422, []string{"zzz"}, nil},
		{"bad file", "POST", N, `{"title":"E","files":["../x"]}`, 400, []string{"escapes"}, nil},
		{"a refused node takes no number", "POST", N, `{"title":"E"}`, 200, []string{`"node_id":5`}, nil},
		{"to an unknown plan", "POST", "/api/plans/99/nodes", `{"title":"E"}`, 404, nil, nil},
		{"edit", "PATCH", N + "/4", `{"title":"D2","files":[],"task_type":null}`, 200, []string{`"title":"D2"`, `"files":[]`, `"task_type":null`}, nil},
		{"all or nothing", "PATCH", N + "/4", `{"title":"D3","agent":"nobody"}`, 400, []string{"unknown agent profile"}, nil},
		{"it is as it was", "GET", N + "/4", nil, 200, []string{`"title":"D2"`}, nil},
		{"edit an unknown node", "PATCH", N + "/99", `{"title":"x"}`, 404, nil, nil},
		{"edge", "PUT", "/api/plans/$P/edges/2/4", nil, 200, []string{`{"ok":"added"}`}, nil},
		{"cycle", "PUT", "/api/plans/$P/edges/4/2", nil, 400, []string{"would create a cycle"}, nil},
		{"self-loop", "PUT", "/api/plans/$P/edges/2/2", nil, 400, []string{"self-loops"}, nil},
		{"edge to nowhere", "PUT", "/api/plans/$P/edges/2/99", nil, 404, nil, nil},
		{"edge of no number", "PUT", "/api/plans/$P/edges/2/x", nil, 422, []string{"to must be a whole number"}, nil},
		{"predecessors", "GET", N + "/4", nil, 200, []string{`"predecessors":[2]`, `"events":[]`, `"more":false`}, nil},
		{"remove the edge", "DELETE", "/api/plans/$P/edges/2/4", nil, 200, []string{`{"ok":"removed"}`}, nil},
		{"remove the node", "DELETE", N + "/4", nil, 200, []string{`{"ok":"removed"}`}, nil},
		{"remove it again", "DELETE", N + "/4", nil, 404, nil, nil},

		{"agent", "PUT", N + "/1/agent", `{"agent":"mock"}`, 200, []string{`"agent_override":2`, `"agent_profile_id":2`, `"source":"node"`}, nil},
		{"agent cleared", "PUT", N + "/1/agent", `{"agent":null}`, 200, []string{`"agent_override":null`}, nil},
		{"unknown agent", "PUT", N + "/1/agent", `{"agent":"nobody"}`, 400, nil, nil},
		{"agent of an unknown node", "PUT", N + "/99/agent", `{"agent":null}`, 404, nil, nil},
		{"kind", "PUT", N + "/2/kind", `{"kind":"user"}`, 200, []string{`"kind":"user"`, `"waiting_for_user":false`}, nil},
		{"kind back", "PUT", N + "/2/kind", `{"kind":"agent"}`, 200, []string{`"kind":"agent"`}, nil},
		{"unknown kind", "PUT", N + "/2/kind", `{"kind":"robot"}`, 400, []string{"robot"}, nil},
		{"files", "PUT", N + "/2/files", `{"files":["x.txt"]}`, 200, []string{`"files":["x.txt"]`}, nil},
		{"escaping path", "PUT", N + "/2/files", `{"files":["../x"]}`, 400, []string{"escapes"}, nil},
		{"absolute path", "PUT", N + "/2/files", `{"files":["/etc/x"]}`, 400, []string{"working directory"}, nil},
		{"files that are no list", "PUT", N + "/2/files", `{"files":"x.txt"}`, 422, []string{"files must be a list"}, nil},
		{"a file that is no string", "PUT", N + "/2/files", `{"files":["a",7]}`, 422, []string{"files[1] must be a string, not 7"}, nil},
		{"files of an unknown node", "PUT", N + "/99/files", `{"files":[]}`, 404, nil, nil},
		{"results from", "PUT", N + "/3/results-from", `{"node_ids":[1]}`, 200, []string{`"results_from":[1]`}, nil},
		{"results from no dependency", "PUT", N + "/3/results-from", `{"node_ids":[2]}`, 400, []string{"does not depend on"}, nil},
		{"results from nowhere", "PUT", N + "/3/results-from", `{"node_ids":[99]}`, 400, []string{"99"}, nil},
		{"context", "GET", N + "/3/context", nil, 200, []string{`{"context":"`, "Step c"}, nil},
		{"context of an unknown node", "GET", N + "/99/context", nil, 404, nil, nil},
		{"unknown node", "GET", N + "/99", nil, 404, nil, nil},
		{"node of an unknown plan", "GET", "/api/plans/99/nodes/1", nil, 404, nil, nil},
		{"after that is no number", "GET", N + "/1?after=x", nil, 422, []string{"after must be a whole number"}, nil},
		{"no agent at work", "GET", "/api/debug/plans/$P/nodes/1/agent-mcp-url", nil, 200, []string{`{"url":null}`}, nil},
	})
}

func TestRESTControl(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b c:a")
	r.start(id, plan.External)
	claim := func() {
		if got := r.ok("/mcp", "claim_next_node", map[string]any{"agent_name": "me", "plan_id": id}); got == nil {
			t.Fatal("nothing to claim")
		}
	}
	claim()
	N := "/api/plans/$P/nodes"
	vars := []string{"$P", fmt.Sprint(id)}
	r.play(t, vars, []step{
		{"claimed", "GET", N + "/1", nil, 200, []string{`"status":"running"`, `"phase":"working"`, `"agent_kind":"external"`, `"agent_name":"me"`}, nil},
		{"active", "GET", "/api/plans/$P", nil, 200, []string{`"active":[{"plan_id":$P,"node_id":1,"title":"Step a","agent_kind":"external","agent_name":"me"}]`}, nil},
		{"files of a running node", "PUT", N + "/1/files", `{"files":[]}`, 400, []string{"running"}, nil},
		{"kind of a running node", "PUT", N + "/1/kind", `{"kind":"user"}`, 400, []string{"running"}, nil},
		{"results of a running node", "PUT", N + "/1/results-from", `{"node_ids":[]}`, 400, []string{"running"}, nil},
		{"remove a running node", "DELETE", N + "/1", nil, 400, []string{"running"}, nil},
		{"retry what has not failed", "POST", N + "/1/retry", nil, 400, []string{"failed"}, nil},
		{"retry an unknown node", "POST", N + "/99/retry", nil, 404, nil, nil},
		{"give it back", "POST", N + "/1/release", `{"run":1}`, 200, []string{`{"ok":"released"}`}, nil},
		{"ready again", "GET", N + "/1", nil, 200, []string{`"status":"ready"`}, nil},
		{"give back what nobody has", "POST", N + "/1/release", nil, 400, []string{"not claimed"}, nil},
		{"stop what has not started", "POST", N + "/1/stop", nil, 400, nil, nil},
		{"stop an unknown node", "POST", N + "/99/stop", nil, 404, nil, nil},
	})
	claim()
	r.play(t, vars, []step{
		{"stop", "POST", N + "/1/stop", nil, 200, []string{`{"ok":"stopped"}`}, nil},
		{"failed", "GET", N + "/1", nil, 200, []string{`"status":"failed"`, `"error":"stopped by user"`}, nil},
		{"retry", "POST", N + "/1/retry", nil, 200, []string{`{"ok":"retrying"}`}, nil},
		{"mark done", "POST", N + "/1/complete", `{"result":"by hand"}`, 200, []string{`{"ok":"completed"}`}, nil},
		{"done", "GET", N + "/1", nil, 200, []string{`"status":"done"`, `"result":"by hand"`}, nil},
		{"mark done twice", "POST", N + "/1/complete", `{}`, 400, []string{"done already"}, nil},
		{"mark an unknown node", "POST", N + "/99/complete", `{}`, 404, nil, nil},
		{"its dependant is ready", "GET", N + "/3", nil, 200, []string{`"status":"ready"`, `"predecessors":[1]`}, nil},
		{"runs", "GET", N + "/1/runs", nil, 200, []string{`"run":1`, `"run":2`, `"kind":"external"`, `"outcome":"stopped"`}, []string{`"prompt"`}},
		{"a run", "GET", N + "/1/runs/2", nil, 200, []string{`"run":2`, `"prompt":"`, "Step a", `"system":"`}, nil},
		{"unknown run", "GET", N + "/1/runs/9", nil, 404, nil, nil},
		{"runs of an unknown node", "GET", N + "/99/runs", nil, 404, nil, nil},
		{"what a run told", "GET", N + "/1/runs/1/events", nil, 200, []string{`"kind":"system"`, "claimed by me", `"more":false`}, nil},
		{"the newest of it", "GET", N + "/1/runs/1/events?limit=1", nil, 200, []string{`"more":true`}, nil},
		{"limits are positive", "GET", N + "/1/runs/1/events?limit=-1", nil, 400, []string{"limit"}, nil},
		{"limits are numbers", "GET", N + "/1/runs/1/events?limit=x", nil, 422, []string{"limit must be a whole number"}, nil},
	})
}

func TestRESTBlockedByFiles(t *testing.T) {
	r := newRig(t)
	r.play(t, []string{"$DIR", t.TempDir()}, []step{
		{"two steps on one file", "POST", "/api/plans", `{"title":"T","working_directory":"$DIR","nodes":[{"key":"a","title":"A","files":["s.txt"]},{"key":"b","title":"B","files":["S.TXT"]}]}`, 200, nil, nil},
		{"start", "POST", "/api/plans/1/start", `{"executor":"external"}`, 200, nil, nil},
		{"the lower one goes first", "GET", "/api/plans/1/nodes/2", nil, 200, []string{`"blocked_by":{"plan_id":1,"node_id":1,"title":"A","files":["S.TXT"],"reason":"turn"}`, `"phase":"files"`}, nil},
	})
	r.ok("/mcp", "claim_next_node", map[string]any{"agent_name": "me"})
	r.play(t, nil, []step{
		{"while it runs", "GET", "/api/plans/1/nodes/2", nil, 200, []string{`"reason":"running"`}, nil},
		{"no one else gets it", "GET", "/api/plans/1", nil, 200, []string{`"active":[{"plan_id":1,"node_id":1`}, nil},
	})
}

func TestRESTUserStep(t *testing.T) {
	r := newRig(t)
	r.play(t, []string{"$DIR", t.TempDir()}, []step{
		{"a user step", "POST", "/api/plans", `{"title":"T","working_directory":"$DIR","nodes":[{"key":"u","title":"U","kind":"user"},{"key":"b","title":"B"}],"edges":[["u","b"]]}`, 200, nil, nil},
		{"start", "POST", "/api/plans/1/start", nil, 200, nil, nil},
		{"it waits", "GET", "/api/plans/1", nil, 200, []string{`"waiting":[{"plan_id":1,"node_id":1,"title":"U"}]`, `"waiting_for_user":true`, `"phase":"person"`, `"waiting":1`}, nil},
		{"done without a body", "POST", "/api/plans/1/nodes/1/complete", nil, 200, []string{`{"ok":"completed"}`}, nil},
	})
	s := enginetest.Until(t, r.engine, 1, "done", enginetest.Status(plan.StatusDone))
	if n := s.Node(plan.Ref{Plan: 1, Node: 2}); n.AgentKind != "builtin" {
		t.Errorf("the next step was done by %q", n.AgentKind)
	}
	a := r.do("GET", "/api/plans/1/nodes/2", nil)
	for _, want := range []string{`"agent_kind":"builtin"`, `"agent_done":1`, `"session_id":"s-`, `"agent":{"name":"mock"`, `"text":"agent: mock (mock)"`} {
		if !strings.Contains(string(a.body), want) {
			t.Errorf("the node has no %s:\n%s", want, a)
		}
	}
}

func TestRESTAgents(t *testing.T) {
	r := newRig(t)
	A := "/api/agents"
	r.play(t, nil, []step{
		{"create", "POST", A, `{"name":"gpt","harness":"openai","model":"m","base_url":"http://127.0.0.1:9/v1","api_key_env":"NO_SUCH","api_key":"sk-planted","params":{"temperature":0},
			"tools":{"mcp":false},"permission_mode":null,"max_parallel":2,"description":"d","capability":"read","test_level":"light"}`, 200,
			[]string{`"id":3`, `"has_api_key":true`, `"default":false`, `"in_use":0`, `"params":{"temperature":0}`, `"permission_mode":null`, `"effective_capability":"read"`,
				`"capability_source":"profile"`, `"review_capability":"run"`}, []string{"sk-planted", `"api_key":`}},
		{"claude-sdk is claude", "POST", A, `{"name":"c","harness":"claude-sdk","permission_mode":"plan"}`, 200, []string{`"harness":"claude"`, `"capability_source":"custom"`}, nil},
		{"unknown field", "POST", A, `{"name":"m2","harness":"mock","zzz":1}`, 200, []string{`"max_parallel":null`, `"params":{}`, `"tools":{}`, `"description":""`}, nil},
		{"duplicate", "POST", A, `{"name":"gpt","harness":"mock"}`, 400, []string{"name"}, nil},
		{"unknown harness", "POST", A, `{"name":"x","harness":"nope"}`, 400, []string{"harness", "nope"}, nil},
		{"digits", "POST", A, `{"name":"123","harness":"mock"}`, 400, []string{"name", "digits"}, nil},
		{"blank", "POST", A, `{"name":"  ","harness":"mock"}`, 400, []string{"name"}, nil},
		{"unknown capability", "POST", A, `{"name":"x","harness":"mock","capability":"root"}`, 400, []string{"capability", "root"}, nil},
		{"max_parallel 0", "POST", A, `{"name":"x","harness":"mock","max_parallel":0}`, 400, []string{"max_parallel"}, nil},
		{"empty", "POST", A, `{}`, 422, []string{"name is required", "harness is required"}, nil},
		{"harness missing", "POST", A, `{"name":"x"}`, 422, []string{"harness is required"}, nil},
		{"wrong type", "POST", A, `{"name":"x","harness":"mock","params":[1]}`, 422, []string{"params must be a JSON object"}, nil},
		{"broken JSON", "POST", A, `{`, 422, []string{"JSON"}, nil},
		{"list", "GET", A, nil, 200, []string{`"name":"gpt"`, `"default":true`}, []string{"sk-planted", `"api_key":`}},
		{"patch", "PATCH", A + "/3", `{"model":"m2"}`, 200, []string{`"model":"m2"`, `"base_url":"http://127.0.0.1:9/v1"`}, nil},
		{"null keeps the key", "PATCH", A + "/3", `{"api_key":null}`, 200, []string{`"has_api_key":true`}, nil},
		{"empty clears it", "PATCH", A + "/3", `{"api_key":""}`, 200, []string{`"has_api_key":false`}, nil},
		{"null resets fields", "PATCH", A + "/3", `{"max_parallel":null,"capability":null,"params":null}`, 200, []string{`"max_parallel":null`, `"capability":null`, `"params":{}`, `"capability_source":"default"`}, nil},
		{"unknown id", "PATCH", A + "/99", `{"model":"x"}`, 404, nil, nil},
		{"id of no number", "PATCH", A + "/abc", `{"model":"x"}`, 422, []string{"agent_id"}, nil},
		{"empty name", "PATCH", A + "/3", `{"name":""}`, 400, []string{"name"}, nil},
		{"patch of the wrong type", "PATCH", A + "/3", `{"max_parallel":"many"}`, 422, []string{"max_parallel"}, nil},
		{"test", "POST", A + "/2/test", nil, 200, []string{`"ok":true`, `"detail":"ready"`, `"agent":{"name":"mock","harness":"mock","model":null,"profile_id":2,"capability":"full","capability_source":"default"}`,
			`"reachable":null`, `"models_sample":[]`}, nil},
		{"test an unknown one", "POST", A + "/99/test", nil, 404, nil, nil},
		{"test it changed", "POST", A + "/3/test", `{"harness":"mock","model":"m3","capability":"edit"}`, 200, []string{`"ok":true`, `"harness":"mock","model":"m3"`, `"capability":"edit"`}, nil},
		{"test what could not be saved", "POST", A + "/3/test", `{"capability":"root"}`, 400, []string{"capability", "root"}, nil},
		{"it is as it was", "GET", A, nil, 200, []string{`"model":"m2"`}, []string{`"model":"m3"`}},
		{"test a new one", "POST", A + "/test", `{"name":"new","harness":"mock","api_key":"sk-planted"}`, 200, []string{`"ok":true`, `"agent":{"name":"new"`}, []string{"sk-planted"}},
		{"a new one without a harness", "POST", A + "/test", `{"name":"new"}`, 422, []string{"harness is required"}, nil},
		{"a new one by a name that is taken", "POST", A + "/test", `{"name":"","harness":"mock"}`, 400, []string{"name"}, nil},
		{"nothing was made", "GET", A, nil, 200, nil, []string{`"name":"new"`}},
		{"no uses", "GET", A + "/3/uses", nil, 200, []string{`{"total":0,"uses":[]}`}, nil},
		{"uses of an unknown one", "GET", A + "/99/uses", nil, 404, []string{"99"}, nil},
		{"nothing is spent", "GET", A + "/spend", nil, 200, []string{`[]`}, nil},
		{"delete", "DELETE", A + "/3", nil, 200, []string{`{"ok":"deleted"}`}, nil},
		{"delete it again", "DELETE", A + "/3", nil, 404, nil, nil},
	})
}

func TestWhatCanBeReadCanBeAskedForWithHEAD(t *testing.T) {
	r := newRig(t)
	for path, want := range map[string]int{"/api/health": 200, "/api/plans": 200, "/api/plans/9": 404} {
		if a := r.do("HEAD", path, nil); a.status != want || len(a.body) > 0 {
			t.Errorf("%s: %s", path, a)
		}
	}
}

func TestErrorsOutsideTheAPIAreForPeople(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/no/such/page", "/apiary", "/mcpx"} {
		if a := r.do("GET", path, nil); a.status != http.StatusNotFound || !strings.HasPrefix(a.header.Get("Content-Type"), "text/") {
			t.Errorf("%s: %d (%s)", path, a.status, a.header.Get("Content-Type"))
		}
	}
	for _, path := range []string{"/api", "/api/", "/api/plans/", "/api/plans/1/nodes/1/nothing", "/mcp-agent"} {
		if a := r.do("GET", path, nil); a.status != http.StatusNotFound || string(a.body) != `{"detail":"Not Found"}` {
			t.Errorf("%s: %s", path, a)
		}
	}
}

func TestTranscriptsReadAsTheyWereTold(t *testing.T) {
	r := newRig(t)
	id := r.claimed()
	for i := range 5 {
		r.report(id, fmt.Sprintf("line %d\n\"quoted\" <b>\u2028 🚀", i))
	}
	page := r.want(200, "GET", fmt.Sprintf("/api/plans/%d/nodes/1", id), nil)
	stored, err := r.engine.Events(context.Background(), plan.Ref{Plan: id, Node: 1}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, page["events"]); diff != "" || page["more"] != false {
		t.Errorf("events (-stored +answer):\n%s", diff)
	}
	last := page["events"].([]any)[3].(map[string]any)["id"]
	later := r.want(200, "GET", fmt.Sprintf("/api/plans/%d/nodes/1?after=%v", id, last), nil)["events"].([]any)
	if len(later) != len(stored)-4 {
		t.Errorf("%d events after the fourth of %d", len(later), len(stored))
	}
	part := r.want(200, "GET", fmt.Sprintf("/api/plans/%d/nodes/1/runs/1/events?after=%v&limit=2", id, last), nil)
	if got := part["events"].([]any); len(got) != 2 || part["more"] != true || got[0].(map[string]any)["id"].(float64) <= last.(float64) {
		t.Errorf("two of the run's: %v", part)
	}
}

func TestOneAnswerHoldsFiveThousandEvents(t *testing.T) {
	if got := (transcript{}); string(got.appendTo([]byte(`{"a":1}`))) != `{"a":1,"events":[],"more":false}` {
		t.Errorf("empty: %s", got.appendTo([]byte(`{"a":1}`)))
	}
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			for i := range maxEvents + 10 {
				h.Emit(plugin.Text(fmt.Sprint(i), ""))
			}
			return enginetest.Done(ctx, task, h)
		}}})
	id := r.plan("a")
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
	path := fmt.Sprintf("/api/plans/%d/nodes/1", id)
	page := r.want(200, "GET", path, nil)
	events := page["events"].([]any)
	if len(events) != maxEvents || page["more"] != true {
		t.Fatalf("%d events, more %v", len(events), page["more"])
	}
	rest := r.want(200, "GET", fmt.Sprintf("%s?after=%v", path, events[maxEvents-1].(map[string]any)["id"]), nil)
	if n := len(rest["events"].([]any)); n < 10 || rest["more"] != false {
		t.Errorf("%d further events, more %v", n, rest["more"])
	}
}
