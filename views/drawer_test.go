package views

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func drawerOf(s *plan.Snapshot, node plan.NodeID) *Drawer {
	return NewDrawer(DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: node}, Place: Place{Plan: 1}})
}

func TestOnlyWhatCanBeDoneWithAStepIsOffered(t *testing.T) {
	for name, c := range map[string]struct {
		node plan.Node
		want NodeActions
	}{
		"pending":         {plan.Node{State: plan.Pending}, NodeActions{MarkDone: true}},
		"ready":           {plan.Node{State: plan.Ready}, NodeActions{MarkDone: true}},
		"running":         {plan.Node{State: plan.Running, Phase: plan.PhaseWorking}, NodeActions{MarkDone: true, Stop: true}},
		"in its subplan":  {plan.Node{State: plan.Running, Phase: plan.PhaseSubplan}, NodeActions{}},
		"failed":          {plan.Node{State: plan.Failed}, NodeActions{MarkDone: true, Retry: true}},
		"done":            {plan.Node{State: plan.Done}, NodeActions{}},
		"a person's turn": {plan.Node{State: plan.Ready, Kind: plan.KindUser}, NodeActions{MarkDone: true, Stop: true}},
	} {
		if diff := cmp.Diff(c.want, actionsOf(&c.node)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFilesNameWhoSharesThem(t *testing.T) {
	files := drawerOf(tree(nil), 2).Task.Files
	if len(files) != 1 || len(files[0].Shared) != 1 || files[0].Shared[0].Ref != "1.4" {
		t.Errorf("got %+v", files)
	}
}

func TestResultsWithoutAPathAreMarked(t *testing.T) {
	got := map[string]bool{}
	for _, r := range drawerOf(tree(nil), 2).Task.Results {
		got[r.Ref] = r.NoPath
	}
	if diff := cmp.Diff(map[string]bool{"1.1": false, "1.4": true}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhereAnAgentComesFrom(t *testing.T) {
	s := tree(func(n map[string]*plan.Node) { n["1.4"].Profile = 2 })
	if a := drawerOf(s, 4).Task.Agent; a.Name != "cheap" || a.Source != "set on this step" || a.CapabilitySource != "set on the agent" {
		t.Errorf("got %+v", a)
	}
	if a := drawerOf(s, 5).Task.Agent; a.Name != "claude" || a.Source != "the server's default" {
		t.Errorf("got %+v", a)
	}
	s.Plan(1).DefaultProfile = 2
	if a := drawerOf(s, 5).Task.Agent; a.Name != "cheap" || a.Source != "this plan's default" {
		t.Errorf("got %+v", a)
	}
	inside := NewDrawer(DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 2, Node: 1}, Place: Place{Plan: 2}})
	if a := inside.Task.Agent; a.Source != "inherited from plan 1" {
		t.Errorf("got %+v", a)
	}
	if a := drawerOf(s, 6).Task.Agent; !a.Person {
		t.Errorf("a person's step has %+v", a)
	}
}

func TestNeighboursOfTheFullPage(t *testing.T) {
	d := drawerOf(tree(nil), 1)
	if d.Previous != "" || d.Next != "/plans/1/nodes/2/full" {
		t.Errorf("got %q and %q", d.Previous, d.Next)
	}
	if d := drawerOf(tree(nil), 6); d.Next != "" || d.Previous != "/plans/1/nodes/5/full" {
		t.Errorf("got %q and %q", d.Previous, d.Next)
	}
}
