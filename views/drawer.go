package views

import (
	"cmp"
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// DrawerInput is what a step is shown from.
type DrawerInput struct {
	Snapshot *plan.Snapshot
	Node     plan.Ref // must be in the snapshot
	Place    Place
	Runs     []plan.Run
	Events   []plan.Event // the newest, the oldest of them first; for the tab session
	Older    bool         // there are entries before them

	Diffs      []plan.FileDiff // of the last run; for the tab changes
	Judgements []plan.Review   // for the tab review

	AttemptDiffs map[plan.RunID][]plan.FileDiff // what each attempt changed; for the tab review

	AllTabs bool // but the session: whichever may be open
	Full    bool // on a page of its own
}

// Drawer is a step as its drawer, or its own page, shows it.
type Drawer struct {
	Place Place
	Full  bool
	Node  plan.Ref
	Seq   int64

	Ref, Title string
	Look       Look
	Line       Line
	User       bool
	Actions    NodeActions
	Asking     []AskItem
	SubURL     string
	SubBar     Bar
	Brief      string     // what a rework begins with
	Started    []NodeLink // dependants that a rework leaves as they are
	Runs       []RunHead

	Task    *Task // that of the tab which is open, or all but the session
	Session *Session
	Changes *Changes
	Review  *ReviewPanel
	Planner *PlannerPanel // instead of all these: it is the session that plans
	Edit    *Edit
	Order   *Order

	Previous, Next string // paths of the steps before and after, for the full page
	PlanTitle      string
}

// NodeActions are what can be done with the step now.
type NodeActions struct{ MarkDone, Retry, Stop, Rework, Skip, Unskip bool }

// Task is what a step is to do and what became of it.
type Task struct {
	Node        plan.Ref
	Instruction bool // the description tells a person what to do
	Description string
	Criteria    []string
	Files       []FileRow
	Undeclared  []string
	UndeclMore  int
	After       []NodeLink
	Before      []NodeLink
	Results     []ResultLink
	Agent       AgentRow
	Facts       []Fact
	Result      *string
	Error       *string
	Skipped     *Skipped // nil: it is not
	Brief       string   // of the last rework
	HasPrompt   bool
}

// Skipped says why a step is left out.
type Skipped struct {
	ByFailure bool      // of a step that it depends on; else a person did
	Cause     *NodeLink // that step, if it is still there
	Note      string
}

// FileRow is a file that the step declares.
type FileRow struct {
	Path   string
	Shared []NodeLink
}

// NodeLink leads to another step.
type NodeLink struct {
	URL, Ref, Title string
	Look            Look
}

// ResultLink is a step whose result goes into the prompt.
type ResultLink struct {
	NodeLink
	NoPath bool // the step does not depend on it: nothing makes it come first
}

// AgentRow says who runs the step and why.
type AgentRow struct {
	Name, Model, Harness string
	Source               string
	Capability           string
	CapabilitySource     string
	Person               bool
}

// Fact is a name and a value.
type Fact struct {
	Name, Value string
	Since       plan.Stamp // ticking
	At          plan.Stamp
}

// NewDrawer makes the drawer of a step.
func NewDrawer(in DrawerInput) *Drawer {
	s := newScene(in.Snapshot)
	if in.Node.Node == 0 {
		return s.plannerDrawer(in)
	}
	n := s.Node(in.Node)
	d := &Drawer{Place: in.Place, Full: in.Full, Node: in.Node, Seq: s.Seq, Ref: in.Node.String(), Title: n.Title, Look: s.look(n),
		Line: s.line(n), User: n.Kind == plan.KindUser, Actions: actionsOf(n), PlanTitle: s.Plan(n.PlanID).Title}
	for _, q := range s.asked[in.Node] {
		d.Asking = append(d.Asking, askItem(in.Place, n, q))
	}
	if n.Subplan != 0 {
		d.SubURL, d.SubBar = Place{Plan: n.Subplan, View: in.Place.View}.URL(), barOf(s.Tally(n.Subplan))
	}
	d.Previous, d.Next = s.neighbours(n, in.Place)
	d.Runs = runHeads(in.Runs)
	if d.Actions.Rework {
		d.Brief, d.Started = s.reworkBrief(n), s.links(n.PlanID, s.StartedDependants(in.Node), in.Place)
	}
	d.open(s, n, in)
	return d
}

// open makes what the tab shows.
func (d *Drawer) open(s *scene, n *plan.Node, in DrawerInput) {
	tab := d.tab()
	if tab == TabSession && !in.AllTabs {
		d.Session = newSession(s, n, in)
	}
	if tab == TabTask || in.AllTabs {
		d.Task = s.task(n, in)
	}
	if tab == TabChanges || in.AllTabs {
		d.Changes = s.newChanges(n, in)
	}
	if tab == TabReview || in.AllTabs {
		d.Review = s.reviewPanel(n, in.Place, in.Judgements)
		d.Review.Attempts = attemptsAt(n, in)
	}
	if tab == TabEdit || in.AllTabs {
		d.Edit, d.Order = s.edit(n, in.Place), s.order(n, in.Place)
	}
}

func actionsOf(n *plan.Node) NodeActions {
	inSubplan := n.State == plan.Running && n.Phase == plan.PhaseSubplan
	whole := n.Subplan == 0
	undecided := n.State == plan.Running && n.Phase == plan.PhaseNeedsPerson
	return NodeActions{
		MarkDone: n.State != plan.Done && !inSubplan,
		Retry:    n.State == plan.Failed,
		Stop:     n.State == plan.Running && !inSubplan || n.WaitingForUser(),
		Rework:   whole && (n.State == plan.Done || n.State == plan.Failed || undecided),
		Skip:     whole && (n.State == plan.Pending || n.State == plan.Ready),
		Unskip:   n.State == plan.Skipped && n.SkippedBy == plan.SkippedByPerson,
	}
}

// text returns what is there, "" for nothing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// neighbours are the full pages of the steps before and after, by number.
func (s *scene) neighbours(n *plan.Node, at Place) (previous, next string) {
	all := s.NodesOf(n.PlanID)
	i := slices.Index(all, n)
	if i > 0 {
		previous = fullURL(all[i-1].Ref(), at)
	}
	if i >= 0 && i+1 < len(all) {
		next = fullURL(all[i+1].Ref(), at)
	}
	return previous, next
}

func fullURL(r plan.Ref, at Place) string {
	return NodeURL(r) + "/full" + query("tab", at.Tab, "diff", at.layoutOf())
}

func (s *scene) task(n *plan.Node, in DrawerInput) *Task {
	g := s.Graph(n.PlanID)
	t := &Task{Node: n.Ref(), Instruction: n.Kind == plan.KindUser, Description: n.Description, Criteria: n.Criteria,
		Undeclared: n.Undeclared, UndeclMore: n.UndeclaredMore, After: s.links(n.PlanID, g.Prerequisites(n.ID), in.Place),
		Before: s.links(n.PlanID, g.Dependants(n.ID), in.Place), Agent: s.agentRow(n), Result: n.Result, Error: n.Error,
		Brief: text(n.ReworkBrief), HasPrompt: n.Kind != plan.KindUser}
	if n.State == plan.Skipped {
		t.Skipped = s.skipped(n, in.Place)
	}
	for _, id := range n.ResultsFrom {
		for _, l := range s.links(n.PlanID, []plan.NodeID{id}, in.Place) {
			t.Results = append(t.Results, ResultLink{l, !g.Reaches(id, n.ID)})
		}
	}
	t.Files = s.files(n, in.Place)
	t.Facts = s.facts(n, in.Runs)
	return t
}

func (s *scene) skipped(n *plan.Node, at Place) *Skipped {
	if n.SkippedBy != plan.SkippedByFailure {
		return &Skipped{Note: n.SkipNote}
	}
	out := &Skipped{ByFailure: true}
	for _, l := range s.links(n.PlanID, []plan.NodeID{n.SkippedCause}, at) {
		out.Cause = &l
	}
	return out
}

func (s *scene) links(id plan.PlanID, nodes []plan.NodeID, at Place) []NodeLink {
	var list []NodeLink
	for _, nid := range nodes {
		if n := s.Node(plan.Ref{Plan: id, Node: nid}); n != nil {
			list = append(list, s.link(n, at))
		}
	}
	return list
}

func (s *scene) link(n *plan.Node, at Place) NodeLink {
	return NodeLink{URL: Place{Plan: n.PlanID, View: at.View}.Node(n.Ref()), Ref: n.Ref().String(), Title: n.Title, Look: s.look(n)}
}

// files lists what the step declares, with the steps that share it.
func (s *scene) files(n *plan.Node, at Place) []FileRow {
	rows := make([]FileRow, 0, len(n.Files))
	for _, f := range n.Files {
		row := FileRow{Path: f.Path}
		for _, c := range s.Conflicts(n.Ref()) {
			o := s.Node(c.Ref)
			if o != nil && len(plan.SharedFiles([]plan.File{f}, o.Files)) > 0 {
				row.Shared = append(row.Shared, s.link(o, at))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Topic is what an open drawer follows: the step, in the view that its links lead to.
func (d *Drawer) Topic() string {
	if d.Place.View == "" {
		return "node:" + d.Ref
	}
	return "node:" + d.Ref + "/" + d.Place.View
}

// tab is the tab that is open.
func (d *Drawer) tab() string {
	return cmp.Or(d.Place.Tab, TabTask)
}

func (d *Drawer) tabURL(tab string) string { return d.Place.WithTab(tab).Node(d.Node) }

func (d *Drawer) fullTabURL(tab string) string { return fullURL(d.Node, d.Place.WithTab(tab)) }

// Pieces are the parts of the drawer that change, without transcript entries:
// of all tabs that it holds, since who follows the step may have any of them open.
func (d *Drawer) Pieces() []Piece {
	if d.Planner != nil {
		return append([]Piece{{ID: "node-head", Body: plannerHead(d)}}, runPieces(d.Runs)...)
	}
	list := []Piece{{ID: "node-head", Body: nodeHead(d)}}
	if d.Task != nil {
		list = append(list, Piece{ID: "node-task", Body: taskPanel(d)})
	}
	if d.Changes != nil {
		for _, split := range []bool{false, true} {
			list = append(list, Piece{ID: d.Changes.dom(split), Body: changesPanel(d.Changes, split)})
		}
	}
	if d.Review != nil {
		list = append(list, Piece{ID: "node-review", Body: reviewPanel(d.Review)})
	}
	if d.Order != nil {
		list = append(list, Piece{ID: "node-order", Body: orderPanel(d.Order)})
	}
	return append(list, runPieces(d.Runs)...)
}

// waitsForYou reports whether a person is to do the step now.
func (d *Drawer) waitsForYou() bool { return d.User && d.Look == lookYou }
