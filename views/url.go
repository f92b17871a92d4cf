package views

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// The ways to look at a plan.
const (
	ViewGraph    = "graph"
	ViewList     = "list"
	ViewTimeline = "timeline"
)

// Views are all of them.
func Views() []string { return []string{ViewGraph, ViewList, ViewTimeline} }

// The tabs of a step.
const (
	TabTask    = "task"
	TabSession = "session"
	TabChanges = "changes"
	TabReview  = "review"
	TabEdit    = "edit"
)

// Tabs are all of them.
func Tabs() []string { return []string{TabTask, TabSession, TabChanges, TabReview, TabEdit} }

// Place is where in a plan someone is: enough to make the links of a page.
type Place struct {
	Plan plan.PlanID
	View string // "" : whatever is usual
	Tab  string // "" : task
	Show string // of a table: the look of the steps that are shown; "" : all

	Layout string // of diffs; "" : whatever is usual
	Run    int    // whose changes are shown; 0: the last one's
}

// layoutOf is the layout of diffs, where the tab has some.
func (p Place) layoutOf() string {
	if p.Tab != TabChanges {
		return ""
	}
	return p.Layout
}

// PlanURL returns the path of a plan's page.
func PlanURL(id plan.PlanID) string { return "/plans/" + strconv.FormatInt(int64(id), 10) }

// NodeURL returns the path of a step.
func NodeURL(r plan.Ref) string {
	return PlanURL(r.Plan) + "/nodes/" + strconv.FormatInt(int64(r.Node), 10)
}

// RevisionURL returns the path of one revision of a plan.
func RevisionURL(id plan.PlanID, n int64) string {
	return PlanURL(id) + "/revisions/" + strconv.FormatInt(n, 10)
}

// URL returns the path of the place itself, without a step.
func (p Place) URL() string { return PlanURL(p.Plan) + query("view", p.View) }

// Node returns the path of a step seen from here. A step of another plan is
// shown in its own.
func (p Place) Node(r plan.Ref) string {
	return NodeURL(r) + query("view", p.View, "tab", p.Tab, "diff", p.layoutOf())
}

// WithTab returns the place with another tab.
func (p Place) WithTab(tab string) Place {
	p.Tab = tab
	return p
}

// query writes the pairs that have a value. Values are words of ours.
func query(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" || pairs[i] == "tab" && pairs[i+1] == TabTask {
			continue
		}
		b.WriteByte("?&"[min(b.Len(), 1)])
		b.WriteString(pairs[i] + "=" + pairs[i+1])
	}
	return b.String()
}

// dom makes an element's id from a kind and an address: "c-3-2".
func dom(kind string, r plan.Ref) string {
	b := make([]byte, 0, 24)
	b = append(append(b, kind...), '-')
	b = strconv.AppendInt(b, int64(r.Plan), 10)
	b = append(b, '-')
	return string(strconv.AppendInt(b, int64(r.Node), 10))
}

// domPlan makes an element's id from a kind and a plan: "side-3".
func domPlan(kind string, id plan.PlanID) string {
	return kind + "-" + strconv.FormatInt(int64(id), 10)
}

// current marks the link to what is open.
func current(is bool) templ.Attributes {
	if !is {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}
