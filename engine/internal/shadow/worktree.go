package shadow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Worktree is a copy of a working directory in which one step works alone. It is
// a git repository of its own, whose only new commit holds what was copied; the
// commits before are borrowed from the project, read-only.
type Worktree struct {
	ID   string
	Root string // the copy of the whole project
	Dir  string // the copy of the working directory, at Root or below
	Base Tree   // the working directory as it was copied
}

// WorktreeOptions say what a worktree gets.
type WorktreeOptions struct {
	// ID names the worktree: letters, digits, dots, dashes and underscores.
	ID string
	// Declared are the paths that the step declares. A file among them is copied
	// even when it is ignored.
	Declared []string
	// Message is what the commit says, in place of a general sentence.
	Message string
}

// owner marks a folder as a worktree of ours, and holds what is known of it.
// Folders without it are never removed.
type owner struct {
	Mark    string // always ownerMark
	ID      string
	Workdir string // resolved
	Top     string // of the project
	Sub     string // of the working directory in the project: "" or "a/b"
	Name    string // of the copy's folder
	Whole   Tree   // the project as it was copied
	Base    Tree   // the working directory in Whole
	Ready   bool   // the copy is complete
	Made    time.Time
	Results map[Tree]result // what was collected, by the tree of the working directory
}

// result is what is kept beside a collected tree. Paths are bytes, since JSON
// cannot hold all names that files have.
type result struct {
	Left []leftPath // in the working directory
}

type leftPath struct {
	Path []byte
	Why  string
}

const (
	ownerMark = "worktree of Clearbox"
	ownerFile = "owner.json"
)

func (r *Repo) worktrees() string { return filepath.Join(r.data, "worktrees") }

func (r *Repo) placeOf(id string) string { return filepath.Join(r.worktrees(), id) }

func (o *owner) worktree(place string) Worktree {
	root := filepath.Join(place, "tree", o.Name)
	return Worktree{ID: o.ID, Root: root, Dir: filepath.Join(root, filepath.FromSlash(o.Sub)), Base: o.Base}
}

// inProject returns paths of the working directory as paths of the project.
func (o *owner) inProject(paths []string) []string {
	if o.Sub == "" {
		return paths
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = o.Sub + "/" + p
	}
	return out
}

func (o *owner) save(place string) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(place, ownerFile), b)
}

// readOwner reads the mark of a worktree. What has no mark is not ours.
func readOwner(place string) (*owner, error) {
	b, err := os.ReadFile(filepath.Join(place, ownerFile))
	if err != nil {
		return nil, err
	}
	var o owner
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, err
	}
	if o.Mark != ownerMark || o.ID != filepath.Base(place) {
		return nil, errors.New("its mark is that of something else")
	}
	return &o, nil
}

func checkID(id string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`).MatchString(id) || strings.Contains(id, "..") || strings.HasSuffix(id, ".lock") {
		return plan.Errorf(plan.Invalid, "%q cannot name a worktree", id)
	}
	return nil
}

// CanIsolate reports, as an error, why no worktree can be made of a working
// directory: it is in no git repository, or in one of a form that is not supported.
func (r *Repo) CanIsolate(workdir string) error {
	_, _, err := projectOf(workdir)
	return err
}

func projectOf(workdir string) (root string, p project, err error) {
	if root, err = filepath.EvalSymlinks(workdir); err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return "", p, err
	}
	p, ok := findProject(root)
	if !ok {
		return "", p, plan.Errorf(plan.Invalid, "the working directory %s is in no git repository, and steps can only be isolated in a git repository", workdir)
	}
	if p.usesSHA256() {
		return "", p, plan.Errorf(plan.Unavailable, "the git repository %s uses SHA-256, so steps in it cannot be isolated", p.top)
	}
	return root, p, nil
}

// OpenWorktree returns a worktree that exists and is complete, else NotFound.
func (r *Repo) OpenWorktree(id string) (Worktree, error) {
	o, err := r.ownerOf(id)
	if err != nil {
		return Worktree{}, err
	}
	return o.worktree(r.placeOf(id)), nil
}

func (r *Repo) ownerOf(id string) (*owner, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	o, err := readOwner(r.placeOf(id))
	if err != nil || !o.Ready {
		return nil, plan.Errorf(plan.NotFound, "there is no worktree %s", id)
	}
	return o, nil
}

// CreateWorktree copies the project that a working directory lies in: what is
// tracked, changed or new, but nothing that is ignored. The report names what the
// copy does not have.
func (r *Repo) CreateWorktree(ctx context.Context, workdir string, opt WorktreeOptions) (Worktree, Report, error) {
	w, rep, err := r.createWorktree(ctx, workdir, opt)
	if err != nil {
		return Worktree{}, Report{}, fmt.Errorf("make a worktree of %s: %w", workdir, err)
	}
	return w, rep, nil
}

func (r *Repo) createWorktree(ctx context.Context, workdir string, opt WorktreeOptions) (w Worktree, rep Report, err error) {
	if err := checkID(opt.ID); err != nil {
		return w, rep, err
	}
	root, p, err := projectOf(workdir)
	if err != nil {
		return w, rep, err
	}
	o := &owner{Mark: ownerMark, ID: opt.ID, Workdir: root, Top: p.top, Name: nameOf(p.top), Made: time.Now(), Results: map[Tree]result{}}
	if rel, err := filepath.Rel(p.top, root); err != nil {
		return w, rep, err
	} else if rel != "." {
		o.Sub = filepath.ToSlash(rel)
	}
	place := r.placeOf(opt.ID)
	if err := claimPlace(place, o); err != nil {
		return w, rep, err
	}
	defer func() {
		if err != nil {
			_ = removePlace(place)
		}
	}()
	f, err := r.folderAt(p.top)
	if err != nil {
		return w, rep, err
	}
	defer r.release(f)
	c := &copying{f: f, owner: o, project: p, place: place, message: opt.Message}
	rep, err = c.run(ctx, opt.Declared)
	return o.worktree(place), rep, err
}

// nameOf is the name of the copy's folder: tools show it, so it is the project's.
func nameOf(top string) string {
	if name := filepath.Base(top); name != "/" && name != "." {
		return name
	}
	return "root"
}

// claimPlace makes the folder of a worktree and marks it, before anything else is
// put into it.
func claimPlace(place string, o *owner) error {
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(place, 0o700); errors.Is(err, fs.ErrExist) {
		return plan.Errorf(plan.Conflict, "there is a worktree %s already", o.ID)
	} else if err != nil {
		return err
	}
	if err := o.save(place); err != nil {
		_ = os.Remove(place)
		return err
	}
	return nil
}

// RemoveWorktree removes a worktree and all in it. One that does not exist is no
// error; a folder that is not marked as a worktree is left alone, and is one.
func (r *Repo) RemoveWorktree(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	place := r.placeOf(id)
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := readOwner(place); err != nil {
		return fmt.Errorf("remove worktree %s: %w", id, err)
	}
	if err := removePlace(place); err != nil {
		return fmt.Errorf("remove worktree %s: %w", id, err)
	}
	return nil
}

// removePlace removes a worktree; its mark goes last, so that whatever is left
// over can be removed another time.
func removePlace(place string) error {
	list, err := os.ReadDir(place)
	if err != nil {
		return err
	}
	for _, e := range list {
		path := filepath.Join(place, e.Name())
		if e.Name() == ownerFile {
			continue
		}
		if os.RemoveAll(path) == nil {
			continue
		}
		openUp(path) // some tools make folders in which nobody may remove a thing
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(place, ownerFile)); err != nil {
		return err
	}
	return os.Remove(place)
}

// openUp makes all folders below a path writable for us. It follows no links.
func openUp(path string) {
	_ = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}
