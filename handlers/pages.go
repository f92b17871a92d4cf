package handlers

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/static"
	"github.com/clearbox-go/clearbox/views"
)

// site is what people see: the pages of a server.
type site struct {
	*server
	files    *static.Files
	live     *live
	pictures *views.Pictures
	waits    inboxMemory
}

// pages mounts the pages for people.
func (s *server) pages() {
	p := &site{server: s, files: static.Load(), pictures: views.NewPictures()}
	p.live = newLive(p)
	e := s.echo
	e.GET(static.Prefix+"*", echo.WrapHandler(p.files))
	e.GET("/live", p.live.serve)
	for path, show := range map[string]echo.HandlerFunc{
		"/":                                     p.home,
		"/connect":                              p.connect,
		"/plans":                                p.plans,
		"/inbox":                                p.inboxPage,
		"/settings":                             p.settingsPage,
		"/agents":                               p.agents,
		"/plans/new":                            p.newPlan,
		"/plans/:plan_id/revisions/:revision":   p.revision,
		"/plans/:plan_id":                       p.plan,
		"/plans/:plan_id/nodes/:node_id":        p.plan,
		"/plans/:plan_id/nodes/:node_id/full":   p.node,
		"/plans/:plan_id/nodes/:node_id/patch":  p.patch,
		"/plans/:plan_id/nodes/:node_id/prompt": p.prompt,
		"/plans/:plan_id/nodes/:node_id/events": p.olderEvents,
		"/agents/new":                           p.newAgent,
		"/agents/:agent_id":                     p.agent,
		"/plans/:plan_id/nodes/:node_id/events/:id": p.event,
	} {
		e.GET(path, p.page(show))
	}
	p.actions()
	e.RouteNotFound("/*", p.page(func(echo.Context) error { return echo.ErrNotFound }))
}

// Parts of a page that scripts ask for alone.
const (
	partHeader  = "Clearbox-Part"
	partPage    = "page"
	partDrawer  = "drawer"
	partSidebar = "sidebar"
	partYou     = "you"
)

func partOf(c echo.Context) string { return c.Request().Header.Get(partHeader) }

// page makes a handler answer errors as people want to read them.
func (p *site) page(show echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := show(c)
		if err == nil || c.Response().Committed || wantsJSON(c.Request()) || c.Request().Method == http.MethodHead {
			return err
		}
		said := p.problemOf(err, requestID(c))
		title := "Something went wrong"
		switch said.status {
		case http.StatusNotFound:
			title = "Not found"
		case http.StatusMethodNotAllowed:
			return err
		}
		return p.answer(c, said.status, title, views.ProblemView(title, said.text))
	}
}

// answer sends a page, whole or the part that was asked for.
func (p *site) answer(c echo.Context, status int, title string, body templ.Component) error {
	switch partOf(c) {
	case partPage, partDrawer:
		return send(c, status, body)
	}
	if partOf(c) == partYou {
		b, err := p.inbox(c.Request().Context())
		if err != nil {
			return err
		}
		return send(c, http.StatusOK, views.YouLink(b))
	}
	side, err := p.sidebar(c.Request().Context())
	if err != nil {
		return err
	}
	if partOf(c) == partSidebar {
		return send(c, status, views.SidebarNav(side))
	}
	return send(c, status, views.Layout(&views.Shell{Title: title, Version: p.opts.Version, Assets: p.assets(),
		Now: plan.StampOf(time.Now()), Sidebar: *side, Page: body}))
}

// send renders a component. Pages are never kept by browsers: the same address
// has a whole page and parts of it, and all of them change.
func send(c echo.Context, status int, body templ.Component) error {
	var b bytes.Buffer
	if err := body.Render(c.Request().Context(), &b); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", partHeader)
	return c.HTMLBlob(status, b.Bytes())
}

func (p *site) assets() views.Assets {
	return views.Assets{CSS: p.files.URL("app.css"), Pages: p.files.URL("pages.css"), Changes: p.files.URL("changes.css"), Boot: p.files.URL("boot.js"),
		App: p.files.URL("app.js"), Htmx: p.files.URL("htmx.min.js"), Worker: p.files.URL("live-worker.js"),
		Watch: p.files.URL("watch.js"), Icon: p.files.URL("favicon.svg"), Marked: p.files.URL("favicon-marked.svg")}
}

// sidebar reads the plans. Its number is taken before: changes that come in
// between are told again, which does no harm.
func (p *site) sidebar(ctx context.Context) (*views.Sidebar, error) {
	seq := p.engine.Subscribe(0, -1).Cursor()
	list, err := p.summaries(ctx)
	if err != nil {
		return nil, err
	}
	waits, err := p.inbox(ctx)
	return &views.Sidebar{Plans: list, Waits: waits, Seq: seq}, err
}

// summaries returns all plans, the newest first.
func (p *site) summaries(ctx context.Context) ([]views.PlanSummary, error) {
	all, err := p.engine.Overviews(ctx)
	if err != nil {
		return nil, err
	}
	asked, err := p.questionsByRoot(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]views.PlanSummary, len(all))
	for i := range all {
		list[i] = p.summary(&all[i], asked[all[i].Plan.ID])
	}
	return list, nil
}

func (p *site) summary(o *engine.Overview, questions int) views.PlanSummary {
	return views.PlanSummary{ID: o.Plan.ID, Title: o.Plan.Title, Status: o.State, Started: o.Plan.Started,
		Begun: o.Plan.FirstStart != 0, Approval: o.Plan.Approval, Tally: o.Tally, Questions: questions, CreatedAt: o.Plan.CreatedAt,
		NoBudget: o.Plan.Started && o.Plan.OverBudget() != "" && o.Tally.Pending+o.Tally.Ready > 0,
		WorkDir:  p.engine.WorkDirOf(&o.Plan), Executor: o.Plan.Executor}
}

// questionsByRoot counts the open questions of each tree.
func (p *site) questionsByRoot(ctx context.Context) (map[plan.PlanID]int, error) {
	open, err := p.engine.Questions(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[plan.PlanID]int{}
	for _, q := range open {
		root, err := p.engine.RootOf(ctx, q.PlanID)
		if plan.KindOf(err) == plan.NotFound {
			continue // deleted a moment ago
		}
		if err != nil {
			return nil, err
		}
		counts[root]++
	}
	return counts, nil
}

// number reads a whole number of the path.
func number(c echo.Context, name string) (int64, error) {
	n, err := strconv.ParseInt(c.Param(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, plan.Errorf(plan.NotFound, "there is nothing at this address: %s is no number", clip(strconv.Quote(c.Param(name))))
	}
	return n, nil
}

// refOf reads the step that a path names.
func refOf(c echo.Context) (plan.Ref, error) {
	id, err := number(c, "plan_id")
	if err != nil {
		return plan.Ref{}, err
	}
	node, err := number(c, "node_id")
	return plan.Ref{Plan: plan.PlanID(id), Node: plan.NodeID(node)}, err
}

// sessionOf reads the step whose session a path names; 0 is the plan's own.
func sessionOf(c echo.Context) (plan.Ref, error) {
	if c.Param("node_id") != "0" {
		return refOf(c)
	}
	id, err := number(c, "plan_id")
	return plan.Ref{Plan: plan.PlanID(id)}, err
}

// placeOf reads how a plan is looked at; unknown words mean what is usual.
func placeOf(c echo.Context, id plan.PlanID) views.Place {
	at := views.Place{Plan: id}
	if v := c.QueryParam("view"); slices.Contains(views.Views(), v) {
		at.View = v
	}
	at.Show = views.ShowOf(c.QueryParam("show"))
	if tab := c.QueryParam("tab"); tab != views.TabTask && slices.Contains(views.Tabs(), tab) {
		at.Tab = tab
	}
	if l := c.QueryParam("diff"); l == views.LayoutUnified || l == views.LayoutSplit {
		at.Layout = l
	}
	if n, err := strconv.Atoi(c.QueryParam("run")); err == nil && n > 0 {
		at.Run = n
	}
	return at
}
