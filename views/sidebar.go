package views

import (
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// PlanSummary is a top-level plan as lists show it.
type PlanSummary struct {
	ID        plan.PlanID
	Title     string
	Status    plan.Status
	Started   bool
	Begun     bool // it was started at some time
	Tally     plan.Tally
	Questions int // open ones of its agents
	Approval  plan.Approval
	NoBudget  bool // nothing more starts until its budget is raised
	CreatedAt plan.Stamp
	WorkDir   string
	Executor  plan.Executor
}

// Look returns how the plan's state is shown.
func (p *PlanSummary) Look() Look {
	look := planLook(p.Status, p.Started, p.Begun)
	if p.Started {
		return look
	}
	return approvalLook(p.Approval, look)
}

// Waiting counts what waits for a person.
func (p *PlanSummary) Waiting() int {
	n := p.Tally.Waiting + p.Tally.Asking + p.Questions
	if p.NoBudget {
		n++
	}
	if asksPerson(p.Approval) {
		n++
	}
	return n
}

// WaitingWords say what waits for a person.
func (p *PlanSummary) WaitingWords() string {
	return plural(p.Waiting(), "thing waits for you", "things wait for you")
}

// sidebarPlans is how many plans the sidebar lists; all are on the page of plans.
const sidebarPlans = 40

// Sidebar is what stands beside every page.
type Sidebar struct {
	Plans []PlanSummary // the newest first, all of them
	Waits *Inbox
	Seq   int64
}

func (s *Sidebar) shown() []PlanSummary { return s.Plans[:min(len(s.Plans), sidebarPlans)] }

func (s *Sidebar) allWords() string {
	if len(s.Plans) == 1 {
		return "All plans"
	}
	return "All " + strconv.Itoa(len(s.Plans)) + " plans"
}

// Pieces are the parts of the sidebar that change.
func (s *Sidebar) Pieces() []Piece {
	shown := s.shown()
	list := make([]Piece, 0, len(shown)+1)
	for i := len(shown) - 1; i >= 0; i-- { // each new one goes before the others
		list = append(list, Piece{ID: domPlan("side", shown[i].ID), In: "side-plans", First: true, Body: sidePlan(&shown[i])})
	}
	return append(list, Piece{ID: "side-all", Body: sideAll(s)})
}
