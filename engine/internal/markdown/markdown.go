// Package markdown writes a plan as Markdown, to be read and pasted elsewhere: the
// steps, what came of them, their reviews and what they changed. It is pure text:
// the same input gives the same words. Golden files in testdata show all of it.
package markdown

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Limits that keep a whole export below the 65,536 characters that the largest
// code hosts take in one text.
const (
	maxDiffLines = 400    // of one file
	maxDiffs     = 50_000 // characters of diffs, over all files
)

// Input is what an export is made of.
type Input struct {
	Snapshot *plan.Snapshot
	Plan     plan.PlanID                  // what to export: the root, or a subplan alone
	Changes  map[plan.Ref][]plan.FileDiff // what the last run of each step changed in declared files
	Diffs    bool                         // with the diffs, else names and counts alone
}

// Export returns a plan and what is nested in it.
func Export(in Input) string {
	w := &writer{in: in, left: maxDiffs}
	p := in.Snapshot.Plan(in.Plan)
	w.block("# " + oneLine(p.Title))
	w.block(p.Description)
	w.block("## Steps")
	w.overview(in.Plan, "", "")
	w.b.WriteString("\n")
	if r := in.Snapshot.Reviews[plan.Ref{Plan: in.Plan}]; r != nil {
		w.block("## Review of the plan")
		w.review(r)
	}
	w.block("## Details")
	w.details(in.Plan, "", 3)
	return strings.TrimRight(w.b.String(), "\n") + "\n"
}

type writer struct {
	in   Input
	b    strings.Builder
	left int // characters of diffs that still fit
	full bool
}

// block writes a paragraph; an empty one leaves no trace.
func (w *writer) block(text string) {
	if text = strings.Trim(text, "\r\n"); strings.TrimSpace(text) != "" {
		w.b.WriteString(text + "\n\n")
	}
}

// steps calls f for each step of a plan in the order in which they can run.
func (w *writer) steps(id plan.PlanID, f func(*plan.Node)) {
	for _, n := range w.in.Snapshot.Graph(id).Order() {
		f(w.in.Snapshot.Node(plan.Ref{Plan: id, Node: n}))
	}
}

func (w *writer) overview(id plan.PlanID, number, indent string) {
	w.steps(id, func(n *plan.Node) {
		own := fmt.Sprintf("%s%d", number, n.ID)
		line := fmt.Sprintf("%s- %s **%s** %s", indent, glyph(n.State), own, oneLine(n.Title))
		if first := firstLine(n.Result); first != "" {
			line += " — " + first
		}
		if n.Kind == plan.KindUser {
			line += " *(user step)*"
		}
		w.b.WriteString(line + "\n")
		if n.Subplan != 0 {
			w.overview(n.Subplan, own+".", indent+"  ")
		}
	})
}

func glyph(s plan.State) string {
	switch s {
	case plan.Done:
		return "✅"
	case plan.Failed:
		return "❌"
	case plan.Running:
		return "🔄"
	}
	return "⏳"
}

// details writes the steps of a plan one after the other, those of subplans one
// level of headings deeper.
func (w *writer) details(id plan.PlanID, number string, level int) {
	w.steps(id, func(n *plan.Node) {
		own := fmt.Sprintf("%s%d", number, n.ID)
		w.block(fmt.Sprintf("%s %s %s. %s", strings.Repeat("#", min(level, 6)), glyph(n.State), own, oneLine(n.Title)))
		w.step(n)
		if n.Subplan != 0 {
			w.details(n.Subplan, own+".", level+1)
		}
	})
}

func (w *writer) step(n *plan.Node) {
	w.block(n.Description)
	if len(n.Criteria) > 0 {
		w.block("**Acceptance criteria:**\n\n- " + strings.Join(trimmed(n.Criteria), "\n- "))
	}
	if n.Kind == plan.KindUser {
		w.block("*User step: done by a person, not an agent.*")
	}
	if n.State == plan.Skipped {
		w.block("*" + skipped(n) + "*")
	}
	if n.Result != nil && strings.TrimSpace(*n.Result) != "" {
		w.block("**Result:** " + *n.Result)
	}
	if n.Error != nil && *n.Error != "" {
		w.block("**Error:** " + *n.Error)
	}
	if r := w.in.Snapshot.Reviews[n.Ref()]; r != nil {
		w.review(r)
	}
	w.undeclared(n)
	w.changes(w.in.Changes[n.Ref()])
}

func skipped(n *plan.Node) string {
	switch {
	case n.SkippedBy == plan.SkippedByFailure:
		return fmt.Sprintf("Skipped, because step %d failed.", n.SkippedCause)
	case n.SkipNote != "":
		return "Skipped by a person: " + oneLine(n.SkipNote)
	}
	return "Skipped by a person."
}

func (w *writer) review(r *plan.Review) {
	mark := map[plan.Verdict]string{plan.VerdictOK: "✅ ok", plan.VerdictConcerns: "⚠️ concerns"}[r.Verdict]
	if mark == "" {
		mark = "❌ error"
	}
	w.block(fmt.Sprintf("**Review: %s** — %s", mark, strings.TrimSpace(r.Summary)))
	if r.Findings != nil {
		w.block(*r.Findings)
	}
}

func (w *writer) undeclared(n *plan.Node) {
	if len(n.Undeclared) == 0 {
		return
	}
	names := make([]string, len(n.Undeclared))
	for i, path := range n.Undeclared {
		names[i] = code(path)
	}
	line := fmt.Sprintf("> Changed outside the declared files (%d): %s", len(names)+n.UndeclaredMore, strings.Join(names, ", "))
	if n.UndeclaredMore > 0 {
		line += fmt.Sprintf(" and %d more", n.UndeclaredMore)
	}
	if n.UndeclaredShared {
		line += ". Another step ran at the same time: some of it may be its work."
	}
	w.block(line)
}

func (w *writer) changes(files []plan.FileDiff) {
	if len(files) == 0 {
		return
	}
	if !w.in.Diffs {
		parts := make([]string, len(files))
		for i, f := range files {
			parts[i] = fmt.Sprintf("%s (+%d −%d)", code(f.Path), f.Added, f.Removed)
		}
		w.block("**Changed:** " + strings.Join(parts, ", "))
		return
	}
	for _, f := range files {
		w.file(f)
	}
}

// file writes one collapsed diff, or only its line once there is no room for more.
func (w *writer) file(f plan.FileDiff) {
	summary := fmt.Sprintf("%s (+%d −%d)", escape(f.Path), f.Added, f.Removed)
	text, note := cutLines(f.Diff)
	if size := utf8.RuneCountInString(text); w.full || size > w.left {
		w.block("<details><summary>" + summary + "</summary></details>")
		if !w.full {
			w.full = true
			w.block("*From here on the diffs are left out, to stay below the 65,536-character limit of many places where this may be pasted.*")
		}
		return
	} else {
		w.left -= size
	}
	if f.Note != "" {
		note = strings.TrimSpace(f.Note + " " + note)
	}
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	w.b.WriteString("<details><summary>" + summary + "</summary>\n\n" + fence + "diff\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n\n")
	w.block(italics(note))
	w.b.WriteString("</details>\n\n")
}

func italics(note string) string {
	if note == "" {
		return ""
	}
	return "*" + note + "*"
}

// cutLines keeps the first lines of a diff and says how many there were.
func cutLines(diff string) (text, note string) {
	text = strings.ToValidUTF8(strings.TrimRight(diff, "\n"), "\uFFFD")
	lines := strings.Split(text, "\n")
	if len(lines) <= maxDiffLines {
		return text, ""
	}
	return strings.Join(lines[:maxDiffLines], "\n"), fmt.Sprintf("Cut after %d of %d lines.", maxDiffLines, len(lines))
}

func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// code writes a name as code, whatever backticks it has.
func code(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	fence := strings.Repeat("`", longestRun(name)+1)
	if len(fence) == 1 {
		return fence + name + fence
	}
	return fence + " " + name + " " + fence
}

// escape writes a name as text of HTML.
func escape(name string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", "\uFFFD").Replace(strings.ToValidUTF8(name, "\uFFFD"))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func firstLine(s *string) string {
	if s == nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(*s), "\n")
	return oneLine(line)
}

func trimmed(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = oneLine(s)
	}
	return out
}
