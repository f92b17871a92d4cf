package views

import (
	"fmt"
	"math"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Approval is where a plan stands with the person who approves it.
type Approval struct {
	State     plan.Approval
	Plan      plan.PlanID // the whole plan
	Here      bool        // this is its page
	Revision  int64       // as the page shows it
	Goal      *plan.Goal  // nil: it was not made from a goal
	Steps     int
	Estimate  string // of all steps; "" : there is none
	Started   bool   // it goes on when it is approved
	Promised  bool   // it starts when it is approved
	Begun     bool   // it was started at some time: no planner changes it any more
	Reason    string // of a rejection
	Revisions []RevisionRow

	Run   *RunHead // of the planner at work; nil: none is
	Facts []Fact   // the terms on which it would run
	Shell string   // a warning; "" : no worker has one
	Table []ProposalStep
}

// RevisionRow is one revision in a list.
type RevisionRow struct {
	Number  int64
	URL     string
	Author  string
	At      plan.Stamp
	Asked   string // what was asked for before it
	Decided string // "" : nothing
	Reason  string
	Last    bool
}

// lookPlanning and the others are how plans look that may not start yet.
var (
	lookPlanning = Look{"running", "Being planned"}
	lookUnmade   = Look{"failed", "Planning failed"}
	lookApprove  = Look{"you", "To approve"}
	lookRejected = Look{"stopped", "Rejected"}
)

// approvalLook returns how a plan looks that does not go on for want of approval,
// and else what it looks like anyway.
func approvalLook(a plan.Approval, anyway Look) Look {
	switch a {
	case plan.Planning:
		return lookPlanning
	case plan.PlanningFailed:
		return lookUnmade
	case plan.Awaiting:
		return lookApprove
	case plan.Rejected:
		return lookRejected
	}
	return anyway
}

// asksPerson reports whether a plan waits for what a person says to it.
func asksPerson(a plan.Approval) bool { return a == plan.Awaiting || a == plan.PlanningFailed }

// newApproval returns nil for a plan that needs no approval.
func newApproval(s *scene, in PlanInput) *Approval {
	root := s.Root()
	if root.Approval == "" || root.Approval == plan.NoApproval {
		return nil
	}
	a := &Approval{State: root.Approval, Plan: root.ID, Here: in.Place.Plan == root.ID, Revision: root.Revision, Goal: in.Goal,
		Started: root.Started, Begun: root.FirstStart != 0, Revisions: revisionRows(root, in.Revisions)}
	a.Promised = root.Executor != "" && !a.Begun
	var sum float64
	for _, n := range s.NodesOf(root.ID) {
		a.Steps, sum = a.Steps+1, sum+n.EstimateMinutes
	}
	if sum > 0 {
		a.Estimate = estimate(sum)
	}
	if n := len(in.Revisions); n > 0 && in.Revisions[n-1].Decided == plan.DecidedRejected {
		a.Reason = in.Revisions[n-1].Reason
	}
	if a.State == plan.Awaiting && a.Here {
		a.propose(s, in.Place)
	}
	heads := runHeads(in.PlannerRuns)
	for i := range heads {
		if heads[i].Open {
			a.Run = &heads[i]
		}
	}
	return a
}

// estimate writes a number of minutes.
func estimate(minutes float64) string {
	n := int64(math.Round(max(minutes, 1)))
	switch {
	case n < 60:
		return fmt.Sprintf("%d min", n)
	case n%60 == 0:
		return fmt.Sprintf("%d h", n/60)
	}
	return fmt.Sprintf("%d h %d min", n/60, n%60)
}

// revisionRows lists revisions, the newest first.
func revisionRows(root *plan.Plan, all []plan.Revision) []RevisionRow {
	list := make([]RevisionRow, 0, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i]
		list = append(list, RevisionRow{Number: r.Number, URL: RevisionURL(r.PlanID, r.Number), Author: authorWord(r.Author), At: r.CreatedAt,
			Asked: r.Feedback, Decided: r.Decided, Reason: r.Reason, Last: r.Number == root.Revision})
	}
	return list
}

func authorWord(author string) string {
	switch author {
	case plan.AuthorPlanner:
		return "the planner"
	case plan.AuthorPerson:
		return "an edit"
	}
	return author
}

// Shown reports whether the page has something to say about it.
func (a *Approval) Shown() bool { return a != nil && a.State != plan.Approved }

// Asks reports whether it waits for a person.
func (a *Approval) Asks() bool { return a != nil && asksPerson(a.State) }

// ChipWord says in short what is asked.
func (a *Approval) ChipWord() string {
	if a.State == plan.PlanningFailed {
		return "Planning failed"
	}
	return "Approve the plan"
}

// CanStart reports whether approving and starting are two things.
func (a *Approval) CanStart() bool { return a.Steps > 0 && !a.Started && !a.Promised }

// CanPlan reports whether a planner can change the plan.
func (a *Approval) CanPlan() bool { return a.Goal != nil && !a.Begun }

// ApproveWord is what the button for approving alone says.
func (a *Approval) ApproveWord() string {
	switch {
	case a.Started:
		return "Approve and go on"
	case a.Promised:
		return "Approve; then it starts"
	}
	return "Approve"
}

// Headline says where the plan stands.
func (a *Approval) Headline() string {
	switch a.State {
	case plan.Planning:
		return "Being planned"
	case plan.PlanningFailed:
		return "Planning failed"
	case plan.Awaiting:
		return "Waiting for your approval"
	}
	return "Rejected"
}

// Size says how much the plan is.
func (a *Approval) Size() string {
	words := "Revision " + strconv.FormatInt(a.Revision, 10) + " · " + plural(a.Steps, "step", "steps")
	if a.Estimate != "" {
		words += " · about " + a.Estimate + " of agents' work"
	}
	return words
}

// NoteWords say what is folded away.
func (a *Approval) NoteWords() string {
	words := "The goal"
	if n := len(a.Goal.Risks); n > 0 {
		words += ", " + plural(n, "risk", "risks")
	}
	if n := len(a.Goal.Assumptions); n > 0 {
		words += ", " + plural(n, "assumption", "assumptions")
	}
	return words
}

func (a *Approval) url(action string) string { return PlanURL(a.Plan) + action }
