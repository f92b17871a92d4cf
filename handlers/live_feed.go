package handlers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// How a feed keeps time: what happens within a moment is drawn together, and no
// feed draws so often that it could do nothing else.
const (
	feedMoment = 8 * time.Millisecond  // after a change, for those that come with it
	feedGap    = 40 * time.Millisecond // between two drawings
	listGap    = 200 * time.Millisecond
	feedLoad   = 3 // a gap is at least so many times what a drawing took
)

// What a feed remembers for viewers that come a little late.
const (
	recentBatches = 64
	recentBytes   = 1 << 20
)

// feed turns the changes of one topic into frames.
type feed struct {
	site  *site
	topic topic
	stop  context.CancelFunc
	done  chan struct{}

	mu        sync.Mutex
	viewers   map[*viewer]bool
	recent    []batch
	bytes     int                // of recent
	covers    int64              // who has seen this number needs no more than recent
	rewind    int64              // begin again after this number; -1: no
	interrupt context.CancelFunc // of a wait for changes

	canvas *canvas // of the goroutine alone
	drawn  time.Time
	gap    time.Duration
}

// batch is what was sent at one moment, with the number that it includes.
type batch struct {
	state   int64
	message []byte
}

// newFeed begins a feed after a number.
func newFeed(p *site, w wish) *feed {
	ctx, stop := context.WithCancel(context.Background())
	f := &feed{site: p, topic: w.topic, stop: stop, done: make(chan struct{}), viewers: map[*viewer]bool{},
		covers: w.after, rewind: -1, canvas: newCanvas(p, w.topic), gap: feedGap}
	go func() {
		defer close(f.done)
		f.run(ctx, w.after)
	}()
	return f
}

// end stops the feed and waits until it has.
func (f *feed) end() {
	f.stop()
	<-f.done
}

// add gives a viewer what it has missed and what comes.
func (f *feed) add(v *viewer, after int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.viewers[v] = true
	if after < f.covers {
		if f.rewind < 0 || after < f.rewind {
			f.rewind = after
		}
		if f.interrupt != nil {
			f.interrupt()
		}
		return
	}
	for _, b := range f.recent {
		if b.state > after {
			v.send(b.message)
		}
	}
}

// remove reports whether v was the last one.
func (f *feed) remove(v *viewer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.viewers, v)
	return len(f.viewers) == 0
}

// publish sends a message to all who follow.
func (f *feed) publish(state int64, message []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recent = append(f.recent, batch{state, message})
	f.bytes += len(message)
	for len(f.recent) > recentBatches || f.bytes > recentBytes && len(f.recent) > 1 {
		f.covers = max(f.covers, f.recent[0].state)
		f.bytes -= len(f.recent[0].message)
		f.recent = f.recent[1:]
	}
	for v := range f.viewers {
		v.send(message)
	}
}

// run follows the engine until nobody follows the feed, or the engine ends.
func (f *feed) run(ctx context.Context, after int64) {
	root, ok := f.root(ctx, after)
	if !ok {
		return
	}
	f.canvas.look(ctx)
	sub := f.site.engine.Subscribe(root, after)
	for {
		changes, err := f.next(ctx, sub)
		if back := f.rewound(); back >= 0 {
			sub = f.site.engine.Subscribe(root, back)
			f.canvas.forget()
			continue
		}
		switch {
		case err == nil:
			changes = f.gather(ctx, sub, changes)
			f.draw(ctx, changes, sub.Cursor())
		case ctx.Err() != nil || errors.Is(err, engine.ErrStreamClosed):
			return
		case errors.Is(err, context.Canceled): // to go back, which was done already
		default: // what was missed is not known any more
			sub = f.site.engine.Subscribe(root, -1)
			f.failed(ctx, err, sub.Cursor())
		}
	}
}

// root finds the tree that the feed is about. ok is false when there is none, or
// no more need.
func (f *feed) root(ctx context.Context, after int64) (root plan.PlanID, ok bool) {
	for {
		root, err := f.site.live.rootOf(ctx, f.topic)
		switch {
		case err == nil:
			return root, true
		case plan.KindOf(err) == plan.NotFound:
			f.neverWas(ctx)
			return 0, false
		}
		f.failed(ctx, err, after)
		if ctx.Err() != nil {
			return 0, false
		}
	}
}

// neverWas says to whoever follows, or comes to, that there is no such plan:
// however new their page is, this is newer.
func (f *feed) neverWas(ctx context.Context) {
	now := f.site.engine.Subscribe(0, -1).Cursor()
	if message, err := f.canvas.goneMessage(ctx, now, now+1); err == nil {
		f.publish(now+1, message)
	}
}

// next waits for changes, or until the feed has to go back.
func (f *feed) next(ctx context.Context, sub *engine.Subscription) ([]plan.Change, error) {
	wait, interrupt := context.WithCancel(ctx)
	defer interrupt()
	f.mu.Lock()
	f.interrupt = interrupt
	back := f.rewind >= 0
	f.mu.Unlock()
	if back {
		return nil, context.Canceled
	}
	return sub.Next(wait)
}

// rewound returns the number to go back to, -1 for none, and notes that what is
// sent from there on is enough for everyone.
func (f *feed) rewound() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	back := f.rewind
	if f.rewind = -1; back >= 0 {
		f.covers, f.recent, f.bytes = back, nil, 0
	}
	return back
}

// gather adds to changes what comes within a moment, or until it is time to draw
// again.
func (f *feed) gather(ctx context.Context, sub *engine.Subscription, changes []plan.Change) []plan.Change {
	const most = 20_000
	wait, cancel := context.WithTimeout(ctx, max(feedMoment, f.gap-time.Since(f.drawn)))
	defer cancel()
	for len(changes) < most {
		more, err := sub.Next(wait)
		if err != nil {
			break
		}
		changes = append(changes, more...)
	}
	return changes
}

// draw publishes what some changes have changed.
func (f *feed) draw(ctx context.Context, changes []plan.Change, seq int64) {
	begun := time.Now()
	message, state, err := f.canvas.message(ctx, changes, seq)
	switch {
	case err != nil:
		f.failed(ctx, err, seq)
	case message != nil:
		f.publish(state, message)
	}
	f.drawn = time.Now()
	f.gap = max(feedGap, feedLoad*f.drawn.Sub(begun))
	switch f.topic.kind {
	case topicPlans, topicAllPlans, topicInbox, topicYou:
		f.gap = max(f.gap, listGap)
	}
}

// failed deals with what cannot be drawn. What is gone is said to be; after
// anything else pages read that part anew. That takes a moment, lest a lasting
// fault keeps everyone busy.
func (f *feed) failed(ctx context.Context, err error, seq int64) {
	message := resyncMessage(f.topic, seq)
	switch {
	case plan.KindOf(err) == plan.NotFound:
		if gone, err := f.canvas.goneMessage(ctx, seq, seq); err == nil {
			message = gone
		}
	case !errors.Is(err, engine.ErrResync) && ctx.Err() == nil:
		f.site.log.Error("draw an update", "topic", f.topic.String(), "err", err)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil {
		f.canvas.forget()
		f.publish(seq, message)
	}
}
