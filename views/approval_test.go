package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// waitingPage is a plan of tree in a state of approval.
func waitingPage(state plan.Approval, g *plan.Goal, at Place) *PlanPage {
	s := tree(func(n map[string]*plan.Node) {
		for _, x := range n {
			x.State, x.EstimateMinutes = plan.Pending, 15
		}
	})
	root := s.Root()
	at.View = ViewList
	root.Started, root.FirstStart, root.Executor, root.Approval, root.Revision = false, 0, "", state, 2
	return NewPlanPage(PlanInput{Snapshot: s, Place: at, Goal: g, Revisions: revisions("Fewer steps.")})
}

func revisions(asked string) []plan.Revision {
	return []plan.Revision{{PlanID: 1, Number: 1, Author: plan.AuthorPlanner, CreatedAt: 1000, Proposal: `{"title":"Whole","nodes":[]}`},
		{PlanID: 1, Number: 2, Author: plan.AuthorPerson, Feedback: asked, Decided: plan.DecidedRejected, Reason: asked, CreatedAt: 2000,
			Proposal: `{"title":"Whole","nodes":[]}`}}
}

func goal(text string) *plan.Goal {
	return &plan.Goal{PlanID: 1, Text: text, Constraints: text, Feedback: text, Problems: plan.TextList{text}, Summary: text,
		TechStack: plan.TextList{text}, Risks: plan.TextList{text, text}, Assumptions: plan.TextList{text}}
}

// testIDs returns the test ids of a page that are among those asked for.
func testIDs(t *testing.T, p *PlanPage, among ...string) string {
	t.Helper()
	out := render(t, PlanView(p))
	var has []string
	for _, id := range among {
		if strings.Contains(out, `data-testid="`+id+`"`) {
			has = append(has, id)
		}
	}
	return strings.Join(has, " ")
}

func TestTheBannerOffersWhatTheStateAllows(t *testing.T) {
	all := []string{"approval-planning", "approval-planning_failed", "approval-awaiting", "approval-rejected", "problems", "plan-summary", "plan-notes",
		"reject-reason", "approve-start", "approve", "ask-changes", "plan-again", "reject-plan", "revisions", "approval-chip", "start", "menu-revisions"}
	for _, c := range []struct {
		state plan.Approval
		goal  *plan.Goal
		want  string
	}{
		{plan.NoApproval, nil, "start"},
		{plan.Planning, goal("g"), "approval-planning plan-notes reject-plan revisions menu-revisions"},
		{plan.PlanningFailed, goal("g"), "approval-planning_failed problems plan-notes plan-again reject-plan revisions approval-chip menu-revisions"},
		{plan.Awaiting, goal("g"), "approval-awaiting plan-summary plan-notes approve-start approve ask-changes reject-plan revisions approval-chip menu-revisions"},
		{plan.Awaiting, nil, "approval-awaiting approve-start approve reject-plan revisions approval-chip menu-revisions"},
		{plan.Approved, goal("g"), "start menu-revisions"},
		{plan.Rejected, goal("g"), "approval-rejected plan-notes reject-reason plan-again revisions menu-revisions"},
		{plan.Rejected, nil, "approval-rejected reject-reason revisions menu-revisions"},
	} {
		if got := testIDs(t, waitingPage(c.state, c.goal, Place{Plan: 1}), all...); got != c.want {
			t.Errorf("%s, from a goal %t:\n got %s\nwant %s", c.state, c.goal != nil, got, c.want)
		}
		piece := htmlOf(t, waitingPage(c.state, c.goal, Place{Plan: 1}).Pieces())["approval"]
		if !strings.Contains(render(t, PlanView(waitingPage(c.state, c.goal, Place{Plan: 1}))), piece) {
			t.Errorf("%s: what streams in is not what a reload shows", c.state)
		}
	}
}

func TestApprovingNamesTheRevisionThatIsShown(t *testing.T) {
	out := render(t, PlanView(waitingPage(plan.Awaiting, goal("g"), Place{Plan: 1})))
	for _, want := range []string{`name="revision" value="2"`, "Revision 2 · 6 steps · about 1 h 30 min of agents", "Fewer steps.", "/plans/1/revisions/1", "The goal, 2 risks, 1 assumption"} {
		if !strings.Contains(out, want) {
			t.Errorf("the banner has no %q", want)
		}
	}
}

func TestAStartedPlanGoesOnWhenItIsApprovedAgain(t *testing.T) {
	a := &Approval{State: plan.Awaiting, Here: true, Steps: 2, Started: true, Begun: true, Goal: goal("g")}
	if a.CanStart() || a.CanPlan() || a.ApproveWord() != "Approve and go on" {
		t.Errorf("start %t, plan %t, %q", a.CanStart(), a.CanPlan(), a.ApproveWord())
	}
	if a = (&Approval{State: plan.Awaiting, Steps: 2, Promised: true}); a.CanStart() || a.ApproveWord() != "Approve; then it starts" {
		t.Errorf("start %t, %q", a.CanStart(), a.ApproveWord())
	}
	if a = (&Approval{State: plan.Awaiting}); a.CanStart() {
		t.Error("a plan without steps is offered to be started")
	}
}

func TestASubplanLeadsToTheWholePlan(t *testing.T) {
	p := waitingPage(plan.Awaiting, goal("g"), Place{Plan: 2})
	if got := testIDs(t, p, "approval-awaiting", "approve", "approval-chip"); got != "approval-awaiting approval-chip" {
		t.Errorf("it shows %q", got)
	}
}

func TestPlansThatAskAreListedAsWaiting(t *testing.T) {
	for state, want := range map[plan.Approval]struct {
		waits int
		word  string
	}{plan.NoApproval: {0, "Pending"}, plan.Planning: {0, "Being planned"}, plan.PlanningFailed: {1, "Planning failed"}, plan.Awaiting: {1, "To approve"},
		plan.Approved: {0, "Pending"}, plan.Rejected: {0, "Rejected"}} {
		s := PlanSummary{Status: "pending", Approval: state}
		if s.Waiting() != want.waits || s.Look().Word != want.word {
			t.Errorf("%s: %d things wait, it is %q", state, s.Waiting(), s.Look().Word)
		}
	}
}

func TestEstimatesAreInMinutesAndHours(t *testing.T) {
	for minutes, want := range map[float64]string{0.2: "1 min", 59.4: "59 min", 60: "1 h", 61: "1 h 1 min", 1500: "25 h"} {
		if got := estimate(minutes); got != want {
			t.Errorf("%g minutes: %q, want %q", minutes, got, want)
		}
	}
}

func TestARevisionShowsWhatItChanged(t *testing.T) {
	was := `{"title":"A","nodes":[{"key":"1","title":"Handler","description":"Write it.","files":["a.go"]},{"key":"2","title":"Test","estimate_minutes":5},{"key":"3","title":"Gone"}],"edges":[["1","2"]]}`
	is := `{"title":"B","nodes":[{"key":"1","title":"Test","estimate_minutes":10},{"key":"2","title":"Handler","description":"Write it well.","files":["a.go","b.go"]},{"key":"4","title":"New"}],"edges":[["2","1"],["4","2"]]}`
	p, err := NewRevisionPage(RevisionInput{Plan: &plan.Plan{ID: 1, Revision: 2}, All: revisions("x"),
		Revision: &plan.Revision{PlanID: 1, Number: 2, Proposal: is}, Before: &plan.Revision{PlanID: 1, Number: 1, Proposal: was}})
	if err != nil {
		t.Fatal(err)
	}
	want := RevisionDiff{Title: &FieldChange{"Title", "A", "B"}, Added: []string{"New"}, Removed: []string{"Gone"}, Changed: []StepChange{
		{"Test", []FieldChange{{"Estimate", "5 min", "10 min"}}},
		{"Handler", []FieldChange{{"Description", "Write it.", "Write it well."}, {"Files", "a.go", "a.go, b.go"}, {"After", "", "New"}}}}}
	if diff := cmp.Diff(want, p.Diff); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := NewRevisionPage(RevisionInput{Plan: &plan.Plan{ID: 1}, Revision: &plan.Revision{Proposal: "{"}}); err == nil {
		t.Error("a revision that does not parse is shown")
	}
}

func TestAnEmptyPlanSaysHowItIsFilled(t *testing.T) {
	s := plan.NewSnapshot([]plan.Plan{{ID: 7, Root: 7, Title: "Empty"}}, nil, nil)
	for _, view := range []string{ViewGraph, ViewList} {
		out := render(t, PlanView(planPage(s, Place{Plan: 7, View: view})))
		for _, want := range []string{"add_node", "POST /api/plans/7/nodes", "clearbox plan submit"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: it does not name %q", view, want)
			}
		}
	}
}

// hostileApproval are the pages about approval with one text in all places.
func hostileApproval(t *testing.T, text string) map[string]string {
	step := `{"title":` + quoted(text) + `,"nodes":[{"key":"1","title":` + quoted(text) + `,"description":` + quoted(text) + `,"files":[` + quoted(text) + `],"acceptance_criteria":[` + quoted(text) + `]}]}`
	p, err := NewRevisionPage(RevisionInput{Plan: &plan.Plan{ID: 1}, All: revisions(text), Before: &revisions(text)[0],
		Revision: &plan.Revision{PlanID: 1, Number: 2, Proposal: step, Feedback: text, Reason: text}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"revision": render(t, RevisionView(p)),
		"goal": render(t, BeginView(&BeginPage{Agents: []string{text}, Folders: []string{text}})), "hand": render(t, BeginView(&BeginPage{ByHand: true}))}
	for _, state := range []plan.Approval{plan.Planning, plan.PlanningFailed, plan.Awaiting, plan.Rejected} {
		out[string(state)] = render(t, PlanView(waitingPage(state, goal(text), Place{Plan: 1})))
	}
	return out
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

func TestPagesOfApprovalAreSafeAndNamed(t *testing.T) {
	for name, out := range hostileApproval(t, `<img src=x onerror=owned()><script>owned()</script>"'><b onclick=owned()> [l](javascript:owned())`) {
		doc, err := html.Parse(strings.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		labels, ids := map[string]bool{}, map[string]bool{}
		walk(doc, func(n *html.Node) {
			if n.Data == "label" {
				labels[attr(n, "for")] = true
			}
			if id := attr(n, "id"); id != "" && ids[id] {
				t.Errorf("%s: two elements are called %s", name, id)
			}
			ids[attr(n, "id")] = true
		})
		walk(doc, func(n *html.Node) {
			switch n.Data {
			case "img", "b", "script":
				t.Errorf("%s: the text became an element <%s>", name, n.Data)
			case "textarea", "select", "input":
				if attr(n, "type") != "hidden" && attr(n, "aria-label") == "" && !labels[attr(n, "id")] {
					t.Errorf("%s: %s has no label", name, attr(n, "id"))
				}
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "href" && strings.Contains(a.Val, "javascript:") {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
				if a.Key == "aria-describedby" || a.Key == "aria-labelledby" {
					for _, id := range strings.Fields(a.Val) {
						if !ids[id] {
							t.Errorf("%s: %s names %s, which is not there", name, a.Key, id)
						}
					}
				}
			}
		})
	}
}
