package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// errKilled is what tests have a step return to stop as if the process had ended.
var errKilled = errors.New("killed")

// do carries out the journal. An error, errMoved among them, means that all is as
// it was before; one of undoing says so.
func (a *applying) do(ctx context.Context) error {
	j := &a.journal
	err := a.stage(ctx)
	if err == nil {
		// Nothing stops it from here on: the context has had its say.
		j.Go = true
		err = j.save(a.place)
	}
	if err == nil {
		err = a.f.repo.reach("staged")
	}
	if err == nil {
		err = a.finish(a.glance, func(o *op, now *present) bool { return now.stat == o.seen })
	}
	if err == nil || errors.Is(err, errKilled) {
		return err
	}
	if undo := a.undo(context.WithoutCancel(ctx)); undo != nil {
		return errors.Join(err, fmt.Errorf("undo what was applied: %w", undo))
	}
	return err
}

// stage writes all new contents beside their places.
func (a *applying) stage(ctx context.Context) error {
	j := &a.journal
	var writes []*op
	var ids []id
	for i := range j.Ops {
		o := &j.Ops[i]
		if o.NewMode == 0 {
			continue
		}
		o.Stage = fmt.Sprintf("%s%s-%d", stagePrefix, a.owner.ID, i)
		o.StageDir = []byte(a.nearestFolder(o.path()))
		d, err := parseID(o.NewID)
		if err != nil {
			return err
		}
		writes, ids = append(writes, o), append(ids, d)
	}
	if err := j.save(a.place); err != nil {
		return err
	}
	if err := a.f.repo.reach("planned"); err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(16) // so that the disk can sync many at once
	err := a.f.readBlobs(ctx, ids, func(i int, data []byte) error {
		g.Go(func() error {
			if err := a.put(writes[i].staged(), writes[i].NewMode, data, writes[i]); err != nil {
				return fmt.Errorf("write %s: %w", display(writes[i].path()), err)
			}
			return nil
		})
		return nil
	})
	return errors.Join(g.Wait(), err)
}

// nearestFolder returns the deepest folder above a path that is there.
func (a *applying) nearestFolder(path string) string {
	for {
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return ""
		}
		if path = path[:i]; a.isFolder(path) {
			return path
		}
	}
}

func (a *applying) isFolder(path string) bool {
	p, err := openParent(a.root, path+"/.", false)
	if err == nil {
		closeFD(p.fd)
	}
	return err == nil
}

// put makes a file at a path, with the permissions and the owner of what an
// operation replaces.
func (a *applying) put(path string, mode uint32, data []byte, o *op) error {
	at, err := openParent(a.root, path, true)
	if err != nil {
		return err
	}
	defer closeFD(at.fd)
	if err := createAt(at.fd, at.name, mode, data, filePerm(mode), true); err != nil {
		return err
	}
	if mode == modeLink || !isRegular(o.OldMode) {
		return nil
	}
	perm := o.Perm & 0o777
	if mode == modeProgram {
		perm |= perm & 0o444 >> 2 // who may read it may run it
	} else {
		perm &^= 0o111
	}
	if os.Geteuid() == 0 { // nobody else can give a file away
		if err := retry(func() error { return unix.Fchownat(at.fd, at.name, o.UID, o.GID, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
			return err
		}
	}
	return retry(func() error { return unix.Fchmodat(at.fd, at.name, perm, 0) })
}

// finish removes and renames. It replaces only what same says yes to, once look has
// described it.
func (a *applying) finish(look looker, same func(o *op, now *present) bool) error {
	removed, written := []op{}, []op{}
	for _, o := range a.journal.Ops {
		if o.NewMode == 0 {
			removed = append(removed, o)
		} else {
			written = append(written, o)
		}
	}
	// What is removed goes first, the deepest at first: it may stand in the way.
	slices.SortFunc(removed, func(x, y op) int { return strings.Compare(y.path(), x.path()) })
	ops := append(removed, written...)
	touched := map[string]bool{}
	for i := range ops {
		if err := a.finishOne(&ops[i], look, same); err != nil {
			if errors.Is(err, errKilled) || errors.Is(err, errMoved) {
				return err
			}
			return fmt.Errorf("replace %s: %w", display(ops[i].path()), err)
		}
		touched[a.nearestFolder(ops[i].path())] = true
	}
	for dir := range touched {
		if err := syncFolder(a.owner.Workdir + "/" + dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("make the changes last: %w", err)
		}
	}
	return dropJournal(a.place)
}

func (a *applying) finishOne(o *op, look looker, same func(o *op, now *present) bool) error {
	now, err := look(o.path())
	if err != nil {
		return err
	}
	if now.mode == modeFolder {
		if now = (present{}); o.NewMode != 0 {
			a.removeFolders(o.path())
		}
	}
	if !same(o, &now) {
		return errMoved
	}
	at, err := openParent(a.root, o.path(), o.NewMode != 0)
	if err != nil {
		return err
	}
	defer closeFD(at.fd)
	if o.NewMode == 0 {
		if err := retry(func() error { return unix.Unlinkat(at.fd, at.name, 0) }); err != nil {
			return err
		}
		a.removeEmpty(o.path(), "")
		return a.f.repo.reach("removed")
	}
	from, err := openParent(a.root, o.staged(), false)
	if err != nil {
		return err
	}
	defer closeFD(from.fd)
	if err := retry(func() error { return unix.Renameat(from.fd, from.name, at.fd, at.name) }); err != nil {
		return err
	}
	return a.f.repo.reach("renamed")
}

// removeEmpty removes the folders above a path that have become empty, up to one
// that stays.
func (a *applying) removeEmpty(path, stays string) {
	for i := strings.LastIndexByte(path, '/'); i > len(stays); i = strings.LastIndexByte(path, '/') {
		path = path[:i]
		at, err := openParent(a.root, path, false)
		if err != nil {
			return
		}
		err = unix.Unlinkat(at.fd, at.name, unix.AT_REMOVEDIR)
		closeFD(at.fd)
		if err != nil {
			return
		}
	}
}

// removeFolders removes a folder that has nothing but folders.
func (a *applying) removeFolders(path string) {
	var list []string
	_ = filepath.WalkDir(filepath.Join(a.owner.Workdir, path), func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			list = append(list, p)
		}
		return err
	})
	for _, dir := range slices.Backward(list) {
		_ = unix.Rmdir(dir) // one that has something in it stays
	}
}

// undo puts everything back that was replaced, and removes what was staged.
func (a *applying) undo(ctx context.Context) error {
	var errs []error
	var restore []*op
	var ids []id
	for i := len(a.journal.Ops) - 1; i >= 0; i-- {
		o := &a.journal.Ops[i]
		a.drop(o.staged(), o.Stage != "")
		now, err := a.lookAt(o.path())
		done := now.mode == o.NewMode && now.id.String() == o.NewID
		if o.NewMode == 0 {
			done = now.mode == 0 && !now.strange && !now.blocked
		}
		if err != nil || !done {
			errs = append(errs, err)
			continue
		}
		if o.OldMode == 0 {
			a.drop(o.path(), true)
			a.removeEmpty(o.path(), string(o.StageDir))
			continue
		}
		d, err := parseID(o.OldID)
		errs = append(errs, err)
		restore, ids = append(restore, o), append(ids, d)
	}
	errs = append(errs, a.f.readBlobs(ctx, ids, func(i int, data []byte) error {
		return a.restore(restore[i], data)
	}))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return dropJournal(a.place)
}

// restore puts back what an operation replaced.
func (a *applying) restore(o *op, data []byte) error {
	at, err := openParent(a.root, o.path(), true)
	if err != nil {
		return fmt.Errorf("restore %s: %w", display(o.path()), err)
	}
	defer closeFD(at.fd)
	temp := stagePrefix + a.owner.ID + "-undo"
	_ = unix.Unlinkat(at.fd, temp, 0)
	folder := strings.TrimSuffix(o.path(), at.name)
	if err = a.put(folder+temp, o.OldMode, data, o); err == nil {
		err = retry(func() error { return unix.Renameat(at.fd, temp, at.fd, at.name) })
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", display(o.path()), err)
	}
	return nil
}

// drop removes a file.
func (a *applying) drop(path string, there bool) {
	if !there {
		return
	}
	at, err := openParent(a.root, path, false)
	if err != nil {
		return
	}
	defer closeFD(at.fd)
	_ = unix.Unlinkat(at.fd, at.name, 0)
}

// reach lets tests stop at a step.
func (r *Repo) reach(step string) error {
	if r.stopAt == nil {
		return nil
	}
	return r.stopAt(step)
}
