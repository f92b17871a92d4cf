package engine

import (
	"context"
	"slices"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// RemoveNode removes a pending or ready node with its edges, the requests for
// its result and its subplan.
func (e *Engine) RemoveNode(ctx context.Context, r plan.Ref) error {
	actor := plan.ActorFrom(ctx)
	var copies []string
	defer e.endStaleReviews(ctx)
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		if err := mayTouchPlan(tx, actor, r.Plan); err != nil {
			return err
		}
		n, err := tx.Node(r)
		if err != nil {
			return err
		}
		if n.State != plan.Pending && n.State != plan.Ready {
			return plan.Errorf(plan.Invalid, "step %s is %s: only a pending or ready step can be removed", r, n.State)
		}
		m, err := newMover(tx, r.Plan)
		if err != nil {
			return err
		}
		if copies, err = e.copiesUnder(tx, n); err != nil {
			return err
		}
		if err := m.removeNode(n); err != nil {
			return err
		}
		return touched(ctx, tx, r.Plan)
	})
	if err == nil {
		e.dropWorktrees(copies)
	}
	return err
}

func (m *mover) removeNode(n *plan.Node) error {
	facts := &plan.Facts{}
	var ids []plan.PlanID
	if n.Subplan != 0 {
		var err error
		if ids, err = m.tx.Subtree(n.Subplan); err != nil {
			return err
		}
	}
	if err := m.giveUpReviews(func(r *plan.Review) bool { return r.Ref() == n.Ref() || slices.Contains(ids, r.PlanID) }); err != nil {
		return err
	}
	if n.Subplan != 0 {
		if err := m.tx.DeletePlans(ids); err != nil {
			return err
		}
		facts.Plans = append(facts.Plans, plan.PlanFacts{ID: n.Subplan, Root: m.root.ID, Deleted: true})
	}
	after, err := m.tx.Dependants(n.Ref())
	if err != nil {
		return err
	}
	if err := m.tx.DeleteNode(n.Ref()); err != nil {
		return err
	}
	facts.Nodes = append(facts.Nodes, plan.NodeFacts{PlanID: n.PlanID, ID: n.ID, Deleted: true})
	if err := m.tx.Record(plan.Change{Root: m.root.ID, Plan: n.PlanID, Node: n.ID, Kind: plan.ChangeNode, Shape: true,
		Deleted: true, Facts: facts}); err != nil {
		return err
	}
	if err := m.advance(n.PlanID, after); err != nil {
		return err
	}
	return m.rollUp(n.PlanID)
}
