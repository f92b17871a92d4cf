package main

import (
	"context"
	"fmt"
)

// enginePairsScenario measures the same work inside the process, by the engine's
// own benchmark: what is left when HTTP and MCP are taken away.
func enginePairsScenario() *scenario {
	const name = "BenchmarkClaimAndComplete/nodes=%d/clients=%d"
	names := map[*figure]string{}
	s := &scenario{name: "engine"}
	for _, callers := range []int{1, manyClients, 32} {
		f := &figure{unit: "/s",
			text: fmt.Sprintf("claim + complete at the engine, %d caller%s, plan of 2,000 steps", callers, plural(callers))}
		if callers > 1 {
			f.sense, f.bar = atLeast, 2000
		}
		names[f] = fmt.Sprintf(name, largePlan, callers)
		s.figures = append(s.figures, f)
	}
	small, large := fmt.Sprintf(name, smallPlan, manyClients), fmt.Sprintf(name, largePlan, manyClients)
	growth := &figure{text: "the same, time in 2,000 against time in 100, 8 callers", unit: "×", sense: atMost, bar: 1.5}
	s.figures = append(s.figures, growth)
	s.run = func(ctx context.Context, r *round) error {
		got, err := r.goBenchmark(ctx, "engine", "^BenchmarkClaimAndComplete$/^nodes=(100|2000)$/^clients=(1|8|32)$",
			fmt.Sprintf("%dx", r.sizes.enginePar))
		if err != nil {
			return err
		}
		for _, f := range s.figures {
			if b, ok := got[names[f]]; ok {
				r.add(f, b["pairs/s"])
			}
		}
		if got[small]["pairs/s"] > 0 && got[large]["pairs/s"] > 0 {
			r.add(growth, got[small]["pairs/s"]/got[large]["pairs/s"])
		}
		return nil
	}
	return s
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
