package shadow

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// copyAt returns the folder of a worktree, whose objects lie in the shadow of the
// project. It is used for one snapshot only.
func (f *folder) copyAt(place string, o *owner) *folder {
	c := &folder{repo: f.repo, key: f.key, root: o.worktree(place).Root, dir: place, store: f.store, nonce: f.nonce, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

// Collect records what the working directory looks like in a worktree, as a tree
// that can be compared with the worktree's base and applied. Git is not asked
// about the worktree: nothing that a step did to the repository there counts. What
// was copied stays in the tree even where rules of .gitignore are new. Changes
// outside of the working directory are not collected; the report names them. There
// may be one call at a time for a worktree.
func (r *Repo) Collect(ctx context.Context, id string, declared []string) (Tree, Report, error) {
	o, err := r.ownerOf(id)
	if err != nil {
		return "", Report{}, err
	}
	t, rep, err := r.collect(ctx, o, declared)
	if errors.Is(err, errTooMany) {
		err = plan.Errorf(plan.Unavailable, "there are more than %d files in the worktree", r.opts.MaxFiles)
	}
	if err != nil {
		return "", Report{}, fmt.Errorf("collect from worktree %s: %w", id, err)
	}
	return t, rep, nil
}

func (r *Repo) collect(ctx context.Context, o *owner, declared []string) (Tree, Report, error) {
	key, base, _, err := o.Whole.parse()
	if err != nil {
		return "", Report{}, err
	}
	f, err := r.folderFor(key, "")
	if err != nil {
		return "", Report{}, err
	}
	defer r.release(f)
	c := f.copyAt(r.placeOf(o.ID), o)
	if c.copyRules, err = f.rulesOfCopy(ctx, o, base); err != nil {
		return "", Report{}, err
	}
	whole, rep, err := c.look(ctx, SnapshotOptions{Declared: o.inProject(declared)}, false)
	if err != nil {
		return "", rep, err
	}
	_ = c.save()
	_, tree, _, err := whole.parse()
	if err != nil {
		return "", rep, err
	}
	dir, err := f.subTree(ctx, tree, o.Sub)
	if err != nil {
		return "", rep, err
	}
	outside, err := f.outside(ctx, o, base, tree)
	if err != nil {
		return "", rep, err
	}
	rep.say(slices.Concat(c.left, outside))
	o.Results[dir] = result{o.inWorkdir(c.left)}
	r.remember(dir)
	return dir, rep, o.save(r.placeOf(o.ID))
}

// rulesOfCopy returns what is ignored in a worktree: what the project's own rules
// say, but nothing that was copied.
func (f *folder) rulesOfCopy(ctx context.Context, o *owner, base id) (*outer, error) {
	files, err := f.listTree(ctx, base)
	if err != nil {
		return nil, err
	}
	rules := &outer{tracked: make(tracked, len(files))}
	for i := range files {
		rules.tracked[i] = files[i].path
	}
	if p, ok := findProject(o.Top); ok {
		exclude := readRules(p.excludeFile(), ruleFile{}, &reporter{})
		rules.chain = &chain{rules: exclude.rules}
	}
	return rules, nil
}

// outside lists what changed in the copy beside the working directory.
func (f *folder) outside(ctx context.Context, o *owner, from, to id) (out []LeftOut, err error) {
	if o.Sub == "" {
		return nil, nil
	}
	list, err := f.changes(ctx, from, to)
	for i := range list {
		if !strings.HasPrefix(list[i].path, o.Sub+"/") {
			out = append(out, LeftOut{list[i].path, "it lies outside of the working directory"})
		}
	}
	return out, err
}

// inWorkdir returns what was left out in the working directory.
func (o *owner) inWorkdir(list []LeftOut) (out []leftPath) {
	for _, l := range list {
		if o.Sub == "" {
			out = append(out, leftPath{[]byte(l.Path), l.Why})
		} else if path, ok := strings.CutPrefix(l.Path, o.Sub+"/"); ok {
			out = append(out, leftPath{[]byte(path), l.Why})
		}
	}
	return out
}

// worktreeTrees returns the trees that worktrees need.
func (r *Repo) worktreeTrees() (out []Tree) {
	places, _ := filepath.Glob(filepath.Join(quoteGlob(r.worktrees()), "*"))
	for _, place := range places {
		o, err := readOwner(place)
		if err != nil {
			continue
		}
		out = append(out, o.Whole, o.Base)
		for t := range o.Results {
			out = append(out, t)
		}
		if j, err := readJournal(place); err == nil && j != nil {
			for _, x := range j.Ops {
				out = append(out, Tree(j.Key+":"+x.OldID), Tree(j.Key+":"+x.NewID))
			}
		}
	}
	return out
}
