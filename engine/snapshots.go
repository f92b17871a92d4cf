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

// before takes a snapshot of the folder that a run is about to work in. A folder
// that cannot be taken in keeps no step from running: the run says why it has no
// diffs.
func (e *Engine) before(ctx context.Context, run *plan.Run, n *plan.Node, dir string) {
	tree, took, left := e.look(ctx, n, dir)
	run.BaseTree, run.BaseTook, run.LeftOut = string(tree), took, left
}

// beforeClaim is before for a run that is about to be claimed.
func (e *Engine) beforeClaim(ctx context.Context, run *plan.Run) error {
	if e.shadow == nil {
		return nil
	}
	var n *plan.Node
	var root *plan.Plan
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if n, err = tx.Node(run.Ref()); err == nil {
			root, err = tx.RootPlan(run.PlanID)
		}
		return err
	})
	if err == nil {
		e.before(ctx, run, n, workDir(e.opts.WorkDir, root))
	}
	return err
}

// look takes one snapshot and the time for it, in seconds.
func (e *Engine) look(ctx context.Context, n *plan.Node, dir string) (shadow.Tree, float64, plan.LeftOutList) {
	if e.shadow == nil || dir == "" {
		return "", 0, nil
	}
	began := time.Now()
	tree, report, err := e.shadow.Snapshot(ctx, dir, shadow.SnapshotOptions{Declared: pathsOf(n)})
	took := time.Since(began).Seconds()
	if errors.Is(err, shadow.ErrNoGit) {
		e.noGit.Do(func() { e.log.Warn("there is no git: what steps change will not be shown") })
		return "", 0, nil
	}
	if err != nil {
		e.log.Warn("take a snapshot", "step", n.Ref(), "err", err)
		return "", took, plan.LeftOutList{{Path: ".", Why: "no snapshot could be taken: " + plan.MessageOf(err)}}
	}
	return tree, took, leftOutOf(report)
}

func leftOutOf(r shadow.Report) plan.LeftOutList {
	var out plan.LeftOutList
	for _, l := range r.LeftOut {
		out = append(out, plan.LeftOut{Path: l.Path, Why: l.Why})
	}
	if r.LeftOutMore > 0 {
		out = append(out, plan.LeftOut{Path: "…", Why: fmt.Sprintf("and %d more", r.LeftOutMore)})
	}
	if r.DeclaredOnly {
		out = append(out, plan.LeftOut{Path: ".", Why: "the folder has too many files: only declared paths were looked at"})
	}
	return out
}

func pathsOf(n *plan.Node) []string {
	paths := make([]string, len(n.Files))
	for i, f := range n.Files {
		paths[i] = f.Path
	}
	return paths
}

// shot is what a run's folder was like at its end, and what that changed.
type shot struct {
	run     plan.RunID
	tree    shadow.Tree
	took    float64
	left    plan.LeftOutList
	changes plan.Changes

	isolated bool // nobody else can have changed anything
}

// after takes the snapshot at the end of a run, and compares it with the one at
// its start. It is nil when there was none.
func (e *Engine) after(ctx context.Context, id plan.RunID) *shot {
	if e.shadow == nil || id == "" {
		return nil
	}
	var run *plan.Run
	var n *plan.Node
	var root *plan.Plan
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if run, err = tx.Run(id); err != nil || run.BaseTree == "" || !run.Open() {
			return err
		}
		if n, err = tx.Node(run.Ref()); err == nil {
			root, err = tx.RootPlan(run.PlanID)
		}
		return err
	})
	if err != nil || root == nil {
		return nil
	}
	s := &shot{run: id, isolated: run.Worktree != ""}
	if s.isolated {
		s.tree, s.took, s.left = e.collect(ctx, n, run.Worktree)
	} else {
		s.tree, s.took, s.left = e.look(ctx, n, workDir(e.opts.WorkDir, root))
	}
	if s.tree == "" {
		return s
	}
	if s.changes, err = e.shadow.Diff(ctx, shadow.Tree(run.BaseTree), s.tree, pathsOf(n)); err != nil {
		e.log.Warn("compare snapshots", "step", run.Ref(), "err", err)
		s.left = append(s.left, plan.LeftOut{Path: ".", Why: "the snapshots could not be compared: " + plan.MessageOf(err)})
	}
	return s
}

// afterClaim is after for the open run of a step that someone claimed.
func (e *Engine) afterClaim(ctx context.Context, r plan.Ref) *shot {
	if e.shadow == nil {
		return nil
	}
	run, err := e.openRunOf(ctx, r)
	if err != nil || run == nil || run.Kind != plan.RunExternal {
		return nil
	}
	return e.after(ctx, run.ID)
}

// collect takes the snapshot of a worktree.
func (e *Engine) collect(ctx context.Context, n *plan.Node, id string) (shadow.Tree, float64, plan.LeftOutList) {
	began := time.Now()
	tree, report, err := e.shadow.Collect(ctx, id, pathsOf(n))
	took := time.Since(began).Seconds()
	if err != nil {
		e.log.Warn("collect from a worktree", "step", n.Ref(), "err", err)
		return "", took, plan.LeftOutList{{Path: ".", Why: "what was done could not be collected: " + plan.MessageOf(err)}}
	}
	return tree, took, leftOutOf(report)
}

// keep stores what a run changed, before the end of the run is stored.
func (s *shot) keep(tx *store.Tx, root plan.PlanID, n *plan.Node, run *plan.Run) error {
	if s == nil || s.run != run.ID {
		return nil
	}
	run.EndTree, run.EndTook = string(s.tree), s.took
	if len(s.left) > 0 {
		run.LeftOut = s.left
	}
	if err := tx.SaveDiffs(run.ID, s.changes.Files); err != nil {
		return err
	}
	n.Undeclared, n.UndeclaredMore = s.changes.Undeclared, s.changes.UndeclaredMore
	if len(n.Undeclared) == 0 || s.isolated {
		return nil
	}
	var err error
	n.UndeclaredShared, err = tx.RanMeanwhile(root, run)
	return err
}

// pruneSnapshots forgets the snapshots of runs that are gone.
func (e *Engine) pruneSnapshots(ctx context.Context) {
	if e.shadow == nil {
		return
	}
	var keep []shadow.Tree
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		names, err := tx.Trees()
		for _, name := range names {
			keep = append(keep, shadow.Tree(name))
		}
		return err
	})
	if err == nil {
		err = e.shadow.Prune(ctx, keep)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, shadow.ErrNoGit) {
		e.log.Warn("prune snapshots", "err", err)
	}
}
