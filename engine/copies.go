package engine

import (
	"context"
	"slices"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// How long the copy lives that an isolated step works in: over all attempts, however
// often the server or the plan is stopped meanwhile, until its work was brought back,
// has failed, or is not wanted.

// lastRun returns the last run of a node, nil when it has none.
func (e *Engine) lastRun(ctx context.Context, n *plan.Node) (run *plan.Run, err error) {
	if n.RunID == "" {
		return nil, nil
	}
	err = e.store.Read(ctx, func(tx *store.Tx) error {
		run, err = tx.Run(n.RunID)
		return err
	})
	return run, err
}

// discarded reports whether a person ended a run whose work was not wanted: that of
// a stopped step. The end of the server, and a stop of the whole plan, are no verdict:
// the step goes on in the copy that it has.
func discarded(run *plan.Run) bool {
	return run.Outcome == plan.OutcomeStopped && run.Cause != causeShutdown && run.Cause != causePlanStopped
}

// copiesOf returns the copies that steps of some plans may yet go on in, for those who
// remove the steps, or what they did.
func (e *Engine) copiesOf(tx *store.Tx, plans []plan.PlanID) ([]string, error) {
	if e.shadow == nil {
		return nil, nil
	}
	nodes, err := tx.IsolatedNodes()
	var ids []string
	for _, n := range nodes {
		if slices.Contains(plans, n.PlanID) {
			ids = append(ids, n.Worktree)
		}
	}
	return ids, err
}

// copiesUnder returns the copy of a node, and those of the nodes in its subplan.
func (e *Engine) copiesUnder(tx *store.Tx, n *plan.Node) (ids []string, err error) {
	if n.Subplan != 0 {
		inside, err := tx.Subtree(n.Subplan)
		if err != nil {
			return nil, err
		}
		if ids, err = e.copiesOf(tx, inside); err != nil {
			return nil, err
		}
	}
	if n.RunID == "" {
		return ids, nil
	}
	run, err := tx.Run(n.RunID)
	if err != nil || run.Worktree == "" {
		return ids, err
	}
	return append(ids, run.Worktree), nil
}

func (e *Engine) dropWorktrees(ids []string) {
	for _, id := range ids {
		e.dropWorktree(id)
	}
}

// dropWorktree removes a worktree that nobody needs any more.
func (e *Engine) dropWorktree(id string) {
	if id == "" || e.shadow == nil {
		return
	}
	if err := e.shadow.RemoveWorktree(id); err != nil {
		e.log.Warn("remove a worktree", "worktree", id, "err", err)
	}
}

// dropUnneeded removes the worktree of a run that has ended, unless its step still
// needs it: for another attempt, or for a verdict.
func (e *Engine) dropUnneeded(ctx context.Context, run *plan.Run) {
	if run.Worktree == "" || e.shadow == nil {
		return
	}
	needed := false
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(run.Ref())
		if err == nil {
			needed = unended(n.State) && !discarded(run)
		}
		return err
	})
	if err == nil && !needed || plan.KindOf(err) == plan.NotFound {
		e.dropWorktree(run.Worktree)
	}
}

// settleIsolated does what a verdict on an isolated step asks for: its work is
// brought back, or its worktree goes.
func (e *Engine) settleIsolated(ctx context.Context, r plan.Ref) {
	if r.Node == 0 {
		return
	}
	if e.applying(ctx, r) {
		e.spawn(func() { e.applyStep(context.WithoutCancel(ctx), r) })
	}
	if e.shadow == nil {
		return
	}
	var n *plan.Node
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.Node(r)
		return err
	})
	if err != nil {
		return
	}
	if run, err := e.lastRun(ctx, n); err == nil && run != nil {
		e.dropUnneeded(ctx, run)
	}
}

// unended reports whether a node in a state may yet go on in the copy of its last run.
func unended(s plan.State) bool {
	return s == plan.Pending || s == plan.Ready || s == plan.Running
}

// recoverWorktrees settles what an earlier process left of worktrees, and goes on
// with steps that were being applied.
func (e *Engine) recoverWorktrees(ctx context.Context) error {
	needed := map[string]bool{}
	var applying []plan.Ref
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		nodes, err := tx.IsolatedNodes()
		for _, n := range nodes {
			needed[n.Worktree] = true
			if n.State == plan.Running && n.Phase == plan.PhaseApplying {
				applying = append(applying, plan.Ref{Plan: n.PlanID, Node: n.NodeID})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if e.shadow != nil {
		if _, err := e.shadow.RecoverWorktrees(ctx, func(id string) bool { return needed[id] }); err != nil {
			e.log.Warn("recover worktrees", "err", err)
		}
	}
	for _, r := range applying {
		e.spawn(func() { e.applyStep(context.WithoutCancel(ctx), r) })
	}
	return nil
}
