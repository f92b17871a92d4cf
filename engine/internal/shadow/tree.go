package shadow

import (
	"cmp"
	"slices"
	"strconv"
)

// treeOf returns the body of a tree object: all entries that are not forced, or
// also those that pick says yes to. Folders are as their nodes say, unless trees
// has them otherwise.
func treeOf(kids []*entry, pick func(e *entry) (mode uint32, d id, ok bool)) []byte {
	if pick == nil {
		pick = plainEntry
	}
	type item struct {
		key  string // git sorts folders as if their names ended in a slash
		name string
		mode uint32
		id   id
	}
	items, size := make([]item, 0, len(kids)), 0
	for _, e := range kids {
		mode, d, ok := pick(e)
		if !ok {
			continue
		}
		x := item{e.name, e.name, mode, d}
		if mode == modeFolder {
			x.key += "/"
		}
		items = append(items, x)
		size += len(e.name) + len("100644 ") + 1 + len(d)
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	body := make([]byte, 0, size)
	for _, x := range items {
		body = strconv.AppendUint(body, uint64(x.mode), 8)
		body = append(append(append(body, ' '), x.name...), 0)
		body = append(body, x.id[:]...)
	}
	return body
}

func plainEntry(e *entry) (uint32, id, bool) {
	if e.dir != nil {
		return modeFolder, e.dir.tree, !e.dir.empty
	}
	return e.mode, e.id, !e.forced
}

// view is what one caller gets to see of a folder.
type view struct {
	batch    *batch
	declared *trie // forced entries are in it when they are declared
	whole    bool  // without entries whose content is not kept
}

// tree returns the tree of a folder, as the view has it.
func (v view) tree(n *node) (d id, empty bool, err error) {
	if !v.special(n) {
		return n.tree, n.empty, nil
	}
	body := treeOf(n.kids, func(e *entry) (uint32, id, bool) {
		if e.dir == nil {
			return e.mode, e.id, v.has(e)
		}
		below, empty, bad := view{v.batch, v.declared.kid(e.name), v.whole}.tree(e.dir)
		if bad != nil {
			err = bad
		}
		return modeFolder, below, !empty
	})
	if err != nil {
		return d, false, err
	}
	d, err = v.batch.put(kindTree, body)
	return d, len(body) == 0, err
}

// special reports whether the view of a folder may differ from its tree.
func (v view) special(n *node) bool { return n.forced && v.declared != nil || n.hollow && v.whole }

func (v view) has(e *entry) bool {
	return (!e.forced || v.declared.kid(e.name).ends()) && (e.why == "" || !v.whole)
}

// count returns how many files a folder has that are always in it, or declared.
func (n *node) count(declared *trie) (files int) {
	for _, e := range n.kids {
		switch {
		case e.dir != nil:
			files += e.dir.count(declared.kid(e.name))
		case !e.forced || declared.kid(e.name).ends():
			files++
		}
	}
	return files
}
