package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// serverActions are what the page of settings can do.
func (p *site) serverActions() map[string]func(echo.Context) error {
	return map[string]func(echo.Context) error{
		"/settings/notifications":               p.notificationsAction,
		"/settings/webhooks":                    p.newHookAction,
		"/settings/webhooks/:webhook_id":        p.hookAction,
		"/settings/webhooks/:webhook_id/delete": p.deleteHookAction,
		"/settings/webhooks/:webhook_id/test":   p.testHookAction,
		"/settings/retention":                   p.retentionAction,
		"/settings/retention/preview":           p.previewAction,
		"/settings/retention/apply":             p.applyRetentionAction,
	}
}

// settingsPage shows what is set for the whole server.
func (p *site) settingsPage(c echo.Context) error {
	page, err := p.serverPage(c.Request().Context())
	if err != nil {
		return err
	}
	return p.answer(c, http.StatusOK, "Settings", views.ServerView(page))
}

func (p *site) serverPage(ctx context.Context) (*views.ServerPage, error) {
	s, err := p.engine.Settings(ctx)
	if err != nil {
		return nil, err
	}
	page := &views.ServerPage{Events: engine.NoticeEvents, Told: s.Notifications.Events, Automatic: s.Retention.Automatic}
	if s.Retention.KeepDays > 0 {
		page.KeepDays = strconv.FormatInt(s.Retention.KeepDays, 10)
	}
	if s.Retention.KeepGB > 0 {
		page.KeepGB = strconv.FormatFloat(s.Retention.KeepGB, 'f', -1, 64)
	}
	for _, h := range s.Webhooks {
		hook := views.Hook{ID: h.ID, URL: h.URL, Events: h.Events, Enabled: h.Enabled, HasSecret: h.HasSecret, Waiting: h.Waiting}
		if h.Last != nil {
			hook.Last = hookResult(h.Last)
		}
		page.Hooks = append(page.Hooks, hook)
	}
	return page, nil
}

func hookResult(d *engine.Delivery) *views.HookResult {
	return &views.HookResult{Event: d.Event, OK: d.Taken(), Status: d.Status, Fault: d.Fault, At: d.TriedAt, Again: d.NextAt}
}

// change changes settings and shows them; what is wrong is told at its field.
func (p *site) change(c echo.Context, in engine.SettingsIn, places []fieldPlace) error {
	if _, err := p.engine.ChangeSettings(c.Request().Context(), in); err != nil {
		return atField(err, places)
	}
	return goTo(c, views.ServerURL)
}

// ticked reads boxes; the form sends an empty one too, so that none is an answer.
func ticked(c echo.Context, name string) ([]string, error) {
	all, err := c.FormParams()
	if err != nil {
		return nil, plan.Errorf(plan.Malformed, "the form could not be read")
	}
	list := []string{}
	for _, v := range all[name] {
		if v != "" {
			list = append(list, v)
		}
	}
	return list, nil
}

func (p *site) notificationsAction(c echo.Context) error {
	events, err := ticked(c, "events")
	if err != nil {
		return err
	}
	return p.change(c, engine.SettingsIn{Notifications: &engine.NotificationsIn{Events: &events}}, []fieldPlace{{"notifications.events", "notify-error"}})
}

// hooks returns the webhooks that there are, each as it is.
func (p *site) hooks(ctx context.Context) ([]engine.WebhookIn, error) {
	s, err := p.engine.Settings(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]engine.WebhookIn, len(s.Webhooks))
	for i, h := range s.Webhooks {
		list[i].ID = h.ID
	}
	return list, nil
}

func (p *site) newHookAction(c echo.Context) error {
	list, err := p.hooks(c.Request().Context())
	if err != nil {
		return err
	}
	return p.keepHook(c, append(list, engine.WebhookIn{}), len(list))
}

// hookAt finds the webhook that a path names among all.
func (p *site) hookAt(c echo.Context) (list []engine.WebhookIn, at int, err error) {
	id, err := number(c, "webhook_id")
	if err != nil {
		return nil, 0, err
	}
	if list, err = p.hooks(c.Request().Context()); err != nil {
		return nil, 0, err
	}
	for i := range list {
		if list[i].ID == id {
			return list, i, nil
		}
	}
	return nil, 0, plan.Errorf(plan.NotFound, "there is no webhook %d; someone may have removed it", id)
}

func (p *site) hookAction(c echo.Context) error {
	list, at, err := p.hookAt(c)
	if err != nil {
		return err
	}
	return p.keepHook(c, list, at)
}

// keepHook reads a webhook from its form into a list of all, and keeps that.
func (p *site) keepHook(c echo.Context, list []engine.WebhookIn, at int) error {
	events, err := ticked(c, "events")
	if err != nil {
		return err
	}
	f, h := &form{c: c}, &list[at]
	url, _ := f.text("url")
	secret, _ := f.text("secret")
	on := c.FormValue("enabled") != ""
	h.URL, h.Events, h.Enabled = &url, &events, &on
	if secret != "" || c.FormValue("clear_secret") != "" {
		h.Secret = &secret
	}
	name, element := fmt.Sprintf("webhooks[%d]", at), fmt.Sprintf("hook-%d", h.ID)
	return p.change(c, engine.SettingsIn{Webhooks: &list}, []fieldPlace{{name + ".url", element + "-url-error"},
		{name + ".secret", element + "-secret-error"}, {name + ".events", element + "-events-error"}})
}

func (p *site) deleteHookAction(c echo.Context) error {
	list, at, err := p.hookAt(c)
	if err != nil {
		return err
	}
	list = append(list[:at], list[at+1:]...)
	return p.change(c, engine.SettingsIn{Webhooks: &list}, nil)
}

func (p *site) testHookAction(c echo.Context) error {
	id, err := number(c, "webhook_id")
	if err != nil {
		return err
	}
	d, err := p.engine.TestWebhook(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if c.Request().Header.Get("HX-Request") == "" {
		return goTo(c, views.ServerURL)
	}
	return send(c, http.StatusOK, views.HookResultView(hookResult(d)))
}

// retention reads what is to be kept.
func (f *form) retention() engine.Retention {
	return engine.Retention{KeepDays: f.number("keep_days", "keep-days-error", 0), KeepGB: f.amount("keep_gb", "keep-gb-error", 0),
		Automatic: f.c.FormValue("automatic") != ""}
}

func retentionPlaces() []fieldPlace {
	return []fieldPlace{{"retention.keep_days", "keep-days-error"}, {"retention.keep_gb", "keep-gb-error"}, {"retention.automatic", "keep-error"}}
}

func (p *site) retentionAction(c echo.Context) error {
	f := &form{c: c}
	r := f.retention()
	if f.err != nil {
		return f.err
	}
	return p.change(c, engine.SettingsIn{Retention: &engine.RetentionIn{KeepDays: &r.KeepDays, KeepGB: &r.KeepGB, Automatic: &r.Automatic}}, retentionPlaces())
}

// previewAction shows what would go by what is in the form, kept or not.
func (p *site) previewAction(c echo.Context) error {
	ctx, f := c.Request().Context(), &form{c: c}
	r := f.retention()
	if f.err != nil {
		return f.err
	}
	x, err := p.engine.PreviewRetention(ctx, &r)
	if err != nil {
		return atField(err, retentionPlaces())
	}
	shown := &views.Excess{Bytes: x.Bytes, Kept: x.Kept, KeptBytes: x.Stays, Boundless: r.KeepDays == 0 && r.KeepGB == 0}
	for _, k := range x.Go {
		shown.Plans = append(shown.Plans, views.ExcessPlan{ID: k.ID, Title: k.Title, Finished: k.Finished, Bytes: k.Bytes})
	}
	if c.Request().Header.Get("HX-Request") != "" {
		return send(c, http.StatusOK, views.ExcessView(shown))
	}
	page, err := p.serverPage(ctx)
	if err != nil {
		return err
	}
	page.Excess = shown
	return p.answer(c, http.StatusOK, "Settings", views.ServerView(page))
}

func (p *site) applyRetentionAction(c echo.Context) error {
	words, err := ticked(c, "plan")
	if err != nil {
		return err
	}
	var ids []plan.PlanID
	for _, w := range words {
		id, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return plan.Errorf(plan.Invalid, "plan must be the number of a plan")
		}
		ids = append(ids, plan.PlanID(id))
	}
	if err := p.engine.ApplyRetention(c.Request().Context(), ids); err != nil {
		return err
	}
	return goTo(c, views.ServerURL)
}
