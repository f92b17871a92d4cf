package graph

import (
	"cmp"
	"math"
	"slices"
)

// compose turns what the sheets hold into boxes and paths on the page.
func (a *arrangement) compose() *Layout {
	a.box = make([]Box, a.n.size())
	for i := range a.parts {
		a.putPart(&a.parts[i])
	}
	l := &Layout{Boxes: a.box, Ignored: a.n.ignored}
	l.index = newIndex(a.box, a.n.opt)
	l.rows(a.rowOf)
	l.above = gather(a.n.size(), len(a.n.arcs), func(i int) int32 { return a.n.arcs[i].to })
	l.below = gather(a.n.size(), len(a.n.arcs), func(i int) int32 { return a.n.arcs[i].from })
	for i, e := range l.above.item {
		l.above.item[i] = a.n.arcs[e].from
	}
	for i, e := range l.below.item {
		l.below.item[i] = a.n.arcs[e].to
	}
	r := &router{a: a}
	l.Edges = r.edges()
	t := &tier{a: a, index: l.index}
	l.Ties = t.ties()
	for _, b := range a.box {
		l.Width = max(l.Width, b.right())
		l.Height = max(l.Height, b.bottom())
	}
	for i := range a.parts {
		l.Width = max(l.Width, a.parts[i].x+a.parts[i].w)
	}
	l.Height = max(l.Height, t.low)
	return l
}

func (a *arrangement) putPart(p *part) {
	if p.sheet == nil {
		a.put(p.nodes[0], p.x+p.w/2, p.y, 0)
		return
	}
	s := p.sheet
	s.x, s.y = p.x, p.y
	for i := range s.items {
		switch it := &s.items[i]; it.kind {
		case card:
			a.put(it.node, s.x+it.x, s.y+it.y, it.layer)
		case grid:
			a.putBlock(it.block, s.x+math.Floor(it.x-it.w/2), s.y+it.y)
		}
	}
	for _, v := range p.nodes {
		a.box[v].Layer = int(a.rank[v])
	}
}

func (a *arrangement) putBlock(b *block, x, y float64) {
	b.x, b.y = x, y
	for i := range b.strands {
		st := &b.strands[i]
		if st.sheet == nil {
			a.put(st.nodes[0], x+st.x+st.w/2, y+st.y, 0)
			continue
		}
		s := st.sheet
		s.x, s.y = x+st.x, y+st.y
		for k := range s.items {
			if it := &s.items[k]; it.kind == card {
				a.put(it.node, s.x+it.x, s.y+it.y, it.layer)
			}
		}
	}
}

// put places a card by the middle of its upper edge.
func (a *arrangement) put(v int32, x, y float64, layer int32) {
	w := a.n.w[v]
	a.box[v] = Box{ID: a.n.ids[v], X: x - w/2, Y: y, W: w, H: a.n.h[v], Layer: int(layer)}
}

// rows remembers who stands beside whom in each row.
func (l *Layout) rows(row []int32) {
	order := make([]int32, len(l.Boxes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(row[i], row[j]), cmp.Compare(l.Boxes[i].X, l.Boxes[j].X))
	})
	l.left = make([]int32, len(order))
	l.right = make([]int32, len(order))
	for k, i := range order {
		l.left[i], l.right[i] = -1, -1
		if k > 0 && row[order[k-1]] == row[i] {
			l.left[i] = order[k-1]
			l.right[order[k-1]] = i
		}
	}
}
