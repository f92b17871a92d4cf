package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// slowToEnd works until it is stopped, and then for a while.
func slowToEnd(ctx context.Context, _ plugin.Task, _ plugin.Host) (plugin.Result, error) {
	<-ctx.Done()
	time.Sleep(3 * time.Second)
	return plugin.Result{}, ctx.Err()
}

// An agent that is ending counts: against the limits, and as one who writes in its folder.
func TestAgentsOfAStoppedPlanCountUntilTheyHaveEnded(t *testing.T) {
	one := func(o *engine.Options) { o.MaxConcurrency = 1 }
	bubble(t, slowToEnd, one, func(t *testing.T, e *engine.Engine) {
		in := spec(t, "a")
		id := submit(t, e, in)
		must(t, e.StartPlan(bg, id, plan.Builtin))
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- e.StopPlan(bg, id) }()
		synctest.Wait()

		elsewhere := submit(t, e, spec(t, "b"))
		must(t, e.StartPlan(bg, elsewhere, plan.Builtin))
		same := spec(t, "c")
		same.WorkingDirectory = in.WorkingDirectory
		here := submit(t, e, same)
		if err := e.StartPlan(bg, here, plan.Builtin); plan.KindOf(err) != plan.Invalid || !strings.Contains(err.Error(), "still ending") {
			t.Errorf("start in the same folder: %v", err)
		}
		synctest.Wait()
		s, err := e.Snapshot(bg, elsewhere)
		must(t, err)
		if n := s.Node(ref(elsewhere, 1)); n.State != plan.Ready || s.Holds[n.Ref()].Phase != plan.PhaseSlot {
			t.Errorf("while the other agent ends the step is %s and waits for %+v", n.State, s.Holds[n.Ref()])
		}
		must(t, <-stopped)
		synctest.Wait()
		if s, err = e.Snapshot(bg, elsewhere); err != nil || s.Node(ref(elsewhere, 1)).State != plan.Running {
			t.Errorf("then it is %s (%v)", s.Node(ref(elsewhere, 1)).State, err)
		}
		must(t, e.StopPlan(bg, elsewhere))
		must(t, e.StartPlan(bg, here, plan.Builtin))
	})
}

// While the server ends nothing may begin, and nobody asks over and over what could.
func TestSchedulerRestsDuringAShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ending, asked atomic.Int64
		spins := make(chan struct{})
		play := func(ctx context.Context, task plugin.Task, _ plugin.Host) (plugin.Result, error) {
			<-ctx.Done()
			if task.NodeID == 1 { // its slot is free at once, and step 3 is ready
				return plugin.Result{}, ctx.Err()
			}
			ending.Store(1)
			select {
			case <-spins:
				t.Error("the scheduler asks what to start over and over")
			case <-time.After(time.Second):
			}
			return plugin.Result{}, ctx.Err()
		}
		o := enginetest.Options(t, map[string]enginetest.Agent{"mock": play})
		o.MaxConcurrency = 2
		o.Now = func() time.Time {
			if ending.Load() == 1 && asked.Add(1) == 1000 {
				close(spins)
			}
			return time.Now()
		}
		e, stop := enginetest.Run(t, o)
		id := submit(t, e, spec(t, "a b c"))
		must(t, e.StartPlan(bg, id, plan.Builtin))
		synctest.Wait()
		stop()
	})
}
