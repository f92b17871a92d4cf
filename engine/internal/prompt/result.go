package prompt

import (
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const (
	// maxResult bounds the text of one result that is handed on, in characters.
	maxResult = 12_000
	// maxResults bounds all of one prompt together: each gets its share of it, but
	// at least minResult.
	maxResults = 120_000
	minResult  = 2_000
	// maxChanged bounds the changed files that are listed with a result.
	maxChanged = 100
)

// Result is what a finished node hands on: its text is in the node.
type Result struct {
	Node    *plan.Node
	Changed []Changed // what its last run changed; nil when that is not known

	// NoPath says that no edges lead from Node to the one that asks, which can
	// come about when edges are removed: then nothing makes the one wait.
	NoPath bool
}

// Changed is a file that a run changed.
type Changed struct {
	Path           string
	How            string // added, changed, deleted or mode
	Added, Removed int    // lines
}

func (w *writer) results(list []Result) {
	if len(list) == 0 {
		return
	}
	w.heading(1, "Results that you asked for")
	for _, r := range list {
		if r.Node.State == plan.Done {
			w.para("This is finished work, told by those who did it. Its files are in place: build on it, do not redo it.")
			break
		}
	}
	limit := max(minResult, min(maxResult, maxResults/len(list)))
	for _, r := range list {
		w.heading(2, fmt.Sprintf("Step %d: %s", r.Node.ID, oneLine(r.Node.Title)))
		if r.NoPath {
			w.para(fmt.Sprintf("Careful: no edges lead from step %d to yours, so it may run after yours or change again.", r.Node.ID))
		}
		w.result(r, limit)
	}
}

func (w *writer) result(r Result, limit int) {
	if why := missing(r.Node); why != "" {
		w.para(why)
		return
	}
	text, _ := cut(strings.TrimSpace(*r.Node.Result), limit)
	w.fenced(text)
	if len(r.Changed) == 0 {
		return
	}
	w.para("Files that it changed:")
	var lines []string
	for i, c := range r.Changed {
		if i == maxChanged {
			lines = append(lines, fmt.Sprintf("and %s more", thousands(len(r.Changed)-i)))
			break
		}
		lines = append(lines, fmt.Sprintf("%s (%s, +%d −%d)", showPath(c.Path), c.How, c.Added, c.Removed))
	}
	w.list(lines)
}

// missing says why a node has no result to show, "" when it has one.
func missing(n *plan.Node) string {
	switch {
	case n.State == plan.Skipped && n.SkippedBy == plan.SkippedByPerson:
		if note := strings.TrimSpace(n.SkipNote); note != "" {
			return "A person skipped this step: " + note
		}
		return "A person skipped this step."
	case n.State != plan.Done:
		return "Its result is not there yet: the step is " + string(n.State) + "."
	case n.Result == nil || strings.TrimSpace(*n.Result) == "":
		return "The step is done and left no text."
	}
	return ""
}

// SubplanResult returns the result of a node whose subplan is done: what its own
// agent said ("" when it had none), then the results of the subplan's last nodes.
func SubplanResult(own string, last []Result) string {
	w := &writer{}
	w.para(own)
	if len(last) > 0 {
		w.para("Results of the last steps of its subplan:")
	}
	for _, r := range last {
		w.heading(2, fmt.Sprintf("%s: %s", r.Node.Ref(), oneLine(r.Node.Title)))
		if r.Node.Result == nil || strings.TrimSpace(*r.Node.Result) == "" {
			w.para(missing(r.Node))
			continue
		}
		text, _ := cut(strings.TrimSpace(*r.Node.Result), maxResult)
		w.para(text)
	}
	return strings.TrimSuffix(w.String(), "\n")
}
