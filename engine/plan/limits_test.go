package plan

import "testing"

func limit(p ProfileID, until Stamp) *Facts {
	return &Facts{Limits: []Limit{{Profile: p, Until: until}}}
}

func TestALimitHoldsBackItsProfileAlone(t *testing.T) {
	s := newStage(t, Limits{DefaultProfile: 7})
	s.plan(1, "")
	s.ready("1.1")
	s.ready("1.2")
	s.set("1.3", func(n *NodeFacts) { n.State, n.Profile = Ready, 8 })
	s.b.Apply(limit(7, 100))
	s.wantHeld("1.1", Hold{Phase: PhaseLimit, Until: 100})
	s.wantStart("the other profile goes on", "1.3")
	s.wantStart("and nothing else")
	if got := s.b.NextWake(); got != 100 {
		t.Errorf("next wake at %v, want 100", got)
	}
}

func TestOneRunTriesWhetherALimitIsOver(t *testing.T) {
	s := newStage(t, Limits{DefaultProfile: 7})
	s.plan(1, "")
	for _, name := range []string{"1.1", "1.2", "1.3"} {
		s.ready(name)
	}
	s.b.Apply(limit(7, 100))
	if s.b.LimitOver(7, 99) || !s.b.LimitOver(7, 100) || s.b.LimitOver(8, 100) {
		t.Error("a limit's time is up at its moment, of its profile alone")
	}
	s.b.Advance(100)
	s.wantStart("the lowest tries", "1.1")
	s.wantHeld("1.2", Hold{Phase: PhaseLimit, Reason: HeldTrying})

	s.set("1.1", func(n *NodeFacts) { n.State, n.Phase, n.AgentKind, n.NotBefore = Ready, PhaseLimit, "", 200 })
	s.b.Apply(limit(7, 200))
	s.wantStart("refused once more: all wait on")
	s.b.Advance(200)
	s.wantStart("one tries again", "1.1")
	s.b.Apply(limit(7, 0))
	s.wantStart("it was let in, and the others follow", "1.2", "1.3")
}

func TestWhoTriedAndEndedOtherwiseLetsTheNextTry(t *testing.T) {
	s := newStage(t, Limits{DefaultProfile: 7})
	s.plan(1, "")
	s.ready("1.1")
	s.ready("1.2")
	s.b.Apply(limit(7, 100))
	s.b.Advance(100)
	s.wantStart("the lowest tries", "1.1")
	s.end("1.1", Failed)
	s.wantStart("then the next", "1.2")
}

func TestARunThatWasReattachedCountsAsTheOneThatTries(t *testing.T) {
	s := newStage(t, Limits{DefaultProfile: 7})
	s.b.Advance(100)
	s.b.Apply(limit(7, 90))
	s.plan(1, "")
	s.set("1.1", func(n *NodeFacts) { n.State, n.Phase, n.AgentKind = Running, PhaseWorking, string(Builtin) })
	s.ready("1.2")
	s.wantHeld("1.2", Hold{Phase: PhaseLimit, Reason: HeldTrying})
}

func TestNothingStartsOverBudget(t *testing.T) {
	over := func(f *PlanFacts) { f.OverBudget = true }
	s := newStage(t, Limits{})
	s.plan(1, "", over)
	s.ready("1.1")
	s.wantHeld("1.1", Hold{Phase: PhaseBudget})
	s.wantStart("nothing")
	s.plan(1, "")
	s.wantStart("once the budget is raised", "1.1")

	s.plan(2, "", over, func(f *PlanFacts) { f.Executor = External })
	s.ready("2.1")
	if r, ok := s.b.Claim(0); ok {
		t.Errorf("%s was claimed over budget", r)
	}
}
