// Package graph places the steps of a plan on a plane: nodes and edges in,
// boxes and SVG paths out. It is a pure function of its input: no clock, no
// randomness, no state, and the order in which nodes, edges and ties are given
// does not matter, so the same plan always gives the same picture.
//
// # How it draws
//
// The picture is layered, top to bottom. A node stands below everything it
// depends on; what hangs on by a single edge always stands right next to it.
// Edges that skip layers get virtual nodes ("lanes") there, so they pass between
// cards and never through one. Orders inside the layers come from median sweeps
// and transpositions. Horizontal places are the nearest to what each card is
// joined to that leave room for its neighbours (least squares, pool adjacent
// violators); then chains and lanes are set straight. Parts of the plan that
// neither edges nor ties connect are drawn apart and packed into a page of about
// the wanted aspect ratio.
//
// Cards of a row that take turns hang a step lower each, lowest number first.
//
// # Wide layers
//
// A layer is wide when it has more than 16 cards and more than twice the cards
// that a page of the wanted aspect ratio is wide. In wide layers, strands that
// begin at the same nodes and end at the same nodes and have the same shape (a
// fan-out of single steps, or of short pipelines) are set in rows, like words on
// a page, lowest number first. What still is too wide after that is set in
// columns in the order of its parents. Edges reach the rows below the first
// through the corridors between the columns: in on the left of a card, out on
// its right.
//
// # Bad input
//
// Nothing panics and nothing is an error, since a picture of a slightly wrong
// plan is better than none. Edges with unknown ends, self-loops and edges that
// close a cycle (met by walking from the lowest ids first) are left out and
// listed in [Layout.Ignored]; repeated edges are drawn once; of nodes with the
// same id the smallest counts; unknown ids in ties are skipped; sizes that are
// not finite or lie outside 1 to 10,000 pixels are brought inside.
package graph

import (
	"cmp"
	"math"
	"slices"
)

// Node is a card to place. Sizes are in pixels.
type Node struct {
	ID            int64
	Width, Height float64
}

// Edge says that From stands above To.
type Edge struct{ From, To int64 }

// Options are the measures of a picture in pixels. Zero means the default;
// gaps are rounded up to whole pixels.
type Options struct {
	GapX    float64 // between cards side by side; default 28
	GapY    float64 // between layers, at least; default 56
	Stagger float64 // how far each card that takes turns is nudged down; default 16
	Aspect  float64 // wanted width over height, for wrapping and packing; default 1.6
}

// Input is everything a picture depends on.
type Input struct {
	Nodes []Node
	Edges []Edge
	// Ties are groups of nodes that take turns, usually because they change
	// the same file. A node may be in several groups.
	Ties    [][]int64
	Options Options
	// Previous is the picture that this one replaces, or nil. Nodes known to
	// it keep their order inside a layer unless that would cost more than
	// twice the crossings. Only its exported fields are used.
	Previous *Layout
}

// Box is where a card stands. X and Y are its top left corner.
type Box struct {
	ID         int64
	X, Y, W, H float64
	Layer      int // counted from 0 at the top of its connected part
}

func (b Box) right() float64   { return b.X + b.W }
func (b Box) bottom() float64  { return b.Y + b.H }
func (b Box) centreX() float64 { return b.X + b.W/2 }
func (b Box) centreY() float64 { return b.Y + b.H/2 }

// Path is a line to draw.
type Path struct {
	From, To int64
	D        string // SVG path data
	// Lanes are the x coordinates at which an edge passes the layers between
	// its ends; a later layout uses them to keep the edge where it was.
	Lanes []float64
}

// Layout is a finished picture. It begins at (0, 0) and has no margin. It is
// not changed after [Arrange] returned it and can be read concurrently.
type Layout struct {
	Width, Height float64
	Boxes         []Box  // ascending by ID
	Edges         []Path // ascending by From, then To; from bottom centre to top centre
	// Ties connect the nodes of a group, ascending by From, then To: in one
	// row each with the next number, and the last of a row with the first of
	// the row right below. Left out are connectors that would run through
	// another card, far across to another layer, or beside a direct edge.
	Ties []Path
	// Ignored are the edges left out: unknown ends, self-loops, cycles.
	Ignored []Edge

	index        *index
	above, below adjacency // along the edges
	left, right  []int32   // in the row, -1 at its ends
}

// Arrange draws a plan. It takes time roughly proportional to the size of the
// picture, and never fails; see the package comment for bad input.
func Arrange(in Input) *Layout {
	n := newNet(in)
	a := newArrangement(n, in.Previous)
	for i := range a.parts {
		a.layPart(&a.parts[i])
	}
	a.pack()
	return a.compose()
}

// Box returns the box of a node, and whether there is one.
func (l *Layout) Box(id int64) (Box, bool) {
	i, ok := l.find(id)
	if !ok {
		return Box{}, false
	}
	return l.Boxes[i], true
}

func (l *Layout) find(id int64) (int32, bool) {
	i, ok := slices.BinarySearchFunc(l.Boxes, id, func(b Box, id int64) int { return cmp.Compare(b.ID, id) })
	return int32(i), ok
}

// withDefaults replaces what is unset or senseless.
func (o Options) withDefaults() Options {
	return Options{
		GapX:    math.Ceil(orDefault(o.GapX, 28, 1000)),
		GapY:    math.Ceil(orDefault(o.GapY, 56, 1000)),
		Stagger: orDefault(o.Stagger, 16, 1000),
		Aspect:  max(0.1, orDefault(o.Aspect, 1.6, 10)),
	}
}

// orDefault also catches NaN, which compares false with everything.
func orDefault(v, def, most float64) float64 {
	if !(v > 0) {
		return def
	}
	return min(v, most)
}
