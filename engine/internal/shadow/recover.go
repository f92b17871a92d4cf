package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Recovered says what RecoverWorktrees found and did, by the ids of worktrees.
type Recovered struct {
	Completed []string // their changes are all in the working directory now
	Undone    []string // nothing of their changes is there
	Removed   []string
}

// RecoverWorktrees puts right what the last process left behind: an Apply that was
// cut off is completed if it had begun to change files and still can be, else
// undone; worktrees that keep does not ask for are removed, and so are incomplete
// ones. It is to be called before any other use of worktrees. It does what it can,
// also when it returns an error.
func (r *Repo) RecoverWorktrees(ctx context.Context, keep func(id string) bool) (Recovered, error) {
	var out Recovered
	list, err := os.ReadDir(r.worktrees())
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("recover worktrees: %w", err)
	}
	var errs []error
	for _, e := range list {
		place := r.placeOf(e.Name())
		o, err := readOwner(place)
		if err != nil {
			_ = os.Remove(place) // only an empty folder, which may be one that was not marked yet
			continue
		}
		if err := r.recover(ctx, o, &out); err != nil {
			errs = append(errs, fmt.Errorf("recover worktree %s: %w", o.ID, err))
			continue
		}
		if o.Ready && keep != nil && keep(o.ID) {
			continue
		}
		if err := removePlace(place); err != nil {
			errs = append(errs, fmt.Errorf("remove worktree %s: %w", o.ID, err))
			continue
		}
		out.Removed = append(out.Removed, o.ID)
	}
	return out, errors.Join(errs...)
}

// recover ends an Apply that was cut off.
func (r *Repo) recover(ctx context.Context, o *owner, out *Recovered) error {
	place := r.placeOf(o.ID)
	left, err := filepath.Glob(filepath.Join(quoteGlob(place), "merge-*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
	j, err := readJournal(place)
	if err != nil || j == nil {
		return err
	}
	f, err := r.folderFor(j.Key, "")
	if err != nil {
		return err
	}
	defer r.release(f)
	a := &applying{f: f, owner: o, place: place, journal: *j}
	if a.root, err = openFolder(string(j.Workdir)); err != nil {
		return err
	}
	defer closeFD(a.root)
	if j.Go && a.complete() == nil {
		out.Completed = append(out.Completed, o.ID)
		return nil
	}
	if err := a.undo(ctx); err != nil {
		return err
	}
	out.Undone = append(out.Undone, o.ID)
	return nil
}

// complete does what is not done yet. It is errMoved when that would overwrite
// what somebody else did meanwhile.
func (a *applying) complete() error {
	var todo []op
	for _, o := range a.journal.Ops {
		now, err := a.lookAt(o.path())
		if err != nil {
			return err
		}
		switch {
		case o.isNew(&now):
		case o.isOld(&now):
			todo = append(todo, o)
		default:
			return errMoved
		}
	}
	all := a.journal.Ops
	a.journal.Ops = todo
	err := a.finish(a.lookAt, (*op).isOld)
	a.journal.Ops = all
	return err
}

func (o *op) isNew(now *present) bool {
	if o.NewMode == 0 {
		return now.mode == 0 && !now.strange || now.mode == modeFolder
	}
	return now.mode == o.NewMode && now.id.String() == o.NewID
}

func (o *op) isOld(now *present) bool {
	if o.OldMode == 0 {
		return now.mode == 0 && !now.strange || now.mode == modeFolder
	}
	return now.mode == o.OldMode && now.id.String() == o.OldID
}
