package views

import (
	"strings"
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
		"is tried again": {plan.Ref{Plan: 1, Node: 2}, func(n *plan.Node) { n.MaxAttempts, n.Attempts, n.AttemptsBefore = 3, 4, 3 },
			Line{Text: "claude · attempt 2 of 3", Since: 1200}},
		"is silent":  {plan.Ref{Plan: 1, Node: 2}, func(n *plan.Node) { n.StalledAt = 5000 }, Line{Text: "silent for", Since: 4100}},
		"is checked": {plan.Ref{Plan: 1, Node: 2}, func(n *plan.Node) { n.Phase, n.PhaseSince = plan.PhaseChecking, 1250 }, Line{Text: "running checks", Since: 1250}},
		"is up next": {plan.Ref{Plan: 1, Node: 5}, func(n *plan.Node) { n.State = plan.Ready }, Line{Text: "up next"}},
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
	for name, c := range map[string]struct {
		hold plan.Hold
		edit func(n *plan.Node)
		want Line
	}{
		"no slot":     {plan.Hold{Phase: plan.PhaseSlot}, nil, Line{Text: "waits for a free agent"}},
		"no budget":   {plan.Hold{Phase: plan.PhaseBudget}, nil, Line{Text: "budget used up"}},
		"in a moment": {plan.Hold{Phase: plan.PhaseQueued}, nil, Line{Text: "up next"}},
		"a limit":     {plan.Hold{Phase: plan.PhaseLimit, Until: 7000}, nil, Line{Text: "limit until", At: 7000}},
		"a limit that one run tries": {plan.Hold{Phase: plan.PhaseLimit, Reason: plan.HeldTrying}, func(n *plan.Node) { n.Phase, n.NotBefore = plan.PhaseLimit, 6000 },
			Line{Text: "trying again"}},
		"a limit without end": {plan.Hold{Phase: plan.PhaseLimit}, nil, Line{Text: "waits for a limit"}},
		"a limit of its own that is over": {plan.Hold{Phase: plan.PhaseSlot}, func(n *plan.Node) { n.Phase, n.NotBefore = plan.PhaseLimit, 6000 },
			Line{Text: "waits for a free agent"}},
		"another attempt": {plan.Hold{Phase: plan.PhaseQueued, Until: 7000}, func(n *plan.Node) { n.Attempts, n.MaxAttempts = 1, 3 },
			Line{Text: "again at", At: 7000, Then: "(attempt 2 of 3)"}},
		"after an interruption": {plan.Hold{Phase: plan.PhaseQueued, Until: 7000}, func(n *plan.Node) { n.Interruptions = 1 },
			Line{Text: "again at", At: 7000, Then: "(it was interrupted)"}},
	} {
		s := tree(func(all map[string]*plan.Node) {
			if c.edit != nil {
				c.edit(all["1.4"])
			}
		})
		s.Holds[r] = c.hold
		sc := newScene(s)
		if diff := cmp.Diff(c.want, sc.line(sc.Node(r))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnAgentThatSeemsToHangIsShown(t *testing.T) {
	s := tree(func(all map[string]*plan.Node) { all["1.2"].StalledAt = 5000 })
	p := planPage(s, Place{Plan: 1})
	if len(p.Stalled) != 1 || p.Stalled[0].Ref != "1.2" || len(p.Working) != 1 || p.Working[0].Look != lookStalled {
		t.Errorf("waiting %+v, working %+v", p.Stalled, p.Working)
	}
	out := render(t, PlanView(p))
	for _, want := range []string{`class="card s-stalled"`, `data-testid="stalled"`, "stop it or wait", `action="/plans/1/nodes/2/stop"`} {
		if !strings.Contains(out, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if out := render(t, DrawerView(drawerOf(s, 2))); !strings.Contains(out, `data-testid="stall-box"`) {
		t.Error("the drawer says nothing of it")
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
