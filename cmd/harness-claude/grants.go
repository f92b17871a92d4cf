package main

import (
	"fmt"
	"slices"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit"
)

// The tools of the program, by what they do. Names that a version does not know are
// passed over by it.
var (
	readTools  = []string{"Read", "Glob", "Grep"}
	shellTools = []string{"Bash"}
	writeTools = []string{"Write", "Edit", "MultiEdit", "NotebookEdit"}

	// otherTools come with full. What is left out asks people at a terminal, moves the
	// session elsewhere, or outlives it.
	otherTools = []string{"Task", "WebFetch", "WebSearch", "TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"}
)

// ownServer is the name of Clearbox among the MCP servers of a run.
const ownServer = "clearbox"

// grants are what a run may do, in the program's terms.
type grants struct {
	mode  string
	tools []string // on offer
	allow []string // rules for what runs without a question
	deny  []string // rules for what never runs
	ruled []string // tools of which only what the profile's rules name runs without a question
	ask   bool     // the rest is put before a person, else denied

	write, shell bool // the capability, narrowed by the task type
	limited      bool // only the task's writable paths may be written
	everything   bool // the capability full, not narrowed
}

// newGrants works out what a run may do. Its error names what is wrong with the task.
func newGrants(t plugin.Task, s setup) (grants, error) {
	kit, err := toolkit.New(toolkit.Config{WorkDir: t.WorkDir, Allowed: t.Allowed, TaskType: t.TaskType, Writable: t.Writable, LimitWrites: t.LimitWrites})
	if err != nil {
		return grants{}, fmt.Errorf("prepare the run: %w", err)
	}
	g := grants{write: kit.Has("write_file"), shell: kit.Has("bash"), limited: t.LimitWrites || t.TaskType != ""}
	if err := kit.Close(); err != nil {
		return grants{}, fmt.Errorf("prepare the run: %w", err)
	}
	if reviews(t.Kind) { // the capability alone counts for them
		s.choice, s.ask, s.mode = choice{}, false, ""
	}
	g.everything = t.Allowed == plugin.Full && g.write && g.shell && !g.limited
	g.ask = s.ask
	g.mode = g.modeFor(s.mode)
	g.offer(t.Allowed, s)
	return g, nil
}

// reviews says whether a run judges or plans rather than works.
func reviews(kind string) bool {
	return slices.Contains([]string{"review", "plan_review", "judge", "planner"}, kind)
}

// modeFor picks the permission mode. Below full the one that was set could widen what
// the capability allows; only plan cannot.
func (g grants) modeFor(set string) string {
	switch {
	case g.everything && set == "", g.everything && set == "dontAsk" && g.ask:
		return "acceptEdits"
	case g.everything, set == "plan":
		return set
	case g.ask:
		return "default"
	}
	return "dontAsk"
}

// offer fills in the tools. The program hides a tool that is not on offer from the
// model, which is better than to deny its calls; but what a person can allow must be
// on offer.
func (g *grants) offer(allowed plugin.Capability, s setup) {
	offer := func(granted bool, names []string) {
		for _, name := range names {
			if !granted && !g.ask || !s.choice.offers(name) {
				continue
			}
			g.tools = append(g.tools, name)
			if granted {
				g.approve(name, s.choice.rules(name))
			}
		}
	}
	offer(true, readTools)
	offer(g.shell, shellTools)
	offer(g.write, writeTools)
	offer(allowed == plugin.Full, otherTools)
	if s.sources != "" && g.everything {
		offer(true, []string{"Skill"})
	}
	g.deny = s.choice.Deny
	for name := range s.servers {
		g.allow = append(g.allow, "mcp__"+name)
	}
	slices.Sort(g.allow[len(g.allow)-len(s.servers):]) // for a command line that is the same each time
}

// approve lets a tool run without a question. The guard does that itself for its own,
// unless the profile has rules for them, which only the program can read.
func (g *grants) approve(name string, rules []string) {
	all := len(rules) == 1 && rules[0] == name
	if !all {
		g.ruled = append(g.ruled, name)
	}
	if !all || !g.guarded(name) {
		g.allow = append(g.allow, rules...)
	}
}

// guarded says whether the guard decides on a tool's calls, by their paths.
func (g grants) guarded(name string) bool {
	switch {
	case g.everything:
		return false
	case slices.Contains(writeTools, name):
		return true
	case slices.Contains(readTools, name):
		return !g.shell // with a shell everything can be read anyway
	case slices.Contains(shellTools, name):
		return !g.shell
	}
	return false
}

// hooked are the tools whose calls the program has to report before it makes them.
func (g grants) hooked() []string {
	return slices.DeleteFunc(slices.Clone(g.tools), func(name string) bool { return !g.guarded(name) })
}
