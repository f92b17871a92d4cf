package graph

import (
	"math"
	"slices"
)

const (
	wobble  = 48 // pixels up to which an edge that is not straight looks like a mistake
	bend    = 24 // what a bend costs, in pixels of edge
	pushed  = 24 // how many others may be pushed aside to get rid of a wobble
	maxSnap = 4  // rounds
	maxWish = 12 // places to try for one unit
)

// snapper removes wobbles: whatever already stands exactly above each other is
// shifted as a whole, and pushes others aside if need be, where that makes the
// picture better.
type snapper struct {
	s       *sheet
	unit    []int32   // of each item, the first of those that move with it
	members adjacency // of each such first
	shift   []float64 // by unit
	queue   []int32   // units to be shifted, some of them again
	count   int       // how many different ones
	ends    []int32   // see near
	wishes  []float64 // shifts to try
}

func newSnapper(s *sheet) *snapper {
	n := len(s.items)
	return &snapper{s: s, unit: make([]int32, n), shift: make([]float64, n)}
}

func (m *snapper) run() {
	for range maxSnap {
		m.findUnits()
		moved := false
		for u := range m.unit {
			if m.unit[u] == int32(u) && m.snap(int32(u)) {
				moved = true
			}
		}
		if !moved {
			return
		}
	}
}

func (m *snapper) findUnits() {
	s := m.s
	c := newClusters(len(s.items))
	for i := range s.items {
		for _, j := range m.near(int32(i)) {
			if s.items[j].x == s.items[i].x {
				c.join(int32(i), j)
			}
		}
	}
	for i := range m.unit {
		m.unit[i] = c.root(int32(i))
	}
	m.members = gather(len(m.unit), len(m.unit), func(i int) int32 { return m.unit[i] })
}

// near lists what an item should be exactly above, below or, in a bundle, on.
// The list is good until the next call.
func (m *snapper) near(i int32) []int32 {
	s := m.s
	m.ends = append(append(m.ends[:0], s.above.of(i)...), s.below.of(i)...)
	if s.items[i].kind != lane {
		return m.ends
	}
	layer, p := s.layers[s.items[i].layer], int(s.pos[i])
	if p > 0 && s.items[layer[p-1]].bundle == s.items[i].bundle {
		m.ends = append(m.ends, layer[p-1])
	}
	if p+1 < len(layer) && s.items[layer[p+1]].bundle == s.items[i].bundle {
		m.ends = append(m.ends, layer[p+1])
	}
	return m.ends
}

// snap tries to put a unit exactly where it nearly is, and keeps the best place.
func (m *snapper) snap(u int32) bool {
	m.wishes = m.wishes[:0]
	for _, i := range m.members.of(u) {
		for _, j := range m.near(i) {
			d := m.s.items[j].x - m.s.items[i].x
			if d != 0 && math.Abs(d) <= wobble && len(m.wishes) < maxWish && !slices.Contains(m.wishes, d) {
				m.wishes = append(m.wishes, d)
			}
		}
	}
	best, at := -0.5, 0.0
	for _, d := range m.wishes {
		if m.try(u, d) {
			if c := m.cost(); c < best {
				best, at = c, d
			}
		}
		m.forget()
	}
	if at == 0 {
		return false
	}
	m.try(u, at)
	for _, v := range m.queue {
		for _, i := range m.members.of(v) {
			m.s.items[i].x += m.shift[v]
		}
		m.shift[v] = 0
	}
	m.forget()
	return true
}

// try plans to shift a unit, and everything that stands in the way. It reports
// whether few enough would have to move.
func (m *snapper) try(u int32, d float64) bool {
	m.shift[u] = d
	m.queue = append(m.queue, u)
	m.count = 1
	for k := 0; k < len(m.queue); k++ {
		v := m.queue[k]
		for _, i := range m.members.of(v) {
			if !m.pushNext(i, d > 0) {
				return false
			}
		}
	}
	return true
}

// pushNext makes the neighbour of a shifted item give way.
func (m *snapper) pushNext(i int32, right bool) bool {
	s := m.s
	layer := s.layers[s.items[i].layer]
	p := int(s.pos[i])
	var j int32
	var need float64
	if right {
		if p+1 == len(layer) {
			return true
		}
		j = layer[p+1]
		need = math.Ceil(max(0, m.at(i)+s.apart(i, j)-m.at(j)))
	} else {
		if p == 0 {
			return true
		}
		j = layer[p-1]
		need = -math.Ceil(max(0, m.at(j)+s.apart(j, i)-m.at(i)))
	}
	if v := m.unit[j]; need != 0 && v != m.unit[i] {
		if m.shift[v] == 0 {
			m.count++
		}
		m.shift[v] += need
		m.queue = append(m.queue, v)
	}
	return m.count <= pushed && len(m.queue) <= 4*pushed
}

func (m *snapper) at(i int32) float64 { return m.s.items[i].x + m.shift[m.unit[i]] }

// cost is by how much the planned shifts make the edges longer and more bent.
func (m *snapper) cost() float64 {
	total := 0.0
	for k, v := range m.queue {
		if slices.Contains(m.queue[:k], v) {
			continue
		}
		for _, i := range m.members.of(v) {
			for _, j := range m.near(i) {
				total += m.change(i, j)
			}
		}
	}
	return total
}

// change is what shifting does to the edge between two items. When both move
// it is met twice and counts half each time.
func (m *snapper) change(i, j int32) float64 {
	if m.unit[i] == m.unit[j] {
		return 0
	}
	c := stride(m.at(i)-m.at(j)) - stride(m.s.items[i].x-m.s.items[j].x)
	if m.shift[m.unit[j]] != 0 {
		c /= 2
	}
	return c
}

func stride(d float64) float64 {
	if d == 0 {
		return 0
	}
	return math.Abs(d) + bend
}

func (m *snapper) forget() {
	for _, v := range m.queue {
		m.shift[v] = 0
	}
	m.queue = m.queue[:0]
}
