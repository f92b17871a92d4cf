package graph

import "math"

// sortMixed arranges the mixed blocks of the sheet from the top down, so that
// their strands stand below their parents.
func (s *sheet) sortMixed() {
	a := s.a
	for _, layer := range s.layers {
		for _, i := range layer {
			b := s.items[i].block
			if b == nil || b.alike {
				continue
			}
			for k := range b.strands {
				b.strands[k].key = s.parents(b.strands[k].nodes[0], a)
			}
			b.sort(a)
		}
	}
}

// parents is the mean x of what stands above a node, or below it if there is
// nothing above.
func (s *sheet) parents(v int32, a *arrangement) float64 {
	sum, count := 0.0, 0.0
	for _, e := range a.n.in.of(v) {
		sum += s.nodeX(a.n.arcs[e].from)
		count++
	}
	if count == 0 {
		for _, e := range a.n.out.of(v) {
			sum += s.nodeX(a.n.arcs[e].to)
			count++
		}
	}
	return sum / max(1, count)
}

// nodeX is about where the centre of a node is in the sheet.
func (s *sheet) nodeX(v int32) float64 {
	it := &s.items[s.a.itemOf[v]]
	if it.block == nil {
		return it.x
	}
	st := &it.block.strands[s.a.strandOf[v]]
	return it.x - it.w/2 + st.x + st.w/2
}

// stack gives layers and items their y.
func (s *sheet) stack() {
	s.top = make([]float64, len(s.layers))
	s.bottom = make([]float64, len(s.layers))
	first := int32(0)
	if !s.inner {
		first = s.a.newRows(len(s.layers))
	}
	y := 0.0
	for l := range s.layers {
		s.top[l] = y
		s.bottom[l] = s.stackLayer(l)
		for _, i := range s.layers[l] {
			if it := &s.items[i]; it.kind == card && !s.inner {
				s.a.rowOf[it.node] = first + int32(l)
			}
		}
		s.h = s.bottom[l]
		y = s.bottom[l] + s.gapBelow(l)
	}
}

// stackLayer hangs the items of a layer from its top and returns its bottom.
func (s *sheet) stackLayer(l int) float64 {
	low := s.top[l]
	if len(s.a.n.groups) > 0 {
		s.nudge(l)
	}
	for _, i := range s.layers[l] {
		it := &s.items[i]
		it.y += s.top[l]
		if it.kind == grid {
			it.block.stack(s.a)
			it.h = it.block.h
		}
		low = max(low, it.y+it.h)
	}
	return low
}

// nudge sets how far below the top of their layer cards hang.
func (s *sheet) nudge(l int) {
	var cards []int32
	var nodes [][]int32
	tallest := 0.0
	for _, i := range s.layers[l] {
		if it := &s.items[i]; it.kind == card {
			cards = append(cards, i)
			nodes = append(nodes, []int32{it.node})
			tallest = max(tallest, it.h)
		}
	}
	for k, drop := range s.a.nudge.drops(nodes, tallest) {
		s.items[cards[k]].y = drop
	}
}

// gapBelow grows with the widest stride between two layers, up to twice the
// usual gap: flat curves are hard to follow.
func (s *sheet) gapBelow(l int) float64 {
	gap := s.a.n.opt.GapY
	widest := 0.0
	for _, i := range s.layers[l] {
		for _, p := range s.below.of(i) {
			from, to := &s.items[i], &s.items[p]
			stride := math.Abs(from.x - to.x)
			if from.block != nil || to.block != nil {
				stride += max(from.w, to.w) / 2
			}
			widest = max(widest, stride)
		}
	}
	return gap + min(gap, 4*math.Floor(widest/100))
}
