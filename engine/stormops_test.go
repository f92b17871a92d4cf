package engine_test

import (
	"context"
	"fmt"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// op is what an operation does once its arguments are chosen.
type op = func(context.Context) error

func operations() []operation {
	return []operation{
		{"submit", 5, (*storm).submit}, {"expand", 4, (*storm).expand}, {"worker expands", 3, (*storm).workerExpands},
		{"add node", 4, (*storm).addNode}, {"update node", 6, (*storm).updateNode}, {"remove node", 3, (*storm).removeNode},
		{"add edge", 5, (*storm).addEdge}, {"remove edge", 3, (*storm).removeEdge},
		{"start", 6, (*storm).start}, {"stop", 3, (*storm).stopPlan}, {"reset", 1, (*storm).reset}, {"delete", 1, (*storm).delete},
		{"update plan", 2, (*storm).updatePlan}, {"agent of plan", 1, (*storm).planAgent}, {"update profile", 2, (*storm).updateProfile},
		{"retry", 5, (*storm).retry}, {"retry failed", 2, (*storm).retryFailed},
		{"stop node", 2, (*storm).stopNode}, {"mark done", 4, (*storm).markDone},
		{"rework", 4, (*storm).rework}, {"skip", 3, (*storm).skip}, {"unskip", 3, (*storm).unskip},
		{"claim", 10, (*storm).claim}, {"complete", 7, (*storm).complete}, {"fail claim", 2, (*storm).failClaim},
		{"release", 2, (*storm).release}, {"report", 2, (*storm).report},
		{"review", 3, (*storm).review}, {"retention", 3, (*storm).retention},
		{"agent ends", 20, (*storm).agentEnds},
	}
}

func pick[T any](s *storm, list []T) (T, bool) {
	if len(list) == 0 {
		var none T
		return none, false
	}
	return list[s.r.IntN(len(list))], true
}

// node returns some node of the view that fits, nil when there is none.
func (s *storm) node(fits func(*plan.Node) bool) *plan.Node {
	var list []*plan.Node
	for _, tree := range s.view.Trees {
		tree.Walk(func(n *plan.Node) {
			if fits(n) {
				list = append(list, n)
			}
		})
	}
	n, _ := pick(s, list)
	return n
}

func anyNode(*plan.Node) bool { return true }

func waiting(n *plan.Node) bool { return n.State == plan.Pending || n.State == plan.Ready }

// anyPlan returns some plan of the view.
func (s *storm) anyPlan(topLevel bool) (plan.PlanID, bool) {
	var list []plan.PlanID
	for _, tree := range s.view.Trees {
		if topLevel {
			list = append(list, tree.Root().ID)
		} else {
			list = append(list, tree.PlanIDs()...)
		}
	}
	return pick(s, list)
}

func (s *storm) files() []string {
	pool := []string{"src", "src/a.go", "Src/b.go", "docs", "docs/x", "README.md", "go.mod"}
	var out []string
	for range s.r.IntN(3) {
		out = append(out, pool[s.r.IntN(len(pool))])
	}
	return out
}

func (s *storm) agent() engine.AgentRef {
	return []engine.AgentRef{"", "", "", "slow", "quick"}[s.r.IntN(5)]
}

func (s *storm) kind() string {
	if s.r.IntN(8) == 0 {
		return "user"
	}
	return "agent"
}

// spec is a plan of up to n steps in any order.
func (s *storm) spec(n int) engine.SubmitPlanIn {
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "A plan"}}
	for i := range 1 + s.r.IntN(n) {
		node := engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprintf("Step %d", i), Files: s.files(), Kind: s.kind(), Agent: s.agent()}
		for j := range i {
			if s.r.IntN(4) == 0 {
				in.Edges = append(in.Edges, []string{fmt.Sprint(j), fmt.Sprint(i)})
				if s.r.IntN(3) == 0 {
					node.ResultsFrom = append(node.ResultsFrom, fmt.Sprint(j))
				}
			}
		}
		in.Nodes = append(in.Nodes, node)
	}
	return in
}

func (s *storm) submit() op {
	if len(s.view.Trees) >= 4 {
		return nil
	}
	in := s.spec(8)
	in.WorkingDirectory, in.MaxParallel = s.t.TempDir(), s.r.IntN(3)
	in.OnFailure = []string{"", "hold", "skip"}[s.r.IntN(3)]
	if s.gates {
		s.policies(&in)
	}
	in.Start = []plan.Executor{"", plan.Builtin, plan.Builtin, plan.External}[s.r.IntN(4)]
	return func(ctx context.Context) error {
		_, err := s.SubmitPlan(ctx, in)
		return err
	}
}

func (s *storm) expand() op {
	n := s.node(func(n *plan.Node) bool { return n.Subplan == 0 && n.State != plan.Done })
	if n == nil {
		return nil
	}
	in := s.spec(4)
	if s.r.IntN(8) == 0 {
		in.Nodes, in.Edges = nil, nil
	}
	in.ParentPlanID, in.ParentNodeID = n.PlanID, n.ID
	return func(ctx context.Context) error {
		_, err := s.SubmitPlan(ctx, in)
		return err
	}
}

func (s *storm) workerExpands() op {
	a, ok := pick(s, s.cast.list())
	if !ok {
		return nil
	}
	in := s.spec(3)
	in.ParentPlanID, in.ParentNodeID = a.ref.Plan, a.ref.Node
	for i := range in.Nodes {
		in.Nodes[i].Agent = ""
	}
	return func(ctx context.Context) error {
		_, err := s.SubmitPlan(plan.WithActor(ctx, plan.Actor{Role: plan.Worker, Run: a.run, Ref: a.ref}), in)
		return err
	}
}

func (s *storm) addNode() op {
	id, ok := s.anyPlan(false)
	if !ok {
		return nil
	}
	in := engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("Added"), Files: p(s.files()), Kind: p(s.kind()), Agent: p(s.agent())}}
	return func(ctx context.Context) error {
		_, err := s.AddNode(ctx, in)
		return err
	}
}

func (s *storm) updateNode() op {
	n := s.node(anyNode)
	if n == nil {
		return nil
	}
	in := engine.UpdateNodeIn{PlanID: n.PlanID, NodeID: n.ID}
	switch s.r.IntN(5) {
	case 0:
		in.Title = p("Another title")
	case 1:
		in.Files = p(s.files())
	case 2:
		in.Kind = p(s.kind())
	case 3:
		in.Agent = p(s.agent())
	case 4:
		in.ResultsFrom = &[]plan.NodeID{1 + plan.NodeID(s.r.IntN(4))}
	}
	return func(ctx context.Context) error { return s.UpdateNode(ctx, in) }
}

func (s *storm) removeNode() op {
	n := s.node(func(n *plan.Node) bool { return waiting(n) || s.r.IntN(10) == 0 })
	if n == nil {
		return nil
	}
	return func(ctx context.Context) error { return s.RemoveNode(ctx, n.Ref()) }
}

func (s *storm) addEdge() op {
	to := s.node(func(n *plan.Node) bool { return waiting(n) || s.r.IntN(10) == 0 })
	if to == nil {
		return nil
	}
	from := s.node(func(n *plan.Node) bool { return n.PlanID == to.PlanID })
	return func(ctx context.Context) error {
		return s.AddEdge(ctx, engine.EdgeIn{PlanID: to.PlanID, From: from.ID, To: to.ID})
	}
}

func (s *storm) removeEdge() op {
	var list []plan.Edge
	for _, tree := range s.view.Trees {
		for _, id := range tree.PlanIDs() {
			list = append(list, tree.EdgesOf(id)...)
		}
	}
	e, ok := pick(s, list)
	if !ok {
		return nil
	}
	return func(ctx context.Context) error {
		return s.RemoveEdge(ctx, engine.EdgeIn{PlanID: e.Plan, From: e.From, To: e.To})
	}
}

func (s *storm) start() op {
	id, ok := s.anyPlan(true)
	if !ok {
		return nil
	}
	by := []plan.Executor{plan.Builtin, plan.Builtin, plan.External}[s.r.IntN(3)]
	return func(ctx context.Context) error { return s.StartPlan(ctx, id, by) }
}

// onPlan is an operation on a top-level plan.
func (s *storm) onPlan(f func(context.Context, plan.PlanID) error) op {
	id, ok := s.anyPlan(true)
	if !ok {
		return nil
	}
	return func(ctx context.Context) error { return f(ctx, id) }
}

func (s *storm) stopPlan() op { return s.onPlan(s.StopPlan) }
func (s *storm) reset() op    { return s.onPlan(s.ResetPlan) }
func (s *storm) delete() op   { return s.onPlan(s.DeletePlan) }

func (s *storm) retryFailed() op {
	return s.onPlan(func(ctx context.Context, id plan.PlanID) error {
		_, err := s.RetryFailed(ctx, id)
		return err
	})
}

func (s *storm) updatePlan() op {
	limit, attempts, policy := s.r.IntN(4), 1+s.r.IntN(2), []string{"hold", "skip"}[s.r.IntN(2)]
	return s.onPlan(func(ctx context.Context, id plan.PlanID) error {
		return s.UpdatePlan(ctx, engine.UpdatePlanIn{PlanID: id, MaxParallel: &limit, MaxAttempts: &attempts, OnFailure: &policy})
	})
}

func (s *storm) planAgent() op {
	id, ok := s.anyPlan(false)
	if !ok {
		return nil
	}
	agent := s.agent()
	return func(ctx context.Context) error {
		_, err := s.SetPlanAgent(ctx, id, agent)
		return err
	}
}

func (s *storm) updateProfile() op {
	limit := s.r.IntN(4)
	for _, tree := range s.view.Trees {
		for id, p := range tree.Profiles {
			if p.Name == "slow" {
				return func(ctx context.Context) error {
					_, err := s.UpdateProfile(ctx, id, engine.ProfileFields{MaxParallel: &limit})
					return err
				}
			}
		}
	}
	return nil
}

// onNode is an operation on a node that fits.
func (s *storm) onNode(fits func(*plan.Node) bool, f func(context.Context, plan.Ref) error) op {
	n := s.node(fits)
	if n == nil {
		return nil
	}
	return func(ctx context.Context) error { return f(ctx, n.Ref()) }
}

func (s *storm) retry() op {
	return s.onNode(func(n *plan.Node) bool { return n.State == plan.Failed || s.r.IntN(20) == 0 }, s.RetryNode)
}

func (s *storm) stopNode() op {
	return s.onNode(func(n *plan.Node) bool { return n.State == plan.Running || s.r.IntN(20) == 0 }, s.StopNode)
}

func (s *storm) markDone() op {
	return s.onNode(func(n *plan.Node) bool { return n.WaitingForUser() || s.r.IntN(10) == 0 },
		func(ctx context.Context, r plan.Ref) error { return s.MarkDone(ctx, r, nil) })
}

func (s *storm) rework() op {
	return s.onNode(func(n *plan.Node) bool { return n.State == plan.Done || n.State == plan.Failed },
		func(ctx context.Context, r plan.Ref) error { return s.ReworkNode(ctx, r, "do it better") })
}

func (s *storm) skip() op {
	return s.onNode(waiting, func(ctx context.Context, r plan.Ref) error { return s.SkipNode(ctx, r, "not now") })
}

func (s *storm) unskip() op {
	return s.onNode(func(n *plan.Node) bool { return n.State == plan.Skipped }, s.UnskipNode)
}

func (s *storm) claim() op {
	within := plan.PlanID(0)
	if s.r.IntN(3) == 0 {
		within, _ = s.anyPlan(false)
	}
	return func(ctx context.Context) error {
		_, err := s.Claim(ctx, "someone", within)
		return err
	}
}

// onClaim is an operation on a step that an external agent has.
func (s *storm) onClaim(f func(context.Context, plan.Run) error) op {
	var list []plan.Run
	for _, r := range s.view.Open {
		if r.Kind == plan.RunExternal {
			list = append(list, r)
		}
	}
	r, ok := pick(s, list)
	if !ok {
		return nil
	}
	return func(ctx context.Context) error { return f(ctx, r) }
}

func (s *storm) complete() op {
	return s.onClaim(func(ctx context.Context, r plan.Run) error {
		return s.Complete(ctx, engine.CompleteIn{Ref: r.Ref(), Run: r.Number, Result: "done outside"})
	})
}

func (s *storm) failClaim() op {
	return s.onClaim(func(ctx context.Context, r plan.Run) error { return s.FailClaimed(ctx, r.Ref(), r.Number, "cannot") })
}

func (s *storm) release() op {
	return s.onClaim(func(ctx context.Context, r plan.Run) error { return s.Release(ctx, r.Ref(), r.Number) })
}

func (s *storm) report() op {
	return s.onClaim(func(ctx context.Context, r plan.Run) error { return s.Report(ctx, r.Ref(), "still at it", "") })
}

func (s *storm) agentEnds() op {
	a, ok := pick(s, s.cast.list())
	if !ok {
		return nil
	}
	e, _ := pick(s, endings(time.Duration(s.r.IntN(100))*time.Second))
	return func(context.Context) error {
		a.end(e)
		return nil
	}
}
