package views

import (
	"github.com/clearbox-go/clearbox/engine/plan"
)

// PlannerPanel is where the session stands that makes a plan.
type PlannerPanel struct {
	Planning bool
	StopURL  string
}

// PlannerURL is where the session is shown that made a plan, and what else was
// said about the plan as a whole.
func PlannerURL(id plan.PlanID) string { return NodeURL(plan.Ref{Plan: id}) + "?tab=" + TabSession }

// plannerDrawer shows the sessions that belong to a plan and to none of its steps.
func (s *scene) plannerDrawer(in DrawerInput) *Drawer {
	p := s.Plan(in.Node.Plan)
	at := in.Place.WithTab(TabSession)
	d := &Drawer{Place: at, Node: in.Node, Seq: s.Seq, Ref: in.Node.String(), Title: plannerTitle(p), PlanTitle: p.Title,
		Runs: runHeads(in.Runs), Planner: &PlannerPanel{Planning: p.Approval == plan.Planning, StopURL: PlanURL(p.ID) + "/stop"}}
	d.Look = approvalLook(p.Approval, lookDone)
	for i := range in.Runs {
		if r := &in.Runs[i]; r.Open() {
			d.Line = Line{Text: r.AgentName, Since: r.StartedAt}
		}
	}
	if in.AllTabs {
		return d
	}
	scribe := NewScribe(in.Node, in.Runs)
	d.Session = &Session{Node: in.Node, Runs: d.Runs, Segments: segments(scribe.Entries(in.Events)), Live: d.Planner.Planning,
		Waits: Line{Text: "It appears here as the planner works."}}
	if in.Older && len(in.Events) > 0 {
		d.Session.Older = in.Events[0].ID
	}
	return d
}

func plannerTitle(p *plan.Plan) string {
	if p.Approval == "" || p.Approval == plan.NoApproval {
		return "Reviews of " + p.Title
	}
	return "Planning of " + p.Title
}
