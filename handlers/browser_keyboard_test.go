package handlers

import (
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// everyControl goes through every kind of page with Tab alone: it comes to each
// control, shows where it is, and the keys that are the same everywhere work.
func everyControl(t *testing.T, b *browser) {
	s := newStage(t)
	id := s.richPlan()
	s.start(id, plan.Builtin)
	s.settled(id)
	p := b.tab(t, s.url)
	p.open("/connect")
	p.eval(`(() => {
		window.reached = new Set();
		window.unseen = [];
		document.addEventListener('focusin', ({target: e}) => {
			reached.add(e);
			const {outlineStyle, boxShadow} = getComputedStyle(e);
			if (outlineStyle === 'none' && boxShadow === 'none' && !e.matches('#find, [data-session-find], .card, #page')) unseen.push(e.outerHTML.slice(0, 100));
		});
	})()`)
	for _, path := range []string{"/plans", "/inbox", "/settings", "/agents", "/agents/2", "/plans/new?by=hand", "/plans/1?view=list", "/plans/1?view=timeline",
		"/plans/1/nodes/6/full?tab=session", "/plans/1/nodes/9/full?tab=edit"} {
		p.visit(path)
		p.until("the page has the focus", `document.activeElement?.id === 'page'`)
		for range 40 {
			p.press("\t", "\t", "\t", "\t", "\t")
			if p.eval(`!document.activeElement?.closest('#page')`) == true {
				break
			}
		}
		if left, _ := p.eval(unreached).([]any); len(left) > 0 {
			t.Errorf("on %s Tab never came to %v", path, left)
		}
		if bare, _ := p.eval(`unseen.splice(0)`).([]any); len(bare) > 0 {
			t.Errorf("on %s these show no focus: %v", path, bare)
		}
		p.eval(`document.activeElement.blur()`)
		p.press("?")
		p.has("#keys[open]")
		p.press(keyEscape)
		p.lacks("#keys[open]")
	}
}

// unreached lists the controls of a page that have not had the focus. Of radio
// buttons only one of each group can be come to.
const unreached = `[...document.querySelectorAll('#page :is(a[href], button, input, select, textarea, summary, [tabindex="0"])')].filter(e =>
	e.checkVisibility({visibilityProperty: true}) && !e.disabled && e.tabIndex >= 0 && !['radio', 'hidden'].includes(e.type) && !e.closest('svg') && !reached.has(e)
).map(e => e.outerHTML.slice(0, 120))`
