package handlers

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// tabsStay changes a step while each of its tabs is open: the tab stays, with all
// that was typed, chosen and opened in it.
func tabsStay(t *testing.T, b *browser) {
	s := newStudio(t)
	id := s.submit("")
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	p := b.tab(t, s.url)
	p.open("/plans/1")
	for i, c := range []struct{ tab, body, leave, left string }{
		{"task", "#node-task", `byId('act-rework').open = true, byId('rework-text').value = 'half'`, `byId('act-rework').open && byId('rework-text').value === 'half'`},
		{"session", "#log", `(s => (s.value = 'bad', s.dispatchEvent(new Event('change', {bubbles: true}))))(document.querySelector('[data-session-kind]'))`, `byId('session').dataset.kind === 'bad' && document.querySelector('[data-session-kind]').value === 'bad'`},
		{"changes", "#node-changes", `document.querySelector('#node-changes details').open ^= true, window.folded = document.querySelector('#node-changes details').open`, `document.querySelector('#node-changes details').open === window.folded`},
		{"review", "#node-review", `document.querySelector('#node-review select').value = 'critic'`, `document.querySelector('#node-review select').value === 'critic'`},
		{"edit", "#node-edit", `byId('edit-description').value = 'half'`, `byId('edit-description').value === 'half'`},
	} {
		p.visit(fmt.Sprintf("/plans/1/nodes/1?tab=%s", c.tab))
		p.has(c.body)
		const byID = `((byId) => (%s))((id) => document.getElementById(id))`
		p.eval(`(window.body = document.querySelector(` + quote(c.body) + `), window.drawer = document.querySelector('#drawer'), window.flashed = 0,
			new MutationObserver(() => { window.flashed += !document.querySelector(` + quote(c.body) + `)?.checkVisibility(); }).observe(window.drawer, {childList: true, subtree: true}), null)`)
		p.eval(fmt.Sprintf(byID, c.leave))
		title := fmt.Sprint("Changed while one looks on ", i)
		if err := s.engine.UpdateNode(context.Background(), engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: engine.NodeFields{Title: &title}}); err != nil {
			t.Fatal(err)
		}
		if c.tab == "review" { // its own part changes too
			if a := s.form("/plans/1/nodes/1/review", url.Values{"agent": {"critic"}}, byHtmx); a.status != 204 {
				t.Fatal(a)
			}
			p.has("[data-testid=reviewing]")
		}
		p.shows("[data-testid=node-title]", title)
		if p.eval(fmt.Sprintf(byID, c.left)) != true {
			t.Errorf("the tab %s is not as it was left", c.tab)
		}
		if got := p.eval(fmt.Sprintf(`document.querySelector('#drawer') === window.drawer && document.querySelector(%q) === window.body && !window.flashed && window.drawer.dataset.tab`, c.body)); got != c.tab {
			t.Errorf("the tab %s was built anew: %v", c.tab, got)
		}
		if on := p.text(".tabs .on"); c.tab != "edit" && on == "" {
			t.Errorf("no tab is marked beside %s", c.tab)
		}
	}
	s.letGo <- struct{}{}
}
