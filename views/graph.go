package views

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views/graph"
)

// GraphInput describes the picture of one plan. It depends on the plan's shape
// alone: titles, edges and shared files, not on states.
func GraphInput(s *plan.Snapshot, id plan.PlanID, previous *graph.Layout) graph.Input {
	in := graph.Input{Previous: previous, Ties: ties(s, id), Options: graph.Options{GapX: 24, GapY: 48}}
	for _, n := range s.NodesOf(id) {
		w, _ := fit(n.Title)
		in.Nodes = append(in.Nodes, graph.Node{ID: int64(n.ID), Width: w, Height: cardHeight})
	}
	for _, e := range s.EdgesOf(id) {
		in.Edges = append(in.Edges, graph.Edge{From: int64(e.From), To: int64(e.To)})
	}
	return in
}

// ties groups the nodes of a plan that take turns on a file, one group a file.
func ties(s *plan.Snapshot, id plan.PlanID) [][]int64 {
	groups := map[string][]int64{}
	for _, n := range s.NodesOf(id) {
		for _, c := range s.Conflicts(n.Ref()) {
			if c.Ref.Plan != id {
				continue
			}
			for _, f := range c.Files {
				if !slices.Contains(groups[f], int64(n.ID)) {
					groups[f] = append(groups[f], int64(n.ID))
				}
			}
		}
	}
	list := make([][]int64, 0, len(groups))
	for _, g := range groups {
		list = append(list, g)
	}
	slices.SortFunc(list, slices.Compare[[]int64])
	return list
}

// Graph is the picture of a plan.
type Graph struct {
	Place         Place
	Width, Height float64
	Cards         []*card
	edges         []edge
	ties          []edge
}

type edge struct {
	id    string
	class string
	d     string
}

// Margin is the free space around a picture in pixels: enough to drag any card
// away from the border.
const Margin = 96.0

// bigGraph is from how many cards on details drop out when they would be too
// small to read.
const bigGraph = 300

func newGraph(s *scene, at Place, l *graph.Layout) *Graph {
	g := &Graph{Place: at, Width: l.Width, Height: l.Height, Cards: make([]*card, 0, len(l.Boxes))}
	usual := s.planAgent(at.Plan)
	for _, b := range l.Boxes {
		if n := s.Node(plan.Ref{Plan: at.Plan, Node: plan.NodeID(b.ID)}); n != nil {
			g.Cards = append(g.Cards, s.card(n, b, at, usual))
		}
	}
	for _, p := range l.Edges {
		g.edges = append(g.edges, s.edge(at.Plan, p))
	}
	for _, p := range l.Ties {
		g.ties = append(g.ties, edge{id: pathID("t", at.Plan, p), class: "tie", d: p.D})
	}
	return g
}

// planAgent is the profile that steps of a plan use when they name none.
func (s *scene) planAgent(id plan.PlanID) plan.ProfileID {
	if p, _ := s.PlanDefault(id); p != nil {
		return p.ID
	}
	return s.Server.DefaultProfile
}

func (s *scene) edge(id plan.PlanID, p graph.Path) edge {
	e := edge{id: pathID("e", id, p), class: "edge", d: p.D}
	from := s.Node(plan.Ref{Plan: id, Node: plan.NodeID(p.From)})
	to := s.Node(plan.Ref{Plan: id, Node: plan.NodeID(p.To)})
	switch {
	case from == nil || to == nil || !from.Satisfied():
	case to.State == plan.Running:
		e.class = "edge active"
	default:
		e.class = "edge done"
	}
	return e
}

func pathID(kind string, id plan.PlanID, p graph.Path) string {
	return dom(kind, plan.Ref{Plan: id, Node: plan.NodeID(p.From)}) + "-" + strconv.FormatInt(p.To, 10)
}

// pieces are the parts of the picture that change.
func (g *Graph) pieces() []Piece {
	list := make([]Piece, 0, 1+len(g.Cards)+len(g.edges)+len(g.ties))
	list = append(list, Piece{ID: "extent", SVG: true, Body: g.extent()})
	for _, e := range g.ties {
		list = append(list, Piece{ID: e.id, In: "ties", SVG: true, Body: e})
	}
	for _, e := range g.edges {
		list = append(list, Piece{ID: e.id, In: "edges", SVG: true, Body: e})
	}
	for _, c := range g.Cards {
		list = append(list, Piece{ID: c.id, In: "cards", SVG: true, Body: c})
	}
	return list
}

// layers draws everything: lines below, cards above.
func (g *Graph) layers() templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := make([]byte, 0, 256+len(g.Cards)*900+(len(g.edges)+len(g.ties))*160)
		b = append(b, `<g id="ties">`...)
		for _, e := range g.ties {
			b = e.append(b)
		}
		b = append(b, `</g><g id="edges">`...)
		for _, e := range g.edges {
			b = e.append(b)
		}
		b = append(b, `</g><g id="cards">`...)
		for _, c := range g.Cards {
			b = c.append(b)
		}
		_, err := w.Write(append(b, `</g>`...))
		return err
	})
}

// extent is an invisible box as large as the picture: scripts see from it that
// the picture has grown.
func (g *Graph) extent() templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := append([]byte(`<rect id="extent" width="`), pixels(g.Width)...)
		b = append(append(b, `" height="`...), pixels(g.Height)...)
		_, err := w.Write(append(b, `"/>`...))
		return err
	})
}

func (e edge) append(b []byte) []byte {
	b = append(append(b, `<path id="`...), e.id...)
	b = append(append(b, `" class="`...), e.class...)
	b = append(append(b, `" d="`...), e.d...)
	return append(b, `"/>`...)
}

// Render draws the line.
func (e edge) Render(_ context.Context, w io.Writer) error {
	_, err := w.Write(e.append(nil))
	return err
}

func (g *Graph) outerWidth() string  { return pixels(g.Width + 2*Margin) }
func (g *Graph) outerHeight() string { return pixels(g.Height + 2*Margin) }

func (g *Graph) viewBox() string {
	return pixels(-Margin) + " " + pixels(-Margin) + " " + g.outerWidth() + " " + g.outerHeight()
}

func (g *Graph) big() bool { return len(g.Cards) >= bigGraph }

// pixels writes a length with at most one digit after the point.
func pixels(f float64) string { return string(appendPixels(nil, f)) }

func appendPixels(b []byte, f float64) []byte {
	tenths := int64(f*10 + cmp.Or(sign(f), 1)*0.5)
	if tenths%10 == 0 {
		return strconv.AppendInt(b, tenths/10, 10)
	}
	return strconv.AppendFloat(b, float64(tenths)/10, 'f', 1, 64)
}

func sign(f float64) float64 {
	if f < 0 {
		return -1
	}
	return 1
}

// tightBox is the view of a picture that nobody drags about.
func (g *Graph) tightBox() string {
	return "-8 -8 " + pixels(g.Width+16) + " " + pixels(g.Height+16)
}
