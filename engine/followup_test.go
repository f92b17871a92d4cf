package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

func TestAFindingBecomesAStepThatRuns(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{"mock": enginetest.Done}))
	in := spec(t, "a b:a wait")
	in.Nodes[0].Files, in.Nodes[0].Agent, in.Nodes[2].Kind = []string{"a.go", "docs/"}, "mock", "user"
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "b is done", func(s *plan.Snapshot) bool { return s.Node(ref(id, 2)).State == plan.Done })
	finding := "**a.go:12** the error is dropped\n  so a caller never knows"
	made, err := e.FollowUp(bg, engine.FollowUpIn{PlanID: id, NodeID: 1, Finding: finding})
	must(t, err)
	s := enginetest.Until(t, e, id, "the new step is done", func(s *plan.Snapshot) bool { return s.Node(made).State == plan.Done })
	n := s.Node(made)
	if n.Title != "Put right: a.go:12 the error is dropped" || !strings.Contains(n.Description, finding) {
		t.Errorf("title %q, description %q", n.Title, n.Description)
	}
	var files []string
	for _, f := range n.Files {
		files = append(files, f.Path)
	}
	if diff := cmp.Diff([]string{"a.go", "docs/"}, files); diff != "" || n.Profile != s.Node(ref(id, 1)).Profile {
		t.Errorf("profile %d; files (-want +got):\n%s", n.Profile, diff)
	}
	if diff := cmp.Diff([]plan.NodeID{1}, s.Graph(id).Prerequisites(made.Node)); diff != "" || len(n.ResultsFrom) != 1 {
		t.Errorf("results from %v; it comes after (-want +got):\n%s", n.ResultsFrom, diff)
	}
}

func TestAllThatAReviewFoundBecomesAStep(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if task.Kind == "review" {
			return plugin.Result{Text: "VERDICT: concerns\nSUMMARY: nearly\nFINDINGS:\n- one\n- two"}, nil
		}
		return enginetest.Done(ctx, task, h)
	}}))
	id := finished(t, e, spec(t, "a"))
	_, err := e.FollowUp(bg, engine.FollowUpIn{PlanID: id, NodeID: 1})
	refused(t, err, plan.Invalid, "no review")
	_, err = e.Review(bg, ref(id, 1), "mock")
	must(t, err)
	made, err := e.FollowUp(bg, engine.FollowUpIn{PlanID: id, NodeID: 1, Title: "Mend it"})
	must(t, err)
	s, err := e.Snapshot(bg, id)
	must(t, err)
	if n := s.Node(made); n.Title != "Mend it" || !strings.Contains(n.Description, "- two") {
		t.Errorf("title %q, description %q", n.Title, n.Description)
	}
}

func TestOnlyFinishedStepsAreFollowedUp(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := submit(t, e, spec(t, "a"))
	for name, c := range map[string]struct {
		in   engine.FollowUpIn
		kind plan.ErrorKind
		word string
	}{
		"pending":  {engine.FollowUpIn{PlanID: id, NodeID: 1, Finding: "x"}, plan.Invalid, "only a finished step"},
		"no step":  {engine.FollowUpIn{PlanID: id, NodeID: 9, Finding: "x"}, plan.NotFound, "9"},
		"bad text": {engine.FollowUpIn{PlanID: id, NodeID: 1, Finding: "x\x00"}, plan.Invalid, "NUL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.FollowUp(bg, c.in)
			refused(t, err, c.kind, c.word)
		})
	}
	worker := plan.WithActor(bg, plan.Actor{Role: plan.Worker, Ref: ref(id, 1)})
	_, err := e.FollowUp(worker, engine.FollowUpIn{PlanID: id, NodeID: 1, Finding: "x"})
	refused(t, err, plan.Denied, "")
}
