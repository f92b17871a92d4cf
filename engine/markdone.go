package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// MarkDone records that a step is done, by a person: its agent is ended if it has
// one, and its dependants start. It is the only end of a user step. Without a
// result the last words of its agent count.
func (e *Engine) MarkDone(ctx context.Context, r plan.Ref, result *string) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	var bad plan.Problems
	checkText(&bad, "step", "result", deref(result))
	if err := bad.Err("the step was not marked done:"); err != nil {
		return err
	}
	run, err := e.openRunOf(ctx, r)
	if err != nil {
		return err
	}
	if run != nil && run.Kind == plan.RunStep {
		if err := e.mayMarkDone(ctx, r); err != nil {
			return err
		}
		// The step is done as its agent ends: nothing is left in between.
		err := e.stopRuns(ctx, causeMarkedDone, func(s *session) bool { return s.run.ID == run.ID && s.say(result) })
		if err != nil {
			return err
		}
		if marked, err := e.wasMarkedDone(ctx, run.ID); marked || err != nil {
			return err
		}
	}
	after := e.afterClaim(ctx, r)
	defer e.endStaleReviews(ctx)
	defer e.settleIsolated(ctx, r)
	if err := e.keepIsolated(ctx, r); err != nil {
		return err
	}
	return e.store.Write(ctx, func(tx *store.Tx) error { return markDone(tx, r, result, after) })
}

// markDone ends a step that no built-in agent works on. after is what the folder was
// like when that of somebody who had claimed it was ended.
func markDone(tx *store.Tx, r plan.Ref, result *string, after *shot) error {
	m, n, err := moverAt(tx, r)
	if err != nil {
		return err
	}
	if err := betweenSubsteps(tx, n); err != nil {
		return err
	}
	if err := m.endOpenClaim(n, after); err != nil {
		return err
	}
	text, err := doneText(tx, n, result)
	if err != nil {
		return err
	}
	failed := n.State == plan.Failed
	if err := m.move(n, plan.PersonDid, func(n *plan.Node) {
		n.Result, n.Error = &text, nil
		n.SkippedBy, n.SkippedCause, n.SkipNote = "", 0, ""
	}); err != nil || !failed {
		return err
	}
	if err := m.goOn(n.PlanID); err != nil {
		return err
	}
	return m.rollUp(n.PlanID)
}

// endOpenClaim takes a step from who has claimed it, if anybody has.
func (m *mover) endOpenClaim(n *plan.Node, after *shot) error {
	if n.State != plan.Running || n.RunID == "" {
		return nil
	}
	open, err := m.tx.Run(n.RunID)
	if err != nil || !open.Open() {
		return err
	}
	if open.Kind != plan.RunExternal {
		return plan.Errorf(plan.Conflict, "step %s was started meanwhile", n.Ref())
	}
	if err := after.keep(m.tx, m.root.ID, n, open); err != nil {
		return err
	}
	return endRun(m.tx, m.root.ID, open, plan.OutcomeStopped, causeMarkedDone)
}

// wasMarkedDone reports whether a run ended because its step was marked done. The
// error says why the step is not done all the same.
func (e *Engine) wasMarkedDone(ctx context.Context, id plan.RunID) (marked bool, err error) {
	err = e.store.Read(ctx, func(tx *store.Tx) error {
		run, err := tx.Run(id)
		if marked = err == nil && !run.Open() && run.Cause == causeMarkedDone; !marked {
			return err
		}
		n, err := tx.Node(run.Ref())
		if err == nil && n.RunID == id && n.State == plan.Failed {
			return plan.Errorf(plan.Conflict, "step %s is not done: %s", n.Ref(), deref(n.Error))
		}
		return err
	})
	return marked, err
}

func (e *Engine) mayMarkDone(ctx context.Context, r plan.Ref) error {
	return e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(r)
		if err != nil {
			return err
		}
		return betweenSubsteps(tx, n)
	})
}

// betweenSubsteps refuses to end a step that works through its subplan. One that
// waits for the first step of that may be ended: nothing else would.
func betweenSubsteps(tx *store.Tx, n *plan.Node) error {
	if n.Subplan == 0 || n.State != plan.Running {
		return nil
	}
	if begun, err := tx.Begun(n.Subplan); err != nil || !begun && n.RunID == "" {
		return err
	}
	return plan.Errorf(plan.Invalid, "step %s works through its subplan %d: mark the steps in it done", n.Ref(), n.Subplan)
}

// doneText is the result of a step that a person marked done.
func doneText(tx *store.Tx, n *plan.Node, given *string) (string, error) {
	if given != nil {
		return *given, nil
	}
	if n.RunID != "" {
		if text, err := tx.LastSaid(n.Ref(), n.RunID); err != nil || text != "" {
			return text, err
		}
	}
	return "Marked done by a person, without a result.", nil
}
