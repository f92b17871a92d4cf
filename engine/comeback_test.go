package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// bubble runs a test with an engine whose agents are play, in fake time.
func bubble(t *testing.T, play enginetest.Agent, change func(*engine.Options), f func(*testing.T, *engine.Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := enginetest.Options(t, map[string]enginetest.Agent{"mock": play})
		if change != nil {
			change(&o)
		}
		f(t, enginetest.Start(t, o))
	})
}

// soon lets everything happen that can, and returns what is there then.
func soon(t *testing.T, e *engine.Engine, id plan.PlanID) *plan.Snapshot {
	t.Helper()
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	return s
}

func wantDone(t *testing.T, e *engine.Engine, id plan.PlanID) {
	t.Helper()
	if s := soon(t, e, id); s.Status(id) != plan.StatusDone {
		t.Errorf("the plan is %s and goes on no more: %s", s.Status(id), states(s))
	}
}

// inside gives a step a subplan.
func inside(t *testing.T, e *engine.Engine, r plan.Ref, in engine.SubmitPlanIn) plan.PlanID {
	t.Helper()
	in.WorkingDirectory, in.ParentPlanID, in.ParentNodeID = "", r.Plan, r.Node
	return submit(t, e, in)
}

// failsFirst fails the steps of a title until told otherwise.
type failsFirst struct {
	title string
	over  atomic.Bool
}

func (f *failsFirst) play(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	if t.Title == f.title && !f.over.Load() {
		return plugin.Result{}, errors.New("no")
	}
	return enginetest.Done(ctx, t, h)
}

func TestRetryInAStoppedPlanWaitsForTheStart(t *testing.T) {
	f := &failsFirst{title: "Step x"}
	bubble(t, f.play, nil, func(t *testing.T, e *engine.Engine) {
		id := submit(t, e, spec(t, "big after:big"))
		sub := inside(t, e, ref(id, 1), spec(t, "x y:x"))
		must(t, e.StartPlan(t.Context(), id, plan.Builtin))
		soon(t, e, id)
		must(t, e.StopPlan(t.Context(), id))
		f.over.Store(true)
		must(t, e.RetryNode(t.Context(), ref(sub, 1)))
		if s := soon(t, e, id); s.Node(ref(id, 1)).State == plan.Running {
			t.Errorf("in a stopped plan: %s", states(s))
		}
		must(t, e.StartPlan(t.Context(), id, plan.Builtin))
		wantDone(t, e, id)
	})
}

func TestRetryBringsBackWhatWasHeldUpBesideIt(t *testing.T) {
	f := &failsFirst{title: "Step x"}
	letY := make(chan struct{})
	play := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if task.Title == "Step y" {
			<-letY
		}
		return f.play(ctx, task, h)
	}
	bubble(t, play, nil, func(t *testing.T, e *engine.Engine) {
		letY = make(chan struct{})
		id := submit(t, e, spec(t, "big"))
		sub := inside(t, e, ref(id, 1), spec(t, "x box"))
		inside(t, e, ref(sub, 2), spec(t, "y z:y"))
		must(t, e.StartPlan(t.Context(), id, plan.Builtin))
		soon(t, e, id) // x has failed, and with it big; y is at work
		close(letY)
		soon(t, e, id) // y is done; z cannot begin
		f.over.Store(true)
		must(t, e.RetryNode(t.Context(), ref(sub, 1)))
		wantDone(t, e, id)
	})
}

func TestRetryInsideBringsBackWhatTheContainersFailureSkipped(t *testing.T) {
	f := &failsFirst{title: "Step x"}
	bubble(t, f.play, nil, func(t *testing.T, e *engine.Engine) {
		in := spec(t, "big after:big")
		in.OnFailure = "skip"
		id := submit(t, e, in)
		sub := inside(t, e, ref(id, 1), spec(t, "x"))
		must(t, e.StartPlan(t.Context(), id, plan.Builtin))
		if s := soon(t, e, id); s.Node(ref(id, 2)).State != plan.Skipped {
			t.Fatalf("at first: %s", states(s))
		}
		f.over.Store(true)
		must(t, e.RetryNode(t.Context(), ref(sub, 1)))
		wantDone(t, e, id)
	})
}

// expander makes a subplan of its step, and goes on until it is told to stop.
func expander(e *atomic.Pointer[engine.Engine], in func() engine.SubmitPlanIn, end func() (plugin.Result, error)) enginetest.Agent {
	return func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if task.Title != "Step big" || task.Attempt > 1 {
			return enginetest.Done(ctx, task, h)
		}
		sub := in()
		sub.ParentPlanID, sub.ParentNodeID, sub.WorkingDirectory = plan.PlanID(task.PlanID), plan.NodeID(task.NodeID), ""
		self := plan.Actor{Role: plan.Worker, Run: plan.RunID(task.RunID), Ref: ref(sub.ParentPlanID, int(sub.ParentNodeID))}
		if _, err := e.Load().SubmitPlan(plan.WithActor(ctx, self), sub); err != nil {
			return plugin.Result{}, err
		}
		<-ctx.Done()
		return end()
	}
}

func TestWorkerThatEndsWellAsItsPlanIsStoppedHasItsSubplanDoneLater(t *testing.T) {
	var e atomic.Pointer[engine.Engine]
	play := expander(&e, func() engine.SubmitPlanIn { return spec(t, "x y:x") }, func() (plugin.Result, error) { return plugin.Result{Text: "did my share"}, nil })
	bubble(t, play, nil, func(t *testing.T, eng *engine.Engine) {
		e.Store(eng)
		id := submit(t, eng, spec(t, "big after:big"))
		must(t, eng.StartPlan(t.Context(), id, plan.Builtin))
		soon(t, eng, id)
		must(t, eng.StopPlan(t.Context(), id))
		if s := soon(t, eng, id); s.Node(ref(id, 1)).State == plan.Running {
			t.Errorf("in a stopped plan: %s", states(s))
		}
		must(t, eng.StartPlan(t.Context(), id, plan.Builtin))
		wantDone(t, eng, id)
	})
}

// checkNotAbandoned makes sure that a step does not run without an agent.
func checkNotAbandoned(t *testing.T, e *engine.Engine, r plan.Ref) {
	t.Helper()
	n := soon(t, e, r.Plan).Node(r)
	runs, err := e.Runs(t.Context(), r)
	must(t, err)
	if n.State == plan.Running && n.Phase != plan.PhaseSubplan && !runs[len(runs)-1].Open() {
		t.Errorf("step %s is %s (%s), and its agent has been ended: nobody takes it on", r, n.State, n.Phase)
	}
}

func TestMarkDoneThatIsRefusedLeavesTheAgentAtWork(t *testing.T) {
	var e atomic.Pointer[engine.Engine]
	play := expander(&e, func() engine.SubmitPlanIn { return spec(t, "x") }, func() (plugin.Result, error) { return plugin.Result{}, context.Canceled })
	bubble(t, play, nil, func(t *testing.T, eng *engine.Engine) {
		e.Store(eng)
		id := submit(t, eng, spec(t, "big"))
		must(t, eng.StartPlan(t.Context(), id, plan.Builtin))
		soon(t, eng, id)
		err := eng.MarkDone(t.Context(), ref(id, 1), nil)
		t.Logf("mark done: %v", err)
		checkNotAbandoned(t, eng, ref(id, 1))
	})
}

func TestMarkDoneWhoseCallerGoesAwayLeavesNoStepInBetween(t *testing.T) {
	slow := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		<-ctx.Done()
		time.Sleep(time.Second)
		return plugin.Result{}, ctx.Err()
	}
	bubble(t, slow, nil, func(t *testing.T, e *engine.Engine) {
		id := submit(t, e, spec(t, "a"))
		must(t, e.StartPlan(t.Context(), id, plan.Builtin))
		soon(t, e, id)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := e.MarkDone(ctx, ref(id, 1), nil)
		t.Logf("mark done: %v", err)
		checkNotAbandoned(t, e, ref(id, 1))
	})
}

func TestMarkingAFailedStepDoneTakesOnWhatItsFailureStopped(t *testing.T) {
	for name, policy := range map[string]string{"what it skipped": "skip", "its container": "hold"} {
		t.Run(name, func(t *testing.T) {
			f := &failsFirst{title: "Step x"}
			bubble(t, f.play, nil, func(t *testing.T, e *engine.Engine) {
				in := spec(t, "big after:big")
				in.OnFailure = policy
				id := submit(t, e, in)
				sub := inside(t, e, ref(id, 1), spec(t, "x y:x"))
				must(t, e.StartPlan(t.Context(), id, plan.Builtin))
				soon(t, e, id)
				must(t, e.MarkDone(t.Context(), ref(sub, 1), nil))
				wantDone(t, e, id)
			})
		})
	}
}

func TestEdgesToAndFromAFailureUnderThePolicySkip(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*engine.Engine, plan.PlanID) error
		want plan.State
		of   int
	}{
		"an edge from a failed step skips": {func(e *engine.Engine, id plan.PlanID) error {
			return e.AddEdge(context.Background(), engine.EdgeIn{PlanID: id, From: 1, To: 3})
		}, plan.Skipped, 3},
		"an edge from a skipped step skips": {func(e *engine.Engine, id plan.PlanID) error {
			return e.AddEdge(context.Background(), engine.EdgeIn{PlanID: id, From: 2, To: 3})
		}, plan.Skipped, 3},
		"without its edge a step is no longer skipped": {func(e *engine.Engine, id plan.PlanID) error {
			return e.RemoveEdge(context.Background(), engine.EdgeIn{PlanID: id, From: 1, To: 2})
		}, plan.Done, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := &failsFirst{title: "Step a"}
			bubble(t, f.play, nil, func(t *testing.T, e *engine.Engine) {
				in := spec(t, "a b:a u")
				in.OnFailure, in.Nodes[2].Kind = "skip", "user"
				id := submit(t, e, in)
				must(t, e.StartPlan(t.Context(), id, plan.Builtin))
				soon(t, e, id)
				must(t, c.edit(e, id))
				if s := soon(t, e, id); s.Node(ref(id, c.of)).State != c.want {
					t.Errorf("step %d is not %s: %s", c.of, c.want, states(s))
				}
			})
		})
	}
}

func TestMarkDoneWithABadResultLeavesTheAgentAtWork(t *testing.T) {
	wait := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		<-ctx.Done()
		return plugin.Result{}, ctx.Err()
	}
	bubble(t, wait, nil, func(t *testing.T, e *engine.Engine) {
		id := submit(t, e, spec(t, "a"))
		must(t, e.StartPlan(t.Context(), id, plan.Builtin))
		soon(t, e, id)
		if err := e.MarkDone(t.Context(), ref(id, 1), p("a\x00b")); plan.KindOf(err) != plan.Invalid {
			t.Errorf("mark done: %v, want invalid", err)
		}
		checkNotAbandoned(t, e, ref(id, 1))
	})
}
