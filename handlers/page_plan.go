package handlers

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// plan shows a plan, with a step in the drawer where the path names one.
func (p *site) plan(c echo.Context) error {
	id, err := number(c, "plan_id")
	if err != nil {
		return err
	}
	ctx, at := c.Request().Context(), placeOf(c, plan.PlanID(id))
	s, err := p.engine.Snapshot(ctx, at.Plan)
	if err != nil {
		return err
	}
	var drawer *views.Drawer
	if c.Param("node_id") != "" {
		r, err := sessionOf(c)
		if err != nil {
			return err
		}
		if drawer, err = p.drawer(ctx, s, r, at, inDrawer); err != nil {
			return err
		}
	}
	if partOf(c) == partDrawer {
		return send(c, http.StatusOK, views.DrawerView(drawer))
	}
	page, err := p.planPage(ctx, s, at, drawer)
	if err != nil {
		return err
	}
	return p.answer(c, http.StatusOK, page.Title(), views.PlanView(page))
}

// planPage builds the page of a plan from its tree.
func (p *site) planPage(ctx context.Context, s *plan.Snapshot, at views.Place, d *views.Drawer) (*views.PlanPage, error) {
	in := views.PlanInput{Snapshot: s, Place: at, WorkDir: p.engine.WorkDirOf(s.Root()), Drawer: d}
	switch at.View {
	case views.ViewList:
	case views.ViewTimeline:
		times, err := p.timesOf(ctx, s)
		if err != nil {
			return nil, err
		}
		in.Times = times
	default:
		in.Layout = p.pictures.Of(s, at.Plan)
	}
	if a := s.Root().Approval; a != "" && a != plan.NoApproval {
		var err error
		if in.Goal, in.Revisions, err = p.engine.GoalOf(ctx, s.Root().ID); err != nil {
			return nil, err
		}
		if a == plan.Planning {
			if in.PlannerRuns, err = p.engine.Runs(ctx, plan.Ref{Plan: s.Root().ID}); err != nil {
				return nil, err
			}
		}
	}
	return views.NewPlanPage(in), nil
}

// timesOf reads when the steps of a tree waited and worked.
func (p *site) timesOf(ctx context.Context, s *plan.Snapshot) (*views.TimelineInput, error) {
	t, err := p.engine.TimesOf(ctx, s.Root().ID)
	if err != nil {
		return nil, err
	}
	in := &views.TimelineInput{Runs: t.Runs, Now: plan.StampOf(time.Now()), Stretches: make([]views.Stretch, len(t.Stretches))}
	for i, x := range t.Stretches {
		in.Stretches[i] = views.Stretch{Node: plan.Ref{Plan: x.PlanID, Node: x.NodeID}, State: x.State, Phase: x.Phase, Since: x.Since, Until: x.Until}
	}
	return in, nil
}

// planNow reads a plan and builds its page, for updates.
func (p *site) planNow(ctx context.Context, at views.Place) (*views.PlanPage, error) {
	s, err := p.engine.Snapshot(ctx, at.Plan)
	if err != nil {
		return nil, err
	}
	return p.planPage(ctx, s, at, nil)
}
