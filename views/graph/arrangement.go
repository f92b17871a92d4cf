package graph

import (
	"cmp"
	"slices"
)

// arrangement is the work in progress on one picture.
type arrangement struct {
	n     *net
	rank  []int32
	seq   []int32 // reading order of the nodes: by id, but who takes turns stands together
	parts []part
	prev  *memory
	nudge *stagger

	// Where each node went.
	partOf   []int32
	itemOf   []int32 // its card, or the block that holds it, in the sheet of its part
	strandOf []int32 // its strand in that block, or -1
	innerOf  []int32 // its card in the sheet of that strand, or -1
	rowOf    []int32 // its row; numbers grow down the page within a part
	linkOf   []int32 // by arc: its link in the sheet of the part, or -1 inside a strand
	rows     int32

	box []Box // by node, in page coordinates once composed
}

// part is a piece of the plan that no edge and no tie joins to the rest.
type part struct {
	nodes []int32
	sheet *sheet // nil for a single card
	x, y  float64
	w, h  float64
}

func newArrangement(n *net, prev *Layout) *arrangement {
	a := &arrangement{n: n, rank: ranks(n), prev: newMemory(prev), nudge: newStagger(n)}
	fill := func() []int32 {
		s := make([]int32, n.size())
		for i := range s {
			s[i] = -1
		}
		return s
	}
	a.partOf, a.itemOf, a.strandOf, a.innerOf, a.rowOf = fill(), fill(), fill(), fill(), fill()
	a.linkOf = make([]int32, len(n.arcs))
	for i := range a.linkOf {
		a.linkOf[i] = -1
	}
	a.readingOrder()
	a.split()
	return a
}

// readingOrder puts those that take turns beside each other, at the place of
// the lowest number among them.
func (a *arrangement) readingOrder() {
	n := a.n
	c := newClusters(n.size())
	for _, g := range n.groups {
		for _, v := range g[1:] {
			c.join(g[0], v)
		}
	}
	order := make([]int32, n.size())
	for i := range order {
		order[i] = int32(i)
	}
	if len(n.groups) > 0 {
		slices.SortFunc(order, func(u, v int32) int {
			return cmp.Or(cmp.Compare(c.root(u), c.root(v)), cmp.Compare(u, v))
		})
	}
	a.seq = make([]int32, n.size())
	for i, v := range order {
		a.seq[v] = int32(i)
	}
}

// split finds the parts: first those with edges or ties, by their lowest
// numbers, then the loose cards.
func (a *arrangement) split() {
	n := a.n
	c := newClusters(n.size())
	for _, e := range n.arcs {
		c.join(e.from, e.to)
	}
	for _, g := range n.groups {
		for _, v := range g[1:] {
			c.join(g[0], v)
		}
	}
	members := gather(n.size(), n.size(), func(i int) int32 { return c.root(int32(i)) })
	var loose []part
	for v := range int32(n.size()) {
		switch nodes := members.of(v); len(nodes) {
		case 0:
		case 1:
			loose = append(loose, part{nodes: nodes})
		default:
			a.parts = append(a.parts, part{nodes: nodes})
		}
	}
	a.parts = append(a.parts, loose...)
	for i, p := range a.parts {
		for _, v := range p.nodes {
			a.partOf[v] = int32(i)
		}
	}
}

// layPart arranges one part with its corner at (0, 0).
func (a *arrangement) layPart(p *part) {
	if len(p.nodes) == 1 {
		v := p.nodes[0]
		p.w, p.h = a.n.w[v], a.n.h[v]
		a.rowOf[v] = a.newRows(1)
		return
	}
	w := newWrapper(a, p.nodes)
	w.run()
	s := newSheet(a)
	s.addCards(w.rest)
	s.addBlocks(w.blocks)
	s.connect(p.nodes)
	s.finish()
	s.order()
	s.align()
	s.sortMixed()
	s.stack()
	p.sheet, p.w, p.h = s, s.w, s.h
}

func (a *arrangement) newRows(count int) int32 {
	a.rows += int32(count)
	return a.rows - int32(count)
}

// pitch is the average room that a card of these takes.
func (a *arrangement) pitch(nodes []int32) (x, y float64) {
	for _, v := range nodes {
		x += a.n.w[v]
		y += a.n.h[v]
	}
	count := float64(max(1, len(nodes)))
	return x/count + a.n.opt.GapX, y/count + a.n.opt.GapY
}
