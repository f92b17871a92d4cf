package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// mixed makes a started plan with steps in all states: 1 done, 2 running,
// 3 failed, 4 ready, 5 pending after 4 and with its result, 6 pending after 5,
// 7 skipped, 8 a person's, 9 pending after 5 with the subplan that is returned.
func mixed(t *testing.T, e *engine.Engine) (id, sub plan.PlanID) {
	t.Helper()
	ctx := context.Background()
	in := spec(t, "done running failed ready after:ready last:after skipped yours box:after")
	in.Nodes[4].ResultsFrom = []string{"ready"}
	in.Nodes[7].Kind = "user"
	id = submit(t, e, in)
	inner := spec(t, "x y:x")
	inner.WorkingDirectory, inner.ParentPlanID, inner.ParentNodeID = "", id, 9
	sub = submit(t, e, inner)
	must(t, e.StartPlan(ctx, id, plan.External))
	for range 3 {
		c, err := e.Claim(ctx, "tester", id)
		must(t, err)
		switch c.NodeID {
		case 1:
			must(t, e.Complete(ctx, engine.CompleteIn{Ref: ref(id, 1), Result: "ok"}))
		case 3:
			must(t, e.FailClaimed(ctx, ref(id, 3), 0, "no"))
		}
	}
	must(t, e.SkipNode(ctx, ref(id, 7), "not needed"))
	return id, sub
}

func TestEditsHaveDefinedAnswers(t *testing.T) {
	edge := func(from, to int) func(*engine.Engine, plan.PlanID) error {
		return func(e *engine.Engine, id plan.PlanID) error {
			return e.AddEdge(context.Background(), engine.EdgeIn{PlanID: id, From: plan.NodeID(from), To: plan.NodeID(to)})
		}
	}
	cut := func(from, to int) func(*engine.Engine, plan.PlanID) error {
		return func(e *engine.Engine, id plan.PlanID) error {
			return e.RemoveEdge(context.Background(), engine.EdgeIn{PlanID: id, From: plan.NodeID(from), To: plan.NodeID(to)})
		}
	}
	remove := func(n int) func(*engine.Engine, plan.PlanID) error {
		return func(e *engine.Engine, id plan.PlanID) error { return e.RemoveNode(context.Background(), ref(id, n)) }
	}
	expand := func(n int) func(*engine.Engine, plan.PlanID) error {
		return func(e *engine.Engine, id plan.PlanID) error {
			_, err := e.SubmitPlan(context.Background(), engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "sub", ParentPlanID: id, ParentNodeID: plan.NodeID(n)}})
			return err
		}
	}
	want := func(n int, from ...plan.NodeID) func(*engine.Engine, plan.PlanID) error {
		return func(e *engine.Engine, id plan.PlanID) error {
			return e.UpdateNode(context.Background(), engine.UpdateNodeIn{PlanID: id, NodeID: plan.NodeID(n), NodeFields: engine.NodeFields{ResultsFrom: &from}})
		}
	}
	for _, c := range []struct {
		name string
		do   func(*engine.Engine, plan.PlanID) error
		kind plan.ErrorKind // "" : accepted
		says string         // part of the refusal, or the states of 4, 5 and 6 afterwards
	}{
		{"an edge that is there already", edge(4, 5), "", "ready pending pending"},
		{"a further edge", edge(4, 6), "", "ready pending pending"},
		{"from a step that is done", edge(1, 4), "", "ready pending pending"},
		{"from a step that a person skipped", edge(7, 4), "", "ready pending pending"},
		{"from a step that runs", edge(2, 4), "", "pending pending pending"},
		{"from a step that has failed", edge(3, 4), "", "pending pending pending"},
		{"from a person's step", edge(8, 4), "", "pending pending pending"},
		{"into a step that is done", edge(4, 1), plan.Invalid, "done"},
		{"into a step that runs", edge(4, 2), plan.Invalid, "running"},
		{"into a step that has failed", edge(4, 3), plan.Invalid, "failed"},
		{"into a step that is skipped", edge(4, 7), plan.Invalid, "skipped"},
		{"to itself", edge(4, 4), plan.Invalid, "self-loops"},
		{"backwards", edge(5, 4), plan.Invalid, "would create a cycle: 4 → 5 → 4"},
		{"backwards over another", edge(6, 4), plan.Invalid, "would create a cycle: 4 → 5 → 6 → 4"},
		{"from a step that is not there", edge(99, 4), plan.NotFound, "has no step 99"},
		{"to a step that is not there", edge(4, 99), plan.NotFound, "has no step 99"},
		{"to itself, not there", edge(99, 99), plan.Invalid, "self-loops"},
		{"in a plan that is not there", func(e *engine.Engine, _ plan.PlanID) error { return edge(1, 2)(e, 999) }, plan.NotFound, "no plan 999"},
		{"in the subplan, to a number of the plan around it", func(e *engine.Engine, id plan.PlanID) error { return edge(1, 9)(e, id+1) }, plan.NotFound, "has no step 9"},
		{"an edge is removed", cut(4, 5), "", "ready ready pending"},
		{"an edge is removed that is not there", cut(6, 4), "", "ready pending pending"},
		{"an edge is removed from a step that is not there", cut(99, 4), "", "ready pending pending"},
		{"an edge is removed in a plan that is not there", func(e *engine.Engine, _ plan.PlanID) error { return cut(1, 2)(e, 999) }, plan.NotFound, "no plan 999"},
		{"a step is removed that others wait for and want results of", remove(4), "", "gone ready pending"},
		{"a step is removed in between", remove(5), "", "ready gone ready"},
		{"a step is removed that has a subplan", remove(9), "", "ready pending pending"},
		{"a step is removed that is done", remove(1), plan.Invalid, "done"},
		{"a step is removed that runs", remove(2), plan.Invalid, "running"},
		{"a step is removed that has failed", remove(3), plan.Invalid, "failed"},
		{"a step is removed that is skipped", remove(7), plan.Invalid, "skipped"},
		{"a step is removed that is not there", remove(99), plan.NotFound, "has no step 99"},
		{"a pending step is expanded", expand(5), "", "ready pending pending"},
		{"a ready step is expanded, into nothing yet", expand(4), "", "running pending pending"},
		{"a running step is expanded", expand(2), "", "ready pending pending"},
		{"a step is expanded twice", expand(9), plan.Invalid, "has a subplan already"},
		{"a person's step is expanded", expand(8), plan.Invalid, "a person's"},
		{"a step is expanded that is done", expand(1), plan.Invalid, "done"},
		{"a step is expanded that has failed", expand(3), plan.Invalid, "failed"},
		{"a step is expanded that is skipped", expand(7), plan.Invalid, "skipped"},
		{"a step is expanded that is not there", expand(99), plan.Invalid, "has no step 99"},
		{"results of what it depends on", want(6, 5, 4, 4), "", "ready pending pending"},
		{"results of what it does not depend on", want(6, 4, 1), plan.Invalid, "results_from names [1]"},
		{"results of itself", want(6, 6), plan.Invalid, "its own result"},
		{"results of what is not there", want(6, 99), plan.Invalid, "has no step 99"},
		{"results for a step that runs", want(2, 1), plan.Invalid, "running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := enginetest.Start(t, enginetest.Options(t, nil))
			id, _ := mixed(t, e)
			before, err := e.Snapshot(context.Background(), id)
			must(t, err)
			err = c.do(e, id)
			after, failed := e.Snapshot(context.Background(), id)
			must(t, failed)
			checkGraphs(t, after)
			if c.kind == "" {
				if err != nil || shortStates(after, id) != c.says {
					t.Errorf("%v; afterwards %s, want %s", err, shortStates(after, id), c.says)
				}
				return
			}
			if plan.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("%v (%s); want %s with %q", err, plan.KindOf(err), c.kind, c.says)
			}
			if after.Seq != before.Seq {
				t.Errorf("it was refused, and changes were recorded")
			}
		})
	}
}

// shortStates are those of the steps 4, 5 and 6.
func shortStates(s *plan.Snapshot, id plan.PlanID) string {
	var out []string
	for i := 4; i <= 6; i++ {
		if n := s.Node(ref(id, i)); n != nil {
			out = append(out, string(n.State))
		} else {
			out = append(out, "gone")
		}
	}
	return strings.Join(out, " ")
}

// checkGraphs makes sure that nothing in a tree names what is not there, that no
// graph has a cycle, and that open prerequisites are counted right.
func checkGraphs(t *testing.T, s *plan.Snapshot) {
	t.Helper()
	for _, id := range s.PlanIDs() {
		if cycle := s.Graph(id).Cycle(); cycle != nil {
			t.Errorf("plan %d has the cycle %v", id, cycle)
		}
		open := map[plan.NodeID]int{}
		for _, edge := range s.EdgesOf(id) {
			from, to := s.Node(plan.Ref{Plan: id, Node: edge.From}), s.Node(plan.Ref{Plan: id, Node: edge.To})
			if from == nil || to == nil {
				t.Errorf("edge %s of plan %d leads to nothing", edge, id)
			} else if !from.Satisfied() {
				open[edge.To]++
			}
		}
		for _, n := range s.NodesOf(id) {
			if n.Blockers != open[n.ID] {
				t.Errorf("step %s has %d open prerequisites, kept are %d", n.Ref(), open[n.ID], n.Blockers)
			}
			for _, from := range n.ResultsFrom {
				if s.Node(plan.Ref{Plan: id, Node: from}) == nil {
					t.Errorf("step %s wants the result of step %d, which is gone", n.Ref(), from)
				}
			}
			if n.Subplan != 0 && s.Plan(n.Subplan) == nil {
				t.Errorf("step %s has subplan %d, which is gone", n.Ref(), n.Subplan)
			}
		}
	}
}

func TestRemovedStepTakesItsSubplanAlong(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id, sub := mixed(t, e)
	nested := spec(t, "deep")
	nested.WorkingDirectory, nested.ParentPlanID, nested.ParentNodeID = "", sub, 1
	deepest := submit(t, e, nested)
	must(t, e.RemoveNode(context.Background(), ref(id, 9)))
	for _, gone := range []plan.PlanID{sub, deepest} {
		if _, err := e.Snapshot(context.Background(), gone); plan.KindOf(err) != plan.NotFound {
			t.Errorf("plan %d: %v, want not found", gone, err)
		}
	}
}

// Edits at the same time that close a cycle only together: all but one are taken.
func TestCycleOfEditsAtTheSameTime(t *testing.T) {
	for _, size := range []int{2, 3, 7} {
		t.Run(fmt.Sprint(size, " steps"), func(t *testing.T) {
			e := enginetest.Start(t, enginetest.Options(t, nil))
			for range 30 {
				in := spec(t, "")
				for i := range size {
					in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprint("Step ", i)})
				}
				id := submit(t, e, in)
				errs := make([]error, size)
				var all sync.WaitGroup
				for i := range size {
					all.Go(func() {
						errs[i] = e.AddEdge(context.Background(), engine.EdgeIn{PlanID: id, From: plan.NodeID(1 + i), To: plan.NodeID(1 + (i+1)%size)})
					})
				}
				all.Wait()
				refused := 0
				for _, err := range errs {
					if plan.KindOf(err) == plan.Invalid && strings.Contains(err.Error(), "would create a cycle") {
						refused++
					} else if err != nil {
						t.Error(err)
					}
				}
				s, err := e.Snapshot(context.Background(), id)
				must(t, err)
				checkGraphs(t, s)
				if refused != 1 || len(s.EdgesOf(id)) != size-1 {
					t.Fatalf("%d of %d edges were refused, %d are there", refused, size, len(s.EdgesOf(id)))
				}
			}
		})
	}
}

// Steps come and go while edges are drawn between them.
func TestEdgesToStepsThatAreBeingRemoved(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "")
	for i := range 40 {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprint("Step ", i)})
	}
	id := submit(t, e, in)
	var all sync.WaitGroup
	for i := 1; i < 40; i++ {
		all.Go(func() {
			if err := e.AddEdge(context.Background(), engine.EdgeIn{PlanID: id, From: plan.NodeID(i), To: plan.NodeID(i + 1)}); err != nil && plan.KindOf(err) != plan.NotFound {
				t.Errorf("edge from %d: %v", i, err)
			}
		})
		all.Go(func() {
			if i%3 == 0 {
				must(t, e.RemoveNode(context.Background(), ref(id, i)))
			}
		})
	}
	all.Wait()
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	checkGraphs(t, s)
	if len(s.NodesOf(id)) != 27 {
		t.Errorf("%d steps are left, want 27", len(s.NodesOf(id)))
	}
}
