package store

import "github.com/clearbox-go/clearbox/engine/plan"

const insertDiff = `INSERT INTO diffs (run_id, path, change, added, removed, declared, is_binary, is_cut, note, diff)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// SaveDiffs keeps what a run changed.
func (t *Tx) SaveDiffs(run plan.RunID, files []plan.FileDiff) error {
	for _, d := range files {
		if _, err := t.exec("keep what a run changed", insertDiff, run, d.Path, d.Kind, d.Added, d.Removed, d.Declared,
			d.Binary, d.Cut, d.Note, d.Diff); err != nil {
			return err
		}
	}
	return nil
}

const diffsOfRun = `SELECT path, change, added, removed, declared, is_binary, is_cut, note, diff FROM diffs WHERE run_id = ? ORDER BY path`

// Diffs returns what a run changed, by path, declared files and others.
func (t *Tx) Diffs(run plan.RunID) ([]plan.FileDiff, error) {
	var list []plan.FileDiff
	err := t.list("read what a run changed", &list, diffsOfRun, run)
	return list, err
}

const changedByRun = `SELECT path, change, added, removed, declared, is_binary, is_cut, note, '' AS diff FROM diffs
	WHERE run_id = ? ORDER BY path`

// Changed returns the same without the diffs themselves.
func (t *Tx) Changed(run plan.RunID) ([]plan.FileDiff, error) {
	var list []plan.FileDiff
	err := t.list("read which files a run changed", &list, changedByRun, run)
	return list, err
}
