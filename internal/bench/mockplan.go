package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// mockScenario measures a plan that built-in agents run, each in a process of its
// own, and counts the processes that stay.
func mockScenario() *scenario {
	wall := &figure{text: "200 steps by the mock agent at speed 1,000, 8 at once", unit: "s"}
	left := &figure{text: "processes left over by that", sense: atMost, worst: true}
	return &scenario{name: "mock", figures: []*figure{wall, left}, run: func(ctx context.Context, r *round) error {
		if err := r.needsMock(); err != nil {
			return err
		}
		if r.sizes.mock != fullSizes.mock {
			wall.text = strings.Replace(wall.text, "200 steps", fmt.Sprintf("%d steps", r.sizes.mock), 1)
		}
		s, err := r.server(ctx, "server", "--mock-speed", "1000", "--max-concurrency", "8")
		if err != nil {
			return err
		}
		dir, err := r.work("mock")
		if err != nil {
			return err
		}
		c := s.client()
		id, err := c.submit(ctx, layered(r.sizes.mock, dir, false))
		if err != nil {
			return err
		}
		began := time.Now()
		if err := c.start(ctx, id, "builtin"); err != nil {
			return err
		}
		status, err := c.await(ctx, id)
		if err != nil {
			return err
		}
		if status != "done" {
			return fmt.Errorf("the mock agent's plan is %s", status)
		}
		r.add(wall, time.Since(began).Seconds())
		return r.countLeft(ctx, s, left)
	}}
}

// countLeft counts the processes of a server's runs, giving them a moment to end.
func (r *round) countLeft(ctx context.Context, s *server, left *figure) error {
	n := -1
	for range 100 {
		var err error
		if n, err = processesOf(s.dir, s.pid); err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	r.add(left, float64(n))
	return nil
}
