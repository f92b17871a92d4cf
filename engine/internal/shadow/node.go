package shadow

import (
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// node is what is known of a folder. It is never changed once a walk has made it,
// but for chain, which only says how far the decisions in it can be trusted.
type node struct {
	kids   []*entry // by name
	tree   id       // of all that is not forced
	empty  bool     // tree has no entries
	forced bool     // something at or below is in a snapshot only when declared
	hollow bool     // the content of something at or below is not kept
	own    *ruleFile
	chain  *chain
}

// entry is a file or a folder as it was last seen.
type entry struct {
	name    string
	stat    stat
	mode    uint32 // as in a tree
	id      id     // of a file
	racy    bool   // it may have changed and look the same
	ignored bool   // by the rules, or since it lies in what they ignore
	forced  bool   // it is here only because somebody declared it
	why     string // its content is not kept for this reason
	dir     *node  // of a folder
}

// ruleFile is a .gitignore file that was read.
type ruleFile struct {
	stat  stat
	racy  bool
	rules []rule
}

func (n *node) kid(name string) *entry {
	if n == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(n.kids, name, func(e *entry, name string) int { return strings.Compare(e.name, name) })
	if !ok {
		return nil
	}
	return n.kids[i]
}

// inherit takes over what an entry in it says of a folder.
func (n *node) inherit(e *entry) {
	n.forced = n.forced || e.forced || e.dir != nil && e.dir.forced
	n.hollow = n.hollow || e.why != "" || e.dir != nil && e.dir.hollow
}

// trie is declared paths, by folded name. A nil trie declares nothing.
type trie struct {
	kids map[string]*trie
	end  bool // a path ends here
}

// trieOf reads declared paths. What is no path inside the working directory is
// none of a snapshot's business.
func trieOf(declared []string) *trie {
	var top *trie
	for _, p := range declared {
		key, err := plan.FileKey(p)
		if err != nil {
			continue
		}
		if top == nil {
			top = &trie{}
		}
		t := top
		for name := range strings.SplitSeq(key, "/") {
			if t.kids == nil {
				t.kids = map[string]*trie{}
			}
			if t.kids[name] == nil {
				t.kids[name] = &trie{}
			}
			t = t.kids[name]
		}
		t.end = true
	}
	return top
}

// kid returns what is declared at and below a name.
func (t *trie) kid(name string) *trie {
	if t == nil || t.kids == nil {
		return nil
	}
	return t.kids[plan.PathKey(name)]
}

func (t *trie) more() bool { return t != nil && len(t.kids) > 0 }

func (t *trie) ends() bool { return t != nil && t.end }

// covers reports whether a path is declared, or lies in a declared folder.
func (t *trie) covers(path string) bool {
	if t == nil {
		return false
	}
	for name := range strings.SplitSeq(plan.PathKey(path), "/") {
		if t = t.kids[name]; t == nil {
			return false
		}
		if t.end {
			return true
		}
	}
	return false
}
