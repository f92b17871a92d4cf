package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

const reporters = 16

// reportsScenario measures report_progress over MCP, each report durable when it
// is answered, and whether many readers of the stream get every one.
func reportsScenario() *scenario {
	text := "report_progress over MCP, 16 clients, "
	rates := [2]*figure{
		{text: text + "no subscriber", unit: "/s", sense: atLeast, bar: 1500},
		{text: text + "100 stream subscribers, which take processor time too", unit: "/s", sense: atLeast, bar: 1500},
	}
	lost := &figure{text: "events that those subscribers lost, got twice or out of order", sense: atMost, worst: true}
	return &scenario{name: "reports", figures: append(rates[:], lost), run: func(ctx context.Context, r *round) error {
		s, err := r.server(ctx, "server")
		if err != nil {
			return err
		}
		c := s.client()
		dir, err := r.work("reported")
		if err != nil {
			return err
		}
		calls, steps, err := reportCalls(ctx, c, dir)
		if err != nil {
			return err
		}
		for _, which := range r.alternate(0) {
			if which == 0 {
				d, err := reportAll(ctx, c, calls, r.sizes.reports)
				if err != nil {
					return err
				}
				r.add(rates[0], rate(r.sizes.reports, d))
				continue
			}
			if err := r.reportWatched(ctx, s, watched{calls, steps, rates[1], lost}); err != nil {
				return err
			}
		}
		return nil
	}}
}

// reportCalls starts a plan with a step for each client and encodes their calls.
func reportCalls(ctx context.Context, c *client, dir string) (calls [][]byte, steps []claimed, err error) {
	if _, err := c.begin(ctx, wide(reporters, dir), "external"); err != nil {
		return nil, nil, err
	}
	message := strings.Repeat("Looked at the callers and changed the second one; its test passes. ", 3)
	for range reporters {
		s, ok, err := c.claim(ctx)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, nil, fmt.Errorf("of %d steps beside each other only %d could be claimed", reporters, len(steps))
		}
		call, err := toolCall("report_progress", map[string]any{"plan_id": s.PlanID, "node_id": s.NodeID, "message": message})
		if err != nil {
			return nil, nil, err
		}
		calls, steps = append(calls, call), append(steps, s)
	}
	return calls, steps, nil
}

// reportAll sends n reports, every client its own call over and over.
func reportAll(ctx context.Context, c *client, calls [][]byte, n int) (time.Duration, error) {
	var left atomic.Int64
	left.Store(int64(n))
	began := time.Now()
	err := together(len(calls), func(i int) error {
		for left.Add(-1) >= 0 {
			if err := c.toolRaw(ctx, calls[i], nil); err != nil {
				return err
			}
		}
		return nil
	})
	return time.Since(began), err
}

// watched is what is reported while many look on.
type watched struct {
	calls [][]byte
	steps []claimed
	rate  *figure
	lost  *figure
}

// reportWatched reports while many subscribers follow, and counts what they lost.
func (r *round) reportWatched(ctx context.Context, s *server, w watched) error {
	c := s.client()
	before, err := idsOfSteps(ctx, c, w.steps)
	if err != nil {
		return err
	}
	a, err := s.subscribe(ctx, r.sizes.subscribers, "/api/stream")
	if err != nil {
		return err
	}
	d, err := reportAll(ctx, c, w.calls, r.sizes.reports)
	var stored []int64
	if err == nil {
		stored, err = idsOfSteps(ctx, c, w.steps)
	}
	if err == nil {
		stored = stored[len(before):]
		err = a.reach(ctx, stored[len(stored)-1])
	}
	if endErr := a.end(); err == nil {
		err = endErr
	}
	if err != nil {
		return err
	}
	r.add(w.rate, rate(r.sizes.reports, d))
	r.add(w.lost, float64(a.lost(stored)+max(0, r.sizes.reports-len(stored))))
	return nil
}

// idsOfSteps returns the ids of all events of some steps, ascending.
func idsOfSteps(ctx context.Context, c *client, steps []claimed) ([]int64, error) {
	var ids []int64
	for _, s := range steps {
		events, err := c.events(ctx, s.PlanID, s.NodeID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, idsOf(events)...)
	}
	slices.Sort(ids)
	return ids, nil
}
