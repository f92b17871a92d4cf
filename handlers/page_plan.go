package handlers

import (
	"context"
	"net/http"

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
		r, err := refOf(c)
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
	if at.View != views.ViewList {
		in.Layout = p.pictures.Of(s, at.Plan)
	}
	if a := s.Root().Approval; a != "" && a != plan.NoApproval {
		var err error
		if in.Goal, in.Revisions, err = p.engine.GoalOf(ctx, s.Root().ID); err != nil {
			return nil, err
		}
	}
	return views.NewPlanPage(in), nil
}

// planNow reads a plan and builds its page, for updates.
func (p *site) planNow(ctx context.Context, at views.Place) (*views.PlanPage, error) {
	s, err := p.engine.Snapshot(ctx, at.Plan)
	if err != nil {
		return nil, err
	}
	return p.planPage(ctx, s, at, nil)
}
