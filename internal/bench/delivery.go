package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How fast agents talk while many look on: each emits so many events, waits, and
// does so again.
const (
	talkers    = 3
	talkBurst  = 10
	talkPause  = 10 * time.Millisecond
	talkSecond = int(time.Second/talkPause) * talkBurst // events of one of them
)

// deliveryScenario measures how long an event takes from being stored to being
// read, while harnesses emit 3,000 a second and a hundred readers follow.
func deliveryScenario() *scenario {
	text := "3,000 events a second from 3 harnesses, 100 stream readers: stored → read, "
	p50 := &figure{text: text + "p50", unit: "ms"}
	p99 := &figure{text: text + "p99", unit: "ms", sense: below, bar: 100}
	speed := &figure{text: "events a second that those harnesses got rid of", unit: "/s"}
	lost := &figure{text: "events that those readers lost, got twice or out of order", sense: atMost, worst: true}
	return &scenario{name: "delivery", figures: []*figure{p50, p99, speed, lost}, run: func(ctx context.Context, r *round) error {
		if err := r.needsMock(); err != nil {
			return err
		}
		s, err := r.server(ctx, "server", "--mock-speed", "1")
		if err != nil {
			return err
		}
		c := s.client()
		dir, err := r.work("talk")
		if err != nil {
			return err
		}
		id, err := c.submit(ctx, talk(r.sizes.talk, dir))
		if err != nil {
			return err
		}
		a, err := s.subscribe(ctx, r.sizes.subscribers, fmt.Sprintf("/api/stream?plan=%d", id))
		if err != nil {
			return err
		}
		stored, err := playAll(ctx, c, id, a)
		if endErr := a.end(); err == nil {
			err = endErr
		}
		if err != nil {
			return err
		}
		delays := a.delays()
		r.add(p50, percentile(delays, 50))
		r.add(p99, percentile(delays, 99))
		r.add(speed, most(a.subs[0].kinds).rate())
		r.add(lost, float64(a.lost(stored)))
		return nil
	}}
}

// talk is a plan whose steps each emit events steadily for some seconds.
func talk(seconds int, dir string) wholePlan {
	burst := fmt.Sprintf("flood %d\nsleep! %s\n", talkBurst, talkPause)
	script := "```mock\n" + strings.Repeat(burst, seconds*talkSecond/talkBurst) + "```"
	p := wide(talkers, dir)
	for i := range p.Nodes {
		p.Nodes[i].Description = script
	}
	return p
}

// playAll runs a plan and returns the ids of the events of all its steps, when all
// subscribers have had the time to get them.
func playAll(ctx context.Context, c *client, id int64, a *audience) ([]int64, error) {
	if err := c.start(ctx, id, "builtin"); err != nil {
		return nil, err
	}
	if status, err := c.await(ctx, id); err != nil || status != "done" {
		return nil, fmt.Errorf("the plan that talks is %q: %w", status, err)
	}
	var ids []int64
	for n := range int64(talkers) {
		events, err := c.events(ctx, id, n+1)
		if err != nil {
			return nil, err
		}
		ids = append(ids, idsOf(events)...)
	}
	slices.Sort(ids)
	return ids, a.reach(ctx, ids[len(ids)-1])
}

// delays are the milliseconds from an event's moment to its arrival, of all
// subscribers.
func (a *audience) delays() []float64 {
	var all []float64
	for _, s := range a.subs {
		all = append(all, s.delays...)
	}
	return all
}

// delayOf is how long ago a transcript entry happened, in milliseconds; ok is
// false where it does not say.
func delayOf(entry []byte, now time.Time) (ms float64, ok bool) {
	_, rest, _ := bytes.Cut(entry, []byte(`"ts":`))
	end := bytes.IndexAny(rest, ",}")
	if end < 0 {
		return 0, false
	}
	at, err := strconv.ParseFloat(string(rest[:end]), 64)
	return float64(now.UnixMicro())/1e3 - at*1e3, err == nil
}
