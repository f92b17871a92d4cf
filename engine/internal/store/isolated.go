package store

import "github.com/clearbox-go/clearbox/engine/plan"

// Isolated is a node whose last run worked in a worktree.
type Isolated struct {
	PlanID   plan.PlanID `db:"plan_id"`
	NodeID   plan.NodeID `db:"node_id"`
	State    plan.State  `db:"state"`
	Phase    plan.Phase  `db:"phase"`
	Worktree string      `db:"worktree"`
}

const isolatedNodes = `SELECT n.plan_id, n.node_id, n.state, n.phase, r.worktree FROM nodes n JOIN runs r ON r.id = n.run_id
	WHERE n.state IN ('pending', 'ready', 'running') AND n.run_id <> '' AND r.worktree <> ''`

// IsolatedNodes returns the nodes that are not over and whose last run worked in a
// worktree.
func (t *Tx) IsolatedNodes() ([]Isolated, error) {
	var list []Isolated
	err := t.list("list isolated steps", &list, isolatedNodes)
	return list, err
}
