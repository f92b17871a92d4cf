package graph

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

const (
	minWide  = 16 // a layer with fewer cards is never wrapped
	minCols  = 12 // nor set in fewer columns, if it has the layer for itself
	minAlike = 9  // strands that are worth a block of their own
	maxGirth = 6  // cards side by side in a strand
)

// wrapper finds what of a part is too wide and gathers it in blocks.
type wrapper struct {
	a     *arrangement
	nodes []int32
	// layers hold the nodes of each rank, ascending.
	layers [][]int32
	cols   int // wanted width of the page in cards
	limit  int // cards that a layer may have

	inBlock []bool // by place in nodes
	blocks  []*block
	rest    []int32 // nodes outside of blocks
}

func newWrapper(a *arrangement, nodes []int32) *wrapper {
	w := &wrapper{a: a, nodes: nodes, rest: nodes}
	x, y := a.pitch(nodes)
	want := math.Sqrt(a.n.opt.Aspect*float64(len(nodes))*x*y) / x
	w.cols = rung(want)
	w.limit = max(minWide, int(2*want))
	return w
}

// rung rounds up on a ladder, so that a plan that grows by a step is not
// wrapped anew each time.
func rung(want float64) int {
	for step := minCols; ; step *= 2 {
		for _, c := range []int{step, step * 4 / 3, step * 5 / 3} {
			if float64(c) >= want {
				return c
			}
		}
	}
}

func (w *wrapper) run() {
	top := int32(0)
	for _, v := range w.nodes {
		top = max(top, w.a.rank[v])
	}
	count := make([]int, top+1)
	for _, v := range w.nodes {
		count[w.a.rank[v]]++
	}
	if slices.Max(count) <= w.limit {
		return
	}
	w.inBlock = make([]bool, w.a.n.size())
	w.layers = make([][]int32, top+1)
	for _, v := range w.nodes {
		w.layers[w.a.rank[v]] = append(w.layers[w.a.rank[v]], v)
	}
	wide := func(l int) bool { return l < len(w.layers) && len(w.layers[l]) > w.limit }
	free := 0 // the first layer that no block has touched
	for from := 0; from < len(w.layers); from++ {
		if !wide(from) {
			continue
		}
		to := from
		for wide(to + 1) {
			to++
		}
		from = w.wrapRun(free, from, to)
		free = from + 1
	}
	w.rest = nil
	for _, v := range w.nodes {
		if !w.inBlock[v] {
			w.rest = append(w.rest, v)
		}
	}
	w.share()
}

// wrapRun makes blocks of the wide layers from..to: of strands that are alike,
// then of whatever is left where that is still too much. Narrow layers above
// (not above free) and below are taken in as long as that leaves at least half
// of the strands apart. It returns the last layer taken.
func (w *wrapper) wrapRun(free, from, to int) int {
	strands := w.strands(from, to)
	lo, hi := from, to
	for grown := true; grown; {
		grown = false
		for _, try := range [][2]int{{lo, hi + 1}, {lo - 1, hi}} {
			if try[0] < free || try[1] >= len(w.layers) {
				continue
			}
			if more := w.strands(try[0], try[1]); 2*len(more) >= len(strands) {
				strands, lo, hi, grown = more, try[0], try[1], true
			}
		}
	}
	w.gatherAlike(strands)
	for l := lo; l <= hi; l++ {
		w.gatherMixed(w.layers[l])
	}
	return hi
}

// strands are the pieces that the layers lo..hi fall into when everything
// around them is cut off.
func (w *wrapper) strands(lo, hi int) [][]int32 {
	n := w.a.n
	inside := func(v int32) bool {
		r := int(w.a.rank[v])
		return r >= lo && r <= hi && !w.inBlock[v]
	}
	c := newClusters(n.size())
	for _, layer := range w.layers[lo : hi+1] {
		for _, v := range layer {
			for _, e := range n.out.of(v) {
				if to := n.arcs[e].to; inside(v) && inside(to) {
					c.join(v, to)
				}
			}
		}
	}
	slot := make(map[int32]int)
	var strands [][]int32
	for _, v := range w.nodes {
		if !inside(v) {
			continue
		}
		k := c.root(v)
		i, ok := slot[k]
		if !ok {
			i = len(strands)
			slot[k] = i
			strands = append(strands, nil)
		}
		strands[i] = append(strands[i], v)
	}
	return strands
}

// gatherAlike makes a block of each big enough class of strands that hang on
// the same nodes and have the same shape.
func (w *wrapper) gatherAlike(strands [][]int32) {
	classes := make(map[string]int)
	var members [][][]int32
	for _, s := range strands {
		girth, key := w.signature(s)
		if girth > maxGirth {
			continue
		}
		i, ok := classes[key]
		if !ok {
			i = len(members)
			classes[key] = i
			members = append(members, nil)
		}
		members[i] = append(members[i], s)
	}
	for _, m := range members {
		if len(m) >= minAlike {
			w.add(m, true)
		}
	}
}

// signature tells strands of one class by shape and outer neighbours.
func (w *wrapper) signature(strand []int32) (girth int, key string) {
	n := w.a.n
	within := func(v int32) bool { _, ok := slices.BinarySearch(strand, v); return ok }
	perLayer := make(map[int32]int)
	var above, below []int32
	for _, v := range strand {
		perLayer[w.a.rank[v]]++
		girth = max(girth, perLayer[w.a.rank[v]])
		for _, e := range n.in.of(v) {
			if u := n.arcs[e].from; !within(u) {
				above = append(above, u)
			}
		}
		for _, e := range n.out.of(v) {
			if u := n.arcs[e].to; !within(u) {
				below = append(below, u)
			}
		}
	}
	slices.Sort(above)
	slices.Sort(below)
	raw := binary.AppendVarint(nil, int64(len(perLayer)))
	raw = binary.AppendVarint(raw, int64(girth))
	for _, list := range [][]int32{slices.Compact(above), slices.Compact(below)} {
		raw = binary.AppendVarint(raw, int64(len(list)))
		for _, v := range list {
			raw = binary.AppendVarint(raw, int64(v))
		}
	}
	return girth, string(raw)
}

// gatherMixed makes one block of what a layer still has too much of.
func (w *wrapper) gatherMixed(layer []int32) {
	var left [][]int32
	for _, v := range layer {
		if !w.inBlock[v] {
			left = append(left, []int32{v})
		}
	}
	if len(left) > w.limit {
		w.add(left, false)
	}
}

func (w *wrapper) add(strands [][]int32, alike bool) {
	b := &block{alike: alike}
	for _, nodes := range strands {
		top := w.a.rank[nodes[0]]
		for _, v := range nodes {
			w.inBlock[v] = true
			top = min(top, w.a.rank[v])
		}
		b.rank = max(b.rank, top)
		b.strands = append(b.strands, strand{nodes: nodes, x: -1})
	}
	slices.SortFunc(b.strands, func(s, t strand) int {
		return cmp.Compare(w.a.seq[s.nodes[0]], w.a.seq[t.nodes[0]])
	})
	w.blocks = append(w.blocks, b)
}

// share divides the columns of the page among the blocks of a layer.
func (w *wrapper) share() {
	total := make(map[int32]int)
	for _, v := range w.rest {
		total[w.a.rank[v]]++
	}
	for _, b := range w.blocks {
		b.build(w.a)
		total[b.rank] += len(b.strands) * b.girth
	}
	for _, b := range w.blocks {
		cards := w.cols * len(b.strands) * b.girth / total[b.rank]
		b.setCols(max(3, (cards+b.girth-1)/b.girth))
	}
}
