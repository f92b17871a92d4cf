package engine

import (
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// mayReadPlan checks that an actor may read a plan: a planner reads the one that it
// plans, the others what they may edit.
func mayReadPlan(tx *store.Tx, a plan.Actor, id plan.PlanID) error {
	if a.Role == plan.Planner && id == a.Ref.Plan {
		return nil
	}
	return mayTouchPlan(tx, a, id)
}

// mayTouchPlan checks that an actor may edit a plan: a trusted caller
// any, a worker the subplan of its own node and those nested in it.
func mayTouchPlan(tx *store.Tx, a plan.Actor, id plan.PlanID) error {
	if a.Role == plan.Trusted {
		return nil
	}
	if a.Role != plan.Worker {
		return plan.Errorf(plan.Denied, "this session has no plans to work on")
	}
	for at := id; ; {
		p, err := tx.Plan(at)
		if err != nil {
			return err
		}
		if p.Parent() == a.Ref {
			return nil
		}
		if p.TopLevel() {
			return plan.Errorf(plan.Denied, "plan %d is not the subplan of your own step %s, nor inside it", id, a.Ref)
		}
		at = p.ParentPlan
	}
}

// mayTouchNode checks that an actor may expand a node: a worker its own, or one
// inside its subplan.
func mayTouchNode(tx *store.Tx, a plan.Actor, r plan.Ref) error {
	if a.Role == plan.Worker && r == a.Ref {
		return nil
	}
	return mayTouchPlan(tx, a, r.Plan)
}

// trustedOnly refuses everyone else.
func trustedOnly(a plan.Actor) error {
	if a.Role != plan.Trusted {
		return plan.Errorf(plan.Denied, "a step's agent may not do this")
	}
	return nil
}

// workerProfile returns the profile that an actor's own run uses, which its
// subplans get as their default.
func workerProfile(tx *store.Tx, a plan.Actor) (plan.ProfileID, error) {
	r, err := tx.Run(a.Run)
	if err != nil {
		return 0, err
	}
	return r.Profile, nil
}
