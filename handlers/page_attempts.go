package handlers

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// withAttempts reads what is shown of the attempts at a step, where there is
// something to compare.
func (p *site) withAttempts(ctx context.Context, s *plan.Snapshot, in *views.DrawerInput) (err error) {
	tried := views.Tried(in.Runs)
	if s.Judged[in.Node] == nil && len(tried) < 2 {
		return nil
	}
	if s.Judged[in.Node] != nil {
		if in.Judgements, err = p.engine.Judgements(ctx, in.Node); err != nil {
			return err
		}
	}
	in.AttemptDiffs = map[plan.RunID][]plan.FileDiff{}
	for i := range tried {
		if in.AttemptDiffs[tried[i].ID], err = p.engine.DiffsOf(ctx, &tried[i]); err != nil {
			return err
		}
	}
	return nil
}
