package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// ImportOptions say which database of the Python program clearbox is taken over,
// and into which of ours.
type ImportOptions struct {
	File string // theirs
	DB   string // ours; it is made when it is not there

	// Workspace is the folder in which their plans without a working directory
	// had folders of their own; "" means the folder workspace beside File.
	Workspace string

	Again  bool // also when its plans are here already
	DryRun bool // do it all, then undo it: nothing is changed

	// Progress is called now and then with what is being taken over, and how many
	// of how many; nil when nobody wants to know.
	Progress func(what string, done, of int)

	Now func() time.Time // nil: the system clock
}

// What an import brought.
type (
	Imported        = store.Imported
	ImportedPlan    = store.ImportedPlan
	ImportedProfile = store.ImportedProfile
)

// errRehearsed undoes a dry run.
var errRehearsed = errors.New("this was a rehearsal")

// Import takes over a database of the Python program clearbox, whole or not at
// all. The file is only read, and must not be in use; nor may a server have ours
// open. What fails for one of these reasons is Unavailable, what is no such
// database, or was imported before, is Invalid.
func Import(ctx context.Context, o ImportOptions) (_ *Imported, err error) {
	if o.Workspace == "" {
		o.Workspace = filepath.Join(filepath.Dir(o.File), "workspace")
	}
	if o.Workspace, err = filepath.Abs(o.Workspace); err != nil {
		return nil, fmt.Errorf("find the workspace: %w", err)
	}
	if sameFile(o.File, o.DB) {
		return nil, plan.Errorf(plan.Invalid, "%s is the database to import: it cannot be the one to import into; name another --db", o.File)
	}
	scratch, done, err := scratchFolder(o)
	if err != nil {
		return nil, err
	}
	defer done()
	from, err := store.OpenOriginal(ctx, o.File, scratch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if o.DryRun && !exists(o.DB) {
		o.DB = filepath.Join(scratch, "clearbox.sqlite")
	}
	return importInto(ctx, o, from)
}

// scratchFolder returns where copies may be made while an import runs: beside our
// database, where there has to be room anyway. done removes what is left there.
func scratchFolder(o ImportOptions) (dir string, done func(), err error) {
	parent := filepath.Dir(o.DB)
	if !o.DryRun {
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return "", nil, fmt.Errorf("make the data directory: %w", err)
		}
	} else if !exists(parent) {
		parent = "" // the system's
	}
	if dir, err = os.MkdirTemp(parent, ".import-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for the copy: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}

func importInto(ctx context.Context, o ImportOptions, from *store.Original) (_ *Imported, err error) {
	s, err := store.Open(ctx, store.Options{Path: o.DB, Now: o.Now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var out *Imported
	err = s.Write(ctx, func(tx *store.Tx) (err error) {
		out, err = tx.Import(ctx, from, store.ImportOptions{Again: o.Again, Workspace: o.Workspace, FolderKey: folderKey,
			Progress: o.Progress})
		if err == nil && o.DryRun {
			err = errRehearsed
		}
		return err
	})
	if errors.Is(err, errRehearsed) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ImportedFrom reports whether a file was imported into this database before.
func (e *Engine) ImportedFrom(ctx context.Context, file string) (bool, error) {
	var was bool
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		was, err = tx.ImportedFrom(file)
		return err
	})
	return was, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
