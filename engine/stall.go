package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// defaultStall is the patience with a silent agent of plans that name none: it is
// shown as stalled then, and left to work.
const defaultStall = 15 * time.Minute

// heard notes a sign of life of an agent, and returns whether it was thought stalled.
func (s *session) heard(now time.Time) (wasStalled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastHeard = now
	wasStalled, s.stalled = s.stalled, false
	return wasStalled
}

// asks counts the questions that an agent waits with: as long as there are any
// it is not the agent who is silent.
func (s *session) asks(n int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking += n
	s.lastHeard = now
}

// silence returns how long nothing was heard of an agent, and whether that is
// known already.
func (s *session) silence(now time.Time) (quiet time.Duration, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking > 0 {
		return 0, false
	}
	return now.Sub(s.lastHeard), s.stalled
}

// watchSilence looks at a running agent until ctx ends, and says when nothing is
// heard of it for too long.
func (e *Engine) watchSilence(ctx context.Context, s *session) {
	const look = time.Minute // so that a change of the plan's patience is seen
	for {
		patience, ends := e.patience(ctx, s.root)
		quiet, known := s.silence(e.opts.Now())
		if quiet >= patience && !known {
			e.stalled(ctx, s, quiet)
			if ends {
				e.askToStop(ctx, s, causeStalled)
				return
			}
		}
		wait := look
		if left := patience - quiet; left > 0 {
			wait = min(wait, left)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// patience returns how long an agent of a plan may be silent, and whether it is
// ended then.
func (e *Engine) patience(ctx context.Context, root plan.PlanID) (time.Duration, bool) {
	after := int64(0)
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		p, err := tx.Plan(root)
		if err == nil {
			after = p.StallAfter
		}
		return err
	})
	if err != nil || after == 0 {
		return defaultStall, false
	}
	return time.Duration(after) * time.Second, true
}

// stalled marks a step whose agent is silent.
func (e *Engine) stalled(ctx context.Context, s *session, quiet time.Duration) {
	s.mu.Lock()
	s.stalled = true
	s.mu.Unlock()
	e.mark(ctx, s, func(m *mover, n *plan.Node) error {
		n.StalledAt = m.tx.Now()
		return m.tx.Note(s.root, n.Ref(), s.run.ID, plan.EventSystem,
			textData{fmt.Sprintf("no sign of life of the agent for %s", quiet.Round(time.Second))})
	})
}

// recallStall makes a re-attached session know whether its step is marked.
func (e *Engine) recallStall(ctx context.Context, s *session) {
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(s.run.Ref())
		if err == nil {
			s.stalled = n.StalledAt != 0
		}
		return err
	})
	if err != nil {
		e.log.Error("read a step", "step", s.run.Ref(), "err", err)
	}
}

// revived takes the mark away.
func (e *Engine) revived(ctx context.Context, s *session) {
	e.mark(ctx, s, func(_ *mover, n *plan.Node) error { n.StalledAt = 0; return nil })
}

// mark changes the node that an open run works on, without moving it.
func (e *Engine) mark(ctx context.Context, s *session, edit func(*mover, *plan.Node) error) {
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, s.run.Ref())
		if err != nil || n.State != plan.Running || n.RunID != s.run.ID {
			return err
		}
		if err := edit(m, n); err != nil {
			return err
		}
		return m.save(n, n.State)
	})
	if err != nil && ctx.Err() == nil {
		e.log.Error("mark a silent agent", "step", s.run.Ref(), "err", err)
	}
}
