// Package prompt writes what agents are told: the prompt of a step, the system
// text of a worker, and the result of a step that was split. It is pure text: the
// same input gives the same words. Golden files in testdata show all of it.
package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// maxContainer bounds the description of each step that contains this one, in
// characters: it is there to place the step, not to be worked on.
const maxContainer = 4_000

// TaskInput is what the prompt of a step is made of. All of it can be had from a
// plan.Snapshot; for a plan with many nodes it is cheaper to read just these.
type TaskInput struct {
	Root *plan.Plan      // the top-level plan
	Way  []plan.Ancestor // from the root down to Plan, without Plan; empty in the top-level plan
	Plan *plan.Plan      // the plan of Node; may be Root itself
	Node *plan.Node

	// Others are further nodes of Plan by number; Node itself is passed over if it
	// is among them. For a large plan give the nearest ones, and count the rest in
	// LeftOut.
	Others  []*plan.Node
	LeftOut plan.Tally

	Results []Result // of the nodes that Node asked for, in the order of ResultsFrom

	// WorkLost says that what the last run of Node did was not kept, as when an
	// isolated step failed. It matters where a run is told of that one: when there is
	// a rework brief, or CutOff.
	WorkLost bool

	// CutOff says that the last session of Node was interrupted, or reached a limit,
	// and that this one goes on where it was.
	CutOff bool

	// Subplan is what an earlier session of Node has begun to split it into, nil when
	// there is none; Substeps are its nodes by number.
	Subplan  *plan.Plan
	Substeps []*plan.Node
}

// Task returns the prompt of a step.
func Task(in TaskInput) string {
	w := &writer{}
	w.b.Grow(4 << 10) // as most need
	w.heading(1, "The overall goal: "+oneLine(in.Root.Title))
	w.para(in.Root.Description)
	if !in.Plan.TopLevel() {
		w.way(in)
	}
	w.others(in)
	w.results(in.Results)
	w.step(in.Node)
	w.scope(in.Node)
	if brief := in.Node.ReworkBrief; brief != nil {
		w.rework(*brief, in.WorkLost)
	}
	if in.CutOff {
		w.cutOff(in.WorkLost)
	}
	if in.Subplan != nil {
		w.begunSubplan(in)
	}
	return w.String()
}

func (w *writer) way(in TaskInput) {
	w.heading(1, "Where your step lies")
	w.para("The goal is split into steps, and some of those into smaller ones. This is the way down to yours:")
	for _, a := range in.Way {
		w.heading(2, fmt.Sprintf("Step %s: %s", a.Node.Ref(), oneLine(a.Node.Title)))
		text, _ := cut(a.Node.Description, maxContainer)
		w.para(text)
	}
	w.heading(2, fmt.Sprintf("The subplan with your step, plan %d: %s", in.Plan.ID, oneLine(in.Plan.Title)))
	w.para(in.Plan.Description)
}

func (w *writer) others(in TaskInput) {
	var lines []string
	for _, n := range in.Others {
		if n.ID != in.Node.ID {
			lines = append(lines, otherLine(n))
		}
	}
	if in.LeftOut.Total > 0 {
		lines = append(lines, leftOut(in.LeftOut, len(lines) > 0))
	}
	if len(lines) == 0 {
		return
	}
	w.heading(1, "The other steps of this plan")
	w.para("For orientation only: they are not yours to do.")
	w.list(lines)
}

func otherLine(n *plan.Node) string {
	state := string(n.State)
	if n.WaitingForUser() {
		state = "waits for a person"
	}
	line := strconv.FormatInt(int64(n.ID), 10) + " [" + state + "] " + oneLine(n.Title)
	switch {
	case n.Subplan != 0:
		line += fmt.Sprintf(" (split into plan %d)", n.Subplan)
	case n.Kind == plan.KindUser:
		line += " (a person does it)"
	}
	return line
}

// leftOut counts the steps that are not listed, state by state.
func leftOut(t plan.Tally, also bool) string {
	var parts []string
	for _, c := range []struct {
		n    int
		word plan.State
	}{{t.Done, plan.Done}, {t.Running, plan.Running}, {t.Ready, plan.Ready}, {t.Pending, plan.Pending},
		{t.Failed, plan.Failed}, {t.Skipped, plan.Skipped}} {
		if c.n > 0 {
			parts = append(parts, thousands(c.n)+" "+string(c.word))
		}
	}
	more := " "
	if also {
		more = " more "
	}
	line := thousands(t.Total) + more + plural(t.Total, "step", "steps") + " (" + strings.Join(parts, ", ") + ")"
	if also {
		line = "and " + line
	}
	return line
}

func (w *writer) step(n *plan.Node) {
	w.heading(1, fmt.Sprintf("Your step, %s: %s", n.Ref(), oneLine(n.Title)))
	w.para(fmt.Sprintf("plan_id %d, node_id %d", n.PlanID, n.ID))
	w.heading(2, "Task")
	if strings.TrimSpace(n.Description) == "" {
		w.para("There is no description: the title says it all.")
	}
	w.para(n.Description)
	w.criteria(n)
}

func (w *writer) criteria(n *plan.Node) {
	if len(n.Criteria) == 0 {
		return
	}
	w.heading(2, "Acceptance criteria")
	w.para("The step is done when each of these holds:")
	for i, c := range n.Criteria {
		w.line(strconv.Itoa(i+1) + ". " + strings.TrimSpace(c))
	}
	w.end()
}

func (w *writer) scope(n *plan.Node) {
	w.heading(2, "Files")
	switch {
	case n.TaskType == "review":
		w.para("This is a review: read what you need and run commands, but change no file.")
		return
	case len(n.Files) == 0 && n.TaskType != "":
		w.para("No files are declared for this step, and a step of type " + n.TaskType +
			" writes declared files only: change none. You may read all files.")
		return
	case len(n.Files) == 0:
		w.para("No files are declared for this step, so nothing keeps other steps from writing where you write. " +
			"Change only what the task names or plainly needs. You may read all files.")
		return
	}
	w.para("You may write only these, relative to the working directory; a folder stands for all that is in it. " +
		"You may read all files.")
	paths := make([]string, len(n.Files))
	for i, f := range n.Files {
		paths[i] = showPath(f.Path)
	}
	w.list(paths)
	if n.TaskType == "design" {
		w.para("This is a design step: of these it writes documents only (md, txt, rst, adoc, svg, mermaid).")
	}
}

func (w *writer) rework(brief string, lost bool) {
	w.heading(2, "REWORK")
	if lost {
		w.para("This step ran before, but its changes were not kept: the files are as they were without it. " +
			"Do the step again, and heed exactly what is listed here.")
	} else {
		w.para("This step ran before, and what it did is in the working directory. Do not start over: address exactly " +
			"what is listed here, and change nothing that this does not ask for.")
	}
	w.para(brief)
}

func (w *writer) cutOff(lost bool) {
	w.heading(2, "GO ON")
	if lost {
		w.para("An earlier session began this step and was cut off before it could end it. Its changes were not kept: the " +
			"files are as they were without it. Do the whole step.")
		return
	}
	w.para("An earlier session began this step and was cut off before it could end it. What it did so far is in the " +
		"working directory. Look at that first, keep what is right, and go on from there; do not start over.")
}

// maxSubsteps is how many steps of a begun subplan are named.
const maxSubsteps = 50

func (w *writer) begunSubplan(in TaskInput) {
	w.heading(2, "The subplan of this step")
	id := in.Subplan.ID
	text := fmt.Sprintf("An earlier session has begun to split this step: it has the subplan %d, %s, and cannot have another. ", id, quoted(in.Subplan.Title))
	if len(in.Substeps) == 0 {
		text += "It has no steps yet."
	} else {
		text += "These steps are in it:"
	}
	w.para(text)
	var lines []string
	for _, n := range in.Substeps[:min(len(in.Substeps), maxSubsteps)] {
		lines = append(lines, otherLine(n))
	}
	if more := len(in.Substeps) - len(lines); more > 0 {
		lines = append(lines, "and "+thousands(more)+" more")
	}
	if len(lines) > 0 {
		w.list(lines)
	}
	w.para(fmt.Sprintf("Add what is missing (add_node, add_edge with plan_id %d), or take away what is wrong. The steps of the subplan "+
		"begin when you have ended. If the step needs no subplan, do it yourself: an empty one is passed over.", id))
}

func quoted(title string) string { return strconv.Quote(oneLine(title)) }

// showPath returns a declared path as it was written, quoted when it would not
// stay on its line.
func showPath(p string) string {
	if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(p) {
		return strconv.Quote(p)
	}
	return p
}
