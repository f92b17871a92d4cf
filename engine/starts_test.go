package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

func TestPlanThatIsStartedWhileItIsResetGoesOnOrIsNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var between atomic.Pointer[func()]
		o := engine.WithCrash(enginetest.Options(t, nil), func() bool {
			if f := between.Swap(nil); f != nil {
				(*f)()
			}
			return false
		})
		e := enginetest.Start(t, o)
		id := submit(t, e, spec(t, "a b:a"))
		start := func() {
			go e.StartPlan(context.Background(), id, plan.Builtin)
			synctest.Wait() // its change waits behind the one that is being committed
		}
		between.Store(&start)
		err := e.ResetPlan(t.Context(), id)
		t.Logf("reset: %v", err)
		s := soon(t, e, id)
		if s.Root().Started && s.Status(id) != plan.StatusDone {
			t.Errorf("the plan is started and goes on no more: %s", states(s))
		}
	})
}

// startSpy does something while a step is being started: when its agent has been
// chosen and is not on it yet.
type startSpy struct {
	enginetest.Launcher
	act atomic.Pointer[func()]
}

func (l *startSpy) Found() []engine.HarnessFound {
	if f := l.act.Swap(nil); f != nil {
		(*f)()
	}
	return l.Launcher.Found()
}

func TestStepThatIsEditedWhileItIsBeingStarted(t *testing.T) {
	for name, edit := range map[string]func(*engine.UpdateNodeIn){
		"becomes a person's":         func(in *engine.UpdateNodeIn) { in.Kind = p("user") },
		"needs files that are taken": func(in *engine.UpdateNodeIn) { in.Files = &[]string{"src"} },
	} {
		t.Run(name, func(t *testing.T) {
			spy := &startSpy{}
			play := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
				<-ctx.Done()
				return enginetest.Done(ctx, task, h)
			}
			spy.Agents = map[string]enginetest.Agent{"mock": play}
			bubble(t, play, func(o *engine.Options) { o.Launcher = spy }, func(t *testing.T, e *engine.Engine) {
				in := spec(t, "a b")
				in.Nodes[0].Files = []string{"src/a.go"}
				id := submit(t, e, in)
				must(t, e.AddEdge(t.Context(), engine.EdgeIn{PlanID: id, From: 1, To: 2}))
				must(t, e.StartPlan(t.Context(), id, plan.Builtin))
				soon(t, e, id) // a is at work
				act := func() {
					u := engine.UpdateNodeIn{PlanID: id, NodeID: 2}
					edit(&u)
					must(t, e.UpdateNode(context.Background(), u))
				}
				spy.act.Store(&act)
				must(t, e.RemoveEdge(t.Context(), engine.EdgeIn{PlanID: id, From: 1, To: 2}))
				if s := soon(t, e, id); s.Node(ref(id, 2)).State == plan.Running {
					t.Errorf("an agent was put on it: %s", states(s))
				}
			})
		})
	}
}

func TestStepAtALimitWaitsForWhatCameUndone(t *testing.T) {
	var limited, again atomic.Bool
	play := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		switch {
		case task.Title == "Step b" && !limited.Swap(true):
			time.Sleep(time.Minute)
			return plugin.Result{IsError: true, RateLimited: true, Until: time.Now().Add(time.Minute), Errors: []string{"limit"}}, nil
		case task.Title == "Step b":
			again.Store(true)
		case task.Attempt > 1: // a, reworked
			time.Sleep(time.Hour)
		}
		return enginetest.Done(ctx, task, h)
	}
	bubble(t, play, nil, func(t *testing.T, e *engine.Engine) {
		id := submit(t, e, spec(t, "a b:a"))
		must(t, e.StartPlan(t.Context(), id, plan.Builtin))
		time.Sleep(10 * time.Second) // b is at work
		must(t, e.ReworkNode(t.Context(), ref(id, 1), "again"))
		s := soon(t, e, id)
		if again.Load() {
			t.Errorf("b was started while a is done again: %s", states(s))
		}
	})
}

// A disk that is full must not make the scheduler try as fast as it can.
func TestStartThatCannotBeStoredIsNotTriedInAHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next, full atomic.Bool
		var tries atomic.Int32
		o := engine.WithCrash(enginetest.Options(t, nil), func() bool {
			if next.Swap(false) { // this one is stored, those after it are not
				full.Store(true)
				return false
			}
			if full.Load() && tries.Add(1) >= 1000 {
				full.Store(false) // it would never end
			}
			return full.Load()
		})
		o.RetryDelay = time.Second
		e := enginetest.Start(t, o)
		in := spec(t, "you a:you")
		in.Nodes[0].Kind = "user"
		id := submit(t, e, in)
		must(t, e.StartPlan(t.Context(), id, plan.Builtin))
		soon(t, e, id)
		next.Store(true)
		must(t, e.MarkDone(t.Context(), ref(id, 1), nil))
		time.Sleep(time.Minute)
		if n := tries.Load(); n > 100 {
			t.Errorf("in a minute in which nothing could be stored, the start was tried %d times", n)
		}
		full.Store(false)
		wantDone(t, e, id)
	})
}
