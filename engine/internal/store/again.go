package store

import "github.com/clearbox-go/clearbox/engine/plan"

// What is kept for the next run of a step. Few steps run more than once, so this has
// statements of its own.

const setStartCause = `UPDATE nodes SET start_cause = ? WHERE plan_id = ? AND node_id = ?`

// SetStartCause notes why a node will run again; "" once it does.
func (t *Tx) SetStartCause(r plan.Ref, cause string) error {
	_, err := t.exec("note why a step runs again", setStartCause, cause, r.Plan, r.Node)
	return err
}

const startCause = `SELECT start_cause FROM nodes WHERE plan_id = ? AND node_id = ?`

// StartCause returns why a node runs again, "" when nothing says so.
func (t *Tx) StartCause(r plan.Ref) (string, error) {
	var cause string
	_, err := t.row("read why a step runs again", startCause, []any{r.Plan, r.Node}, func(c *cells) error {
		cause = c.text()
		return nil
	})
	return cause, err
}

const setOwnBrief = `UPDATE nodes SET own_brief = ?, brief_grown = ? WHERE plan_id = ? AND node_id = ?`

// SetOwnBrief keeps the part of a node's brief that a person wrote, and whether
// failed attempts have added to it.
func (t *Tx) SetOwnBrief(r plan.Ref, own string, grown bool) error {
	_, err := t.exec("keep a brief", setOwnBrief, own, grown, r.Plan, r.Node)
	return err
}

const ownBrief = `SELECT own_brief, brief_grown FROM nodes WHERE plan_id = ? AND node_id = ?`

// OwnBrief returns what SetOwnBrief kept.
func (t *Tx) OwnBrief(r plan.Ref) (own string, grown bool, err error) {
	_, err = t.row("read a brief", ownBrief, []any{r.Plan, r.Node}, func(c *cells) error {
		own, grown = c.text(), c.yes()
		return nil
	})
	return own, grown, err
}

const setPiecemeal = `UPDATE plans SET piecemeal = 1 WHERE id = ?`

// SetPiecemeal notes that a subplan's author puts it together piece by piece.
func (t *Tx) SetPiecemeal(id plan.PlanID) error {
	_, err := t.exec("note how a subplan is made", setPiecemeal, id)
	return err
}

const unfinished = `SELECT piecemeal OR NOT EXISTS (SELECT 1 FROM nodes WHERE plan_id = id) FROM plans WHERE id = ?`

// Unfinished reports whether a subplan is empty, or was being put together by an
// agent that alone knows when it is whole.
func (t *Tx) Unfinished(id plan.PlanID) (yes bool, err error) {
	_, err = t.row("look at a subplan", unfinished, []any{id}, func(c *cells) error {
		yes = c.yes()
		return nil
	})
	return yes, err
}

const begun = `SELECT next_node_id > 1 FROM plans WHERE id = ?`

// Begun reports whether a plan has ever had a node.
func (t *Tx) Begun(id plan.PlanID) (yes bool, err error) {
	_, err = t.row("look whether a plan was begun", begun, []any{id}, func(c *cells) error {
		yes = c.yes()
		return nil
	})
	return yes, err
}

const othersFiles = `SELECT f.key, f.path FROM node_files f JOIN plans p ON p.id = f.plan_id
	WHERE p.root_id = ?1 AND NOT (f.plan_id = ?2 AND f.node_id = ?3) ORDER BY f.plan_id, f.node_id, f.key`

// OthersFiles returns the files that the other nodes of a tree declare.
func (t *Tx) OthersFiles(root plan.PlanID, self plan.Ref) ([]plan.File, error) {
	var files []plan.File
	err := t.rows("read the files of other steps", othersFiles, []any{root, self.Plan, self.Node}, func(c *cells) error {
		files = append(files, plan.File{Key: c.text(), Path: c.text()})
		return nil
	})
	return files, err
}

const statesOfRun = `SELECT data ->> '$.to' FROM events WHERE plan_id = ? AND node_id = ? AND run_id = ? AND kind = 'status' ORDER BY id`

// StatesOfRun returns, in order, to which states a node went in a run; none when
// its transcript is gone.
func (t *Tx) StatesOfRun(run *plan.Run) ([]plan.State, error) {
	var list []plan.State
	err := t.rows("read how a run went", statesOfRun, []any{run.PlanID, run.NodeID, run.ID}, func(c *cells) error {
		list = append(list, plan.State(c.text()))
		return nil
	})
	return list, err
}
