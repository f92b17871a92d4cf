package handlers

import (
	"context"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// settingsRows are what clients may ask about the server's own settings. Models
// have no business with them.
func settingsRows() []operation {
	return []operation{
		op("get_settings", "Read the server's settings: webhooks with how their last delivery went, retention, notifications.",
			doors{rest: get("/settings")}, getSettings),
		op("patch_settings", "Change the server's settings: only the parts that are given; null clears. All or nothing.",
			doors{rest: patch("/settings").ours()}, patchSettings),
		op("test_webhook", "Send a notice to a webhook now, once, and tell how that went.",
			doors{rest: post("/settings/webhooks/:webhook_id/test").ours()}, testWebhook),
		op("preview_retention", "Tell which plans' transcripts, diffs and snapshots would go by a retention, without removing anything: by the one that is set, or by the one that is given.",
			doors{rest: get("/settings/retention/preview").ours()}, previewRetention),
		op("apply_retention", "Remove the transcripts, prompts, diffs and snapshots of plans that are over; steps keep their results and reviews. "+
			"This cannot be undone: look at the preview first.", doors{rest: post("/settings/retention/apply").ours()}, applyRetention),
	}
}

// settingsView is what is set for the whole server.
type settingsView struct {
	Webhooks      []webhookView     `json:"webhooks"`
	Retention     retentionView     `json:"retention"`
	Notifications notificationsView `json:"notifications"`
}

type webhookView struct {
	ID        int64         `json:"id"`
	URL       string        `json:"url"`
	Events    []string      `json:"events"`
	Enabled   bool          `json:"enabled"`
	HasSecret bool          `json:"has_secret"`
	Waiting   int           `json:"waiting"` // deliveries on their way
	Last      *deliveryView `json:"last_delivery"`
}

// deliveryView is a notice that was sent, taken or not.
type deliveryView struct {
	ID        string     `json:"id"`
	Event     string     `json:"event"`
	Delivered bool       `json:"delivered"`
	Status    *int       `json:"status"` // of the answer
	Error     *string    `json:"error"`
	Attempts  int        `json:"attempts"`
	At        plan.Stamp `json:"at"`
	NextAt    plan.Stamp `json:"next_at"` // of the next attempt
}

type retentionView struct {
	KeepDays  *int64   `json:"keep_days"`
	KeepGB    *float64 `json:"keep_gb"`
	Automatic bool     `json:"automatic"`
}

type notificationsView struct {
	Events []string `json:"events"`
}

func settingsViewOf(s *engine.Settings) settingsView {
	v := settingsView{Webhooks: make([]webhookView, len(s.Webhooks)), Notifications: notificationsView{listed(s.Notifications.Events)},
		Retention: retentionView{orNull(&s.Retention.KeepDays), orNull(&s.Retention.KeepGB), s.Retention.Automatic}}
	for i, h := range s.Webhooks {
		v.Webhooks[i] = webhookView{h.ID, h.URL, h.Events, h.Enabled, h.HasSecret, h.Waiting, nil}
		if h.Last != nil {
			last := deliveryViewOf(h.Last)
			v.Webhooks[i].Last = &last
		}
	}
	return v
}

func deliveryViewOf(d *engine.Delivery) deliveryView {
	return deliveryView{d.Key, d.Event, d.Taken(), orNull(&d.Status), orNull(&d.Fault), d.Attempts, d.TriedAt, d.NextAt}
}

func getSettings(e *engine.Engine, ctx context.Context, _ none) (settingsView, error) {
	s, err := e.Settings(ctx)
	return settingsViewOf(&s), err
}

func patchSettings(e *engine.Engine, ctx context.Context, in engine.SettingsIn) (settingsView, error) {
	s, err := e.ChangeSettings(ctx, in)
	return settingsViewOf(&s), err
}

type webhookIn struct {
	ID int64 `json:"-" param:"webhook_id" jsonschema:"The webhook."`
}

func testWebhook(e *engine.Engine, ctx context.Context, in webhookIn) (deliveryView, error) {
	d, err := e.TestWebhook(ctx, in.ID)
	if err != nil {
		return deliveryView{}, err
	}
	return deliveryViewOf(d), nil
}

// previewIn is a retention to try; without either number the one that is set counts.
type previewIn struct {
	KeepDays int64   `json:"-" query:"keep_days" jsonschema:"Days after the end of a plan."`
	KeepGB   float64 `json:"-" query:"keep_gb" jsonschema:"Gigabytes of transcripts and diffs, of which the oldest go first."`
}

// excessView is what would go, and what would stay.
type excessView struct {
	Plans      []keptView `json:"plans"` // the oldest first
	Bytes      int64      `json:"bytes"`
	StayPlans  int        `json:"stay_plans"`
	StaysBytes int64      `json:"stay_bytes"`
}

type keptView struct {
	PlanID     plan.PlanID `json:"plan_id"`
	Title      string      `json:"title"`
	FinishedAt plan.Stamp  `json:"finished_at"`
	Bytes      int64       `json:"bytes"`
}

func previewRetention(e *engine.Engine, ctx context.Context, in previewIn) (excessView, error) {
	var by *engine.Retention
	if in != (previewIn{}) {
		by = &engine.Retention{KeepDays: in.KeepDays, KeepGB: in.KeepGB}
	}
	x, err := e.PreviewRetention(ctx, by)
	out := excessView{make([]keptView, len(x.Go)), x.Bytes, x.Kept, x.Stays}
	for i, p := range x.Go {
		out.Plans[i] = keptView{p.ID, p.Title, p.Finished, p.Bytes}
	}
	return out, err
}

type applyIn struct {
	PlanIDs []plan.PlanID `json:"plan_ids" jsonschema:"The plans, as the preview names them."`
}

func applyRetention(e *engine.Engine, ctx context.Context, in applyIn) (said, error) {
	return said{"removed", "removed"}, e.ApplyRetention(ctx, in.PlanIDs)
}
