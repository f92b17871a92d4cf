package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestStopPlanSendsStepsBack(t *testing.T) {
	e, g := gated(t, func(o *engine.Options) { o.MaxConcurrency = 1 })
	id := submit(t, e, spec(t, "a b"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "one runs", running(1))
	must(t, e.StopPlan(context.Background(), id))
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	if got := states(s); got != fmt.Sprintf("%d.1 pending, %d.2 pending", id, id) {
		t.Errorf("after stop: %s", got)
	}
	runs, err := e.Runs(context.Background(), ref(id, 1))
	must(t, err)
	if len(runs) != 1 || runs[0].Outcome != plan.OutcomeStopped {
		t.Errorf("runs = %+v", runs)
	}
	close(g.open)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestStopNodeFailsIt(t *testing.T) {
	e, _ := gated(t, nil)
	id := submit(t, e, spec(t, "a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "it runs", running(1))
	must(t, e.StopNode(context.Background(), ref(id, 1)))
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	if n := s.Node(ref(id, 1)); n.State != plan.Failed || n.Error == nil || *n.Error != "stopped by user" {
		t.Errorf("after stop: %s, error %v", n.State, n.Error)
	}
	if err := e.StopNode(context.Background(), ref(id, 1)); plan.KindOf(err) != plan.Invalid {
		t.Errorf("stop of a failed step: %v, want invalid", err)
	}
}

func TestMarkDoneEndsTheAgent(t *testing.T) {
	e, g := gated(t, nil)
	id := submit(t, e, spec(t, "a b:a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "it runs", running(1))
	must(t, e.MarkDone(context.Background(), ref(id, 1), nil))
	s := enginetest.Until(t, e, id, "b runs", enginetest.State(ref(id, 2), plan.Running))
	if got := *s.Node(ref(id, 1)).Result; !strings.HasPrefix(got, "working on Step a") && got == "" {
		t.Errorf("result = %q", got)
	}
	close(g.open)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestResetForgetsWhatRunsDid(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := submit(t, e, spec(t, "a b:a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	must(t, e.ResetPlan(context.Background(), id))
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	if got := states(s); got != fmt.Sprintf("%d.1 pending, %d.2 pending", id, id) {
		t.Errorf("after reset: %s", got)
	}
	events, err := e.Events(context.Background(), ref(id, 1), 0, 100)
	must(t, err)
	if len(events) != 0 || s.Node(ref(id, 1)).Result != nil {
		t.Errorf("after reset there are %d events and result %v", len(events), s.Node(ref(id, 1)).Result)
	}
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "done again", enginetest.Status(plan.StatusDone))
}

func TestClaimGivesEachStepOnce(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "")
	for i := range 64 {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprint("Step ", i), Files: []string{fmt.Sprintf("f%d", i/2)}})
	}
	id := submit(t, e, in)
	if got, err := e.Claim(context.Background(), "x", 0); got != nil || err != nil {
		t.Fatalf("claim before the start: %v, %v", got, err)
	}
	must(t, e.StartPlan(context.Background(), id, plan.External))
	var given sync.Map
	var all sync.WaitGroup
	var count atomic.Int32
	for i := range 16 {
		all.Go(func() {
			for {
				c, err := e.Claim(context.Background(), fmt.Sprint("agent ", i), 0)
				if err != nil {
					t.Errorf("claim: %v", err)
					return
				}
				if c == nil {
					if count.Load() == 64 {
						return
					}
					continue
				}
				if _, twice := given.LoadOrStore(c.NodeID, i); twice {
					t.Errorf("step %d was given twice", c.NodeID)
				}
				if err := e.Complete(context.Background(), engine.CompleteIn{Ref: ref(c.PlanID, int(c.NodeID)), Run: c.Run, Result: "ok"}); err != nil {
					t.Errorf("complete: %v", err)
				}
				count.Add(1)
			}
		})
	}
	all.Wait()
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestTwoStartsAreOneRun(t *testing.T) {
	e, g := gated(t, nil)
	id := submit(t, e, spec(t, "a"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { must(t, e.StartPlan(context.Background(), id, plan.Builtin)) })
	}
	all.Wait()
	close(g.open)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	runs, err := e.Runs(context.Background(), ref(id, 1))
	must(t, err)
	if len(runs) != 1 {
		t.Errorf("%d runs, want 1", len(runs))
	}
}
