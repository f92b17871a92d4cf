package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// trimAtOnce is how many rows one change takes away, so that whoever else writes
// waits for a few milliseconds at most.
const trimAtOnce = 500

// KeptPlan is a plan that is over, with what its history takes.
type KeptPlan = store.Kept

// Excess is what is beyond the retention.
type Excess struct {
	Go    []KeptPlan // these would go, the oldest first
	Bytes int64      // that they take
	Kept  int        // plans that are over and stay
	Stays int64      // bytes that those take
}

// PreviewRetention says what would go by a retention, nil: by the one that is set.
// Nothing is changed.
func (e *Engine) PreviewRetention(ctx context.Context, by *Retention) (Excess, error) {
	var x Excess
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return x, err
	}
	if by != nil {
		var bad plan.Problems
		by.check(&bad)
		if err := bad.Err("nothing was looked up:"); err != nil {
			return x, err
		}
	}
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		if by == nil {
			by = &Retention{}
			if err := readSetting(tx, retentionSetting, by); err != nil {
				return err
			}
		}
		list, err := tx.KeptPlans()
		x = by.excess(list, e.opts.Now())
		return err
	})
	return x, err
}

// excess divides plans, those that ended last first, into those that stay and
// those that go.
func (r *Retention) excess(list []KeptPlan, now time.Time) Excess {
	x := Excess{Go: []KeptPlan{}}
	oldest, most := plan.StampOf(now.AddDate(0, 0, -int(r.KeepDays))), int64(r.KeepGB*1e9)
	full := false
	for _, p := range list {
		full = full || r.KeepGB > 0 && x.Stays+p.Bytes > most
		if full || r.KeepDays > 0 && p.Finished < oldest {
			x.Go, x.Bytes = append(x.Go, p), x.Bytes+p.Bytes
			continue
		}
		x.Kept, x.Stays = x.Kept+1, x.Stays+p.Bytes
	}
	slices.Reverse(x.Go)
	return x
}

// ApplyRetention forgets what the runs of plans told: their transcripts, prompts,
// diffs and snapshots. Steps keep their results, reviews, times and the names of
// the files that they changed. A plan in which anything can go on is refused, and
// then nothing is forgotten.
func (e *Engine) ApplyRetention(ctx context.Context, ids []plan.PlanID) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	if len(ids) == 0 {
		return plan.Errorf(plan.Invalid, "plan_ids must name at least one plan: those of the preview")
	}
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		var bad plan.Problems
		for _, id := range ids {
			if err := trimOne(tx, id, &bad); err != nil {
				return err
			}
		}
		return bad.Err("nothing was removed:")
	})
	if err != nil {
		return err
	}
	e.dropPatches(ctx)
	return e.finishTrims(ctx)
}

func trimOne(tx *store.Tx, id plan.PlanID, bad *plan.Problems) error {
	p, err := tx.Plan(id)
	if plan.KindOf(err) == plan.NotFound {
		bad.Add(err)
		return nil
	}
	if err != nil {
		return err
	}
	over, err := tx.IsOver(id)
	if err != nil {
		return err
	}
	switch {
	case !p.TopLevel():
		bad.Addf("plan %d is a subplan: name its top-level plan %d", id, p.Root)
		return nil
	case !over:
		bad.Addf("plan %d is not over: something in it runs, waits or has not been done yet", id)
		return nil
	}
	if err := tx.Trim(id); err != nil {
		return err
	}
	return recordPlan(tx, id, true)
}

// finishTrims takes away what was let go of, in small bits. After a crash the next
// process goes on.
func (e *Engine) finishTrims(ctx context.Context) error {
	var roots []plan.PlanID
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		roots, err = tx.TrimmedRoots()
		return err
	})
	for _, id := range roots {
		for more := true; more && err == nil; {
			err = e.store.Write(ctx, func(tx *store.Tx) error {
				at, err := tx.TrimmedAt(id)
				if err != nil || at == 0 {
					more = false
					return err
				}
				n, err := tx.TrimSome(id, trimAtOnce, fmt.Sprintf("removed on %s to save space", at.Time().Format(time.DateOnly)))
				more = n > 0
				return err
			})
		}
	}
	return err
}

// TrimmedAt returns until when the transcripts and diffs of a top-level plan were
// removed, 0 when all are there.
func (e *Engine) TrimmedAt(ctx context.Context, root plan.PlanID) (plan.Stamp, error) {
	var at plan.Stamp
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		at, err = tx.TrimmedAt(root)
		return err
	})
	return at, err
}

// retain applies the retention by itself where it is set to.
func (e *Engine) retain(ctx context.Context) {
	if err := e.finishTrims(ctx); err != nil && ctx.Err() == nil {
		e.log.Error("remove what was let go of", "err", err)
	}
	s, err := e.Settings(ctx)
	if err != nil || !s.Retention.Automatic {
		return
	}
	x, err := e.PreviewRetention(ctx, nil)
	if err == nil && len(x.Go) > 0 {
		ids := make([]plan.PlanID, len(x.Go))
		for i := range x.Go {
			ids[i] = x.Go[i].ID
		}
		if err = e.ApplyRetention(ctx, ids); err == nil {
			e.log.Info("removed old transcripts, diffs and snapshots", "plans", len(ids), "bytes", x.Bytes)
		}
	}
	if err != nil && ctx.Err() == nil {
		e.log.Error("apply the retention", "err", err)
	}
}
