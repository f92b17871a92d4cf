package handlers

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// patch sends what a run of a step changed, as it is stored: in one file, or
// without a path in all of them. It is the last run where none is named.
func (p *site) patch(c echo.Context) error {
	r, err := refOf(c)
	if err != nil {
		return err
	}
	run := 0
	if v := c.QueryParam("run"); v != "" {
		if run, err = strconv.Atoi(v); err != nil || run <= 0 {
			return plan.Errorf(plan.Invalid, "run must be the number of a run")
		}
	}
	return p.sendPatch(c, r, run)
}

// runPatch is patch for one run, under its own address.
func (s *server) runPatch(c echo.Context) error {
	var of [3]int64
	for i, name := range []string{"plan_id", "node_id", "run"} {
		var err error
		if of[i], err = numberIn(c, name); err != nil {
			return err
		}
	}
	return s.sendPatch(c, plan.Ref{Plan: plan.PlanID(of[0]), Node: plan.NodeID(of[1])}, int(of[2]))
}

func (s *server) sendPatch(c echo.Context, r plan.Ref, run int) error {
	path := c.QueryParam("path")
	files, err := s.diffsOf(c.Request().Context(), r, run)
	if err != nil {
		return err
	}
	var text strings.Builder
	for i := range files {
		if path == "" || files[i].Path == path {
			text.WriteString(files[i].Diff)
		}
	}
	if text.Len() == 0 {
		return plan.Errorf(plan.NotFound, "step %s has no patch of %s", r, patchName(path))
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(text.String()))
}

func patchName(path string) string {
	if path == "" {
		return "anything"
	}
	return "this file"
}

// diffsOf reads what a run of a step changed; run 0 is the last one.
func (s *server) diffsOf(ctx context.Context, r plan.Ref, run int) ([]plan.FileDiff, error) {
	if run == 0 {
		return s.engine.Diffs(ctx, r)
	}
	which, err := s.engine.RunOf(ctx, r, run)
	if err != nil {
		return nil, err
	}
	return s.engine.DiffsOf(ctx, which)
}

// withChanges reads what the tabs about a step's work show, as far as it is asked
// for. A run that the place names and that is not there is as good as none.
func (p *site) withChanges(ctx context.Context, s *plan.Snapshot, in *views.DrawerInput) (err error) {
	if in.AllTabs || in.Place.Tab == views.TabChanges {
		if !slices.ContainsFunc(in.Runs, func(r plan.Run) bool { return r.Number == in.Place.Run }) {
			in.Place.Run = 0
		}
		if in.Diffs, err = p.diffsOf(ctx, in.Node, in.Place.Run); err != nil {
			return err
		}
	}
	if in.AllTabs || in.Place.Tab == views.TabReview {
		return p.withAttempts(ctx, s, in)
	}
	return nil
}
