package store

import (
	"cmp"
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const nodeColumns = `n.plan_id, n.node_id, n.title, n.description, n.kind, n.state, n.phase, n.profile_id, n.subplan_id,
	n.blockers, n.task_type, n.isolation, n.check_command, n.max_attempts, n.estimate_minutes, n.criteria, n.result,
	n.error, n.rework_brief, n.agent_kind, n.agent_name, n.agent_done, n.session_id, n.run_id, n.tokens_in, n.tokens_out,
	n.cost_usd, n.attempts, n.interruptions, n.not_before, n.skipped_by, n.skipped_cause, n.skip_note, n.undeclared,
	n.undeclared_more, n.undeclared_shared, n.created_at, n.phase_since, n.started_at, n.finished_at, n.attempts_before, n.stalled_at`

// Both lists come in the order of their primary keys.
const nodeByRef = `SELECT ` + nodeColumns + `,
	(SELECT group_concat(key || char(0) || path || char(0), '') FROM node_files f
		WHERE f.plan_id = n.plan_id AND f.node_id = n.node_id) AS files,
	(SELECT group_concat(from_node, ' ') FROM results_from r
		WHERE r.plan_id = n.plan_id AND r.node_id = n.node_id) AS results_from
	FROM nodes n WHERE n.plan_id = ? AND n.node_id = ?`

// Node returns a node with all its lists; NotFound when there is none.
func (t *Tx) Node(r plan.Ref) (*plan.Node, error) {
	n := &plan.Node{}
	found, err := t.row("read step", nodeByRef, []any{r.Plan, r.Node}, func(c *cells) error {
		if err := c.node(n); err != nil {
			return err
		}
		return c.lists(n)
	})
	switch {
	case err != nil:
		return nil, err
	case found:
		return n, nil
	}
	if _, err := t.Plan(r.Plan); err != nil {
		return nil, err
	}
	return nil, plan.Errorf(plan.NotFound, "plan %d has no step %d", r.Plan, r.Node)
}

const insertNodes = `INSERT INTO nodes (plan_id, node_id, title, description, kind, profile_id, task_type, isolation,
	check_command, max_attempts, estimate_minutes, criteria, created_at)
	SELECT ?1, v ->> 0, v ->> 1, v ->> 2, v ->> 3, v ->> 4, v ->> 5, v ->> 6, v ->> 7, v ->> 8, v ->> 9, v -> 10, ?2
	FROM (SELECT value AS v FROM json_each(?3))`

const insertFiles = `INSERT INTO node_files (plan_id, node_id, key, path)
	SELECT ?1, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?2)`

const insertResultsFrom = `INSERT INTO results_from (plan_id, node_id, from_node)
	SELECT ?1, value ->> 0, value ->> 1 FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`

// InsertNodes adds nodes, pending, with their files and requests for results.
// The nodes carry their numbers.
func (t *Tx) InsertNodes(id plan.PlanID, nodes []*plan.Node) error {
	var rows, files, from [][]any
	for _, n := range nodes {
		n.PlanID, n.State, n.CreatedAt = id, plan.Pending, t.now
		criteria := n.Criteria
		if criteria == nil {
			criteria = []string{}
		}
		rows = append(rows, []any{n.ID, n.Title, n.Description, n.Kind, n.Profile, n.TaskType, n.Isolation,
			n.CheckCommand, n.MaxAttempts, n.EstimateMinutes, criteria})
		for _, f := range n.Files {
			files = append(files, []any{n.ID, f.Key, f.Path})
		}
		for _, f := range n.ResultsFrom {
			from = append(from, []any{n.ID, f})
		}
	}
	if _, err := t.exec("insert steps", insertNodes, id, t.now, jsonOf(rows)); err != nil {
		return err
	}
	if _, err := t.exec("insert files", insertFiles, id, jsonOf(files)); err != nil {
		return err
	}
	_, err := t.exec("insert requests for results", insertResultsFrom, id, jsonOf(from))
	return err
}

const updateNode = `UPDATE nodes SET title = ?, description = ?, kind = ?, profile_id = ?, task_type = ?,
	isolation = ?, check_command = ?, max_attempts = ?, estimate_minutes = ?, criteria = ?
	WHERE plan_id = ? AND node_id = ?`

// UpdateNode writes what people and planners decide about a node. Its files and
// requests for results have calls of their own, and its state has SetState.
func (t *Tx) UpdateNode(n *plan.Node) error {
	_, err := t.exec("update step", updateNode, n.Title, n.Description, n.Kind, n.Profile, n.TaskType,
		n.Isolation, n.CheckCommand, n.MaxAttempts, n.EstimateMinutes, jsonOf(n.Criteria), n.PlanID, n.ID)
	return err
}

const deleteFiles = `DELETE FROM node_files WHERE plan_id = ? AND node_id = ?`

// SetFiles replaces the declared files of a node.
func (t *Tx) SetFiles(r plan.Ref, files []plan.File) error {
	if _, err := t.exec("clear files", deleteFiles, r.Plan, r.Node); err != nil {
		return err
	}
	rows := make([][]any, len(files))
	for i, f := range files {
		rows[i] = []any{r.Node, f.Key, f.Path}
	}
	_, err := t.exec("insert files", insertFiles, r.Plan, jsonOf(rows))
	return err
}

const deleteResultsFrom = `DELETE FROM results_from WHERE plan_id = ? AND node_id = ?`

// SetResultsFrom replaces the list of nodes whose results a node gets.
func (t *Tx) SetResultsFrom(r plan.Ref, from []plan.NodeID) error {
	if _, err := t.exec("clear requests for results", deleteResultsFrom, r.Plan, r.Node); err != nil {
		return err
	}
	rows := make([][]any, len(from))
	for i, f := range from {
		rows[i] = []any{r.Node, f}
	}
	_, err := t.exec("insert requests for results", insertResultsFrom, r.Plan, jsonOf(rows))
	return err
}

const deleteNode = `DELETE FROM nodes WHERE plan_id = ? AND node_id = ?`

const deleteNodeEvents = `DELETE FROM events WHERE plan_id = ? AND node_id = ?`

// Cascades of foreign keys do not run the triggers that count open
// prerequisites, so the edges to dependants go first, by a statement of their own.
const deleteEdgesFrom = `DELETE FROM edges WHERE plan_id = ? AND from_node = ?`

// DeleteNode removes a node with its edges, requests and transcript. Its subplan
// has to be gone before.
func (t *Tx) DeleteNode(r plan.Ref) error {
	for _, q := range []string{deleteEdgesFrom, deleteNodeEvents, deleteNode} {
		if _, err := t.exec("delete step", q, r.Plan, r.Node); err != nil {
			return err
		}
	}
	return nil
}

const setState = `UPDATE nodes SET state = ?, phase = ?, result = ?, error = ?, rework_brief = ?, agent_kind = ?,
	agent_name = ?, agent_done = ?, session_id = ?, run_id = ?, tokens_in = ?, tokens_out = ?, cost_usd = ?,
	attempts = ?, interruptions = ?, not_before = ?, skipped_by = ?, skipped_cause = ?, skip_note = ?, undeclared = ?,
	undeclared_more = ?, undeclared_shared = ?, phase_since = ?, started_at = ?, finished_at = ?, attempts_before = ?,
	stalled_at = ?
	WHERE plan_id = ? AND node_id = ? AND state = ?`

// SetState writes everything about a node that changes as it runs. It is a
// Conflict when the node is no longer in state from: then nothing is changed.
// Whether the change is allowed is for plan.Next to say.
func (t *Tx) SetState(n *plan.Node, from plan.State) error {
	done, err := t.exec("set the state of step "+n.Ref().String(), setState, n.State, n.Phase, n.Result, n.Error,
		n.ReworkBrief, n.AgentKind, n.AgentName, n.AgentDone, n.SessionID, n.RunID, n.TokensIn, n.TokensOut, n.CostUSD,
		n.Attempts, n.Interruptions, n.NotBefore, n.SkippedBy, n.SkippedCause, n.SkipNote, jsonOf(n.Undeclared),
		n.UndeclaredMore, n.UndeclaredShared, n.PhaseSince, n.StartedAt, n.FinishedAt,
		n.AttemptsBefore, n.StalledAt, n.PlanID, n.ID, from)
	if err == nil && done == 0 {
		err = plan.Errorf(plan.Conflict, "step %s is no longer %s", n.Ref(), from)
	}
	return err
}

const nodesInState = `SELECT node_id FROM nodes WHERE plan_id = ? AND state = ? ORDER BY node_id`

// NodesIn returns the nodes of a plan that are in a state.
func (t *Tx) NodesIn(id plan.PlanID, s plan.State) ([]plan.NodeID, error) {
	var ids []plan.NodeID
	err := t.list("list steps by state", &ids, nodesInState, id, s)
	return ids, err
}

const startable = `SELECT node_id FROM nodes WHERE plan_id = ? AND state = 'pending' AND blockers = 0 ORDER BY node_id`

// Startable returns the pending nodes of a plan with no open prerequisite.
func (t *Tx) Startable(id plan.PlanID) ([]plan.NodeID, error) {
	var ids []plan.NodeID
	err := t.list("list startable steps", &ids, startable, id)
	return ids, err
}

// This and the other queries that each change of a node needs have no join, no
// ORDER BY and no bound LIMIT: with any of those SQLite prepares the query anew
// each time its parameters are bound, which costs far more than running it.
const freedBy = `SELECT node_id FROM nodes WHERE plan_id = ?1
	AND node_id IN (SELECT to_node FROM edges WHERE plan_id = ?1 AND from_node = ?2)
	AND state = 'pending' AND blockers = 0`

// FreedBy returns the dependants of a node that have no open prerequisite left.
func (t *Tx) FreedBy(r plan.Ref) ([]plan.NodeID, error) {
	ids, err := numbers[plan.NodeID](t, "list freed steps", freedBy, r.Plan, r.Node)
	slices.Sort(ids)
	return ids, err
}

const activeFacts = `SELECT n.plan_id, n.node_id, n.state, n.phase, n.kind, n.profile_id, n.subplan_id, n.not_before,
	n.agent_kind, CASE WHEN n.state = 'running' THEN
		COALESCE((SELECT profile_id FROM runs r WHERE r.id = n.run_id AND r.outcome = ''), 0) ELSE 0 END AS agent_id
	FROM nodes n JOIN plans p ON p.id = n.plan_id
	WHERE p.root_id = ? AND n.state IN ('ready', 'running') ORDER BY n.plan_id, n.node_id`

const activeKeys = `SELECT f.plan_id, f.node_id, f.key FROM node_files f
	JOIN nodes n ON n.plan_id = f.plan_id AND n.node_id = f.node_id JOIN plans p ON p.id = n.plan_id
	WHERE p.root_id = ? AND n.state IN ('ready', 'running') ORDER BY f.plan_id, f.node_id, f.key`

func (t *Tx) activeFacts(root plan.PlanID) ([]plan.NodeFacts, error) {
	var facts []plan.NodeFacts
	if err := t.list("read step facts", &facts, activeFacts, root); err != nil {
		return nil, err
	}
	var keys []struct {
		PlanID plan.PlanID `db:"plan_id"`
		NodeID plan.NodeID `db:"node_id"`
		Key    string      `db:"key"`
	}
	if err := t.list("read step files", &keys, activeKeys, root); err != nil {
		return nil, err
	}
	at := map[plan.Ref]int{}
	for i := range facts {
		at[facts[i].Ref()] = i
	}
	for _, k := range keys {
		i := at[plan.Ref{Plan: k.PlanID, Node: k.NodeID}]
		facts[i].Keys = append(facts[i].Keys, k.Key)
	}
	return facts, nil
}

const finalNodes = `SELECT n.plan_id, n.node_id, n.title, n.state, n.skipped_by, n.skip_note, n.result FROM nodes n
	WHERE n.plan_id = ? AND NOT EXISTS (SELECT 1 FROM edges e WHERE e.plan_id = n.plan_id AND e.from_node = n.node_id) ORDER BY n.node_id`

// FinalNodes returns the nodes of a plan that nothing depends on, with title, state
// and result alone.
func (t *Tx) FinalNodes(id plan.PlanID) ([]plan.Node, error) {
	var nodes []plan.Node
	err := t.list("read the last steps of a plan", &nodes, finalNodes, id)
	return nodes, err
}

const nearColumns = `SELECT plan_id, node_id, title, state, kind, subplan_id, skipped_by FROM nodes WHERE plan_id = ?1 AND `

const nearby = nearColumns + `node_id BETWEEN ?2 - 12 AND ?2 + 12 UNION ALL ` +
	nearColumns + `node_id IN (SELECT from_node FROM edges WHERE plan_id = ?1 AND to_node = ?2 LIMIT 12) UNION ALL ` +
	nearColumns + `node_id IN (SELECT to_node FROM edges WHERE plan_id = ?1 AND from_node = ?2 LIMIT 12)`

// Nearby returns the nodes of a plan that matter most to one of them: those
// numbered next to it, and those right before and after it; about two dozen,
// however large the plan is. Title and state alone are read.
func (t *Tx) Nearby(r plan.Ref) ([]*plan.Node, error) {
	var nodes []*plan.Node
	err := t.rows("read the steps around a step", nearby, []any{r.Plan, r.Node}, func(c *cells) error {
		n := &plan.Node{PlanID: plan.PlanID(c.int()), ID: plan.NodeID(c.int()), Title: c.text(), State: plan.State(c.text()),
			Kind: plan.NodeKind(c.text()), Subplan: plan.PlanID(c.int()), SkippedBy: c.text()}
		if n.ID != r.Node {
			nodes = append(nodes, n)
		}
		return nil
	})
	slices.SortFunc(nodes, func(a, b *plan.Node) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(nodes, func(a, b *plan.Node) bool { return a.ID == b.ID }), err
}
