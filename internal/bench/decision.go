package main

import (
	"context"
	"fmt"
)

// decisionScenario measures one decision of the scheduler in plans of three sizes:
// a step ends, and the next one is found.
func decisionScenario() *scenario {
	const shape = "neighbours_share_a_folder"
	sizes := []int{100, 2_000, 20_000}
	var figures []*figure
	for _, n := range sizes {
		figures = append(figures, &figure{unit: "µs", text: fmt.Sprintf("one decision of the scheduler, %d steps with shared files", n)})
	}
	growth := &figure{text: "the same, 20,000 against 100 steps", unit: "×", sense: atMost, bar: 1.5}
	s := &scenario{name: "decision", figures: append(figures, growth)}
	s.run = func(ctx context.Context, r *round) error {
		got, err := r.goBenchmark(ctx, "engine/plan", "^BenchmarkDecision$/^"+shape+"$", fmt.Sprintf("%dx", 10*r.sizes.enginePar))
		if err != nil {
			return err
		}
		var took []float64
		for i, n := range sizes {
			ns := got[fmt.Sprintf("BenchmarkDecision/%s/nodes=%d", shape, n)]["ns/op"]
			took = append(took, ns)
			r.add(figures[i], ns/1000)
		}
		if took[0] > 0 {
			r.add(growth, took[2]/took[0])
		}
		return nil
	}
	return s
}
