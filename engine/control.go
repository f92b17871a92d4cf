package engine

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// StartPlan starts a top-level plan. Starting a started one is no error.
func (e *Engine) StartPlan(ctx context.Context, id plan.PlanID, by plan.Executor) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	return e.store.Write(ctx, func(tx *store.Tx) error {
		p, err := tx.Plan(id)
		if err != nil {
			return err
		}
		if err := startable(tx, p, by); err != nil || p.Started {
			return err
		}
		if p.WorkDir == "" {
			if err := os.MkdirAll(workDir(e.opts.WorkDir, p), 0o755); err != nil {
				return fmt.Errorf("make the plan's folder: %w", err)
			}
		}
		return startPlan(tx, p, by)
	})
}

// startable checks whether a plan may be started.
func startable(tx *store.Tx, p *plan.Plan, by plan.Executor) error {
	switch {
	case !p.TopLevel():
		return plan.Errorf(plan.Invalid, "plan %d is a subplan: only top-level plans are started; it runs when its step is reached", p.ID)
	case !p.Approval.MayStart():
		return plan.Errorf(plan.Invalid, "plan %d is not approved: a person has to approve it before it can start", p.ID)
	case p.Started && p.Executor != by:
		return plan.Errorf(plan.Invalid, "plan %d is started already with executor %s: stop it first", p.ID, p.Executor)
	case p.Started:
		return nil
	}
	if err := nothingRuns(tx, p.ID, "started again", plan.RunStep); err != nil {
		return err
	}
	if p.WorkDir != "" {
		if _, err := checkFolder(p.WorkDir); err != nil {
			return err
		}
		if err := folderFree(tx, p.ID, folderKey(p.WorkDir)); err != nil {
			return err
		}
	}
	return checkRequests(tx, p.ID)
}

// folderFree refuses a folder that another started plan with work left works in, or
// in which agents of a stopped one are still ending.
func folderFree(tx *store.Tx, self plan.PlanID, key string) error {
	busy, err := tx.BusyFolders()
	if err != nil {
		return err
	}
	for _, f := range busy {
		switch {
		case f.ID == self || f.Key == "" || !foldersOverlap(f.Key, key):
		case !f.Started:
			return plan.Errorf(plan.Invalid, "plan %d %q was stopped, and its agents are still ending in the same folder or one "+
				"inside it: try again in a few seconds", f.ID, f.Title)
		default:
			return plan.Errorf(plan.Invalid, "plan %d %q is started and works in the same folder or one inside it: "+
				"wait until it is done, or stop it", f.ID, f.Title)
		}
	}
	return nil
}

// checkRequests makes sure that every node of a tree that has yet to run depends
// on those whose results it wants.
func checkRequests(tx *store.Tx, id plan.PlanID) error {
	s, err := tx.Snapshot(id)
	if err != nil {
		return err
	}
	var bad plan.Problems
	s.Walk(func(n *plan.Node) {
		if n.State != plan.Pending && n.State != plan.Ready {
			return
		}
		var foreign []string
		for _, from := range n.ResultsFrom {
			if !s.Graph(n.PlanID).Reaches(from, n.ID) {
				foreign = append(foreign, fmt.Sprint(from))
			}
		}
		bad.Add(foreignRequests(n.Ref(), foreign))
	})
	return bad.Err("the plan was not started:")
}

// startPlan starts a plan that may be started.
func startPlan(tx *store.Tx, p *plan.Plan, by plan.Executor) error {
	p.Started, p.Executor, p.StartedAt, p.FinishedAt = true, by, tx.Now(), 0
	if p.FirstStart == 0 {
		p.FirstStart = tx.Now()
	}
	if err := tx.UpdatePlan(p, keyOf(p)); err != nil {
		return err
	}
	facts, err := tx.TreeFacts(p.ID)
	if err != nil {
		return err
	}
	if err := tx.Record(plan.Change{Root: p.ID, Plan: p.ID, Kind: plan.ChangePlan, Facts: &facts}); err != nil {
		return err
	}
	m := &mover{tx: tx, root: p}
	return m.activate(p.ID)
}

// StopPlan stops a top-level plan: its built-in agents are ended and their steps
// go back to pending, ready ones too; steps that external agents claimed stay
// claimed. It returns when the agents and checks have ended. A stopped plan can be
// started again; stopping one that is not started is no error.
func (e *Engine) StopPlan(ctx context.Context, id plan.PlanID) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	if err := e.topLevel(ctx, id, "stop its top-level plan, or the step"); err != nil {
		return err
	}
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		p, err := tx.Plan(id)
		if err != nil {
			return err
		}
		if err := planningFailed(tx, id, "it was stopped by a person"); err != nil {
			return err
		}
		m := &mover{tx: tx, root: p}
		if err := m.giveUpReviews(anyReview); err != nil || !p.Started {
			return err
		}
		p.Started = false
		if err := tx.UpdatePlan(p, keyOf(p)); err != nil {
			return err
		}
		if err := recordPlan(tx, id, false); err != nil {
			return err
		}
		return m.sendBack()
	})
	if err != nil {
		return err
	}
	e.endStaleChecks(ctx)
	return e.stopRuns(ctx, causePlanStopped, func(s *session) bool { return s.root == id })
}

// sendBack returns the waiting nodes and containers of a stopped tree to
// pending. Those that an agent works on follow when it has ended.
func (m *mover) sendBack() error {
	s, err := m.tx.Snapshot(m.root.ID)
	if err != nil {
		return err
	}
	var failed error
	s.Walk(func(n *plan.Node) {
		switch {
		case failed != nil:
		case n.State == plan.Running && atGate(n.Phase):
			failed = m.move(n, plan.PlanStopped, nil)
		case n.State == plan.Ready || n.State == plan.Running && n.Phase == plan.PhaseSubplan:
			done, kind := n.AgentDone, n.AgentKind
			failed = m.move(n, plan.PlanStopped, func(n *plan.Node) { n.AgentDone, n.AgentKind = done, kind })
		}
	})
	return failed
}

// nothingRuns refuses while a built-in agent is still at work on a tree.
// With kinds only runs of those count.
func nothingRuns(tx *store.Tx, root plan.PlanID, what string, kinds ...plan.RunKind) error {
	runs, err := tx.OpenRuns()
	if err != nil {
		return err
	}
	for i := range runs {
		if runs[i].Kind == plan.RunExternal || len(kinds) > 0 && !slices.Contains(kinds, runs[i].Kind) {
			continue
		}
		if r, err := tx.RootOf(runs[i].PlanID); err == nil && r == root {
			return plan.Errorf(plan.Invalid, "plan %d cannot be %s yet: the agent of step %s is still ending", root, what, runs[i].Ref())
		}
	}
	return nil
}

// StopNode ends a step: its agent is ended, and the step is failed. A step that
// waits for a person fails too. It returns when the agent has ended.
func (e *Engine) StopNode(ctx context.Context, r plan.Ref) error {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return err
	}
	run, err := e.openRunOf(ctx, r)
	if err != nil {
		return err
	}
	if run != nil && run.Kind == plan.RunStep {
		return e.stopRuns(ctx, causeStopped, func(s *session) bool { return s.run.ID == run.ID })
	}
	after := e.afterClaim(ctx, r)
	defer e.settleIsolated(ctx, r)
	defer e.endStaleReviews(ctx)
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		if n.State == plan.Ready && n.Kind != plan.KindUser {
			return plan.Errorf(plan.Invalid, "step %s has not started: only a running step, or one that waits for a person, can be stopped", r)
		}
		if n.State == plan.Running && n.Phase == plan.PhaseSubplan {
			return plan.Errorf(plan.Invalid, "step %s works through its subplan %d: stop the steps in it", r, n.Subplan)
		}
		if n.Working() { // by whoever has it now
			if run, err = tx.Run(n.RunID); err != nil {
				return err
			}
			if run.Kind != plan.RunExternal {
				return plan.Errorf(plan.Conflict, "step %s was started meanwhile", r)
			}
			if err := after.keep(tx, m.root.ID, n, run); err != nil {
				return err
			}
			if err := endRun(tx, m.root.ID, run, plan.OutcomeStopped, causeStopped); err != nil {
				return err
			}
		}
		return m.move(n, plan.PersonStopped, func(n *plan.Node) { n.Error = ptr(causeStopped) })
	})
}

// moverAt returns a mover and the node that it is to move.
func moverAt(tx *store.Tx, r plan.Ref) (*mover, *plan.Node, error) {
	n, err := tx.Node(r)
	if err != nil {
		return nil, nil, err
	}
	m, err := newMover(tx, r.Plan)
	return m, n, err
}

// openRunOf returns the open run of a node that an agent works on, nil when there
// is none.
func (e *Engine) openRunOf(ctx context.Context, r plan.Ref) (*plan.Run, error) {
	var run *plan.Run
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(r)
		if err != nil || !n.Working() {
			return err
		}
		run, err = tx.Run(n.RunID)
		return err
	})
	if err == nil && run != nil && !run.Open() {
		run = nil
	}
	return run, err
}
