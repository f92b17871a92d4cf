package engine

import (
	"context"
	"errors"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// recoverRuns settles what an earlier process left open. Runs whose agents still
// live are followed on; the steps of the others are run again, with a line that
// says why. Claims of external agents stay.
func (e *Engine) recoverRuns(ctx context.Context) error {
	var open []plan.Run
	roots, started := map[plan.RunID]plan.PlanID{}, map[plan.PlanID]bool{}
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if open, err = tx.OpenRuns(); err != nil {
			return err
		}
		ids, err := tx.StartedRoots()
		for _, id := range ids {
			started[id] = true
		}
		if err != nil {
			return err
		}
		for _, r := range open {
			if roots[r.ID], err = tx.RootOf(r.PlanID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for i := range open {
		run := &open[i]
		if run.Kind == plan.RunExternal {
			continue
		}
		if len(run.Attach) > 0 { // else nobody comes back to it, and Sweep ends it
			keep[string(run.ID)] = true
		}
		s := newSession(run, roots[run.ID])
		if run.Kind == plan.RunStep && !started[s.root] && !run.Stopping {
			s.cause = causePlanStopped // the server ended before it could ask
		}
		e.enlist(s)
		e.spawn(func() { e.resume(context.WithoutCancel(ctx), s) })
	}
	e.launcher.Scan(ctx)
	close(e.looked)
	if err := e.launcher.Sweep(ctx, func(run string) bool { return keep[run] }); err != nil {
		e.log.Warn("sweep what earlier runs left", "err", err)
	}
	if err := e.recoverWorktrees(ctx); err != nil {
		return err
	}
	if err := e.resumePlanning(ctx, open); err != nil {
		return err
	}
	return e.resumePlans(ctx)
}

// resume goes on with the run of an earlier process.
func (e *Engine) resume(ctx context.Context, s *session) {
	defer e.dismiss(s)
	if s.run.Stopping {
		s.mu.Lock()
		s.cause = s.run.Cause
		s.mu.Unlock()
	}
	if len(s.run.Attach) == 0 {
		e.finish(ctx, s, plugin.Result{}, errors.New("the server ended before its agent had started"))
		return
	}
	conn, err := e.launcher.Reattach(ctx, s.run.Attach)
	if err != nil {
		e.log.Info("agent did not outlive the server", "step", s.run.Ref(), "err", err)
		e.finish(ctx, s, plugin.Result{}, err)
		return
	}
	e.log.Info("re-attached", "step", s.run.Ref(), "after", s.run.Acked)
	e.recallStall(ctx, s)
	e.follow(ctx, s, conn, s.run.Acked)
}

// resumePlans takes on what can start in started plans: steps that went back to
// pending when the server ended.
func (e *Engine) resumePlans(ctx context.Context) error {
	return e.store.Write(ctx, func(tx *store.Tx) error {
		roots, err := tx.StartedRoots()
		if err != nil {
			return err
		}
		for _, id := range roots {
			m, err := newMover(tx, id)
			if err != nil {
				return err
			}
			ids, err := tx.Subtree(id)
			if err != nil {
				return err
			}
			for _, sub := range ids {
				if err := m.restart(sub); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
