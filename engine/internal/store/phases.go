package store

import "github.com/clearbox-go/clearbox/engine/plan"

const setWait = `UPDATE nodes SET phase = ?, phase_since = ? WHERE plan_id = ? AND node_id = ? AND state = 'ready'`

// SetWait notes what a ready node has waited for since a moment; what it waited
// for until then is kept.
func (t *Tx) SetWait(n *plan.Node, w plan.Wait) error {
	since := max(w.Since, n.PhaseSince)
	_, err := t.exec("note what a step waits for", setWait, w.Phase, since, n.PlanID, n.ID)
	n.Phase, n.PhaseSince = w.Phase, since
	return err
}

// Stretch is a time that a node spent in one state and phase, and has left.
type Stretch struct {
	PlanID plan.PlanID `db:"plan_id"`
	NodeID plan.NodeID `db:"node_id"`
	RunID  plan.RunID  `db:"run_id"`
	State  plan.State  `db:"state"`
	Phase  plan.Phase  `db:"phase"`
	Since  plan.Stamp  `db:"since"`
	Until  plan.Stamp  `db:"until"`
}

const phasesOfPlan = `SELECT plan_id, node_id, run_id, state, phase, since, until FROM phases
	WHERE plan_id = ?1 AND (?2 = 0 OR node_id = ?2) ORDER BY node_id, since, id`

// Phases returns the times that the nodes of a plan (node 0), or one of them, spent
// waiting and working. The phase that a node is in now is on the node itself.
func (t *Tx) Phases(r plan.Ref) ([]Stretch, error) {
	var list []Stretch
	err := t.list("read the phases of a plan", &list, phasesOfPlan, r.Plan, r.Node)
	return list, err
}

const phasesOfTree = `SELECT ph.plan_id, node_id, run_id, state, phase, since, until FROM phases ph
	JOIN plans p ON p.id = ph.plan_id WHERE p.root_id = ? ORDER BY ph.plan_id, node_id, since, ph.id`

// TreePhases returns what Phases does for all plans of a tree.
func (t *Tx) TreePhases(root plan.PlanID) ([]Stretch, error) {
	var list []Stretch
	err := t.list("read the phases of a tree", &list, phasesOfTree, root)
	return list, err
}

const runTimesOfTree = `SELECT r.plan_id, r.node_id, r.id, r.number, r.kind, r.outcome, r.cause, r.agent_name, r.started_at, r.finished_at
	FROM runs r JOIN plans p ON p.id = r.plan_id WHERE p.root_id = ? ORDER BY r.plan_id, r.node_id, r.number`

// TreeRuns returns the runs of all steps of a tree: when they were, whose and
// what became of them, and nothing more of them.
func (t *Tx) TreeRuns(root plan.PlanID) ([]plan.Run, error) {
	var list []plan.Run
	err := t.list("read the runs of a tree", &list, runTimesOfTree, root)
	return list, err
}
