package shadow

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// outer is what lies outside of a working directory and says what is ignored in
// it: the index and the rules of the repository that it is in. What has not
// changed is not read again.
type outer struct {
	project project
	inside  bool   // of the project
	prefix  string // of paths, relative to the project: "" or "a/b/"
	files   []outerFile
	chain   *chain

	index   stat
	racy    bool
	tracked tracked
}

// outerFile is a file of rules above the working directory.
type outerFile struct {
	path string
	base int
	ruleFile
}

// refresh reads again what has changed. What cannot be read is reported and
// counts as empty.
func (o *outer) refresh(ctx context.Context, f *folder, rep *reporter) error {
	p, ok := findProject(f.root)
	if p != o.project || ok != o.inside {
		*o = outer{project: p, inside: ok}
	}
	if !ok {
		return nil
	}
	rel, err := filepath.Rel(p.top, f.root)
	if err != nil {
		return err
	}
	if rel = filepath.ToSlash(rel); rel != "." {
		o.prefix = rel + "/"
	}
	o.refreshRules(rep)
	return o.refreshIndex(ctx, f.repo, rep)
}

// refreshRules makes the chain anew when one of its files has changed.
func (o *outer) refreshRules(rep *reporter) {
	var now []outerFile
	changed := false
	for i, x := range o.places() {
		var old ruleFile
		if i < len(o.files) && o.files[i].path == x.path {
			old = o.files[i].ruleFile
		}
		x.ruleFile = readRules(x.path, old, rep)
		changed = changed || x.stat != old.stat || x.racy || old.racy
		now = append(now, x)
	}
	if !changed && len(now) == len(o.files) {
		return
	}
	o.files, o.chain = now, o.chainOf(now)
}

// chainOf joins the rules. Where they leave out the working directory itself they
// are not meant for it, and there are none: else nothing in it could be seen.
func (o *outer) chainOf(files []outerFile) (c *chain) {
	for _, x := range files {
		if x.base > 0 && c.ignores(o.prefix[:x.base-1], true) {
			return nil
		}
		if len(x.rules) > 0 {
			c = &chain{c, x.rules, x.base}
		}
	}
	if n := len(o.prefix); n > 0 && c.ignores(o.prefix[:n-1], true) {
		return nil
	}
	return c
}

// places lists the files of rules that hold for the whole working directory, the
// weakest first.
func (o *outer) places() []outerFile {
	list := []outerFile{{path: o.project.excludeFile()}}
	for i := range len(o.prefix) {
		if i == 0 || o.prefix[i-1] == '/' {
			list = append(list, outerFile{path: filepath.Join(o.project.top, o.prefix[:i], ".gitignore"), base: i})
		}
	}
	return list
}

// readRules reads a file of rules, unless it is as it was.
func readRules(path string, old ruleFile, rep *reporter) ruleFile {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return ruleFile{}
	}
	if s := statOf(&st); s == old.stat && !old.racy {
		return old
	}
	start := time.Now()
	data, err := readSmall(path)
	if err != nil {
		rep.add(path, "these rules of what to ignore cannot be read, so they do not hold: "+reason(err))
		return ruleFile{}
	}
	s := statOf(&st)
	return ruleFile{s, s.racy(start), parseRules(data)}
}

// refreshIndex reads which files the project's git follows.
func (o *outer) refreshIndex(ctx context.Context, r *Repo, rep *reporter) error {
	path := filepath.Join(o.project.gitDir, "index")
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		o.index, o.tracked = stat{}, nil
		return nil
	}
	s := statOf(&st)
	if s == o.index && !o.racy {
		return nil
	}
	start := time.Now()
	list, err := r.readTracked(ctx, &o.project)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		rep.add(".git/index", "it cannot be read, so files that git follows count as ignored where the rules say so: "+reason(err))
	}
	o.index, o.racy, o.tracked = s, s.racy(start), list
	return nil
}

// reason is an error without the path, which stands beside it.
func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read it"
	case errors.Is(err, fs.ErrNotExist):
		return "it is gone"
	}
	return strings.TrimSpace(err.Error())
}

// relativeTo returns those of absolute paths that lie in root, relative to it.
func relativeTo(root string, paths []string) []string {
	var out []string
	for _, p := range paths {
		rel, err := filepath.Rel(root, p)
		if err == nil && filepath.IsLocal(rel) && rel != "." && !slices.Contains(out, rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}
