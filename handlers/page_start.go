package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/views"
)

// home leads to the most recent plan; without one it tells how to begin.
func (p *site) home(c echo.Context) error {
	all, err := p.engine.Overviews(c.Request().Context())
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return p.connect(c)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Redirect(http.StatusSeeOther, views.PlanURL(all[0].Plan.ID))
}

// connect tells how clients are connected.
func (p *site) connect(c echo.Context) error {
	return p.answer(c, http.StatusOK, "Connect a client", views.StartView(views.NewStartPage(p.opts.URL, p.auth != nil)))
}
