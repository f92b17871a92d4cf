package shadow

import (
	"slices"
	"strings"
	"sync"
)

// Report says what a snapshot or a copy has, and what it does not have.
type Report struct {
	Files       int       // files and links that it has
	LeftOut     []LeftOut // ordered by path, the first of them
	LeftOutMore int       // how many LeftOut does not name
	// DeclaredOnly is set when there were too many files, so that only declared
	// paths were looked at.
	DeclaredOnly bool
}

// LeftOut is a path that was not taken as it is.
type LeftOut struct {
	Path string // as in plan.FileDiff
	Why  string
}

// mostLeftOut is how many paths a report names.
const mostLeftOut = 200

// reporter gathers a report from several goroutines.
type reporter struct {
	mu   sync.Mutex
	list []LeftOut
}

func (r *reporter) add(path, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, LeftOut{path, why})
}

// left returns what was left out, with paths as they are.
func (r *reporter) left() []LeftOut {
	slices.SortFunc(r.list, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	return r.list
}

// say puts a list of paths as they are into the report.
func (out *Report) say(list []LeftOut) {
	out.LeftOut, out.LeftOutMore = nil, 0
	if len(list) > mostLeftOut {
		out.LeftOutMore = len(list) - mostLeftOut
		list = list[:mostLeftOut]
	}
	for _, l := range list {
		out.LeftOut = append(out.LeftOut, LeftOut{display(l.Path), l.Why})
	}
}
