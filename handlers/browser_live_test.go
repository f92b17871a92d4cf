package handlers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// TestBrowser looks at pages as people do, in a real Chromium. The console must
// say nothing of faults or of broken content rules in any of it.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser")
	}
	b := openBrowser(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *browser)
	}{
		{"a plan runs from pending to done without a reload", planRunsLive},
		{"a session appears as it happens", sessionLive},
		{"the stream is cut and nothing is missing", streamCut},
		{"the server restarts in the middle", serverRestart},
		{"a page that slept catches up", hiddenTabCatchesUp},
		{"eight tabs of one plan", eightTabs},
		{"steps that are added while one looks on", graphGrowsLive},
		{"hostile text stays text", hostileText},
		{"start, stop and retry from the page", startStopRetry},
		{"a person's step is marked done", personMarksDone},
		{"a permission question is answered", personAnswers},
		{"settings are kept, and faults told at their field", settingsDialog},
		{"reset and delete ask first", resetAndDelete},
		{"a step is reworked, one skipped, and a budget raised", reworkBudgetSkip},
		{"a session of several runs", severalRuns},
		{"a plan built by hand", plansByHand},
		{"a proposal is edited and approved", approvals},
		{"links, back and forward", linksAndHistory},
		{"links of older versions", oldLinks},
		{"keyboard only", keyboardTour},
		{"every control by keyboard", everyControl},
		{"plans are found", findPlans},
		{"long transcripts", longTranscript},
		{"a session of ten thousand entries", tenThousand},
		{"half-typed text survives updates", typingSurvives},
		{"narrow screens", narrowScreens},
		{"twice the size", twiceTheSize},
		{"two thousand steps", twoThousand},
		{"the start page runs the demo", startPage},
		{"agents", agentsPage},
		{"colours", colours},
		{"a timeline grows while one looks on", timelineLive},
		{"what waits in all plans, answered and counted", inboxAnswers},
		{"a table shows some states", tableFilters},
		{"a session is searched", sessionIsSearched},
		{"settings of the server", serverSettings},
		{"nothing lies over anything else", cardsInPlace},
		{"nothing serious keeps people out", accessible},
		{"a report, and diffs", reportAndDiffs},
		{"each tab stays as it was left", tabsStay},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, b) })
	}
}

// cardState is true when a card shows a state.
func cardState(card, state string) string {
	return fmt.Sprintf(`document.getElementById('c-%s')?.classList.contains('s-%s')`, card, state)
}

// unloaded makes the page notice a reload.
const unloaded = `(window.stayed = true)`

func planRunsLive(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.plan("a b:a Hold:b c:b")
	p := b.tab(t, s.url)
	p.open("/plans/1")
	p.eval(unloaded)
	p.until("all is pending", cardState("1-1", "pending")+"&&"+cardState("1-4", "pending"))
	s.start(id, plan.Builtin)
	p.until("the first steps are done", cardState("1-1", "done")+"&&"+cardState("1-2", "done"))
	p.until("the plan is done", `document.querySelector('[data-testid=plan-state]').innerText.includes('Done')`)
	p.until("every card is done", `[...document.querySelectorAll('.card')].every(c => c.classList.contains('s-done'))`)
	p.until("the sidebar knows", `document.querySelector('#side-1').innerText.includes('4/4')`)
	p.lacks("[data-testid=working]")
	if p.eval(`window.stayed`) != true {
		t.Error("the page was loaded again")
	}
}

func streamCut(t *testing.T, b *browser) {
	say := make(chan plugin.Event)
	c, address := newCutter(t)
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": speaker(say)}, http: Options{AllowedHosts: []string{address}}})
	c.lead(r.url)
	id := r.plan("a b:a c:b")
	p := b.tab(t, "http://"+address)
	p.ignore("net::ERR_") // the browser says that it could not connect
	p.open("/plans/1/nodes/1?tab=session")
	r.start(id, plan.Builtin)
	say <- plugin.Text("before the cut", "")
	p.shows("[data-testid=log]", "before the cut")
	c.cut(true)
	p.has("#lost")
	for i := range 20 {
		say <- plugin.Text(fmt.Sprintf("unseen %d", i), "")
	}
	say <- plugin.ToolUse("x", "Read", []byte(`{"path":"lost.txt"}`), "")
	say <- plugin.ToolResult("x", "found again", false, "")
	if got := p.text("[data-testid=log]"); strings.Contains(got, "unseen") {
		t.Fatal("the way was not cut: the page knows what happened since")
	}
	c.cut(false)
	p.lacks("#lost")
	p.shows("[data-testid=log]", "lost.txt")
	for i := range 20 {
		p.shows("[data-testid=log]", fmt.Sprintf("unseen %d\n", i))
	}
	p.until("nothing is there twice", `new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size === document.querySelectorAll('[id]').length`)
	p.until("in order", `(n => n.every((x, i) => !i || n[i-1] < x))([...document.querySelectorAll('#log [id^="ev-"]')].map(e => +e.id.slice(3)))`)
	close(say)
	p.until("and live again", cardState("1-3", "done"))
}

func hiddenTabCatchesUp(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.plan("a b:a")
	p := b.tab(t, s.url)
	p.open("/plans/1")
	p.until("all is pending", cardState("1-1", "pending"))
	p.eval(`(Object.defineProperty(document, 'hidden', {value: true, configurable: true}), document.dispatchEvent(new Event('visibilitychange')))`)
	s.start(id, plan.Builtin)
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	const wake = `(delete document.hidden, document.dispatchEvent(new Event('visibilitychange')))`
	p.eval(wake)
	p.until("it has caught up", cardState("1-1", "done")+"&&"+cardState("1-2", "done"))
	p.until("the sidebar too", `document.querySelector('#side-1').innerText.includes('2/2')`)
	// When the picture has changed meanwhile, the page reads it anew, and stays
	// what it was: the same elements, the same zoom.
	p.click("[data-zoom=in]")
	p.eval(`(window.card = document.getElementById('c-1-1'), window.wide = document.getElementById('graph').getBoundingClientRect().width)`)
	p.eval(`(Object.defineProperty(document, 'hidden', {value: true, configurable: true}), document.dispatchEvent(new Event('visibilitychange')))`)
	title := "Added while nobody looked"
	if _, err := s.engine.AddNode(context.Background(), engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: &title}}); err != nil {
		t.Fatal(err)
	}
	p.eval(`(document.querySelector('#page').dataset.seq = 1)`) // as if it had slept for ages
	p.eval(wake)
	p.until("the new step", cardState("1-3", "done"))
	p.until("the others are the same", `window.card === document.getElementById('c-1-1')`)
	p.until("the zoom is the same", `document.getElementById('graph').getBoundingClientRect().width >= window.wide`)
}

func eightTabs(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.plan("a b:a c:b")
	first := b.tab(t, s.url)
	tabs := []*tab{first}
	for range 7 {
		tabs = append(tabs, first.another())
	}
	for _, p := range tabs { // a page that waits for a free connection would not load
		p.open("/plans/1/nodes/2")
		p.shows("[data-testid=node-state]", "Pending")
	}
	s.start(id, plan.Builtin)
	for i, p := range tabs {
		p.front()
		p.until(fmt.Sprintf("tab %d sees the end", i), cardState("1-3", "done"))
		p.shows("[data-testid=node-state]", "Done")
	}
}

func graphGrowsLive(t *testing.T, b *browser) {
	s := newStage(t)
	s.plan("a b:a")
	p := b.tab(t, s.url)
	p.open("/plans/1")
	p.until("two steps", `document.querySelectorAll('.card').length === 2`)
	p.eval(unloaded)
	title := "A third step that was added later"
	r, err := s.engine.AddNode(context.Background(), engine.AddNodeIn{PlanID: 1, NodeFields: engine.NodeFields{Title: &title}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.engine.AddEdge(context.Background(), engine.EdgeIn{PlanID: 1, From: 2, To: r.Node}); err != nil {
		t.Fatal(err)
	}
	p.until("the new step and its edge", `document.getElementById('c-1-3') && document.getElementById('e-1-2-3')`)
	p.until("the drawing has room for it", `document.getElementById('graph').viewBox.baseVal.height > document.getElementById('cards').getBBox().height`)
	if err := s.engine.RemoveNode(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	p.until("both are gone", `!document.getElementById('c-1-3') && !document.getElementById('e-1-2-3')`)
	if p.eval(`window.stayed`) != true {
		t.Error("the page was loaded again")
	}
}
