package main

import (
	"context"
	"fmt"
)

// launchScenario measures how long an agent's process takes from launch to its
// first event, by the benchmark of the package that starts them.
func launchScenario() *scenario {
	first := &figure{text: "start of a harness process, launch to first event", unit: "ms", sense: below, bar: 60}
	return &scenario{name: "launch", figures: []*figure{first}, run: func(ctx context.Context, r *round) error {
		got, err := r.goBenchmark(ctx, "engine/internal/harness", "^BenchmarkLaunch$", fmt.Sprintf("%dx", r.sizes.launches))
		if err != nil {
			return err
		}
		r.add(first, got["BenchmarkLaunch"]["ns/op"]/1e6)
		return nil
	}}
}
