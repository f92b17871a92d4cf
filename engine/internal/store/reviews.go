package store

import "github.com/clearbox-go/clearbox/engine/plan"

const reviewColumns = `id, plan_id, node_id, run_id, verdict, summary, findings, agent_name, tokens_in, tokens_out, created_at`

const reviewOfNode = `SELECT ` + reviewColumns + ` FROM reviews
	WHERE plan_id = ? AND node_id = ? AND dropped = 0 ORDER BY id DESC LIMIT 1`

// ReviewOf returns the review of a node as it stands, nil when there is none.
func (t *Tx) ReviewOf(r plan.Ref) (*plan.Review, error) {
	var row plan.Review
	err := t.get("read a review", &row, reviewOfNode, r.Plan, r.Node)
	if isNone(err) {
		return nil, nil
	}
	return &row, err
}

const dropReviews = `UPDATE reviews SET dropped = 1 WHERE plan_id = ? AND node_id = ?`

// DropReviews sets the reviews of a node aside: it runs again.
func (t *Tx) DropReviews(r plan.Ref) error {
	_, err := t.exec("drop reviews", dropReviews, r.Plan, r.Node)
	return err
}
