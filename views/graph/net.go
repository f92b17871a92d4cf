package graph

import (
	"cmp"
	"math"
	"slices"
)

// arc is an edge between node indices.
type arc struct{ from, to int32 }

// net is the cleaned input: nodes by ascending id, arcs unique, sorted and
// without cycles, tie groups sorted and without strangers.
type net struct {
	opt     Options
	ids     []int64
	w, h    []float64
	arcs    []arc
	out, in adjacency // arcs of a node
	groups  [][]int32
	tied    adjacency // groups of a node, by position in members
	member  []int32   // group of each membership
	ignored []Edge
}

func newNet(in Input) *net {
	n := &net{opt: in.Options.withDefaults()}
	n.addNodes(in.Nodes)
	n.addArcs(in.Edges)
	n.breakCycles()
	n.addTies(in.Ties)
	return n
}

func (n *net) size() int { return len(n.ids) }

func (n *net) find(id int64) (int32, bool) {
	i, ok := slices.BinarySearch(n.ids, id)
	return int32(i), ok
}

func (n *net) addNodes(nodes []Node) {
	sorted := slices.Clone(nodes)
	for i := range sorted {
		sorted[i].Width = sane(sorted[i].Width)
		sorted[i].Height = sane(sorted[i].Height)
	}
	slices.SortFunc(sorted, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Width, b.Width), cmp.Compare(a.Height, b.Height))
	})
	sorted = slices.CompactFunc(sorted, func(a, b Node) bool { return a.ID == b.ID })
	n.ids = make([]int64, len(sorted))
	n.w = make([]float64, len(sorted))
	n.h = make([]float64, len(sorted))
	for i, v := range sorted {
		n.ids[i], n.w[i], n.h[i] = v.ID, v.Width, v.Height
	}
}

// sane keeps sums of sizes finite.
func sane(v float64) float64 {
	if math.IsNaN(v) {
		return 1
	}
	return min(max(v, 1), 10_000)
}

func (n *net) addArcs(edges []Edge) {
	n.arcs = make([]arc, 0, len(edges))
	for _, e := range edges {
		from, ok := n.find(e.From)
		to, ok2 := n.find(e.To)
		if !ok || !ok2 || from == to {
			n.ignored = append(n.ignored, e)
			continue
		}
		n.arcs = append(n.arcs, arc{from, to})
	}
	slices.SortFunc(n.arcs, func(a, b arc) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	n.arcs = slices.Compact(n.arcs)
	n.link()
}

func (n *net) link() {
	n.out = gather(n.size(), len(n.arcs), func(i int) int32 { return n.arcs[i].from })
	n.in = gather(n.size(), len(n.arcs), func(i int) int32 { return n.arcs[i].to })
}

// breakCycles leaves out every arc that leads back to a node on the way from
// which it was reached.
func (n *net) breakCycles() {
	back := n.backArcs()
	if len(back) > 0 {
		kept := n.arcs[:0]
		for i, a := range n.arcs {
			if back[int32(i)] {
				n.ignored = append(n.ignored, Edge{n.ids[a.from], n.ids[a.to]})
				continue
			}
			kept = append(kept, a)
		}
		n.arcs = kept
		n.link()
	}
	slices.SortFunc(n.ignored, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	n.ignored = slices.Compact(n.ignored)
}

func (n *net) backArcs() map[int32]bool {
	const (
		fresh = iota
		open
		closed
	)
	state := make([]uint8, n.size())
	next := make([]int32, n.size())
	var back map[int32]bool
	var stack []int32
	for root := range n.size() {
		if state[root] != fresh {
			continue
		}
		state[root] = open
		stack = append(stack[:0], int32(root))
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			out := n.out.of(v)
			if int(next[v]) == len(out) {
				state[v] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			e := out[next[v]]
			next[v]++
			switch to := n.arcs[e].to; state[to] {
			case fresh:
				state[to] = open
				stack = append(stack, to)
			case open:
				if back == nil {
					back = make(map[int32]bool)
				}
				back[e] = true
			}
		}
	}
	return back
}

func (n *net) addTies(ties [][]int64) {
	for _, t := range ties {
		var g []int32
		for _, id := range t {
			if i, ok := n.find(id); ok {
				g = append(g, i)
			}
		}
		slices.Sort(g)
		if g = slices.Compact(g); len(g) > 1 {
			n.groups = append(n.groups, g)
		}
	}
	slices.SortFunc(n.groups, slices.Compare)
	n.groups = slices.CompactFunc(n.groups, slices.Equal)
	var nodes []int32
	for i, g := range n.groups {
		for _, v := range g {
			nodes = append(nodes, v)
			n.member = append(n.member, int32(i))
		}
	}
	n.tied = gather(n.size(), len(nodes), func(i int) int32 { return nodes[i] })
}

// groupsOf calls do with every group that v is in.
func (n *net) groupsOf(v int32, do func(group int32)) {
	for _, m := range n.tied.of(v) {
		do(n.member[m])
	}
}

// joined reports whether an arc leads from a to b or back.
func (n *net) joined(a, b int32) bool {
	has := func(from, to int32) bool {
		for _, e := range n.out.of(from) {
			if n.arcs[e].to == to {
				return true
			}
		}
		return false
	}
	return has(a, b) || has(b, a)
}
