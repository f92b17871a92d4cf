package engine

import (
	"context"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func (e *Engine) now() plan.Stamp { return plan.StampOf(e.opts.Now()) }

// schedule starts what can start whenever something has changed, until ctx ends.
// During a shutdown nothing may begin, so there is nothing to do but to wait.
func (e *Engine) schedule(ctx context.Context) {
	for !e.isEnding() && ctx.Err() == nil {
		e.tick(ctx)
		timer := time.NewTimer(time.Hour)
		if wait, ok := e.desk.wake(e.now()); ok {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
		case <-e.ending:
		case <-e.desk.bell:
		case <-timer.C:
		}
		timer.Stop()
	}
	<-ctx.Done()
}

func (e *Engine) isEnding() bool {
	select {
	case <-e.ending:
		return true
	default:
		return false
	}
}

// tick starts every review and every step that can start now.
func (e *Engine) tick(ctx context.Context) {
	e.startChecks(ctx)
	for ctx.Err() == nil {
		id, ok := e.desk.nextReview(e.now())
		if !ok {
			break
		}
		if !e.spawn(func() { e.runReview(ctx, id) }) {
			e.desk.giveReviewBack(id)
			return
		}
	}
	for ctx.Err() == nil {
		r, ok := e.desk.next(e.now())
		if !ok {
			return
		}
		if !e.spawn(func() { e.runStep(ctx, r) }) {
			e.desk.giveBack(r)
			return
		}
	}
}

// spawn runs f in a goroutine that Run waits for, unless the engine is ending.
func (e *Engine) spawn(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopping {
		return false
	}
	e.runs.Go(f)
	return true
}
