package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestSettingsStartWithNothingToTellAndKeepEverything(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	s, err := e.Settings(bg)
	must(t, err)
	want := engine.Settings{Webhooks: []engine.WebhookState{}, Notifications: engine.Notifications{Events: []string{"plan_done", "plan_failed", "waiting"}}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestWebhookListIsChangedAsAWhole(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	change := func(list ...engine.WebhookIn) []engine.WebhookState {
		t.Helper()
		s, err := e.ChangeSettings(bg, engine.SettingsIn{Webhooks: &list})
		must(t, err)
		return s.Webhooks
	}
	secret, none, off := hookSecret, "", false
	a, b := "https://a.test/x", "https://b.test/x"
	got := change(engine.WebhookIn{URL: &a, Secret: &secret}, engine.WebhookIn{URL: &b, Events: &[]string{"waiting", "plan_done", "waiting"}})
	want := []engine.WebhookState{{ID: 1, URL: a, Events: engine.NoticeEvents, Enabled: true, HasSecret: true},
		{ID: 2, URL: b, Events: []string{"plan_done", "waiting"}, Enabled: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = change(engine.WebhookIn{ID: 1, Enabled: &off}, engine.WebhookIn{URL: &b})
	if len(got) != 2 || !got[0].HasSecret || got[0].Enabled || got[0].URL != a || got[1].ID != 3 {
		t.Errorf("after a change: %+v", got)
	}
	if got = change(engine.WebhookIn{ID: 1, Secret: &none}); len(got) != 1 || got[0].HasSecret {
		t.Errorf("after clearing the secret: %+v", got)
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	good, secret := "https://a.test/", hookSecret
	_, err := e.ChangeSettings(bg, engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{URL: &good, Secret: &secret}}})
	must(t, err)
	before, err := e.Settings(bg)
	must(t, err)
	url := func(s string) engine.SettingsIn {
		return engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{URL: &s}}}
	}
	days, negative, nan, short, yes := int64(-1), -0.5, math.NaN(), "too short", true
	many := make([]engine.WebhookIn, 21)
	for name, c := range map[string]struct {
		in   engine.SettingsIn
		want string
	}{
		"no URL":            {engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{}}}, "webhooks[0].url is required"},
		"not http":          {url("ftp://x.test/"), "webhooks[0].url must be a whole URL"},
		"no host":           {url("http:///x"), "webhooks[0].url must be a whole URL"},
		"relative":          {url("/x"), "webhooks[0].url must be a whole URL"},
		"password":          {url("https://u:planted@x.test/"), "webhooks[0].url must not have a user"},
		"fragment":          {url("https://x.test/#a"), "webhooks[0].url must not have a fragment"},
		"long":              {url("https://x.test/" + strings.Repeat("a", 2000)), "webhooks[0].url has 2015 characters"},
		"unknown event":     {engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{URL: &good, Events: &[]string{"lunch"}}}}, `webhooks[0].events: unknown event "lunch"`},
		"no events":         {engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{URL: &good, Events: &[]string{}}}}, "webhooks[0].events must name"},
		"short secret":      {engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{URL: &good, Secret: &short}}}, "webhooks[0].secret must have 16"},
		"unknown id":        {engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{ID: 7}}}, "webhooks[0].id: there is no webhook 7"},
		"twice":             {engine.SettingsIn{Webhooks: &[]engine.WebhookIn{{ID: 1}, {ID: 1}}}, "webhooks[1].id: 1 is there twice"},
		"too many":          {engine.SettingsIn{Webhooks: &many}, "the limit is 20"},
		"days":              {engine.SettingsIn{Retention: &engine.RetentionIn{KeepDays: &days}}, "retention.keep_days must be from 1"},
		"gigabytes":         {engine.SettingsIn{Retention: &engine.RetentionIn{KeepGB: &negative}}, "retention.keep_gb must be above 0"},
		"no number":         {engine.SettingsIn{Retention: &engine.RetentionIn{KeepGB: &nan}}, "retention.keep_gb must be above 0"},
		"automatic nothing": {engine.SettingsIn{Retention: &engine.RetentionIn{Automatic: &yes}}, "retention.automatic needs keep_days or keep_gb"},
		"notifications":     {engine.SettingsIn{Notifications: &engine.NotificationsIn{Events: &[]string{"x"}}}, `notifications.events: unknown event "x"`},
	} {
		_, err := e.ChangeSettings(bg, c.in)
		if plan.KindOf(err) != plan.Invalid || !strings.Contains(plan.MessageOf(err), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), short)) {
			t.Errorf("%s: the refusal repeats a secret: %v", name, err)
		}
	}
	after, err := e.Settings(bg)
	must(t, err)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a refused change changed something:\n%s", diff)
	}
	worker := plan.WithActor(bg, plan.Actor{Role: plan.Worker})
	if _, err := e.Settings(worker); plan.KindOf(err) != plan.Denied {
		t.Errorf("a worker reads settings: %v", err)
	}
	if _, err := e.ChangeSettings(worker, engine.SettingsIn{}); plan.KindOf(err) != plan.Denied {
		t.Errorf("a worker changes settings: %v", err)
	}
}
