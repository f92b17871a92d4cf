package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const insertEvent = `INSERT INTO events (id, plan_id, node_id, run_id, run_seq, ts, kind, data)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

// AppendEvent stores a transcript entry and sets its ID; it is published like a
// change. One whose run_seq is stored already is left out, and reported as not new.
func (t *Tx) AppendEvent(root plan.PlanID, e *plan.Event) (isNew bool, err error) {
	id := *t.seq + 1
	if e.At == 0 {
		e.At = t.now
	}
	n, err := t.exec("append event", insertEvent, id, e.PlanID, e.NodeID, e.RunID, e.RunSeq, e.At, e.Kind, string(e.Data))
	if err != nil || n == 0 {
		return false, err
	}
	e.ID = t.nextSeq()
	t.changes = append(t.changes, plan.Change{Seq: e.ID, At: e.At, Root: root, Plan: e.PlanID, Node: e.NodeID,
		Kind: plan.ChangeEvent, Event: e})
	return true, nil
}

// Note appends an event of the engine's own. It is stored when the change is
// complete: the same change cannot read it.
func (t *Tx) Note(root plan.PlanID, r plan.Ref, run plan.RunID, kind string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode a %s event: %w", kind, err)
	}
	e := &plan.Event{ID: t.nextSeq(), PlanID: r.Plan, NodeID: r.Node, RunID: run, At: t.now, Kind: kind, Data: b}
	t.notes = append(t.notes, e.ID, e.PlanID, e.NodeID, e.RunID, e.At, e.Kind, string(e.Data))
	t.changes = append(t.changes, plan.Change{Seq: e.ID, At: e.At, Root: root, Plan: e.PlanID, Node: e.NodeID,
		Kind: plan.ChangeEvent, Event: e})
	return nil
}

const insertNotes = `INSERT INTO events (id, plan_id, node_id, run_id, ts, kind, data) VALUES `

// flush stores what was noted and recorded.
func (t *Tx) flush() error {
	if err := t.insert("append events", insertNotes, 7, t.notes); err != nil {
		return err
	}
	return t.insert("record changes", insertChanges, 10, t.records)
}

// mostRows bounds the rows of one statement, and so how many statements of each
// kind are kept prepared.
const mostRows = 16

// insert adds the rows that values make up, several with one statement, since a
// statement costs more than a row. It ends with VALUES.
func (t *Tx) insert(doing, statement string, columns int, values []any) error {
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	for chunk := range slices.Chunk(values, mostRows*columns) {
		more := strings.Repeat(", "+row, len(chunk)/columns-1)
		if err := t.do(doing, statement+row+more, chunk...); err != nil {
			return err
		}
	}
	return nil
}

// As blobs: database/sql puts bytes, but no text, into a json.RawMessage.
const eventColumns = `id, plan_id, node_id, run_id, run_seq, ts, kind, CAST(data AS BLOB) AS data`

const eventsAfter = `SELECT ` + eventColumns + ` FROM events WHERE id > ?1 AND
	(?2 = 0 OR plan_id IN (SELECT id FROM plans WHERE root_id = ?2)) ORDER BY id LIMIT ?3`

// EventsAfter returns transcript entries in order, at most limit; with a root
// only those of its tree.
func (t *Tx) EventsAfter(id int64, root plan.PlanID, limit int) ([]plan.Event, error) {
	var list []plan.Event
	err := t.list("read events", &list, eventsAfter, id, root, limit)
	return list, err
}

const nodeEventsAfter = `SELECT ` + eventColumns + ` FROM events
	WHERE plan_id = ?1 AND node_id = ?2 AND id > ?3 ORDER BY id LIMIT ?4`

// NodeEvents returns the transcript of a node after an event id, the oldest
// first, at most limit.
func (t *Tx) NodeEvents(r plan.Ref, after int64, limit int) ([]plan.Event, error) {
	var list []plan.Event
	err := t.list("read a transcript", &list, nodeEventsAfter, r.Plan, r.Node, after, limit)
	return list, err
}

const nodeEventsBefore = `SELECT * FROM (SELECT ` + eventColumns + ` FROM events
	WHERE plan_id = ?1 AND node_id = ?2 AND (?3 = 0 OR id < ?3) ORDER BY id DESC LIMIT ?4) ORDER BY id`

// NodeEventsBefore returns the newest entries of a transcript before an event id
// (0: the end), the oldest of them first, at most limit.
func (t *Tx) NodeEventsBefore(r plan.Ref, before int64, limit int) ([]plan.Event, error) {
	var list []plan.Event
	err := t.list("read a transcript", &list, nodeEventsBefore, r.Plan, r.Node, before, limit)
	return list, err
}

const runEvents = `SELECT ` + eventColumns + ` FROM events WHERE plan_id = ?1 AND node_id = ?2 AND run_id = ?3
	AND id > ?4 AND (?5 = 0 OR id < ?5) ORDER BY id LIMIT ?6`

// RunEvents returns the part of a node's transcript that one run told, between
// two event ids (0: no bound).
func (t *Tx) RunEvents(r *plan.Run, after, before int64, limit int) ([]plan.Event, error) {
	var list []plan.Event
	err := t.list("read a transcript", &list, runEvents, r.PlanID, r.NodeID, r.ID, after, before, limit)
	return list, err
}

const runEventsBefore = `SELECT * FROM (SELECT ` + eventColumns + ` FROM events WHERE plan_id = ?1 AND node_id = ?2
	AND run_id = ?3 AND (?4 = 0 OR id < ?4) ORDER BY id DESC LIMIT ?5) ORDER BY id`

// RunEventsBefore returns the newest entries that one run told before an event
// id (0: the end), the oldest of them first, at most limit.
func (t *Tx) RunEventsBefore(r *plan.Run, before int64, limit int) ([]plan.Event, error) {
	var list []plan.Event
	err := t.list("read a transcript", &list, runEventsBefore, r.PlanID, r.NodeID, r.ID, before, limit)
	return list, err
}

const clearEvents = `DELETE FROM events WHERE plan_id = ?`

const lastSaid = `SELECT json_extract(data, '$.text') FROM events WHERE plan_id = ? AND node_id = ?
	AND kind IN ('result', 'text') AND COALESCE(json_extract(data, '$.text'), '') <> '' AND run_id = ?
	ORDER BY id DESC LIMIT 1`

// LastSaid returns the last result or text of a run, "" when it said nothing.
func (t *Tx) LastSaid(r plan.Ref, run plan.RunID) (string, error) {
	var text string
	err := t.get("read the last words of a run", &text, lastSaid, r.Plan, r.Node, run)
	if isNone(err) {
		return "", nil
	}
	return text, err
}
