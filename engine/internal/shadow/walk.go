package shadow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// deepest is how many folders a snapshot goes down; each holds a file open.
const deepest = 200

// walk is one look at a whole working directory. It makes new nodes for what has
// changed and takes over the others.
type walk struct {
	ctx     context.Context
	fail    context.CancelCauseFunc // ends the walk: nothing of it is used
	root    string
	batch   *batch
	opts    *Options
	nonce   string
	skip    map[string]bool // excluded paths
	prefix  string          // of paths, relative to the project
	tracked tracked
	only    bool // nothing but declared paths, and no cache

	slots   chan struct{} // one for each goroutine beside the first
	device  uint64
	files   atomic.Int64
	added   atomic.Int64 // bytes of new content
	changed atomic.Int64 // entries that differ from the cache
	rep     reporter
}

var errTooMany = errors.New("too many files")

// place is a folder that is being walked.
type place struct {
	fd       int
	path     string // "" or "a/b/"
	old      *node
	chain    *chain
	declared *trie
	ignored  bool // the rules leave it out: only tracked and declared paths count
	inside   bool // of a declared folder
	depth    int
}

func newSlots() chan struct{} { return make(chan struct{}, min(7, runtime.GOMAXPROCS(0))) }

// do runs fn in a goroutine if there is a free one, else at once.
func (w *walk) do(jobs *sync.WaitGroup, fn func()) {
	select {
	case w.slots <- struct{}{}:
		jobs.Go(func() {
			defer func() { <-w.slots }()
			fn()
		})
	default:
		fn()
	}
}

// run walks the root. The error is why nothing of the walk can be used.
func (w *walk) run(old *node, outer *chain, declared *trie) (*node, error) {
	fd, err := openFolder(w.root)
	if err != nil {
		return nil, err
	}
	defer closeFD(fd)
	s, err := statFD(fd)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", w.root, err)
	}
	w.device = s.dev
	n, err := w.folder(&place{fd: fd, old: old, chain: outer, declared: declared})
	if cause := context.Cause(w.ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", w.root, err)
	}
	return n, nil
}

// folder walks one folder and all below.
func (w *walk) folder(p *place) (*node, error) {
	if w.ctx.Err() != nil {
		return nil, w.ctx.Err()
	}
	list, err := w.list(p)
	if err != nil {
		return nil, err
	}
	up := p.chain
	own := w.rules(p, list)
	same := p.old != nil && p.old.chain != nil && p.old.own == own && p.old.chain.up == up
	switch {
	case own == nil || len(own.rules) == 0:
		same = p.old != nil && p.old.chain == up && p.old.own == own
	case same:
		p.chain = p.old.chain
	default:
		p.chain = &chain{up, own.rules, len(w.prefix) + len(p.path)}
	}
	out := make([]*entry, len(list))
	var jobs sync.WaitGroup
	for i, e := range list {
		old := p.old.kid(e.name)
		if c, ok := w.choose(p, e, old, same); ok {
			w.take(&jobs, p, c, old, &out[i])
		}
	}
	jobs.Wait()
	if w.ctx.Err() != nil {
		return nil, w.ctx.Err()
	}
	return w.assemble(p, own, out), nil
}

// dirent is a name in a folder, and what it names.
type dirent struct {
	name string
	kind uint32
}

// list reads the names in a folder, sorted.
func (w *walk) list(p *place) ([]dirent, error) {
	fd, err := openFolderAt(p.fd, ".")
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), w.root+"/"+p.path)
	defer f.Close()
	names, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	out := make([]dirent, len(names))
	for i, e := range names {
		out[i] = dirent{e.Name(), kindOf(e.Type())}
	}
	slices.SortFunc(out, func(a, b dirent) int { return cmp.Compare(a.name, b.name) })
	return out, nil
}

func kindOf(m fs.FileMode) uint32 {
	switch {
	case m.IsRegular():
		return fileRegular
	case m.IsDir():
		return fileFolder
	case m&fs.ModeSymlink != 0:
		return fileLink
	}
	return 0
}

// rules reads the .gitignore of a folder, unless it is as it was.
func (w *walk) rules(p *place, list []dirent) *ruleFile {
	const name = ".gitignore"
	i, ok := slices.BinarySearchFunc(list, name, func(e dirent, name string) int { return cmp.Compare(e.name, name) })
	if !ok || list[i].kind != fileRegular {
		return nil // git follows no link here, either
	}
	s, err := statAt(p.fd, name)
	if err == nil && p.old != nil && p.old.own != nil && p.old.own.stat == s && !p.old.own.racy {
		return p.old.own
	}
	start := time.Now()
	data, s, err := readFileAt(p.fd, name, smallFile)
	if err != nil && !errors.Is(err, errMoved) || s.size > smallFile {
		w.rep.add(p.path+name, "it cannot be read, so its rules of what to ignore do not hold")
		return nil
	}
	return &ruleFile{s, err != nil || s.racy(start), parseRules(data)}
}

// choice is what is to be taken of a folder, and why.
type choice struct {
	dirent
	declared *trie
	inside   bool
	ignored  bool
	forced   bool
}

// choose decides whether a name is taken. With same, the rules are those by which
// the old entry was judged.
func (w *walk) choose(p *place, e dirent, old *entry, same bool) (c choice, ok bool) {
	path := p.path + e.name
	if w.passes(p, e, path) {
		return c, false
	}
	c = choice{dirent: e, declared: p.declared.kid(e.name), inside: p.inside}
	if w.only && !p.inside {
		if c.declared == nil || e.kind != fileFolder && !c.declared.end {
			return c, false
		}
		c.inside = c.declared.end
	}
	c.ignored = p.ignored
	switch {
	case c.ignored:
	case same && old != nil && old.stat.mode&fileType == e.kind:
		c.ignored = old.ignored
	default:
		c.ignored = p.chain.ignores(w.prefix+path, e.kind == fileFolder)
	}
	switch {
	case !c.ignored:
		return c, true
	case e.kind == fileFolder:
		return c, w.tracked.under(w.prefix+path) || c.declared.more()
	case w.tracked.has(w.prefix + path):
		return c, true
	}
	c.forced = !w.only
	return c, c.declared.ends()
}

// passes reports whether a name is never taken, whatever is declared.
func (w *walk) passes(p *place, e dirent, path string) bool {
	switch {
	case w.skip[path]:
		return true
	case e.name == ".git":
		if p.depth > 0 && !p.ignored {
			w.rep.add(path, "a repository of its own: its files are taken, what its git keeps is not")
		}
		return true
	case isExcluded(e.name, e.kind != fileRegular):
		return true
	case isGitDir(e.name):
		w.rep.add(path, "some systems take this name for .git")
		return true
	}
	return false
}

// take brings an entry up to date.
func (w *walk) take(jobs *sync.WaitGroup, p *place, c choice, old *entry, out **entry) {
	if w.files.Add(1) > int64(w.opts.MaxFiles) {
		w.fail(errTooMany)
		return
	}
	if c.kind == fileFolder {
		w.do(jobs, func() { *out = w.below(p, c, old) })
		return
	}
	s, err := statAt(p.fd, c.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		w.rep.add(p.path+c.name, reason(err))
	case gitMode(s.mode) == 0 || gitMode(s.mode) == modeFolder:
		w.rep.add(p.path+c.name, nameKind(s.mode))
	case old != nil && old.stat == s && (!old.racy || old.why != ""): // what stands in for a content is made of s alone
		*out = w.reuse(p, c, old)
	default:
		w.do(jobs, func() { *out = w.read(p, c, s) })
	}
}

// reuse takes over an entry whose content has not changed.
func (w *walk) reuse(p *place, c choice, old *entry) *entry {
	if old.why != "" {
		w.rep.add(p.path+c.name, old.why)
	}
	if old.ignored == c.ignored && old.forced == c.forced {
		return old
	}
	e := *old
	e.ignored, e.forced = c.ignored, c.forced
	return &e
}

func nameKind(mode uint32) string {
	switch mode & fileType {
	case unix.S_IFIFO:
		return "a fifo"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFBLK, unix.S_IFCHR:
		return "a device"
	}
	return errMoved.Error()
}

// below walks a folder in a folder.
func (w *walk) below(p *place, c choice, old *entry) *entry {
	path := p.path + c.name
	if p.depth >= deepest {
		w.rep.add(path, fmt.Sprintf("more than %d folders deep", deepest))
		return nil
	}
	n, why := w.enter(p, c, old)
	switch {
	case why != "":
		w.rep.add(path, why)
		if old != nil && old.dir != nil {
			return old // what cannot be looked into is taken to be as it was
		}
		return nil
	case n == nil:
		return nil
	case old != nil && old.dir == n && old.ignored == c.ignored:
		return old
	}
	return &entry{name: c.name, mode: modeFolder, stat: stat{mode: fileFolder}, ignored: c.ignored, dir: n}
}

// enter walks a folder in a folder, or says why that cannot be done.
func (w *walk) enter(p *place, c choice, old *entry) (n *node, why string) {
	fd, err := openFolderAt(p.fd, c.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	if err != nil {
		return nil, reason(err)
	}
	defer closeFD(fd)
	if s, err := statFD(fd); err != nil {
		return nil, reason(err)
	} else if s.dev != w.device && isPseudo(fd) {
		return nil, "it is no part of a disk"
	}
	q := place{fd: fd, path: p.path + c.name + "/", chain: p.chain, declared: c.declared,
		ignored: c.ignored, inside: c.inside, depth: p.depth + 1}
	if old != nil {
		q.old = old.dir
	}
	if n, err = w.folder(&q); err != nil && w.ctx.Err() == nil {
		return nil, reason(err)
	}
	return n, ""
}
