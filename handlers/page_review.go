package handlers

import (
	"context"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// reviewAction has a step reviewed.
func (p *site) reviewAction(c echo.Context, r plan.Ref) error { return p.askForReview(c, r) }

// reviewPlanAction has a plan reviewed as a whole.
func (p *site) reviewPlanAction(c echo.Context, id plan.PlanID) error {
	return p.askForReview(c, plan.Ref{Plan: id})
}

// askForReview returns when the review has been asked for, or cannot be. The wait
// for its verdict is left behind and ends with the server: the verdict comes over
// the stream.
func (p *site) askForReview(c echo.Context, r plan.Ref) error {
	ctx := c.Request().Context()
	root, err := p.engine.RootOf(ctx, r.Plan)
	if err != nil {
		return err
	}
	agent := engine.AgentRef(strings.TrimSpace(c.FormValue("agent")))
	sub := p.engine.Subscribe(root, -1)
	asked, over := context.WithCancel(ctx)
	defer over()
	failed := make(chan error, 1)
	go func() {
		outlives, end := context.WithCancel(context.WithoutCancel(ctx))
		defer end()
		defer context.AfterFunc(p.closing, end)()
		_, err := p.engine.Review(outlives, r, agent)
		failed <- err
		over()
	}()
	for {
		changes, err := sub.Next(asked)
		switch {
		case err == nil && !slices.ContainsFunc(changes, func(ch plan.Change) bool { return asksForReview(&ch, r) }):
			continue
		case err == nil || ctx.Err() != nil || p.closing.Err() != nil:
			return nil
		}
		return <-failed
	}
}

func asksForReview(c *plan.Change, r plan.Ref) bool {
	return c.Ref() == r && c.Facts != nil && slices.ContainsFunc(c.Facts.Reviews, func(f plan.ReviewFacts) bool { return f.Urgent && f.State == plan.ReviewQueued })
}

func (p *site) acceptAction(c echo.Context, r plan.Ref) error {
	return p.engine.Accept(c.Request().Context(), r, longText(c, "note"))
}

func (p *site) judgeAction(c echo.Context, r plan.Ref) error {
	return p.engine.JudgeAgain(c.Request().Context(), r)
}

// reviewer stores who reviews a plan where the settings dialog has changed it.
func (p *site) reviewer(f *form, s *plan.Snapshot, id plan.PlanID) error {
	had := ""
	if own := s.Profiles[s.Plan(id).ReviewProfile]; own != nil {
		had = own.Name
	}
	agent, sent := f.text("review_agent")
	if !sent || agent == had {
		return nil
	}
	if _, err := p.engine.SetReviewAgent(f.c.Request().Context(), id, engine.AgentRef(agent)); err != nil {
		return &fieldError{"set-reviewer-error", err}
	}
	return nil
}
