package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/views"
)

// plans lists all plans, those that match.
func (p *site) plans(c echo.Context) error {
	seq := p.engine.Subscribe(0, -1).Cursor()
	list, err := p.summaries(c.Request().Context())
	if err != nil {
		return err
	}
	page := views.NewPlansPage(views.PlansInput{Plans: list, Query: c.QueryParam("q"), State: c.QueryParam("state"), Sort: c.QueryParam("sort"), Seq: seq})
	return p.answer(c, http.StatusOK, "Plans", views.PlansView(page))
}
