package shadow

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// read takes in the content of a file or link.
func (w *walk) read(p *place, c choice, s stat) *entry {
	e := &entry{name: c.name, stat: s, ignored: c.ignored, forced: c.forced}
	start := time.Now()
	data, err := w.content(p, e)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		e.why = reason(err)
	case e.stat.mode&fileType == fileRegular && e.stat.size > w.opts.MaxFile:
		e.why = fmt.Sprintf("%s: only the content of files up to %s is kept", size(e.stat.size), size(w.opts.MaxFile))
	}
	e.mode, e.racy = gitMode(e.stat.mode), e.racy || e.stat.racy(start)
	if e.why == "" {
		e.why = w.keep(e, data)
	}
	if e.why != "" {
		w.rep.add(p.path+c.name, e.why)
		e.mode, data = modeFile, w.standIn(e)
		if e.id, err = w.batch.put(kindBlob, data); err != nil {
			w.fail(err)
		}
	}
	return e
}

// content reads what the entry names, and how it looked at that moment.
func (w *walk) content(p *place, e *entry) ([]byte, error) {
	if e.stat.mode&fileType == fileLink {
		to, err := readLinkAt(p.fd, e.name, e.stat.size)
		return []byte(to), err
	}
	const patience = 3
	for try := 1; ; try++ {
		data, s, err := readFileAt(p.fd, e.name, w.opts.MaxFile)
		if s.mode&fileType == fileRegular {
			e.stat = s
		}
		if err == nil || !errors.Is(err, errMoved) {
			return data, err
		}
		if data != nil && try == patience {
			e.racy = true // a log, perhaps: what was read is as good as any
			return data, nil
		}
		if try == patience {
			return nil, err
		}
	}
}

// keep stores a content, unless the snapshot has grown too much: then it says so.
func (w *walk) keep(e *entry, data []byte) (why string) {
	e.id = idOf(kindBlob, data)
	if w.batch.has(e.id) {
		return ""
	}
	if w.added.Add(int64(len(data))) > w.opts.MaxNew {
		return fmt.Sprintf("a snapshot keeps up to %s of new content, and there is more", size(w.opts.MaxNew))
	}
	if err := w.batch.putAs(e.id, kindBlob, data); err != nil {
		w.fail(err)
	}
	return ""
}

const standInPrefix = "Clearbox did not keep this file "

// standIn is what a tree has in place of a content that is not kept. It changes
// when the file does, and no file can be taken for one: it has a secret word.
func (w *walk) standIn(e *entry) []byte {
	return fmt.Appendf(nil, "%s%s\nsize %d\ntime %d\nmode %o\n", standInPrefix, w.nonce, e.stat.size, e.stat.mtime, e.stat.mode&0o7777)
}

func size(n int64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	i, v := -1, float64(n)
	for ; v >= 1<<10 && i < len(units)-1; i++ {
		v /= 1 << 10
	}
	return fmt.Sprintf("%s %ciB", strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0"), units[i])
}

// assemble makes the node of a folder, or takes over the old one.
func (w *walk) assemble(p *place, own *ruleFile, out []*entry) *node {
	kids := slices.DeleteFunc(out, func(e *entry) bool { return e == nil })
	kids = w.withSleeping(p, kids)
	if p.old != nil && p.old.own == own && slices.Equal(p.old.kids, kids) {
		p.old.chain = p.chain
		return p.old
	}
	w.changed.Add(1)
	n := &node{kids: kids, own: own, chain: p.chain}
	for _, e := range kids {
		n.inherit(e)
	}
	if p.old != nil && sameTree(p.old.kids, kids) {
		n.tree, n.empty = p.old.tree, p.old.empty
		return n
	}
	body := treeOf(kids, nil)
	n.empty = len(body) == 0
	var err error
	if n.tree, err = w.batch.put(kindTree, body); err != nil {
		w.fail(err)
	}
	return n
}

// withSleeping keeps what other snapshots took since it was declared to them, so
// that they need not read it again. It is in no tree of this one.
func (w *walk) withSleeping(p *place, kids []*entry) []*entry {
	if p.old == nil || !p.old.forced {
		return kids
	}
	for _, e := range p.old.kids {
		if sleeps := e.forced || e.dir != nil && e.ignored && e.dir.forced && e.dir.empty; !sleeps {
			continue
		}
		i, taken := slices.BinarySearchFunc(kids, e.name, func(k *entry, name string) int { return strings.Compare(k.name, name) })
		if taken {
			continue
		}
		if _, err := statAt(p.fd, e.name); err == nil {
			kids = slices.Insert(kids, i, e)
		}
	}
	return kids
}

// sameTree reports whether two lists make the same tree.
func sameTree(a, b []*entry) bool {
	return slices.EqualFunc(a, b, func(a, b *entry) bool {
		if a == b {
			return true
		}
		if a.name != b.name || a.mode != b.mode || a.id != b.id || a.forced != b.forced {
			return false
		}
		return a.dir == b.dir || a.dir != nil && b.dir != nil && a.dir.tree == b.dir.tree && a.dir.empty == b.dir.empty
	})
}
