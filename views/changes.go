package views

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// How much of a run's changes is laid out. The rest is to be had as raw patches.
const (
	mostFiles      = 300
	mostPanel      = 6000 // lines of all files together
	mostLines      = 1500 // lines of one file
	mostOpenLines  = 1200 // lines that are unfolded at first
	mostUndeclared = 50   // files with their diffs, of those that were not declared
)

// The layouts of diffs: in one column, or what was beside what is.
const (
	LayoutUnified = "unified"
	LayoutSplit   = "split"
)

// Changes is what one run of a step changed.
type Changes struct {
	Node       plan.Ref
	Past       bool        // of a run that is not the last one
	Choices    []RunChoice // runs to choose from, where there are several
	Base       string      // what it is compared with
	Writers    []NodeLink  // steps that were writing when its copy was made
	Has        []NodeLink  // steps whose work its base has
	Empty      string      // why no file is listed; "" : there are some
	Undeclared []UndeclaredFile
	More       int  // undeclared ones without a name
	Shared     bool // another step ran at the same time
	Files      []FileChange
	MoreFiles  int
	Total      int // files
	Added      int // lines, of all files
	Removed    int
	Patch      string // path of the patch of all files, "" : there is none
	LeftOut    []plan.LeftOut

	view  string // beside which it stands
	run   int    // number; 0: none
	of    int    // number of the newest run
	shown int    // lines that are laid out
}

// RunChoice leads to what another run changed.
type RunChoice struct {
	Number  int
	Look    Look
	Outcome string
	Why     string
	On      bool

	run int // that its link asks for; 0: the newest, which may have a successor
}

// UndeclaredFile is a file that the step did not say it would change.
type UndeclaredFile struct {
	Path, Word string
	File       *FileChange // nil: only its name is known
}

// newChanges lays out what a run changed: that of the place, else the last one.
func (s *scene) newChanges(n *plan.Node, in DrawerInput) *Changes {
	c := &Changes{Node: n.Ref(), view: in.Place.View}
	run := runOf(n, in.Runs)
	if chosen := runNumbered(in.Runs, in.Place.Run); chosen != nil {
		c.Past = run == nil || chosen.ID != run.ID
		run = chosen
	}
	if run != nil {
		c.run, c.LeftOut = run.Number, run.LeftOut
		c.Base = baseWords(run)
		c.Writers = s.linksTo(run.BaseWriters, in.Place)
		c.Has = s.doneBefore(n, run, in.Place)
	}
	c.choices(in.Runs)
	c.undeclared(n, in.Diffs)
	for i := range in.Diffs {
		if in.Diffs[i].Declared {
			c.add(&in.Diffs[i])
		}
	}
	if len(in.Diffs) > 0 {
		c.Patch = c.patchURL("")
	}
	if c.Total == 0 {
		c.Empty = whyNoChanges(n, run, len(c.Undeclared) > 0)
	}
	return c
}

// runOf is the run that the step's changes are of.
func runOf(n *plan.Node, runs []plan.Run) *plan.Run {
	for i := range runs {
		if runs[i].ID == n.RunID && n.RunID != "" {
			return &runs[i]
		}
	}
	return nil
}

func runNumbered(runs []plan.Run, number int) *plan.Run {
	for i := range runs {
		if runs[i].Number == number && doesStep(&runs[i]) {
			return &runs[i]
		}
	}
	return nil
}

// doesStep reports whether a run does a step's work, and so may change files.
func doesStep(r *plan.Run) bool { return r.Kind == plan.RunStep || r.Kind == plan.RunExternal }

// choices lists the runs whose changes can be looked at.
func (c *Changes) choices(runs []plan.Run) {
	heads := runHeads(runs)
	for i := range runs {
		if !doesStep(&runs[i]) {
			continue
		}
		c.Choices = append(c.Choices, RunChoice{Number: runs[i].Number, Look: heads[i].Look, Outcome: heads[i].Outcome, Why: heads[i].Why,
			On: runs[i].Number == c.run, run: runs[i].Number})
		c.of = max(c.of, runs[i].Number)
	}
	if n := len(c.Choices); n > 0 {
		c.Choices[n-1].run = 0
	}
	if len(c.Choices) < 2 {
		c.Choices = nil
	}
}

// linkTo leads to what a run changed, 0 for the newest, from where one is: with the
// diffs laid out as they are.
func (c *Changes) linkTo(run int, split bool) string {
	layout, number := LayoutUnified, ""
	if split {
		layout = LayoutSplit
	}
	if run > 0 {
		number = strconv.Itoa(run)
	}
	return query("view", c.view, "tab", TabChanges, "diff", layout, "run", number)
}

// baseWords says what a run's work is compared with.
func baseWords(r *plan.Run) string {
	if r.BaseTree == "" {
		return ""
	}
	tree := shortTree(r.BaseTree)
	if r.Worktree != "" {
		return "It worked in a copy of its own, made from the folder as it was then (" + tree + ")."
	}
	return "Compared with the folder as it was when the run began (" + tree + ")."
}

// shortTree is the part of a snapshot's name that tells it from others.
func shortTree(name string) string {
	_, hash, _ := strings.Cut(name, ":")
	return "tree " + hash[:min(len(hash), 10)]
}

// doneBefore are the steps that a step follows and whose work was done when a run
// of it began, and is as it was then.
func (s *scene) doneBefore(n *plan.Node, run *plan.Run, at Place) []NodeLink {
	var refs []plan.Ref
	for _, id := range s.Graph(n.PlanID).Prerequisites(n.ID) {
		before := s.Node(plan.Ref{Plan: n.PlanID, Node: id})
		if before != nil && before.State == plan.Done && before.FinishedAt <= run.StartedAt {
			refs = append(refs, before.Ref())
		}
	}
	return s.linksTo(refs, at)
}

func (s *scene) linksTo(refs []plan.Ref, at Place) []NodeLink {
	var list []NodeLink
	for _, r := range refs {
		if n := s.Node(r); n != nil {
			list = append(list, s.link(n, at))
		}
	}
	return list
}

// undeclared names what was changed without saying so: the step knows that of its
// last run, the diffs know that of any.
func (c *Changes) undeclared(n *plan.Node, diffs []plan.FileDiff) {
	var paths []string
	byPath := map[string]*plan.FileDiff{}
	for i := range diffs {
		if !diffs[i].Declared {
			byPath[diffs[i].Path] = &diffs[i]
			paths = append(paths, diffs[i].Path)
		}
	}
	if !c.Past {
		paths, c.More, c.Shared = n.Undeclared, n.UndeclaredMore, n.UndeclaredShared
	}
	for _, path := range paths {
		u := UndeclaredFile{Path: path}
		if d := byPath[path]; d != nil {
			u.Word = kindWord(d.Kind)
			if len(c.Undeclared) < mostUndeclared && c.shown < mostPanel/2 {
				u.File = c.file(d)
				u.File.Open = false
			}
		}
		c.Undeclared = append(c.Undeclared, u)
	}
}

func whyNoChanges(n *plan.Node, run *plan.Run, undeclared bool) string {
	switch {
	case undeclared:
		return "It changed none of the files that it declares."
	case run == nil && n.Kind == plan.KindUser:
		return "This step is a person's: what they change is not followed."
	case run == nil:
		return "It has not run yet."
	case run.BaseTree == "":
		return "Nothing is known of what it changed: no snapshot was taken when it started. Snapshots may be off, or the server finds no git."
	case run.Open():
		return "It is at work. What it changed is shown when its run has ended."
	case run.EndTree == "":
		return "Nothing is known of what it changed: no snapshot was taken at the end of its run."
	}
	return "It changed nothing."
}

// add takes in the change of one declared file.
func (c *Changes) add(d *plan.FileDiff) {
	c.Total++
	c.Added, c.Removed = c.Added+d.Added, c.Removed+d.Removed
	if len(c.Files) == mostFiles {
		c.MoreFiles++
		return
	}
	c.Files = append(c.Files, *c.file(d))
}

// patchURL is where the raw patch of a file is, or that of all of them.
func (c *Changes) patchURL(path string) string {
	u := NodeURL(c.Node) + "/patch"
	sign := "?"
	if c.Past {
		u, sign = u+"?run="+strconv.Itoa(c.run), "&"
	}
	if path != "" {
		u += sign + "path=" + url.QueryEscape(path)
	}
	return u
}

// dom is the id of the panel: one that shows the last run is kept up to date, in
// each layout; another stays as it is.
func (c *Changes) dom(split bool) string {
	switch {
	case c.Past:
		return "node-changes-past"
	case split:
		return "node-changes-split"
	}
	return "node-changes"
}

func (c *Changes) summary() string {
	return fmt.Sprintf("%s, %d lines added, %d removed", plural(c.Total, "file", "files"), c.Added, c.Removed)
}

// layouts leads to the other layout of the diffs.
func (d *Drawer) layouts() []layoutLink {
	at := d.Place
	list := []layoutLink{{Word: "Unified"}, {Word: "Side by side"}}
	for i, name := range []string{LayoutUnified, LayoutSplit} {
		at.Layout = name
		list[i].URL, list[i].On = at.WithTab(TabChanges).Node(d.Node), name == d.layout()
		if d.Full {
			list[i].URL = fullURL(d.Node, at.WithTab(TabChanges))
		}
		if d.Changes != nil && d.Changes.Past {
			list[i].URL += "&run=" + strconv.Itoa(d.Changes.run)
		}
	}
	return list
}

type layoutLink struct {
	Word, URL string
	On        bool
}

// layout is how diffs are laid out: beside each other where there is room.
func (d *Drawer) layout() string {
	switch {
	case d.Place.Layout != "":
		return d.Place.Layout
	case d.Full:
		return LayoutSplit
	}
	return LayoutUnified
}

func (d *Drawer) split() bool { return d.layout() == LayoutSplit }
