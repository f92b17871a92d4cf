package handlers

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
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
		{"links, back and forward", linksAndHistory},
		{"links of older versions", oldLinks},
		{"keyboard only", keyboardTour},
		{"plans are found", findPlans},
		{"long transcripts", longTranscript},
		{"half-typed text survives updates", typingSurvives},
		{"narrow screens", narrowScreens},
		{"twice the size", twiceTheSize},
		{"two thousand steps", twoThousand},
		{"the start page runs the demo", startPage},
		{"agents", agentsPage},
		{"colours", colours},
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

func sessionLive(t *testing.T, b *browser) {
	say := make(chan plugin.Event)
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": speaker(say)}})
	id := r.plan("a")
	p := b.tab(t, r.url)
	p.open("/plans/1/nodes/1?tab=session")
	p.shows("[data-testid=drawer]", "No session yet")
	r.start(id, plan.Builtin)
	p.shows("[data-testid=log]", "Run 1")
	say <- plugin.Text("first **words**", "")
	p.until("text is laid out", `document.querySelector('#log .md strong')?.innerText === 'words'`)
	say <- plugin.ToolUse("x1", "Bash", []byte(`{"description":"d","command":"ls -la"}`), "")
	p.shows("[data-testid=tool]", "ls -la")
	p.click("[data-testid=tool] summary")
	say <- plugin.ToolResult("x1", "total 0", false, "")
	p.until("the result is with its call, which is still open",
		`document.querySelector('[data-testid=tool][open] .e-result')?.innerText.includes('total 0')`)
	for i := range 40 {
		say <- plugin.Text(fmt.Sprintf("line %d", i), "")
	}
	p.shows("[data-testid=log]", "line 39")
	p.until("it follows the end", `(e => e.scrollHeight - e.scrollTop - e.clientHeight < 60)(document.querySelector('#log-scroll'))`)
	p.eval(`document.querySelector('#log-scroll').scrollTo(0, 0)`)
	p.has("[data-newest]")
	say <- plugin.Text("the very last", "")
	p.shows("[data-testid=log]", "the very last")
	if top := p.eval(`document.querySelector('#log-scroll').scrollTop`); top.(float64) > 300 {
		t.Errorf("it scrolled to %v while someone was reading above", top)
	}
	p.click("[data-newest]")
	p.lacks("[data-newest]")
	close(say)
	p.shows("[data-testid=run-end]", "Finished")
	p.shows("[data-testid=node-state]", "Done")
}

// speaker emits what it is given and is done when there is no more.
func speaker(say <-chan plugin.Event) enginetest.Agent {
	return func(ctx context.Context, _ plugin.Task, h plugin.Host) (plugin.Result, error) {
		h.Emit(plugin.System("session started", plugin.SessionInfo{}))
		for {
			select {
			case e, ok := <-say:
				if !ok {
					return plugin.Result{Text: "all said"}, nil
				}
				h.Emit(e)
			case <-ctx.Done():
				return plugin.Result{IsError: true}, nil
			}
		}
	}
}

// cutter is a way to a server that can be cut.
type cutter struct {
	mu    sync.Mutex
	to    string
	down  bool
	conns map[net.Conn]bool
}

// newCutter listens before a server, whose address is given to it later, and
// returns its own.
func newCutter(t testing.TB) (*cutter, string) {
	t.Helper()
	c := &cutter{conns: map[net.Conn]bool{}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.carry(conn) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		c.cut(true)
		all.Wait()
	})
	return c, ln.Addr().String()
}

// cut ends all connections, and lets none through until it is called with false.
func (c *cutter) cut(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
	for conn := range c.conns {
		conn.Close()
	}
}

// lead names the server behind.
func (c *cutter) lead(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = strings.TrimPrefix(url, "http://")
}

func (c *cutter) target() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to
}

func (c *cutter) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		if c.down {
			conn.Close()
		}
		c.conns[conn] = true
	}
	return !c.down
}

func (c *cutter) carry(in net.Conn) {
	defer in.Close()
	if !c.keep(in) {
		return
	}
	out, err := net.Dial("tcp", c.target())
	if err != nil {
		return
	}
	defer out.Close()
	if !c.keep(out) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pipe(out, in) })
	both.Go(func() { pipe(in, out) })
	both.Wait()
}

// pipe carries bytes one way and ends both ways when that ends.
func pipe(to, from net.Conn) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if _, werr := to.Write(b[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			to.Close()
			from.Close()
			return
		}
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
	p.until("in order", `(n => n.every((x, i) => !i || n[i-1] < x))([...document.querySelectorAll('#log > [id^="ev-"]')].map(e => +e.id.slice(3)))`)
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
	for _, p := range tabs {
		p.open("/plans/1")
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

// hostile are texts that must be shown and never obeyed.
var hostile = []string{
	`<img src=x onerror="window.owned=1"><script>window.owned=2</script>`,
	"\u202eright to left\u202c \u2067nested\u2069 \u200f",
	"👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0323 Z\u0351\u036b\u0343\u036a\u0302",
	"测试步骤：实现解析器并编写测试用例以及文档说明和示例代码直到全部通过为止",
	strings.Repeat("Donaudampfschifffahrtsgesellschaft", 9)[:300],
	`"><svg onload=window.owned=3>&lt;b&gt; ' " \ {{7*7}} ${1} javascript:window.owned=4`,
}

func hostileText(t *testing.T, b *browser) {
	agent := func(_ context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
		h.Emit(plugin.System("session started", plugin.SessionInfo{Model: hostile[0]}))
		for i, text := range hostile {
			h.Emit(plugin.Text(text+"\n\n[link](javascript:window.owned=5) ![image](http://127.0.0.1:1/x.png)", ""))
			h.Emit(plugin.Thinking(text, ""))
			id := fmt.Sprint(i, `"><img src=x onerror=window.owned=6>`)
			h.Emit(plugin.ToolUse(id, text, []byte(fmt.Sprintf(`{%q: %q}`, text, text)), ""))
			h.Emit(plugin.ToolResult(id, text, true, ""))
			h.Emit(plugin.Log(text, text))
			h.Emit(plugin.Err(text))
		}
		return plugin.Result{IsError: true, Errors: hostile, Text: hostile[0]}, nil
	}
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": agent}})
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: hostile[0], Description: hostile[0], WorkingDirectory: t.TempDir()}}
	for i, text := range hostile {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: text, Description: text, AcceptanceCriteria: []string{text},
			Files: []string{"dir/" + strings.NewReplacer("/", "", "\\", "").Replace(text)}})
	}
	if _, err := r.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	name := hostile[0]
	harness := "mock"
	if _, err := r.engine.CreateProfile(context.Background(), engine.ProfileFields{Name: &name, Harness: &harness, Description: &hostile[5]}); err != nil {
		t.Fatal(err)
	}
	r.start(1, plan.Builtin)
	enginetest.Until(t, r.engine, 1, "all failed", func(s *plan.Snapshot) bool { return s.Tally(1).Failed == len(hostile) })
	p := b.tab(t, r.url)
	for _, size := range []int64{1440, 375} {
		p.size(size, 800)
		for _, path := range []string{"/plans/1?view=graph", "/plans/1?view=list", "/plans", "/agents"} {
			p.open(path)
			p.fits(fmt.Sprint(path, " at ", size))
		}
		for i := range hostile {
			for _, tab := range []string{"task", "session"} {
				p.open(fmt.Sprintf("/plans/1/nodes/%d?tab=%s&view=graph", i+1, tab))
				if got := p.eval(`document.querySelector('[data-testid=node-title]').textContent`); got != hostile[i] {
					t.Errorf("the title is %q, want %q", got, hostile[i])
				}
				p.fits(fmt.Sprint("step ", i+1, " at ", size))
			}
		}
	}
	if got := p.eval(`window.owned ?? 'no'`); got != "no" {
		t.Errorf("text was obeyed: %v", got)
	}
	if got := p.eval(`document.querySelectorAll('#page img, #page script, #sidebar img').length`); got != 0.0 {
		t.Errorf("%v elements came out of text", got)
	}
}
