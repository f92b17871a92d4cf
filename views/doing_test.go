package views

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestWhatAStepIsDoing(t *testing.T) {
	for name, c := range map[string]struct {
		ref  plan.Ref
		edit func(n *plan.Node)
		want Line
	}{
		"an agent works":         {plan.Ref{Plan: 1, Node: 2}, nil, Line{Text: "claude", Since: 1200}},
		"through a subplan":      {plan.Ref{Plan: 1, Node: 3}, nil, Line{Text: "1 of 2 steps done"}},
		"waits for files":        {plan.Ref{Plan: 1, Node: 4}, nil, Line{Text: "waits for 1.2 · shares files"}},
		"waits for steps":        {plan.Ref{Plan: 1, Node: 5}, nil, Line{Text: "after 1.2 and 1 more"}},
		"waits for a person":     {plan.Ref{Plan: 1, Node: 6}, nil, Line{Text: "your turn", Since: 1300}},
		"is done":                {plan.Ref{Plan: 1, Node: 1}, nil, Line{Text: "claude", Took: "2m 10s"}},
		"is done by a person":    {plan.Ref{Plan: 1, Node: 6}, func(n *plan.Node) { n.State = plan.Done }, Line{Text: "done by you"}},
		"has nothing before it":  {plan.Ref{Plan: 1, Node: 1}, func(n *plan.Node) { n.State = plan.Pending }, Line{Text: "not started"}},
		"failed":                 {plan.Ref{Plan: 1, Node: 2}, func(n *plan.Node) { n.State, n.Error = plan.Failed, ptr("\ntests fail\nmore") }, Line{Text: "tests fail"}},
		"failed without a word":  {plan.Ref{Plan: 1, Node: 2}, func(n *plan.Node) { n.State = plan.Failed }, Line{Text: "failed"}},
		"is skipped by failure":  {plan.Ref{Plan: 1, Node: 5}, func(n *plan.Node) { n.State, n.SkippedBy, n.SkippedCause = plan.Skipped, plan.SkippedByFailure, 2 }, Line{Text: "skipped: 1.2 failed"}},
		"is skipped with a note": {plan.Ref{Plan: 1, Node: 5}, func(n *plan.Node) { n.State, n.SkippedBy, n.SkipNote = plan.Skipped, plan.SkippedByPerson, "not now" }, Line{Text: "skipped: not now"}},
		"is skipped":             {plan.Ref{Plan: 1, Node: 5}, func(n *plan.Node) { n.State, n.SkippedBy = plan.Skipped, plan.SkippedByPerson }, Line{Text: "skipped by you"}},
		"a limit":                {plan.Ref{Plan: 1, Node: 5}, func(n *plan.Node) { n.State, n.Phase, n.NotBefore = plan.Ready, plan.PhaseLimit, 5000 }, Line{Text: "limit until", At: 5000}},
		"is checked":             {plan.Ref{Plan: 1, Node: 2}, func(n *plan.Node) { n.Phase, n.PhaseSince = plan.PhaseChecking, 1250 }, Line{Text: "running checks", Since: 1250}},
		"is up next":             {plan.Ref{Plan: 1, Node: 5}, func(n *plan.Node) { n.State = plan.Ready }, Line{Text: "up next"}},
	} {
		s := newScene(tree(func(all map[string]*plan.Node) {
			if c.edit != nil {
				c.edit(all[c.ref.String()])
			}
		}))
		if diff := cmp.Diff(c.want, s.line(s.Node(c.ref))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestHoldsAreSaid(t *testing.T) {
	r := plan.Ref{Plan: 1, Node: 4}
	for phase, want := range map[plan.Phase]Line{
		plan.PhaseSlot: {Text: "waits for a free agent"}, plan.PhaseBudget: {Text: "budget is used up"}, plan.PhaseQueued: {Text: "up next"},
		plan.PhaseLimit: {Text: "again at", At: 7000},
	} {
		s := tree(func(all map[string]*plan.Node) { all["1.4"].NotBefore = 7000 })
		s.Holds[r] = plan.Hold{Phase: phase}
		c := newScene(s)
		if diff := cmp.Diff(want, c.line(c.Node(r))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", phase, diff)
		}
	}
}

func TestAnOpenQuestionIsSaid(t *testing.T) {
	s := tree(nil)
	s.Questions = []plan.Question{{ID: "q", PlanID: 1, NodeID: 2, Tool: "Bash", AskedAt: 1400}}
	c := newScene(s)
	n := c.Node(plan.Ref{Plan: 1, Node: 2})
	if got, want := c.line(n), (Line{Text: "asks to use Bash", Since: 1400}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if c.look(n) != lookYou {
		t.Errorf("it looks %v", c.look(n))
	}
}
