package engine_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

func TestTheInboxHoldsWhatPeopleAreNeededFor(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	play := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if task.Title == "asks" {
			a, err := h.Ask(ctx, plugin.Question{Tool: "Bash"})
			return plugin.Result{Text: "done", IsError: err != nil || !a.Allow}, err
		}
		return plugin.Result{IsError: task.Title == "fails", Errors: []string{"it broke"}}, nil
	}
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{"mock": play}))
	out, err := e.SubmitPlan(ctx, engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Whole", WorkingDirectory: t.TempDir()}, Nodes: []engine.NodeSpec{
		{Key: "f", Title: "fails"}, {Key: "q", Title: "asks"}, {Key: "u", Title: "yours", Kind: "user"}, {Key: "d", Title: "done"}, {Key: "l", Title: "later", Kind: "user"}},
		Edges: [][]string{{"u", "l"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := titles(t, e); len(got) != 0 {
		t.Errorf("before it starts %v is needed", got)
	}
	if err := e.StartPlan(ctx, out.PlanID, plan.Builtin); err != nil {
		t.Fatal(err)
	}
	enginetest.Until(t, e, out.PlanID, "all that goes by itself", func(s *plan.Snapshot) bool {
		n := s.Tally(out.PlanID)
		return n.Failed == 1 && n.Done == 1 && len(s.Questions) == 1 && n.Waiting == 1
	})
	if diff := cmp.Diff(map[string]plan.State{"fails": plan.Failed, "asks": plan.Running, "yours": plan.Ready}, titles(t, e)); diff != "" {
		t.Error(diff)
	}
	times, err := e.TimesOf(ctx, out.PlanID)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[plan.NodeID]plan.Outcome{}
	for _, r := range times.Runs {
		runs[r.NodeID] = r.Outcome
	}
	if diff := cmp.Diff(map[plan.NodeID]plan.Outcome{1: plan.OutcomeFailed, 2: plan.OutcomeOpen, 4: plan.OutcomeDone}, runs); diff != "" {
		t.Error(diff)
	}
	if err := e.StopPlan(ctx, out.PlanID); err != nil {
		t.Fatal(err)
	}
	enginetest.Until(t, e, out.PlanID, "stopped", func(s *plan.Snapshot) bool { return len(s.Active()) == 0 })
	if got := titles(t, e); len(got) != 0 {
		t.Errorf("after a stop %v is needed", got)
	}
}

// titles are the steps in the inbox with their states.
func titles(t *testing.T, e *engine.Engine) map[string]plan.State {
	t.Helper()
	in, err := e.Inbox(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]plan.State{}
	for _, s := range in.Steps {
		if s.PlanTitle != "Whole" {
			t.Errorf("%s is of the plan %q", s.Title, s.PlanTitle)
		}
		got[s.Title] = s.State
	}
	return got
}
