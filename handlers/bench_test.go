package handlers

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// bigPlan posts 2,000 steps with 4,000 edges and two files each.
func bigPlan(b *testing.B) *rig {
	r := newRig(b)
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Big", WorkingDirectory: b.TempDir()}}
	for i := range 2000 {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprint("Step ", i), Description: "Change the callers of the second function, as the first step left them.",
			Files: []string{fmt.Sprintf("src/%d/a.go", i), fmt.Sprintf("src/%d/b.go", i%1000)}})
		for _, d := range []int{1, 7} {
			if i >= d {
				in.Edges = append(in.Edges, []string{fmt.Sprint(i - d), fmt.Sprint(i)})
			}
		}
	}
	if _, err := r.engine.SubmitPlan(context.Background(), in); err != nil {
		b.Fatal(err)
	}
	return r
}

func BenchmarkViewPlan2000(b *testing.B) {
	r := bigPlan(b)
	b.ResetTimer()
	for b.Loop() {
		if a := r.do("GET", "/api/plans/1", nil); a.status != 200 {
			b.Fatal(a.status)
		}
	}
}

// BenchmarkEncodePlan2000 is the part of it that is done here.
func BenchmarkEncodePlan2000(b *testing.B) {
	r := bigPlan(b)
	s, err := r.engine.Snapshot(context.Background(), 1)
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		if _, err := marshal(planViewOf(r.engine, s, 1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot2000(b *testing.B) {
	r := bigPlan(b)
	b.ResetTimer()
	for b.Loop() {
		if _, err := r.engine.Snapshot(context.Background(), 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkViewNodeOf2000(b *testing.B) {
	r := bigPlan(b)
	b.ResetTimer()
	for b.Loop() {
		if a := r.do("GET", "/api/plans/1/nodes/1000", nil); a.status != 200 {
			b.Fatal(a.status)
		}
	}
}

func BenchmarkReportOverMCP(b *testing.B) {
	r := newRig(b)
	id := r.claimed()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.ok("/mcp", "report_progress", map[string]any{"plan_id": id, "node_id": 1, "message": "m"})
		}
	})
}

// BenchmarkPairsOverMCP claims and completes steps with eight clients.
func BenchmarkPairsOverMCP(b *testing.B) {
	r := newRig(b)
	for range b.N/2000 + 2 {
		in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Big", WorkingDirectory: b.TempDir()}, Start: plan.External}
		for i := range 2000 {
			in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprint("Step ", i),
				Description: "Change the callers of the second function.", Files: []string{fmt.Sprintf("src/%d/a.go", i)}})
			if i >= 10 {
				in.Edges = append(in.Edges, []string{fmt.Sprint(i - 10), fmt.Sprint(i)})
			}
		}
		if _, err := r.engine.SubmitPlan(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ResetTimer()
	for range 8 {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				step := r.ok("/mcp", "claim_next_node", map[string]any{"agent_name": "bench"}).(map[string]any)
				r.ok("/mcp", "complete_node", map[string]any{"plan_id": step["plan_id"], "node_id": step["node_id"], "result": "done"})
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
}

func BenchmarkSubmit2000OverMCP(b *testing.B) {
	r := newRig(b)
	var nodes, edges []any
	for i := range 2000 {
		nodes = append(nodes, map[string]any{"key": fmt.Sprint(i), "title": fmt.Sprint("Step ", i), "description": "Change the callers of the second function.",
			"files": []string{fmt.Sprintf("src/%d/a.go", i), fmt.Sprintf("src/%d/b.go", i)}})
		if i > 1 {
			edges = append(edges, []string{fmt.Sprint(i - 1), fmt.Sprint(i)}, []string{fmt.Sprint(i - 2), fmt.Sprint(i)})
		}
	}
	dir := b.TempDir()
	b.ResetTimer()
	for b.Loop() {
		r.ok("/mcp", "submit_plan", map[string]any{"title": "Big", "working_directory": dir, "nodes": nodes, "edges": edges})
	}
}

func BenchmarkViewNode5000Events(b *testing.B) {
	r := newRig(b)
	id := r.claimed()
	for i := range 5000 {
		r.report(id, fmt.Sprint("Looked at the callers and changed the second one; the test for it passes now. ", i))
	}
	b.ResetTimer()
	for b.Loop() {
		if a := r.do("GET", fmt.Sprintf("/api/plans/%d/nodes/1", id), nil); a.status != 200 {
			b.Fatal(a.status)
		}
	}
}
