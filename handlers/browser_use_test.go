package handlers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

func linksAndHistory(t *testing.T, b *browser) {
	s := newStage(t)
	s.richPlan()
	p := b.tab(t, s.url)
	p.open("/")
	p.until("the newest plan", `location.pathname === '/plans/1'`)
	p.eval(unloaded)
	p.click("#c-1-3")
	p.until("a step has an address", `location.pathname === '/plans/1/nodes/3'`)
	p.click("[data-key=s]")
	p.until("a tab too", `location.search === '?tab=session'`)
	p.click("#c-1-1")
	p.until("the tab stays", `location.pathname + location.search === '/plans/1/nodes/1?tab=session'`)
	p.click("#sidebar a[href='/agents']")
	p.shows(".page-title", "Agents")
	for _, want := range []string{"/plans/1/nodes/1?tab=session", "/plans/1/nodes/3?tab=session", "/plans/1/nodes/3", "/plans/1"} {
		p.eval(`history.back()`)
		p.until("back to "+want, `location.pathname + location.search === `+quote(want))
		p.until("and it shows", drawerIs(want))
	}
	p.eval(`history.forward()`)
	p.until("forward", `location.pathname === '/plans/1/nodes/3'`)
	p.until("and it shows", drawerIs("/plans/1/nodes/3"))
	if p.eval(`window.stayed`) != true {
		t.Error("a page was loaded anew")
	}
	p.open("/plans/1/nodes/3") // the same address, from nothing
	p.shows("[data-testid=drawer]", "Parse records")
	p.until("the title says it", `document.title.startsWith('1.3 Parse records')`)
	p.click("[aria-label='Full screen']")
	p.shows("[data-testid=node-title]", "Parse records")
	p.click("[data-key=ArrowRight]")
	p.shows("[data-testid=node-title]", "Errors with line and column")
	p.open("/plans/1")
	p.do("double click", doubleClick("#c-1-5"))
	p.until("a subplan opens", `location.pathname === '/plans/2'`)
	p.shows(".crumbs", "Move the importer")
	p.eval(`history.back()`)
	p.until("and back", `location.pathname.startsWith('/plans/1')`)
	p.ignore("status of 404")
	p.open("/plans/1/nodes/99")
	p.shows("#page", "plan 1 has no step 99")
	p.click("#page a[href='/plans']")
	p.shows(".page-title", "Plans")
}

// drawerIs is true when the drawer shows what an address says.
func drawerIs(path string) string {
	at, query, _ := strings.Cut(path, "?")
	_, node, open := strings.Cut(at, "/nodes/")
	if !open {
		return `document.querySelector('#drawer').hidden`
	}
	tab := "task"
	if strings.Contains(query, "session") {
		tab = "session"
	}
	return fmt.Sprintf(`document.querySelector('#drawer').dataset.node === '1.%s' && document.querySelector('#drawer').dataset.tab === %q`, node, tab)
}

func oldLinks(t *testing.T, b *browser) {
	s := newStage(t)
	s.plan("a b:a")
	p := b.tab(t, s.url)
	for from, to := range map[string]string{"/#/plan/1/node/2": "/plans/1/nodes/2", "/#/plan/1": "/plans/1", "/#/agents/2": "/agents/2", "/#/agents": "/agents"} {
		p.open("/connect") // so that the next address is another page
		p.open(from)
		p.until(from+" leads to "+to, `location.pathname === `+quote(to))
	}
}

func keyboardTour(t *testing.T, b *browser) {
	s := newStage(t)
	s.richPlan()
	p := b.tab(t, s.url)
	p.open("/plans/1")
	p.has("#c-1-1")
	focused := func(card string) {
		t.Helper()
		p.until(card+" has the focus", `document.activeElement?.id === 'c-`+card+`'`)
	}
	p.press(keyDown)
	focused("1-1")
	p.press(keyDown)
	p.until("a step below", `document.activeElement?.id.startsWith('c-1-') && document.activeElement.id !== 'c-1-1'`)
	p.press(keyUp)
	focused("1-1")
	p.press(keyDown)
	row := p.eval(`document.activeElement.id`)
	p.press(keyRight)
	p.until("its neighbour", `document.activeElement?.id !== `+quote(row.(string)))
	p.press(keyLeft)
	p.until("and back", `document.activeElement?.id === `+quote(row.(string)))
	p.press(keyUp, keyEnter)
	p.has("[data-testid=drawer]")
	p.until("it is the step", `location.pathname === '/plans/1/nodes/1'`)
	p.press("s")
	p.until("the session", `location.search === '?tab=session'`)
	p.press("t")
	p.until("the task", `location.search === ''`)
	p.press(keyEscape)
	p.lacks("[data-testid=drawer]")
	focused("1-1")
	p.press("/")
	p.until("the search has the focus", `document.activeElement?.id === 'find'`)
	p.fill("#find", "command line")
	p.until("one was found", `document.querySelectorAll('.card[data-found]').length === 1`)
	p.press(keyEnter)
	focused("1-5")
	p.press(keyEnter)
	p.until("Enter opens a subplan", `location.pathname === '/plans/2'`)
	p.press("?")
	p.shows("#keys", "Keyboard")
	p.press(keyEscape)
	p.lacks("#keys[open]")
	p.press("l")
	p.until("the list", `location.search === '?view=list'`)
	p.press("j", "j")
	p.until("j goes down the list", `document.activeElement?.closest('tr')?.id === 'row-2-2'`)
	p.press("k")
	p.until("k goes up", `document.activeElement?.closest('tr')?.id === 'row-2-1'`)
	p.press("g")
	p.until("the graph", `location.search === '?view=graph'`)
	// Everything that can be done with a mouse can be reached with Tab, and shows
	// where the focus is.
	p.open("/plans/1/nodes/1")
	p.has("[data-testid=drawer]")
	p.eval(`document.activeElement.blur()`)
	seen := map[string]bool{}
	for range 60 {
		p.press("\t")
		name, _ := p.eval(`(e => e === document.body ? '' : (e.getAttribute('aria-label') || e.innerText || e.id).trim().split('\n')[0])(document.activeElement)`).(string)
		seen[name] = true
		if outlined := p.eval(`(e => e === document.body || getComputedStyle(e).outlineStyle !== 'none' || e.matches('#find, .card'))(document.activeElement)`); outlined != true {
			t.Errorf("%q shows no focus", name)
		}
	}
	for _, want := range []string{"Skip to the content", "Agents", "Plans", "Graph", "Start", "Ways to start", "More for this plan", "Zoom in", "Full screen", "Close", "Session"} {
		if !seen[want] {
			t.Errorf("Tab never came to %q; it came to %v", want, seen)
		}
	}
}

func findPlans(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.plan("a")
	title := "Fix the parser"
	if err := s.engine.UpdatePlan(context.Background(), engine.UpdatePlanIn{PlanID: id, Title: &title}); err != nil {
		t.Fatal(err)
	}
	s.plan("b")
	p := b.tab(t, s.url)
	p.open("/plans")
	p.press("/")
	p.fill("#find", "parser")
	p.until("one is left", `document.querySelectorAll('[data-testid=plan-row]').length === 1`)
	p.until("the address says it", `location.search === '?q=parser'`)
	p.until("one can type on", `document.activeElement.id === 'find' && document.activeElement.value === 'parser'`)
	p.fill("#find", " nothing")
	p.shows("#page", "Nothing found")
	p.open("/plans")
	s.plan("c")
	p.until("a new plan comes by itself", `document.querySelector('#plan-rows').firstElementChild.id === 'plan-3'`)
	p.click(".filter:nth-of-type(2) span")
	p.until("a filter", `location.search.startsWith('?state=')`)
}

func serverRestart(t *testing.T, b *browser) {
	c, address := newCutter(t)
	o := enginetest.Options(t, nil)
	serve := func() (r *rig, stop func()) {
		r = &rig{t: t, log: &logBuffer{}}
		var stopEngine func()
		r.engine, stopEngine = enginetest.Run(t, o)
		r.serve(rigOptions{http: Options{AllowedHosts: []string{address}}}, testLog(r.log))
		c.lead(r.url)
		return r, func() {
			if err := r.server.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			stopEngine()
		}
	}
	first, stop := serve()
	id := first.plan("a b:a")
	p := b.tab(t, "http://"+address)
	p.ignore("net::ERR_")
	p.open("/plans/1/nodes/2?tab=session")
	p.eval(unloaded)
	c.cut(true)
	stop()
	p.has("#lost")
	second, stop := serve()
	defer stop()
	second.start(id, plan.Builtin)
	enginetest.Until(t, second.engine, id, "done", enginetest.Status(plan.StatusDone))
	c.cut(false)
	p.lacks("#lost")
	p.until("it shows what the new server did", cardState("1-2", "done"))
	p.shows("[data-testid=log]", "Run 1")
	if p.eval(`window.stayed`) != true {
		t.Error("the page was loaded again")
	}
}

func typingSurvives(t *testing.T, b *browser) {
	s := newStage(t)
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Steps", WorkingDirectory: t.TempDir()}, Nodes: []engine.NodeSpec{
		{Key: "u", Title: "Look at it", Kind: "user"}, {Key: "a", Title: "Hold on"}}}
	if _, err := s.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	s.start(1, plan.Builtin)
	p := b.tab(t, s.url)
	p.open("/plans/1/nodes/1")
	p.fill("#mark-result", "half a sen")
	p.click("[aria-label='More for this plan']")
	p.click("[data-dialog=settings]")
	p.fill("#set-tests", "go te")
	name := "changed"
	for i := range 3 {
		name += fmt.Sprint(i)
		if err := s.engine.UpdatePlan(context.Background(), engine.UpdatePlanIn{PlanID: 1, Title: &name}); err != nil {
			t.Fatal(err)
		}
		if err := s.engine.UpdateNode(context.Background(), engine.UpdateNodeIn{PlanID: 1, NodeID: 1,
			NodeFields: engine.NodeFields{AcceptanceCriteria: &[]string{name}}}); err != nil {
			t.Fatal(err)
		}
	}
	p.shows("#bar", "changed012")
	p.until("the drawer too", `document.querySelector('[data-testid=task]').textContent.includes('changed012')`)
	for selector, want := range map[string]string{"#mark-result": "half a sen", "#set-tests": "go te"} {
		if got := p.eval(`document.querySelector(` + quote(selector) + `).value`); got != want {
			t.Errorf("%s holds %q, want %q", selector, got, want)
		}
	}
	p.until("the dialog is open and has the focus", `document.querySelector('#settings').open && document.activeElement.id === 'set-tests'`)
}

func narrowScreens(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.richPlan()
	s.start(id, plan.Builtin)
	s.settled(id)
	p := b.tab(t, s.url)
	p.size(375, 740)
	p.open("/plans")
	p.fits("/plans")
	for _, path := range []string{"/agents", "/agents/2", "/agents/new", "/connect", "/plans/1", "/plans/1?view=graph", "/plans/1/nodes/7", "/plans/1/nodes/6?tab=session", "/plans/1/nodes/6/full"} {
		p.visit(path)
		p.fits(path)
	}
	p.open("/plans/1")
	p.until("the table is usual", `location.search === '?view=list'`)
	p.click("[data-nav=open]")
	p.has("#sidebar .side-plan")
	p.click("#sidebar a[href='/agents']")
	p.shows(".page-title", "Agents")
	p.lacks("#sidebar .side-plan")
	p.open("/plans/1")
	p.click("#row-1-10 a")
	p.until("the drawer is the screen", `document.querySelector('#drawer').getBoundingClientRect().width === innerWidth`)
	p.click("[data-testid=drawer-close]")
	p.lacks("[data-testid=drawer]")
	p.size(1200, 800)
	p.until("wide again", `document.querySelector('#sidebar .side-plan').checkVisibility()`)
}

func twiceTheSize(t *testing.T, b *browser) {
	s := newStage(t)
	s.richPlan()
	p := b.tab(t, s.url)
	p.size(720, 450) // what 1440 by 900 is when everything is twice as large
	p.open("/plans/1")
	p.fits("/plans/1")
	for _, path := range []string{"/plans/1?view=timeline", "/plans/1/nodes/1", "/plans", "/inbox", "/settings", "/agents", "/agents/2", "/connect"} {
		p.visit(path)
		p.fits(path)
	}
}

func twoThousand(t *testing.T, b *browser) {
	s := newStage(t)
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Large", WorkingDirectory: t.TempDir()}}
	for i := range 2000 {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprintf("Step %d of a large plan with a title", i)})
		if i >= 20 {
			in.Edges = append(in.Edges, []string{fmt.Sprint(i - 20), fmt.Sprint(i)})
		}
	}
	in.Nodes[0].Kind = "user"
	if _, err := s.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	if err := s.engine.StartPlan(context.Background(), 1, plan.External); err != nil {
		t.Fatal(err)
	}
	p := b.tab(t, s.url)
	p.open("/plans/1")
	p.until("all steps are drawn", `document.querySelectorAll('.card').length === 2000`)
	p.click("[data-zoom=fit]")
	p.until("details drop out", `document.querySelector('#canvas').classList.contains('far')`)
	if err := s.engine.MarkDone(context.Background(), plan.Ref{Plan: 1, Node: 1}, nil); err != nil {
		t.Fatal(err)
	}
	p.until("a change is seen", cardState("1-1", "done"))
	p.until("what follows is ready", cardState("1-21", "ready"))
}

func startPage(t *testing.T, b *browser) {
	s := newStage(t)
	p := b.tab(t, s.url)
	p.open("/")
	p.shows("#code-claude", "claude mcp add --transport http --scope user clearbox "+s.url+"/mcp")
	p.click("[data-testid=demo]")
	p.until("the demo opens", `location.pathname === '/plans/1'`)
	p.shows("[data-testid=plan-state]", "Running")
	p.shows("[data-testid=waiting]", "Try it in a browser")
	p.click("[data-testid=waiting] a")
	p.click("[data-testid=mark-done]")
	p.shows("[data-testid=plan-state]", "Done")
}

func colours(t *testing.T, b *browser) {
	s := newStage(t)
	s.plan("a")
	p := b.tab(t, s.url)
	p.open("/plans/1")
	ground := func() any { return p.eval(`getComputedStyle(document.body).backgroundColor`) }
	p.dark(false)
	light := ground()
	p.dark(true)
	p.until("dark as the system", `getComputedStyle(document.body).backgroundColor !== `+quote(light.(string)))
	p.click("[data-theme-next]")
	if got := ground(); got != light {
		t.Errorf("the ground is %v after light was chosen, want %v", got, light)
	}
	p.open("/agents")
	if got := ground(); got != light {
		t.Errorf("the choice was forgotten: the ground is %v, want %v", got, light)
	}
}
