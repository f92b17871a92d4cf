package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// floodScenario measures how fast events of an agent come through its process,
// the database and a stream, and whether many readers of that stream get all.
func floodScenario() *scenario {
	one := &figure{text: "events a second from one harness, durable, 1 stream subscriber", unit: "/s", sense: atLeast, bar: 10_000}
	many := &figure{text: "the same with 100 stream subscribers, which take processor time too", unit: "/s"}
	lost := &figure{text: "events that subscribers of a flood lost, got twice or out of order", sense: atMost, worst: true}
	return &scenario{name: "flood", figures: []*figure{one, many, lost}, run: func(ctx context.Context, r *round) error {
		if err := r.needsMock(); err != nil {
			return err
		}
		s, err := r.server(ctx, "server", "--mock-speed", "1000")
		if err != nil {
			return err
		}
		few, err := r.flood(ctx, s, r.sizes.flood, 1)
		if err != nil {
			return err
		}
		wide, err := r.flood(ctx, s, r.sizes.floodWide, r.sizes.subscribers)
		if err != nil {
			return err
		}
		r.add(one, few.rate)
		r.add(many, wide.rate)
		r.add(lost, float64(few.lost+wide.lost))
		return nil
	}}
}

// needsMock makes sure that the mock agent is there.
func (r *round) needsMock() error {
	if _, err := os.Stat(filepath.Join(r.bin, "harness-mock")); err != nil {
		return missing("harness-mock, which plays agents, in " + r.bin)
	}
	return nil
}

// flooded is how a flood went.
type flooded struct {
	rate float64 // events a second, as the first subscriber got them
	lost int
}

// flood lets the mock agent emit n events as fast as they are taken.
func (r *round) flood(ctx context.Context, s *server, n, subscribers int) (flooded, error) {
	c := s.client()
	dir, err := r.work(fmt.Sprintf("flood-%d", subscribers))
	if err != nil {
		return flooded{}, err
	}
	id, err := c.submit(ctx, single("A flood", fmt.Sprintf("```mock\nflood %d\n```", n), dir))
	if err != nil {
		return flooded{}, err
	}
	a, err := s.subscribe(ctx, subscribers, fmt.Sprintf("/api/stream?plan=%d", id))
	if err != nil {
		return flooded{}, err
	}
	stored, err := playOut(ctx, c, id, a)
	if endErr := a.end(); err == nil {
		err = endErr
	}
	if err != nil {
		return flooded{}, err
	}
	if len(stored) < n {
		return flooded{}, missing(fmt.Sprintf("a mock agent that plays floods: of %d events there are %d", n, len(stored)))
	}
	return flooded{most(a.subs[0].kinds).rate(), a.lost(stored)}, nil
}

// playOut runs a plan of one step and returns the ids of its events, when all
// subscribers have had the time to get them.
func playOut(ctx context.Context, c *client, id int64, a *audience) ([]int64, error) {
	if err := c.start(ctx, id, "builtin"); err != nil {
		return nil, err
	}
	if _, err := c.await(ctx, id); err != nil {
		return nil, err
	}
	events, err := c.events(ctx, id, 1)
	if err != nil {
		return nil, err
	}
	return idsOf(events), a.reach(ctx, events[len(events)-1].ID)
}

func idsOf(events []event) []int64 {
	ids := make([]int64, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

// most returns the arrivals of the kind that came most often.
func most(kinds map[string]*arrivals) *arrivals {
	best := &arrivals{}
	for _, a := range kinds {
		if a.n > best.n {
			best = a
		}
	}
	return best
}
