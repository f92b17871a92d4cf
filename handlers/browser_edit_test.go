package handlers

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

func (r *rig) step(at plan.Ref) *plan.Node {
	r.t.Helper()
	s, err := r.engine.Snapshot(context.Background(), at.Plan)
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Node(at)
}

// plansByHand builds a plan from nothing on a narrow screen: steps, fields, order.
func plansByHand(t *testing.T, b *browser) {
	s := newStage(t)
	p := b.tab(t, s.url)
	p.ignore("status of 4") // faults that are shown at their fields
	p.size(375, 800)
	p.open("/plans/new?by=hand")
	p.fill("#new-title", "Mine")
	p.fill("#new-dir", t.TempDir())
	p.click("[data-testid=new-submit]")
	p.click(".empty [data-testid=add-step]")
	p.press(keyEnter)
	p.shows("#add-title-error", "must not be empty")
	p.fill("#add-title", "Write it")
	p.press(keyEnter)
	p.until("its form is open", `location.pathname + location.search === '/plans/1/nodes/1?tab=edit'`)
	p.has("#edit-description")
	p.fits("the form of a step at 375 px")
	p.fill("#edit-description", "In main.go.")
	p.fill("#edit-criteria textarea:last-child", "it builds")
	p.fill("#edit-criteria textarea:last-child", "it runs")
	p.fill("#edit-files textarea:last-child", "../x")
	p.choose("#edit-type", "implement")
	p.fill("#edit-estimate", "12")
	p.click("[data-testid=edit-save]")
	p.shows("#edit-files-error", "escapes")
	p.set("#edit-files textarea", "main.go")
	p.shoot("edit-375-light")
	p.click("[data-testid=edit-save]")
	p.until("it is saved", `location.search === '' || location.search === '?view=list'`)
	p.shows("[data-testid=task]", "it runs")
	n := s.step(plan.Ref{Plan: 1, Node: 1})
	if d := cmp.Diff([]any{"In main.go.", "it builds|it runs", "main.go", "implement", 12.0},
		[]any{n.Description, strings.Join(n.Criteria, "|"), n.Files[0].Path, n.TaskType, n.EstimateMinutes}); d != "" {
		t.Error(d)
	}
	p.size(1440, 900)
	p.open("/plans/1")
	p.click(".topbar .icon-button[aria-label='More for this plan']")
	p.click(".menu-panel [data-testid=add-step]")
	p.fill("#add-title", "Test it")
	p.choose("#add-after", "1")
	p.click("[data-testid=add-step-save]")
	p.until("the next form is open", `location.pathname + location.search === '/plans/1/nodes/2?tab=edit'`)
	p.shows("[data-testid=order]", "Write it")
	p.click("[aria-label='Hand on the result of 1.1']")
	p.shows("[data-testid=order]", "Gets its result")
	p.has("#e-1-1-2")
	p.fill("#edit-description", "unsaved")
	p.click("[aria-label='Do not wait for 1.1']")
	p.lacks("#e-1-1-2")
	p.shows("[data-testid=order]", "through others")
	p.click("[data-testid=order-after-add]")
	p.has("#e-1-1-2")
	if p.eval(`document.querySelector('#edit-description').value`) != "unsaved" {
		t.Error("what was typed got lost when the order changed")
	}
	p.shoot("edit-1440-light")
	p.click("[data-testid=edit-cancel]")
	p.lacks("#edit-description")
	p.press("e")
	p.has("#edit-description")
	if err := s.engine.UpdateNode(context.Background(), engine.UpdateNodeIn{PlanID: 1, NodeID: 2, NodeFields: engine.NodeFields{Title: ptr("Try it")}}); err != nil {
		t.Fatal(err)
	}
	p.click("[data-testid=edit-save]")
	p.shows("#edit-error", "changed since you opened it")
	p.open("/plans/1/nodes/2?tab=edit")
	p.click("[data-testid=act-remove]")
	p.click("[data-testid=remove-step]")
	p.until("it is gone", `location.pathname === '/plans/1'`)
	p.lacks("#c-1-2")
}

// approvals edits a proposal, approves what was not looked at, looks and approves.
func approvals(t *testing.T, b *browser) {
	s := newPlanned(t, proposed)
	p := b.tab(t, s.url)
	id := s.ask("Add a health endpoint")
	p.open("/plans/1")
	p.click("[data-testid=approval-planning] [data-testid=planner-session]")
	p.shows("[data-testid=planner-head]", "Being planned")
	p.shows("[data-testid=log]", "planned by planner")
	s.letGo <- struct{}{}
	s.until(id, plan.Awaiting, 1)
	p.shows("[data-testid=planner-head]", "To approve")
	p.shows("[data-testid=log]", "waiting for you")
	p.shows("[data-testid=proposal-facts]", "each step is judged")
	p.shows("[data-testid=shell-warning]", "your own rights")
	p.click("[data-testid=proposal-steps] > summary")
	p.shows("[data-testid=proposal-steps]", "go test passes")
	p.shoot("proposal-1440-light")
	second := p.another()
	second.open("/plans/1")
	second.eval(`document.querySelector('[name=revision]').setAttribute('data-was', '1')`)
	p.click("[data-testid=proposal-steps] [aria-label='Edit 1.2']")
	p.shows("[data-testid=edit-note]", "next revision")
	p.set("#edit-description", "Ask it twice.")
	p.click("[data-testid=edit-save]")
	s.until(id, plan.Awaiting, 2)
	p.shows("[data-testid=approval-size]", "Revision 2")
	second.ignore("status of 409")
	second.shows("[data-testid=approval-size]", "Revision 2")
	second.eval(`document.querySelector('[name=revision]').value = '1'`) // as a page that missed the change
	second.click("[data-testid=approve]")
	second.shows("#approve-error", "Look at it again")
	p.click("[data-testid=approve]")
	s.until(id, plan.Approved, 2)
	p.lacks("[data-testid=approval-awaiting]")
	p.size(375, 800)
	p.open("/plans/1/nodes/1?tab=edit")
	p.shows("[data-testid=edit-note]", "asks for approval again")
	p.set("#edit-check", "true")
	p.press(keyEnter)
	s.until(id, plan.Awaiting, 3)
	p.open("/plans/1")
	p.has("[data-testid=approval-awaiting]")
	p.fits("a proposal at 375 px")
	p.shoot("proposal-375-light")
}
