package engine

import (
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// workLost reports whether what the last run of a step did in a copy of its own is
// neither in the folder nor in a copy that the next run goes on in.
func (e *Engine) workLost(tx *store.Tx, n *plan.Node) (bool, error) {
	if n.RunID == "" {
		return false, nil
	}
	run, err := tx.Run(n.RunID)
	if err != nil || run.Worktree == "" {
		return false, err
	}
	if goesOn, err := e.goesOnInCopy(tx, n, run); err != nil || goesOn {
		return false, err
	}
	states, err := tx.StatesOfRun(run)
	if err != nil {
		return false, err
	}
	for _, to := range states {
		if to == plan.Done || to == plan.Failed {
			return to == plan.Failed, nil // what was done, was brought back first
		}
	}
	pruned := len(states) == 0
	return !pruned || run.Outcome != plan.OutcomeDone, nil
}

// goesOnInCopy reports whether the next run of a step would work in the copy of its
// last one; see isolate.
func (e *Engine) goesOnInCopy(tx *store.Tx, n *plan.Node, last *plan.Run) (bool, error) {
	if e.shadow == nil || discarded(last) {
		return false, nil
	}
	if _, err := e.shadow.OpenWorktree(last.Worktree); err != nil {
		return false, nil
	}
	root, err := tx.RootPlan(n.PlanID)
	if err != nil || root.Executor == plan.External { // who claims a step works in the folder
		return false, err
	}
	agent, err := e.agentOf(tx, n)
	if plan.KindOf(err) == plan.NotFound {
		return false, nil // it was deleted: nobody runs the step as it is
	}
	return err == nil && e.isolationOf(root, n, agent.Profile) == worktree, err
}
