package graph

import (
	"math"
	"strconv"
)

// run is a vertical piece of a path. Paths are runs joined by curves; the runs
// pass cards and layers, the curves stay in the gaps between them, so a path
// never meets a card that is not its own.
type run struct{ x, y0, y1 float64 }

// router writes the paths of edges.
type router struct {
	a     *arrangement
	runs  []run
	xs    []float64 // lanes of the present edge
	text  pathText
	lanes []float64 // of all edges
}

func (r *router) edges() []Path {
	n := r.a.n
	paths := make([]Path, len(n.arcs))
	ends := make([][2]int, len(n.arcs)) // where each path ends in text and lanes
	for e, arc := range n.arcs {
		r.runs, r.xs = r.runs[:0], nil
		r.route(int32(e), arc)
		first := len(r.lanes)
		r.lanes = append(r.lanes, r.xs...)
		r.text.runs(r.runs)
		paths[e] = Path{From: n.ids[arc.from], To: n.ids[arc.to]}
		ends[e] = [2]int{len(r.text), first}
	}
	text := string(r.text)
	begin := 0
	for e := range paths {
		paths[e].D = text[begin:ends[e][0]]
		begin = ends[e][0]
		last := len(r.lanes)
		if e+1 < len(paths) {
			last = ends[e+1][1]
		}
		if first := ends[e][1]; last > first {
			paths[e].Lanes = r.lanes[first:last:last]
		}
	}
	return paths
}

// route collects the runs of an edge from top to bottom.
func (r *router) route(e int32, arc arc) {
	a := r.a
	s := a.parts[a.partOf[arc.from]].sheet
	if a.itemOf[arc.from] == a.itemOf[arc.to] { // inside a strand
		s = a.strand(arc.from).sheet
		r.leave(s, arc.from, a.innerOf[arc.from])
		r.pass(s, a.linkOf[e], true)
		r.arrive(s, arc.to, a.innerOf[arc.to])
		return
	}
	from, to := a.itemOf[arc.from], a.itemOf[arc.to]
	if s.items[from].block == nil {
		r.leave(s, arc.from, from)
	} else {
		r.leaveBlock(s, arc.from)
	}
	r.pass(s, a.linkOf[e], true)
	if s.items[to].block == nil {
		r.arrive(s, arc.to, to)
	} else {
		r.arriveBlock(s, arc.to)
	}
}

func (a *arrangement) strand(v int32) *strand {
	it := &a.parts[a.partOf[v]].sheet.items[a.itemOf[v]]
	return &it.block.strands[a.strandOf[v]]
}

// leave runs from the bottom of a card to that of its layer.
func (r *router) leave(s *sheet, v, item int32) {
	b := r.a.box[v]
	r.runs = append(r.runs, run{b.centreX(), b.bottom(), s.y + s.bottom[s.items[item].layer]})
}

// arrive runs from the top of its layer to that of a card.
func (r *router) arrive(s *sheet, v, item int32) {
	b := r.a.box[v]
	r.runs = append(r.runs, run{b.centreX(), s.y + s.top[s.items[item].layer], b.Y})
}

// pass runs along the lanes of a link.
func (r *router) pass(s *sheet, l int32, keep bool) {
	link := s.links[l]
	if link.bus {
		first, count := s.span(link)
		r.runs = append(r.runs, run{s.x + s.busX, s.y + s.top[first], s.y + s.bottom[first+count-1]})
		return
	}
	for k := range link.lanes {
		it := &s.items[link.first+k]
		r.runs = append(r.runs, run{s.x + it.x, s.y + s.top[it.layer], s.y + s.bottom[it.layer]})
		if keep {
			// Lanes may lie on each other; the hair tells a later layout
			// in which order.
			hair := float64(s.pos[link.first+k]) * 1e-5
			r.xs = append(r.xs, s.x+it.x+hair)
		}
	}
}

// leaveBlock runs out of the strand of v, then down the corridor on the right
// of its column if there are rows below.
func (r *router) leaveBlock(s *sheet, v int32) {
	a := r.a
	it := &s.items[a.itemOf[v]]
	b, st := it.block, a.strand(v)
	if st.sheet == nil {
		r.runs = append(r.runs, run{a.box[v].centreX(), a.box[v].bottom(), 0})
	} else {
		r.leave(st.sheet, v, a.innerOf[v])
		r.pass(st.sheet, st.sheet.exits[v], false)
	}
	r.extend(b.y + b.bottom[st.row])
	if st.row < b.lastRow(st.col) {
		r.runs = append(r.runs, run{b.x + b.exit(st.col), b.y + b.top[st.row+1], b.y + b.h})
	}
	r.extend(s.y + s.bottom[it.layer])
}

// extend lengthens the last run down to y.
func (r *router) extend(y float64) { r.runs[len(r.runs)-1].y1 = y }

// arriveBlock is the same from above, down the corridor on the left.
func (r *router) arriveBlock(s *sheet, v int32) {
	a := r.a
	it := &s.items[a.itemOf[v]]
	b, st := it.block, a.strand(v)
	top := s.y + s.top[it.layer]
	if st.row > 0 {
		r.runs = append(r.runs, run{b.x + b.entry(st.col), top, b.y + b.bottom[st.row-1]})
		top = b.y + b.top[st.row]
	}
	first := len(r.runs)
	if st.sheet == nil {
		r.runs = append(r.runs, run{a.box[v].centreX(), 0, a.box[v].Y})
	} else {
		r.pass(st.sheet, st.sheet.entries[v], false)
		r.arrive(st.sheet, v, a.innerOf[v])
	}
	r.runs[first].y0 = top
}

// pathText is SVG path data. Numbers have at most one decimal, which is finer
// than anyone can see and half as long.
type pathText []byte

func (t *pathText) op(letter byte, numbers ...float64) {
	b := append(*t, letter)
	for i, v := range numbers {
		if i > 0 {
			b = append(b, ' ')
		}
		tenths := int64(math.Round(v * 10))
		if tenths < 0 {
			b = append(b, '-')
			tenths = -tenths
		}
		b = strconv.AppendInt(b, tenths/10, 10)
		if d := tenths % 10; d != 0 {
			b = append(b, '.', byte('0'+d))
		}
	}
	*t = b
}

// runs joins runs by curves that leave and enter them vertically.
func (t *pathText) runs(runs []run) {
	x, y := runs[0].x, runs[0].y0
	t.op('M', x, y)
	end := runs[0].y1 // how far straight down
	for _, next := range runs[1:] {
		if math.Abs(next.x-x) < 0.05 { // less than what is written
			end = next.y1
			continue
		}
		if end > y {
			t.op('V', end)
		}
		middle := (end + next.y0) / 2
		t.op('C', x, middle, next.x, middle, next.x, next.y0)
		x, y, end = next.x, next.y0, next.y1
	}
	if end > y {
		t.op('V', end)
	}
}
