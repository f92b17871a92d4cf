package store

import (
	"fmt"
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const planColumns = `id, root_id, parent_plan_id, parent_node_id, title, description, working_directory,
	default_profile_id, review_profile_id, executor, started, started_at, first_started_at, finished_at,
	approval, revision, next_node_id, created_at, max_parallel, test_instructions, isolation, on_failure,
	review_policy, max_attempts, max_tokens, max_cost_usd, check_command, deliver, stall_after,
	spent_tokens, spent_cost_usd, spent_uncosted`

const planByID = `SELECT ` + planColumns + ` FROM plans WHERE id = ?`

// Plan returns a plan; NotFound when there is none of that id.
func (t *Tx) Plan(id plan.PlanID) (*plan.Plan, error) {
	return t.onePlan(planByID, id)
}

func (t *Tx) onePlan(query string, id plan.PlanID) (*plan.Plan, error) {
	p := &plan.Plan{}
	found, err := t.row("read plan", query, []any{id}, func(c *cells) error {
		c.plan(p)
		return nil
	})
	if err == nil && !found {
		err = plan.Errorf(plan.NotFound, "there is no plan %d", id)
	}
	return p, err
}

const rootPlan = `SELECT ` + planColumns + ` FROM plans WHERE id = (SELECT root_id FROM plans WHERE id = ?)`

// RootPlan returns the top-level plan of the tree that a plan belongs to;
// NotFound when there is no such plan.
func (t *Tx) RootPlan(id plan.PlanID) (*plan.Plan, error) { return t.onePlan(rootPlan, id) }

const insertPlan = `INSERT INTO plans (root_id, parent_plan_id, parent_node_id, title, description,
	working_directory, folder_key, default_profile_id, review_profile_id, approval, created_at, max_parallel,
	test_instructions, isolation, on_failure, review_policy, max_attempts, max_tokens, max_cost_usd,
	check_command, deliver, stall_after)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`

const rootIsSelf = `UPDATE plans SET root_id = id WHERE id = ?`

const attachSubplan = `UPDATE nodes SET subplan_id = ? WHERE plan_id = ? AND node_id = ? AND subplan_id = 0`

// InsertPlan adds a plan and sets its ID, and its Root when it is top-level. A
// subplan is attached to its node; a node that has one already is a Conflict.
func (t *Tx) InsertPlan(p *plan.Plan, folderKey string) error {
	p.CreatedAt, p.NextNode = t.now, 1
	if p.Approval == "" {
		p.Approval = plan.NoApproval
	}
	err := t.get("insert plan", &p.ID, insertPlan, p.Root, p.ParentPlan, p.ParentNode, p.Title, p.Description,
		p.WorkDir, folderKey, p.DefaultProfile, p.ReviewProfile, p.Approval, p.CreatedAt, p.MaxParallel,
		p.TestInstructions, p.Isolation, p.OnFailure, p.ReviewPolicy, p.MaxAttempts, p.MaxTokens, p.MaxCostUSD,
		p.CheckCommand, p.Deliver, p.StallAfter)
	if err != nil {
		return err
	}
	if p.TopLevel() {
		p.Root = p.ID
		_, err = t.exec("set the root of a plan", rootIsSelf, p.ID)
		return err
	}
	n, err := t.exec("attach a subplan", attachSubplan, p.ID, p.ParentPlan, p.ParentNode)
	if err == nil && n == 0 {
		err = plan.Errorf(plan.Conflict, "step %s got a subplan meanwhile", p.Parent())
	}
	return err
}

const updatePlan = `UPDATE plans SET title = ?, description = ?, working_directory = ?, folder_key = ?,
	default_profile_id = ?, review_profile_id = ?, executor = ?, started = ?, started_at = ?, first_started_at = ?,
	finished_at = ?, approval = ?, revision = ?, max_parallel = ?, test_instructions = ?, isolation = ?,
	on_failure = ?, review_policy = ?, max_attempts = ?, max_tokens = ?, max_cost_usd = ?, check_command = ?,
	deliver = ?, stall_after = ? WHERE id = ?`

// UpdatePlan writes all fields of a plan that can change.
func (t *Tx) UpdatePlan(p *plan.Plan, folderKey string) error {
	n, err := t.exec("update plan", updatePlan, p.Title, p.Description, p.WorkDir, folderKey,
		p.DefaultProfile, p.ReviewProfile, p.Executor, p.Started, p.StartedAt, p.FirstStart,
		p.FinishedAt, p.Approval, p.Revision, p.MaxParallel, p.TestInstructions, p.Isolation,
		p.OnFailure, p.ReviewPolicy, p.MaxAttempts, p.MaxTokens, p.MaxCostUSD, p.CheckCommand,
		p.Deliver, p.StallAfter, p.ID)
	if err == nil && n == 0 {
		err = plan.Errorf(plan.NotFound, "there is no plan %d", p.ID)
	}
	return err
}

const takeNodeIDs = `UPDATE plans SET next_node_id = next_node_id + ? WHERE id = ? RETURNING next_node_id - ?`

// TakeNodeIDs reserves n numbers for nodes of a plan and returns the first.
func (t *Tx) TakeNodeIDs(id plan.PlanID, n int) (first plan.NodeID, err error) {
	err = t.get("number nodes", &first, takeNodeIDs, n, id, n)
	return first, err
}

const subtreePlans = `WITH RECURSIVE sub (id) AS (
	SELECT ? UNION ALL SELECT p.id FROM plans p JOIN sub ON p.parent_plan_id = sub.id)
	SELECT id FROM sub ORDER BY id`

// Subtree returns a plan and all plans nested in it, ascending.
func (t *Tx) Subtree(id plan.PlanID) ([]plan.PlanID, error) {
	var ids []plan.PlanID
	err := t.list("list nested plans", &ids, subtreePlans, id)
	return ids, err
}

// What belongs to a plan without a foreign key.
var planLeftovers = []string{
	`DELETE FROM events WHERE plan_id = ?`,
	`DELETE FROM questions WHERE plan_id = ?`,
	`DELETE FROM tallies WHERE plan_id = ?`,
	`DELETE FROM plans WHERE id = ?`,
}

// DeletePlans removes plans with all that belongs to them.
func (t *Tx) DeletePlans(ids []plan.PlanID) error {
	for i := len(ids) - 1; i >= 0; i-- {
		for _, q := range planLeftovers {
			if _, err := t.exec(fmt.Sprintf("delete plan %d", ids[i]), q, ids[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

const startedRoots = `SELECT id FROM plans WHERE started = 1 AND parent_plan_id = 0 ORDER BY id`

// StartedRoots returns the top-level plans that are started.
func (t *Tx) StartedRoots() ([]plan.PlanID, error) {
	var ids []plan.PlanID
	err := t.list("list started plans", &ids, startedRoots)
	return ids, err
}

// Folder is the working directory of a plan that is at work in it.
type Folder struct {
	ID      plan.PlanID `db:"id"`
	Title   string      `db:"title"`
	Key     string      `db:"folder_key"`
	Started bool        `db:"started"` // else its agents are about to end
}

const rootsAtWork = `SELECT DISTINCT p.root_id FROM runs r JOIN plans p ON p.id = r.plan_id
	WHERE r.outcome = '' AND r.kind = 'step'`

// RootsAtWork returns the top-level plans that are started, and those whose built-in
// agents are still at work although they were stopped.
func (t *Tx) RootsAtWork() ([]plan.PlanID, error) {
	ids, err := t.StartedRoots()
	if err != nil {
		return nil, err
	}
	var more []plan.PlanID
	if err := t.list("list plans at work", &more, rootsAtWork); err != nil {
		return nil, err
	}
	ids = append(ids, more...)
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

const busyFolders = `SELECT id, title, folder_key, started FROM plans p WHERE started = 1 AND parent_plan_id = 0
	AND EXISTS (SELECT 1 FROM tallies t JOIN plans q ON q.id = t.plan_id
		WHERE q.root_id = p.id AND t.n > 0 AND t.state IN ('pending', 'ready', 'running'))
	UNION SELECT id, title, folder_key, started FROM plans WHERE id IN (` + rootsAtWork + `)`

// BusyFolders returns the folders that started plans hold, and those in which agents
// of stopped ones are still at work.
func (t *Tx) BusyFolders() ([]Folder, error) {
	var list []Folder
	err := t.list("list folders in use", &list, busyFolders)
	return list, err
}

const planFacts = `SELECT p.id, p.root_id, p.parent_plan_id, p.parent_node_id, p.default_profile_id,
	r.started, r.executor, r.max_parallel, r.approval,
	(r.max_tokens > 0 AND r.spent_tokens >= r.max_tokens)
		OR (r.max_cost_usd > 0 AND r.spent_cost_usd >= r.max_cost_usd) AS over_budget
	FROM plans p JOIN plans r ON r.id = p.root_id WHERE `

// PlanFacts returns what the scheduler needs to know of a plan.
func (t *Tx) PlanFacts(id plan.PlanID) (plan.PlanFacts, error) {
	var f plan.PlanFacts
	err := t.get("read plan facts", &f, planFacts+"p.id = ?", id)
	return f, err
}

// TreeFacts returns what the scheduler needs to know of a whole tree: its plans
// and those nodes that are ready or running.
func (t *Tx) TreeFacts(root plan.PlanID) (plan.Facts, error) {
	var f plan.Facts
	if err := t.list("read plan facts", &f.Plans, planFacts+"p.root_id = ? ORDER BY p.id", root); err != nil {
		return f, err
	}
	var err error
	f.Nodes, err = t.activeFacts(root)
	return f, err
}

const setFinished = `UPDATE plans SET finished_at = ? WHERE id = ?`

// SetFinished notes when a plan was over; 0 when it no longer is.
func (t *Tx) SetFinished(id plan.PlanID, at plan.Stamp) error {
	_, err := t.exec("note the end of a plan", setFinished, at, id)
	return err
}
