package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// RetryNode runs a failed step again. Containers that failed because of it go on,
// and what was skipped because of it waits again. A failed container is retried
// by retrying what failed inside it.
func (e *Engine) RetryNode(ctx context.Context, r plan.Ref) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	defer e.endStaleReviews(ctx)
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		if n.State == plan.Skipped {
			return plan.Errorf(plan.Invalid, "step %s was skipped: retry the step that failed, and it waits again", r)
		}
		return m.retry(n)
	})
}

// retry sends a failed node back, and everything that its failure stopped.
func (m *mover) retry(n *plan.Node) error {
	if n.State == plan.Failed && n.Subplan != 0 {
		inside, err := m.tx.NodesIn(n.Subplan, plan.Failed)
		if err != nil {
			return err
		}
		if len(inside) > 0 {
			return m.retryAll(n.Subplan, inside)
		}
	}
	if err := m.folderFree(); err != nil {
		return err
	}
	if err := m.tx.SetStartCause(n.Ref(), plan.StartRetry); err != nil {
		return err
	}
	if err := m.move(n, plan.Retried, func(n *plan.Node) {
		n.Error, n.Interruptions, n.AttemptsBefore = nil, 0, n.Attempts
	}); err != nil {
		return err
	}
	if err := m.setAside(n.Ref()); err != nil {
		return err
	}
	return m.goOn(n.PlanID)
}

func (m *mover) retryAll(id plan.PlanID, ids []plan.NodeID) error {
	for _, nid := range ids {
		n, err := m.tx.Node(plan.Ref{Plan: id, Node: nid})
		if err != nil {
			return err
		}
		if n.State != plan.Failed {
			continue
		}
		if err := m.retry(n); err != nil {
			return err
		}
	}
	return nil
}

// restart takes on what can start in a plan and in those above it.
func (m *mover) restart(id plan.PlanID) error {
	ids, err := m.tx.Startable(id)
	if err != nil {
		return err
	}
	return m.advance(id, ids)
}

// unskip brings back what a failure had skipped, where no failure is left that
// would skip it again.
func (m *mover) unskip(id plan.PlanID) error {
	skipped, err := m.tx.NodesIn(id, plan.Skipped)
	if err != nil || len(skipped) == 0 {
		return err
	}
	failed, err := m.tx.NodesIn(id, plan.Failed)
	if err != nil {
		return err
	}
	g, err := m.tx.Graph(id)
	if err != nil {
		return err
	}
	for _, nid := range skipped {
		n, err := m.tx.Node(plan.Ref{Plan: id, Node: nid})
		if err != nil {
			return err
		}
		if n.SkippedBy != plan.SkippedByFailure || dependsOnAny(g, nid, failed) {
			continue
		}
		if err := m.move(n, plan.Retried, nil); err != nil {
			return err
		}
	}
	return nil
}

func dependsOnAny(g *plan.Graph, id plan.NodeID, on []plan.NodeID) bool {
	for _, f := range on {
		if g.Reaches(f, id) {
			return true
		}
	}
	return false
}

// RetryFailed retries every failed step of the tree that a plan belongs to and
// returns how many those are. Containers count when nothing inside them failed.
func (e *Engine) RetryFailed(ctx context.Context, id plan.PlanID) (int, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return 0, err
	}
	count := 0
	defer e.endStaleReviews(ctx)
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		count = 0
		m, err := newMover(tx, id)
		if err != nil {
			return err
		}
		s, err := tx.Snapshot(id)
		if err != nil {
			return err
		}
		ids := s.PlanIDs()
		for i := len(ids) - 1; i >= 0; i-- { // the innermost first: they reopen what is above
			for _, old := range s.NodesOf(ids[i]) {
				n, err := tx.Node(old.Ref())
				if err != nil {
					return err
				}
				if n.State != plan.Failed {
					continue
				}
				count++
				if err := m.retry(n); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return count, err
}

// ResetPlan stops a top-level plan and forgets all that its runs did: every step
// is pending, without transcript, result or review. What was spent stays in the
// ledger.
func (e *Engine) ResetPlan(ctx context.Context, id plan.PlanID) error {
	if err := e.StopPlan(ctx, id); err != nil {
		return err
	}
	var copies []string
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		if err := nothingRuns(tx, id, "reset"); err != nil {
			return err
		}
		m, err := newMover(tx, id)
		if err != nil {
			return err
		}
		if m.root.Started {
			return plan.Errorf(plan.Conflict, "plan %d was started meanwhile: nothing was reset", id)
		}
		s, err := tx.Snapshot(id)
		if err != nil {
			return err
		}
		if copies, err = e.copiesOf(tx, s.PlanIDs()); err != nil {
			return err
		}
		if err := m.giveUpReviews(anyReview); err != nil { // asked for since the plan was stopped
			return err
		}
		if err := tx.ClearHistory(s.PlanIDs()); err != nil {
			return err
		}
		return m.resetNodes(s)
	})
	if err == nil {
		e.dropWorktrees(copies)
	}
	return err
}

func (m *mover) resetNodes(s *plan.Snapshot) error {
	var failed error
	s.Walk(func(n *plan.Node) {
		if failed == nil {
			failed = m.resetNode(n)
		}
	})
	if failed != nil {
		return failed
	}
	if err := m.closePlan(plan.StatusPending); err != nil {
		return err
	}
	return recordPlan(m.tx, m.root.ID, true)
}

// resetNode makes a node as it was before it ever ran. This is no step in its
// life that the transcript would tell of: the transcript is gone.
func (m *mover) resetNode(n *plan.Node) error {
	from := n.State
	if from != plan.Pending {
		to, err := plan.Next(from, plan.WasReset)
		if err != nil {
			return err
		}
		n.State = to
	}
	fresh := plan.Node{PlanID: n.PlanID, ID: n.ID, Title: n.Title, Kind: n.Kind, State: n.State, Profile: n.Profile,
		Subplan: n.Subplan, Files: n.Files, PhaseSince: m.tx.Now()}
	return m.save(&fresh, from)
}
