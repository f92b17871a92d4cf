package handlers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// agentsPage goes through all that people do with agents, in one browser.
func agentsPage(t *testing.T, b *browser) {
	r := agentStage(t)
	p := b.tab(t, r.url)
	p.ignore("status of 400")
	p.open("/agents")
	p.shows("#harnesses", "harness-old")
	p.click("#agent-2 [data-testid=test-agent]")
	p.shows("#outcome-2", "ready")
	other := r.agentNamed("other", "mock")
	p.shows("#agents", "other")
	p.shows("#outcome-2", "ready") // updates leave it alone
	if _, err := r.engine.UpdateProfile(context.Background(), other, engine.ProfileFields{MaxParallel: ptr(3)}); err != nil {
		t.Fatal(err)
	}
	p.shows("#agent-3", "3 runs at once")
	p.click("[data-testid=rescan]")
	p.shows("#harnesses", "harness-old")
	madeInTheBrowser(p)
	editedInTheBrowser(p)
	deletedInTheBrowser(t, r, p)
	formByKeyboard(t, p)
	p.size(375, 740)
	for _, path := range []string{"/agents", "/agents/2", "/agents/new?harness=openai"} {
		p.visit(path)
		p.fits(path)
	}
}

func (r *rig) agentNamed(name, harness string) plan.ProfileID {
	r.t.Helper()
	made, err := r.engine.CreateProfile(context.Background(), engine.ProfileFields{Name: &name, Harness: &harness})
	if err != nil {
		r.t.Fatal(err)
	}
	return made.ID
}

// madeInTheBrowser makes an agent, with a few mistakes on the way.
func madeInTheBrowser(p *tab) {
	p.t.Helper()
	p.click("[data-testid=new-agent]")
	p.has("#f-params-script")
	p.fill("#f-name", "cheap")
	p.fill("#f-api_key", "sk-wrong")
	p.choose("#f-harness", "openai")
	p.has("#f-params-temperature")
	p.until("what was typed is there", `document.querySelector('#f-name').value === 'cheap' && document.querySelector('#f-api_key').value === 'sk-wrong'`)
	p.fill("#f-params-temperature", "7")
	p.fill("#f-base_url", "localhost:8080")
	p.click("[data-testid=save-agent]")
	p.shows("#f-params-temperature-error", "at most 2")
	p.shows("#f-base_url-error", "must begin with http://")
	p.click("[data-testid=agent-faults] a[href='#f-params-temperature']")
	p.until("the field has the focus", `document.activeElement.id === 'f-params-temperature'`)
	if top := p.eval(`document.scrollingElement.scrollTop + document.body.scrollTop`); top != 0.0 {
		p.t.Errorf("the whole window was scrolled by %v", top)
	}
	p.set("#f-params-temperature", "0.5")
	p.click("[data-testid=save-agent]")
	p.lacks("#f-params-temperature-error")
	p.shows("[data-testid=agent-faults]", "Endpoint")
	p.set("#f-base_url", "http://127.0.0.1:8080/v1")
	p.click("[data-testid=try-agent]")
	p.shows("#agent-outcome", "the endpoint refused the key (401)")
	p.lacks("#f-base_url-error")
	p.set("#f-api_key", goodKey)
	p.click("[data-testid=try-agent]")
	p.shows("#agent-outcome .good", "ready")
	p.until("models are suggested", `document.querySelectorAll('#agent-models option').length === 2`)
	p.fill("#f-model", "small-1\r") // Enter saves
	p.until("it has a page", `location.pathname === '/agents/4'`)
	p.shows("[data-testid=agent-saved]", "Saved")
	p.shows("[data-testid=key-state]", "A key is stored")
	p.noKey()
}

// editedInTheBrowser changes it, while the card above it follows.
func editedInTheBrowser(p *tab) {
	p.t.Helper()
	p.eval(unloaded)
	p.set("#f-description", "Quick and cheap.")
	p.click("#part-advanced > summary")
	p.choose("#f-tools-preset", "readonly")
	p.click("[name=api_key_clear]")
	p.click(".form-foot [data-testid=save-agent]")
	p.shows("#agent-outcome", "Saved")
	p.shows("[data-testid=key-state]", "No key is stored")
	p.shows("#agent-4", "Quick and cheap.")
	p.shows("#agent-4", "narrowed by its own tools")
	p.set("#f-api_key", goodKey)
	p.click(".form-foot [data-testid=save-agent]")
	p.shows("[data-testid=key-state]", "A key is stored")
	p.until("the field of the key is empty", `document.querySelector('#f-api_key').value === ''`)
	p.noKey()
	if p.eval(`window.stayed`) != true {
		p.t.Error("the page was loaded anew")
	}
	p.click("#agent-4 a[href='/agents/new?from=4']")
	p.until("a copy", `document.querySelector('#f-name').value === 'cheap copy' && document.querySelector('#f-params-temperature').value === '0.5'`)
}

// deletedInTheBrowser deletes it, after being told who inherits what.
func deletedInTheBrowser(t *testing.T, r *rig, p *tab) {
	t.Helper()
	id := r.plan("a")
	if a := r.do("PUT", fmt.Sprintf("/api/plans/%d/agent", id), `{"agent":"cheap"}`); a.status != 200 {
		t.Fatal(a)
	}
	p.open("/agents/4")
	p.click("[data-testid=delete-agent]")
	p.shows("[data-testid=agent-uses]", "has its steps run on mock")
	p.click("[data-testid=confirm-delete-agent]")
	p.until("the list of agents", `location.pathname === '/agents'`)
	p.lacks("#agent-4")
	other := p.another()
	other.open("/agents/3")
	if err := r.engine.DeleteProfile(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	other.shows(".gone-note", "was deleted")
}

// formByKeyboard reaches every control of the form with Tab alone.
func formByKeyboard(t *testing.T, p *tab) {
	t.Helper()
	p.front()
	p.open("/agents/new?harness=openai")
	p.has("#f-name")
	p.eval(`document.querySelector('#f-name').focus()`)
	seen := map[string]bool{}
	for range 45 {
		id, _ := p.eval(`document.activeElement.id || document.activeElement.dataset.testid || ''`).(string)
		seen[id] = true
		if id == "save-agent" {
			break
		}
		p.press("\t")
	}
	for _, want := range []string{"f-harness", "f-model", "f-api_key", "f-capability", "f-max_parallel", "f-params-temperature", "f-params-extra_body", "save-agent"} {
		if !seen[want] {
			t.Errorf("Tab never came to %s: %v", want, seen)
		}
	}
}

// choose picks an option, as a person's choice.
func (p *tab) choose(selector, value string) {
	p.t.Helper()
	p.has(selector)
	p.eval(`(e => { e.value = ` + quote(value) + `; e.dispatchEvent(new Event('change', { bubbles: true })); })(document.querySelector(` + quote(selector) + `))`)
}

// set puts text in the place of what a field holds.
func (p *tab) set(selector, text string) {
	p.t.Helper()
	p.has(selector)
	p.eval(`document.querySelector(` + quote(selector) + `).value = ''`)
	p.do("fill in "+selector, chromedp.SendKeys(chromedp.CSS(selector), text))
}

// noKey fails when a key is in the page.
func (p *tab) noKey() {
	p.t.Helper()
	if all, _ := p.eval(`document.documentElement.outerHTML + [...document.querySelectorAll('input')].map(e => e.value)`).(string); strings.Contains(all, goodKey) {
		p.t.Error("the key is in the page")
	}
}
