package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestWorkerKeepsToItsOwnStep(t *testing.T) {
	r, id, own := workerRig(t)
	steps := []any{map[string]any{"key": "a", "title": "A"}, map[string]any{"key": "b", "title": "B", "results_from": []string{"a"}}}
	sub := r.ok(own, "submit_plan", map[string]any{"title": "Sub", "parent_plan_id": id, "parent_node_id": 1, "nodes": steps, "edges": [][]string{{"a", "b"}}}).(map[string]any)
	sp := sub["plan_id"]
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"add_node", map[string]any{"plan_id": sp, "title": "C"}},
		{"add_edge", map[string]any{"plan_id": sp, "from_node_id": 2, "to_node_id": 3}},
		{"remove_edge", map[string]any{"plan_id": sp, "from_node_id": 2, "to_node_id": 3}},
		{"update_node", map[string]any{"plan_id": sp, "node_id": 3, "title": "C2"}},
		{"remove_node", map[string]any{"plan_id": sp, "node_id": 3}},
		{"get_plan", map[string]any{"plan_id": sp}},
		{"list_agents", nil},
		{"report_progress", map[string]any{"message": "hi"}},
		{"create_plan", map[string]any{"title": "Deeper", "parent_plan_id": sp, "parent_node_id": 1}},
	} {
		r.ok(own, c.tool, c.args)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		why  string
	}{
		{"add_node", map[string]any{"plan_id": sp, "title": "C", "agent": "mock"}, "agent is not accepted"},
		{"update_node", map[string]any{"plan_id": sp, "node_id": 1, "agent": "mock"}, "agent is not accepted"},
		{"submit_plan", map[string]any{"title": "t", "parent_plan_id": sp, "parent_node_id": 2, "nodes": []any{map[string]any{"key": "a", "title": "A", "agent": "mock"}}}, "agent is not accepted"},
		{"submit_plan", map[string]any{"title": "t", "nodes": []any{}}, "parent_plan_id is required"},
		{"add_node", map[string]any{"plan_id": id, "title": "C"}, "not the subplan of your own step"},
		{"get_plan", map[string]any{"plan_id": id}, "not the subplan of your own step"},
		{"create_plan", map[string]any{"title": "t", "parent_plan_id": id, "parent_node_id": 2}, "not the subplan of your own step"},
		{"start_plan", map[string]any{"plan_id": id}, "no tool"},
		{"complete_node", map[string]any{"plan_id": id, "node_id": 1, "result": "x"}, "no tool"},
	} {
		if text := r.refused(own, c.tool, c.args); !strings.Contains(text, c.why) {
			t.Errorf("%s %v: %q does not say %q", c.tool, c.args, text, c.why)
		}
	}
	a := r.do("GET", fmt.Sprintf("/api/plans/%v", sp), nil)
	if !strings.Contains(string(a.body), `"default_agent":{"id":2,"name":"mock"`) || strings.Contains(string(a.body), `"agent_override":2`) {
		t.Errorf("the subplan's agent: %s", a)
	}
	if got := r.want(200, "GET", fmt.Sprintf("/api/debug/plans/%d/nodes/1/agent-mcp-url", id), nil)["url"]; got != r.url+own {
		t.Errorf("debug route: %v", got)
	}
}

func TestTokenOfAnEndedRunOpensNothing(t *testing.T) {
	r, id, own := workerRig(t)
	r.ok(own, "list_agents", nil)
	r.want(200, "POST", fmt.Sprintf("/api/plans/%d/nodes/1/stop", id), nil)
	for _, path := range []string{own, "/mcp-agent/not-a-token", "/mcp-agent/" + strings.Repeat("x", 5000), "/mcp-agent/%00"} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			a := r.do(method, path, "{}")
			if a.status != http.StatusNotFound || !strings.Contains(string(a.body), `"detail"`) {
				t.Errorf("%s %s: %s", method, clip(path), a)
			}
		}
	}
	token := strings.TrimPrefix(own, "/mcp-agent/")
	if log := r.log.String(); strings.Contains(log, token) {
		t.Error("the token is in the log")
	} else if !strings.Contains(log, "/mcp-agent/…") {
		t.Errorf("the log has no trace of the calls:\n%s", log)
	}
}
