package engine

import (
	"context"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Overview is a top-level plan with the counts of its tree.
type Overview = store.Overview

// Overviews returns all top-level plans, the newest first.
func (e *Engine) Overviews(ctx context.Context) ([]Overview, error) {
	var list []Overview
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Overviews()
		return err
	})
	return list, err
}

// Snapshot returns the whole tree that a plan belongs to, as it is now.
func (e *Engine) Snapshot(ctx context.Context, id plan.PlanID) (*plan.Snapshot, error) {
	actor := plan.ActorFrom(ctx)
	var s *plan.Snapshot
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if err := mayReadPlan(tx, actor, id); err != nil {
			return err
		}
		if s, err = tx.Snapshot(id); err == nil {
			s.TrimmedAt, err = tx.TrimmedAt(s.Root().ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Server = e.server
	s.Holds = e.desk.holds(s)
	return s, nil
}

// UpdatePlanIn changes settings of a top-level plan. Nil leaves one as it is;
// zero or an empty string clears it.
type UpdatePlanIn struct {
	PlanID           plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The plan; settings belong to top-level plans."`
	Title            *string     `json:"title,omitempty" jsonschema:"One line that names the goal."`
	Description      *string     `json:"description,omitempty" jsonschema:"The overall goal."`
	MaxParallel      *int        `json:"max_parallel,omitempty" jsonschema:"At most so many agents of this plan at once; 0 clears."`
	TestInstructions *string     `json:"test_instructions,omitempty" jsonschema:"How this project's tests are run; an empty string clears."`
	IsolateSteps     *bool       `json:"isolate_steps,omitempty" jsonschema:"Whether each step works in a git worktree of its own: the same as isolation worktree."`
	Isolation        *string     `json:"isolation,omitempty" jsonschema:"none or worktree; an empty string clears. Not while a step runs."`
	OnFailure        *string     `json:"on_failure,omitempty" jsonschema:"hold or skip."`
	MaxAttempts      *int        `json:"max_attempts,omitempty" jsonschema:"How often a step that fails is tried in all, 1 to 20; 0 clears: once."`
	MaxTokens        *int64      `json:"max_tokens,omitempty" jsonschema:"Budget of tokens, in and out together; 0 clears. Raising it lets a plan go on that has used it up."`
	MaxCostUSD       *float64    `json:"max_cost_usd,omitempty" jsonschema:"Budget in US dollars; 0 clears."`
	ReviewPolicy     *string     `json:"review_policy,omitempty" jsonschema:"off, advisory or gate; an empty string clears."`
	CheckCommand     *string     `json:"check_command,omitempty" jsonschema:"Shell command that has to succeed for a step to pass its gate; an empty string clears."`
	StallAfter       *int64      `json:"stall_after,omitempty" jsonschema:"Seconds without a sign of life after which an agent is ended and its step run again; 0 clears."`
}

// settings reports whether anything but title and description is given.
func (in *UpdatePlanIn) settings() bool {
	rest := *in
	rest.PlanID, rest.Title, rest.Description = 0, nil, nil
	return rest != UpdatePlanIn{}
}

// UpdatePlan changes a plan's title, description and, of a top-level plan, its
// settings: all or none.
func (e *Engine) UpdatePlan(ctx context.Context, in UpdatePlanIn) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	return e.changePlan(ctx, in.PlanID, true, func(tx *store.Tx, p *plan.Plan) error {
		if !p.TopLevel() && in.settings() {
			return plan.Errorf(plan.Invalid, "%s belong to the top-level plan; plan %d is a subplan",
				topLevelSettings, p.ID)
		}
		if err := e.mayIsolate(tx, p, in); err != nil {
			return err
		}
		return in.apply(p)
	}, in.Description != nil || in.settings())
}

// mayIsolate checks a change of the isolation of a plan.
func (e *Engine) mayIsolate(tx *store.Tx, p *plan.Plan, in UpdatePlanIn) error {
	if in.IsolateSteps == nil && in.Isolation == nil {
		return nil
	}
	next := isolationIn(in.IsolateSteps != nil && *in.IsolateSteps, deref(in.Isolation))
	if _, all, err := tx.Status(p.ID); err != nil {
		return err
	} else if all.Running > 0 && next != p.Isolation {
		return plan.Errorf(plan.Invalid, "isolation cannot change while a step of the plan is running")
	}
	return e.checkIsolation(next, workDir(e.opts.WorkDir, p))
}

func (in *UpdatePlanIn) apply(p *plan.Plan) error {
	var bad plan.Problems
	set(&p.Title, in.Title)
	set(&p.Description, in.Description)
	set(&p.MaxParallel, in.MaxParallel)
	if in.TestInstructions != nil {
		p.TestInstructions = strings.TrimSpace(*in.TestInstructions)
	}
	if in.IsolateSteps != nil {
		if p.Isolation = ""; *in.IsolateSteps {
			p.Isolation = worktree
		}
	}
	set(&p.Isolation, in.Isolation)
	set(&p.OnFailure, in.OnFailure)
	set(&p.MaxAttempts, in.MaxAttempts)
	set(&p.MaxTokens, in.MaxTokens)
	set(&p.MaxCostUSD, in.MaxCostUSD)
	set(&p.StallAfter, in.StallAfter)
	set(&p.ReviewPolicy, in.ReviewPolicy)
	set(&p.CheckCommand, in.CheckCommand)
	checkTitle(&bad, "plan", p.Title)
	checkText(&bad, "plan", "description", p.Description)
	checkPolicies(&bad, "plan", p.Policies)
	return bad.Err("the plan was not changed:")
}

// changePlan edits one plan row in a change of its own. shape says that pages
// have to draw the plan anew, matters that an approval of it is void.
func (e *Engine) changePlan(ctx context.Context, id plan.PlanID, shape bool, edit func(*store.Tx, *plan.Plan) error, matters bool) error {
	return e.store.Write(ctx, func(tx *store.Tx) error {
		p, err := tx.Plan(id)
		if err != nil {
			return err
		}
		if err := edit(tx, p); err != nil {
			return err
		}
		if err := tx.UpdatePlan(p, keyOf(p)); err != nil {
			return err
		}
		if err := recordPlan(tx, id, shape); err != nil || !matters {
			return err
		}
		return touched(ctx, tx, id)
	})
}

func keyOf(p *plan.Plan) string {
	if p.WorkDir == "" {
		return ""
	}
	return folderKey(p.WorkDir)
}

// SetWorkdir changes the working directory of a top-level plan that was never
// started. An empty one takes the server's own folder for the plan.
func (e *Engine) SetWorkdir(ctx context.Context, id plan.PlanID, dir string) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	return e.changePlan(ctx, id, true, func(_ *store.Tx, p *plan.Plan) error {
		switch {
		case !p.TopLevel():
			return plan.Errorf(plan.Invalid, "the working directory belongs to the top-level plan; plan %d is a subplan", id)
		case p.FirstStart != 0:
			return plan.Errorf(plan.Invalid, "plan %d has been started: its working directory is fixed", id)
		case dir == "":
			p.WorkDir = ""
			return nil
		}
		var err error
		p.WorkDir, err = checkFolder(dir)
		return err
	}, true)
}

// SetPlanAgent sets the default agent of a plan and of those nested in it; an
// empty one inherits again. It applies to steps that start from then on.
func (e *Engine) SetPlanAgent(ctx context.Context, id plan.PlanID, agent AgentRef) (plan.ProfileID, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return 0, err
	}
	var set plan.ProfileID
	err := e.changePlan(ctx, id, true, nameAgent(&set, agent, func(p *plan.Plan) *plan.ProfileID { return &p.DefaultProfile }), true)
	return set, err
}

// nameAgent is the change by which a plan names an agent, in the place that of returns;
// set becomes who that is.
func nameAgent(set *plan.ProfileID, agent AgentRef, of func(*plan.Plan) *plan.ProfileID) func(*store.Tx, *plan.Plan) error {
	return func(tx *store.Tx, p *plan.Plan) (err error) {
		if *set, err = findAgent(tx, agent); err != nil {
			return err
		}
		*of(p) = *set
		return recordAgents(tx)
	}
}

// WorkDirOf returns the directory that a plan's steps work in.
func (e *Engine) WorkDirOf(root *plan.Plan) string { return workDir(e.opts.WorkDir, root) }

// DeletePlan stops a top-level plan and removes it with everything in it.
func (e *Engine) DeletePlan(ctx context.Context, id plan.PlanID) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	if err := e.topLevel(ctx, id, "delete its top-level plan, or remove the step that it belongs to"); err != nil {
		return err
	}
	if err := e.StopPlan(ctx, id); err != nil {
		return err
	}
	var copies []string
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		if err := nothingRuns(tx, id, "deleted"); err != nil {
			return err
		}
		ids, err := tx.Subtree(id)
		if err != nil {
			return err
		}
		if copies, err = e.copiesOf(tx, ids); err != nil {
			return err
		}
		if err := forgetReviews(tx, id); err != nil {
			return err
		}
		if err := tx.DeletePlans(ids); err != nil {
			return err
		}
		if err := recordAgents(tx); err != nil {
			return err
		}
		return tx.Record(plan.Change{Root: id, Plan: id, Kind: plan.ChangePlan, Shape: true, Deleted: true,
			Facts: &plan.Facts{Plans: []plan.PlanFacts{{ID: id, Root: id, Deleted: true}}}})
	})
	if err == nil {
		e.dropWorktrees(copies)
		e.dropPatches(context.WithoutCancel(ctx))
	}
	return err
}

// topLevel refuses subplans, with advice.
func (e *Engine) topLevel(ctx context.Context, id plan.PlanID, advice string) error {
	return e.store.Read(ctx, func(tx *store.Tx) error {
		p, err := tx.Plan(id)
		if err == nil && !p.TopLevel() {
			err = plan.Errorf(plan.Invalid, "plan %d is a subplan and not a top-level plan: %s", id, advice)
		}
		return err
	})
}

// RootOf returns the top-level plan of the tree that a plan belongs to.
func (e *Engine) RootOf(ctx context.Context, id plan.PlanID) (plan.PlanID, error) {
	var root plan.PlanID
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		root, err = tx.RootOf(id)
		return err
	})
	return root, err
}
