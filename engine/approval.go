package engine

import (
	"context"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// ApproveIn says which revision of a plan is approved.
type ApproveIn struct {
	PlanID   plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The plan."`
	Revision int64       `json:"revision" jsonschema:"The revision that was looked at."`
	Start    bool        `json:"start,omitempty" jsonschema:"Whether the plan is started too."`
}

// notAwaiting refuses to decide about a plan that asks for nothing.
func notAwaiting(p *plan.Plan) error {
	if p.Approval == plan.NoApproval {
		return plan.Errorf(plan.Invalid, "plan %d does not wait for approval: it needs none", p.ID)
	}
	return plan.Errorf(plan.Invalid, "plan %d does not wait for approval: it is %s", p.ID, p.Approval)
}

// Approve lets a plan run whose revision a person has looked at. A revision that
// is no longer the last is a Conflict. With Start the plan is started in the same
// change; so is one whose author is to claim its steps.
func (e *Engine) Approve(ctx context.Context, in ApproveIn) error {
	return e.decide(ctx, in.PlanID, "approved", func(m *mover) error {
		if m.root.Approval != plan.Awaiting {
			return notAwaiting(m.root)
		}
		if in.Revision != m.root.Revision {
			return plan.Errorf(plan.Conflict, "revision %d of plan %d is not the last: look at revision %d", in.Revision, in.PlanID, m.root.Revision)
		}
		if err := m.setApproval(plan.Approved); err != nil {
			return err
		}
		if err := m.tx.DecideRevision(in.PlanID, in.Revision, plan.DecidedApproved, ""); err != nil {
			return err
		}
		if m.root.Started {
			return m.goOnApproved()
		}
		promised := m.root.Executor != "" && m.root.FirstStart == 0
		if !in.Start && !promised {
			return nil
		}
		by := m.root.Executor
		if by == "" {
			by = plan.Builtin
		}
		if err := startable(m.tx, m.root, by); err != nil {
			return err
		}
		return startPlan(m.tx, m.root, by)
	})
}

// goOnApproved takes up a started plan that was changed and has been approved again.
func (m *mover) goOnApproved() error {
	ids, err := m.tx.Subtree(m.root.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := m.restart(id); err != nil {
			return err
		}
	}
	return nil
}

// decide does something about the approval of a top-level plan, in a change of
// its own. Nobody but a trusted caller may.
func (e *Engine) decide(ctx context.Context, id plan.PlanID, done string, do func(*mover) error) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	return e.store.Write(ctx, func(tx *store.Tx) error {
		p, err := tx.Plan(id)
		if err != nil {
			return err
		}
		if !p.TopLevel() {
			return plan.Errorf(plan.Invalid, "plan %d is a subplan: only top-level plans are %s", id, done)
		}
		return do(&mover{tx: tx, root: p})
	})
}

func (m *mover) setApproval(a plan.Approval) error {
	m.root.Approval = a
	if err := m.tx.UpdatePlan(m.root, keyOf(m.root)); err != nil {
		return err
	}
	return recordPlan(m.tx, m.root.ID, true)
}

// Revise asks the planner for changes of a plan that waits for approval; it makes
// the next revision, knowing all that was asked for before.
func (e *Engine) Revise(ctx context.Context, id plan.PlanID, feedback string) error {
	feedback = strings.TrimSpace(feedback)
	var bad plan.Problems
	if feedback == "" {
		bad.Addf("feedback must not be empty: say what to change")
	}
	checkText(&bad, "plan", "feedback", feedback)
	if err := bad.Err("nothing was changed:"); err != nil {
		return err
	}
	return e.planAgain(ctx, id, feedback, plan.StartRevise, plan.Awaiting)
}

// Replan plans anew after planning failed, or a rejection; guidance may be empty.
func (e *Engine) Replan(ctx context.Context, id plan.PlanID, guidance string) error {
	var bad plan.Problems
	checkText(&bad, "plan", "guidance", guidance)
	if err := bad.Err("nothing was changed:"); err != nil {
		return err
	}
	return e.planAgain(ctx, id, strings.TrimSpace(guidance), plan.StartAsked, plan.PlanningFailed, plan.Rejected)
}

func (e *Engine) planAgain(ctx context.Context, id plan.PlanID, feedback, why string, from ...plan.Approval) error {
	err := e.decide(ctx, id, "planned", func(m *mover) error {
		g, err := m.tx.Goal(id)
		if err != nil {
			return err
		}
		if g == nil {
			return plan.Errorf(plan.Invalid, "plan %d was not made from a goal: edit it yourself", id)
		}
		ok := false
		for _, a := range from {
			ok = ok || m.root.Approval == a
		}
		if !ok || m.root.FirstStart != 0 {
			return plan.Errorf(plan.Invalid, "plan %d cannot be planned again now: it is %s", id, m.root.Approval)
		}
		g.Feedback, g.Rounds, g.Problems = feedback, 0, nil
		if err := m.tx.SaveGoal(g); err != nil {
			return err
		}
		return m.setApproval(plan.Planning)
	})
	if err == nil {
		e.startPlanner(ctx, id, why)
	}
	return err
}

// Reject ends the way of a plan that was not approved.
func (e *Engine) Reject(ctx context.Context, id plan.PlanID, reason string) error {
	var bad plan.Problems
	checkText(&bad, "plan", "reason", reason)
	if err := bad.Err("nothing was changed:"); err != nil {
		return err
	}
	err := e.decide(ctx, id, "rejected", func(m *mover) error {
		switch m.root.Approval {
		case plan.Planning, plan.PlanningFailed, plan.Awaiting:
		default:
			return notAwaiting(m.root)
		}
		if err := m.setApproval(plan.Rejected); err != nil {
			return err
		}
		return m.tx.DecideRevision(id, m.root.Revision, plan.DecidedRejected, reason)
	})
	if err != nil {
		return err
	}
	return e.stopRuns(ctx, causeStopped, func(s *session) bool { return s.root == id && s.run.Kind == plan.RunPlanner })
}

// touched notes that a plan was changed which waits for approval or has it: that
// is a new revision, and it is asked for approval again. What a worker does within
// its own step, and a change of a title, is no such change.
func touched(ctx context.Context, tx *store.Tx, id plan.PlanID) error {
	return touchedBy(tx, plan.ActorFrom(ctx), id)
}

func touchedBy(tx *store.Tx, who plan.Actor, id plan.PlanID) error {
	if who.Role != plan.Trusted {
		return nil
	}
	root, err := tx.RootPlan(id)
	if err != nil || root.Approval != plan.Awaiting && root.Approval != plan.Approved {
		return err
	}
	m := &mover{tx: tx, root: root}
	if root.Approval == plan.Approved {
		if err := m.tell(NoticeWaiting, WaitsApproval, nil, "the plan was changed after it had been approved"); err != nil {
			return err
		}
	}
	root.Approval = plan.Awaiting
	return m.revise(plan.AuthorPerson, "")
}

// GoalOf returns what a plan was made from, nil when it was not made from a goal,
// and its revisions, the first first.
func (e *Engine) GoalOf(ctx context.Context, id plan.PlanID) (*plan.Goal, []plan.Revision, error) {
	var g *plan.Goal
	var list []plan.Revision
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if _, err = tx.Plan(id); err != nil {
			return err
		}
		if g, err = tx.Goal(id); err == nil {
			list, err = tx.Revisions(id)
		}
		return err
	})
	return g, list, err
}

// RevisionOf returns one revision of a plan with the plan as it stood.
func (e *Engine) RevisionOf(ctx context.Context, id plan.PlanID, number int64) (*plan.Revision, error) {
	var r *plan.Revision
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		r, err = tx.Revision(id, number)
		return err
	})
	return r, err
}
