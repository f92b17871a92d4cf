package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// ApplyOptions say what of a worktree is brought back.
type ApplyOptions struct {
	Result   Tree     // what Collect returned
	Declared []string // by the step
	Others   []string // declared by other steps: not touched, unless this step declares them, too
	// DeclaredOnly leaves out what the step does not declare.
	DeclaredOnly bool
}

// Applied says what was brought back.
type Applied struct {
	Files   []AppliedFile // ordered by path
	LeftOut []LeftOut     // changes that stay in the worktree
}

// AppliedFile is a path whose change is now in the working directory.
type AppliedFile struct {
	Path   string // as in plan.FileDiff
	Kind   plan.DiffKind
	Merged bool // with a change that somebody made there meanwhile
}

// ConflictError says that a worktree's changes contradict others, and that nothing
// was applied.
type ConflictError struct {
	Files []string // as in plan.FileDiff
	Patch string   // path of the file that keeps the changes; git apply takes it
}

func (e *ConflictError) Error() string {
	const most = 5
	names, more := e.Files, ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Sprintf("the working directory has changed since this step began, and its changes cannot be merged in %s%s. "+
		"Nothing was applied. The changes are kept in %s; git apply --3way may help.", strings.Join(names, ", "), more, e.Patch)
}

// Apply brings the changes of a worktree into the working directory: all of them
// or none, also when the process ends in the middle (see RecoverWorktrees). What
// changed there meanwhile is merged, as git merge-file does it; where that is not
// possible the error is a ConflictError and nothing has changed.
func (r *Repo) Apply(ctx context.Context, id string, opt ApplyOptions) (Applied, error) {
	o, err := r.ownerOf(id)
	if err != nil {
		return Applied{}, err
	}
	if _, ok := o.Results[opt.Result]; !ok {
		return Applied{}, plan.Errorf(plan.Invalid, "%q was not collected from worktree %s", string(opt.Result), id)
	}
	out, err := r.apply(ctx, o, opt)
	var conflict *ConflictError
	if err != nil && !errors.As(err, &conflict) {
		return Applied{}, fmt.Errorf("apply worktree %s, nothing was applied: %w", id, err)
	}
	return out, err
}

func (r *Repo) apply(ctx context.Context, o *owner, opt ApplyOptions) (Applied, error) {
	var out Applied
	err := r.between(o.Base, opt.Result, func(f *folder, base, result id, _ bool) error {
		// Snapshots of the working directory wait, so that none sees half of it.
		w, err := r.folderAt(o.Workdir)
		if err != nil {
			return err
		}
		defer r.release(w)
		if err := w.lock(ctx); err != nil {
			return err
		}
		defer w.unlock()
		a := &applying{f: f, owner: o, place: r.placeOf(o.ID), base: base, result: result, opt: opt}
		if a.root, err = openFolder(o.Workdir); err != nil {
			return err
		}
		defer closeFD(a.root)
		a.batch = f.store.begin()
		defer a.batch.abort()
		if err := a.choose(ctx); err != nil {
			return err
		}
		if err := a.run(ctx); err != nil {
			return err
		}
		out = a.applied()
		return nil
	})
	return out, err
}

// applying is one attempt to bring changes back.
type applying struct {
	f            *folder // whose shadow has all objects
	owner        *owner
	place        string
	base, result id
	opt          ApplyOptions

	root    int      // the working directory, opened
	batch   *batch   // keeps a prune away until all is done
	changes []change // that are wanted
	left    []LeftOut
	journal journal
	merged  map[string]bool
}

// choose decides which changes are brought back.
func (a *applying) choose(ctx context.Context) error {
	list, err := a.f.changes(ctx, a.base, a.result)
	if err != nil {
		return err
	}
	declared, others := trieOf(a.opt.Declared), trieOf(a.opt.Others)
	notTaken := a.owner.Results[a.opt.Result].Left
	for _, c := range list {
		if why := a.refusal(&c, declared, others, notTaken); why != "" {
			a.left = append(a.left, LeftOut{display(c.path), why})
		} else {
			a.changes = append(a.changes, c)
		}
	}
	return nil
}

// refusal says why a change is not brought back; empty if it is.
func (a *applying) refusal(c *change, declared, others *trie, notTaken []leftPath) string {
	for _, l := range notTaken {
		if p := string(l.Path); p == c.path || strings.HasPrefix(c.path, p+"/") {
			return l.Why
		}
	}
	mine := declared.covers(c.path)
	switch name := c.path[strings.LastIndexByte(c.path, '/')+1:]; {
	case !mine && others.covers(c.path):
		return "another step declares it"
	case !mine && a.opt.DeclaredOnly:
		return "the step does not declare it"
	case c.newMode == modeLink && c.oldMode != modeLink && isGitMeta(name):
		return "git reads settings from this name, and a link could lead it anywhere"
	}
	return ""
}

// run plans and does it. When somebody changes the very files in between, it
// plans again.
func (a *applying) run(ctx context.Context) error {
	const patience = 5
	for try := 1; ; try++ {
		conflicts, err := a.plan(ctx)
		switch {
		case err == nil && len(conflicts) > 0:
			return a.refuse(ctx, conflicts)
		case err == nil && len(a.journal.Ops) > 0:
			err = a.do(ctx)
		}
		if !errors.Is(err, errMoved) || try == patience {
			return err
		}
	}
}

// refuse keeps the changes as a patch.
func (a *applying) refuse(ctx context.Context, conflicts []string) error {
	dir := filepath.Join(a.f.repo.data, "patches")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	out, err := os.CreateTemp(dir, a.owner.ID+"-*.patch")
	if err != nil {
		return err
	}
	defer out.Close()
	wanted := make(map[string]bool, len(a.changes))
	for i := range a.changes {
		wanted[a.changes[i].path] = true
	}
	if err := a.f.patch(ctx, out, a.base, a.result, func(path string) bool { return wanted[path] }); err != nil {
		_ = os.Remove(out.Name())
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return &ConflictError{Files: conflicts, Patch: out.Name()}
}

func (a *applying) applied() Applied {
	out := Applied{LeftOut: a.left}
	for i := range a.changes {
		c := &a.changes[i]
		out.Files = append(out.Files, AppliedFile{display(c.path), c.kind(), a.merged[c.path]})
	}
	return out
}
