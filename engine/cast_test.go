package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// cast are agents that work until they are told how to end.
type cast struct {
	mu      sync.Mutex
	working map[plan.RunID]*actor
	curtain bool // everybody is done as soon as it begins
	judged  int
}

// actor is one agent at work.
type actor struct {
	run  plan.RunID
	ref  plan.Ref
	cue  chan ending
	gone chan struct{}
}

// ending is how an agent ends its work.
type ending struct {
	result plugin.Result
	err    error
}

func newCast() *cast {
	return &cast{working: map[plan.RunID]*actor{}}
}

func (c *cast) play(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	if t.Kind != string(plan.RunStep) {
		return c.judge(ctx, t, h)
	}
	a := &actor{run: plan.RunID(t.RunID), ref: plan.Ref{Plan: plan.PlanID(t.PlanID), Node: plan.NodeID(t.NodeID)},
		cue: make(chan ending), gone: make(chan struct{})}
	h.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: "s-" + t.RunID}))
	h.Emit(plugin.Text("working on "+t.Title, ""))
	h.Emit(plugin.Usage(10, 1))
	if !c.enter(a) {
		return plugin.Result{Text: "did " + t.Title}, nil
	}
	defer c.leave(a)
	select {
	case e := <-a.cue:
		if e.result.Text == "" && e.err == nil {
			e.result.Text = "did " + t.Title
		}
		return e.result, e.err
	case <-ctx.Done():
		return plugin.Result{}, ctx.Err()
	}
}

func (c *cast) enter(a *actor) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.curtain {
		c.working[a.run] = a
	}
	return !c.curtain
}

func (c *cast) leave(a *actor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.working, a.run)
	close(a.gone)
}

// list returns who is at work, in an order that does not depend on chance.
func (c *cast) list() []*actor {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*actor
	for _, a := range c.working {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *actor) int { return a.ref.Compare(b.ref) })
	return out
}

// end tells an agent how to end. One that has gone meanwhile does not hear it.
func (a *actor) end(e ending) {
	select {
	case a.cue <- e:
		<-a.gone
	case <-a.gone:
	}
}

// fall makes everybody end well, now and from now on.
func (c *cast) fall() {
	c.mu.Lock()
	c.curtain = true
	c.mu.Unlock()
	for _, a := range c.list() {
		a.end(ending{})
	}
}

// endings are the ways in which an agent may end, the usual one more than once.
func endings(pause time.Duration) []ending {
	return []ending{
		{}, {}, {}, {},
		{err: errors.New("no such luck")},
		{result: plugin.Result{IsError: true, Errors: []string{"it broke"}}},
		{result: plugin.Result{IsError: true, Transient: true, Errors: []string{"overloaded"}}},
		{result: plugin.Result{IsError: true, RateLimited: true, Until: time.Now().Add(pause), Errors: []string{"limit reached"}}},
	}
}
