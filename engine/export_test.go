package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// WithCrash returns options of an engine whose store asks f before each commit
// whether the process dies there.
func WithCrash(o Options, f func() bool) Options {
	o.crash = f
	return o
}

// ChecksAtWork is how many check commands run.
func (e *Engine) ChecksAtWork() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.checks)
}

// ReviewDueIn reports whether a review would begin after some time.
func (e *Engine) ReviewDueIn(d time.Duration) bool {
	e.desk.mu.Lock()
	defer e.desk.mu.Unlock()
	e.desk.board.Advance(plan.StampOf(e.opts.Now().Add(d)))
	id, ok := e.desk.board.NextReview()
	if ok {
		e.desk.board.ReturnReview(id)
	}
	return ok
}

// Moment is all that is stored about plans at one moment.
type Moment struct {
	Trees     []*plan.Snapshot // the newest first
	Open      []plan.Run       // runs that have not ended
	Overviews []Overview
	Kept      map[plan.PlanID]plan.Status // of every plan, from kept counts
}

// Look reads a moment.
func (e *Engine) Look(ctx context.Context) (*Moment, error) {
	m := &Moment{Kept: map[plan.PlanID]plan.Status{}}
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if m.Overviews, err = tx.Overviews(); err != nil {
			return err
		}
		for _, o := range m.Overviews {
			s, err := tx.Snapshot(o.Plan.ID)
			if err != nil {
				return err
			}
			s.Server = e.server
			m.Trees = append(m.Trees, s)
			for _, id := range s.PlanIDs() {
				if m.Kept[id], _, err = tx.Status(id); err != nil {
					return err
				}
			}
		}
		m.Open, err = tx.OpenRuns()
		return err
	})
	return m, err
}

// BoardDiffers compares the board, when nothing is on its way, with one that is
// made anew of what is stored. It returns "" when both answer alike and nothing
// is left that a built-in agent should start.
func (e *Engine) BoardDiffers(ctx context.Context, m *Moment) (string, error) {
	other := &Engine{opts: e.opts, server: e.server, store: e.store}
	other.desk = newDesk(plan.NewBoard(plan.Limits{MaxConcurrency: e.opts.MaxConcurrency, DefaultProfile: e.server.DefaultProfile}))
	if err := other.loadBoard(ctx); err != nil {
		return "", err
	}
	e.desk.mu.Lock()
	defer e.desk.mu.Unlock()
	kept, fresh := e.desk.board, other.desk.board
	kept.Advance(e.now())
	fresh.Advance(e.now())
	var differs string
	for _, s := range m.Trees {
		s.Walk(func(n *plan.Node) {
			if a, b := kept.Held(n.Ref()), fresh.Held(n.Ref()); a != b {
				differs = fmt.Sprintf("step %s waits for %+v, by what is stored for %+v", n.Ref(), a, b)
			}
		})
	}
	for _, b := range []*plan.Board{kept, fresh} {
		if r, ok := b.Next(); ok {
			b.Return(r)
			return fmt.Sprintf("step %s could start and does not; %s", r, differs), nil
		}
	}
	if a, b := claims(kept), claims(fresh); !slices.Equal(a, b) {
		return fmt.Sprintf("%v can be claimed, by what is stored %v", a, b), nil
	}
	return differs, nil
}

// claims returns all that can be claimed, and gives it back.
func claims(b *plan.Board) (list []plan.Ref) {
	for r, ok := b.Claim(0); ok; r, ok = b.Claim(0) {
		list = append(list, r)
	}
	for _, r := range list {
		b.Return(r)
	}
	return list
}
