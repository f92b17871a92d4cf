package store

import (
	"github.com/clearbox-go/clearbox/engine/plan"
)

const insertChanges = `INSERT INTO changes (seq, ts, root_id, plan_id, node_id, kind, shape, deleted, tokens_in, tokens_out) VALUES `

// Record notes a change: it is stored with the change itself and published after
// the commit. Root
// is found when it is not given; Seq and At are set here.
func (t *Tx) Record(c plan.Change) error {
	if c.Root == 0 && c.Plan != 0 {
		root, err := t.RootOf(c.Plan)
		if err != nil {
			return err
		}
		c.Root = root
	}
	c.Seq, c.At = t.nextSeq(), t.now
	t.records = append(t.records, c.Seq, c.At, c.Root, c.Plan, c.Node, c.Kind, c.Shape, c.Deleted, c.TokensIn, c.TokensOut)
	t.changes = append(t.changes, c)
	return nil
}

const changesAfter = `SELECT seq, ts, root_id, plan_id, node_id, kind, shape, deleted, tokens_in, tokens_out
	FROM changes WHERE seq > ?1 AND (?2 = 0 OR root_id = ?2 OR root_id = 0) ORDER BY seq LIMIT ?3`

// ChangesAfter returns recorded changes in order, at most limit; with a root
// only those of its tree and those that concern no plan. Events are not among
// them: see EventsAfter.
func (t *Tx) ChangesAfter(seq int64, root plan.PlanID, limit int) ([]plan.Change, error) {
	var list []plan.Change
	err := t.list("read changes", &list, changesAfter, seq, root, limit)
	return list, err
}

// LastSeq returns the number of the last change or event.
func (t *Tx) LastSeq() (int64, error) {
	var seq int64
	err := t.get("read the last sequence number", &seq, lastSeq)
	return seq, err
}

const firstSeq = `SELECT COALESCE(MIN(seq), 0) FROM changes`

// FirstSeq returns the number of the oldest change that is still known, 0 when
// there is none.
func (t *Tx) FirstSeq() (int64, error) {
	var seq int64
	err := t.get("read the first sequence number", &seq, firstSeq)
	return seq, err
}

const pruneChanges = `DELETE FROM changes WHERE seq < (SELECT MAX(seq) FROM changes)
	AND (ts < ?1 OR seq <= (SELECT seq FROM changes ORDER BY seq DESC LIMIT 1 OFFSET ?2))`

// PruneChanges forgets changes from before a moment, and all but the newest keep.
func (t *Tx) PruneChanges(before plan.Stamp, keep int) (int64, error) {
	return t.exec("prune changes", pruneChanges, before, keep)
}
