package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/shadow"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// worktree is the isolation in which a step works in a copy of its own, which is
// brought back when it is done.
const worktree = "worktree"

// isolationOf returns how a step is isolated: the strictest of what the server,
// its agent, its plan and it itself ask for.
func (e *Engine) isolationOf(root *plan.Plan, n *plan.Node, p *plan.Profile) string {
	strictest := "none"
	for _, level := range []string{e.opts.Isolation, p.Isolation, root.Isolation, n.Isolation} {
		if level == worktree {
			strictest = worktree
		}
	}
	return strictest
}

// checkIsolation refuses a level that cannot be given, in a folder.
func (e *Engine) checkIsolation(level, dir string) error {
	switch level {
	case "", "none":
		return nil
	case worktree:
		if e.shadow == nil {
			return plan.Errorf(plan.Invalid, "isolation: this server takes no snapshots (--no-snapshots), so it cannot isolate steps")
		}
		if err := e.shadow.CanIsolate(dir); err != nil {
			return plan.Errorf(plan.Invalid, "isolation: %s", plan.MessageOf(err))
		}
		return nil
	case "sandbox":
		return plan.Errorf(plan.Invalid, "isolation: this version of Clearbox has no sandbox yet; worktree keeps parallel steps apart")
	}
	return plan.Errorf(plan.Invalid, "isolation: unknown value %q; it is none or worktree", level)
}

// isolate gives a run its worktree: that of the step's last attempt while its work
// is still to be judged, else a new one of the folder as it is now.
func (e *Engine) isolate(ctx context.Context, a *assignment) error {
	if e.isolationOf(a.root, a.node, a.profile) != worktree {
		return nil
	}
	if err := e.checkIsolation(worktree, a.task.WorkDir); err != nil {
		return plan.Errorf(plan.Unavailable, "step %s cannot run: %s", a.node.Ref(), plan.MessageOf(err))
	}
	w, err := e.worktreeFor(ctx, a)
	if err != nil {
		return fmt.Errorf("isolate step %s: %w", a.node.Ref(), err)
	}
	a.run.Isolation, a.run.Worktree, a.run.BaseTree = worktree, w.ID, string(w.Base)
	a.task.WorkDir = w.Dir
	return nil
}

func (e *Engine) worktreeFor(ctx context.Context, a *assignment) (shadow.Worktree, error) {
	last, stopped, err := e.lastWorktree(ctx, a.node)
	if err == nil && last != "" && stopped {
		e.dropWorktree(last) // whoever stopped it did not want its work
	} else if err == nil && last != "" {
		if w, err := e.shadow.OpenWorktree(last); err == nil {
			return w, nil
		}
	}
	id := fmt.Sprintf("%s-%s", a.node.Ref(), a.run.ID)
	a.copying = time.Now()
	w, report, err := e.shadow.CreateWorktree(ctx, a.task.WorkDir, shadow.WorktreeOptions{ID: id, Declared: pathsOf(a.node)})
	a.run.LeftOut = leftOutOf(report)
	return w, err
}

// lastWorktree returns the worktree of the last run of a node, and whether that
// run was stopped.
func (e *Engine) lastWorktree(ctx context.Context, n *plan.Node) (id string, stopped bool, err error) {
	if n.RunID == "" {
		return "", false, nil
	}
	err = e.store.Read(ctx, func(tx *store.Tx) error {
		run, err := tx.Run(n.RunID)
		if err == nil {
			id, stopped = run.Worktree, run.Outcome == plan.OutcomeStopped
		}
		return err
	})
	return id, stopped, err
}

// applyStep brings back what an isolated step did, and ends it: done, or failed
// where that contradicts what happened in the folder meanwhile.
func (e *Engine) applyStep(ctx context.Context, r plan.Ref) {
	conflict := e.bringBack(ctx, r)
	var id string
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil || n.State != plan.Running || n.Phase != plan.PhaseApplying {
			return err
		}
		run, err := tx.Run(n.RunID)
		if err != nil {
			return err
		}
		id = run.Worktree
		if conflict != nil {
			text := plan.MessageOf(conflict)
			return m.move(n, plan.Broke, func(n *plan.Node) { n.Error, n.Attempts = &text, n.Attempts+1 })
		}
		return m.move(n, plan.Finished, func(n *plan.Node) { n.Attempts++ })
	})
	if err != nil {
		e.log.Error("end an isolated step", "step", r, "err", err)
		return
	}
	e.dropWorktree(id)
}

// applyDue has an isolated step brought back whose work was accepted just now.
func (e *Engine) applyDue(ctx context.Context, r plan.Ref) {
	due := false
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		if r.Node == 0 {
			return nil
		}
		n, err := tx.Node(r)
		due = err == nil && n.State == plan.Running && n.Phase == plan.PhaseApplying
		return err
	})
	if err == nil && due {
		e.spawn(func() { e.applyStep(context.WithoutCancel(ctx), r) })
	}
}

// bringBack applies the changes of an isolated step's last run. The error says, for
// people, why nothing was applied.
func (e *Engine) bringBack(ctx context.Context, r plan.Ref) error {
	var opt shadow.ApplyOptions
	var id string
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(r)
		if err != nil {
			return err
		}
		root, err := tx.RootOf(r.Plan)
		if err != nil {
			return err
		}
		run, err := tx.Run(n.RunID)
		if err != nil {
			return err
		}
		others, err := tx.OthersFiles(root, r)
		id = run.Worktree
		opt = shadow.ApplyOptions{Result: shadow.Tree(run.EndTree), Declared: pathsOf(n), DeclaredOnly: n.TaskType != "",
			Others: pathsOf(&plan.Node{Files: others})}
		return err
	})
	if err != nil {
		return err
	}
	if e.shadow == nil || opt.Result == "" {
		return plan.Errorf(plan.Unavailable, "what the step did could not be collected from its worktree: nothing was applied")
	}
	applied, err := e.shadow.Apply(ctx, id, opt)
	var conflict *shadow.ConflictError
	if errors.As(err, &conflict) {
		return plan.Errorf(plan.Conflict, "%s", conflict.Error())
	}
	if err != nil {
		e.log.Warn("apply a worktree", "step", r, "err", err)
		return err
	}
	return e.tellApplied(ctx, r, applied)
}

// tellApplied notes what of an isolated step's work was not brought back.
func (e *Engine) tellApplied(ctx context.Context, r plan.Ref, a shadow.Applied) error {
	if len(a.LeftOut) == 0 {
		return nil
	}
	text := "not applied:"
	for i, l := range a.LeftOut {
		if i == 20 {
			text += fmt.Sprintf("\n- and %d more", len(a.LeftOut)-i)
			break
		}
		text += "\n- " + l.Path + ": " + l.Why
	}
	return e.store.Write(ctx, func(tx *store.Tx) error {
		m, n, err := moverAt(tx, r)
		if err != nil {
			return err
		}
		return m.say(n.Ref(), text)
	})
}

// keepIsolated brings back what an isolated step has done so far, for a person who
// marks it done.
func (e *Engine) keepIsolated(ctx context.Context, r plan.Ref) error {
	var n *plan.Node
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.Node(r)
		return err
	})
	if err != nil || e.shadow == nil || n.State != plan.Running {
		return err
	}
	id, _, err := e.lastWorktree(ctx, n)
	if err != nil || id == "" {
		return err
	}
	if _, err := e.shadow.OpenWorktree(id); plan.KindOf(err) == plan.NotFound {
		return nil
	}
	if err := e.bringBack(ctx, r); err != nil {
		return err
	}
	e.dropWorktree(id)
	return nil
}

// dropWorktree removes a worktree that nobody needs any more.
func (e *Engine) dropWorktree(id string) {
	if id == "" || e.shadow == nil {
		return
	}
	if err := e.shadow.RemoveWorktree(id); err != nil {
		e.log.Warn("remove a worktree", "worktree", id, "err", err)
	}
}

// dropUnneeded removes the worktree of a run that has ended, unless its step still
// needs it: for another attempt, or for a verdict.
func (e *Engine) dropUnneeded(ctx context.Context, run *plan.Run) {
	if run.Worktree == "" || e.shadow == nil {
		return
	}
	needed := false
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(run.Ref())
		if err == nil {
			needed = worktreeNeeded(n)
		}
		return err
	})
	if err == nil && !needed || plan.KindOf(err) == plan.NotFound {
		e.dropWorktree(run.Worktree)
	}
}

// settleIsolated does what a verdict on an isolated step asks for: its work is
// brought back, or its worktree goes.
func (e *Engine) settleIsolated(ctx context.Context, r plan.Ref) {
	if r.Node == 0 {
		return
	}
	e.applyDue(ctx, r)
	if e.shadow == nil {
		return
	}
	var run *plan.Run
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(r)
		if err != nil || n.RunID == "" {
			return err
		}
		run, err = tx.Run(n.RunID)
		return err
	})
	if err == nil && run != nil {
		e.dropUnneeded(ctx, run)
	}
}

// worktreeNeeded reports whether the worktree of a node's last run is of use yet.
func worktreeNeeded(n *plan.Node) bool {
	again := n.State == plan.Ready || n.State == plan.Pending && n.NotBefore != 0
	return n.State == plan.Running || again
}

// recoverWorktrees settles what an earlier process left of worktrees, and goes on
// with steps that were being applied.
func (e *Engine) recoverWorktrees(ctx context.Context) error {
	needed := map[string]bool{}
	var applying []plan.Ref
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		nodes, err := tx.IsolatedNodes()
		for _, n := range nodes {
			needed[n.Worktree] = true
			if n.State == plan.Running && n.Phase == plan.PhaseApplying {
				applying = append(applying, plan.Ref{Plan: n.PlanID, Node: n.NodeID})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if e.shadow != nil {
		if _, err := e.shadow.RecoverWorktrees(ctx, func(id string) bool { return needed[id] }); err != nil {
			e.log.Warn("recover worktrees", "err", err)
		}
	}
	for _, r := range applying {
		e.spawn(func() { e.applyStep(context.WithoutCancel(ctx), r) })
	}
	return nil
}
