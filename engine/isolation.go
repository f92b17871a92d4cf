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
	last, err := e.lastRun(ctx, a.node)
	switch {
	case err != nil || last == nil || last.Worktree == "":
	case discarded(last):
		e.dropWorktree(last.Worktree)
	default:
		if w, err := e.shadow.OpenWorktree(last.Worktree); err == nil {
			return w, nil
		}
	}
	id := fmt.Sprintf("%s-%s", a.node.Ref(), a.run.ID)
	a.copying = time.Now()
	w, report, err := e.shadow.CreateWorktree(ctx, a.task.WorkDir, shadow.WorktreeOptions{ID: id, Declared: pathsOf(a.node)})
	a.run.LeftOut = leftOutOf(report)
	return w, err
}

// applyStep brings back what an isolated step did, and takes it on: it is done, or
// works through its subplan, or has failed where its work contradicts what happened in
// the folder meanwhile.
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
		return m.conclude(n, deref(n.Result))
	})
	if err != nil {
		if plan.KindOf(err) != plan.NotFound { // it was deleted meanwhile
			e.log.Error("end an isolated step", "step", r, "err", err)
		}
		return
	}
	e.dropWorktree(id)
}

// applying reports whether an isolated step waits for its work to be brought back.
func (e *Engine) applying(ctx context.Context, r plan.Ref) (due bool) {
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(r)
		due = err == nil && n.State == plan.Running && n.Phase == plan.PhaseApplying
		return err
	})
	return err == nil && due
}

// applyNow brings an isolated step's work back before it returns, where that is due,
// and lets go of its copy.
func (e *Engine) applyNow(ctx context.Context, r plan.Ref) {
	if e.applying(ctx, r) {
		e.applyStep(ctx, r)
	}
	e.settleIsolated(ctx, r)
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
	if err != nil || e.shadow == nil || !unended(n.State) {
		return err
	}
	run, err := e.lastRun(ctx, n)
	if err != nil || run == nil || run.Worktree == "" || run.EndTree == "" && n.State != plan.Running {
		return err // or nobody is left who could say what it did
	}
	if _, err := e.shadow.OpenWorktree(run.Worktree); plan.KindOf(err) == plan.NotFound {
		return nil
	}
	if err := e.bringBack(ctx, r); err != nil {
		return err
	}
	e.dropWorktree(run.Worktree)
	return nil
}
