package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// SetReviewAgent sets who reviews the steps of a plan and of those nested in it,
// and the plan itself; an empty one inherits again, which on a top-level plan
// means that nothing is reviewed by itself.
func (e *Engine) SetReviewAgent(ctx context.Context, id plan.PlanID, agent AgentRef) (plan.ProfileID, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return 0, err
	}
	var set plan.ProfileID
	err := e.changePlan(ctx, id, true, nameAgent(&set, agent, func(p *plan.Plan) *plan.ProfileID { return &p.ReviewProfile }), false)
	return set, err
}

// reviewerOf returns who reviews what is in a plan: its own review agent or that
// of the nearest plan above it; 0 when none does.
func reviewerOf(tx *store.Tx, id plan.PlanID) (plan.ProfileID, error) {
	for id != 0 {
		p, err := tx.Plan(id)
		if err != nil || p.ReviewProfile != 0 {
			return p.ReviewProfile, err
		}
		id = p.ParentPlan
	}
	return 0, nil
}

// Review has a finished step, or (node 0) a plan, reviewed now, by the given agent
// or the plan's own, and waits for the verdict. It replaces a review of the same
// thing that waits or runs. When ctx ends the review goes on.
func (e *Engine) Review(ctx context.Context, r plan.Ref, agent AgentRef) (*plan.Review, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return nil, err
	}
	if err := e.awaitScan(ctx); err != nil {
		return nil, err
	}
	sub := e.Subscribe(0, -1)
	var asked plan.Review
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		m, profile, err := e.reviewable(tx, r, agent)
		if err != nil {
			return err
		}
		asked = plan.Review{Kind: plan.KindReview, PlanID: r.Plan, NodeID: r.Node, Profile: profile.ID, Urgent: true}
		return m.askForReview(&asked)
	})
	if err != nil {
		return nil, err
	}
	e.endStaleReviews(ctx)
	return e.awaitReview(ctx, sub, asked.ID)
}

// reviewable checks that a thing can be reviewed, and by whom.
func (e *Engine) reviewable(tx *store.Tx, r plan.Ref, agent AgentRef) (*mover, *plan.Profile, error) {
	m, err := newMover(tx, r.Plan)
	if err != nil {
		return nil, nil, err
	}
	if r.Node != 0 {
		n, err := tx.Node(r)
		if err != nil {
			return nil, nil, err
		}
		if n.State != plan.Done && n.State != plan.Failed {
			return nil, nil, plan.Errorf(plan.Invalid, "step %s is %s: only a finished step can be reviewed", r, n.State)
		}
	}
	id, err := findAgent(tx, agent)
	if err == nil && id == 0 {
		id, err = reviewerOf(tx, r.Plan)
	}
	if err != nil {
		return nil, nil, err
	}
	if id == 0 {
		return nil, nil, plan.Errorf(plan.Invalid, "there is no review agent: set one on the plan, or name an agent for this review")
	}
	p, err := tx.Profile(id)
	if err != nil {
		return nil, nil, err
	}
	return m, p, e.canRun(m.root, p)
}

// askForReview queues a review. One of the same thing that waits is replaced, and
// so is one that runs: its row goes, and who runs it finds that out.
func (m *mover) askForReview(r *plan.Review) error {
	if err := m.giveUpReviews(func(o *plan.Review) bool { return o.Ref() == r.Ref() && o.Kind == r.Kind }); err != nil {
		return err
	}
	if err := m.tx.InsertReview(r); err != nil {
		return err
	}
	return m.recordReview(r)
}

// giveUpReviews forgets those reviews of the tree that have no verdict yet.
func (m *mover) giveUpReviews(which func(*plan.Review) bool) error {
	open, err := m.tx.OpenReviews()
	if err != nil {
		return err
	}
	for i := range open {
		r := &open[i]
		root, err := m.tx.RootOf(r.PlanID)
		if err != nil {
			return err
		}
		if root != m.root.ID || !which(r) {
			continue
		}
		if err := m.tx.DeleteReview(r.ID); err != nil {
			return err
		}
		r.State = plan.ReviewDone
		if err := m.recordReview(r); err != nil {
			return err
		}
	}
	return nil
}

func anyReview(*plan.Review) bool { return true }

// forgetReviews gives up the reviews of a tree that is to be deleted: some may have
// been asked for since it was stopped.
func forgetReviews(tx *store.Tx, id plan.PlanID) error {
	m, err := newMover(tx, id)
	if err != nil {
		return err
	}
	return m.giveUpReviews(anyReview)
}

// recordReview tells the scheduler and who watches how far a review is.
func (m *mover) recordReview(r *plan.Review) error {
	kind := plan.ChangeNode
	if r.NodeID == 0 {
		kind = plan.ChangePlan
	}
	return m.tx.Record(plan.Change{Root: m.root.ID, Plan: r.PlanID, Node: r.NodeID, Kind: kind,
		Facts: &plan.Facts{Reviews: []plan.ReviewFacts{{ID: r.ID, Profile: r.Profile, Urgent: r.Urgent, State: r.State}}}})
}

// awaitReview waits until a review has its verdict.
func (e *Engine) awaitReview(ctx context.Context, sub *Subscription, id int64) (*plan.Review, error) {
	for {
		var now *plan.Review
		err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
			now, err = tx.Review(id)
			return err
		})
		switch {
		case plan.KindOf(err) == plan.NotFound:
			return nil, plan.Errorf(plan.Conflict, "the review was given up: another one was asked for, the step runs again, or the plan was stopped")
		case err != nil:
			return nil, err
		case now.State == plan.ReviewDone:
			return now, nil
		}
		if _, err := sub.Next(ctx); err != nil && !errors.Is(err, ErrResync) {
			return nil, fmt.Errorf("wait for the review: %w", err)
		}
	}
}

// endStaleReviews ends the sessions of reviews that were given up, and the checks.
func (e *Engine) endStaleReviews(ctx context.Context) {
	e.endStaleChecks(ctx)
	e.mu.Lock()
	var running []*session
	for _, s := range e.live {
		if isReview(s.run.Kind) {
			running = append(running, s)
		}
	}
	e.mu.Unlock()
	for _, s := range running {
		stale := false
		err := e.store.Read(ctx, func(tx *store.Tx) error {
			if _, err := tx.Run(s.run.ID); err != nil {
				return err // it has not begun, and finds out by itself
			}
			_, err := tx.ReviewByRun(s.run.ID)
			stale = plan.KindOf(err) == plan.NotFound
			return err
		})
		if err != nil && stale {
			e.spawn(func() { e.askToStop(context.WithoutCancel(ctx), s, causeReplaced) })
		}
	}
}

// isReview reports whether a run judges work instead of doing it.
func isReview(k plan.RunKind) bool {
	return k == plan.RunReview || k == plan.RunPlanReview || k == plan.RunJudge
}

// reviewDone queues the review of a step that is done now, where its plan has a
// review agent and there is something to judge.
func (m *mover) reviewDone(n *plan.Node) error {
	if n.AgentKind == "" || n.RunID == "" || m.root.ReviewPolicy == plan.PolicyOff || m.root.ReviewPolicy == plan.PolicyGate {
		return nil // a person did it, or it has only its subplan, or it was judged
	}
	if m.root.ReviewProfile == 0 && n.PlanID == m.root.ID {
		return nil
	}
	who, err := reviewerOf(m.tx, n.PlanID)
	if err != nil || who == 0 {
		return err
	}
	if len(n.Undeclared) == 0 {
		if changed, err := m.tx.HasChanges(n.RunID); err != nil || !changed {
			return err
		}
	}
	return m.askForReview(&plan.Review{Kind: plan.KindReview, PlanID: n.PlanID, NodeID: n.ID, Profile: who})
}

// reviewWhole queues the review of a plan that is over, once all reviews of its
// steps have their verdicts.
func (m *mover) reviewWhole() error {
	if m.root.FinishedAt == 0 || m.root.ReviewProfile == 0 {
		return nil
	}
	all, err := m.tx.ReviewsOf(m.root.ID)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.State != plan.ReviewDone || r.NodeID == 0 && r.PlanID == m.root.ID && r.Kind == plan.KindReview {
			return nil // wait for that one; or there is one already
		}
	}
	return m.askForReview(&plan.Review{Kind: plan.KindReview, PlanID: m.root.ID, Profile: m.root.ReviewProfile})
}

// setAside drops the verdict on a node that runs again, and what is on its way.
func (m *mover) setAside(r plan.Ref) error {
	if err := m.giveUpReviews(func(o *plan.Review) bool { return o.Ref() == r }); err != nil {
		return err
	}
	return errors.Join(m.tx.DropReviews(r, plan.KindReview), m.tx.DropReviews(r, plan.KindJudge))
}
