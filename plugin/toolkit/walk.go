package toolkit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	maxDepth   = 100     // of a walk; each level holds a directory open
	maxVisited = 200_000 // entries of one walk
)

// errStop ends a walk early.
var errStop = errors.New("enough")

// entry is what a walk comes by. Links are entries and are never followed.
type entry struct {
	rel     string // true path
	name    string
	mode    fs.FileMode // type bits only
	dir     *os.Root    // where it lies; open during the visit only
	skipped bool        // a directory that walks leave out
}

// walk visits what lies under a true path in the order of names, directories before
// what is in them, at most depth levels deep.
type walk struct {
	jail  *jail
	ctx   context.Context
	visit func(entry) error
	seen  int
}

func (j *jail) walk(ctx context.Context, rel string, depth int, visit func(entry) error) error {
	dir, err := j.openDir(rel, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	w := &walk{jail: j, ctx: ctx, visit: visit}
	if err := w.list(dir, rel, min(depth, maxDepth)); !errors.Is(err, errStop) {
		return err
	}
	return nil
}

func (w *walk) list(dir *os.Root, rel string, depth int) error {
	names, err := readDir(dir)
	if err != nil {
		return err
	}
	for _, d := range names {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if w.seen++; w.seen > maxVisited {
			return fmt.Errorf("stopped after %d files and folders: give a narrower path", maxVisited)
		}
		e := entry{rel: path.Join(rel, d.Name()), name: d.Name(), mode: d.Type(), dir: dir}
		e.skipped = d.IsDir() && leftOut(dir, d.Name())
		if err := w.visit(e); err != nil {
			return err
		}
		if d.IsDir() && !e.skipped && depth > 1 {
			if err := w.descend(e, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// descend walks into a directory. One that cannot be read, or is gone, is passed by.
func (w *walk) descend(e entry, depth int) error {
	sub, err := w.jail.enter(e.dir, e.name, false)
	if err != nil {
		return nil
	}
	defer sub.Close()
	err = w.list(sub, e.rel, depth)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

func readDir(dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return names, nil
}

// leftOut names what no one means by "the project": git's own files, installed
// packages, caches, virtual environments.
func leftOut(dir *os.Root, name string) bool {
	switch name {
	case ".git", "node_modules", "__pycache__", ".venv", "venv":
		return true
	}
	_, err := dir.Lstat(name + "/pyvenv.cfg")
	return err == nil
}
