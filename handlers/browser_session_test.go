package handlers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

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

func longTranscript(t *testing.T, b *browser) {
	many := func(_ context.Context, _ plugin.Task, h plugin.Host) (plugin.Result, error) {
		for i := range 500 {
			h.Emit(plugin.Text(fmt.Sprintf("entry %d", i), ""))
		}
		h.Emit(plugin.ToolUse("x", "Read", []byte(`{"path":"a"}`), ""))
		for i := range 198 {
			h.Emit(plugin.Text(fmt.Sprintf("late %d", i), ""))
		}
		h.Emit(plugin.ToolResult("x", "result of the call far above", false, ""))
		return plugin.Result{Text: "done"}, nil
	}
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": many}})
	id := r.plan("a")
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
	p := b.tab(t, r.url)
	p.open("/plans/1/nodes/1?tab=session")
	p.shows("[data-testid=log]", "result of the call far above")
	if n := p.eval(`document.querySelectorAll('#log .segment > .entry').length`); n.(float64) > 200 {
		t.Errorf("%v entries were sent at first", n)
	}
	for range 4 {
		p.eval(`document.querySelector('#log-scroll').scrollTo(0, 0)`)
		p.until("more came, or there is none", `document.querySelectorAll('#log .e-text').length >= 698 || document.querySelector('#log-scroll').scrollTop > 0`)
	}
	p.until("all is there", `document.querySelectorAll('#log .e-text').length === 698 && !document.querySelector('#older')`)
	p.until("in order", `(n => n.every((x, i) => !i || n[i-1] < x))([...document.querySelectorAll('#log [id^="ev-"]')].map(e => +e.id.slice(3)))`)
	p.until("the result went to its call", `document.querySelector('[data-testid=tool] .e-result')`)
	if n := p.eval(`document.querySelectorAll('[data-testid=run-mark]').length`); n != 1.0 {
		t.Errorf("%v marks of one run", n)
	}
}

// severalRuns has more to tell than one page of a transcript holds.
func severalRuns(t *testing.T, b *browser) {
	agent := func(_ context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		for i := range 150 {
			h.Emit(plugin.Text(fmt.Sprintf("run %d line %d", task.Attempt, i), ""))
		}
		return plugin.Result{Text: "done"}, nil
	}
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": agent}})
	id := r.plan("a")
	r.done(id)
	for n := 2; n <= 3; n++ {
		if err := r.engine.ReworkNode(context.Background(), plan.Ref{Plan: id, Node: 1}, fmt.Sprint("again ", n)); err != nil {
			t.Fatal(err)
		}
		enginetest.Until(t, r.engine, id, "done again", func(s *plan.Snapshot) bool {
			return s.Status(id) == plan.StatusDone && s.Node(plan.Ref{Plan: id, Node: 1}).Attempts == n
		})
	}
	p := b.tab(t, r.url)
	p.open("/plans/1/nodes/1?tab=session")
	p.shows("[data-testid=runs]", "Run 3")
	p.until("the first run is not there yet", `!document.querySelector('#run-1') && document.querySelector('#run-3')`)
	p.click("[data-run='1']")
	p.until("it was read, and is where one goes", `document.activeElement?.id === 'run-head-1'`)
	p.until("each line is there once, in order, in the part of its run", `(texts => texts.length === 450 && texts.every((x, i) =>
		x.innerText.trim() === 'run ' + (1 + Math.floor(i / 150)) + ' line ' + i % 150 && x.closest('.run').id === 'run-' + (1 + Math.floor(i / 150))))(
		[...document.querySelectorAll('#log .e-text')])`)
	if n := p.eval(`document.querySelectorAll('[data-testid=run-mark]').length`); n != 3.0 {
		t.Errorf("%v heads of three runs", n)
	}
	p.shows("#run-head-2", "rework")
}

// tenThousand looks at a session of ten thousand entries: it opens with the
// newest, goes on where it is read, and does not keep them all in the page.
func tenThousand(t *testing.T, b *browser) {
	say := make(chan plugin.Event)
	many := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		for i := range 10_000 {
			h.Emit(plugin.Text(fmt.Sprintf("entry %d", i), ""))
		}
		return speaker(say)(ctx, task, h)
	}
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": many}})
	id := r.plan("a")
	r.start(id, plan.Builtin)
	first := plan.Ref{Plan: id, Node: 1}
	enginetest.Until(t, r.engine, id, "all was said", func(*plan.Snapshot) bool {
		list, err := r.engine.EventsBefore(context.Background(), first, 0, 1)
		return err == nil && len(list) == 1 && strings.Contains(string(list[0].Data), "session started")
	})
	p := b.tab(t, r.url)
	p.open("/plans/1/nodes/1?tab=session")
	p.shows("[data-testid=log]", "entry 9999")
	p.until("the newest alone", `document.querySelectorAll('#log .e-text').length <= 200`)
	p.eval(`document.querySelector('#log-scroll').scrollTo(0, 0)`)
	p.until("more came", `document.querySelectorAll('#log .e-text').length > 300`)
	p.click("[data-newest]")
	for i := range 1600 {
		select {
		case say <- plugin.Text(fmt.Sprintf("late %d", i), ""):
		case <-p.ctx.Done():
			t.Fatal(p.ctx.Err())
		}
	}
	p.shows("[data-testid=log]", "late 1599")
	p.until("not all are kept in the page", `document.querySelectorAll('#log .entry').length <= 1500`)
	close(say)
	p.shows("[data-testid=run-end]", "Finished")
}
