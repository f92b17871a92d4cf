package handlers

import (
	"context"
	"strconv"

	"github.com/labstack/echo/v4"

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

// diffsOf reads what one run of a step changed: the last, or that which is asked for.
func (p *site) diffsOf(c echo.Context, r plan.Ref) ([]plan.FileDiff, error) {
	ctx := c.Request().Context()
	if c.QueryParam("attempt") == "" {
		return p.engine.Diffs(ctx, r)
	}
	k, err := strconv.Atoi(c.QueryParam("attempt"))
	if err != nil || k < 1 {
		return nil, plan.Errorf(plan.Invalid, "attempt must be the number of a run")
	}
	run, err := p.engine.RunOf(ctx, r, k)
	if err != nil {
		return nil, err
	}
	return p.engine.DiffsOf(ctx, run)
}
