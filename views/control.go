package views

import (
	"encoding/hex"
	"hash/fnv"
)

// view is the view that the page shows.
func (p *PlanPage) view() string {
	switch {
	case p.List != nil:
		return ViewList
	case p.Timeline != nil:
		return ViewTimeline
	}
	return ViewGraph
}

// inView is the page's path in a view, with the drawer as it is.
func (p *PlanPage) inView(view string) string {
	at := Place{Plan: p.Plan.ID, View: view}
	if p.Drawer != nil {
		return at.WithTab(p.Drawer.Place.Tab).Node(p.Drawer.Node)
	}
	return at.URL()
}

// rootURL is the path of an action on the whole tree.
func (p *PlanPage) rootURL(action string) string { return PlanURL(p.Root.ID) + action }

func (p *PlanPage) startWord() string {
	if p.Root.FirstStart != 0 {
		return "Continue"
	}
	return "Start"
}

func (p *PlanPage) stopWords() string {
	if p.Controls.Running == 0 {
		return "Stop the plan"
	}
	return "Stop the plan and " + plural(p.Controls.Running, "running agent", "running agents")
}

// pairs takes a list of names and values two by two.
func pairs(list []string) [][2]string {
	var out [][2]string
	for i := 0; i+1 < len(list); i += 2 {
		out = append(out, [2]string{list[i], list[i+1]})
	}
	return out
}

// token makes a part of an element's id from a text that others wrote.
func token(s string) string {
	h := fnv.New64a()
	h.Write([]byte(s))
	return hex.EncodeToString(h.Sum(nil))
}
