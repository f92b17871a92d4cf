package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/harness"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// checkTime is how long a check command may run.
const checkTime = 30 * time.Minute

// startChecks runs the check commands that are due. Each is due once: who is at
// it is remembered until its outcome is stored.
func (e *Engine) startChecks(ctx context.Context) {
	for _, id := range e.desk.dueChecks() {
		if !e.spawn(func() { e.runCheck(ctx, id) }) {
			e.desk.checkBack(id)
		}
	}
}

// runCheck runs the check command of one attempt and hands it on to the judge. A
// check that the end of the server cuts short is run again by the next one.
func (e *Engine) runCheck(ctx context.Context, id int64) {
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	defer e.watchCheck(id, cancel)() // first: who gives it up meanwhile is heard, or seen by checkFor
	command, dir, err := e.checkFor(ctx, id)
	if err != nil {
		if plan.KindOf(err) != plan.NotFound && ctx.Err() == nil {
			e.log.Error("prepare check", "review", id, "err", err)
		}
		return
	}
	exit, output := harness.RunCheck(limited, command, dir, os.Environ(), e.opts.PassEnv)
	if ctx.Err() != nil || errors.Is(limited.Err(), context.Canceled) {
		return
	}
	if limited.Err() != nil {
		exit, output = 124, output+fmt.Sprintf("\n[ended: it ran longer than %s]", checkTime)
	}
	err = e.store.Write(ctx, func(tx *store.Tx) error {
		r, err := tx.Review(id)
		if err != nil || r.State != plan.ReviewCheck {
			return err
		}
		m, n, err := moverAt(tx, r.Ref())
		if err != nil {
			return err
		}
		r.State, r.CheckExit, r.CheckText = plan.ReviewQueued, &exit, output
		if err := tx.UpdateReview(r); err != nil {
			return err
		}
		if err := m.say(n.Ref(), fmt.Sprintf("check command ended with exit code %d", exit)); err != nil {
			return err
		}
		if n.State == plan.Running && n.Phase == plan.PhaseChecking {
			if err := m.setPhase(n, plan.PhaseReviewing, nil); err != nil {
				return err
			}
		}
		return m.recordReview(r)
	})
	if err != nil && plan.KindOf(err) != plan.NotFound {
		e.log.Error("keep check", "review", id, "err", err)
	}
}

// runningCheck is a check command at work.
type runningCheck struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// watchCheck makes a running check known to those who end it when nobody needs it
// any more; the returned function says that it has ended.
func (e *Engine) watchCheck(id int64, cancel context.CancelFunc) (over func()) {
	c := &runningCheck{cancel, make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checks[id] = c
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.checks, id)
		close(c.ended)
	}
}

// endStaleChecks ends the checks of attempts that are not judged any more, and waits
// until nothing of them is at work in the folder.
func (e *Engine) endStaleChecks(ctx context.Context) {
	e.mu.Lock()
	running := maps.Clone(e.checks)
	e.mu.Unlock()
	var ending []*runningCheck
	for id, c := range running {
		err := e.store.Read(ctx, func(tx *store.Tx) error {
			_, err := tx.Review(id)
			return err
		})
		if plan.KindOf(err) == plan.NotFound {
			c.cancel()
			ending = append(ending, c)
		}
	}
	for _, c := range ending {
		select {
		case <-c.ended:
		case <-ctx.Done():
			return
		}
	}
}

// checkFor returns the command of a check and where it runs.
func (e *Engine) checkFor(ctx context.Context, id int64) (command, dir string, err error) {
	err = e.store.Read(ctx, func(tx *store.Tx) error {
		r, err := tx.Review(id)
		if err != nil {
			return err
		}
		n, err := tx.Node(r.Ref())
		if err != nil {
			return err
		}
		root, err := tx.RootPlan(r.PlanID)
		if err != nil {
			return err
		}
		command = checkCommand(root, n)
		dir, err = e.judgedIn(tx, r, root)
		return err
	})
	return command, dir, err
}
