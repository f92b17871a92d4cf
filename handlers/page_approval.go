package handlers

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// approveAction approves the revision that the page showed, and starts the plan
// where that was asked for too.
func (p *site) approveAction(c echo.Context, id plan.PlanID) error {
	n, err := strconv.ParseInt(c.FormValue("revision"), 10, 64)
	if err != nil {
		return plan.Errorf(plan.Invalid, "revision must be the number of the revision that was looked at")
	}
	ctx := c.Request().Context()
	err = p.engine.Approve(ctx, engine.ApproveIn{PlanID: id, Revision: n, Start: c.FormValue("start") != ""})
	if plan.KindOf(err) != plan.Conflict {
		return err
	}
	s, gone := p.engine.Snapshot(ctx, id)
	if gone != nil || s.Root().Revision == n {
		return err
	}
	return plan.Errorf(plan.Conflict, "the plan has changed: you looked at revision %d, and it is at revision %d now. Look at it again before you approve it.",
		n, s.Root().Revision)
}

func (p *site) reviseAction(c echo.Context, id plan.PlanID) error {
	return atField(p.engine.Revise(c.Request().Context(), id, longText(c, "feedback")), []fieldPlace{{"feedback", "revise-error"}})
}

func (p *site) replanAction(c echo.Context, id plan.PlanID) error {
	return atField(p.engine.Replan(c.Request().Context(), id, longText(c, "guidance")), []fieldPlace{{"guidance", "replan-error"}})
}

func (p *site) rejectAction(c echo.Context, id plan.PlanID) error {
	return atField(p.engine.Reject(c.Request().Context(), id, longText(c, "reason")), []fieldPlace{{"reason", "reject-error"}})
}

// revision shows a plan as it stood at one revision, and what it changed.
func (p *site) revision(c echo.Context) error {
	id, err := number(c, "plan_id")
	if err != nil {
		return err
	}
	n, err := number(c, "revision")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	s, err := p.engine.Snapshot(ctx, plan.PlanID(id))
	if err != nil {
		return err
	}
	in := views.RevisionInput{Plan: s.Plan(plan.PlanID(id))}
	if in.Revision, err = p.engine.RevisionOf(ctx, in.Plan.ID, n); err != nil {
		return err
	}
	if _, in.All, err = p.engine.GoalOf(ctx, in.Plan.ID); err != nil {
		return err
	}
	if n > 1 {
		if in.Before, err = p.engine.RevisionOf(ctx, in.Plan.ID, n-1); err != nil {
			return err
		}
	}
	page, err := views.NewRevisionPage(in)
	if err != nil {
		return err
	}
	return p.answer(c, http.StatusOK, page.Head(), views.RevisionView(page))
}
