package store

import "github.com/clearbox-go/clearbox/engine/plan"

// WebhooksSetting is the setting whose value is {"hooks": [{"id", "enabled",
// "events", …}]}: who is told of what.
const WebhooksSetting = "webhooks"

// Delivery is one notice on its way to one webhook.
type Delivery struct {
	ID       int64       `db:"id"`
	Key      string      `db:"key"` // receivers know it by this
	Hook     int64       `db:"hook_id"`
	Event    string      `db:"event"`
	Reason   string      `db:"reason"`
	Root     plan.PlanID `db:"root_id"`
	Plan     plan.PlanID `db:"plan_id"`
	Node     plan.NodeID `db:"node_id"` // 0: the plan itself
	Title    string      `db:"title"`
	Step     string      `db:"step"`
	Text     string      `db:"text"`
	At       plan.Stamp  `db:"created_at"`
	NextAt   plan.Stamp  `db:"next_at"` // 0: it is over
	Attempts int         `db:"attempts"`
	TriedAt  plan.Stamp  `db:"tried_at"`
	Status   int         `db:"status"` // of the last answer; 0: there was none
	Fault    string      `db:"fault"`  // of the last attempt
}

// Taken reports whether the receiver has it.
func (d *Delivery) Taken() bool { return d.TriedAt != 0 && d.Fault == "" }

const deliveryColumns = `id, key, hook_id, event, reason, root_id, plan_id, node_id, title, step, text, created_at, next_at, attempts,
	tried_at, status, fault`

const tellHooks = `INSERT INTO deliveries (hook_id, event, reason, root_id, plan_id, node_id, title, step, text, created_at, next_at)
	SELECT json_extract(h.value, '$.id'), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9
	FROM settings s, json_each(s.value, '$.hooks') h
	WHERE s.name = '` + WebhooksSetting + `' AND json_extract(h.value, '$.enabled')
		AND EXISTS (SELECT 1 FROM json_each(h.value, '$.events') e WHERE e.value = ?1)
		AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.next_at > 0 AND o.next_at = ?9 AND o.created_at = ?9
			AND o.hook_id = json_extract(h.value, '$.id') AND o.event = ?1 AND o.reason = ?2 AND o.plan_id = ?4 AND o.node_id = ?5)`

// Tell has every webhook told of something that asked to hear of such events. It
// is part of the change that it tells of: neither is there without the other. A
// change that comes to the same twice tells it once.
func (t *Tx) Tell(d Delivery) error {
	n, err := t.exec("tell webhooks", tellHooks, d.Event, d.Reason, d.Root, d.Plan, d.Node, d.Title, d.Step, d.Text, t.now)
	t.told = t.told || n > 0
	return err
}

const nextDeliveries = `SELECT hook_id, MIN(next_at) AS at FROM deliveries WHERE next_at > 0 GROUP BY hook_id`

// NextDeliveries returns when a delivery to each webhook has to be tried next, of
// those that have one on its way.
func (t *Tx) NextDeliveries() (map[int64]plan.Stamp, error) {
	var rows []struct {
		Hook int64      `db:"hook_id"`
		At   plan.Stamp `db:"at"`
	}
	err := t.list("look for the next deliveries", &rows, nextDeliveries)
	next := map[int64]plan.Stamp{}
	for _, r := range rows {
		next[r.Hook] = r.At
	}
	return next, err
}

// The oldest first, so that a receiver hears of things in their order.
const dueDelivery = `SELECT ` + deliveryColumns + ` FROM deliveries WHERE hook_id = ? AND next_at > 0 AND next_at <= ? ORDER BY next_at, id LIMIT 1`

// DueDelivery returns what has to be tried now at a webhook, nil when nothing has.
func (t *Tx) DueDelivery(hook int64) (*Delivery, error) {
	var d Delivery
	err := t.get("look for a delivery", &d, dueDelivery, hook, t.now)
	if isNone(err) {
		return nil, nil
	}
	return &d, err
}

const noteAttempt = `UPDATE deliveries SET attempts = ?, tried_at = ?, status = ?, fault = ?, next_at = ? WHERE id = ?`

// NoteAttempt keeps how an attempt at a delivery went. One that was removed
// meanwhile stays removed.
func (t *Tx) NoteAttempt(d *Delivery) error {
	_, err := t.exec("note a delivery", noteAttempt, d.Attempts, d.TriedAt, d.Status, d.Fault, d.NextAt, d.ID)
	return err
}

const putOffDeliveries = `UPDATE deliveries SET next_at = ? WHERE hook_id = ? AND next_at > 0 AND next_at <= ?`

// PutOffDeliveries has everything that would be tried at a webhook before a moment
// wait until then.
func (t *Tx) PutOffDeliveries(hook int64, until plan.Stamp) error {
	_, err := t.exec("put deliveries off", putOffDeliveries, until, hook, until)
	return err
}

const boundDeliveries = `DELETE FROM deliveries WHERE hook_id = ?1 AND next_at > 0 AND (created_at < ?2
	OR id <= (SELECT id FROM deliveries WHERE hook_id = ?1 AND next_at > 0 ORDER BY id DESC LIMIT 1 OFFSET ?3))`

// BoundDeliveries forgets what is on its way to a webhook for too long, or behind
// the newest so many, and returns how many deliveries those were.
func (t *Tx) BoundDeliveries(hook int64, since plan.Stamp, most int) (int, error) {
	n, err := t.exec("bound deliveries", boundDeliveries, hook, since, most)
	return int(n), err
}

const insertTried = `INSERT INTO deliveries (key, hook_id, event, text, created_at, next_at, attempts, tried_at, status, fault)
	VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?)`

// InsertTried keeps a delivery that was tried already and is not tried again.
func (t *Tx) InsertTried(d *Delivery) error {
	_, err := t.exec("keep a delivery", insertTried, d.Key, d.Hook, d.Event, d.Text, d.At, d.Attempts, d.TriedAt, d.Status, d.Fault)
	return err
}

const hurryDeliveries = `UPDATE deliveries SET next_at = ? WHERE next_at > 0`

// HurryDeliveries has everything tried now that is on its way: whoever changed a
// webhook wants to see that it works.
func (t *Tx) HurryDeliveries() error {
	_, err := t.exec("hurry deliveries", hurryDeliveries, t.now)
	return err
}

const lastDelivery = `SELECT ` + deliveryColumns + ` FROM deliveries WHERE hook_id = ? AND tried_at > 0
	ORDER BY tried_at DESC, id DESC LIMIT 1`

// LastDelivery returns what a webhook was sent last, nil when nothing was.
func (t *Tx) LastDelivery(hook int64) (*Delivery, error) {
	var d Delivery
	err := t.get("read the last delivery", &d, lastDelivery, hook)
	if isNone(err) {
		return nil, nil
	}
	return &d, err
}

const waitingDeliveries = `SELECT hook_id, COUNT(*) AS n FROM deliveries WHERE next_at > 0 GROUP BY hook_id`

// WaitingDeliveries returns how many deliveries are on their way, by webhook.
func (t *Tx) WaitingDeliveries() (map[int64]int, error) {
	var rows []struct {
		Hook int64 `db:"hook_id"`
		N    int   `db:"n"`
	}
	err := t.list("count deliveries", &rows, waitingDeliveries)
	counts := map[int64]int{}
	for _, r := range rows {
		counts[r.Hook] = r.N
	}
	return counts, err
}

const dropDeliveries = `DELETE FROM deliveries WHERE hook_id NOT IN (SELECT value FROM json_each(?))`

// DropDeliveries forgets the deliveries of webhooks that are no longer there.
func (t *Tx) DropDeliveries(hooks []int64) error {
	_, err := t.exec("forget deliveries", dropDeliveries, jsonOf(hooks))
	return err
}

const pruneDeliveries = `DELETE FROM deliveries WHERE next_at = 0 AND tried_at < ? AND id NOT IN (SELECT MAX(id) FROM deliveries GROUP BY hook_id)`

// PruneDeliveries forgets deliveries that were over before a moment, but the last
// one of each webhook.
func (t *Tx) PruneDeliveries(before plan.Stamp) error {
	_, err := t.exec("prune deliveries", pruneDeliveries, before)
	return err
}
