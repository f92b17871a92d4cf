package graph

import (
	"cmp"
	"math"
	"slices"
)

// stagger says how far down things of one row hang that take turns.
type stagger struct {
	n     *net
	step  float64
	last  []int32 // by group: the level of its latest node in this row
	stamp []int32 // by group: the row that last is about
	row   int32
}

func newStagger(n *net) *stagger {
	return &stagger{
		n: n, step: n.opt.Stagger,
		last: make([]int32, len(n.groups)), stamp: make([]int32, len(n.groups)),
	}
}

// drops returns how many pixels each thing of a row (one node, or several that
// belong together) hangs lower: a step more than any with a lower number that
// it takes turns with. Steps get smaller where they would add up to more than
// most, the height of a card.
func (s *stagger) drops(row [][]int32, most float64) []float64 {
	drops := make([]float64, len(row))
	if len(s.n.groups) == 0 || len(row) == 0 {
		return drops
	}
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(row[i][0], row[j][0]) })
	s.row++
	deepest := 0.0
	for _, i := range order {
		drops[i] = float64(s.level(row[i]))
		deepest = max(deepest, drops[i])
	}
	step := min(s.step, most/max(1, deepest))
	for i := range drops {
		drops[i] = math.Round(drops[i] * step)
	}
	return drops
}

func (s *stagger) level(nodes []int32) int32 {
	level := int32(0)
	for _, v := range nodes {
		s.n.groupsOf(v, func(g int32) {
			if s.stamp[g] == s.row {
				level = max(level, s.last[g]+1)
			}
		})
	}
	for _, v := range nodes {
		s.n.groupsOf(v, func(g int32) { s.stamp[g], s.last[g] = s.row, level })
	}
	return level
}
