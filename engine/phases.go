package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// waited keeps what a node that starts now has waited for. One that was only
// handed over, in less than briefly seconds, waited for nothing.
func (m *mover) waited(n *plan.Node, waits []plan.Wait) error {
	const briefly = 0.05
	if len(waits) == 1 && waits[0].Phase == plan.PhaseSlot && m.tx.Now()-waits[0].Since < briefly {
		return nil
	}
	for _, w := range waits {
		if err := m.tx.SetWait(n, w); err != nil {
			return err
		}
	}
	return nil
}

// Stretch is a time that a node spent waiting for one thing, or working.
type Stretch = store.Stretch

// Phases returns the times that the nodes of a plan (node 0), or one of them,
// spent in each phase that they have left.
func (e *Engine) Phases(ctx context.Context, r plan.Ref) ([]Stretch, error) {
	var list []Stretch
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Phases(r)
		return err
	})
	return list, err
}

// Times is when the steps of a tree waited and worked.
type Times struct {
	Stretches []Stretch  // by plan, node and time
	Runs      []plan.Run // by plan, node and number; without what they told and cost
}

// TimesOf returns the times of the whole tree that a plan is the root of.
func (e *Engine) TimesOf(ctx context.Context, root plan.PlanID) (Times, error) {
	var t Times
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if t.Stretches, err = tx.TreePhases(root); err != nil {
			return err
		}
		t.Runs, err = tx.TreeRuns(root)
		return err
	})
	return t, err
}
