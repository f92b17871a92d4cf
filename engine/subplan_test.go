package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

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
