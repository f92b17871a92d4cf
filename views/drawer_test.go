package views

import (
	"strings"
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
		"pending":         {plan.Node{State: plan.Pending}, NodeActions{MarkDone: true, Skip: true}},
		"ready":           {plan.Node{State: plan.Ready}, NodeActions{MarkDone: true, Skip: true}},
		"running":         {plan.Node{State: plan.Running, Phase: plan.PhaseWorking}, NodeActions{MarkDone: true, Stop: true}},
		"in its subplan":  {plan.Node{State: plan.Running, Phase: plan.PhaseSubplan}, NodeActions{}},
		"failed":          {plan.Node{State: plan.Failed}, NodeActions{MarkDone: true, Retry: true, Rework: true}},
		"done":            {plan.Node{State: plan.Done}, NodeActions{Rework: true}},
		"a person's turn": {plan.Node{State: plan.Ready, Kind: plan.KindUser}, NodeActions{MarkDone: true, Stop: true, Skip: true}},
		"a whole subplan": {plan.Node{State: plan.Done, Subplan: 2}, NodeActions{}},
		"one to come":     {plan.Node{State: plan.Pending, Subplan: 2}, NodeActions{MarkDone: true}},
		"left out":        {plan.Node{State: plan.Skipped, SkippedBy: plan.SkippedByPerson}, NodeActions{MarkDone: true, Unskip: true}},
		"out by failure":  {plan.Node{State: plan.Skipped, SkippedBy: plan.SkippedByFailure}, NodeActions{MarkDone: true}},
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

func TestReworkBeginsWithTheBriefAndSaysWhatItLeaves(t *testing.T) {
	s := tree(func(n map[string]*plan.Node) { n["1.1"].ReworkBrief = ptr("use the other parser") })
	d := drawerOf(s, 1)
	if d.Brief != "use the other parser" || len(d.Started) != 2 || d.Started[0].Ref != "1.2" || d.Started[1].Ref != "1.3" {
		t.Errorf("got %q and %+v", d.Brief, d.Started)
	}
	out := render(t, DrawerView(d))
	for _, want := range []string{`data-testid="rework-form"`, `data-testid="started"`, `data-testid="brief"`, ">use the other parser</textarea>"} {
		if !strings.Contains(out, want) {
			t.Errorf("the drawer has no %s", want)
		}
	}
	if out := render(t, DrawerView(drawerOf(tree(nil), 5))); strings.Contains(out, "rework") {
		t.Error("a step that has not run can be reworked")
	}
}

func TestWhoSkippedAStepAndWhy(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(n *plan.Node)
		want []string
	}{
		"a person":               {func(n *plan.Node) { n.SkippedBy, n.SkipNote = plan.SkippedByPerson, "not\nnow" }, []string{"Skipped by a person", "not\nnow", `data-testid="unskip"`}},
		"without a word":         {func(n *plan.Node) { n.SkippedBy = plan.SkippedByPerson }, []string{"No reason was given"}},
		"a failure":              {func(n *plan.Node) { n.SkippedBy, n.SkippedCause = plan.SkippedByFailure, 2 }, []string{"because a step failed", "Second"}},
		"a failure that is gone": {func(n *plan.Node) { n.SkippedBy, n.SkippedCause = plan.SkippedByFailure, 77 }, []string{"because a step failed"}},
	} {
		s := tree(func(n map[string]*plan.Node) {
			n["1.5"].State = plan.Skipped
			c.edit(n["1.5"])
		})
		out := render(t, DrawerView(drawerOf(s, 5)))
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the drawer does not say %q", name, want)
			}
		}
	}
}

func TestAttemptsAreCounted(t *testing.T) {
	for want, n := range map[string]plan.Node{
		"":                 {Attempts: 1},
		"2":                {Attempts: 2, AttemptsBefore: 1},
		"up to 3":          {MaxAttempts: 3},
		"1 of 3":           {MaxAttempts: 3, Attempts: 1},
		"1 of 3; 4 in all": {MaxAttempts: 3, Attempts: 4, AttemptsBefore: 3},
	} {
		if got := newScene(tree(nil)).attempts(&n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	s := newScene(tree(nil))
	s.Root().MaxAttempts = 5
	if got := s.attempts(&plan.Node{Attempts: 2}); got != "2 of 5" {
		t.Errorf("by the plan: %q", got)
	}
}
