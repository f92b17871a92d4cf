package handlers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

func serverSettings(t *testing.T, b *browser) {
	heard := make(chan string, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing shows in the test
		heard <- string(body)
	}))
	t.Cleanup(receiver.Close)
	s := newStage(t)
	id := s.plan("a")
	s.start(id, plan.Builtin)
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	p := b.tab(t, s.url)
	p.ignore("status of 4")
	p.open("/settings")
	p.click("[data-testid=hook-new]")
	p.fill("#hook-0-url", "http://user@example.com/")
	p.click(".hook-form [data-testid=hook-save]")
	p.shows("#hook-0-url-error", "must not have a user or password in it")
	p.eval(`document.querySelector('#hook-0-url').value = ` + quote(receiver.URL))
	p.fill("#hook-0-secret", "0123456789abcdef0123")
	p.click(".hook-form [value=step_failed]")
	p.click(".hook-form [data-testid=hook-save]")
	p.shows("[data-testid=hook]", receiver.URL)
	p.shows("[data-testid=hook]", "signed")
	if got := p.eval(`document.documentElement.outerHTML.includes('0123456789abcdef0123')`); got != false {
		t.Error("the page shows a secret")
	}
	p.click("[data-testid=hook-test]")
	p.shows("[data-testid=hook-outcome]", "Taken with 200")
	if body := <-heard; body == "" {
		t.Error("the webhook got nothing")
	}
	p.click("[data-testid=hook-edit]")
	p.until("what it tells was kept", `!document.querySelector('#hook-1-url').form.querySelector('[value=step_failed]').checked`)
	p.fill("#keep-gb", "0.000000001")
	p.click("[data-testid=keep-preview]")
	p.shows("[data-testid=excess]", "The history of 1 plan would go")
	p.click("[data-testid=forget]")
	p.click("[data-testid=confirm-forget]")
	p.until("the page is back", `location.pathname === '/settings' && !document.querySelector('[data-testid=excess]')`)
	p.open("/plans/1/nodes/1?tab=session")
	p.until("its transcript is gone", `!document.querySelector('#log .e-text')`)
	p.open("/settings")
	p.fill("#keep-days", "30")
	p.click("[data-testid=keep-save]")
	p.until("it was kept", `document.querySelector('#keep-days')?.defaultValue === '30'`)
	p.click(".hook [data-dialog]")
	p.click("[data-testid=hook-1-delete]")
	p.lacks("[data-testid=hook]")
}
