package store

import "github.com/clearbox-go/clearbox/engine/plan"

// OpenStep is a step that a person may want to look at: theirs to do or to decide,
// asking, silent or failed.
type OpenStep struct {
	PlanID     plan.PlanID   `db:"plan_id"`
	NodeID     plan.NodeID   `db:"node_id"`
	Root       plan.PlanID   `db:"root_id"`
	PlanTitle  string        `db:"plan_title"` // of the root
	Title      string        `db:"title"`
	Kind       plan.NodeKind `db:"kind"`
	State      plan.State    `db:"state"`
	Phase      plan.Phase    `db:"phase"`
	PhaseSince plan.Stamp    `db:"phase_since"`
	StalledAt  plan.Stamp    `db:"stalled_at"`
	Error      string        `db:"error"`
}

// Ref is the address of the step.
func (o *OpenStep) Ref() plan.Ref { return plan.Ref{Plan: o.PlanID, Node: o.NodeID} }

const openSteps = `SELECT n.plan_id, n.node_id, p.root_id, r.title AS plan_title, n.title, n.kind, n.state, n.phase, n.phase_since,
	n.stalled_at, COALESCE(n.error, '') AS error
	FROM plans r CROSS JOIN plans p ON p.root_id = r.id CROSS JOIN nodes n ON n.plan_id = p.id
	WHERE r.parent_plan_id = 0 AND r.started = 1 AND n.subplan_id = 0 AND n.state IN ('ready', 'running', 'failed')
	AND (n.state = 'failed' OR n.kind = 'user' OR n.stalled_at > 0 OR n.phase = 'needs_person'
		OR EXISTS (SELECT 1 FROM questions q WHERE q.answered_at = 0 AND q.plan_id = n.plan_id AND q.node_id = n.node_id))
	ORDER BY n.phase_since, n.plan_id, n.node_id`

// OpenSteps returns the steps of all started plans that a person may want to
// look at, the longest waiting first.
func (t *Tx) OpenSteps() ([]OpenStep, error) {
	var list []OpenStep
	err := t.list("read what waits for a person", &list, openSteps)
	return list, err
}
