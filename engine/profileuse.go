package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// ProfileUse is a place that names an agent profile, and what it falls back to
// when the profile is deleted.
type ProfileUse struct {
	Plan    plan.PlanID
	Node    plan.NodeID // 0: the plan itself
	Title   string      // of the step, else of the plan
	Review  bool        // it is the plan's review agent, else its default agent
	Instead string      // name of the profile that is inherited then; "" for none
}

// maxUses is how many places of a kind are listed.
const maxUses = 100

// ProfileUses lists where a profile is named, with what is inherited there when
// it is deleted. Of very many only the first are listed; plan.Profile.InUse has
// the number of all.
func (e *Engine) ProfileUses(ctx context.Context, id plan.ProfileID) ([]ProfileUse, error) {
	var uses []ProfileUse
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		if _, err := tx.Profile(id); err != nil {
			return err
		}
		all, err := tx.Profiles()
		if err != nil {
			return err
		}
		h := heirs{tx: tx, without: id, server: e.server.DefaultProfile, names: map[plan.ProfileID]string{}, plans: map[plan.PlanID]*plan.Plan{}}
		for i := range all {
			h.names[all[i].ID] = all[i].Name
		}
		uses, err = h.uses()
		return err
	})
	return uses, err
}

// heirs finds who inherits when a profile is gone.
type heirs struct {
	tx      *store.Tx
	without plan.ProfileID
	server  plan.ProfileID
	names   map[plan.ProfileID]string
	plans   map[plan.PlanID]*plan.Plan // read so far
}

func (h *heirs) uses() ([]ProfileUse, error) {
	places, err := h.tx.ProfileUses(h.without, maxUses)
	if err != nil {
		return nil, err
	}
	out := make([]ProfileUse, 0, len(places))
	for _, p := range places {
		u := ProfileUse{Plan: p.PlanID, Node: p.NodeID, Title: p.Title, Review: p.Review}
		pick := func(p *plan.Plan) plan.ProfileID { return p.DefaultProfile }
		last := h.server
		if p.Review {
			pick, last = func(p *plan.Plan) plan.ProfileID { return p.ReviewProfile }, 0
		}
		if u.Instead, err = h.instead(p.PlanID, pick, last); err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// instead returns what a plan, or the nearest plan above it, names apart from the
// profile that goes; else the last.
func (h *heirs) instead(id plan.PlanID, pick func(*plan.Plan) plan.ProfileID, last plan.ProfileID) (string, error) {
	for id != 0 {
		p := h.plans[id]
		if p == nil {
			var err error
			if p, err = h.tx.Plan(id); err != nil {
				return "", err
			}
			h.plans[id] = p
		}
		if heir := pick(p); heir != 0 && heir != h.without {
			return h.names[heir], nil
		}
		id = p.ParentPlan
	}
	return h.names[last], nil
}

// Spending returns what the runs of each profile have used, of those that told.
func (e *Engine) Spending(ctx context.Context) ([]plan.ProfileSpend, error) {
	var list []plan.ProfileSpend
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.SpendByProfile()
		return err
	})
	return list, err
}

// ProfileFaults says, in sentences, why the runs of a profile would fail as soon
// as they start, as far as that can be told without asking its harness.
func (e *Engine) ProfileFaults(p *plan.Profile) []string {
	var faults []string
	for _, f := range e.launcher.Found() {
		if f.Slug != p.Harness {
			continue
		}
		if f.Refused != "" {
			return []string{"Its harness is refused: " + f.Refused}
		}
		if f.Info.Features.Model && p.Model == "" {
			faults = append(faults, "It needs a model.")
		}
		var bad plan.Problems
		if settings := e.settingsOf(&f); settings != nil {
			settings.Check(p.Params, &bad)
		}
		faults = append(faults, bad.List()...)
		return append(faults, e.keyFaults(p)...)
	}
	return []string{"Its harness was not found: there is no program harness-" + p.Harness + " in the harness folders."}
}

func (e *Engine) keyFaults(p *plan.Profile) []string {
	if p.KeyEnv == "" || p.HasKey || e.env(p.KeyEnv) != "" {
		return nil
	}
	return []string{"The variable " + p.KeyEnv + " is not set where this server runs, and no key is stored."}
}
