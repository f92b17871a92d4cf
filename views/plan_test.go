package views

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views/graph"
)

func planPage(s *plan.Snapshot, at Place) *PlanPage {
	return NewPlanPage(PlanInput{Snapshot: s, Place: at, WorkDir: "/src/importer", Layout: graph.Arrange(GraphInput(s, at.Plan, nil))})
}

func TestOnlyWhatCanBeDoneIsOffered(t *testing.T) {
	all := func(state plan.State) func(map[string]*plan.Node) {
		return func(nodes map[string]*plan.Node) {
			for _, n := range nodes {
				n.State, n.Phase, n.AgentKind, n.AgentDone = state, "", "", false
			}
		}
	}
	for name, c := range map[string]struct {
		edit    func(map[string]*plan.Node)
		started bool
		want    Controls
	}{
		"running":     {nil, true, Controls{Stop: true, Reset: true, Delete: true, Running: 1}},
		"never begun": {all(plan.Pending), false, Controls{Start: true, Delete: true}},
		"stopped":     {func(n map[string]*plan.Node) { all(plan.Pending)(n); n["1.1"].State = plan.Done }, false, Controls{Start: true, Reset: true, Delete: true}},
		"failed":      {func(n map[string]*plan.Node) { all(plan.Done)(n); n["1.2"].State = plan.Failed }, true, Controls{Retry: true, Reset: true, Delete: true, Failed: 1}},
		"done":        {all(plan.Done), true, Controls{Reset: true, Delete: true}},
	} {
		s := tree(c.edit)
		s.Root().Started = c.started
		if diff := cmp.Diff(c.want, planPage(s, Place{Plan: 1}).Controls); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAPlanThatWaitsForApprovalCannotBeStarted(t *testing.T) {
	s := tree(func(n map[string]*plan.Node) {
		for _, x := range n {
			x.State = plan.Pending
		}
	})
	s.Root().Started, s.Root().Approval = false, plan.Awaiting
	if planPage(s, Place{Plan: 1}).Controls.Start {
		t.Error("it is offered to be started")
	}
}

func TestWhoWorksAndWhoWaits(t *testing.T) {
	s := tree(nil)
	s.Questions = []plan.Question{{ID: "q", PlanID: 2, NodeID: 2, Tool: "Bash", Input: []byte(`{"command":"ls"}`)}}
	p := planPage(s, Place{Plan: 2, View: ViewList})
	if len(p.Working) != 1 || p.Working[0].URL != "/plans/1/nodes/2?view=list" {
		t.Errorf("working: %+v", p.Working)
	}
	if len(p.Waiting) != 1 || p.Waiting[0].Ref != "1.6" {
		t.Errorf("waiting: %+v", p.Waiting)
	}
	if len(p.Asking) != 1 || p.Asking[0].Key != "ls" || p.Asking[0].Ref != "2.2" {
		t.Errorf("asking: %+v", p.Asking)
	}
}

func TestTheWayToASubplan(t *testing.T) {
	got := planPage(tree(nil), Place{Plan: 2, View: ViewList}).Crumbs
	want := []Crumb{{URL: "/plans/1?view=list", Title: "Whole"}, {URL: "/plans/2?view=list", Title: "Part", Ref: "1.3"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestInheritedAgentIsNamed(t *testing.T) {
	s := tree(nil)
	if got, want := planPage(s, Place{Plan: 2}).Settings.Inherits, "claude, the server's default"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Plan(1).DefaultProfile = 2
	if got, want := planPage(s, Place{Plan: 2}).Settings.Inherits, "cheap, from plan 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := planPage(s, Place{Plan: 1}).Settings.Agent; got != "cheap" {
		t.Errorf("the plan's own agent is %q", got)
	}
}

func TestBars(t *testing.T) {
	b := Bar{Done: 1, Running: 2, Failed: 1, Total: 8}
	want := []segment{{"done", 0, 12.5}, {"running", 12.5, 25}, {"failed", 37.5, 12.5}}
	if diff := cmp.Diff(want, b.segments(), cmp.AllowUnexported(segment{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, want := b.Words(), "1 of 8 steps done, 2 running, 1 failed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (Bar{}).segments(); got != nil {
		t.Errorf("an empty bar has %v", got)
	}
}

func TestAddresses(t *testing.T) {
	r := plan.Ref{Plan: 3, Node: 2}
	for got, want := range map[string]string{
		(Place{Plan: 3}).URL():                                 "/plans/3",
		(Place{Plan: 3, View: ViewList}).URL():                 "/plans/3?view=list",
		(Place{Plan: 3}).Node(r):                               "/plans/3/nodes/2",
		(Place{Plan: 3, Tab: TabTask}).Node(r):                 "/plans/3/nodes/2",
		(Place{Plan: 3, View: "list", Tab: "session"}).Node(r): "/plans/3/nodes/2?view=list&tab=session",
		fullURL(r, Place{Tab: "session"}):                      "/plans/3/nodes/2/full?tab=session",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
