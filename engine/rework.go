package engine

import (
	"context"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// ReworkNode sends a finished step back to be done again, with a brief of what to
// change: the instructions, or what its review found. The brief stays for display
// and retries until the next one. Steps that depend on it and have run are left
// as they are; containers above that are finished work on.
func (e *Engine) ReworkNode(ctx context.Context, r plan.Ref, instructions string) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	var bad plan.Problems
	checkText(&bad, "step", "instructions", instructions)
	if err := bad.Err("nothing was changed:"); err != nil {
		return err
	}
	defer e.endStaleReviews(ctx)
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		if n.Subplan != 0 {
			return plan.Errorf(plan.Invalid, "step %s has a subplan: rework the steps in plan %d", r, n.Subplan)
		}
		if n.State == plan.Skipped {
			return plan.Errorf(plan.Invalid, "step %s was skipped: there is nothing to rework", r)
		}
		undecided := needsPerson(n) == nil
		if _, err := plan.Next(n.State, plan.Reworked); err != nil && !undecided {
			return err
		}
		brief, err := briefOf(tx, n, instructions)
		if err != nil {
			return err
		}
		if undecided {
			return m.reworkUndecided(n, brief)
		}
		return m.rework(n, brief)
	})
}

// briefOf is what the next agent is told to change.
func briefOf(tx *store.Tx, n *plan.Node, instructions string) (string, error) {
	if text := strings.TrimSpace(instructions); text != "" {
		return text, nil
	}
	review, err := tx.ReviewOf(n.Ref(), plan.KindReview)
	if err == nil && review == nil {
		review, err = tx.ReviewOf(n.Ref(), plan.KindJudge)
	}
	if err != nil {
		return "", err
	}
	if review == nil {
		return "", plan.Errorf(plan.Invalid, "step %s has no review: give instructions that say what to change", n.Ref())
	}
	return review.Brief(), nil
}

func (m *mover) rework(n *plan.Node, brief string) error {
	if err := m.folderFree(); err != nil {
		return err
	}
	if err := m.newBrief(n); err != nil {
		return err
	}
	err := m.move(n, plan.Reworked, func(n *plan.Node) {
		n.ReworkBrief, n.Error, n.Interruptions, n.AttemptsBefore = &brief, nil, 0, n.Attempts
	})
	if err != nil {
		return err
	}
	if err := m.setAside(n.Ref()); err != nil {
		return err
	}
	return m.goOn(n.PlanID)
}

// reworkUndecided sends a step back whose judge came to no verdict. That is no
// attempt that failed.
func (m *mover) reworkUndecided(n *plan.Node, brief string) error {
	if err := m.newBrief(n); err != nil {
		return err
	}
	if err := m.move(n, plan.TriesAgain, func(n *plan.Node) { n.ReworkBrief = &brief }); err != nil {
		return err
	}
	return m.restart(n.PlanID)
}

// goOn lets a plan take up a node that has come back to pending: what its failure
// skipped waits again, containers above work on, and what can start does.
func (m *mover) goOn(id plan.PlanID) error {
	if err := m.unskip(id); err != nil {
		return err
	}
	top, err := m.reopen(id)
	if err != nil {
		return err
	}
	if m.root.FinishedAt != 0 {
		if err := m.closePlan(plan.StatusRunning); err != nil {
			return err
		}
	}
	if top == id {
		return m.restart(id)
	}
	// What became startable beside it while a container above was over starts too.
	ids, err := m.tx.Subtree(top)
	if err != nil {
		return err
	}
	for _, sub := range ids {
		if err := m.restart(sub); err != nil {
			return err
		}
	}
	return nil
}

// SkipNode lets a plan go on without a step that has not started: what depends on
// it may start as if it were done. note says why; it may be empty.
func (e *Engine) SkipNode(ctx context.Context, r plan.Ref, note string) error {
	defer e.settleIsolated(ctx, r)
	return e.onNode(ctx, r, note, func(m *mover, n *plan.Node) error {
		if n.Subplan != 0 {
			return plan.Errorf(plan.Invalid, "step %s has a subplan: skip the steps in plan %d", r, n.Subplan)
		}
		return m.move(n, plan.PersonSkipped, func(n *plan.Node) { n.SkippedBy, n.SkipNote = plan.SkippedByPerson, note })
	})
}

// UnskipNode brings back a step that a person skipped. Steps that depend on it
// and have started meanwhile are left as they are.
func (e *Engine) UnskipNode(ctx context.Context, r plan.Ref) error {
	return e.onNode(ctx, r, "", func(m *mover, n *plan.Node) error {
		if n.State == plan.Skipped && n.SkippedBy == plan.SkippedByFailure {
			return plan.Errorf(plan.Invalid, "step %s was skipped because step %d failed: retry that one, and this one waits again",
				r, n.SkippedCause)
		}
		if err := m.folderFree(); err != nil {
			return err
		}
		if err := m.move(n, plan.Unskipped, nil); err != nil {
			return err
		}
		return m.goOn(n.PlanID)
	})
}

// onNode does something to a node in a change of its own, for trusted callers.
func (e *Engine) onNode(ctx context.Context, r plan.Ref, note string, do func(*mover, *plan.Node) error) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	var bad plan.Problems
	checkText(&bad, "step", "note", note)
	if err := bad.Err("nothing was changed:"); err != nil {
		return err
	}
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		return do(m, n)
	})
}
