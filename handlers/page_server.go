package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/views"
)

// settingsPage shows what is set for the whole server.
func (p *site) settingsPage(c echo.Context) error {
	return p.answer(c, http.StatusOK, "Settings", views.ServerView(&views.ServerPage{}))
}
