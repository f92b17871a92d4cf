package shadow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// graceTime is how long a tree lives that nobody asks to keep: its caller may
	// be about to record it.
	graceTime = 24 * time.Hour
	// idleTime is how long the shadow of a directory lives without any tree to keep.
	idleTime = 30 * 24 * time.Hour
	// A shadow is packed anew when it has as many packs, or has grown by so much.
	manyPacks = 16
	muchMore  = 64 << 20 // bytes, beyond twice the size after the last time
)

// Prune forgets all trees but those of keep, those made in the last day, and
// those that worktrees need. It does little when little would be gained, so it
// can be called often, and at any time.
func (r *Repo) Prune(ctx context.Context, keep []Tree) error {
	r.pruning.Lock()
	defer r.pruning.Unlock()
	kept := map[string][]id{}
	for _, t := range slices.Concat(r.recentTrees(), r.worktreeTrees(), keep) {
		if key, d, _, err := t.parse(); err == nil {
			kept[key] = append(kept[key], d)
		}
	}
	list, err := os.ReadDir(r.shadows())
	if err != nil {
		return fmt.Errorf("prune the shadow repositories: %w", err)
	}
	var errs []error
	for _, e := range list {
		key := e.Name()
		if _, err := os.Stat(filepath.Join(r.shadows(), key, "nonce")); err != nil {
			continue // none of ours, or never used
		}
		if len(kept[key]) == 0 && r.forget(key) {
			continue
		}
		if err := r.pruneOne(ctx, key, kept[key]); err != nil {
			errs = append(errs, fmt.Errorf("prune the shadow repository %s: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

// recentTrees returns the trees that are too new to judge, and forgets the others.
func (r *Repo) recentTrees() []Tree {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Tree
	for t, at := range r.recent {
		if time.Since(at) > graceTime {
			delete(r.recent, t)
		} else {
			out = append(out, t)
		}
	}
	return out
}

// forget removes the shadow of a directory that is gone, or was not used for long.
func (r *Repo) forget(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	dir := filepath.Join(r.shadows(), key)
	root, err := os.ReadFile(filepath.Join(dir, "workdir"))
	if err != nil || r.folders[key] != nil {
		return false
	}
	_, err = os.Stat(string(root))
	info, used := os.Stat(filepath.Join(dir, cacheName))
	idle := used == nil && time.Since(info.ModTime()) > idleTime
	if !errors.Is(err, os.ErrNotExist) && !idle {
		return false
	}
	return os.RemoveAll(dir) == nil
}

func (r *Repo) pruneOne(ctx context.Context, key string, keep []id) error {
	f, err := r.folderFor(key, "")
	if err != nil {
		return err
	}
	defer r.release(f)
	if !f.worthPruning() {
		return nil
	}
	if err := f.lock(ctx); err != nil {
		return err
	}
	var roots bytes.Buffer
	f.store.doom(func() {
		for _, d := range keep {
			if f.store.has(d) {
				fmt.Fprintln(&roots, d)
			}
		}
		for _, t := range r.recentTrees() {
			if k, d, _, err := t.parse(); err == nil && k == key {
				fmt.Fprintln(&roots, d)
			}
		}
		f.cache.roots(&roots)
	})
	f.unlock()
	name, err := f.repack(ctx, &roots)
	if err == nil && name != "" {
		err = f.store.add(name)
	}
	f.store.spare(err == nil)
	if err != nil {
		return err
	}
	_, size := f.store.size()
	return replaceFile(filepath.Join(f.dir, "kept"), strconv.AppendInt(nil, size, 10))
}

// worthPruning reports whether there is much to gain.
func (f *folder) worthPruning() bool {
	packs, size := f.store.size()
	b, _ := os.ReadFile(filepath.Join(f.dir, "kept"))
	last, _ := strconv.ParseInt(string(b), 10, 64)
	return packs >= manyPacks || packs > 1 && size > 2*last+muchMore
}

// roots writes what the cache counts on: its tree, and what is in no tree since
// only some snapshots have it.
func (n *node) roots(out *bytes.Buffer) {
	if n == nil {
		return
	}
	fmt.Fprintln(out, n.tree)
	n.eachForced(func(d id) { fmt.Fprintln(out, d) })
}

func (n *node) eachForced(fn func(d id)) {
	for _, e := range n.kids {
		switch {
		case e.dir != nil && e.dir.empty:
			fn(e.dir.tree)
			fallthrough
		case e.dir != nil && e.dir.forced:
			e.dir.eachForced(fn)
		case e.forced:
			fn(e.id)
		}
	}
}

// repack makes one pack of all that can be reached from the roots, and returns its
// name, or nothing if that is nothing.
func (f *folder) repack(ctx context.Context, roots *bytes.Buffer) (string, error) {
	base := filepath.Join(f.store.dir, "pack")
	out, err := f.repo.git(f.dir, "pack-objects", "--revs", "--quiet", "--threads=1", base).stdin(roots).output(ctx)
	if err != nil {
		return "", err
	}
	sum := strings.TrimSpace(string(out))
	if sum == "" || strings.ContainsAny(sum, "\n/") {
		return "", nil
	}
	return "pack-" + sum, nil
}
