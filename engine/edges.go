package engine

import (
	"context"
	"fmt"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// EdgeIn names an edge of a plan.
type EdgeIn struct {
	PlanID plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The plan."`
	From   plan.NodeID `json:"from_node_id" param:"from" jsonschema:"The step that must be done first."`
	To     plan.NodeID `json:"to_node_id" param:"to" jsonschema:"The step that waits for it."`
}

func (in EdgeIn) edge() plan.Edge { return plan.Edge{Plan: in.PlanID, From: in.From, To: in.To} }

// AddEdge orders two nodes of a plan. An edge that is there already is no error.
// One into a node that has started, or that closes a cycle, is Invalid.
func (e *Engine) AddEdge(ctx context.Context, in EdgeIn) error {
	actor := plan.ActorFrom(ctx)
	return e.store.Write(ctx, func(tx *store.Tx) error {
		if err := mayTouchPlan(tx, actor, in.PlanID); err != nil {
			return err
		}
		if _, err := edgeAllowed(tx, in.edge()); err != nil {
			return err
		}
		added, err := tx.InsertEdges(in.PlanID, []plan.Edge{in.edge()})
		if err != nil || added == 0 {
			return err
		}
		if err := recordPlan(tx, in.PlanID, true); err != nil {
			return err
		}
		if err := touched(ctx, tx, in.PlanID); err != nil {
			return err
		}
		return settleEdge(tx, in.edge())
	})
}

// settleEdge does to a node what a new edge into it means: it waits, or is skipped
// with what it depends on.
func settleEdge(tx *store.Tx, ed plan.Edge) error {
	to, err := tx.Node(plan.Ref{Plan: ed.Plan, Node: ed.To})
	if err != nil || to.State != plan.Pending && to.State != plan.Ready {
		return err
	}
	m, err := newMover(tx, ed.Plan)
	if err != nil {
		return err
	}
	from, err := tx.Node(plan.Ref{Plan: ed.Plan, Node: ed.From})
	if err != nil {
		return err
	}
	lost := from.State == plan.Failed || from.State == plan.Skipped && from.SkippedBy == plan.SkippedByFailure
	switch {
	case lost && m.root.OnFailure == "skip":
		cause := from.ID
		if from.State == plan.Skipped {
			cause = from.SkippedCause
		}
		if err := m.move(to, plan.FailureAbove, func(n *plan.Node) {
			n.SkippedBy, n.SkippedCause = plan.SkippedByFailure, cause
		}); err != nil {
			return err
		}
		return m.skipDependants(to)
	case to.State == plan.Ready && to.Blockers > 0:
		return m.move(to, plan.Blocked, nil)
	}
	return nil
}

// edgeAllowed checks an edge and returns the node that it leads to.
func edgeAllowed(tx *store.Tx, ed plan.Edge) (*plan.Node, error) {
	if ed.From == ed.To {
		if _, err := tx.Plan(ed.Plan); err != nil {
			return nil, err
		}
		return nil, plan.Errorf(plan.Invalid, "self-loops are not allowed: step %d cannot wait for itself", ed.From)
	}
	if _, err := tx.Node(plan.Ref{Plan: ed.Plan, Node: ed.From}); err != nil {
		return nil, err
	}
	to, err := tx.Node(plan.Ref{Plan: ed.Plan, Node: ed.To})
	if err != nil {
		return nil, err
	}
	if to.State != plan.Pending && to.State != plan.Ready {
		return nil, plan.Errorf(plan.Invalid, "step %s is %s: an edge into it would come too late", to.Ref(), to.State)
	}
	back, err := tx.Reaches(ed.Plan, ed.To, ed.From)
	if err != nil || !back {
		return to, err
	}
	return nil, cycleError(tx, ed)
}

// cycleError names the cycle that an edge would close.
func cycleError(tx *store.Tx, ed plan.Edge) error {
	edges, err := tx.Edges(ed.Plan)
	if err != nil {
		return err
	}
	ids := map[plan.NodeID]bool{}
	edges = append(edges, ed)
	for _, x := range edges {
		ids[x.From], ids[x.To] = true, true
	}
	var list []plan.NodeID
	for id := range ids {
		list = append(list, id)
	}
	cycle := plan.NewGraph(list, edges).Cycle()
	return plan.Errorf(plan.Invalid, "edge %s would create a cycle: %s", ed,
		plan.CyclePath(cycle, func(id plan.NodeID) string { return fmt.Sprint(id) }))
}

// RemoveEdge removes an edge; one that is not there is no error. It may leave a
// request for a result without a path, which is checked at the next start.
func (e *Engine) RemoveEdge(ctx context.Context, in EdgeIn) error {
	actor := plan.ActorFrom(ctx)
	return e.store.Write(ctx, func(tx *store.Tx) error {
		if err := mayTouchPlan(tx, actor, in.PlanID); err != nil {
			return err
		}
		if _, err := tx.Plan(in.PlanID); err != nil {
			return err
		}
		removed, err := tx.DeleteEdge(in.edge())
		if err != nil || !removed {
			return err
		}
		if err := recordPlan(tx, in.PlanID, true); err != nil {
			return err
		}
		if err := touched(ctx, tx, in.PlanID); err != nil {
			return err
		}
		m, err := newMover(tx, in.PlanID)
		if err != nil {
			return err
		}
		if err := m.unskip(in.PlanID); err != nil {
			return err
		}
		return m.restart(in.PlanID)
	})
}
