package graph

import (
	"cmp"
	"math"
)

// crossings counts the crossings of the whole sheet.
func (w *sweeper) crossings() int {
	total := 0
	for l := 0; l+1 < len(w.s.layers); l++ {
		total += w.crossingsBelow(l)
	}
	return total
}

// crossingsBelow counts those between layer l and the next: it takes the upper
// ends from left to right and asks a Fenwick tree how many lower ends already
// lie further right.
func (w *sweeper) crossingsBelow(l int) int {
	s := w.s
	tree := w.tree[:len(s.layers[l+1])+1]
	clear(tree)
	seen, total := 0, 0
	for _, i := range s.layers[l] {
		below := s.below.of(i)
		for _, p := range below {
			left := 0
			for k := s.pos[p] + 1; k > 0; k &= k - 1 {
				left += int(tree[k])
			}
			total += seen - left
		}
		for _, p := range below {
			for k := s.pos[p] + 1; int(k) < len(tree); k += k & -k {
				tree[k]++
			}
		}
		seen += len(below)
	}
	return total
}

// reach is how far left and right the ends of an item are.
type reach struct{ above, below [2]int32 }

func (s *sheet) reachOf(ends []int32) [2]int32 {
	if len(ends) == 0 {
		return [2]int32{math.MaxInt32, -1}
	}
	return [2]int32{s.pos[ends[0]], s.pos[ends[len(ends)-1]]}
}

// transpose swaps neighbours in a layer wherever that removes crossings, and
// looks again at layers next to which something was swapped.
func (w *sweeper) transpose() {
	last := len(w.s.layers) - 1
	for l := range w.dirty {
		w.dirty[l] = true
	}
	for range 4 {
		improved := false
		for l := range w.s.layers {
			if !w.dirty[l] {
				continue
			}
			w.dirty[l] = false
			if w.transposeLayer(l) {
				improved = true
				w.dirty[max(0, l-1)], w.dirty[min(last, l+1)] = true, true
			}
		}
		if !improved {
			return
		}
	}
}

func (w *sweeper) transposeLayer(l int) (improved bool) {
	s := w.s
	for _, i := range s.layers[l] {
		above, below := s.above.of(i), s.below.of(i)
		s.sortEnds(above)
		s.sortEnds(below)
		w.reach[i] = reach{s.reachOf(above), s.reachOf(below)}
	}
	for range 10 {
		if !w.swapLayer(s.layers[l]) {
			return improved
		}
		improved = true
	}
	return improved
}

func (w *sweeper) swapLayer(layer []int32) (improved bool) {
	s := w.s
	for p := 0; p+1 < len(layer); p++ {
		i, j := layer[p], layer[p+1]
		a, b := &w.reach[i], &w.reach[j]
		if a.above[1] <= b.above[0] && a.below[1] <= b.below[0] {
			continue // nothing crosses
		}
		if w.old != nil && w.old[i] && w.old[j] {
			continue
		}
		if s.gain(s.above.of(i), s.above.of(j))+s.gain(s.below.of(i), s.below.of(j)) > 0 {
			layer[p], layer[p+1] = j, i
			s.pos[i], s.pos[j] = int32(p+1), int32(p)
			improved = true
		}
	}
	return improved
}

// gain is how many crossings fewer there are when the owner of right changes
// places with the owner of left. Both are sorted.
func (s *sheet) gain(left, right []int32) int {
	if len(left) == 0 || len(right) == 0 {
		return 0
	}
	if len(left) == 1 && len(right) == 1 {
		return cmp.Compare(s.pos[left[0]], s.pos[right[0]])
	}
	return s.inversions(left, right) - s.inversions(right, left)
}

// inversions counts the pairs in which the left end lies further right.
func (s *sheet) inversions(left, right []int32) int {
	total, k := 0, 0
	for _, i := range left {
		for k < len(right) && s.pos[right[k]] < s.pos[i] {
			k++
		}
		total += k
	}
	return total
}
