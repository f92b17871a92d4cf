package engine

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Deliveries that are not taken are tried again after the delay times these, then
// given up: with the usual delay of ten seconds, after 20 hours.
var deliveryPauses = []time.Duration{1, 6, 30, 120, 720, 2160, 4320}

const (
	usualDeliveryDelay = 10 * time.Second
	keepDeliveries     = 7 * 24 * time.Hour
	mostWaiting        = 1000 // for one webhook
)

// courier takes what was written down for webhooks to them. What is to be told is
// part of the change that it tells of, so nothing is lost when the server ends; a
// notice whose answer did not arrive comes again under the same key.
//
// Each webhook that has something due gets a goroutine of its own until it has
// not: one that answers slowly keeps nobody else waiting.
type courier struct {
	e       *Engine
	client  *http.Client
	bell    chan struct{} // there may be something to deliver
	idle    chan int64    // webhooks whose goroutine ends
	working sync.WaitGroup
}

func newCourier(e *Engine) *courier {
	return &courier{e: e, client: hookClient(), bell: make(chan struct{}, 1), idle: make(chan int64)}
}

func (c *courier) ring() {
	select {
	case c.bell <- struct{}{}:
	default:
	}
}

// heard looks whether a commit has something to tell.
func (c *courier) heard(changes []plan.Change) {
	for i := range changes {
		if changes[i].Notices {
			c.ring()
			return
		}
	}
}

// run delivers whatever is due until ctx ends, and waits for what is under way.
func (c *courier) run(ctx context.Context) {
	busy := map[int64]bool{}
	for ctx.Err() == nil {
		wait, err := c.round(ctx, busy)
		if err != nil && ctx.Err() == nil {
			c.e.log.Error("deliver to webhooks", "err", err)
			wait = time.Minute
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-c.bell:
		case id := <-c.idle:
			delete(busy, id)
		case <-timer.C:
		}
		timer.Stop()
	}
	c.working.Wait()
	c.client.CloseIdleConnections()
}

// round begins with every webhook that has something due, apart from the busy
// ones, and returns how long no other has.
func (c *courier) round(ctx context.Context, busy map[int64]bool) (time.Duration, error) {
	var next map[int64]plan.Stamp
	err := c.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		next, err = tx.NextDeliveries()
		return err
	})
	if err != nil {
		return 0, err
	}
	now, wait := c.e.opts.Now(), time.Hour
	for id, at := range next {
		until := at.Time().Sub(now)
		switch {
		case busy[id]:
		case until > 0:
			wait = min(wait, until)
		default:
			busy[id] = true
			c.working.Go(func() { c.serve(ctx, id) })
		}
	}
	return wait, nil
}

// serve delivers to one webhook, in order, until nothing is due there.
func (c *courier) serve(ctx context.Context, id int64) {
	for more := true; more && ctx.Err() == nil; {
		var err error
		if more, err = c.deliver(ctx, id); err != nil && ctx.Err() == nil {
			c.e.log.Error("deliver to a webhook", "webhook", id, "err", err)
			pause(ctx, time.Minute)
		}
	}
	select {
	case c.idle <- id:
	case <-ctx.Done():
	}
}

// deliver tries the next delivery to a webhook and keeps how it went; more is
// whether there may be another. One that is switched off keeps its deliveries for
// when it is on again.
func (c *courier) deliver(ctx context.Context, id int64) (more bool, err error) {
	var h Webhook
	var d *Delivery
	err = c.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if h, err = webhook(tx, id); err == nil {
			d, err = tx.DueDelivery(id)
		}
		return err
	})
	switch {
	case err != nil || d == nil:
		return false, err
	case !h.Enabled:
		return c.rest(ctx, id)
	}
	status, fault := c.post(ctx, h, d)
	if ctx.Err() != nil {
		return false, nil // the server ends: nobody can say how it went, so it counts for nothing
	}
	c.tried(d, status, fault)
	return true, c.note(ctx, h, d)
}

// webhook reads one; one that is not there is switched off.
func webhook(tx *store.Tx, id int64) (Webhook, error) {
	var list webhookList
	if err := readSetting(tx, store.WebhooksSetting, &list); err != nil {
		return Webhook{}, err
	}
	for _, h := range list.Hooks {
		if h.ID == id {
			return h, nil
		}
	}
	return Webhook{}, nil
}

// rest leaves a webhook alone for an hour, unless it was switched on meanwhile.
func (c *courier) rest(ctx context.Context, id int64) (isOn bool, err error) {
	err = c.e.store.Write(ctx, func(tx *store.Tx) error {
		h, err := webhook(tx, id)
		if isOn = h.Enabled; isOn || err != nil {
			return err
		}
		return c.putOff(tx, id, plan.StampOf(c.e.opts.Now().Add(time.Hour)))
	})
	return isOn, err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// putOff has a webhook left alone until a moment. What has waited for too long is forgotten then:
// the address may be gone for good.
func (c *courier) putOff(tx *store.Tx, id int64, until plan.Stamp) error {
	if err := tx.PutOffDeliveries(id, until); err != nil {
		return err
	}
	n, err := tx.BoundDeliveries(id, plan.StampOf(c.e.opts.Now().Add(-keepDeliveries)), mostWaiting)
	if n > 0 {
		c.e.log.Warn("notices for a webhook were forgotten", "webhook", id, "notices", n)
	}
	return err
}

// tried notes how an attempt went, and when the next one is due.
func (c *courier) tried(d *Delivery, status int, fault string) {
	now := c.e.opts.Now()
	d.Attempts++
	d.TriedAt, d.Status, d.Fault, d.NextAt = plan.StampOf(now), status, fault, 0
	if fault == "" {
		return
	}
	if d.Attempts > len(deliveryPauses) || status == http.StatusGone {
		c.e.log.Warn("a webhook was given up", "webhook", d.Hook, "event", d.Event, "attempts", d.Attempts, "fault", fault)
		return
	}
	d.NextAt = plan.StampOf(now.Add(deliveryPauses[d.Attempts-1] * c.e.opts.WebhookDelay))
}

// note keeps how an attempt went. After one that was not taken all others wait as
// long: a receiver that is down is not asked fifty times. Where the webhook was
// changed meanwhile it is asked at once. Pages that show it are told.
func (c *courier) note(ctx context.Context, asked Webhook, d *Delivery) error {
	return c.e.store.Write(ctx, func(tx *store.Tx) error {
		is, err := webhook(tx, asked.ID)
		if err != nil {
			return err
		}
		changed := is.URL != asked.URL || is.Secret != asked.Secret || is.Enabled != asked.Enabled
		if changed && d.NextAt != 0 {
			d.NextAt = plan.StampOf(c.e.opts.Now())
		}
		if err := tx.NoteAttempt(d); err != nil {
			return err
		}
		if d.NextAt != 0 && !changed {
			if err := c.putOff(tx, d.Hook, d.NextAt); err != nil {
				return err
			}
		}
		if err := tx.PruneDeliveries(plan.StampOf(c.e.opts.Now().Add(-keepDeliveries))); err != nil {
			return err
		}
		return tx.Record(plan.Change{Kind: plan.ChangeSettings})
	})
}
