package store

import "github.com/clearbox-go/clearbox/engine/plan"

const reviewColumns = `id, plan_id, node_id, run_id, kind, judged_run, state, profile_id, urgent, tries, asked, fault, verdict,
	summary, findings, criteria, check_exit, check_text, agent_name, tokens_in, tokens_out, created_at`

const reviewByID = `SELECT ` + reviewColumns + ` FROM reviews WHERE id = ?`

// Review returns a review; NotFound when it was given up or replaced.
func (t *Tx) Review(id int64) (*plan.Review, error) { return t.oneReview(reviewByID, id) }

const reviewByRun = `SELECT ` + reviewColumns + ` FROM reviews WHERE run_id = ?`

// ReviewByRun returns the review that a run works on.
func (t *Tx) ReviewByRun(run plan.RunID) (*plan.Review, error) { return t.oneReview(reviewByRun, run) }

func (t *Tx) oneReview(query string, arg any) (*plan.Review, error) {
	var row plan.Review
	err := t.get("read a review", &row, query, arg)
	if isNone(err) {
		return nil, plan.Errorf(plan.NotFound, "there is no such review any more")
	}
	return &row, err
}

const reviewOfNode = `SELECT ` + reviewColumns + ` FROM reviews
	WHERE plan_id = ?1 AND node_id = ?2 AND kind = ?3 AND dropped = 0 AND state = 'done' ORDER BY id DESC LIMIT 1`

// ReviewOf returns the verdict of a kind on a node, or (node 0) on a plan, as it
// stands; nil when there is none.
func (t *Tx) ReviewOf(r plan.Ref, kind plan.ReviewKind) (*plan.Review, error) {
	var row plan.Review
	err := t.get("read a review", &row, reviewOfNode, r.Plan, r.Node, kind)
	if isNone(err) {
		return nil, nil
	}
	return &row, err
}

const reviewsOfTree = `SELECT ` + reviewColumns + ` FROM reviews
	WHERE plan_id IN (SELECT id FROM plans WHERE root_id = ?) AND dropped = 0 ORDER BY id`

// ReviewsOf returns the reviews of a tree that count, those on their way too,
// the oldest first.
func (t *Tx) ReviewsOf(root plan.PlanID) ([]plan.Review, error) {
	var list []plan.Review
	err := t.list("read reviews", &list, reviewsOfTree, root)
	return list, err
}

const openReviews = `SELECT ` + reviewColumns + ` FROM reviews WHERE state <> 'done' ORDER BY id`

// OpenReviews returns the reviews that have no verdict yet, the oldest first.
func (t *Tx) OpenReviews() ([]plan.Review, error) {
	var list []plan.Review
	err := t.list("read open reviews", &list, openReviews)
	return list, err
}

const insertReview = `INSERT INTO reviews (plan_id, node_id, kind, judged_run, state, profile_id, urgent, verdict, created_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, '', ?) RETURNING id`

// InsertReview asks for a review and sets its ID. Without a state it is queued.
func (t *Tx) InsertReview(r *plan.Review) error {
	if r.State == "" {
		r.State = plan.ReviewQueued
	}
	if r.Kind == "" {
		r.Kind = plan.KindReview
	}
	r.CreatedAt = t.now
	return t.get("ask for a review", &r.ID, insertReview, r.PlanID, r.NodeID, r.Kind, r.JudgedRun, r.State, r.Profile, r.Urgent, t.now)
}

const updateReview = `UPDATE reviews SET run_id = ?, state = ?, tries = ?, asked = ?, fault = ?, verdict = ?, summary = ?,
	findings = ?, criteria = ?, check_exit = ?, check_text = ?, agent_name = ?, tokens_in = ?, tokens_out = ?, created_at = ? WHERE id = ?`

// UpdateReview writes how far a review is.
func (t *Tx) UpdateReview(r *plan.Review) error {
	_, err := t.exec("keep a review", updateReview, r.RunID, r.State, r.Tries, r.Asked, r.Fault, r.Verdict,
		r.Summary, r.Findings, jsonOf(r.Criteria), r.CheckExit, r.CheckText,
		r.AgentName, r.TokensIn, r.TokensOut, r.CreatedAt, r.ID)
	return err
}

const deleteReview = `DELETE FROM reviews WHERE id = ?`

// DeleteReview gives up a review that has no verdict.
func (t *Tx) DeleteReview(id int64) error {
	_, err := t.exec("give up a review", deleteReview, id)
	return err
}

const dropReviews = `UPDATE reviews SET dropped = 1 WHERE plan_id = ? AND node_id = ? AND kind = ? AND state = 'done'`

// DropReviews sets the verdicts of a kind on a node, or (node 0) on a plan, aside:
// it has changed since.
func (t *Tx) DropReviews(r plan.Ref, kind plan.ReviewKind) error {
	_, err := t.exec("drop reviews", dropReviews, r.Plan, r.Node, kind)
	return err
}

const judgementsOf = `SELECT ` + reviewColumns + ` FROM reviews WHERE plan_id = ? AND node_id = ? AND kind = 'judge' ORDER BY id`

// Judgements returns what judges found of all attempts at a node, the first first.
func (t *Tx) Judgements(r plan.Ref) ([]plan.Review, error) {
	var list []plan.Review
	err := t.list("read judgements", &list, judgementsOf, r.Plan, r.Node)
	return list, err
}

const hasChanges = `SELECT EXISTS (SELECT 1 FROM diffs WHERE run_id = ?)`

// HasChanges reports whether a run changed any file.
func (t *Tx) HasChanges(run plan.RunID) (bool, error) {
	var yes bool
	err := t.get("look for changes of a run", &yes, hasChanges, run)
	return yes, err
}
