package store

import (
	"fmt"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Kept is a finished top-level plan whose transcripts and diffs are still there.
type Kept struct {
	ID       plan.PlanID `db:"id"`
	Title    string      `db:"title"`
	Finished plan.Stamp  `db:"finished_at"`
	Bytes    int64       `db:"bytes"` // of its transcripts, diffs and prompts
}

// A tree is over when nothing in it can go on by itself, nobody is waited for and
// nothing of it is looked at: then what its runs told is history.
const isOver = `p.parent_plan_id = 0 AND p.approval <> 'planning' AND p.approval <> 'awaiting'
	AND NOT EXISTS (SELECT 1 FROM tallies t JOIN plans q ON q.id = t.plan_id WHERE q.root_id = p.id AND t.n > 0 AND t.state IN ('ready', 'running'))
	AND NOT EXISTS (SELECT 1 FROM runs r JOIN plans q ON q.id = r.plan_id WHERE q.root_id = p.id AND r.outcome = '')
	AND NOT EXISTS (SELECT 1 FROM reviews v JOIN plans q ON q.id = v.plan_id WHERE q.root_id = p.id AND v.state <> 'done')
	AND (p.finished_at > 0 OR EXISTS (SELECT 1 FROM tallies t WHERE t.plan_id = p.id AND t.n > 0 AND t.state = 'failed'))`

// A failed plan has no end of its own: it was over when its last run was.
const endOf = `MAX(p.finished_at, COALESCE((SELECT MAX(r.finished_at) FROM runs r JOIN plans q ON q.id = r.plan_id WHERE q.root_id = p.id), 0))`

const keptPlans = `SELECT id, title, finished_at, bytes FROM (
	SELECT p.id, p.title, ` + endOf + ` AS finished_at,
		(SELECT COALESCE(SUM(octet_length(e.data)), 0) FROM events e JOIN plans q ON q.id = e.plan_id WHERE q.root_id = p.id)
		+ (SELECT COALESCE(SUM(octet_length(d.diff)), 0) FROM diffs d JOIN runs r ON r.id = d.run_id JOIN plans q ON q.id = r.plan_id WHERE q.root_id = p.id)
		+ (SELECT COALESCE(SUM(octet_length(t.text)), 0) FROM prompts t JOIN runs r ON r.id = t.run_id JOIN plans q ON q.id = r.plan_id WHERE q.root_id = p.id) AS bytes,
		COALESCE((SELECT at FROM trims WHERE plan_id = p.id), 0) AS trimmed
	FROM plans p WHERE ` + isOver + `)
	WHERE finished_at > trimmed AND finished_at > 0 ORDER BY finished_at DESC, id DESC`

// KeptPlans returns the plans that are over and whose history is kept, those that
// ended last first. It reads the size of every event, so it takes a while.
func (t *Tx) KeptPlans() ([]Kept, error) {
	var list []Kept
	err := t.list("list what is kept", &list, keptPlans)
	return list, err
}

const planIsOver = `SELECT EXISTS (SELECT 1 FROM plans p WHERE p.id = ? AND ` + isOver + `)`

// IsOver reports whether a top-level plan has come to an end and rests.
func (t *Tx) IsOver(id plan.PlanID) (bool, error) {
	var yes bool
	err := t.get("look whether a plan is over", &yes, planIsOver, id)
	return yes, err
}

const trimPlan = `INSERT INTO trims (plan_id, at, seq) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at, seq = excluded.seq`

var forgotten = []string{
	`UPDATE runs SET base_tree = '', end_tree = '' WHERE plan_id IN (SELECT id FROM plans WHERE root_id = ?)`,
	`DELETE FROM prompts WHERE run_id IN (SELECT r.id FROM runs r JOIN plans p ON p.id = r.plan_id WHERE p.root_id = ?)`,
}

// Trim begins to forget what the runs of a tree told until now: its snapshots are
// wanted no more. TrimSome takes the rest away, bit by bit.
func (t *Tx) Trim(root plan.PlanID) error {
	if _, err := t.exec(fmt.Sprintf("trim plan %d", root), trimPlan, root, t.now, *t.seq); err != nil {
		return err
	}
	for _, q := range forgotten {
		if _, err := t.exec("forget snapshots and prompts", q, root); err != nil {
			return err
		}
	}
	return nil
}

const trimmedAt = `SELECT at FROM trims WHERE plan_id = ?`

// TrimmedAt returns until when what a tree's runs told is gone, 0 when all is kept.
func (t *Tx) TrimmedAt(root plan.PlanID) (plan.Stamp, error) {
	var at plan.Stamp
	err := t.get("read what was trimmed", &at, trimmedAt, root)
	if isNone(err) {
		return 0, nil
	}
	return at, err
}

const trimmedRoots = `SELECT plan_id FROM trims ORDER BY plan_id`

// TrimmedRoots returns the plans of which something was forgotten, or is to be.
func (t *Tx) TrimmedRoots() ([]plan.PlanID, error) {
	var ids []plan.PlanID
	err := t.list("list trimmed plans", &ids, trimmedRoots)
	return ids, err
}

const trimEvents = `DELETE FROM events WHERE id IN (SELECT e.id FROM plans p CROSS JOIN events e INDEXED BY events_node
	WHERE p.root_id = ?1 AND e.plan_id = p.id AND e.id <= (SELECT seq FROM trims WHERE plan_id = ?1) LIMIT ?2)`

// Which files a run changed, and by how many lines, stays.
const trimDiffs = `UPDATE diffs SET diff = '', is_cut = 1, note = ?3 WHERE (run_id, path) IN (SELECT d.run_id, d.path FROM plans p
	JOIN runs r ON r.plan_id = p.id JOIN diffs d ON d.run_id = r.id WHERE p.root_id = ?1 AND d.diff <> ''
	AND r.finished_at > 0 AND r.finished_at <= (SELECT at FROM trims WHERE plan_id = ?1) LIMIT ?2)`

// TrimSome forgets at most n events and n diffs of those that are to be forgotten
// of a tree; note takes the place of a diff. It returns how many it took: 0, and
// nothing is left.
func (t *Tx) TrimSome(root plan.PlanID, n int, note string) (int64, error) {
	events, err := t.exec("trim transcripts", trimEvents, root, n)
	if err != nil {
		return 0, err
	}
	diffs, err := t.exec("trim diffs", trimDiffs, root, n, note)
	return events + diffs, err
}
