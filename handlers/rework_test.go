package handlers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// done runs a plan to its end.
func (r *rig) done(id plan.PlanID) {
	r.t.Helper()
	r.start(id, plan.Builtin)
	enginetest.Until(r.t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
}

func TestRESTRework(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b:a c:a")
	r.done(id)
	N := "/api/plans/$P/nodes"
	vars := []string{"$P", fmt.Sprint(id)}
	r.play(t, vars, []step{
		{"nothing to address", "POST", N + "/1/rework", `{}`, 400, []string{"no review", "instructions"}, nil},
		{"no body at all", "POST", N + "/1/rework", nil, 400, []string{"no review"}, nil},
		{"null is nothing", "POST", N + "/1/rework", `{"instructions":null}`, 400, []string{"no review"}, nil},
		{"blank is nothing", "POST", N + "/1/rework", `{"instructions":" \n"}`, 400, []string{"no review"}, nil},
		{"wrong type", "POST", N + "/1/rework", `{"instructions":7}`, 422, []string{"instructions must be a string, not 7"}, nil},
		{"with a NUL", "POST", N + "/1/rework", `{"instructions":"a\u0000b"}`, 400, []string{"instructions", "NUL"}, nil},
		{"an unknown node", "POST", N + "/99/rework", `{"instructions":"x"}`, 404, []string{"99"}, nil},
		{"an unknown plan", "POST", "/api/plans/99/nodes/1/rework", `{"instructions":"x"}`, 404, nil, nil},
		{"no number", "POST", N + "/x/rework", `{"instructions":"x"}`, 422, []string{"node_id"}, nil},
		{"unknown field on an old route", "POST", N + "/1/rework", `{"instructions":"use the other parser","zzz":1}`, 200,
			[]string{`{"node":{"plan_id":$P,"node_id":1`, `"rework_brief":"use the other parser"`, `"started_dependants":[{"node_id":2,"title":"Step b","status":"done"},{"node_id":3`}, nil},
		{"the prompt has it at once", "GET", N + "/1/context", nil, 200, []string{"REWORK", "use the other parser"}, nil},
	})
	s := enginetest.Until(t, r.engine, id, "done again", func(s *plan.Snapshot) bool {
		return s.Status(id) == plan.StatusDone && s.Node(plan.Ref{Plan: id, Node: 1}).Attempts == 2
	})
	for _, n := range []plan.NodeID{2, 3} {
		if got := s.Node(plan.Ref{Plan: id, Node: n}).Attempts; got != 1 {
			t.Errorf("step %d was run %d times, want it left alone", n, got)
		}
	}
	r.play(t, vars, []step{
		{"kept on the node", "GET", N + "/1", nil, 200, []string{`"status":"done"`, `"rework_brief":"use the other parser"`, `"attempts":2`, `"result":"did Step a"`}, nil},
		{"two runs", "GET", N + "/1/runs", nil, 200, []string{`"run":1`, `"run":2`, `"outcome":"done"`}, nil},
	})
}

func TestRESTReworkIsRefusedWhileItRuns(t *testing.T) {
	r, id, _ := workerRig(t)
	r.play(t, []string{"$P", fmt.Sprint(id)}, []step{
		{"running", "POST", "/api/plans/$P/nodes/1/rework", `{"instructions":"x"}`, 400, []string{"running"}, nil},
		{"not started", "POST", "/api/plans/$P/nodes/2/rework", `{"instructions":"x"}`, 400, []string{"only a finished step"}, nil},
		{"skip what runs", "POST", "/api/plans/$P/nodes/1/skip", `{}`, 400, []string{"not started", "running"}, nil},
	})
}

func TestRESTReworkOfASubplan(t *testing.T) {
	r := newRig(t)
	id := r.plan("a")
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Sub", ParentPlanID: id, ParentNodeID: 1}, Nodes: []engine.NodeSpec{{Key: "x", Title: "X"}}}
	if _, err := r.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	r.play(t, nil, []step{
		{"a step with a subplan is not skipped whole", "POST", "/api/plans/1/nodes/1/skip", `{}`, 400, []string{"subplan"}, nil},
	})
	r.done(id)
	r.play(t, nil, []step{
		{"nor reworked whole", "POST", "/api/plans/1/nodes/1/rework", `{"instructions":"x"}`, 400, []string{"subplan", "plan 2"}, nil},
		{"but inside", "POST", "/api/plans/2/nodes/1/rework", `{"instructions":"x"}`, 200, []string{`"rework_brief":"x"`}, nil},
	})
	enginetest.Until(t, r.engine, id, "done again", func(s *plan.Snapshot) bool {
		return s.Status(id) == plan.StatusDone && s.Node(plan.Ref{Plan: 2, Node: 1}).Attempts == 2
	})
}

func TestRESTSkip(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b:a c:b")
	N := "/api/plans/$P/nodes"
	vars := []string{"$P", fmt.Sprint(id)}
	r.play(t, vars, []step{
		{"unknown field on a route of ours", "POST", N + "/2/skip", `{"zzz":1}`, 422, []string{"zzz"}, nil},
		{"wrong type", "POST", N + "/2/skip", `{"note":["x"]}`, 422, []string{"note must be a string"}, nil},
		{"an unknown node", "POST", N + "/99/skip", `{}`, 404, nil, nil},
		{"bring back what is there", "POST", N + "/2/unskip", nil, 400, []string{"not skipped"}, nil},
		{"bring back an unknown node", "POST", N + "/99/unskip", nil, 404, nil, nil},
		{"skip", "POST", N + "/2/skip", `{"note":"not needed"}`, 200, []string{`{"node":{`, `"status":"skipped"`, `"skipped_by":"person"`, `"skip_note":"not needed"`, `"skipped_cause":null`}, nil},
		{"skip it again", "POST", N + "/2/skip", `{}`, 400, []string{"skipped"}, nil},
		{"rework it", "POST", N + "/2/rework", `{"instructions":"x"}`, 400, []string{"skipped"}, nil},
		{"bring back with a field", "POST", N + "/2/unskip", `{"note":"x"}`, 422, []string{"note"}, nil},
		{"bring it back", "POST", N + "/2/unskip", nil, 200, []string{`"status":"pending"`, `"skipped_by":null`, `"skip_note":null`}, nil},
		{"without a note", "POST", N + "/2/skip", nil, 200, []string{`"skipped_by":"person"`, `"skip_note":null`}, nil},
	})
	r.done(id)
	r.play(t, vars, []step{
		{"what depends on it went on", "GET", N + "/3", nil, 200, []string{`"status":"done"`}, nil},
		{"a done step is not skipped", "POST", N + "/3/skip", `{}`, 400, []string{"done"}, nil},
		{"brought back after all", "POST", N + "/2/unskip", nil, 200, []string{`"started_dependants":[{"node_id":3`}, nil},
	})
	enginetest.Until(t, r.engine, id, "done with it", enginetest.State(plan.Ref{Plan: id, Node: 2}, plan.Done))
}

func TestToolsForReworkAndSkip(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b:a c:b")
	args := func(node int, more ...any) map[string]any {
		m := map[string]any{"plan_id": id, "node_id": node}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	if got := r.ok("/mcp", "skip_node", args(2, "note", "later")); got != fmt.Sprintf("step %d.2 is skipped", id) {
		t.Errorf("skip: %v", got)
	}
	view := r.ok("/mcp", "get_plan", map[string]any{"plan_id": id}).(map[string]any)["nodes"].([]any)[1].(map[string]any)
	if view["skipped_by"] != "person" || view["skip_note"] != "later" {
		t.Errorf("get_plan shows %v", view)
	}
	if got := r.ok("/mcp", "unskip_node", args(2)); got != fmt.Sprintf("step %d.2 is back", id) {
		t.Errorf("bring back: %v", got)
	}
	r.done(id)
	got := r.ok("/mcp", "rework_node", args(1, "instructions", "again"))
	if want := fmt.Sprintf("step %d.1 is to be done again; these depend on it, have started already and are left as they are: %d.2", id, id); got != want {
		t.Errorf("rework: %v, want %v", got, want)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		why  string
	}{
		{"rework_node", args(2), "no review"},
		{"rework_node", args(2, "instructions", nil), "no review"},
		{"rework_node", args(9, "instructions", "x"), "9"},
		{"rework_node", args(2, "note", "x"), `unknown field "note"`},
		{"skip_node", args(2), "not started"},
		{"skip_node", args(9), "9"},
		{"unskip_node", args(2), "not skipped"},
		{"unskip_node", args(2, "note", "x"), `unknown field "note"`},
	} {
		if text := r.refused("/mcp", c.tool, c.args); !strings.Contains(text, c.why) {
			t.Errorf("%s %v: %q does not say %q", c.tool, c.args, text, c.why)
		}
	}
}

func TestPolicies(t *testing.T) {
	r := newRig(t)
	r.play(t, []string{"$DIR", t.TempDir()}, []step{
		{"given with the plan", "POST", "/api/plans", `{"title":"T","working_directory":"$DIR","max_attempts":3,"max_tokens":5000,"max_cost_usd":1.5,"stall_after":60,"on_failure":"skip",
			"nodes":[{"key":"a","title":"A","max_attempts":2},{"key":"b","title":"B"}]}`, 200, nil, nil},
		{"and there", "GET", "/api/plans/1", nil, 200, []string{`"max_attempts":3`, `"max_tokens":5000`, `"max_cost_usd":1.5`, `"stall_after":60`, `"on_failure":"skip"`,
			`"budget":{"max_tokens":5000,"max_cost_usd":1.5,"spent_tokens":0,"spent_cost_usd":0,"uncosted_runs":0,"exhausted":null}`, `"max_attempts":2`, `"hold":null`, `"stalled_at":null`}, nil},
		{"all that is wrong", "POST", "/api/plans", `{"title":"T","working_directory":"$DIR","max_attempts":99,"max_tokens":-1,"max_cost_usd":-1,"stall_after":3,
			"nodes":[{"key":"a","title":"A","max_attempts":-1}]}`, 400, []string{"max_attempts must be between 1 and 20", "max_tokens must be positive", "max_cost_usd must be positive",
			"stall_after must be at least 10 seconds", `node \"a\": max_attempts`}, nil},
		{"of the wrong type", "POST", "/api/plans", `{"title":"T","working_directory":"$DIR","max_tokens":"many","max_cost_usd":true,"stall_after":1.5}`, 422,
			[]string{"max_tokens must be a whole number", "max_cost_usd must be a number", "stall_after must be a whole number"}, nil},
		{"changed", "PATCH", "/api/plans/1", `{"max_attempts":5,"max_cost_usd":2}`, 200, []string{`"max_attempts":5`, `"max_tokens":5000`, `"max_cost_usd":2`}, nil},
		{"null clears", "PATCH", "/api/plans/1", `{"max_attempts":null,"max_tokens":null,"max_cost_usd":null,"stall_after":null,"on_failure":null}`, 200,
			[]string{`"max_attempts":null`, `"max_tokens":null`, `"max_cost_usd":null`, `"stall_after":null`, `"on_failure":null`}, nil},
		{"zero is refused", "PATCH", "/api/plans/1", `{"max_tokens":0,"max_cost_usd":0,"max_attempts":0,"stall_after":0}`, 400,
			[]string{"max_tokens must be a positive number; null clears it", "max_cost_usd must be", "max_attempts must be", "stall_after must be"}, nil},
		{"too much", "PATCH", "/api/plans/1", `{"max_attempts":21}`, 400, []string{"max_attempts must be between 1 and 20"}, nil},
		{"of a node", "PATCH", "/api/plans/1/nodes/2", `{"max_attempts":4}`, 200, []string{`"max_attempts":4`}, nil},
		{"of a node, wrong", "PATCH", "/api/plans/1/nodes/2", `{"max_attempts":40}`, 400, []string{"max_attempts must be between 1 and 20"}, nil},
		{"of a node, cleared", "PATCH", "/api/plans/1/nodes/2", `{"max_attempts":null}`, 200, []string{`"max_attempts":null`}, nil},
		{"a subplan has none", "POST", "/api/plans", `{"title":"S","parent_plan_id":1,"parent_node_id":2,"max_tokens":5}`, 400, []string{"max_tokens", "top-level"}, nil},
		{"a subplan", "POST", "/api/plans", `{"title":"S","parent_plan_id":1,"parent_node_id":2}`, 200, []string{`"plan_id":2`}, nil},
		{"nor takes one", "PATCH", "/api/plans/2", `{"max_tokens":5}`, 400, []string{"top-level"}, nil},
		{"it shows its root's budget", "GET", "/api/plans/2", nil, 200, []string{`"budget":{"max_tokens":null`}, nil},
		{"limits of an agent's runs", "POST", "/api/agents", `{"name":"m","harness":"mock","max_tokens_per_run":9000,"max_cost_per_run_usd":0.25}`, 200,
			[]string{`"max_tokens_per_run":9000`, `"max_cost_per_run_usd":0.25`, `"limit":null`}, nil},
		{"cleared", "PATCH", "/api/agents/3", `{"max_tokens_per_run":null}`, 200, []string{`"max_tokens_per_run":null`, `"max_cost_per_run_usd":0.25`, `"limit":null`}, nil},
		{"wrong", "PATCH", "/api/agents/3", `{"max_tokens_per_run":-5}`, 400, []string{"max_tokens_per_run"}, nil},
		{"not zero", "PATCH", "/api/agents/3", `{"max_cost_per_run_usd":0}`, 400, []string{"max_cost_per_run_usd must be a positive number"}, nil},
	})
	id := r.ok("/mcp", "create_plan", map[string]any{"title": "C", "working_directory": t.TempDir(), "max_attempts": 2, "max_tokens": 100, "max_cost_usd": 0.5, "stall_after": 30})
	r.ok("/mcp", "update_plan", map[string]any{"plan_id": id, "max_tokens": 0, "stall_after": 45})
	got := r.ok("/mcp", "get_plan", map[string]any{"plan_id": id}).(map[string]any)
	if got["max_attempts"] != 2.0 || got["max_tokens"] != nil || got["max_cost_usd"] != 0.5 || got["stall_after"] != 45.0 {
		t.Errorf("get_plan shows %v", got)
	}
}

// spender uses tokens and money that a budget counts.
func spender(tokens int64, price float64) enginetest.Agent {
	return func(_ context.Context, t plugin.Task, _ plugin.Host) (plugin.Result, error) {
		return plugin.Result{Text: "did " + t.Title, TokensIn: &tokens, TokensOut: new(int64), CostUSD: &price}, nil
	}
}

func TestABudgetThatIsUsedUpHoldsThePlan(t *testing.T) {
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": spender(600, 0.25)}})
	id := r.plan("a b:a c:b d:c")
	r.play(t, nil, []step{{"a budget for two steps", "PATCH", "/api/plans/1", `{"max_tokens":1000}`, 200, nil, nil}})
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "held", func(s *plan.Snapshot) bool { return s.Holds[plan.Ref{Plan: id, Node: 3}].Phase == plan.PhaseBudget })
	r.play(t, nil, []step{
		{"it says why", "GET", "/api/plans/1", nil, 200, []string{`"spent_tokens":1200,"spent_cost_usd":0.5,"uncosted_runs":0,"exhausted":"the budget of 1000 tokens is used up`,
			`"hold":{"phase":"budget","until":null,"by":null,"reason":null}`, `"phase":"budget"`}, nil},
		{"and at the step", "GET", "/api/plans/1/nodes/3", nil, 200, []string{`"status":"ready"`, `"hold":{"phase":"budget"`, `"blocked_by":null`}, nil},
	})
	if text := r.ok("/mcp", "get_plan", map[string]any{"plan_id": id}).(map[string]any)["budget"].(map[string]any)["exhausted"]; !strings.Contains(fmt.Sprint(text), "max_tokens") {
		t.Errorf("models are told %v", text)
	}
	r.play(t, nil, []step{{"raised", "PATCH", "/api/plans/1", `{"max_tokens":100000}`, 200, nil, nil}})
	enginetest.Until(t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
	r.play(t, nil, []step{
		{"nothing is used up", "GET", "/api/plans/1", nil, 200, []string{`"spent_tokens":2400`, `"exhausted":null`}, nil},
		{"reset", "POST", "/api/plans/1/reset", nil, 200, nil, nil},
		{"what was spent stays spent", "GET", "/api/plans/1", nil, 200, []string{`"spent_tokens":2400`}, nil},
	})
}

func TestALimitIsShownWhereItHolds(t *testing.T) {
	var limited atomic.Bool
	limited.Store(true)
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if limited.Load() {
				return plugin.Result{IsError: true, RateLimited: true, Until: until, Errors: []string{"5-hour limit reached"}}, nil
			}
			return enginetest.Done(ctx, task, h)
		}}})
	id := r.plan("a b:a")
	other := r.plan("x")
	r.start(id, plan.Builtin)
	first := plan.Ref{Plan: id, Node: 1}
	enginetest.Until(t, r.engine, id, "limited", func(s *plan.Snapshot) bool { return s.Holds[first].Phase == plan.PhaseLimit })
	r.start(other, plan.Builtin)
	at := fmt.Sprint(until.Unix())
	r.play(t, []string{"$UNTIL", at}, []step{
		{"at the step", "GET", "/api/plans/1/nodes/1", nil, 200, []string{`"status":"ready"`, `"phase":"limit"`, `"not_before":$UNTIL`, `"hold":{"phase":"limit","until":$UNTIL,"by":null,"reason":null}`, `"attempts":0`}, nil},
		{"at steps of other plans too", "GET", "/api/plans/2/nodes/1", nil, 200, []string{`"hold":{"phase":"limit","until":$UNTIL`, `"not_before":null`}, nil},
		{"at the agent", "GET", "/api/agents", nil, 200, []string{`"limit":{"until":$UNTIL,"text":"5-hour limit reached"}`, `"limit":null`}, nil},
		{"also when it is changed", "PATCH", "/api/agents/2", `{"description":"d"}`, 200, []string{`"limit":{"until":$UNTIL`}, nil},
		{"the run says so", "GET", "/api/plans/1/nodes/1/runs", nil, 200, []string{`"outcome":"limited"`, `"cause":"5-hour limit reached"`}, nil},
	})
	found := false
	for _, a := range r.ok("/mcp", "list_agents", nil).([]any) {
		l, _ := a.(map[string]any)["limit"].(map[string]any)
		found = found || fmt.Sprint(l["text"]) == "5-hour limit reached"
	}
	if !found {
		t.Error("list_agents does not tell of the limit")
	}
}

func TestFurtherAttemptsAreShown(t *testing.T) {
	o := rigOptions{agents: map[string]enginetest.Agent{
		"mock": func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
			return plugin.Result{}, errors.New("the tests are red")
		}}}
	r := newRigWith(t, o)
	id := r.plan("a")
	r.play(t, nil, []step{{"three attempts", "PATCH", "/api/plans/1", `{"max_attempts":3}`, 200, nil, nil}})
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "failed", enginetest.State(plan.Ref{Plan: id, Node: 1}, plan.Failed))
	r.play(t, nil, []step{
		{"counted", "GET", "/api/plans/1/nodes/1", nil, 200, []string{`"attempts":3`, `"interruptions":0`, `"error":"the tests are red"`}, nil},
		{"each a run", "GET", "/api/plans/1/nodes/1/runs", nil, 200, []string{`"run":3`, `"outcome":"failed"`}, nil},
	})
}
