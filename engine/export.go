package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/markdown"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Export returns a plan, and what is nested in it, as Markdown; with diffs or with
// the names of changed files alone. The secrets that a report leaves out are not in
// it either.
func (e *Engine) Export(ctx context.Context, id plan.PlanID, diffs bool) (string, error) {
	actor := plan.ActorFrom(ctx)
	r := &plan.Report{Plan: id, Steps: map[plan.Ref]*plan.StepReport{}}
	var hide *redactor
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if err := mayReadPlan(tx, actor, id); err != nil {
			return err
		}
		if r.Snapshot, err = tx.Snapshot(id); err != nil {
			return err
		}
		if hide, err = e.redactorFor(tx, r.Snapshot); err != nil {
			return err
		}
		r.Snapshot.WalkFrom(id, func(n *plan.Node) {
			if err == nil && n.RunID != "" {
				r.Steps[n.Ref()], err = exportedStep(tx, n)
			}
		})
		return err
	})
	if err != nil {
		return "", err
	}
	hide.report(r)
	in := markdown.Input{Plan: id, Snapshot: r.Snapshot, Diffs: diffs, Changes: map[plan.Ref][]plan.FileDiff{}}
	for ref, s := range r.Steps {
		in.Changes[ref] = s.Diffs
	}
	return markdown.Export(in), nil
}

// exportedStep reads what an export says of a step beside what the plan has: its
// changes, and the runs whose tokens may be in its texts.
func exportedStep(tx *store.Tx, n *plan.Node) (*plan.StepReport, error) {
	files, err := tx.Diffs(n.RunID)
	if err != nil {
		return nil, err
	}
	runs, err := tx.Runs(n.Ref())
	return &plan.StepReport{Runs: runs, Diffs: declared(files)}, err
}

// declared returns those of a run's changes that its step had declared.
func declared(files []plan.FileDiff) []plan.FileDiff {
	var out []plan.FileDiff
	for _, f := range files {
		if f.Declared {
			out = append(out, f)
		}
	}
	return out
}

// Diffs returns what the last run of a node changed, by path, in declared files
// and others.
func (e *Engine) Diffs(ctx context.Context, r plan.Ref) ([]plan.FileDiff, error) {
	var files []plan.FileDiff
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(r)
		if err != nil || n.RunID == "" {
			return err
		}
		files, err = tx.Diffs(n.RunID)
		return err
	})
	return files, err
}

// DiffsOf returns what one run changed.
func (e *Engine) DiffsOf(ctx context.Context, run *plan.Run) ([]plan.FileDiff, error) {
	var files []plan.FileDiff
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		files, err = tx.Diffs(run.ID)
		return err
	})
	return files, err
}
