package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How many plans of a size are started at once: enough steps for all the pairs
// of a round, and always more that are ready than there are clients.
const (
	smallPlan, smallPlans = 100, 20
	largePlan, largePlans = 2000, 4
	manyClients           = 8
)

// pairsScenario measures claim_next_node and complete_node over MCP, in plans of
// two sizes on two servers, in turns.
func pairsScenario() *scenario {
	text := "claim + complete over MCP, %d client%s, plan of %s steps"
	fig := func(clients int, s, n string) *figure {
		return &figure{text: fmt.Sprintf(text, clients, s, n), unit: "/s"}
	}
	one := [2]*figure{fig(1, "", "100"), fig(1, "", "2,000")}
	many := [2]*figure{fig(manyClients, "s", "100"), fig(manyClients, "s", "2,000")}
	for _, f := range many {
		f.sense, f.bar = atLeast, 600
	}
	cpu := [2]*figure{{text: "processor time of the server for one of these, 8 clients, 100 steps", unit: "ms"},
		{text: "the same, 2,000 steps", unit: "ms"}}
	growth := func(clients string) *figure {
		return &figure{text: "the same, time in 2,000 against time in 100, " + clients, unit: "×", sense: atMost, bar: 1.5}
	}
	growthOne, growthMany := growth("1 client"), growth("8 clients")
	figures := slices.Concat(one[:], many[:], []*figure{growthOne, growthMany}, cpu[:])
	return &scenario{name: "pairs", figures: figures, run: func(ctx context.Context, r *round) error {
		var on [2]*server
		for i, of := range [2][2]int{{smallPlan, smallPlans}, {largePlan, largePlans}} {
			var err error
			if on[i], err = r.external(ctx, of[0], of[1], "--no-snapshots"); err != nil {
				return err
			}
		}
		if err := r.comparePairs(ctx, on, pairsWork{1, r.sizes.pairsOne, one, growthOne}); err != nil {
			return err
		}
		before := [2]float64{processorMillis(on[0].pid), processorMillis(on[1].pid)}
		if err := r.comparePairs(ctx, on, pairsWork{manyClients, r.sizes.pairsMany, many, growthMany}); err != nil {
			return err
		}
		for i, f := range cpu {
			if used := processorMillis(on[i].pid) - before[i]; used > 0 {
				r.add(f, used/float64(r.sizes.slices*r.sizes.pairsMany))
			}
		}
		return nil
	}}
}

// external starts a server with count plans of n steps for others to run, and
// warms it up.
func (r *round) external(ctx context.Context, n, count int, flags ...string) (*server, error) {
	return r.externalNamed(ctx, fmt.Sprintf("server-%d", n), n, count, flags...)
}

func (r *round) externalNamed(ctx context.Context, name string, n, count int, flags ...string) (*server, error) {
	s, err := r.server(ctx, name, flags...)
	if err != nil {
		return nil, err
	}
	c := s.client()
	for i := range count {
		dir, err := r.work(fmt.Sprintf("%s-%d", name, i))
		if err != nil {
			return nil, err
		}
		if _, err := c.begin(ctx, layered(n, dir, true), "external"); err != nil {
			return nil, err
		}
	}
	_, err = pairs(ctx, c, 2, 20)
	return s, err
}

// pairsWork is what comparePairs does on each of two servers.
type pairsWork struct {
	clients, slice int
	rates          [2]*figure
	growth         *figure
}

// comparePairs measures two servers in alternating slices.
func (r *round) comparePairs(ctx context.Context, on [2]*server, w pairsWork) error {
	clients := [2]*client{on[0].client(), on[1].client()}
	var took [2]time.Duration
	for i := range r.sizes.slices {
		for _, which := range r.alternate(i) {
			d, err := pairs(ctx, clients[which], w.clients, w.slice)
			if err != nil {
				return err
			}
			took[which] += d
		}
	}
	for i, d := range took {
		r.add(w.rates[i], rate(r.sizes.slices*w.slice, d))
	}
	r.add(w.growth, float64(took[1])/float64(took[0]))
	return nil
}

// pairs lets clients claim and complete count steps and returns how long that took.
func pairs(ctx context.Context, c *client, clients, count int) (time.Duration, error) {
	var left atomic.Int64
	left.Store(int64(count))
	began := time.Now()
	err := together(clients, func(int) error {
		for left.Add(-1) >= 0 {
			if err := pair(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	return time.Since(began), err
}

// pair claims a step and completes it.
func pair(ctx context.Context, c *client) error {
	for {
		s, ok, err := c.claim(ctx)
		if err != nil {
			return err
		}
		if ok {
			return c.complete(ctx, s)
		}
		if err := pause(ctx, time.Millisecond); err != nil { // others have all that is ready
			return err
		}
	}
}

// together runs f n times at once and returns the first error by number.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}
