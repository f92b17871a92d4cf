package graph

import (
	"cmp"
	"math"
	"slices"
)

// sweeper looks for an order within the layers that has few crossings.
type sweeper struct {
	s     *sheet
	key   []float64 // of each item, where its neighbours are; -1 without any
	move  []int32
	slot  []int32
	tree  []int32   // Fenwick tree for counting
	best  [][]int32 // the best order so far
	dirty []bool    // layers to look at in transpose
	reach []reach   // of each item
	luck  uint32    // not 0: equals are in the order of this shuffle
	// kept holds, by layer, the items that keep their order among
	// themselves, in that order. Nil when everything may move.
	kept [][]int32
	old  []bool
}

// order sorts the layers of the sheet.
func (s *sheet) order() {
	w := &sweeper{
		s: s, key: make([]float64, len(s.items)), reach: make([]reach, len(s.items)),
		best: make([][]int32, len(s.layers)), dirty: make([]bool, len(s.layers)),
	}
	widest := 0
	for l, layer := range s.layers {
		w.best[l] = slices.Clone(layer)
		widest = max(widest, len(layer))
	}
	w.tree = make([]int32, widest+1)
	if w.keepOld() {
		w.reorder()
	} else {
		w.fresh()
	}
	w.restore()
}

// fresh looks for a first order. Small sheets, which nearly all are, get many
// tries from different sides, which halves their crossings.
func (w *sweeper) fresh() {
	w.walk(w.s.above, w.s.below)
	w.save()
	best := w.search(w.crossings(), 0)
	tries := min(16, 900/len(w.s.items))
	for variant := 1; variant <= tries && best > 0; variant++ {
		if variant%2 == 0 {
			w.walk(w.s.above, w.s.below)
		} else {
			w.walk(w.s.below, w.s.above)
		}
		best = w.search(best, variant)
	}
	w.restore()
	w.tidy()
	w.save()
}

// reorder improves the previous order while what was there keeps its place, and
// gives that up only where it costs more than twice the crossings.
func (w *sweeper) reorder() {
	w.s.number()
	w.sweep(0)
	w.save()
	kept := w.search(w.crossings(), 0)
	before := cloneLayers(w.best)
	w.restore()
	w.kept, w.old = nil, nil
	if free := w.search(kept, 0); 2*free >= kept || kept-free < 4 {
		w.best = before
	}
}

func cloneLayers(layers [][]int32) [][]int32 {
	c := make([][]int32, len(layers))
	for i, l := range layers {
		c[i] = slices.Clone(l)
	}
	return c
}

// walk sets a first order: that in which a walk from the first root (an item
// with nothing on the back side), then the second, and so on meets the items. A
// tree comes out without crossings.
func (w *sweeper) walk(back, front adjacency) {
	s := w.s
	seen := make([]bool, len(s.items))
	for l := range s.layers {
		s.layers[l] = s.layers[l][:0]
	}
	var stack []int32
	for root := range s.items {
		if seen[root] || len(back.of(int32(root))) > 0 {
			continue
		}
		seen[root] = true
		stack = append(stack[:0], int32(root))
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			l := s.items[i].layer
			s.layers[l] = append(s.layers[l], i)
			next := front.of(i)
			for k := len(next) - 1; k >= 0; k-- {
				if to := next[k]; !seen[to] {
					seen[to] = true
					stack = append(stack, to)
				}
			}
		}
	}
	s.number()
}

// keepOld starts from the previous picture: what was there stands first in its
// layer, in the old order. It reports whether there was anything.
func (w *sweeper) keepOld() bool {
	s := w.s
	w.old = make([]bool, len(s.items))
	known := false
	for i := range s.items {
		w.old[i] = !math.IsNaN(s.items[i].prev)
		known = known || w.old[i]
	}
	if !known {
		w.old = nil
		return false
	}
	w.kept = make([][]int32, len(s.layers))
	for l, layer := range s.layers {
		slices.SortStableFunc(layer, func(i, j int32) int {
			switch {
			case w.old[i] && w.old[j]:
				return cmp.Compare(s.items[i].prev, s.items[j].prev)
			case w.old[i]:
				return -1
			case w.old[j]:
				return 1
			}
			return 0
		})
		for _, i := range layer {
			if w.old[i] {
				w.kept[l] = append(w.kept[l], i)
			}
		}
	}
	return true
}

// search improves the order until it is clean or stops getting better than best
// crossings. It leaves the best in w.best. Even variants begin with a sweep
// down, odd ones with one up; from the second on, the first sweeps shuffle
// equals.
func (w *sweeper) search(best, variant int) int {
	stale := 0
	rounds := min(24, 6+2000/len(w.s.items))
	patience := 2 + rounds/8
	for round := 0; round < rounds && best > 0 && stale < patience; round++ {
		if variant > 1 && round < 4 {
			w.luck = uint32(variant)
		}
		w.sweep(round + variant)
		w.luck = 0
		w.transpose()
		if c := w.crossings(); c < best {
			best, stale = c, 0
			w.save()
		} else {
			stale++
		}
	}
	return best
}

// shuffle is a fixed scramble of the item numbers, another for each luck.
func (w *sweeper) shuffle(i int32) uint32 {
	x := (uint32(i)+1)*0x9e3779b1 ^ w.luck*0x85ebca6b
	x ^= x >> 15
	x *= 0x2c1b3c6d
	return x ^ x>>13
}

func (w *sweeper) save() {
	for l, layer := range w.s.layers {
		copy(w.best[l], layer)
	}
}

func (w *sweeper) restore() {
	for l := range w.s.layers {
		copy(w.s.layers[l], w.best[l])
	}
	w.s.number()
}

// sweep goes through the layers and moves every item to the median of its
// neighbours in the layer before: down on even turns, up on odd ones.
func (w *sweeper) sweep(turn int) {
	s := w.s
	if turn%2 == 0 {
		for l := 1; l < len(s.layers); l++ {
			w.sortLayer(l, s.above)
		}
		return
	}
	for l := len(s.layers) - 2; l >= 0; l-- {
		w.sortLayer(l, s.below)
	}
}

// sortLayer leaves items without neighbours where they are and sorts the others
// around them.
func (w *sweeper) sortLayer(l int, side adjacency) {
	s := w.s
	layer := s.layers[l]
	w.move, w.slot = w.move[:0], w.slot[:0]
	sorted := w.luck == 0
	last := -1.0
	for p, i := range layer {
		k := s.median(side.of(i))
		if w.key[i] = k; k < 0 {
			continue
		}
		w.move = append(w.move, i)
		w.slot = append(w.slot, int32(p))
		sorted = sorted && k >= last
		last = k
	}
	if !sorted {
		slices.SortFunc(w.move, func(i, j int32) int {
			byPlace := cmp.Compare(s.pos[i], s.pos[j])
			if w.luck != 0 {
				byPlace = cmp.Compare(w.shuffle(i), w.shuffle(j))
			}
			return cmp.Or(cmp.Compare(w.key[i], w.key[j]), byPlace)
		})
		for k, p := range w.slot {
			layer[p] = w.move[k]
		}
	}
	w.settle(l)
	for p, i := range layer {
		s.pos[i] = int32(p)
	}
}

// settle puts the kept items of a layer back into their order.
func (w *sweeper) settle(l int) {
	if w.kept == nil {
		return
	}
	k := 0
	for p, i := range w.s.layers[l] {
		if w.old[i] {
			w.s.layers[l][p] = w.kept[l][k]
			k++
		}
	}
}

// median is where the middle of these items is, leaning to where they are
// denser; -1 without any.
func (s *sheet) median(ends []int32) float64 {
	s.sortEnds(ends)
	at := func(k int) float64 { return float64(s.pos[ends[k]]) }
	n := len(ends)
	switch {
	case n == 0:
		return -1
	case n%2 == 1:
		return at(n / 2)
	case n == 2:
		return (at(0) + at(1)) / 2
	}
	m := n / 2
	left, right := at(m-1)-at(0), at(n-1)-at(m)
	if left+right == 0 {
		return (at(m-1) + at(m)) / 2
	}
	return (at(m-1)*right + at(m)*left) / (left + right)
}

// sortEnds orders items of one layer by their places. They mostly are in order
// already.
func (s *sheet) sortEnds(ends []int32) {
	for k := 1; k < len(ends); k++ {
		if s.pos[ends[k]] < s.pos[ends[k-1]] {
			slices.SortFunc(ends, func(i, j int32) int { return int(s.pos[i] - s.pos[j]) })
			return
		}
	}
}
