package main

import (
	"context"
	"fmt"
)

// snapshotScenario measures snapshots by themselves, and what they add to a claim
// and its completion.
func snapshotScenario() *scenario {
	small := &figure{text: "snapshot of 20 unchanged files", unit: "ms"}
	large := &figure{text: "snapshot of 20,000 unchanged files", unit: "ms", sense: atMost, bar: 150}
	watched := &figure{text: "claim + complete over MCP with snapshots of a small folder, 8 clients", unit: "/s", sense: atLeast, bar: 100}
	s := &scenario{name: "snapshot", figures: []*figure{small, large, watched}}
	s.run = func(ctx context.Context, r *round) error {
		got, err := r.goBenchmark(ctx, "engine/internal/shadow", "^BenchmarkSnapshot$/^unchanged$", "10x")
		if err != nil {
			return err
		}
		for n, f := range map[int]*figure{20: small, 20_000: large} {
			r.add(f, got[fmt.Sprintf("BenchmarkSnapshot/unchanged/%d", n)]["ns/op"]/1e6)
		}
		on, err := r.external(ctx, smallPlan, smallPlans)
		if err != nil {
			return err
		}
		took, err := pairs(ctx, on.client(), manyClients, r.sizes.pairsMany)
		if err != nil {
			return err
		}
		r.add(watched, rate(r.sizes.pairsMany, took))
		return nil
	}
	return s
}
