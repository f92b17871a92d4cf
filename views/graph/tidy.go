package graph

import (
	"cmp"
	"slices"
)

// tidy chooses among orders that are equal to the crossings, but not to the
// reader: the sheet or its mirror image, and cards that hang on the very same
// items by number.
func (w *sweeper) tidy() {
	if w.backwards() {
		for _, layer := range w.s.layers {
			slices.Reverse(layer)
		}
		w.s.number()
	}
	for _, layer := range w.s.layers {
		w.tidyLayer(layer)
	}
	w.s.number()
}

// backwards reports whether numbers mostly fall from left to right.
func (w *sweeper) backwards() bool {
	up := 0
	for _, layer := range w.s.layers {
		for p := 1; p < len(layer); p++ {
			if i, j := layer[p-1], layer[p]; w.s.items[i].kind == card && w.s.items[j].kind == card {
				up += cmp.Compare(j, i) // items are numbered in reading order
			}
		}
	}
	return up < 0
}

func (w *sweeper) tidyLayer(layer []int32) {
	s := w.s
	w.move = w.move[:0]
	for _, i := range layer {
		if s.items[i].kind == card {
			s.sortEnds(s.above.of(i))
			s.sortEnds(s.below.of(i))
			w.move = append(w.move, i)
		}
	}
	slices.SortFunc(w.move, func(i, j int32) int {
		return cmp.Or(s.compareEnds(i, j), cmp.Compare(i, j))
	})
	for from := 0; from < len(w.move); {
		to := from + 1
		for to < len(w.move) && s.compareEnds(w.move[from], w.move[to]) == 0 {
			to++
		}
		alike := w.move[from:to]
		from = to
		if len(alike) < 2 {
			continue
		}
		w.slot = w.slot[:0]
		for _, i := range alike {
			w.slot = append(w.slot, s.pos[i])
		}
		slices.Sort(w.slot)
		for k, p := range w.slot {
			layer[p] = alike[k]
		}
	}
}

// compareEnds is 0 for items that are joined to the same others.
func (s *sheet) compareEnds(i, j int32) int {
	return cmp.Or(
		slices.Compare(s.above.of(i), s.above.of(j)),
		slices.Compare(s.below.of(i), s.below.of(j)),
	)
}
