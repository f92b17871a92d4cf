package shadow

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// present is what is at a path of the working directory now.
type present struct {
	mode    uint32 // as in a tree; modeFolder for a folder, 0 for nothing
	id      id
	stat    stat
	uid     int
	gid     int
	data    []byte
	blocked bool // something on the way is no folder
	strange bool // it is of a kind, or a size, that no tree holds
}

// looker describes what is at a path.
type looker func(path string) (present, error)

// glance describes a path but for its content.
func (a *applying) glance(path string) (p present, err error) {
	at, err := openParent(a.root, path, false)
	if err == nil {
		defer closeFD(at.fd)
	}
	return a.describe(at, err)
}

// describe finishes what openParent began.
func (a *applying) describe(at parent, err error) (p present, _ error) {
	var s unix.Stat_t
	if err == nil {
		err = retry(func() error { return unix.Fstatat(at.fd, at.name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case errors.Is(err, errBlocked):
		return present{blocked: true}, nil
	case err != nil:
		return p, err
	}
	p = present{stat: statOf(&s), uid: int(s.Uid), gid: int(s.Gid), mode: gitMode(uint32(s.Mode))}
	p.strange = p.mode == 0
	return p, nil
}

// lookAt describes a path with its content.
func (a *applying) lookAt(path string) (p present, err error) {
	at, err := openParent(a.root, path, false)
	if err == nil {
		defer closeFD(at.fd)
	}
	if p, err = a.describe(at, err); err != nil || p.mode == 0 || p.mode == modeFolder {
		return p, err
	}
	limit := a.f.repo.opts.MaxFile
	switch {
	case p.mode == modeLink:
		var to string
		to, err = readLinkAt(at.fd, at.name, p.stat.size)
		p.data = []byte(to)
	case p.stat.size > limit:
		p.strange = true
		return p, nil
	default:
		if p.data, p.stat, err = readFileAt(at.fd, at.name, limit); p.stat.size > limit {
			err = errMoved
		}
		p.mode = gitMode(p.stat.mode)
	}
	p.id = idOf(kindBlob, p.data)
	return p, err
}

// plan decides what is to be done for each change, and returns the paths for which
// nothing can be done. What is needed to undo it is stored.
func (a *applying) plan(ctx context.Context) (conflicts []string, err error) {
	a.journal = journal{Workdir: []byte(a.owner.Workdir), Key: a.f.key}
	a.merged = map[string]bool{}
	now := make([]present, len(a.changes))
	removed := map[string]bool{}
	for i := range a.changes {
		c := &a.changes[i]
		if now[i], err = a.lookAt(c.path); err != nil {
			return nil, &os.PathError{Op: "look at", Path: display(c.path), Err: err}
		}
		ok, err := a.planOne(ctx, c, &now[i])
		if err != nil {
			return nil, err
		}
		if !ok {
			conflicts = append(conflicts, display(c.path))
		}
		if c.newMode == 0 {
			removed[c.path] = true
		}
	}
	for i := range a.changes {
		if c := &a.changes[i]; c.newMode != 0 && !a.hasRoom(c.path, &now[i], removed) && !slices.Contains(conflicts, display(c.path)) {
			conflicts = append(conflicts, display(c.path))
		}
	}
	if len(conflicts) > 0 {
		return conflicts, nil
	}
	return nil, a.batch.finish()
}

// planOne adds what one change needs. It is not ok when the change contradicts
// what is there.
func (a *applying) planOne(ctx context.Context, c *change, now *present) (ok bool, err error) {
	if c.newMode == 0 && (now.blocked || now.mode == modeFolder || now.mode == 0 && !now.strange) {
		return true, nil // it is gone
	}
	if now.strange {
		return false, nil
	}
	here := *now
	if here.mode == modeFolder { // hasRoom sees to it
		here = present{}
	}
	mode, d, ok, err := a.merge(ctx, c, &here)
	if err != nil || !ok || mode == here.mode && d == here.id {
		return ok, err
	}
	if here.mode != 0 {
		if _, err := a.batch.put(kindBlob, here.data); err != nil {
			return false, err
		}
	}
	a.journal.Ops = append(a.journal.Ops, op{
		Path: []byte(c.path), OldMode: here.mode, OldID: here.id.String(), NewMode: mode, NewID: d.String(),
		Perm: here.stat.mode & 0o7777, UID: here.uid, GID: here.gid, seen: here.stat,
	})
	return true, nil
}

// merge joins a change with what is there now, mode and content each by itself.
func (a *applying) merge(ctx context.Context, c *change, now *present) (mode uint32, d id, ok bool, err error) {
	if now.mode == c.oldMode && now.id == c.oldID || now.mode == c.newMode && now.id == c.newID {
		return c.newMode, c.newID, true, nil
	}
	if !isRegular(c.oldMode) || !isRegular(c.newMode) || !isRegular(now.mode) {
		return 0, d, false, nil
	}
	a.merged[c.path] = true
	if mode = c.newMode; c.newMode == c.oldMode {
		mode = now.mode
	}
	switch {
	case now.id == c.oldID || now.id == c.newID:
		return mode, c.newID, true, nil
	case c.newID == c.oldID:
		return mode, now.id, true, nil
	}
	text, ok, err := a.mergeText(ctx, c, now.data)
	if err != nil || !ok {
		return 0, d, false, err
	}
	d, err = a.batch.put(kindBlob, text)
	return mode, d, true, err
}

// mergeText merges three contents as text. It is not ok for binary ones, and where
// the changes touch each other.
func (a *applying) mergeText(ctx context.Context, c *change, now []byte) (text []byte, ok bool, err error) {
	dir, err := os.MkdirTemp(a.place, "merge-")
	if err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(dir)
	names := []string{filepath.Join(dir, "now"), filepath.Join(dir, "base"), filepath.Join(dir, "new")}
	contents := [][]byte{now, nil, nil}
	err = a.f.readBlobs(ctx, []id{c.oldID, c.newID}, func(i int, data []byte) error {
		contents[i+1] = data
		return nil
	})
	for i := 0; i < len(names) && err == nil; i++ {
		err = os.WriteFile(names[i], contents[i], 0o600)
	}
	if err != nil {
		return nil, false, err
	}
	text, err = a.f.repo.git(a.f.dir, append([]string{"merge-file", "-p", "-q"}, names...)...).output(ctx)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return nil, false, nil
	}
	return text, err == nil, err
}

// hasRoom reports whether nothing stands in the way of a file, but for what is
// removed by the same changes.
func (a *applying) hasRoom(path string, now *present, removed map[string]bool) bool {
	if now.blocked {
		for i, c := range path {
			if c == '/' && removed[path[:i]] {
				return true
			}
		}
		return false
	}
	return now.mode != modeFolder || a.emptied(path, removed)
}

// emptied reports whether a folder has nothing but files that are removed.
func (a *applying) emptied(path string, removed map[string]bool) bool {
	dir := filepath.Join(a.owner.Workdir, path)
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if !removed[path+strings.TrimPrefix(p, dir)] {
			return errBlocked
		}
		return nil
	})
	return err == nil
}
