package store

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const runColumns = `id, plan_id, node_id, number, kind, outcome, cause, profile_id, agent_name, harness, model, capability,
	session_id, token_hash, token_role, isolation, worktree, base_tree, end_tree, attach, acked, tokens_in, tokens_out,
	cost_usd, num_turns, result, stopping, started_at, finished_at, base_took, end_took, left_out, start_cause, max_tokens`

const insertRun = `INSERT INTO runs (id, plan_id, node_id, number, kind, profile_id, agent_name, harness, model, capability,
	system_id, token_hash, token_role, isolation, worktree, base_tree, base_took, left_out, started_at,
	start_cause, max_tokens)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Prompts are kept apart from their runs, which change more than once: a row is
// written whole each time.
const insertPrompt = `INSERT INTO prompts (run_id, text) VALUES (?, ?)`

// MAX in the statement that inserts would have it prepared anew each time.
const runNumbers = `SELECT number FROM runs WHERE plan_id = ? AND node_id = ?`

const keepSystem = `INSERT INTO system_texts (id, text) VALUES (?, ?) ON CONFLICT DO NOTHING`

// systemID numbers a system text by its content: looking it up by a hash is
// cheaper than by a text of several thousand characters.
func systemID(text string) int64 {
	h := sha256.Sum256([]byte(text))
	return int64(binary.BigEndian.Uint64(h[:]) >> 1)
}

// InsertRun adds an open run and sets its Number and StartedAt.
func (t *Tx) InsertRun(r *plan.Run) error {
	r.StartedAt = t.now
	system := systemID(r.System)
	if err := t.do("keep a system text", keepSystem, system, r.System); err != nil {
		return err
	}
	taken, err := numbers[int](t, "number a run", runNumbers, r.PlanID, r.NodeID)
	if err != nil {
		return err
	}
	r.Number = slices.Max(append(taken, 0)) + 1
	err = t.do("insert run", insertRun, r.ID, r.PlanID, r.NodeID, r.Number, r.Kind, r.Profile, r.AgentName, r.Harness,
		r.Model, r.Capability, system, r.TokenHash, r.TokenRole, r.Isolation, r.Worktree, r.BaseTree,
		r.BaseTook, jsonOf(r.LeftOut), r.StartedAt, r.StartCause, r.MaxTokens)
	if err != nil || r.Prompt == "" {
		return err
	}
	return t.do("keep a prompt", insertPrompt, r.ID, r.Prompt)
}

const runByID = `SELECT ` + runColumns + ` FROM runs WHERE id = ?`

// Run returns a run without its prompt; NotFound when there is none.
func (t *Tx) Run(id plan.RunID) (*plan.Run, error) { return t.oneRun(runByID, id) }

func (t *Tx) oneRun(query string, arg any) (*plan.Run, error) {
	r := &plan.Run{}
	found, err := t.row("read run", query, []any{arg}, func(c *cells) error {
		return c.run(r)
	})
	if err == nil && !found {
		err = plan.Errorf(plan.NotFound, "there is no such run")
	}
	return r, err
}

// The exact words of a run, as columns beside its others.
const wordsOf = `COALESCE((SELECT text FROM prompts p WHERE p.run_id = runs.id), '') AS prompt,
	COALESCE((SELECT text FROM system_texts s WHERE s.id = system_id), '') AS system`

const runByNumber = `SELECT ` + runColumns + `, ` + wordsOf + `
	FROM runs WHERE plan_id = ? AND node_id = ? AND number = ?`

// RunByNumber returns a run of a node with its prompt; NotFound when there is none.
func (t *Tx) RunByNumber(r plan.Ref, number int) (*plan.Run, error) {
	var run plan.Run
	err := t.get("read run", &run, runByNumber, r.Plan, r.Node, number)
	if isNone(err) {
		return nil, plan.Errorf(plan.NotFound, "step %s has no run %d", r, number)
	}
	return &run, err
}

const runsOfNode = `SELECT ` + runColumns + ` FROM runs WHERE plan_id = ? AND node_id = ? ORDER BY number`

// Runs returns the runs of a node, the first first, without prompts.
func (t *Tx) Runs(r plan.Ref) ([]plan.Run, error) {
	var list []plan.Run
	err := t.list("read runs", &list, runsOfNode, r.Plan, r.Node)
	return list, err
}

const promptOf = `SELECT ` + wordsOf + ` FROM runs WHERE id = ?`

// Prompt returns the exact prompt and system text of a run.
func (t *Tx) Prompt(id plan.RunID) (prompt, system string, err error) {
	var row struct{ Prompt, System string }
	err = t.get("read a prompt", &row, promptOf, id)
	return row.Prompt, row.System, err
}

const openRuns = `SELECT ` + runColumns + ` FROM runs WHERE outcome = '' ORDER BY started_at, id`

// OpenRuns returns the runs that have not ended.
func (t *Tx) OpenRuns() ([]plan.Run, error) {
	var list []plan.Run
	err := t.list("read open runs", &list, openRuns)
	return list, err
}

const runByToken = `SELECT ` + runColumns + ` FROM runs WHERE token_hash = ? AND outcome = ''`

// RunByToken returns the open run whose token has a hash; NotFound when there is none.
func (t *Tx) RunByToken(hash []byte) (*plan.Run, error) { return t.oneRun(runByToken, hash) }

const setAttach = `UPDATE runs SET attach = ? WHERE id = ? AND outcome = ''`

// SetAttach notes how to find a run's process again.
func (t *Tx) SetAttach(id plan.RunID, attach []byte) error {
	_, err := t.exec("note a run's process", setAttach, attach, id)
	return err
}

const setStopping = `UPDATE runs SET stopping = 1, cause = ? WHERE id = ? AND outcome = ''`

// SetStopping notes that a run was asked to stop, and why.
func (t *Tx) SetStopping(id plan.RunID, cause string) error {
	_, err := t.exec("note that a run stops", setStopping, cause, id)
	return err
}

const progressRun = `UPDATE runs SET acked = MAX(acked, ?), session_id = CASE WHEN ?2 <> '' THEN ?2 ELSE session_id END,
	model = CASE WHEN ?3 <> '' THEN ?3 ELSE model END,
	tokens_in = CASE WHEN ?4 IS NULL THEN tokens_in ELSE COALESCE(tokens_in, 0) + ?4 END,
	tokens_out = CASE WHEN ?5 IS NULL THEN tokens_out ELSE COALESCE(tokens_out, 0) + ?5 END WHERE id = ?6`

// Progress is what a batch of events changed about a run.
type Progress struct {
	Acked     int64
	SessionID string // "" : not told
	Model     string
	TokensIn  *int64 // added
	TokensOut *int64
}

// ProgressRun notes how far a run's events are stored and adds up its tokens.
func (t *Tx) ProgressRun(id plan.RunID, p Progress) error {
	_, err := t.exec("note the progress of a run", progressRun, p.Acked, p.SessionID, p.Model, p.TokensIn, p.TokensOut, id)
	return err
}

const progressNode = `UPDATE nodes SET session_id = CASE WHEN ?1 <> '' THEN ?1 ELSE session_id END,
	tokens_in = CASE WHEN ?2 IS NULL THEN tokens_in ELSE COALESCE(tokens_in, 0) + ?2 END,
	tokens_out = CASE WHEN ?3 IS NULL THEN tokens_out ELSE COALESCE(tokens_out, 0) + ?3 END
	WHERE plan_id = ?4 AND node_id = ?5 RETURNING tokens_in, tokens_out`

// ProgressNode does the same on the node and returns its tokens.
func (t *Tx) ProgressNode(r plan.Ref, p Progress) (in, out *int64, err error) {
	var row struct {
		In  *int64 `db:"tokens_in"`
		Out *int64 `db:"tokens_out"`
	}
	err = t.get("note the progress of a step", &row, progressNode, p.SessionID, p.TokensIn, p.TokensOut, r.Plan, r.Node)
	return row.In, row.Out, err
}

const endRun = `UPDATE runs SET outcome = ?, cause = ?, result = ?, tokens_in = ?, tokens_out = ?, cost_usd = ?,
	num_turns = ?, session_id = ?, model = ?, finished_at = ?, end_tree = ?, end_took = ?, left_out = ?,
	token_hash = NULL, attach = NULL
	WHERE id = ? AND outcome = '' RETURNING 1`

// EndRun closes a run: its token is dead from then on. It is a Conflict when the
// run has ended already.
func (t *Tx) EndRun(r *plan.Run) error {
	r.FinishedAt = t.now
	done, err := t.some("end run", endRun, r.Outcome, r.Cause, r.Result, r.TokensIn, r.TokensOut, r.CostUSD,
		r.NumTurns, r.SessionID, r.Model, r.FinishedAt, r.EndTree, r.EndTook, jsonOf(r.LeftOut), r.ID)
	if err == nil && !done {
		err = plan.Errorf(plan.Conflict, "run %d of step %s has ended already", r.Number, r.Ref())
	}
	return err
}

const ranMeanwhile = `SELECT EXISTS (SELECT 1 FROM runs r JOIN plans p ON p.id = r.plan_id
		WHERE r.outcome = '' AND r.id <> ?1 AND r.kind IN ('step', 'external') AND p.root_id = ?2)
	OR EXISTS (SELECT 1 FROM runs r JOIN plans p ON p.id = r.plan_id
		WHERE r.finished_at > ?3 AND r.id <> ?1 AND r.kind IN ('step', 'external') AND p.root_id = ?2)`

// RanMeanwhile reports whether another step of a tree ran while a run did that is
// about to end.
func (t *Tx) RanMeanwhile(root plan.PlanID, r *plan.Run) (bool, error) {
	var yes bool
	err := t.get("look who ran meanwhile", &yes, ranMeanwhile, r.ID, root, r.StartedAt)
	return yes, err
}

const baseWriters = `SELECT DISTINCT r.plan_id, r.node_id FROM runs r JOIN plans p ON p.id = r.plan_id,
		(SELECT started_at - base_took AS began, started_at AS done FROM runs WHERE worktree = ?2 ORDER BY started_at LIMIT 1) made
	WHERE p.root_id = ?1 AND r.worktree = '' AND r.kind IN ('step', 'external')
		AND r.started_at <= made.done AND (r.outcome = '' OR r.finished_at >= made.began)
	ORDER BY r.plan_id, r.node_id`

// BaseWriters returns the steps of a tree that worked in the folder itself while a
// worktree was made of it: just before the start of the first run that has it.
func (t *Tx) BaseWriters(root plan.PlanID, worktree string) ([]plan.Ref, error) {
	var rows []struct {
		Plan plan.PlanID `db:"plan_id"`
		Node plan.NodeID `db:"node_id"`
	}
	err := t.list("look who wrote meanwhile", &rows, baseWriters, root, worktree)
	refs := make([]plan.Ref, len(rows))
	for i, r := range rows {
		refs[i] = plan.Ref{Plan: r.Plan, Node: r.Node}
	}
	return refs, err
}

const trees = `SELECT base_tree FROM runs WHERE base_tree <> '' UNION SELECT end_tree FROM runs WHERE end_tree <> ''`

// Trees returns the names of all snapshots that runs refer to.
func (t *Tx) Trees() ([]string, error) {
	var names []string
	err := t.list("list snapshots", &names, trees)
	return names, err
}

var clearedByReset = []string{
	`DELETE FROM runs WHERE plan_id = ?`, // diffs and questions go along
	clearEvents,
	`DELETE FROM reviews WHERE plan_id = ?`,
	`DELETE FROM phases WHERE plan_id = ?`,
	`UPDATE nodes SET start_cause = '', own_brief = '', brief_grown = 0 WHERE plan_id = ?`,
}

// ClearHistory forgets what the runs of plans did. The spend ledger stays.
func (t *Tx) ClearHistory(plans []plan.PlanID) error {
	for _, id := range plans {
		for _, q := range clearedByReset {
			if _, err := t.exec("clear the history of a plan", q, id); err != nil {
				return err
			}
		}
	}
	return nil
}
