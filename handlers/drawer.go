package handlers

import (
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// shownAs says where a step is shown.
type shownAs int

const (
	inDrawer shownAs = iota
	onFullPage
	inAllTabs // every tab but the session, for who follows it
)

// drawer builds what is shown of one step. Its transcript is read after the
// snapshot: entries that come in between are told again, which does no harm.
func (p *site) drawer(ctx context.Context, s *plan.Snapshot, r plan.Ref, at views.Place, as shownAs) (*views.Drawer, error) {
	if r.Node == 0 {
		at = at.WithTab(views.TabSession)
	} else if s.Node(r) == nil {
		return nil, noStep(r)
	}
	runs, err := p.engine.Runs(ctx, r)
	if err != nil {
		return nil, err
	}
	in := views.DrawerInput{Snapshot: s, Node: r, Place: at, Runs: runs, AllTabs: as == inAllTabs, Full: as == onFullPage}
	if r.Node != 0 {
		if err := p.withChanges(ctx, s, &in); err != nil {
			return nil, err
		}
	}
	if at.Tab == views.TabSession {
		if in.Events, in.Older, err = p.eventsBefore(ctx, r, 0); err != nil {
			return nil, err
		}
	}
	return views.NewDrawer(in), nil
}

// eventsBefore reads a page of a transcript: the newest entries before an id (0:
// the end). more reports whether there are older ones.
func (p *site) eventsBefore(ctx context.Context, r plan.Ref, before int64) (list []plan.Event, more bool, err error) {
	list, err = p.engine.EventsBefore(ctx, r, before, views.SessionPage+1)
	if more = len(list) > views.SessionPage; more {
		list = list[1:]
	}
	return list, more, err
}

// node shows a step on a page of its own.
func (p *site) node(c echo.Context) error {
	r, err := sessionOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	s, err := p.engine.Snapshot(ctx, r.Plan)
	if err != nil {
		return err
	}
	d, err := p.drawer(ctx, s, r, placeOf(c, r.Plan), onFullPage)
	if err != nil {
		return err
	}
	return p.answer(c, http.StatusOK, d.Ref+" "+d.Title, views.NodePage(d))
}

// prompt shows the exact prompt of a step.
func (p *site) prompt(c echo.Context) error {
	r, err := refOf(c)
	if err != nil {
		return err
	}
	text, err := p.engine.Context(c.Request().Context(), r)
	if err != nil {
		return err
	}
	return send(c, http.StatusOK, views.PromptText(text))
}

// olderEvents shows the part of a transcript before an entry.
func (p *site) olderEvents(c echo.Context) error {
	r, err := sessionOf(c)
	if err != nil {
		return err
	}
	before, err := strconv.ParseInt(c.QueryParam("before"), 10, 64)
	if err != nil || before <= 0 {
		return plan.Errorf(plan.Invalid, "before must be the number of an entry")
	}
	ctx := c.Request().Context()
	runs, err := p.engine.Runs(ctx, r)
	if err != nil {
		return err
	}
	list, more, err := p.eventsBefore(ctx, r, before)
	if err != nil {
		return err
	}
	return send(c, http.StatusOK, views.OlderEntries(views.OlderSession(r, runs, list, more)))
}

// event sends the whole of one entry, as it was recorded.
func (p *site) event(c echo.Context) error {
	r, err := sessionOf(c)
	if err != nil {
		return err
	}
	id, err := number(c, "id")
	if err != nil {
		return err
	}
	list, err := p.engine.Events(c.Request().Context(), r, id-1, 1)
	if err != nil {
		return err
	}
	if len(list) == 0 || list[0].ID != id {
		return plan.Errorf(plan.NotFound, "step %s has no entry %d", r, id)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(views.RawText(&list[0])))
}
