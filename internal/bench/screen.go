package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// screenScenario measures how long a completed step takes to show in a browser:
// from the moment in which another client posts the completion to the moment in
// which the card in the page has changed. The commit is a part of that.
func screenScenario() *scenario {
	type pair struct{ half, most *figure }
	figures := func(n string) pair {
		text := "completion posted → card changed in headless Chromium, graph of " + n + " steps, "
		return pair{&figure{text: text + "p50", unit: "ms"}, &figure{text: text + "p95", unit: "ms", sense: below, bar: 100}}
	}
	small, large := figures("100"), figures("2,000")
	return &scenario{name: "screen", figures: []*figure{small.half, small.most, large.half, large.most},
		run: func(ctx context.Context, r *round) error {
			took, err := r.watchCards(ctx, smallPlan)
			if err != nil {
				return err
			}
			r.add(small.half, percentile(took, 50))
			r.add(small.most, percentile(took, 95))
			if r.sizes.bigGraph == 0 {
				large.half.absent, large.most.absent = "left out of a quick run", "left out of a quick run"
				return nil
			}
			if took, err = r.watchCards(ctx, r.sizes.bigGraph); err != nil {
				return err
			}
			r.add(large.half, percentile(took, 50))
			r.add(large.most, percentile(took, 95))
			return nil
		}}
}

// watchCards completes steps of a plan of n and returns how long each took to
// show, in milliseconds.
func (r *round) watchCards(ctx context.Context, n int) ([]float64, error) {
	s, err := r.server(ctx, fmt.Sprintf("server-%d", n))
	if err != nil {
		return nil, err
	}
	dir, err := r.work(fmt.Sprintf("watched-%d", n))
	if err != nil {
		return nil, err
	}
	c := s.client()
	id, err := c.begin(ctx, layered(n, dir, true), "external")
	if err != nil {
		return nil, err
	}
	page := fmt.Sprintf("/plans/%d", id)
	if _, err := c.fetch(ctx, page, false); isNotFound(err) {
		return nil, missing("the page of a plan: GET " + page + " answers 404")
	}
	return r.completions(ctx, s, page)
}

// gapAfter is how long to wait after a change: the server gathers changes for
// some milliseconds, and is to be met at all moments of that.
func gapAfter(change int) time.Duration { return time.Duration(change*17%60) * time.Millisecond }

// watchCard claims a step, waits until its card shows that, completes it and
// returns how long that took to show.
func watchCard(ctx context.Context, c *client, b *browser) (time.Duration, error) {
	step, ok, err := c.claim(ctx)
	if err != nil || !ok {
		return 0, errors.Join(err, errors.New("no step is ready"))
	}
	card := fmt.Sprintf("#c-%d-%d", step.PlanID, step.NodeID)
	if err := b.expect(card + ".s-running"); err != nil {
		return 0, err
	}
	if _, err := b.seen(); err != nil {
		return 0, err
	}
	if err := b.expect(card + ".s-done"); err != nil {
		return 0, err
	}
	posted := time.Now()
	if err := c.complete(ctx, step); err != nil {
		return 0, err
	}
	changed, err := b.seen()
	return changed.Sub(posted), err
}
