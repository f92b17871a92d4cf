package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Bounds of settings.
const (
	maxWebhooks   = 20
	maxURL        = 2000
	minHookSecret = 16
	maxSecret     = 1000
	maxKeepDays   = 36_500
	maxKeepBytes  = 1_000_000 // gigabytes
)

// Settings are what people have set for the whole server.
type Settings struct {
	Webhooks      []WebhookState
	Retention     Retention
	Notifications Notifications
}

// Webhook is an address that is told what happens. Its secret is never read back.
type Webhook struct {
	ID      int64    `json:"id"`
	URL     string   `json:"url"`
	Events  []string `json:"events"`
	Enabled bool     `json:"enabled"`
	Secret  string   `json:"secret"`
}

// WebhookState is a webhook as people see it: with how its deliveries go, without
// its secret.
type WebhookState struct {
	ID        int64
	URL       string
	Events    []string
	Enabled   bool
	HasSecret bool
	Waiting   int       // deliveries on their way
	Last      *Delivery // nil when nothing was sent yet
}

// Delivery is one notice on its way to one webhook.
type Delivery = store.Delivery

// Retention says for how long the transcripts, diffs and snapshots of plans that
// are over are kept. What is not set keeps them for ever.
type Retention struct {
	KeepDays  int64   `json:"keep_days"`
	KeepGB    float64 `json:"keep_gb"` // of transcripts and diffs, 10⁹ bytes each
	Automatic bool    `json:"automatic"`
}

// Notifications say what browsers tell of that have been allowed to.
type Notifications struct {
	Events []string `json:"events"`
}

// webhookList is how webhooks are stored; numbers are not given out twice.
type webhookList struct {
	Last  int64     `json:"last"`
	Hooks []Webhook `json:"hooks"`
}

const (
	retentionSetting     = "retention"
	notificationsSetting = "notifications"
)

// SettingsIn changes settings. Nil leaves a part as it is.
type SettingsIn struct {
	Webhooks      *[]WebhookIn     `json:"webhooks,omitempty" jsonschema:"All webhooks there are to be: those with an id are changed, those without are new, those left out are removed."`
	Retention     *RetentionIn     `json:"retention,omitempty" jsonschema:"For how long transcripts, diffs and snapshots of plans that are over are kept."`
	Notifications *NotificationsIn `json:"notifications,omitempty" jsonschema:"What browsers tell of that have been allowed to."`
}

// WebhookIn is a webhook as a client gives it.
type WebhookIn struct {
	ID      int64     `json:"id,omitempty" jsonschema:"Of a webhook that is there; a new one has none."`
	URL     *string   `json:"url,omitempty" jsonschema:"Where to post to, http:// or https://. Required of a new one."`
	Events  *[]string `json:"events,omitempty" jsonschema:"What to tell: plan_done, plan_failed, step_failed, waiting. A new one gets all when they are left out."`
	Enabled *bool     `json:"enabled,omitempty" jsonschema:"Whether it is told anything; default true."`
	Secret  *string   `json:"secret,omitempty" secret:"true" jsonschema:"Signs what is posted. Write-only: null keeps it, an empty string clears it."`
}

// RetentionIn changes what is kept.
type RetentionIn struct {
	KeepDays  *int64   `json:"keep_days,omitempty" jsonschema:"Days after the end of a plan; null: for ever."`
	KeepGB    *float64 `json:"keep_gb,omitempty" jsonschema:"Gigabytes of transcripts and diffs, of which the oldest go first; null: any number."`
	Automatic *bool    `json:"automatic,omitempty" jsonschema:"Whether what is beyond that goes by itself; else a person applies it. Default false."`
}

// NotificationsIn changes what browsers tell of.
type NotificationsIn struct {
	Events *[]string `json:"events,omitempty" jsonschema:"plan_done, plan_failed, step_failed, waiting; null: all but step_failed."`
}

// usualNotifications are what browsers tell of when nothing is set: a step that
// fails and is tried again is no news.
func usualNotifications() []string {
	return []string{NoticePlanDone, NoticePlanFailed, NoticeWaiting}
}

// Settings returns the server's settings and how its webhooks fare.
func (e *Engine) Settings(ctx context.Context) (Settings, error) {
	var s Settings
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return s, err
	}
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		s, err = readSettings(tx)
		return err
	})
	return s, err
}

func readSettings(tx *store.Tx) (Settings, error) {
	s := Settings{Notifications: Notifications{usualNotifications()}, Webhooks: []WebhookState{}}
	var hooks webhookList
	for name, into := range map[string]any{store.WebhooksSetting: &hooks, retentionSetting: &s.Retention, notificationsSetting: &s.Notifications} {
		if err := readSetting(tx, name, into); err != nil {
			return s, err
		}
	}
	waiting, err := tx.WaitingDeliveries()
	if err != nil {
		return s, err
	}
	for _, h := range hooks.Hooks {
		last, err := tx.LastDelivery(h.ID)
		if err != nil {
			return s, err
		}
		s.Webhooks = append(s.Webhooks, WebhookState{h.ID, h.URL, h.Events, h.Enabled, h.Secret != "", waiting[h.ID], last})
	}
	return s, nil
}

func readSetting(tx *store.Tx, name string, into any) error {
	text, err := tx.Setting(name)
	if err != nil || text == "" {
		return err
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("read the setting %s: %w", name, err)
	}
	return nil
}

func saveSetting(tx *store.Tx, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep the setting %s: %w", name, err)
	}
	return tx.SetSetting(name, string(b))
}

// ChangeSettings changes settings, all or none of what is given, and returns what
// they are then.
func (e *Engine) ChangeSettings(ctx context.Context, in SettingsIn) (Settings, error) {
	var s Settings
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return s, err
	}
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		var bad plan.Problems
		for _, change := range []func(*store.Tx, *plan.Problems) error{in.changeWebhooks, in.changeRetention, in.changeNotifications} {
			if err := change(tx, &bad); err != nil {
				return err
			}
		}
		if err := bad.Err("the settings were not changed:"); err != nil {
			return err
		}
		var err error
		if s, err = readSettings(tx); err != nil {
			return err
		}
		return tx.Record(plan.Change{Kind: plan.ChangeSettings})
	})
	if err == nil {
		e.courier.ring()
	}
	return s, err
}

func (in *SettingsIn) changeRetention(tx *store.Tx, bad *plan.Problems) error {
	if in.Retention == nil {
		return nil
	}
	var r Retention
	if err := readSetting(tx, retentionSetting, &r); err != nil {
		return err
	}
	set(&r.KeepDays, in.Retention.KeepDays)
	set(&r.KeepGB, in.Retention.KeepGB)
	set(&r.Automatic, in.Retention.Automatic)
	r.check(bad)
	if r.Automatic && !r.bounded() {
		bad.Addf("retention.automatic needs keep_days or keep_gb: without them everything is kept")
	}
	if bad.Len() > 0 {
		return nil
	}
	return saveSetting(tx, retentionSetting, r)
}

func (r *Retention) check(bad *plan.Problems) {
	if r.KeepDays < 0 || r.KeepDays > maxKeepDays {
		bad.Addf("retention.keep_days must be from 1 to %d, or null", maxKeepDays)
	}
	if !(r.KeepGB >= 0 && r.KeepGB <= maxKeepBytes) {
		bad.Addf("retention.keep_gb must be above 0 and at most %d, or null", maxKeepBytes)
	}
}

// bounded reports whether anything is to go at all.
func (r *Retention) bounded() bool { return r.KeepDays > 0 || r.KeepGB > 0 }

func (in *SettingsIn) changeNotifications(tx *store.Tx, bad *plan.Problems) error {
	if in.Notifications == nil || in.Notifications.Events == nil {
		return nil
	}
	events := *in.Notifications.Events
	if events == nil { // null
		events = usualNotifications()
	}
	checkEvents(bad, "notifications.events", events)
	return saveSetting(tx, notificationsSetting, Notifications{inOrder(events)})
}

func checkEvents(bad *plan.Problems, field string, events []string) {
	for _, event := range events {
		if !slices.Contains(NoticeEvents, event) {
			bad.Addf("%s: unknown event %.40q; they are %s", field, event, strings.Join(NoticeEvents, ", "))
		}
	}
}

// inOrder returns events once each, in the order of pages.
func inOrder(events []string) []string {
	return slices.DeleteFunc(slices.Clone(NoticeEvents), func(e string) bool { return !slices.Contains(events, e) })
}

func (in *SettingsIn) changeWebhooks(tx *store.Tx, bad *plan.Problems) error {
	if in.Webhooks == nil {
		return nil
	}
	var list webhookList
	if err := readSetting(tx, store.WebhooksSetting, &list); err != nil {
		return err
	}
	if len(*in.Webhooks) > maxWebhooks {
		bad.Addf("webhooks: there are %d; the limit is %d", len(*in.Webhooks), maxWebhooks)
		return nil
	}
	next := webhookList{Last: list.Last, Hooks: []Webhook{}}
	ids := []int64{}
	for i, w := range *in.Webhooks {
		h, ok := list.find(w, fmt.Sprintf("webhooks[%d]", i), bad)
		if !ok {
			continue
		}
		if h.ID == 0 {
			next.Last++
			h.ID = next.Last
		}
		if slices.Contains(ids, h.ID) {
			bad.Addf("webhooks[%d].id: %d is there twice", i, h.ID)
		}
		next.Hooks, ids = append(next.Hooks, h), append(ids, h.ID)
	}
	if bad.Len() > 0 {
		return nil
	}
	if err := errors.Join(tx.DropDeliveries(ids), tx.HurryDeliveries()); err != nil {
		return err
	}
	return saveSetting(tx, store.WebhooksSetting, next)
}

// find returns the webhook that w names, or a new one, as w wants it.
func (l *webhookList) find(w WebhookIn, at string, bad *plan.Problems) (Webhook, bool) {
	h := Webhook{Enabled: true, Events: NoticeEvents}
	if w.ID != 0 {
		i := slices.IndexFunc(l.Hooks, func(h Webhook) bool { return h.ID == w.ID })
		if i < 0 {
			bad.Addf("%s.id: there is no webhook %d; a new one has no id", at, w.ID)
			return h, false
		}
		h = l.Hooks[i]
	}
	set(&h.URL, w.URL)
	set(&h.Enabled, w.Enabled)
	set(&h.Secret, w.Secret)
	if w.Events != nil {
		checkEvents(bad, at+".events", *w.Events)
		if h.Events = inOrder(*w.Events); len(h.Events) == 0 {
			bad.Addf("%s.events must name at least one of %s", at, strings.Join(NoticeEvents, ", "))
		}
	}
	checkHookURL(bad, at+".url", h.URL)
	if n := len(h.Secret); n > 0 && (n < minHookSecret || n > maxSecret) {
		bad.Addf("%s.secret must have %d to %d characters, such as `openssl rand -hex 32` prints", at, minHookSecret, maxSecret)
	}
	return h, true
}

// checkHookURL refuses what cannot be posted to. The address is not repeated: its
// path is often a secret.
func checkHookURL(bad *plan.Problems, field, text string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		bad.Addf("%s is required", field)
	case len(text) > maxURL:
		bad.Addf("%s has %d characters; the limit is %d", field, len(text), maxURL)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		bad.Addf("%s must be a whole URL that begins with http:// or https://", field)
	case u.User != nil:
		bad.Addf("%s must not have a user or password in it", field)
	case u.Fragment != "":
		bad.Addf("%s must not have a fragment (#…)", field)
	}
}
