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
	deliveriesAtOnce   = 50
	keepDeliveries     = 7 * 24 * time.Hour
)

// courier takes what was written down for webhooks to them. What is to be told is
// part of the change that it tells of, so nothing is lost when the server ends; a
// notice whose answer did not arrive comes again under the same key.
type courier struct {
	e      *Engine
	client *http.Client
	bell   chan struct{} // there may be something to deliver
}

func newCourier(e *Engine) *courier {
	return &courier{e: e, client: hookClient(), bell: make(chan struct{}, 1)}
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

// run delivers whatever is due until ctx ends.
func (c *courier) run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, err := c.round(ctx)
		if err != nil && ctx.Err() == nil {
			c.e.log.Error("deliver to webhooks", "err", err)
			wait = time.Minute
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-c.bell:
		case <-timer.C:
		}
		timer.Stop()
	}
	c.client.CloseIdleConnections()
}

// round tries what is due, each webhook beside the others and in order, and
// returns how long nothing is due then.
func (c *courier) round(ctx context.Context) (time.Duration, error) {
	var due []Delivery
	hooks := map[int64]Webhook{}
	err := c.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if due, err = tx.DueDeliveries(deliveriesAtOnce); err != nil || len(due) == 0 {
			return err
		}
		var list webhookList
		err = readSetting(tx, store.WebhooksSetting, &list)
		for _, h := range list.Hooks {
			hooks[h.ID] = h
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	byHook := map[int64][]*Delivery{}
	for i := range due {
		byHook[due[i].Hook] = append(byHook[due[i].Hook], &due[i])
	}
	var all sync.WaitGroup
	for id, list := range byHook {
		all.Go(func() { c.deliver(ctx, hooks[id], list) })
	}
	all.Wait()
	return c.rest(ctx)
}

// rest is how long nothing is due.
func (c *courier) rest(ctx context.Context) (time.Duration, error) {
	var next plan.Stamp
	err := c.e.store.Read(ctx, func(tx *store.Tx) (err error) {
		next, err = tx.NextDelivery()
		return err
	})
	if next == 0 {
		return time.Hour, err
	}
	return max(0, next.Time().Sub(c.e.opts.Now())), err
}

// deliver tries deliveries to one webhook, one after the other, and keeps how each
// went. After one that is not taken the others wait as long: a receiver that is
// down is not asked fifty times. One that is switched off keeps its deliveries for
// when it is on again.
func (c *courier) deliver(ctx context.Context, h Webhook, list []*Delivery) {
	var later plan.Stamp
	if !h.Enabled {
		later = plan.StampOf(c.e.opts.Now().Add(time.Hour))
	}
	for _, d := range list {
		if later != 0 {
			c.putOff(ctx, d, later)
			continue
		}
		status, fault := c.post(ctx, h, d)
		if ctx.Err() != nil {
			return // the server ends: nobody can say how it went, so it counts for nothing
		}
		c.tried(d, status, fault)
		if err := c.note(ctx, d); err != nil && ctx.Err() == nil {
			c.e.log.Error("note a delivery", "webhook", h.ID, "err", err)
			return
		}
		later = d.NextAt
	}
}

func (c *courier) putOff(ctx context.Context, d *Delivery, until plan.Stamp) {
	d.NextAt = until
	if err := c.note(ctx, d); err != nil && ctx.Err() == nil {
		c.e.log.Error("put a delivery off", "webhook", d.Hook, "err", err)
	}
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

// note keeps how an attempt went. Pages that show it are told.
func (c *courier) note(ctx context.Context, d *Delivery) error {
	return c.e.store.Write(ctx, func(tx *store.Tx) error {
		if err := tx.NoteAttempt(d); err != nil {
			return err
		}
		if err := tx.PruneDeliveries(plan.StampOf(c.e.opts.Now().Add(-keepDeliveries))); err != nil {
			return err
		}
		return tx.Record(plan.Change{Kind: plan.ChangeSettings})
	})
}
