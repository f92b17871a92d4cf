package views

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views/graph"
)

// PlanInput is what a plan's page is made from.
type PlanInput struct {
	Snapshot *plan.Snapshot
	Place    Place
	WorkDir  string         // of the tree, as it is in effect
	Layout   *graph.Layout  // for the view graph
	Times    *TimelineInput // for the view timeline
	Drawer   *Drawer        // nil: closed

	Goal      *plan.Goal      // nil: it was not made from one
	Revisions []plan.Revision // the first first

	PlannerRuns []plan.Run // while it is planned
}

// PlanPage is a plan as its page shows it.
type PlanPage struct {
	Place    Place
	Plan     *plan.Plan
	Root     *plan.Plan
	Seq      int64
	Crumbs   []Crumb
	Look     Look
	Bar      Bar
	Controls Controls
	Working  []WorkItem
	Waiting  []WaitItem
	Stalled  []WaitItem
	Asking   []AskItem
	Meter    *Meter // nil: there is no budget
	Review   *PlanReview
	Settings Settings
	Steps    []Choice // of the plan, where they can be listed

	Approval   *Approval // nil: it needs none
	OverBudget string    // why nothing new starts; "" : it may

	Graph    *Graph // one of the three
	List     *List
	Timeline *Timeline
	Drawer   *Drawer
}

// Crumb is a step of the way from the top to a plan.
type Crumb struct{ URL, Title, Ref string }

// Controls are what can be done with the tree now.
type Controls struct {
	Start, Stop, Retry, Reset, Delete bool
	Failed                            int
	Running                           int // agents that a stop would end
}

// WorkItem is a step with an agent at work.
type WorkItem struct {
	URL, Ref, Title string
	Look            Look
	Line            Line
}

// WaitItem is a step that a person is to do, or to decide about.
type WaitItem struct {
	URL, Ref, Title string
	Since           plan.Stamp
	Node            plan.Ref
}

// AskItem is an agent's question.
type AskItem struct {
	URL, Ref, Title string // of the step
	Node            plan.Ref
	ID              string
	Tool, Text      string
	Input           string // what the tool would be given, laid out
	Key             string // the part of it that matters most
	Since           plan.Stamp
}

// NewPlanPage makes the page of a plan. The snapshot must hold the plan.
func NewPlanPage(in PlanInput) *PlanPage {
	s := newScene(in.Snapshot)
	id := in.Place.Plan
	p := &PlanPage{Place: in.Place, Plan: s.Plan(id), Root: s.Root(), Seq: s.Seq, Drawer: in.Drawer}
	tally := s.Tally(id)
	p.Bar = barOf(tally)
	p.Look = planLook(s.Status(id), p.Root.Started, p.Root.FirstStart != 0)
	p.Crumbs = crumbs(s, in.Place)
	p.Controls = s.controls()
	p.Working, p.Waiting, p.Asking = s.working(in.Place), s.waiting(in.Place), s.asking(in.Place)
	p.Stalled = s.stalled(in.Place)
	p.Meter, p.OverBudget = newMeter(s.Root()), overBudget(s.Root(), s.Tally(s.Root().ID))
	p.Settings = newSettings(s, in)
	if p.Approval = newApproval(s, in); p.Approval != nil && !p.Root.Started {
		p.Look = approvalLook(p.Root.Approval, p.Look)
	}
	p.Review = s.planReview(id)
	if all := s.NodesOf(id); len(all) <= maxChoices {
		for _, n := range all {
			p.Steps = append(p.Steps, Choice{n.ID, n.Ref().String() + " " + n.Title})
		}
	}
	switch {
	case in.Place.View == ViewList:
		p.List = newList(s, in.Place)
	case in.Times != nil:
		p.Timeline = newTimeline(s, in.Place, in.Times)
	case in.Layout != nil:
		p.Graph = newGraph(s, in.Place, in.Layout)
	}
	return p
}

// Topic is what a page that shows this plan follows.
func (p *PlanPage) Topic() string {
	switch {
	case p.List != nil:
		return "list:" + strconv.FormatInt(int64(p.Plan.ID), 10)
	case p.Timeline != nil:
		return p.Timeline.topic()
	}
	return "plan:" + strconv.FormatInt(int64(p.Plan.ID), 10)
}

// Title is the title of the document.
func (p *PlanPage) Title() string {
	if p.Drawer != nil {
		return p.Drawer.Ref + " " + p.Drawer.Title
	}
	return p.Plan.Title
}

// Pieces are the parts of the page that change, without the drawer.
func (p *PlanPage) Pieces() []Piece {
	list := []Piece{
		{ID: "bar", Body: planBar(p)},
		{ID: "approval", Body: approvalBanner(p)},
		{ID: "strips", Body: planStrips(p)},
		{ID: "plan-dialogs", Body: planDialogs(p)},
	}
	switch {
	case p.List != nil:
		return append(list, p.List.pieces()...)
	case p.Timeline != nil:
		return append(list, p.Timeline.pieces()...)
	}
	if p.Graph != nil {
		return append(list, p.Graph.pieces()...)
	}
	return list
}

func crumbs(s *scene, at Place) []Crumb {
	var way []Crumb
	for _, a := range s.Ancestors(at.Plan) {
		way = append(way, Crumb{URL: Place{Plan: a.Plan.ID, View: at.View}.URL(), Title: a.Plan.Title})
	}
	p := s.Plan(at.Plan)
	c := Crumb{URL: at.URL(), Title: p.Title}
	if !p.TopLevel() {
		c.Ref = p.Parent().String()
	}
	return append(way, c)
}

func (s *scene) controls() Controls {
	root := s.Root()
	t := s.Tally(root.ID)
	status := s.Status(root.ID)
	return Controls{
		Start:   !root.Started && t.Total > 0 && status != plan.StatusDone && root.Approval.MayStart(),
		Stop:    root.Started && status != plan.StatusDone && t.Pending+t.Ready+t.Running > 0,
		Retry:   t.Failed > 0,
		Reset:   t.Done+t.Failed+t.Skipped+t.Running > 0,
		Delete:  true,
		Failed:  t.Failed,
		Running: len(s.Active()),
	}
}

func (s *scene) working(at Place) []WorkItem {
	var list []WorkItem
	for _, n := range s.Active() {
		look := s.look(n)
		if look == lookYou {
			continue // it is told of under "waiting for you"
		}
		list = append(list, WorkItem{URL: at.Node(n.Ref()), Ref: n.Ref().String(), Title: n.Title, Look: look, Line: s.line(n)})
	}
	return list
}

func (s *scene) waiting(at Place) []WaitItem {
	var list []WaitItem
	for _, n := range s.Waiting() {
		list = append(list, WaitItem{URL: at.Node(n.Ref()), Ref: n.Ref().String(), Title: n.Title, Since: n.PhaseSince, Node: n.Ref()})
	}
	return list
}

// stalled are the steps whose agents seem to hang: someone may want to stop them.
func (s *scene) stalled(at Place) []WaitItem {
	var list []WaitItem
	for _, n := range s.Active() {
		if s.look(n) == lookStalled {
			list = append(list, WaitItem{URL: at.Node(n.Ref()), Ref: n.Ref().String(), Title: n.Title, Since: s.quietSince(n), Node: n.Ref()})
		}
	}
	return list
}

func (s *scene) asking(at Place) []AskItem {
	var list []AskItem
	for _, q := range s.Questions {
		r := plan.Ref{Plan: q.PlanID, Node: q.NodeID}
		if n := s.Node(r); n != nil {
			list = append(list, askItem(at, n, q))
		}
	}
	slices.SortStableFunc(list, func(a, b AskItem) int { return a.Node.Compare(b.Node) })
	return list
}

func askItem(at Place, n *plan.Node, q plan.Question) AskItem {
	call := readCall(q.Tool, q.Input)
	return AskItem{URL: at.Node(n.Ref()), Ref: n.Ref().String(), Title: n.Title, Node: n.Ref(), ID: q.ID, Tool: q.Tool,
		Text: q.Text, Key: call.Key, Input: call.Whole, Since: q.AskedAt}
}

// DOM is the id of the question's element.
func (a AskItem) DOM() string { return dom("ask", a.Node) + "-" + token(a.ID) }

// inherits says which agent a plan without one of its own would use.
func (s *scene) inherits(p *plan.Plan) string {
	if !p.TopLevel() {
		if prof, from := s.PlanDefault(p.ParentPlan); prof != nil {
			return fmt.Sprintf("%s, from plan %d", prof.Name, from)
		}
	}
	if prof := s.Profiles[s.Server.DefaultProfile]; prof != nil {
		return prof.Name + ", the server's default"
	}
	return "the server's default"
}

// body is the part of the page that shows the steps.
func (p *PlanPage) body() templ.Component {
	switch {
	case p.List != nil:
		return listPanel(p.List)
	case p.Timeline != nil:
		return timelinePanel(p.Timeline)
	}
	return graphPanel(p.Graph)
}
