package handlers

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/static"
	"github.com/clearbox-go/clearbox/views"
)

// reportPolicy is for a document that has its own styles and nothing else that
// could load or do something.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox allow-popups"

// exportReport answers with a plan as one HTML file.
func (s *server) exportReport(c echo.Context) error {
	id, err := numberIn(c, "plan_id")
	if err != nil {
		return err
	}
	transcripts, err := switchIn(c, "transcripts")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	known, err := s.engine.PlanReport(ctx, engine.ReportIn{Plan: plan.PlanID(id), Transcripts: transcripts})
	if err != nil {
		return err
	}
	files, pictures := static.Load(), views.NewPictures()
	report := views.NewReport(views.ReportInput{Report: known, Transcripts: transcripts, Now: plan.StampOf(time.Now()), Version: s.opts.Version,
		Style: files.Text("app.css") + files.Text("changes.css") + files.Text("report.css"), LayoutOf: pictures.Of})
	var b bytes.Buffer
	if err := report.Render(ctx, &b); err != nil {
		return err
	}
	attach(c, fmt.Sprintf("plan-%d.html", id))
	c.Response().Header().Set("Content-Security-Policy", reportPolicy)
	return c.HTMLBlob(http.StatusOK, b.Bytes())
}
