package handlers

import (
	"context"
	"fmt"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// holdPlan is a plan of a quick step, one that works until it is let go, and one
// after that.
func (s *stage) holdPlan() plan.PlanID {
	s.t.Helper()
	out, err := s.engine.SubmitPlan(context.Background(), engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Three", WorkingDirectory: s.t.TempDir()},
		Nodes: []engine.NodeSpec{{Key: "a", Title: "Quick"}, {Key: "b", Title: "Hold on"}, {Key: "c", Title: "Yours", Kind: "user"}, {Key: "d", Title: "Last"}},
		Edges: [][]string{{"a", "b"}, {"a", "c"}, {"b", "d"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	return out.PlanID
}

func timelineLive(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.holdPlan()
	p := b.tab(t, s.url)
	p.open("/plans/1")
	p.press("i")
	p.until("the timeline", `location.search === '?view=timeline'`)
	p.shows("#tl-1-4", "Last")
	s.start(id, plan.Builtin)
	p.until("the quick one has a bar", `document.querySelector('#tl-1-1 .tl-work.s-done')`)
	p.until("one that works grows", `parseFloat(document.querySelector('#tl-1-2 .tl-work[data-from]')?.getAttribute('width')) > 1`)
	p.until("what waits for another says so", `document.querySelector('#tl-1-4 .tl-bars').getAttribute('aria-label').startsWith('waits for 1.2')`)
	p.until("what waits for you too", `document.querySelector('#tl-1-3 .tl-person[data-from]')`)
	p.until("the end is estimated", `document.querySelector('[data-testid=estimate]').innerText.includes('Done about')`)
	p.until("the path is marked", `document.querySelector('#tl-1-1.tl-critical') && !document.querySelector('#tl-1-4.tl-critical')`)
	p.eval(`document.querySelector('#tl-scroll').focus()`)
	p.press("j", "j")
	p.until("j goes down", `document.activeElement.closest('.tl-row')?.id === 'tl-1-2'`)
	p.shows("#tl-info", "running")
	p.press("k")
	p.shows("#tl-info", "done")
	p.press("+")
	p.until("it is stretched", `(e => e.scrollWidth > e.clientWidth + 50)(document.querySelector('#tl-scroll'))`)
	p.press("0")
	p.until("and whole again", `(e => e.scrollWidth <= e.clientWidth + 1)(document.querySelector('#tl-scroll'))`)
	title := "New"
	if _, err := s.engine.AddNode(context.Background(), engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: &title}}); err != nil {
		t.Fatal(err)
	}
	p.shows("#tl-1-5", "New")
	p.press(keyEnter)
	p.until("Enter opens the step", `location.pathname + location.search === '/plans/1/nodes/1?view=timeline'`)
	p.has("[data-testid=drawer]")
	p.until("its row is marked", `document.querySelector('#tl-1-1').getAttribute('aria-current') === 'true'`)
}

func inboxAnswers(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.richPlan()
	p := b.tab(t, s.url)
	p.open("/inbox")
	p.shows("#inbox-none", "Nothing waits for you")
	p.until("no count", `!document.title.startsWith('(')`)
	askedToTell(p)
	p.open("/inbox")
	s.start(id, plan.Builtin)
	s.settled(id)
	p.shows("[data-testid=inbox-0]", "Ask before the cache is cleared")
	p.shows("[data-testid=inbox-3]", "Try it with the customer's file")
	p.shows("[data-testid=inbox-6]", "Fail fast on malformed input")
	p.until("the title counts them", `document.title === '(3) Waiting for you · Clearbox'`)
	p.until("the icon is marked", `document.querySelector('link[rel=icon]').href.includes('favicon-marked')`)
	other := p.another()
	other.open("/plans/1?view=list")
	p.eval(`(Object.defineProperty(document, 'hidden', {value: true, configurable: true}), document.dispatchEvent(new Event('visibilitychange')))`)
	if err := s.engine.MarkDone(context.Background(), plan.Ref{Plan: id, Node: 6}, nil); err != nil {
		t.Fatal(err)
	}
	p.until("a tab that nobody sees counts too", `document.title === '(2) Waiting for you · Clearbox'`)
	p.until("one leads", `document.documentElement.dataset.leads === ''`)
	if other.eval(`document.documentElement.dataset.leads ?? 'no'`) != "no" {
		t.Error("two tabs lead")
	}
	p.eval(`(delete document.hidden, document.dispatchEvent(new Event('visibilitychange')))`)
	p.click("[data-testid=inbox-0] [value=allow]")
	p.shows("[data-testid=notice]", "Allowed Bash to step 1.7: its agent has the answer.")
	p.until("the question goes", `document.querySelector('[data-testid=inbox-0]').hidden`)
	p.click("[data-testid=inbox-3] a")
	p.shows("[data-testid=drawer]", "Try it with the customer's file")
}

func tableFilters(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.richPlan()
	s.start(id, plan.Builtin)
	s.settled(id)
	p := b.tab(t, s.url)
	p.open("/plans/1?view=list")
	rows := `[...document.querySelectorAll('.step-row')].filter(r => r.checkVisibility()).length`
	p.until("all", rows+` === 12`)
	p.click(".filter:has([value=failed]) span")
	p.until("the failed one", rows+` === 1`)
	p.until("the address says it", `location.search === '?view=list&show=failed'`)
	p.click("#row-1-6 a")
	p.until("it stays with a step open", `location.pathname + location.search === '/plans/1/nodes/6?view=list&show=failed'`)
	p.open("/plans/1?view=list&show=failed") // from nothing
	p.until("the same", rows+` === 1`)
	if err := s.engine.MarkDone(context.Background(), plan.Ref{Plan: id, Node: 6}, nil); err != nil {
		t.Fatal(err)
	}
	p.until("it follows", rows+` === 0`)
	p.shows("#show-failed", "0")
}

func sessionIsSearched(t *testing.T, b *browser) {
	many := func(_ context.Context, _ plugin.Task, h plugin.Host) (plugin.Result, error) {
		h.Emit(plugin.Text("the needle", ""))
		for i := range 420 {
			h.Emit(plugin.Text(fmt.Sprintf("entry %d", i), ""))
		}
		h.Emit(plugin.ToolUse("x", "Read", []byte(`{"path":"hay"}`), ""))
		h.Emit(plugin.ToolResult("x", "a needle in a result", true, ""))
		return plugin.Result{Text: "done"}, nil
	}
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": many}})
	r.done(r.plan("a"))
	p := b.tab(t, r.url)
	p.open("/plans/1/nodes/1?tab=session")
	p.has("[data-session-find]")
	shown := `[...document.querySelectorAll('#log .segment > .entry')].filter(e => e.checkVisibility()).length`
	p.fill("[data-session-find]", "needle")
	p.until("what is there is searched", shown+` === 1 && document.querySelector('[data-session-count]').innerText === '1+'`)
	p.press(keyEnter)
	p.until("Enter looks in all of it", shown+` === 2 && document.querySelector('[data-session-count]').innerText === '2'`)
	p.press(keyEscape)
	p.until("Esc ends it", shown+` > 400`)
	p.eval(`(s => { s.value = 'bad'; s.dispatchEvent(new Event('change', {bubbles: true})); })(document.querySelector('[data-session-kind]'))`)
	p.until("errors alone", shown+` === 1`)
}

// cardsInPlace looks at the drawing without comparing pictures: nothing lies over
// anything else, and no text leaves its card.
func cardsInPlace(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.richPlan()
	s.start(id, plan.Builtin)
	s.settled(id)
	large := s.layered("Large", 300, 12)
	p := b.tab(t, s.url)
	p.open("/plans")
	for _, path := range []string{"/plans/1?view=graph", "/plans/2?view=graph", fmt.Sprintf("/plans/%d?view=graph", large)} {
		p.visit(path)
		p.has(".card")
		if bad, _ := p.eval(overlapping).([]any); len(bad) > 0 {
			t.Errorf("%s: %v", path, bad)
		}
	}
	p.size(375, 740)
	for _, path := range []string{"/plans/1?view=list", "/plans/1?view=timeline", "/inbox", "/settings", "/plans", "/plans/1/nodes/6?tab=session"} {
		p.visit(path)
		p.fits(path)
		if bad, _ := p.eval(offScreen).([]any); len(bad) > 0 {
			t.Errorf("%s: off the screen: %v", path, bad)
		}
	}
}

// overlapping lists the cards that lie over another, and those whose text leaves
// them.
const overlapping = `(() => {
	const boxes = [...document.querySelectorAll('.card')].map(c => ({id: c.id, r: c.querySelector('.box').getBoundingClientRect(), c}));
	const bad = [];
	boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
		if (a.r.left < b.r.right - 1 && b.r.left < a.r.right - 1 && a.r.top < b.r.bottom - 1 && b.r.top < a.r.bottom - 1) bad.push(a.id + ' over ' + b.id);
	}));
	for (const {id, r, c} of boxes) for (const e of c.querySelectorAll('.card-title, .card-line, .ref')) {
		const t = e.getBoundingClientRect();
		if (t.width && (t.left < r.left - 1 || t.right > r.right + 1 || t.top < r.top - 1 || t.bottom > r.bottom + 1)) bad.push(id + ' text ' + e.className);
	}
	return bad;
})()`

// offScreen lists controls that cannot be reached: beside the window, and in
// nothing that scrolls.
const offScreen = `[...document.querySelectorAll('#page a, #page button, #page input, #page select')].filter(e => {
	if (!e.checkVisibility({visibilityProperty: true}) || e.closest('.hidden-text')) return false;
	for (let p = e.parentElement; p; p = p.parentElement) if (['auto', 'scroll'].includes(getComputedStyle(p).overflowX)) return false;
	const r = e.getBoundingClientRect();
	return r.width > 0 && getComputedStyle(e).opacity !== '0' && (r.right > innerWidth + 1 || r.left < -1);
}).map(e => e.outerHTML.slice(0, 120))`
