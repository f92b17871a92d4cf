package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestSubmitListsEveryFault(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: " ", WorkingDirectory: "relative", OnFailure: "explode"},
		Nodes: []engine.NodeSpec{
			{Key: "a", Title: "A", Files: []string{"../out"}},
			{Key: "a", Title: "A again"},
			{Key: "b", Title: "", Kind: "robot"},
			{Key: "c", Title: "C", Agent: "nobody", ResultsFrom: []string{"d"}},
			{Key: "d", Title: "D", TaskType: "magic", AcceptanceCriteria: []string{" "}},
		},
		Edges: [][]string{{"a", "nope"}, {"a", "a"}, {"b", "d"}, {"d", "b"}, {"a"}}}
	_, err := e.SubmitPlan(context.Background(), in)
	if plan.KindOf(err) != plan.Invalid {
		t.Fatalf("error = %v, want invalid", err)
	}
	for _, want := range []string{"nothing was created", "title must not be empty", "absolute path", "on_failure",
		"escapes", "duplicate node key 'a'", `node "b": title`, `unknown kind "robot"`, "unknown agent profile 'nobody'",
		"results_from names ['d']", "task_type", "acceptance_criteria", "unknown node key 'nope'", "self-loops",
		"would create a cycle: b → d → b", "edges[4]"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%s", want, err)
		}
	}
	if list, err := e.Overviews(context.Background()); err != nil || len(list) != 0 {
		t.Errorf("plans after a refused one: %v, %v", list, err)
	}
}

func TestPlansInOneFolder(t *testing.T) {
	e, g := gated(t, nil)
	in := spec(t, "a")
	first := submit(t, e, in)
	second := in
	second.WorkingDirectory = filepath.Join(in.WorkingDirectory, "inner")
	must(t, os.Mkdir(second.WorkingDirectory, 0o755))
	other := submit(t, e, second)
	must(t, e.StartPlan(context.Background(), first, plan.Builtin))
	err := e.StartPlan(context.Background(), other, plan.Builtin)
	if plan.KindOf(err) != plan.Invalid || !strings.Contains(err.Error(), fmt.Sprintf("plan %d", first)) {
		t.Errorf("start in a folder in use: %v", err)
	}
	second.Start = plan.External
	if _, err := e.SubmitPlan(context.Background(), second); !strings.Contains(fmt.Sprint(err), "nothing was created") {
		t.Errorf("submit and start in a folder in use: %v", err)
	}
	close(g.open)
	enginetest.Until(t, e, first, "done", enginetest.Status(plan.StatusDone))
	must(t, e.StartPlan(context.Background(), other, plan.Builtin))
}

func TestEditsOfARunningPlan(t *testing.T) {
	e, g := gated(t, nil)
	id := submit(t, e, spec(t, "a b:a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "a runs", running(1))
	ctx := context.Background()
	r, err := e.AddNode(ctx, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("Step c")}})
	must(t, err)
	enginetest.Until(t, e, id, "the new step runs", running(2))
	for what, err := range map[string]error{
		"an edge into a running step": e.AddEdge(ctx, engine.EdgeIn{PlanID: id, From: 2, To: 1}),
		"a self-loop":                 e.AddEdge(ctx, engine.EdgeIn{PlanID: id, From: 2, To: 2}),
		"removing a running step":     e.RemoveNode(ctx, ref(id, 1)),
		"files of a running step":     e.UpdateNode(ctx, engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: engine.NodeFields{Files: &[]string{"x"}}}),
	} {
		if plan.KindOf(err) != plan.Invalid {
			t.Errorf("%s: %v, want invalid", what, err)
		}
	}
	must(t, e.AddEdge(ctx, engine.EdgeIn{PlanID: id, From: r.Node, To: 2}))
	must(t, e.RemoveEdge(ctx, engine.EdgeIn{PlanID: id, From: 1, To: 2}))
	close(g.open)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestCycleIsNamed(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := submit(t, e, spec(t, "a b:a c:b"))
	err := e.AddEdge(context.Background(), engine.EdgeIn{PlanID: id, From: 3, To: 1})
	if !strings.Contains(fmt.Sprint(err), "would create a cycle: 1 → 2 → 3 → 1") {
		t.Errorf("error = %v", err)
	}
}

func TestMisconfiguredAgentFailsTheStepAtOnce(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "a")
	in.Nodes[0].Agent = "claude" // there is no such harness among those of the test
	id := submit(t, e, in)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "failed", enginetest.Status(plan.StatusFailed))
	if got := *s.Node(ref(id, 1)).Error; !strings.Contains(got, "harness-claude") {
		t.Errorf("error = %q, want what to install", got)
	}
}
