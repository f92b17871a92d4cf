package shadow

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// copying is the making of one worktree.
type copying struct {
	f       *folder // of the project
	owner   *owner
	project project
	place   string
	message string
}

func (c *copying) run(ctx context.Context, declared []string) (Report, error) {
	whole, rep, err := c.f.snapshot(ctx, SnapshotOptions{Declared: c.owner.inProject(declared), whole: true})
	if err != nil {
		return rep, err
	}
	_, tree, only, err := whole.parse()
	if err != nil {
		return rep, err
	}
	if only {
		return rep, plan.Errorf(plan.Unavailable, "the project %s has more than %d files, so steps in it cannot be isolated", c.project.top, c.f.repo.opts.MaxFiles)
	}
	c.owner.Whole = whole
	if c.owner.Base, err = c.f.subTree(ctx, tree, c.owner.Sub); err != nil {
		return rep, err
	}
	files, err := c.f.listTree(ctx, tree)
	if err != nil {
		return rep, err
	}
	root := c.owner.worktree(c.place).Root
	if err := c.f.checkOut(ctx, root, files); err != nil {
		return rep, err
	}
	if err := c.makeGitDir(ctx, filepath.Join(root, ".git"), tree, files); err != nil {
		return rep, err
	}
	if err := c.seed(files); err != nil {
		return rep, err
	}
	c.owner.Ready = true
	return rep, c.owner.save(c.place)
}

// copied is a file of a worktree.
type copied struct {
	path     string
	mode     uint32
	id       id
	stat     stat
	uid, gid uint32
}

// listTree lists all files of a tree, ordered by path as bytes.
func (f *folder) listTree(ctx context.Context, tree id) ([]copied, error) {
	out, err := f.repo.git(f.dir, "ls-tree", "-r", "-z", "--full-tree", tree.String()).output(ctx)
	if err != nil {
		return nil, err
	}
	var list []copied
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		meta, path, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		words := strings.Fields(meta) // mode, type, id
		x := copied{path: path}
		if x.id, err = parseID(words[len(words)-1]); err != nil {
			return nil, err
		}
		switch words[0] {
		case "100755":
			x.mode = modeProgram
		case "120000":
			x.mode = modeLink
		default:
			x.mode = modeFile
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b copied) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// subTree returns the part of a tree that is a folder; an empty tree, if the
// folder has no files.
func (f *folder) subTree(ctx context.Context, tree id, sub string) (Tree, error) {
	if sub == "" {
		return treeName(f.key, tree, false), nil
	}
	out, err := f.repo.git(f.dir, "ls-tree", "-z", "--full-tree", tree.String(), "--", sub).output(ctx)
	if err != nil {
		return "", err
	}
	if words := strings.Fields(string(out)); len(words) > 2 && words[1] == "tree" {
		d, err := parseID(words[2])
		return treeName(f.key, d, false), err
	}
	b := f.store.begin()
	defer b.abort()
	d, err := b.put(kindTree, nil)
	if err != nil {
		return "", err
	}
	t := treeName(f.key, d, false)
	f.repo.remember(t)
	return t, b.finish()
}

// seed makes the cache of the worktree, so that collecting reads only what has
// changed since.
func (c *copying) seed(files []copied) error {
	asOf := time.Now()
	n, _ := nodeOf(files, "", asOf)
	f := c.f.copyAt(c.place, c.owner)
	f.cache, f.stale = n, 1
	return f.save()
}

// nodeOf makes the node of a folder out of the files in it, which begin the list.
// It returns the other files.
func nodeOf(files []copied, dir string, asOf time.Time) (*node, []copied) {
	n := &node{}
	for len(files) > 0 && strings.HasPrefix(files[0].path, dir) {
		x := &files[0]
		name, _, deeper := strings.Cut(x.path[len(dir):], "/")
		e := &entry{name: name}
		if deeper {
			e.mode, e.stat.mode = modeFolder, fileFolder
			e.dir, files = nodeOf(files, dir+name+"/", asOf)
		} else {
			e.mode, e.id, e.stat, e.racy = x.mode, x.id, x.stat, x.stat.racy(asOf)
			files = files[1:]
		}
		n.kids = append(n.kids, e)
	}
	slices.SortFunc(n.kids, func(a, b *entry) int { return strings.Compare(a.name, b.name) })
	body := treeOf(n.kids, nil)
	n.tree, n.empty = idOf(kindTree, body), len(body) == 0
	return n, files
}
