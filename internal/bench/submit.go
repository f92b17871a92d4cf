package main

import (
	"context"
	"fmt"
	"time"
)

// submitScenario measures how long it takes to post a large plan, until the
// answer is there: checked, stored and durable.
func submitScenario() *scenario {
	fig := func(door string) *figure {
		return &figure{text: "a plan of 2,000 steps, 4,000 edges and 2 files each, posted over " + door, unit: "ms", sense: below, bar: 250}
	}
	doors := [2]*figure{fig("REST"), fig("MCP")}
	return &scenario{name: "submit", figures: doors[:], run: func(ctx context.Context, r *round) error {
		s, err := r.server(ctx, "server")
		if err != nil {
			return err
		}
		c := s.client()
		var took [2][]float64
		for i := range r.sizes.submits {
			for _, door := range r.alternate(i) {
				dir, err := r.work(fmt.Sprintf("%d-%d", i, door))
				if err != nil {
					return err
				}
				d, err := submitThrough(ctx, c, door, layered(largePlan, dir, true))
				if err != nil {
					return err
				}
				took[door] = append(took[door], millis(d))
			}
		}
		for i, f := range doors {
			r.add(f, median(took[i]))
		}
		return nil
	}}
}

// submitThrough posts a plan over REST (0) or MCP (1) and returns how long that took.
func submitThrough(ctx context.Context, c *client, door int, p wholePlan) (time.Duration, error) {
	began := time.Now()
	if door == 0 {
		_, err := c.submit(ctx, p)
		return time.Since(began), err
	}
	err := c.tool(ctx, "submit_plan", p, nil)
	return time.Since(began), err
}
