package engine_test

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// layered is a plan of n steps in layers of ten, each step after two of the
// layer before, and two files of which one is shared with a neighbour.
func layered(b *testing.B, n int) engine.SubmitPlanIn {
	b.Helper()
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: fmt.Sprintf("%d steps", n), WorkingDirectory: b.TempDir()}}
	for i := range n {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprintf("Step %d of the plan", i),
			Description: "Change the parser so that it reads the new form.", Files: []string{fmt.Sprintf("src/own%d.go", i), fmt.Sprintf("src/shared%d.go", i/2)}})
		if i >= 10 {
			at := i - i%10 - 10
			in.Edges = append(in.Edges, []string{fmt.Sprint(at + i%10), fmt.Sprint(i)}, []string{fmt.Sprint(at + (i+3)%10), fmt.Sprint(i)})
		}
	}
	return in
}

func BenchmarkClaimAndComplete(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the server has it
	for _, n := range []int{100, 2000} {
		for _, clients := range []int{1, 8, 32} {
			b.Run(fmt.Sprintf("nodes=%d/clients=%d", n, clients), func(b *testing.B) {
				e := enginetest.Start(b, enginetest.Options(b, nil))
				ctx := context.Background()
				var left atomic.Int64
				refill := func() {
					in := layered(b, n)
					in.Start = plan.External
					if _, err := e.SubmitPlan(ctx, in); err != nil {
						b.Fatal(err)
					}
				}
				for range b.N/n + 2 + clients/2 { // there is always more that is ready than there are clients
					refill()
				}
				left.Store(int64(b.N))
				b.ResetTimer()
				var all sync.WaitGroup
				for range clients {
					all.Go(func() {
						for left.Add(-1) >= 0 {
							c, err := e.Claim(ctx, "bench", 0)
							if err != nil || c == nil {
								b.Errorf("claim: %v, %v", c, err)
								return
							}
							if err := e.Complete(ctx, engine.CompleteIn{Ref: plan.Ref{Plan: c.PlanID, Node: c.NodeID}, Run: c.Run, Result: "done"}); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
			})
		}
	}
}

func BenchmarkSubmit2000(b *testing.B) {
	e := enginetest.Start(b, enginetest.Options(b, nil))
	in := layered(b, 2000)
	for b.Loop() {
		if _, err := e.SubmitPlan(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot2000(b *testing.B) {
	e := enginetest.Start(b, enginetest.Options(b, nil))
	out, err := e.SubmitPlan(context.Background(), layered(b, 2000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := e.Snapshot(context.Background(), out.PlanID)
		if err != nil {
			b.Fatal(err)
		}
		s.Walk(func(n *plan.Node) { s.Conflicts(n.Ref()) })
	}
}
