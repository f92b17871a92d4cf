package store

import "github.com/clearbox-go/clearbox/engine/plan"

const goalColumns = `plan_id, goal, constraints, profile_id, rounds, feedback, problems, summary, tech_stack, risks, assumptions`

const goalOf = `SELECT ` + goalColumns + ` FROM goals WHERE plan_id = ?`

// Goal returns what a plan was made from; nil when it was not made from a goal.
func (t *Tx) Goal(id plan.PlanID) (*plan.Goal, error) {
	var g plan.Goal
	err := t.get("read a goal", &g, goalOf, id)
	if isNone(err) {
		return nil, nil
	}
	return &g, err
}

const saveGoal = `INSERT INTO goals (` + goalColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET rounds = excluded.rounds, feedback = excluded.feedback, problems = excluded.problems,
	summary = excluded.summary, tech_stack = excluded.tech_stack, risks = excluded.risks, assumptions = excluded.assumptions`

// SaveGoal keeps a goal, or what has become of it.
func (t *Tx) SaveGoal(g *plan.Goal) error {
	_, err := t.exec("keep a goal", saveGoal, g.PlanID, g.Text, g.Constraints, g.Planner, g.Rounds, g.Feedback, jsonOf(g.Problems),
		g.Summary, jsonOf(g.TechStack), jsonOf(g.Risks), jsonOf(g.Assumptions))
	return err
}

const revisionColumns = `plan_id, revision, author, feedback, created_at, decided, decided_at, reason`

const insertRevision = `INSERT INTO revisions (plan_id, revision, proposal, author, feedback, created_at) VALUES (?, ?, ?, ?, ?, ?)`

// InsertRevision keeps a plan as it stands.
func (t *Tx) InsertRevision(r *plan.Revision) error {
	r.CreatedAt = t.now
	_, err := t.exec("keep a revision", insertRevision, r.PlanID, r.Number, r.Proposal, r.Author, r.Feedback, r.CreatedAt)
	return err
}

const decideRevision = `UPDATE revisions SET decided = ?, decided_at = ?, reason = ? WHERE plan_id = ? AND revision = ?`

// DecideRevision notes what a person decided on a revision.
func (t *Tx) DecideRevision(id plan.PlanID, number int64, decided, reason string) error {
	_, err := t.exec("keep a decision", decideRevision, decided, t.now, reason, id, number)
	return err
}

const revisionsOf = `SELECT ` + revisionColumns + ` FROM revisions WHERE plan_id = ? ORDER BY revision`

// Revisions returns the revisions of a plan, the first first, without the plans.
func (t *Tx) Revisions(id plan.PlanID) ([]plan.Revision, error) {
	var list []plan.Revision
	err := t.list("read revisions", &list, revisionsOf, id)
	return list, err
}

const revisionByNumber = `SELECT ` + revisionColumns + `, proposal FROM revisions WHERE plan_id = ? AND revision = ?`

// Revision returns one revision whole; NotFound when there is none of that number.
func (t *Tx) Revision(id plan.PlanID, number int64) (*plan.Revision, error) {
	var r plan.Revision
	err := t.get("read a revision", &r, revisionByNumber, id, number)
	if isNone(err) {
		return nil, plan.Errorf(plan.NotFound, "plan %d has no revision %d", id, number)
	}
	return &r, err
}

const planningPlans = `SELECT id FROM plans WHERE approval = 'planning' ORDER BY id`

// PlanningPlans returns the plans that a planner is to work on.
func (t *Tx) PlanningPlans() ([]plan.PlanID, error) {
	var ids []plan.PlanID
	err := t.list("list plans in planning", &ids, planningPlans)
	return ids, err
}

var clearNodes = []string{
	`DELETE FROM edges WHERE plan_id = ?`,
	`DELETE FROM nodes WHERE plan_id = ?`,
	`UPDATE plans SET next_node_id = 1 WHERE id = ?`,
}

// ClearNodes removes all nodes of a plan of which none has ever run; numbering
// begins anew.
func (t *Tx) ClearNodes(id plan.PlanID) error {
	for _, q := range clearNodes {
		if _, err := t.exec("clear a plan", q, id); err != nil {
			return err
		}
	}
	return nil
}
