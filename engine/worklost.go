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
	if !discarded(run) && e.shadow != nil { // else isolate gives it a new copy
		if _, err := e.shadow.OpenWorktree(run.Worktree); err == nil {
			return false, nil
		}
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
