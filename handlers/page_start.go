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
	return p.answer(c, http.StatusOK, "Connect a client", views.StartView(startPageOf(p.opts.URL, p.auth != nil)))
}

// startPageOf shows how each client is connected to the server at base. token says
// that clients must present one.
func startPageOf(base string, token bool) *views.StartPage {
	page := &views.StartPage{}
	c := Connection{"clearbox", base + "/mcp", token}
	for _, m := range MCPClients() {
		shown := views.Client{ID: m.ID, Name: m.Name, How: "Put into " + m.File + ":", Code: m.Config(c)}
		if m.Command != nil {
			shown.How, shown.Code = "Run once in a terminal:", m.Command(c)
		}
		page.Clients = append(page.Clients, shown)
	}
	c.URL += "/observe"
	page.Clients = append(page.Clients, views.Client{ID: "observe", Name: "Watch a session's own work",
		How:  "A session that does the work itself and only reports here uses another address. For Claude Code:",
		Code: claudeCommand(c)})
	return page
}
