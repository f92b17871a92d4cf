package graph

import (
	"fmt"
	"math/rand/v2"
)

// sketch builds inputs for tests; all cards have the usual size.
type sketch struct{ in Input }

func newSketch(nodes int) *sketch {
	s := &sketch{}
	for range nodes {
		s.node()
	}
	return s
}

func (s *sketch) node() int64 {
	id := int64(len(s.in.Nodes) + 1)
	s.in.Nodes = append(s.in.Nodes, Node{ID: id, Width: 220, Height: 92})
	return id
}

func (s *sketch) edge(from, to int64) *sketch {
	s.in.Edges = append(s.in.Edges, Edge{from, to})
	return s
}

func (s *sketch) chain(ids ...int64) *sketch {
	for i := range ids[1:] {
		s.edge(ids[i], ids[i+1])
	}
	return s
}

func (s *sketch) tie(ids ...int64) *sketch {
	s.in.Ties = append(s.in.Ties, ids)
	return s
}

// phases is fan-out and fan-in again and again: the commonest kind of plan.
func phases(nodes, width int) Input {
	s := newSketch(nodes)
	last := int64(1)
	for id := int64(2); id <= int64(nodes); {
		join := min(id+int64(width), int64(nodes))
		for ; id < join; id++ {
			s.chain(last, id, join)
		}
		if join == id && id == last+1 {
			s.edge(last, id)
		}
		last = join
		id++
	}
	return s.in
}

// random gives each node one or two parents among the window before it.
func random(nodes, window int, seed uint64) Input {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := newSketch(nodes)
	for id := int64(2); id <= int64(nodes); id++ {
		for range 1 + rng.IntN(2) {
			s.edge(id-1-rng.Int64N(min(id-1, int64(window))), id)
		}
	}
	return s.in
}

// tangle is any kind of graph: loose nodes, long edges, odd sizes, ties.
func tangle(rng *rand.Rand, most int) Input {
	s := newSketch(1 + rng.IntN(most))
	n := int64(len(s.in.Nodes))
	for i := range s.in.Nodes {
		if rng.IntN(4) == 0 {
			s.in.Nodes[i].Width = 120 + float64(rng.IntN(200))
			s.in.Nodes[i].Height = 40 + float64(rng.IntN(120))
		}
	}
	density := rng.Float64() * 2
	for range int(density * float64(n)) {
		a, b := 1+rng.Int64N(n), 1+rng.Int64N(n)
		if a != b {
			s.edge(min(a, b), max(a, b))
		}
	}
	for range rng.IntN(4) {
		var g []int64
		for range 2 + rng.IntN(5) {
			g = append(g, 1+rng.Int64N(n))
		}
		s.tie(g...)
	}
	return s.in
}

func fan(width int) Input {
	s := newSketch(width + 2)
	for id := int64(2); id < int64(width+2); id++ {
		s.chain(1, id, int64(width+2))
	}
	return s.in
}

// pipelines is one start, many short chains side by side, one end.
func pipelines(count, length int) Input {
	s := newSketch(1)
	var last []int64
	for range count {
		at := int64(1)
		for range length {
			id := s.node()
			s.edge(at, id)
			at = id
		}
		last = append(last, at)
	}
	end := s.node()
	for _, id := range last {
		s.edge(id, end)
	}
	return s.in
}

// gallery are the plans to look at.
func gallery() map[string]Input {
	web := newSketch(14).
		chain(1, 2, 3, 4, 9, 12).chain(2, 5, 6, 9).chain(2, 7, 8, 9).chain(1, 10, 11, 12).
		edge(5, 12).edge(1, 12).chain(13, 8).chain(12, 14).tie(3, 5, 7)
	ties := newSketch(8).chain(1, 2, 8).chain(1, 3, 8).chain(1, 4, 8).chain(1, 5, 8).chain(1, 6, 8).chain(1, 7, 8).
		tie(2, 3, 4).tie(5, 7)
	two := newSketch(16).chain(1, 2, 3, 4, 5).chain(6, 7, 8).chain(6, 9, 8).edge(8, 10)
	tree := newSketch(31)
	for id := int64(2); id <= 31; id++ {
		tree.edge(id/2, id)
	}
	skips := newSketch(12).chain(1, 2, 3, 4, 5, 6, 7, 8).chain(1, 9, 10, 8).edge(1, 5).edge(2, 8).edge(3, 7).chain(9, 11, 12).edge(11, 6)
	review := newSketch(10)
	for id := int64(1); id < 10; id++ {
		review.edge(id, 10)
		if id > 3 {
			review.edge(id-3, id)
		}
	}
	hubs := newSketch(4)
	for h := int64(2); h <= 4; h++ {
		hubs.edge(1, h)
		for range 40 {
			hubs.edge(h, hubs.node())
		}
	}
	g := map[string]Input{
		"web": web.in, "ties": ties.in, "parts": two.in, "tree": tree.in, "skips": skips.in, "review": review.in,
		"hubs": hubs.in, "phases": phases(22, 4), "pipelines": pipelines(18, 2), "phases50": phases(50, 6), "random30": random(30, 8, 1), "random50": random(50, 12, 2),
		"fan20": fan(20), "fan100": fan(100), "pipelines40": pipelines(40, 3), "loose30": newSketch(30).in,
		"phases500": phases(500, 10), "random500": random(500, 30, 3), "random2000": random(2000, 50, 3), "fan1000": fan(1000),
		"loose500": newSketch(500).in,
	}
	conflict := newSketch(40)
	conflict.tie(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	conflict.tie(22, 30).tie(23, 31, 32)
	g["conflict"] = conflict.in
	for i := range 6 {
		g[fmt.Sprintf("tangle%d", i)] = tangle(rand.New(rand.NewPCG(uint64(i), 9)), 40)
	}
	return g
}
