package graph

import (
	"cmp"
	"math"
	"slices"
)

// tier draws the connectors of nodes that take turns.
type tier struct {
	a     *arrangement
	index *index
	text  pathText
	low   float64 // how far down connectors reach
}

func (t *tier) ties() []Path {
	var paths []Path
	drawn := make(map[[2]int32]bool)
	for _, g := range t.a.n.groups {
		for _, pair := range t.pairs(g) {
			if drawn[pair] || t.a.n.joined(pair[0], pair[1]) {
				continue
			}
			drawn[pair] = true
			if d := t.connect(pair[0], pair[1]); d != "" {
				paths = append(paths, Path{From: t.a.n.ids[pair[0]], To: t.a.n.ids[pair[1]], D: d})
			}
		}
	}
	slices.SortFunc(paths, func(p, q Path) int {
		return cmp.Or(cmp.Compare(p.From, q.From), cmp.Compare(p.To, q.To))
	})
	return paths
}

// pairs says who of a group is to be connected: in one row each with the next
// number, and the last of a row with the first of the next row.
func (t *tier) pairs(group []int32) [][2]int32 {
	row, box := t.a.rowOf, t.a.box
	top := make(map[int32]float64)
	for _, v := range group {
		if y, ok := top[row[v]]; !ok || box[v].Y < y {
			top[row[v]] = box[v].Y
		}
	}
	order := slices.Clone(group)
	slices.SortFunc(order, func(u, v int32) int {
		return cmp.Or(cmp.Compare(top[row[u]], top[row[v]]), cmp.Compare(row[u], row[v]), cmp.Compare(u, v))
	})
	pairs := make([][2]int32, 0, len(order)-1)
	for i := range order[1:] {
		pairs = append(pairs, [2]int32{order[i], order[i+1]})
	}
	return pairs
}

// connect writes a connector that touches no other card, or nothing.
func (t *tier) connect(u, v int32) string {
	t.text = t.text[:0]
	a, b := t.a.box[u], t.a.box[v]
	if t.a.rowOf[u] == t.a.rowOf[v] {
		if a.X > b.X {
			a, b = b, a
		}
		if !t.beside(a, b, u, v) && !t.under(a, b, u, v) {
			return ""
		}
	} else if !t.near(a, b) || !t.down(a, b, u, v) {
		return ""
	}
	return string(t.text)
}

// near reports whether a connector from one row to another is worth drawing:
// within a wrapped layer always, between layers when it is at most three cards
// long.
func (t *tier) near(a, b Box) bool {
	return a.Layer == b.Layer || math.Abs(a.centreX()-b.centreX()) <= 3*(max(a.W, b.W)+t.a.n.opt.GapX)
}

// beside goes from side to side of neighbours.
func (t *tier) beside(a, b Box, u, v int32) bool {
	y0, y1 := a.centreY(), b.centreY()
	if !t.free(area{a.right(), min(y0, y1), b.X, max(y0, y1)}, u, v) {
		return false
	}
	middle := (a.right() + b.X) / 2
	t.text.op('M', a.right(), y0)
	t.text.op('C', middle, y0, middle, y1, b.X, y1)
	return true
}

// under passes below the cards in between.
func (t *tier) under(a, b Box, u, v int32) bool {
	const depth, bend = 14, 10
	x0, x1 := a.X+a.W*3/4, b.X+b.W/4
	floor := max(a.bottom(), b.bottom())
	t.index.each(area{a.X, min(a.Y, b.Y), b.right(), floor}, func(i int32) bool {
		floor = max(floor, t.a.box[i].bottom())
		return true
	})
	y := floor + depth
	clear := t.free(area{x0, y - 1, x1, y + 1}, u, v) &&
		t.free(area{x0, a.bottom(), x0, y}, u, v) && t.free(area{x1, b.bottom(), x1, y}, u, v)
	if !clear {
		return false
	}
	t.text.op('M', x0, a.bottom())
	t.text.op('V', y-bend)
	t.text.op('Q', x0, y, x0+bend, y)
	t.text.op('H', x1-bend)
	t.text.op('Q', x1, y, x1, y-bend)
	t.text.op('V', b.bottom())
	t.low = max(t.low, y)
	return true
}

// down goes from a card to one in the next row.
func (t *tier) down(a, b Box, u, v int32) bool {
	x0, x1 := a.X+a.W/4, b.X+b.W*3/4
	if b.centreX() > a.centreX()-1 {
		x0, x1 = a.X+a.W*3/4, b.X+b.W/4
	}
	if math.Abs(a.centreX()-b.centreX()) < 1 {
		x1 = b.X + b.W*3/4
	}
	left, right := min(x0, x1), max(x0, x1)
	floor, ceiling := a.bottom(), b.Y
	t.index.each(area{left, a.Y, right, a.bottom()}, func(i int32) bool {
		floor = max(floor, t.a.box[i].bottom())
		return true
	})
	t.index.each(area{left, b.Y, right, b.bottom()}, func(i int32) bool {
		ceiling = min(ceiling, t.a.box[i].Y)
		return true
	})
	if ceiling-floor < 4 || ceiling-floor > 3*t.a.n.opt.GapY {
		return false
	}
	clear := t.free(area{left, floor, right, ceiling}, u, v) &&
		t.free(area{x0, a.bottom(), x0, floor}, u, v) && t.free(area{x1, ceiling, x1, b.Y}, u, v)
	if !clear {
		return false
	}
	t.text.runs([]run{{x0, a.bottom(), floor}, {x1, ceiling, b.Y}})
	return true
}

// free reports whether only u and v reach into an area.
func (t *tier) free(r area, u, v int32) bool {
	free := true
	t.index.each(r, func(i int32) bool {
		free = i == u || i == v
		return free
	})
	return free
}
