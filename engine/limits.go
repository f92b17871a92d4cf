package engine

import (
	"context"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// A provider that names no time is asked again after limitPause, then after
// twice that, and so on, up to 16 times that.
const (
	limitPause   = time.Minute
	mostDoubling = 4
)

// keepLimit notes that the provider behind a run's profile refuses work for now,
// and returns until when.
func (f *ending) keepLimit() (plan.Stamp, error) {
	l, err := limitOf(f.m.tx, f.run.Profile)
	if err != nil {
		return 0, err
	}
	now := f.e.opts.Now()
	until := f.result.Until
	if until.IsZero() {
		until = now.Add(limitPause << min(l.Times, mostDoubling))
	}
	if soon := now.Add(f.e.opts.RetryDelay); until.Before(soon) { // clocks differ
		until = soon
	}
	l.Until, l.Times, l.Text = plan.StampOf(until), l.Times+1, f.errorText()
	if _, err := f.m.tx.Profile(f.run.Profile); plan.KindOf(err) == plan.NotFound {
		return l.Until, nil // it was deleted meanwhile: no other step runs on it
	}
	return l.Until, f.m.setLimit(l)
}

// limitOf returns a profile's limit; one that was never hit has Times 0.
func limitOf(tx *store.Tx, p plan.ProfileID) (plan.Limit, error) {
	all, err := tx.Limits()
	for _, l := range all {
		if l.Profile == p {
			return l, err
		}
	}
	return plan.Limit{Profile: p}, err
}

func (m *mover) setLimit(l plan.Limit) error {
	if err := m.tx.SetLimit(l); err != nil {
		return err
	}
	// Steps of all plans wait for it, so this is no change of one plan.
	return m.tx.Record(plan.Change{Kind: plan.ChangeAgents, Facts: &plan.Facts{Limits: []plan.Limit{l}}})
}

// Limits returns the limits of providers that are not known to be over.
func (e *Engine) Limits(ctx context.Context) ([]plan.Limit, error) {
	var list []plan.Limit
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Limits()
		return err
	})
	return list, err
}

// showsLife reports whether a batch proves that the provider takes work: what an
// agent says by itself, before it has asked a model, does not.
func showsLife(batch []plugin.Event) bool {
	for _, e := range batch {
		switch e.Kind {
		case plugin.KindUsage, plugin.KindText, plugin.KindThinking, plugin.KindToolUse:
			return true
		}
	}
	return false
}

// liftLimit ends the limit of the run's profile once its time is up and a run has
// got through.
func (k *sink) liftLimit(tx *store.Tx, batch []plugin.Event) error {
	if !k.e.desk.limitOver(k.s.run.Profile, tx.Now()) || !showsLife(batch) {
		return nil
	}
	m, err := newMover(tx, k.s.run.PlanID)
	if err != nil {
		return err
	}
	return m.setLimit(plan.Limit{Profile: k.s.run.Profile})
}
