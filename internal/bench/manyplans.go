package main

import (
	"context"
	"fmt"
	"time"
)

// manyPlansScenario compares twenty plans at once with one of as many steps.
func manyPlansScenario() *scenario {
	const steps, plans = 2000, 20
	one := &figure{text: "claim + complete over MCP, 8 clients, one plan of 2,000 steps", unit: "/s"}
	many := &figure{text: "the same in 20 plans of 100 steps at once", unit: "/s"}
	share := &figure{text: "time in 20 plans against time in one", unit: "×", sense: atMost, bar: 1.2}
	s := &scenario{name: "plans", figures: []*figure{one, many, share}}
	s.run = func(ctx context.Context, r *round) error {
		var took [2]time.Duration
		var on [2]*server
		for i, of := range [2][2]int{{steps, 1}, {steps / plans, plans}} {
			var err error
			if on[i], err = r.externalNamed(ctx, fmt.Sprintf("plans-%d", of[1]), of[0], of[1], "--no-snapshots"); err != nil {
				return err
			}
		}
		for i := range r.sizes.slices {
			for _, which := range r.alternate(i) {
				d, err := pairs(ctx, on[which].client(), manyClients, r.sizes.pairsMany)
				if err != nil {
					return err
				}
				took[which] += d
			}
		}
		r.add(one, rate(r.sizes.slices*r.sizes.pairsMany, took[0]))
		r.add(many, rate(r.sizes.slices*r.sizes.pairsMany, took[1]))
		r.add(share, float64(took[1])/float64(took[0]))
		return nil
	}
	return s
}
