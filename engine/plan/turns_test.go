package plan

import (
	"fmt"
	"slices"
	"testing"
)

func TestStartedPlansTakeTurns(t *testing.T) {
	s := newStage(t, Limits{MaxConcurrency: 1})
	for p := range PlanID(2) {
		s.plan(p+1, "")
		s.ready(fmt.Sprintf("%d.1", p+1))
		s.ready(fmt.Sprintf("%d.2", p+1))
	}
	if got, want := s.drain(), []string{"1.1", "2.1", "1.2", "2.2"}; !slices.Equal(got, want) {
		t.Errorf("started in order %v, want %v", got, want)
	}
}

func TestLowestNumberOfATreeGoesFirst(t *testing.T) {
	s := newStage(t, Limits{MaxConcurrency: 1})
	s.plan(1, "")
	s.ready("1.2")
	s.plan(2, "1.2")
	for _, n := range []string{"2.10", "2.9", "1.11", "1.3"} {
		s.ready(n)
	}
	if got, want := s.drain(), []string{"1.3", "1.11", "2.9", "2.10"}; !slices.Equal(got, want) {
		t.Errorf("started in order %v, want %v", got, want)
	}
}

func TestLimits(t *testing.T) {
	t.Run("the server's", func(t *testing.T) {
		s := newStage(t, Limits{MaxConcurrency: 2})
		s.plan(1, "")
		s.plan(2, "")
		s.ready("1.1")
		s.ready("1.2")
		s.ready("2.1")
		s.wantStart("two of three", "1.1", "2.1")
		s.wantHeld("1.2", Hold{Phase: PhaseSlot})
		s.end("2.1", Failed)
		s.wantStart("when one ends", "1.2")
	})
	t.Run("none set means none", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		for i := range 9 {
			s.ready(fmt.Sprintf("1.%d", i+1))
		}
		if got := s.start(); len(got) != 9 {
			t.Errorf("%d started, want all 9", len(got))
		}
	})
	t.Run("a profile's, by whichever way it was chosen", func(t *testing.T) {
		s := newStage(t, Limits{DefaultProfile: 7}, Profile{ID: 7, MaxParallel: 2}, Profile{ID: 8})
		s.plan(1, "")
		s.plan(2, "", func(p *PlanFacts) { p.Profile = 7 })
		for _, n := range []string{"1.1", "2.1", "2.2", "1.2"} {
			s.ready(n)
		}
		s.set("1.2", func(n *NodeFacts) { n.Profile = 8 })
		s.wantStart("two of profile 7 and the other", "1.1", "2.1", "1.2")
		s.wantHeld("2.2", Hold{Phase: PhaseSlot})
	})
	t.Run("the tree's, with its subplans", func(t *testing.T) {
		s := newStage(t, Limits{MaxConcurrency: 9})
		s.plan(1, "", func(p *PlanFacts) { p.MaxParallel = 2 })
		s.ready("1.1")
		s.plan(2, "1.1")
		for _, n := range []string{"2.1", "2.2", "2.3", "1.2"} {
			s.ready(n)
		}
		s.wantStart("two in the whole tree; the container counts for nothing", "1.2", "2.1")
		s.wantHeld("2.2", Hold{Phase: PhaseSlot})
		s.plan(1, "", func(p *PlanFacts) { p.MaxParallel = 3 })
		s.wantStart("when the limit is raised", "2.2")
		s.plan(1, "")
		s.wantStart("when it is taken away", "2.3")
	})
	t.Run("a step that waits for its verdict needs no slot", func(t *testing.T) {
		s := newStage(t, Limits{MaxConcurrency: 1})
		s.plan(1, "")
		s.ready("1.1", "x")
		s.ready("1.2", "y")
		s.ready("1.3", "x")
		s.wantStart("one", "1.1")
		s.set("1.1", func(n *NodeFacts) { n.Phase = PhaseReviewing })
		s.wantStart("its slot is free, its files are not", "1.2")
		s.wantHeld("1.3", Hold{Phase: PhaseFiles, By: Ref{1, 1}, Reason: HeldRunning})
	})
}

func TestTurnsForFiles(t *testing.T) {
	t.Run("lowest first, one after the other", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		s.ready("1.3", "src/a")
		s.ready("1.2", "src")
		s.ready("1.1", "src/a/b")
		s.wantHeld("1.2", Hold{Phase: PhaseFiles, By: Ref{1, 1}, Reason: HeldTurn})
		s.wantStart("the lowest", "1.1")
		s.wantHeld("1.3", Hold{Phase: PhaseFiles, By: Ref{1, 1}, Reason: HeldRunning})
		s.end("1.1", Done)
		s.wantStart("the next", "1.2")
		s.end("1.2", Done)
		s.wantStart("the last", "1.3")
	})
	t.Run("who waits for a profile keeps its turn", func(t *testing.T) {
		s := newStage(t, Limits{DefaultProfile: 8}, Profile{ID: 7, MaxParallel: 1})
		s.plan(1, "")
		s.set("1.1", func(n *NodeFacts) { n.Profile = 7 })
		s.wantStart("the profile's one slot", "1.1")
		s.set("1.2", func(n *NodeFacts) { n.Profile, n.Keys = 7, []string{"x"} })
		s.ready("1.3", "x")
		s.ready("1.4", "y")
		s.wantStart("the higher one does not overtake, one without conflict does", "1.4")
		s.wantHeld("1.2", Hold{Phase: PhaseSlot})
		s.wantHeld("1.3", Hold{Phase: PhaseFiles, By: Ref{1, 2}, Reason: HeldTurn})
		s.end("1.1", Done)
		s.wantStart("the lower one", "1.2")
	})
	t.Run("who waits for a limit does not", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		s.set("1.1", func(n *NodeFacts) { n.Phase, n.NotBefore, n.Keys = PhaseLimit, 100, []string{"x"} })
		s.ready("1.2", "x")
		s.wantHeld("1.1", Hold{Phase: PhaseLimit, Until: 100})
		s.wantStart("the higher one overtakes", "1.2")
		if got := s.b.NextWake(); got != 100 {
			t.Errorf("next wake at %v, want 100", got)
		}
		s.b.Advance(99)
		s.wantHeld("1.1", Hold{Phase: PhaseLimit, Until: 100})
		s.b.Advance(100)
		s.wantHeld("1.1", Hold{Phase: PhaseFiles, By: Ref{1, 2}, Reason: HeldRunning})
		s.end("1.2", Done)
		s.wantStart("at its time", "1.1")
		if got := s.b.NextWake(); got != 0 {
			t.Errorf("next wake at %v, want never", got)
		}
	})
	t.Run("a root plan's node before a subplan's", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		s.ready("1.1")
		s.plan(2, "1.1")
		s.ready("2.1", "x")
		s.ready("1.9", "x")
		s.wantStart("the root's", "1.9")
		s.wantHeld("2.1", Hold{Phase: PhaseFiles, By: Ref{1, 9}, Reason: HeldRunning})
	})
	t.Run("trees do not share files", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		s.plan(2, "")
		s.ready("1.1", "x")
		s.ready("2.1", "x")
		s.wantStart("both", "1.1", "2.1")
	})
	t.Run("user steps neither hold files nor wait for them", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		s.set("1.1", func(n *NodeFacts) { n.Kind, n.Keys = KindUser, []string{"x"} })
		s.ready("1.2", "x")
		s.wantHeld("1.1", Hold{Phase: PhasePerson})
		s.wantStart("the agent's step alone", "1.2")
		s.wantHeld("1.1", Hold{Phase: PhasePerson})
		s.end("1.2", Done)
		s.set("1.1", func(n *NodeFacts) { n.Kind = KindAgent })
		s.wantStart("a user step that is turned back to agent", "1.1")
	})
}

func TestContainers(t *testing.T) {
	t.Run("hold their files while their own agent works", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		s.ready("1.1", "x")
		s.wantStart("the container's agent", "1.1")
		s.ready("1.2", "x")
		s.wantStart("nothing beside it")
		s.plan(2, "1.1") // its agent has ended and left a subplan
		s.ready("2.1", "x")
		s.wantStart("not any more", "1.2")
		s.end("1.2", Done)
		s.wantStart("the subplan after the lower one", "2.1")
	})
	t.Run("let their subplan wait until their own agent has ended", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		s.ready("1.1")
		s.wantStart("the agent", "1.1")
		s.b.Apply(&Facts{Plans: []PlanFacts{{ID: 2, Root: 1, ParentPlan: 1, ParentNode: 1, Started: true, Executor: Builtin}}})
		s.set("1.1", func(n *NodeFacts) { n.Subplan = 2 })
		s.ready("2.1")
		s.wantStart("nothing of the subplan")
		s.set("1.1", func(n *NodeFacts) { n.Phase = PhaseSubplan })
		s.wantStart("the subplan", "2.1")
	})
	t.Run("that failed let what is ready in them block nobody", func(t *testing.T) {
		s := newStage(t, Limits{})
		s.plan(1, "")
		s.ready("1.1")
		s.plan(2, "1.1")
		s.ready("2.1")
		s.plan(3, "2.1")
		s.ready("3.1", "x")
		s.end("1.1", Failed)
		s.ready("1.2", "x")
		s.ready("1.3", "x")
		s.wantStart("the root's", "1.2")
		s.wantHeld("3.1", Hold{Phase: PhaseQueued})
		s.wantHeld("1.3", Hold{Phase: PhaseFiles, By: Ref{1, 2}, Reason: HeldRunning})
		s.end("1.2", Done)
		s.wantStart("the root's next", "1.3")
		s.end("1.3", Done)
		s.set("1.1", func(n *NodeFacts) { n.State, n.Phase = Running, PhaseSubplan })
		s.wantStart("what was ready inside, after a retry", "3.1")
	})
}

func TestStoppedAndUnapprovedPlans(t *testing.T) {
	s := newStage(t, Limits{})
	s.plan(1, "", func(p *PlanFacts) { p.Approval = Awaiting })
	s.ready("1.1")
	s.wantStart("nothing before the approval")
	s.plan(1, "", func(p *PlanFacts) { p.Approval = Approved })
	s.wantStart("all after it", "1.1")
	s.ready("1.2")
	s.plan(1, "", func(p *PlanFacts) { p.Started = false })
	s.wantStart("nothing once it is stopped")
	s.wantHeld("1.2", Hold{})
	s.end("1.1", Pending)
	if len(s.b.nodes)+len(s.b.trees)+len(s.b.waiters)+len(s.b.plans)+s.b.slots != 0 {
		t.Errorf("the board remembers a stopped plan: %+v", s.b)
	}
}

func TestReturnedNodeStartsAgain(t *testing.T) {
	s := newStage(t, Limits{MaxConcurrency: 1})
	s.plan(1, "")
	s.ready("1.1", "x")
	s.ready("1.2", "x")
	r, ok := s.b.Next()
	if !ok || r != (Ref{1, 1}) {
		t.Fatalf("given out: %s, %v", r, ok)
	}
	s.wantHeld("1.2", Hold{Phase: PhaseFiles, By: Ref{1, 1}, Reason: HeldRunning})
	s.b.Return(r)
	s.wantHeld("1.2", Hold{Phase: PhaseFiles, By: Ref{1, 1}, Reason: HeldTurn})
	s.wantStart("the same again", "1.1")
	s.b.Return(r) // it is running: nothing to give back
	s.wantHeld("1.2", Hold{Phase: PhaseFiles, By: Ref{1, 1}, Reason: HeldRunning})
}

func TestNodeEditedWhileItIsGivenOutStaysGivenOut(t *testing.T) {
	s := newStage(t, Limits{})
	s.plan(1, "")
	s.ready("1.1", "x")
	s.ready("1.2", "y")
	if r, _ := s.b.Next(); r != (Ref{1, 1}) {
		t.Fatalf("given out: %s", r)
	}
	s.set("1.1", func(n *NodeFacts) { n.Keys = []string{"y"} }) // a person edits its files, it is ready in the database
	s.wantHeld("1.2", Hold{Phase: PhaseFiles, By: Ref{1, 1}, Reason: HeldRunning})
	s.wantStart("nothing twice")
	s.b.Return(Ref{1, 1})
	s.wantStart("with its new files", "1.1")
}

func TestDeletedSubplanLetsOthersGo(t *testing.T) {
	s := newStage(t, Limits{})
	s.plan(1, "")
	s.ready("1.1")
	s.plan(2, "1.1")
	s.ready("2.1")
	s.plan(3, "2.1")
	s.ready("3.1", "x")
	s.wantStart("the nested step", "3.1")
	s.ready("3.2", "y", "x")
	s.plan(4, "3.2")
	s.b.Apply(&Facts{Nodes: []NodeFacts{{PlanID: 9, ID: 1, State: Ready}}}) // of a plan that is not started
	s.b.Apply(&Facts{Plans: []PlanFacts{{ID: 2, Root: 1, ParentPlan: 1, ParentNode: 1, Deleted: true}},
		Nodes: []NodeFacts{{PlanID: 1, ID: 1, Deleted: true}}})
	s.b.Apply(nil)
	if len(s.b.plans) != 1 || len(s.b.nodes) != 0 || s.b.slots != 0 {
		t.Errorf("the board remembers what was deleted: %+v", s.b)
	}
	s.ready("1.2", "x")
	s.wantStart("one that shares a file", "1.2")
}

func TestClaims(t *testing.T) {
	outside := func(p *PlanFacts) { p.Executor = External }
	s := newStage(t, Limits{MaxConcurrency: 1})
	s.plan(1, "", outside)
	s.plan(3, "", outside)
	s.plan(5, "")
	s.plan(6, "", outside, func(p *PlanFacts) { p.Approval = Awaiting })
	s.ready("1.1")
	s.plan(2, "1.1")
	for _, n := range []string{"2.7", "3.1", "5.1", "6.1"} {
		s.ready(n)
	}
	s.ready("1.4", "x")
	s.ready("1.5", "x")
	s.set("1.3", func(n *NodeFacts) { n.Kind = KindUser })
	claim := func(within PlanID, want string) {
		t.Helper()
		r, ok := s.b.Claim(within)
		if ok != (want != "") || ok && r.String() != want {
			t.Errorf("claim within plan %d: got %s, %v; want %q", within, r, ok, want)
		}
		if ok {
			s.set(want, func(n *NodeFacts) { n.State, n.Phase, n.AgentKind = Running, PhaseWorking, string(External) })
		}
	}
	claim(2, "2.7")
	claim(2, "")
	claim(0, "1.4") // limits on concurrent agents are not for claims
	claim(1, "")    // 1.5 is held by its file, 1.3 is a person's
	claim(0, "3.1")
	claim(0, "") // 5.1 is not for claims, 6.1 is not approved
	s.wantStart("claims take no slot from built-in agents", "5.1")
	s.end("1.4", Done)
	claim(1, "1.5")
}
