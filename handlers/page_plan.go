package handlers

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"math"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
	"github.com/clearbox-go/clearbox/views/graph"
)

// plan shows a plan, with a step in the drawer where the path names one.
func (p *site) plan(c echo.Context) error {
	id, err := number(c, "plan_id")
	if err != nil {
		return err
	}
	ctx, at := c.Request().Context(), placeOf(c, plan.PlanID(id))
	s, err := p.engine.Snapshot(ctx, at.Plan)
	if err != nil {
		return err
	}
	var drawer *views.Drawer
	if c.Param("node_id") != "" {
		r, err := refOf(c)
		if err != nil {
			return err
		}
		if drawer, err = p.drawer(ctx, s, r, at); err != nil {
			return err
		}
	}
	if partOf(c) == partDrawer {
		return send(c, http.StatusOK, views.DrawerView(drawer))
	}
	page := p.planPage(s, at, drawer)
	return p.answer(c, http.StatusOK, page.Title(), views.PlanView(page))
}

// planPage builds the page of a plan from its tree.
func (p *site) planPage(s *plan.Snapshot, at views.Place, d *views.Drawer) *views.PlanPage {
	in := views.PlanInput{Snapshot: s, Place: at, WorkDir: p.engine.WorkDirOf(s.Root()), Drawer: d}
	if at.View != views.ViewList {
		in.Layout = p.pictures.of(s, at.Plan)
	}
	return views.NewPlanPage(in)
}

// planNow reads a plan and builds its page, for updates.
func (p *site) planNow(ctx context.Context, at views.Place) (*views.PlanPage, error) {
	s, err := p.engine.Snapshot(ctx, at.Plan)
	if err != nil {
		return nil, err
	}
	return p.planPage(s, at, nil), nil
}

// maxPictures is how many plans' pictures are remembered.
const maxPictures = 64

// pictures remembers how plans were laid out: so a change of state costs no
// layout, and a change of shape moves as little as possible.
type pictures struct {
	seed maphash.Seed

	mu    sync.Mutex
	plans map[plan.PlanID]picture
	order []plan.PlanID // the longest unused first
}

type picture struct {
	key    uint64 // of what it shows
	layout *graph.Layout
}

func newPictures() *pictures {
	return &pictures{seed: maphash.MakeSeed(), plans: map[plan.PlanID]picture{}}
}

// of returns the layout of a plan.
func (p *pictures) of(s *plan.Snapshot, id plan.PlanID) *graph.Layout {
	in := views.GraphInput(s, id, nil)
	key := p.keyOf(in)
	p.mu.Lock()
	known, ok := p.plans[id]
	p.mu.Unlock()
	if ok && known.key == key {
		return known.layout
	}
	in.Previous = known.layout
	fresh := picture{key, graph.Arrange(in)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plans[id] = fresh
	if !ok {
		p.order = append(p.order, id)
	}
	if len(p.order) > maxPictures {
		delete(p.plans, p.order[0])
		p.order = p.order[1:]
	}
	return fresh.layout
}

// keyOf tells inputs apart that would be laid out differently.
func (p *pictures) keyOf(in graph.Input) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	var b []byte
	put := func(n int64) {
		b = binary.LittleEndian.AppendUint64(b[:0], uint64(n))
		h.Write(b)
	}
	for _, n := range in.Nodes {
		put(n.ID)
		put(int64(math.Round(n.Width)))
	}
	put(-1)
	for _, e := range in.Edges {
		put(e.From)
		put(e.To)
	}
	for _, tie := range in.Ties {
		put(-2)
		for _, id := range tie {
			put(id)
		}
	}
	return h.Sum64()
}
