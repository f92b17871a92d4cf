package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

func TestSubplanRunsWhenItsStepIsReached(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := submit(t, e, spec(t, "a big:a after:big"))
	sub := spec(t, "x y:x")
	sub.WorkingDirectory, sub.ParentPlanID, sub.ParentNodeID = "", id, 2
	inner := submit(t, e, sub)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	c := s.Node(ref(id, 2))
	if c.Subplan != inner || c.RunID != "" {
		t.Errorf("the container has subplan %d and run %q, want %d and none of its own", c.Subplan, c.RunID, inner)
	}
	if c.Result == nil || !strings.Contains(*c.Result, "did Step y") || strings.Contains(*c.Result, "did Step x") {
		t.Errorf("the container's result is that of the last steps inside: %v", c.Result)
	}
	if s.Node(ref(inner, 1)).StartedAt < s.Node(ref(id, 1)).FinishedAt {
		t.Error("the subplan started before its step was reached")
	}
	if got := s.Tally(id).Total; got != 4 {
		t.Errorf("%d leaves, want 4", got)
	}
}

func TestFailureInsideASubplan(t *testing.T) {
	var fail atomic.Bool
	fail.Store(true)
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if task.Title == "Step x" && fail.Load() {
				return plugin.Result{}, errors.New("no")
			}
			return enginetest.Done(ctx, task, h)
		}}))
	id := submit(t, e, spec(t, "big after:big"))
	sub := spec(t, "x y:x")
	sub.WorkingDirectory, sub.ParentPlanID, sub.ParentNodeID = "", id, 1
	inner := submit(t, e, sub)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "the container fails", enginetest.State(ref(id, 1), plan.Failed))
	fail.Store(false)
	for name, r := range map[string]plan.Ref{"inside": ref(inner, 1)} {
		t.Run(name, func(t *testing.T) {
			must(t, e.RetryNode(context.Background(), r))
			enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
		})
	}
}

func TestRetryOfAContainerRetriesWhatFailedInside(t *testing.T) {
	var fail atomic.Bool
	fail.Store(true)
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if fail.Load() {
				return plugin.Result{}, errors.New("no")
			}
			return enginetest.Done(ctx, task, h)
		}}))
	id := submit(t, e, spec(t, "big"))
	sub := spec(t, "x y")
	sub.WorkingDirectory, sub.ParentPlanID, sub.ParentNodeID = "", id, 1
	submit(t, e, sub)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "all failed", func(s *plan.Snapshot) bool { return s.Tally(id).Failed == 2 })
	fail.Store(false)
	must(t, e.RetryNode(context.Background(), ref(id, 1)))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

// A subplan is often made empty and then filled step by step, in a plan that runs
// meanwhile: its container must not be over before the first step can come.
func TestAnEmptySubplanWaitsForItsFirstStep(t *testing.T) {
	for name, startedFirst := range map[string]bool{"of a step that is ready": true, "reached later": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Start(t, enginetest.Options(t, nil))
			in := spec(t, "big after:big")
			if startedFirst {
				in.Start = plan.External
			}
			id := submit(t, e, in)
			sub := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Parts", ParentPlanID: id, ParentNodeID: 1}}
			inner := submit(t, e, sub)
			if !startedFirst {
				must(t, e.StartPlan(bg, id, plan.External))
			}
			enginetest.Until(t, e, id, "its container waits", func(s *plan.Snapshot) bool {
				c := s.Node(ref(id, 1))
				return c.State == plan.Running && c.Phase == plan.PhaseSubplan
			})
			_, err := e.AddNode(bg, engine.AddNodeIn{PlanID: inner, NodeFields: engine.NodeFields{Title: p("Part")}})
			must(t, err)
			got, err := e.Claim(bg, "me", 0)
			must(t, err)
			if got == nil || got.PlanID != inner {
				t.Fatalf("claimed %+v, want the first step of the subplan", got)
			}
			must(t, e.Complete(bg, engine.CompleteIn{Ref: ref(inner, 1), Result: "did"}))
			enginetest.Until(t, e, id, "the container is done", enginetest.State(ref(id, 1), plan.Done))
		})
	}
}

func TestAContainerThatStaysEmptyCanBeMarkedDone(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "big")
	in.Start = plan.External
	id := submit(t, e, in)
	submit(t, e, engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Parts", ParentPlanID: id, ParentNodeID: 1}})
	enginetest.Until(t, e, id, "it waits", enginetest.State(ref(id, 1), plan.Running))
	must(t, e.MarkDone(bg, ref(id, 1), p("needed nothing")))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}
