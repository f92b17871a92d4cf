package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// The same number of steps in one plan and in twenty, all started at once: what a
// step costs should not depend on which of both it is.
var crowds = []int{1, 20}

const crowdSteps = 2000

// crowd submits and starts layered plans with that many steps in all, which share
// files inside each plan.
func crowd(b *testing.B, e *engine.Engine, plans int, by plan.Executor) {
	b.Helper()
	for range plans {
		in := layered(b, crowdSteps/plans)
		in.Start = by
		if _, err := e.SubmitPlan(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}

func quickOptions(b *testing.B) engine.Options {
	o := enginetest.Options(b, nil)
	o.NoSnapshots = true
	return o
}

// BenchmarkPlansAtOnceExternal claims and completes every step, with 8 agents.
func BenchmarkPlansAtOnceExternal(b *testing.B) {
	for _, plans := range crowds {
		b.Run(fmt.Sprintf("plans=%d", plans), func(b *testing.B) {
			e := enginetest.Start(b, quickOptions(b))
			for b.Loop() {
				b.StopTimer()
				crowd(b, e, plans, plan.External)
				b.StartTimer()
				finishCrowd(b, e, 8)
			}
			b.ReportMetric(float64(b.N*crowdSteps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

// finishCrowd lets agents claim and complete until all steps are done.
func finishCrowd(b *testing.B, e *engine.Engine, agents int) {
	b.Helper()
	ctx, over := context.WithCancel(context.Background())
	defer over()
	var done atomic.Int64
	var all sync.WaitGroup
	for range agents {
		all.Go(func() {
			for done.Load() < crowdSteps {
				sub := e.Subscribe(0, -1)
				c, err := e.Claim(ctx, "bench", 0)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					b.Error(err)
					return
				}
				if c == nil { // the others hold what comes next
					if _, err := sub.Next(ctx); err != nil && ctx.Err() == nil {
						b.Error(err)
						return
					}
					continue
				}
				if err := e.Complete(ctx, engine.CompleteIn{Ref: plan.Ref{Plan: c.PlanID, Node: c.NodeID}, Run: c.Run, Result: "done"}); err != nil {
					b.Error(err)
					return
				}
				if done.Add(1) == crowdSteps {
					over()
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkPlansAtOnceBuiltin lets built-in agents that are done at once do every
// step, 8 at a time.
func BenchmarkPlansAtOnceBuiltin(b *testing.B) {
	for _, plans := range crowds {
		b.Run(fmt.Sprintf("plans=%d", plans), func(b *testing.B) {
			o := quickOptions(b)
			o.MaxConcurrency = 8
			e := enginetest.Start(b, o)
			for b.Loop() {
				sub := e.Subscribe(0, -1)
				crowd(b, e, plans, plan.Builtin)
				awaitPlans(b, e, sub)
			}
			b.ReportMetric(float64(b.N*crowdSteps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

// awaitPlans waits until every plan is over.
func awaitPlans(b *testing.B, e *engine.Engine, sub *engine.Subscription) {
	b.Helper()
	for {
		changes, err := sub.Next(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range changes {
			if c.Kind == plan.ChangePlan && allOver(b, e) {
				return
			}
		}
	}
}

func allOver(b *testing.B, e *engine.Engine) bool {
	list, err := e.Overviews(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range list {
		if o.State != plan.StatusDone {
			return false
		}
	}
	return true
}

// BenchmarkLayered runs one layered plan whose steps share files to its end: what
// a step costs should not grow with the plan.
func BenchmarkLayered(b *testing.B) {
	for _, n := range []int{100, 2000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			o := quickOptions(b)
			o.MaxConcurrency = 8
			e := enginetest.Start(b, o)
			for b.Loop() {
				sub := e.Subscribe(0, -1)
				in := layered(b, n)
				in.Start = plan.Builtin
				if _, err := e.SubmitPlan(context.Background(), in); err != nil {
					b.Fatal(err)
				}
				awaitPlans(b, e, sub)
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
