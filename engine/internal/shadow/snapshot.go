package shadow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Tree names a snapshot. It is opaque, can be stored, and holds as long as Prune
// is told to keep it.
type Tree string

// onlyMark ends the name of a tree that has declared paths only.
const onlyMark = "+declared"

func treeName(key string, d id, only bool) Tree {
	t := key + ":" + d.String()
	if only {
		t += onlyMark
	}
	return Tree(t)
}

// parse takes the name apart: which shadow it lies in, its object, and whether it
// has declared paths only.
func (t Tree) parse() (key string, d id, only bool, err error) {
	s, only := strings.CutSuffix(string(t), onlyMark)
	key, hex, ok := strings.Cut(s, ":")
	if !ok || len(key) != 16 || strings.Trim(key, "0123456789abcdef") != "" {
		return "", d, false, plan.Errorf(plan.Invalid, "%q names no snapshot", string(t))
	}
	if d, err = parseID(hex); err != nil {
		return "", d, false, plan.Errorf(plan.Invalid, "%q names no snapshot", string(t))
	}
	return key, d, only, nil
}

// SnapshotOptions say what one snapshot takes.
type SnapshotOptions struct {
	// Declared are the paths that the step declares, as in plan.File. A file
	// among them is taken even when it is ignored.
	Declared []string
	// Exclude are more paths that are not looked at, absolute.
	Exclude []string

	whole bool // without files whose content is not kept
}

// Snapshot records what a working directory looks like now. What cannot be taken
// is said in the report and keeps nothing else out; what the rules of .gitignore
// leave out is not mentioned. Any number of snapshots may be taken at once, also of
// one directory. Without git the error is ErrNoGit, since nothing could be done
// with the tree.
func (r *Repo) Snapshot(ctx context.Context, workdir string, o SnapshotOptions) (Tree, Report, error) {
	if _, err := r.gitPath(); err != nil {
		return "", Report{}, err
	}
	f, err := r.folderAt(workdir)
	if err != nil {
		return "", Report{}, fmt.Errorf("take a snapshot of %s: %w", workdir, err)
	}
	defer r.release(f)
	t, rep, err := f.snapshot(ctx, o)
	if err != nil {
		return "", Report{}, fmt.Errorf("take a snapshot of %s: %w", workdir, err)
	}
	return t, rep, nil
}

func (f *folder) snapshot(ctx context.Context, o SnapshotOptions) (Tree, Report, error) {
	if err := f.lock(ctx); err != nil {
		return "", Report{}, err
	}
	defer f.unlock()
	t, rep, err := f.look(ctx, o, false)
	if errors.Is(err, errTooMany) {
		t, rep, err = f.look(ctx, o, true)
	}
	if errors.Is(err, errTooMany) {
		err = plan.Errorf(plan.Unavailable, "the declared folders have more than %d files", f.repo.opts.MaxFiles)
	}
	if err != nil {
		return "", Report{}, err
	}
	_ = f.store.joinSmall() // tried again next time; until then they are as good as they are
	return t, rep, nil
}

// look walks the working directory, with the cache or at declared paths only.
func (f *folder) look(ctx context.Context, o SnapshotOptions, only bool) (t Tree, rep Report, err error) {
	w, done := f.newWalk(ctx, o.Exclude)
	defer done()
	w.only = only
	rules := f.copyRules
	if rules == nil {
		if err := f.outer.refresh(ctx, f, &w.rep); err != nil {
			return "", rep, err
		}
		rules = &f.outer
	}
	w.prefix, w.tracked = rules.prefix, rules.tracked
	if f.copyRules != nil {
		f.load() // now that the walk keeps its objects from being pruned
	}
	old, declared := f.cache, trieOf(o.Declared)
	if only {
		old = nil
	}
	n, err := w.run(old, rules.chain, declared)
	if err != nil {
		return "", rep, err
	}
	d, _, err := view{w.batch, declared, o.whole}.tree(n)
	if err != nil {
		return "", rep, err
	}
	if err := w.batch.finish(); err != nil {
		return "", rep, err
	}
	if !only {
		f.keep(n, int(w.changed.Load()))
	}
	rep = Report{Files: n.count(declared), DeclaredOnly: only}
	f.left = w.rep.left()
	rep.say(f.left)
	t = treeName(f.key, d, only)
	f.repo.remember(t) // before the batch ends, so that no prune comes in between
	return t, rep, nil
}

// newWalk prepares a walk of the root. The caller ends it with done.
func (f *folder) newWalk(ctx context.Context, exclude []string) (w *walk, done func()) {
	ctx, fail := context.WithCancelCause(ctx)
	w = &walk{ctx: ctx, fail: fail, root: f.root, batch: f.store.begin(), opts: &f.repo.opts, nonce: f.nonce,
		skip: f.repo.excluded(f.root, exclude), slots: newSlots()}
	return w, func() {
		fail(nil)
		w.batch.abort()
	}
}

// excluded returns what a walk of root must not look at, relative to it.
func (r *Repo) excluded(root string, more []string) map[string]bool {
	list := relativeTo(root, r.exclude)
	if root == r.data {
		list = append(list, "shadow", "worktrees", "patches")
	}
	for _, p := range more {
		list = append(list, relativeTo(root, []string{resolveLoosely(p)})...)
	}
	skip := make(map[string]bool, len(list))
	for _, p := range list {
		skip[p] = true
	}
	return skip
}

const (
	saveEvery   = 30 * time.Second
	saveEntries = 1000 // changed ones
)

// keep makes a walk the one that the next is compared with. Now and then it is
// written down, too: what is lost of it costs time and nothing else.
func (f *folder) keep(n *node, changed int) {
	f.cache = n
	f.stale += changed
	if f.stale >= saveEntries || f.stale > 0 && time.Since(f.saved) > saveEvery {
		_ = f.save()
	}
}

// remember keeps a tree from Prune until its caller has had time to record it.
func (r *Repo) remember(t Tree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent[t] = time.Now()
}
