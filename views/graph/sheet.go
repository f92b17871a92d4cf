package graph

import (
	"cmp"
	"math"
	"slices"
)

type kind uint8

const (
	card kind = iota
	lane      // where an edge passes a layer
	grid      // a block
)

// item is a thing with a place in a layer. x is its centre, y its top.
type item struct {
	kind   kind
	layer  int32
	node   int32 // of a card
	link   int32 // of a lane
	bundle int32 // lanes of one bundle may lie on each other; -1 for none
	block  *block
	prev   float64 // x in the previous picture, NaN when it was not there
	w, h   float64
	x, y   float64
}

// link is a line between two items: one edge, or all those between a node and
// a block, or two blocks. In the sheet of a strand one end may be open (-1).
type link struct {
	from, to int32
	first    int32 // first of its lanes, which follow each other in items
	lanes    int32
	bus      bool // passes beside everything, see spare
}

// sheet is a layered drawing of items, with the corner at (0, 0).
type sheet struct {
	a      *arrangement
	inner  bool // of a strand in a block
	items  []item
	layers [][]int32
	pos    []int32 // place of each item in its layer
	links  []link
	above  adjacency // of each item, what it is joined to in the layer above
	below  adjacency

	// In the sheet of a strand: by node, the link that comes in from
	// outside, and the one that goes out.
	entries, exits map[int32]int32

	top, bottom []float64 // of each layer
	busX        float64
	w, h        float64
	x, y        float64 // corner of the sheet on the page
}

func newSheet(a *arrangement) *sheet { return &sheet{a: a} }

func (s *sheet) addCards(nodes []int32) {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(u, v int32) int { return cmp.Compare(s.a.seq[u], s.a.seq[v]) })
	for _, v := range nodes {
		i := int32(len(s.items))
		if s.inner {
			s.a.innerOf[v] = i
		} else {
			s.a.itemOf[v] = i
		}
		s.items = append(s.items, item{
			kind: card, node: v, layer: s.a.rank[v], bundle: -1, prev: s.a.prev.card(s.a.n.ids[v]),
			w: s.a.n.w[v], h: s.a.n.h[v],
		})
	}
}

func (s *sheet) addBlocks(blocks []*block) {
	for _, b := range blocks {
		i := int32(len(s.items))
		prev, known := 0.0, 0
		for _, st := range b.strands {
			for _, v := range st.nodes {
				s.a.itemOf[v] = i
				if x := s.a.prev.card(s.a.n.ids[v]); !math.IsNaN(x) {
					prev += x
					known++
				}
			}
		}
		s.items = append(s.items, item{
			kind: grid, block: b, layer: b.rank, bundle: -1, prev: prev / float64(known), w: b.w,
		})
	}
}

// connect turns the arcs of these nodes into links.
func (s *sheet) connect(nodes []int32) {
	s.closeLayers()
	if s.inner {
		s.connectInner(nodes)
	} else {
		s.connectOuter(nodes)
	}
	s.addLanes()
	s.rememberLanes(nodes)
}

// closeLayers numbers the layers that have something in them from 0.
func (s *sheet) closeLayers() {
	var used []int32
	for i := range s.items {
		used = append(used, s.items[i].layer)
	}
	slices.Sort(used)
	used = slices.Compact(used)
	for i := range s.items {
		l, _ := slices.BinarySearch(used, s.items[i].layer)
		s.items[i].layer = int32(l)
	}
	s.layers = make([][]int32, len(used))
}

func (s *sheet) connectOuter(nodes []int32) {
	a := s.a
	shared := make(map[[2]int32]int32) // links of blocks
	for _, v := range nodes {
		for _, e := range a.n.out.of(v) {
			from, to := a.itemOf[v], a.itemOf[a.n.arcs[e].to]
			if from == to {
				continue // inside a strand
			}
			i := int32(len(s.links))
			if s.items[from].kind == grid || s.items[to].kind == grid {
				key := [2]int32{from, to}
				if known, ok := shared[key]; ok {
					a.linkOf[e] = known
					continue
				}
				shared[key] = i
			}
			a.linkOf[e] = i
			s.links = append(s.links, link{from: from, to: to})
		}
	}
}

func (s *sheet) connectInner(nodes []int32) {
	a := s.a
	s.entries, s.exits = make(map[int32]int32), make(map[int32]int32)
	within := func(v int32) bool { _, ok := slices.BinarySearch(nodes, v); return ok }
	for _, v := range nodes {
		for _, e := range a.n.out.of(v) {
			i := int32(len(s.links))
			if to := a.n.arcs[e].to; within(to) {
				a.linkOf[e] = i
				s.links = append(s.links, link{from: a.innerOf[v], to: a.innerOf[to]})
			} else if _, ok := s.exits[v]; !ok {
				s.exits[v] = i
				s.links = append(s.links, link{from: a.innerOf[v], to: -1})
			}
		}
		for _, e := range a.n.in.of(v) {
			if _, ok := s.entries[v]; !ok && !within(a.n.arcs[e].from) {
				s.entries[v] = int32(len(s.links))
				s.links = append(s.links, link{from: -1, to: a.innerOf[v]})
			}
		}
	}
}

// span is the layers strictly between the ends of a link.
func (s *sheet) span(l link) (first, count int32) {
	last := int32(len(s.layers)) - 1
	if l.from >= 0 {
		first = s.items[l.from].layer + 1
	}
	if l.to >= 0 {
		last = s.items[l.to].layer - 1
	}
	return first, last - first + 1
}

func (s *sheet) addLanes() {
	longest := s.spare()
	for i := range s.links {
		l := &s.links[i]
		first, count := s.span(*l)
		if count > longest {
			l.bus = true
			continue
		}
		l.first, l.lanes = int32(len(s.items)), count
		for k := range count {
			s.items = append(s.items, item{kind: lane, layer: first + k, link: int32(i), bundle: -1, prev: math.NaN()})
		}
	}
}

// spare says up to which length links get lanes. Longer ones share a bus at the
// right edge, so that a dense plan of thousands of edges does not need millions
// of lanes. No sensible plan comes near this limit.
func (s *sheet) spare() int32 {
	perLength := make([]int, len(s.layers)+1)
	for _, l := range s.links {
		_, count := s.span(l)
		perLength[count]++
	}
	budget := 10_000 + 6*len(s.items)
	for length, links := range perLength {
		if budget -= length * links; budget < 0 {
			return int32(length) - 1
		}
	}
	return int32(len(s.layers))
}

// rememberLanes looks up where the lanes were in the previous picture.
func (s *sheet) rememberLanes(nodes []int32) {
	a := s.a
	if a.prev == nil {
		return
	}
	for _, v := range nodes {
		for _, e := range a.n.out.of(v) {
			to := a.n.arcs[e].to
			if !s.inner && a.itemOf[v] == a.itemOf[to] || a.linkOf[e] < 0 {
				continue // in another sheet
			}
			l := s.links[a.linkOf[e]]
			xs := a.prev.lanes(a.n.ids[v], a.n.ids[to])
			for k, x := range xs {
				if len(xs) == int(l.lanes) {
					s.items[l.first+int32(k)].prev = x
				}
			}
		}
	}
}

// segment is a piece of a link between items of adjacent layers.
type segment struct{ up, down int32 }

// finish builds what ordering needs: the layers, and who is joined to whom.
func (s *sheet) finish() {
	segments := s.segments()
	s.above = gather(len(s.items), len(segments), func(i int) int32 { return segments[i].down })
	s.below = gather(len(s.items), len(segments), func(i int) int32 { return segments[i].up })
	for k, i := range s.above.item {
		s.above.item[k] = segments[i].up
	}
	for k, i := range s.below.item {
		s.below.item[k] = segments[i].down
	}
	for i := range s.items {
		l := s.items[i].layer
		s.layers[l] = append(s.layers[l], int32(i))
	}
	s.pos = make([]int32, len(s.items))
	s.number()
}

func (s *sheet) segments() []segment {
	segments := make([]segment, 0, len(s.items)+len(s.links))
	for _, l := range s.links {
		if l.bus {
			continue
		}
		up := l.from
		for k := range l.lanes {
			if up >= 0 {
				segments = append(segments, segment{up, l.first + k})
			}
			up = l.first + k
		}
		if up >= 0 && l.to >= 0 {
			segments = append(segments, segment{up, l.to})
		}
	}
	return segments
}

// number brings pos in line with layers.
func (s *sheet) number() {
	for _, layer := range s.layers {
		for p, i := range layer {
			s.pos[i] = int32(p)
		}
	}
}
