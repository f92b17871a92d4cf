package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Graph is the order among the nodes of one plan. Build it with NewGraph; it
// does not change afterwards and is safe for concurrent use.
type Graph struct {
	index map[NodeID]int
	ids   []NodeID
	next  [][]int32 // successors
	prev  [][]int32
	order []int32 // topological; shorter than ids when there is a cycle
	above []bits  // ancestors of each node; built for graphs of up to maxDense nodes
}

// maxDense bounds the graphs whose ancestors are held as bit sets: 8 MiB.
const maxDense = 8192

// NewGraph builds the graph of the given nodes. Edges that name others are left out.
func NewGraph(ids []NodeID, edges []Edge) *Graph {
	g := &Graph{index: make(map[NodeID]int, len(ids)), ids: ids}
	g.next, g.prev = make([][]int32, len(ids)), make([][]int32, len(ids))
	for i, id := range ids {
		g.index[id] = i
	}
	for _, e := range edges {
		from, ok1 := g.index[e.From]
		to, ok2 := g.index[e.To]
		if ok1 && ok2 {
			g.next[from] = append(g.next[from], int32(to))
			g.prev[to] = append(g.prev[to], int32(from))
		}
	}
	g.sort()
	if len(ids) <= maxDense {
		g.fillAbove()
	}
	return g
}

// sort finds a topological order by Kahn's rule, rank by rank.
func (g *Graph) sort() {
	open := make([]int, len(g.ids))
	g.order = make([]int32, 0, len(g.ids))
	for i := range g.ids {
		if open[i] = len(g.prev[i]); open[i] == 0 {
			g.order = append(g.order, int32(i))
		}
	}
	for from, to := 0, len(g.order); from < to; from, to = to, len(g.order) {
		rank := g.order[from:to]
		slices.SortFunc(rank, func(a, b int32) int { return cmp.Compare(g.ids[a], g.ids[b]) })
		for _, i := range rank {
			for _, j := range g.next[i] {
				if open[j]--; open[j] == 0 {
					g.order = append(g.order, j)
				}
			}
		}
	}
}

func (g *Graph) fillAbove() {
	words := (len(g.ids) + 63) / 64
	all := make(bits, words*len(g.ids))
	g.above = make([]bits, len(g.ids))
	for i := range g.ids {
		g.above[i] = all[i*words : (i+1)*words]
	}
	for _, i := range g.order {
		for _, p := range g.prev[i] {
			g.above[i].or(g.above[p])
			g.above[i].set(int(p))
		}
	}
}

// Order returns the node ids in dependency order, those of one rank by number.
// Nodes on a cycle are missing.
func (g *Graph) Order() []NodeID {
	out := make([]NodeID, len(g.order))
	for i, j := range g.order {
		out[i] = g.ids[j]
	}
	return out
}

// Reaches reports whether to comes after from, directly or through others. A
// node does not reach itself unless it is on a cycle.
func (g *Graph) Reaches(from, to NodeID) bool {
	a, ok1 := g.index[from]
	b, ok2 := g.index[to]
	if !ok1 || !ok2 {
		return false
	}
	if g.above != nil && len(g.order) == len(g.ids) {
		return g.above[b].has(a)
	}
	return g.walk(a, b)
}

// walk searches from a for b; for graphs without bit sets.
func (g *Graph) walk(a, b int) bool {
	seen := make(bits, (len(g.ids)+63)/64)
	stack := slices.Clone(g.next[a])
	for len(stack) > 0 {
		i := int(stack[len(stack)-1])
		stack = stack[:len(stack)-1]
		if i == b {
			return true
		}
		if !seen.has(i) {
			seen.set(i)
			stack = append(stack, g.next[i]...)
		}
	}
	return false
}

// Dependants returns the direct successors of a node, by number.
func (g *Graph) Dependants(id NodeID) []NodeID { return g.named(g.next, id) }

// Prerequisites returns the direct predecessors of a node, by number.
func (g *Graph) Prerequisites(id NodeID) []NodeID { return g.named(g.prev, id) }

func (g *Graph) named(m [][]int32, id NodeID) []NodeID {
	i, ok := g.index[id]
	if !ok {
		return nil
	}
	out := make([]NodeID, len(m[i]))
	for k, j := range m[i] {
		out[k] = g.ids[j]
	}
	slices.Sort(out)
	return out
}

// Cycle returns the nodes of one cycle in order, the first repeated at the end,
// or nil when there is none.
func (g *Graph) Cycle() []NodeID {
	if len(g.order) == len(g.ids) {
		return nil
	}
	done := make(bits, (len(g.ids)+63)/64)
	for _, i := range g.order {
		done.set(int(i))
	}
	// Every node that is left has a predecessor that is left: walking backwards
	// must come round.
	at := 0
	for done.has(at) {
		at++
	}
	var path []int
	for pos := map[int]int{}; ; {
		if start, ok := pos[at]; ok {
			return g.reversed(path[start:])
		}
		pos[at] = len(path)
		path = append(path, at)
		at = int(g.prev[at][slices.IndexFunc(g.prev[at], func(p int32) bool { return !done.has(int(p)) })])
	}
}

// reversed turns a backward walk around a cycle into ids in forward order,
// starting and ending at the lowest.
func (g *Graph) reversed(back []int) []NodeID {
	ids := make([]NodeID, len(back))
	for i, j := range back {
		ids[len(back)-1-i] = g.ids[j]
	}
	low := slices.Index(ids, slices.Min(ids))
	ids = slices.Concat(ids[low:], ids[:low])
	return append(ids, ids[0])
}

// CyclePath writes a cycle as "1 → 2 → 1", with names where name gives one.
func CyclePath(cycle []NodeID, name func(NodeID) string) string {
	parts := make([]string, len(cycle))
	for i, id := range cycle {
		if parts[i] = name(id); parts[i] == "" {
			parts[i] = strconv.FormatInt(int64(id), 10)
		}
	}
	return strings.Join(parts, " → ")
}

type bits []uint64

func (b bits) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bits) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }
func (b bits) or(o bits) {
	for i := range b {
		b[i] |= o[i]
	}
}
