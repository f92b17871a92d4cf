package handlers

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

func startStopRetry(t *testing.T, b *browser) {
	s := newStage(t)
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Steps", WorkingDirectory: t.TempDir()}, Nodes: []engine.NodeSpec{
		{Key: "a", Title: "Hold on"}, {Key: "b", Title: "Fail this"}}}
	if _, err := s.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	p := b.tab(t, s.url)
	p.open("/plans/1")
	p.click("[data-testid=start]")
	p.until("it works and it failed", cardState("1-1", "running")+"&&"+cardState("1-2", "failed"))
	p.shows("[data-testid=working]", "Hold on")
	p.lacks("[data-testid=start]")
	p.click("#c-1-1")
	p.click("[data-testid=stop-step]")
	p.until("the step was stopped", cardState("1-1", "failed"))
	p.shows("[data-testid=node-error]", "stopped by user")
	p.click("[data-testid=retry]")
	p.until("it is tried again", cardState("1-1", "running"))
	p.click("[data-testid=retry-failed]")
	enginetest.Until(t, s.engine, 1, "a second attempt", func(n *plan.Snapshot) bool {
		return n.Node(plan.Ref{Plan: 1, Node: 2}).Attempts == 2
	})
	p.has("[data-testid=retry-failed]") // the bar is as it will be
	p.click("[data-testid=stop]")
	p.until("the plan was stopped", cardState("1-1", "pending"))
	p.has("[data-testid=start]")
	// What cannot be done is said in words, and nothing else happens.
	if err := s.engine.StartPlan(context.Background(), 1, plan.External); err != nil {
		t.Fatal(err)
	}
	p.ignore("400")
	p.eval(`fetch('/plans/1/nodes/1/retry', {method: 'POST', headers: {'HX-Request': 'true'}}).then(async r => document.querySelector('#toasts').insertAdjacentHTML('beforeend', await r.text()))`)
	p.shows("[data-testid=toast]", "only a failed step can be retried")
	p.click("[data-dismiss]")
	p.lacks("[data-testid=toast]")
}

func personMarksDone(t *testing.T, b *browser) {
	s := newStage(t)
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Steps", WorkingDirectory: t.TempDir()}, Nodes: []engine.NodeSpec{
		{Key: "u", Title: "Look at it", Kind: "user", Description: "Open it and **look**."}, {Key: "b", Title: "Go on", ResultsFrom: []string{"u"}}},
		Edges: [][]string{{"u", "b"}}}
	if _, err := s.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	s.start(1, plan.Builtin)
	p := b.tab(t, s.url)
	p.open("/plans/1")
	p.shows("[data-testid=waiting]", "Look at it")
	p.shows("#side-1", "1 thing waits for you")
	p.click("[data-testid=waiting] a")
	p.shows("[data-testid=task]", "What you are to do")
	p.fill("#mark-result", "It is\nfine.")
	p.click("[data-testid=mark-done]")
	p.shows("[data-testid=node-state]", "Done")
	p.shows("[data-testid=node-result]", "It is fine.")
	p.until("what waited goes on", cardState("1-2", "done"))
	p.lacks("[data-testid=waiting]")
}

func personAnswers(t *testing.T, b *browser) {
	s := newStage(t)
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Steps", WorkingDirectory: t.TempDir(), MaxParallel: 1}, Nodes: []engine.NodeSpec{
		{Key: "a", Title: "Ask first"}, {Key: "b", Title: "Ask again"}}, Edges: [][]string{{"a", "b"}}}
	if _, err := s.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	p := b.tab(t, s.url)
	p.open("/plans/1")
	s.start(1, plan.Builtin)
	p.shows("[data-testid=question]", "rm -rf /var/cache/build")
	p.click("[data-testid=question] [value=allow]")
	p.until("it went on", cardState("1-1", "done"))
	p.shows("[data-testid=question]", "1.2")
	p.click("#c-1-2")
	p.shows(".ask-box", "Run a command outside of the working directory")
	p.click(".ask-box [value=deny]")
	p.shows("[data-testid=node-error]", "permission was denied")
	p.lacks("[data-testid=question]")
}

func settingsDialog(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.plan("a")
	p := b.tab(t, s.url)
	p.ignore("status of 400")
	p.open("/plans/1")
	p.click("[aria-label='More for this plan']")
	p.click("[data-dialog=settings]")
	p.has("#settings[open]")
	p.eval(`document.querySelector('#set-dir').value = '/does/not/exist'`)
	p.click("[data-testid=settings-save]")
	p.shows("#set-dir-error", "does not exist")
	p.has("#settings[open]")
	dir := t.TempDir()
	p.eval(`document.querySelector('#set-dir').value = ` + quote(dir))
	p.fill("#set-tests", "make test")
	p.fill("#set-parallel", "2")
	p.eval(`document.querySelector('#set-agent').value = 'mock'`)
	p.click("[data-testid=settings-save]")
	p.lacks("#settings[open]")
	snap, err := s.engine.Snapshot(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	if r := snap.Root(); r.WorkDir != dir || r.TestInstructions != "make test" || r.MaxParallel != 2 || snap.Profiles[r.DefaultProfile].Name != "mock" {
		t.Errorf("kept %+v", r)
	}
}

func resetAndDelete(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.plan("a b:a")
	s.plan("x")
	s.start(id, plan.Builtin)
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	p := b.tab(t, s.url)
	p.open("/plans/1/nodes/1?tab=session")
	p.shows("[data-testid=log]", "Run 1")
	p.click("[aria-label='More for this plan']")
	p.click("[data-dialog=confirm-reset]")
	p.press(keyEscape)
	p.lacks("#confirm-reset[open]")
	p.until("nothing happened", cardState("1-2", "done"))
	p.click("[aria-label='More for this plan']")
	p.click("[data-dialog=confirm-reset]")
	p.click("[data-testid=confirm-reset]")
	p.until("all is pending", cardState("1-1", "pending")+"&&"+cardState("1-2", "pending"))
	p.shows("[data-testid=drawer]", "No session yet")
	other := p.another()
	other.open("/plans/1")
	p.click("[aria-label='More for this plan']")
	p.click("[data-dialog=confirm-delete]")
	p.click("[data-testid=confirm-delete]")
	p.until("it leads to the list", `location.pathname === '/plans'`)
	p.lacks("#side-1")
	other.shows("#page", "This plan is gone")
	other.lacks("#side-1")
}

// reworkBudgetSkip corrects a plan as it goes, all of it from the page.
func reworkBudgetSkip(t *testing.T, b *browser) {
	var tests atomic.Int32 // how often they were run
	agent := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		in := int64(600)
		h.Emit(plugin.Text("working on "+task.Title, ""))
		if task.Title == "Tests" && tests.Add(1) == 1 {
			return plugin.Result{IsError: true, Errors: []string{"2 tests are red"}, TokensIn: &in}, nil
		}
		return plugin.Result{Text: "did " + task.Title, TokensIn: &in}, nil
	}
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": agent}})
	plain := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Steps", WorkingDirectory: t.TempDir(), MaxTokens: 1500}, Nodes: []engine.NodeSpec{
		{Key: "a", Title: "Build"}, {Key: "b", Title: "Tests"}, {Key: "u", Title: "Look at it", Kind: "user"}, {Key: "c", Title: "Ship"}},
		Edges: [][]string{{"a", "b"}, {"b", "u"}, {"u", "c"}}}
	if _, err := r.engine.SubmitPlan(context.Background(), plain); err != nil {
		t.Fatal(err)
	}
	p := b.tab(t, r.url)
	p.ignore("status of 400")
	p.open("/plans/1/nodes/2")
	p.shows("[data-testid=meter]", "0 / 1.5k tokens")
	p.click("[data-testid=start]")
	p.shows("[data-testid=node-error]", "2 tests are red")
	// The step that failed is sent back with instructions; without any it is not.
	p.click("[data-testid=act-rework]")
	p.click("[data-testid=rework]")
	p.shows("#rework-error", "no review")
	p.fill("#rework-text", "Mend both.")
	p.click("[data-testid=rework]")
	p.shows("[data-testid=node-state]", "Done")
	p.shows("[data-testid=brief]", "Mend both.")
	p.until("the form was put away", `!document.querySelector('#act-rework').open`)
	p.press("s")
	p.shows("#run-head-1", "Failed")
	p.shows("#run-head-2", "rework")
	p.click("[data-run='1']")
	p.until("it goes to that run", `document.activeElement?.id === 'run-head-1'`)
	// That has used up the budget: nothing new starts until it is raised.
	p.shows("[data-testid=over-budget]", "1,800 of 1,500 tokens")
	p.until("a person's turn costs nothing", cardState("1-3", "you"))
	p.press("t")
	p.has("[data-testid=task]")
	p.click("#c-1-3")
	p.click("[data-testid=act-skip]")
	p.fill("#skip-note", "seen it")
	p.click("[data-testid=skip]")
	p.shows("[data-testid=node-state]", "Skipped")
	p.shows("[data-testid=skipped]", "seen it")
	p.shows("#c-1-4 .card-line", "budget used up")
	p.click("[data-testid=over-budget] [data-dialog=settings]")
	p.until("it leads to the field", `document.activeElement?.id === 'set-tokens'`)
	p.eval(`document.querySelector('#set-tokens').value = '9000'`)
	p.click("[data-testid=settings-save]")
	p.until("it goes on", cardState("1-4", "done"))
	p.lacks("[data-testid=over-budget]")
	p.shows("[data-testid=plan-state]", "Done")
	// What was left out is brought back, and waits again.
	p.click("[data-testid=unskip]")
	p.shows("[data-testid=node-state]", "Waiting for you")
	p.until("what came after it stays", cardState("1-4", "done"))
	p.click("[data-testid=mark-done]")
	p.shows("[data-testid=node-state]", "Done")
}
