package engine

import (
	"context"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Template returns a plan as it can be submitted again: its steps, their order and
// its settings, without what came of them. It names no folder, and agents by their
// names. Steps are numbered anew, as keys. What is nested in the plan is not part
// of it: a step with a subplan is a step that can get one again.
func (e *Engine) Template(ctx context.Context, id plan.PlanID) (SubmitPlanIn, error) {
	actor := plan.ActorFrom(ctx)
	var s *plan.Snapshot
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if err := mayReadPlan(tx, actor, id); err != nil {
			return err
		}
		s, err = tx.Snapshot(id)
		return err
	})
	if err != nil {
		return SubmitPlanIn{}, err
	}
	p := s.Plan(id)
	in := SubmitPlanIn{PlanIn: PlanIn{Title: p.Title, Description: p.Description, MaxParallel: p.MaxParallel,
		TestInstructions: p.TestInstructions, Isolation: p.Isolation, OnFailure: p.OnFailure, MaxAttempts: p.MaxAttempts,
		MaxTokens: p.MaxTokens, MaxCostUSD: p.MaxCostUSD, ReviewPolicy: p.ReviewPolicy, CheckCommand: p.CheckCommand,
		StallAfter: p.StallAfter}}
	if p.Approval != "" && p.Approval != plan.NoApproval {
		in.Approval = "required"
	}
	keys := map[plan.NodeID]string{}
	for i, n := range s.NodesOf(id) {
		keys[n.ID] = "step-" + strconv.Itoa(i+1)
	}
	for _, n := range s.NodesOf(id) {
		in.Nodes = append(in.Nodes, specOf(s, n, keys))
	}
	for _, edge := range s.EdgesOf(id) {
		in.Edges = append(in.Edges, []string{keys[edge.From], keys[edge.To]})
	}
	return in, nil
}

// specOf writes a step as it can be submitted. A request for a result that nothing
// orders is left out: it would be refused.
func specOf(s *plan.Snapshot, n *plan.Node, keys map[plan.NodeID]string) NodeSpec {
	spec := NodeSpec{Key: keys[n.ID], Title: n.Title, Description: n.Description, Files: pathsOf(n), AcceptanceCriteria: n.Criteria,
		TaskType: n.TaskType, MaxAttempts: n.MaxAttempts, Isolation: n.Isolation, CheckCommand: n.CheckCommand}
	if n.Kind == plan.KindUser {
		spec.Kind = string(plan.KindUser)
	}
	if p := s.Profiles[n.Profile]; p != nil {
		spec.Agent = AgentRef(p.Name)
	}
	for _, from := range n.ResultsFrom {
		if key, ok := keys[from]; ok && s.Graph(n.PlanID).Reaches(from, n.ID) {
			spec.ResultsFrom = append(spec.ResultsFrom, key)
		}
	}
	return spec
}
