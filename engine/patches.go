package engine

import (
	"context"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// dropPatches removes the patches of isolated steps whose runs are gone, or whose
// plan's history was let go of since.
func (e *Engine) dropPatches(ctx context.Context) {
	if e.shadow == nil {
		return
	}
	err := e.shadow.PrunePatches(func(worktree string, at time.Time) bool {
		needed := true
		err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
			needed, err = patchNeeded(tx, worktree, at)
			return err
		})
		return needed || err != nil
	})
	if err != nil && ctx.Err() == nil {
		e.log.Warn("remove patches", "err", err)
	}
}

// patchNeeded reports whether the run that a worktree was made for is still there;
// see worktreeFor for its name.
func patchNeeded(tx *store.Tx, worktree string, at time.Time) (bool, error) {
	address, run, _ := strings.Cut(worktree, "-")
	r, err := plan.ParseRef(address)
	if err != nil {
		return true, nil // none of ours
	}
	root, err := tx.RootOf(r.Plan)
	if plan.KindOf(err) == plan.NotFound {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	trimmed, err := tx.TrimmedAt(root)
	if err != nil || trimmed > plan.StampOf(at) {
		return false, err
	}
	runs, err := tx.Runs(r)
	for i := range runs {
		if string(runs[i].ID) == run {
			return true, nil
		}
	}
	return false, err
}
