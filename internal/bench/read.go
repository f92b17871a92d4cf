package main

import (
	"context"
	"fmt"
	"time"
)

// readScenario measures how long it takes to read a large plan, while nothing
// happens in it and while an agent works through it.
func readScenario() *scenario {
	fig := func(what string) *figure {
		return &figure{text: "GET /api/plans/{id} of 2,000 steps, p50, " + what, unit: "ms", sense: below, bar: 60}
	}
	idle := [2]*figure{fig("idle"), fig("idle, compressed")}
	busy := [2]*figure{fig("while it runs"), fig("while it runs, compressed")}
	return &scenario{name: "read", figures: append(idle[:], busy[:]...), run: func(ctx context.Context, r *round) error {
		s, err := r.server(ctx, "server")
		if err != nil {
			return err
		}
		c := s.client()
		dir, err := r.work("large")
		if err != nil {
			return err
		}
		id, err := c.begin(ctx, layered(largePlan, dir, true), "external")
		if err != nil {
			return err
		}
		if err := r.readPlan(ctx, c, id, idle); err != nil {
			return err
		}
		working, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- workSteadily(working, s.client()) }()
		err = r.readPlan(ctx, c, id, busy)
		stop()
		if workErr := <-ended; err == nil {
			err = workErr
		}
		return err
	}}
}

// readPlan reads a plan many times, plain and compressed in turns.
func (r *round) readPlan(ctx context.Context, c *client, id int64, figures [2]*figure) error {
	path := fmt.Sprintf("/api/plans/%d", id)
	var took [2][]float64
	for i := range r.sizes.reads {
		for _, how := range r.alternate(i) {
			began := time.Now()
			if _, err := c.fetch(ctx, path, how == 1); err != nil {
				return err
			}
			took[how] = append(took[how], millis(time.Since(began)))
		}
	}
	for i, f := range figures {
		r.add(f, median(took[i]))
	}
	return nil
}

// workSteadily does about thirty steps a second until ctx ends.
func workSteadily(ctx context.Context, c *client) error {
	for {
		err := pair(ctx, c)
		if err == nil {
			err = pause(ctx, 30*time.Millisecond)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
