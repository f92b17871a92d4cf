package plan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func edgesOf(pairs ...NodeID) []Edge {
	var out []Edge
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, Edge{Plan: 1, From: pairs[i], To: pairs[i+1]})
	}
	return out
}

func idsUpTo(n int) []NodeID {
	ids := make([]NodeID, n)
	for i := range ids {
		ids[i] = NodeID(i + 1)
	}
	return ids
}

func TestGraphOrderIsByRankThenNumber(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		edges []Edge
		want  []NodeID
	}{
		{"no nodes", 0, nil, []NodeID{}},
		{"no edges", 3, nil, []NodeID{1, 2, 3}},
		{"a chain against the numbers", 3, edgesOf(3, 2, 2, 1), []NodeID{3, 2, 1}},
		{"one rank by number, however the edges come", 5, edgesOf(1, 5, 1, 4, 2, 3), []NodeID{1, 2, 3, 4, 5}},
		{"a diamond", 4, edgesOf(4, 3, 4, 2, 3, 1, 2, 1), []NodeID{4, 2, 3, 1}},
		{"rank is the longest way", 4, edgesOf(1, 4, 2, 3, 3, 4), []NodeID{1, 2, 3, 4}},
		{"what is on or after a cycle is missing", 4, edgesOf(1, 2, 2, 1, 2, 3), []NodeID{4}},
		{"an edge given twice counts once", 2, edgesOf(2, 1, 2, 1), []NodeID{2, 1}},
		{"edges to unknown nodes are left out", 2, edgesOf(9, 1, 2, 9), []NodeID{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, NewGraph(idsUpTo(c.nodes), c.edges).Order()); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNeighbours(t *testing.T) {
	g := NewGraph(idsUpTo(5), edgesOf(1, 5, 1, 3, 2, 3, 4, 3))
	for _, c := range []struct {
		name string
		got  []NodeID
		want []NodeID
	}{
		{"dependants by number", g.Dependants(1), []NodeID{3, 5}},
		{"prerequisites by number", g.Prerequisites(3), []NodeID{1, 2, 4}},
		{"none", g.Dependants(5), []NodeID{}},
		{"of an unknown node", g.Prerequisites(99), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestCycleIsNamedInOrderFromItsLowestNode(t *testing.T) {
	for _, c := range []struct {
		name  string
		edges []Edge
		want  []NodeID
	}{
		{"none", edgesOf(1, 2, 2, 3, 1, 3), nil},
		{"a self-loop", edgesOf(2, 2), []NodeID{2, 2}},
		{"two nodes", edgesOf(3, 2, 2, 3), []NodeID{2, 3, 2}},
		{"with a tail before and after", edgesOf(1, 4, 4, 3, 3, 2, 2, 4, 2, 5), []NodeID{2, 4, 3, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, NewGraph(idsUpTo(5), c.edges).Cycle()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	names := map[NodeID]string{1: "build", 2: ""}
	if got := CyclePath([]NodeID{1, 2, 1}, func(id NodeID) string { return names[id] }); got != "build → 2 → build" {
		t.Errorf("cycle reads %q", got)
	}
}

// closure works out who reaches whom by trying everything.
func closure(n int, edges []Edge) [][]bool {
	reach := make([][]bool, n+1)
	for i := range reach {
		reach[i] = make([]bool, n+1)
	}
	for _, e := range edges {
		reach[e.From][e.To] = true
	}
	for k := range reach {
		for i := range reach {
			for j := range reach {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	return reach
}

func checkGraph(t *testing.T, n int, edges []Edge) {
	t.Helper()
	g, reach := NewGraph(idsUpTo(n), edges), closure(n, edges)
	cyclic := false
	for i := 1; i <= n; i++ {
		cyclic = cyclic || reach[i][i]
		for j := 1; j <= n; j++ {
			if got := g.Reaches(NodeID(i), NodeID(j)); got != reach[i][j] {
				t.Fatalf("%d reaches %d: %v, want %v (edges %v)", i, j, got, reach[i][j], edges)
			}
			if got := g.walk(i-1, j-1); got != reach[i][j] {
				t.Fatalf("walking, %d reaches %d: %v, want %v (edges %v)", i, j, got, reach[i][j], edges)
			}
		}
	}
	checkOrder(t, g, edges, reach)
	checkCycle(t, g.Cycle(), edges, cyclic)
}

func checkOrder(t *testing.T, g *Graph, edges []Edge, reach [][]bool) {
	t.Helper()
	pos := map[NodeID]int{}
	for i, id := range g.Order() {
		pos[id] = i + 1
	}
	for i := 1; i < len(reach); i++ {
		held := reach[i][i]
		for j := 1; j < len(reach); j++ {
			held = held || reach[j][j] && reach[j][i]
		}
		if (pos[NodeID(i)] == 0) != held {
			t.Fatalf("node %d in the order: %v, but it is on or after a cycle: %v (edges %v)", i, !held, held, edges)
		}
	}
	for _, e := range edges {
		if pos[e.From] > 0 && pos[e.To] > 0 && pos[e.From] >= pos[e.To] {
			t.Fatalf("order %v breaks edge %s", g.Order(), e)
		}
	}
}

func checkCycle(t *testing.T, cycle []NodeID, edges []Edge, cyclic bool) {
	t.Helper()
	if (cycle != nil) != cyclic {
		t.Fatalf("cycle %v, but there is one: %v (edges %v)", cycle, cyclic, edges)
	}
	for i := 1; i < len(cycle); i++ {
		if !slices.Contains(edges, Edge{1, cycle[i-1], cycle[i]}) {
			t.Fatalf("cycle %v uses %d → %d, which is no edge", cycle, cycle[i-1], cycle[i])
		}
	}
	if len(cycle) > 0 && (cycle[0] != cycle[len(cycle)-1] || cycle[0] != slices.Min(cycle)) {
		t.Fatalf("cycle %v does not start and end at its lowest node", cycle)
	}
}

func TestRandomGraphsAgainstBruteForce(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := 1 + r.IntN(14)
		var edges []Edge
		for range r.IntN(3 * n) {
			e := Edge{1, NodeID(1 + r.IntN(n)), NodeID(1 + r.IntN(n))}
			if seed%2 == 0 && e.From >= e.To {
				continue // half of them without cycles
			}
			edges = append(edges, e)
		}
		checkGraph(t, n, edges)
	}
}

func TestGraphsTooLargeForBitSets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	n := maxDense + 100
	var edges []Edge
	next := make([][]NodeID, n+1)
	for range 2 * n {
		a, b := NodeID(1+r.IntN(n)), NodeID(1+r.IntN(n))
		if a > b {
			a, b = b, a
		}
		if a != b && b-a < 200 {
			edges, next[a] = append(edges, Edge{1, a, b}), append(next[a], b)
		}
	}
	for i := range n - 1 { // a thin thread through all, so that much is reached
		if i%7 != 0 {
			edges, next[i+1] = append(edges, Edge{1, NodeID(i + 1), NodeID(i + 2)}), append(next[i+1], NodeID(i+2))
		}
	}
	g := NewGraph(idsUpTo(n), edges)
	if g.above != nil {
		t.Fatal("the graph has bit sets: this tests nothing")
	}
	yes := 0
	for range 400 {
		from := NodeID(1 + r.IntN(n))
		to := min(NodeID(n), from+NodeID(r.IntN(300)))
		want := breadthFirst(next, from, to)
		if got := g.Reaches(from, to); got != want {
			t.Fatalf("%d reaches %d: %v, want %v", from, to, got, want)
		}
		if want {
			yes++
		}
	}
	if yes == 0 || yes == 400 {
		t.Fatalf("%d of 400 pairs are connected: this tests little", yes)
	}
}

func breadthFirst(next [][]NodeID, from, to NodeID) bool {
	seen := map[NodeID]bool{}
	queue := slices.Clone(next[from])
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if id == to {
			return true
		}
		if !seen[id] {
			seen[id] = true
			queue = append(queue, next[id]...)
		}
	}
	return false
}

func FuzzGraph(f *testing.F) {
	f.Add(uint8(4), []byte{1, 2, 2, 3, 3, 1})
	f.Add(uint8(1), []byte{0, 0})
	f.Add(uint8(9), []byte{8, 1, 1, 4, 4, 8, 2, 2})
	f.Fuzz(func(t *testing.T, size uint8, pairs []byte) {
		n := 1 + int(size)%12
		var edges []Edge
		for i := 0; i+1 < len(pairs) && i < 80; i += 2 {
			edges = append(edges, Edge{1, NodeID(1 + int(pairs[i])%n), NodeID(1 + int(pairs[i+1])%n)})
		}
		checkGraph(t, n, edges)
	})
}
