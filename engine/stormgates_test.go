package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// judge answers in turn as judges do: mostly well.
func (c *cast) judge(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	h.Emit(plugin.Usage(5, 1))
	c.mu.Lock()
	c.judged++
	judged, curtain := c.judged, c.curtain
	c.mu.Unlock()
	if judged%4 == 0 && !curtain { // long enough for things to happen meanwhile
		select {
		case <-time.After(20 * time.Second):
		case <-ctx.Done():
			return plugin.Result{}, ctx.Err()
		}
	}
	switch {
	case judged%13 == 0 && !curtain:
		return plugin.Result{IsError: true, RateLimited: true, Until: time.Now().Add(10 * time.Second), Errors: []string{"limit reached"}}, nil
	case t.Kind != string(plan.RunJudge):
		return plugin.Result{Text: "VERDICT: ok"}, nil
	case curtain || judged%2 == 0:
		return plugin.Result{Text: pass}, nil
	case judged%3 == 0:
		return plugin.Result{Text: "I like it."}, nil
	case judged%11 == 0:
		return plugin.Result{}, errors.New("no such luck")
	}
	return plugin.Result{Text: fail}, nil
}

// policies gives a plan gates, a budget, isolation, or has it wait for approval.
func (s *storm) policies(in *engine.SubmitPlanIn) {
	in.MaxAttempts = 1 + s.r.IntN(3)
	if s.r.IntN(3) > 0 {
		in.ReviewPolicy = "gate"
	}
	if s.r.IntN(4) == 0 {
		in.CheckCommand = []string{"true", "exit 3"}[s.r.IntN(2)]
	}
	if s.r.IntN(3) == 0 {
		in.MaxTokens = 40
	}
	if s.r.IntN(4) == 0 {
		in.Approval = "required"
	}
	if s.isolated {
		in.WorkingDirectory, in.Isolation = repository(s.t), "worktree"
	}
}

func gateOperations() []operation {
	undecided := func(n *plan.Node) bool { return n.State == plan.Running && n.Phase == plan.PhaseNeedsPerson }
	return append(operations(), []operation{
		{"accept", 8, func(s *storm) op {
			return s.onNode(undecided, func(ctx context.Context, r plan.Ref) error { return s.Accept(ctx, r, "fine") })
		}},
		{"judge again", 8, func(s *storm) op { return s.onNode(undecided, s.JudgeAgain) }},
		{"rework undecided", 4, func(s *storm) op {
			return s.onNode(undecided, func(ctx context.Context, r plan.Ref) error { return s.ReworkNode(ctx, r, "better") })
		}},
		{"approve", 10, (*storm).approve},
		{"judge of a plan", 4, func(s *storm) op {
			return s.onPlan(func(ctx context.Context, id plan.PlanID) error {
				_, err := s.SetReviewAgent(ctx, id, "judge")
				return err
			})
		}},
		{"budget", 4, func(s *storm) op {
			tokens := int64(s.r.IntN(3)) * 60
			return s.onPlan(func(ctx context.Context, id plan.PlanID) error {
				return s.UpdatePlan(ctx, engine.UpdatePlanIn{PlanID: id, MaxTokens: &tokens})
			})
		}},
	}...)
}

func (s *storm) approve() op {
	for _, tree := range s.view.Trees {
		if root := tree.Root(); root.Approval == plan.Awaiting {
			in := engine.ApproveIn{PlanID: root.ID, Revision: root.Revision, Start: s.r.IntN(2) == 0}
			return func(ctx context.Context) error { return s.Approve(ctx, in) }
		}
	}
	return nil
}

// review asks for a review of a finished step or a plan, and leaves soon: it goes on.
func (s *storm) review() op {
	r := plan.Ref{}
	if n := s.node(func(n *plan.Node) bool { return n.State == plan.Done || n.State == plan.Failed }); n != nil {
		r = n.Ref()
	}
	if id, ok := s.anyPlan(false); ok && (r.Plan == 0 || s.r.IntN(4) == 0) {
		r = plan.Ref{Plan: id}
	}
	if r.Plan == 0 {
		return nil
	}
	return func(ctx context.Context) error {
		ctx, leave := context.WithTimeout(ctx, time.Second)
		defer leave()
		if _, err := s.Review(ctx, r, "judge"); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	}
}

func (s *storm) retention() op {
	return s.onPlan(func(ctx context.Context, id plan.PlanID) error { return s.ApplyRetention(ctx, []plan.PlanID{id}) })
}

// pushGates does what a person would do about gates, budgets and approval.
func (s *storm) pushGates(tree *plan.Snapshot) {
	ctx, root := context.Background(), tree.Root()
	if root.OverBudget() != "" {
		if err := s.UpdatePlan(ctx, engine.UpdatePlanIn{PlanID: root.ID, MaxTokens: p(int64(0))}); err != nil {
			s.w.fail("raise the budget of plan %d: %v", root.ID, err)
		}
	}
	if root.CheckCommand == "exit 3" {
		if err := s.UpdatePlan(ctx, engine.UpdatePlanIn{PlanID: root.ID, CheckCommand: p("true")}); err != nil {
			s.w.fail("change the check of plan %d: %v", root.ID, err)
		}
	}
	s.look()
	now := treeOf(s.view, root.ID)
	if now.Root().Approval == plan.Awaiting {
		if err := s.Approve(ctx, engine.ApproveIn{PlanID: root.ID, Revision: now.Root().Revision}); err != nil {
			s.w.fail("approve plan %d: %v", root.ID, err)
		}
	}
	now.Walk(func(n *plan.Node) {
		if n.State == plan.Running && n.Phase == plan.PhaseNeedsPerson {
			if err := s.Accept(ctx, n.Ref(), ""); err != nil {
				s.w.fail("accept %s: %v", n.Ref(), err)
			}
		}
	})
}

func TestEngineInAStormOfGates(t *testing.T) {
	seeds, rounds := stormSeeds(t, 3), 40
	if testing.Short() {
		seeds, rounds = 2, 25
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			isolated := seed%3 == 2
			raise(t, rounds, gateOperations(), func(t *testing.T) *storm {
				return newStorm(t, seed, func(s *storm) { s.gates, s.isolated = true, isolated })
			})
		})
	}
}
