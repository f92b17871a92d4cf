package graph

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// check fails when a layout breaks a promise to whoever looks at it.
func check(t *testing.T, in Input, l *Layout) {
	t.Helper()
	checkBoxes(t, l)
	checkEdges(t, in, l)
	for _, p := range l.Ties {
		for _, q := range trace(t, p.D) {
			checkPoint(t, l, p, q)
		}
	}
}

func checkBoxes(t *testing.T, l *Layout) {
	t.Helper()
	byX := slices.Clone(l.Boxes)
	slices.SortFunc(byX, func(a, b Box) int { return cmp.Compare(a.X, b.X) })
	for i, a := range byX {
		if a.X < 0 || a.Y < 0 || a.right() > l.Width || a.bottom() > l.Height {
			t.Errorf("box %+v leaves the page of %v x %v", a, l.Width, l.Height)
		}
		for _, b := range byX[i+1:] {
			if b.X >= a.right() {
				break
			}
			if b.Y < a.bottom() && a.Y < b.bottom() {
				t.Errorf("boxes overlap: %+v and %+v", a, b)
			}
		}
	}
}

func checkEdges(t *testing.T, in Input, l *Layout) {
	t.Helper()
	if got, want := len(l.Edges), len(drawable(in))-len(cyclic(in, l)); got != want {
		t.Errorf("%d edges drawn, want %d", got, want)
	}
	for _, p := range l.Edges {
		from, _ := l.Box(p.From)
		to, _ := l.Box(p.To)
		if from.Layer >= to.Layer {
			t.Errorf("edge %d to %d leads from layer %d to %d", p.From, p.To, from.Layer, to.Layer)
		}
		points := trace(t, p.D)
		first, last := points[0], points[len(points)-1]
		if math.Abs(first.x-from.centreX()) > 0.1 || math.Abs(first.y-from.bottom()) > 0.1 {
			t.Errorf("edge %d to %d begins at %v, not at the bottom centre of %+v", p.From, p.To, first, from)
		}
		if math.Abs(last.x-to.centreX()) > 0.1 || math.Abs(last.y-to.Y) > 0.1 {
			t.Errorf("edge %d to %d ends at %v, not at the top centre of %+v", p.From, p.To, last, to)
		}
		for i, q := range points {
			if i > 0 && q.y < points[i-1].y-0.01 {
				t.Errorf("edge %d to %d rises at %v: %s", p.From, p.To, q, p.D)
				break
			}
			checkPoint(t, l, p, q)
		}
	}
}

// checkPoint fails when a point of a path is inside a box that is not one of
// its ends, or off the page.
func checkPoint(t *testing.T, l *Layout, p Path, q point) {
	t.Helper()
	if q.x < -0.1 || q.y < -0.1 || q.x > l.Width+0.1 || q.y > l.Height+0.1 {
		t.Fatalf("path %d to %d leaves the page at %v", p.From, p.To, q)
	}
	l.index.each(area{q.x - 0.1, q.y - 0.1, q.x + 0.1, q.y + 0.1}, func(i int32) bool {
		b := l.Boxes[i]
		if b.ID != p.From && b.ID != p.To {
			t.Fatalf("path %d to %d runs through %+v at %v: %s", p.From, p.To, b, q, p.D)
		}
		return true
	})
}

// drawable is the edges between different known nodes, each once.
func drawable(in Input) map[Edge]bool {
	known := make(map[int64]bool)
	for _, n := range in.Nodes {
		known[n.ID] = true
	}
	edges := make(map[Edge]bool)
	for _, e := range in.Edges {
		if known[e.From] && known[e.To] && e.From != e.To {
			edges[e] = true
		}
	}
	return edges
}

// cyclic is the edges left out because of cycles.
func cyclic(in Input, l *Layout) []Edge {
	edges := drawable(in)
	return slices.DeleteFunc(slices.Clone(l.Ignored), func(e Edge) bool { return !edges[e] })
}

// shuffled is the same plan told in another order.
func shuffled(in Input, rng *rand.Rand) Input {
	out := in
	out.Nodes, out.Edges = slices.Clone(in.Nodes), slices.Clone(in.Edges)
	rng.Shuffle(len(out.Nodes), func(i, j int) { out.Nodes[i], out.Nodes[j] = out.Nodes[j], out.Nodes[i] })
	rng.Shuffle(len(out.Edges), func(i, j int) { out.Edges[i], out.Edges[j] = out.Edges[j], out.Edges[i] })
	out.Ties = nil
	for _, g := range in.Ties {
		g = slices.Clone(g)
		rng.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
		out.Ties = append(out.Ties, g)
	}
	rng.Shuffle(len(out.Ties), func(i, j int) { out.Ties[i], out.Ties[j] = out.Ties[j], out.Ties[i] })
	return out
}

// seeds is how many random plans a test draws: a few in each run of all tests, and
// as many as one has time for with make storm.
func seeds(t *testing.T, usual uint64) uint64 {
	text := os.Getenv("CLEARBOX_STORMS")
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		t.Fatalf("CLEARBOX_STORMS is %q: it must be a number of storms", text)
	}
	return n
}

var ignoreIndex = cmpopts.IgnoreUnexported(Layout{})

func TestEveryPlanOfTheGalleryKeepsThePromises(t *testing.T) {
	for name, in := range gallery() {
		t.Run(name, func(t *testing.T) { check(t, in, Arrange(in)) })
	}
}

func TestRandomPlansKeepThePromises(t *testing.T) {
	for seed := range seeds(t, 30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		in := tangle(rng, 60)
		l := Arrange(in)
		if check(t, in, l); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		again := Arrange(shuffled(in, rng))
		if diff := gocmp.Diff(l, again, ignoreIndex); diff != "" {
			t.Fatalf("seed %d: the order of the input changes the picture:\n%s", seed, diff)
		}
	}
}

func TestWidePlansKeepThePromises(t *testing.T) {
	for seed := range seeds(t, 10) {
		rng := rand.New(rand.NewPCG(seed, 8))
		in := wide(rng)
		l := Arrange(in)
		if check(t, in, l); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		again := Arrange(shuffled(in, rng))
		if diff := gocmp.Diff(l, again, ignoreIndex); diff != "" {
			t.Fatalf("seed %d: the order of the input changes the picture:\n%s", seed, diff)
		}
	}
}

// wide has layers that must be wrapped: hubs with leaves and pipelines of
// different kinds, some of them joined across, odd sizes, ties.
func wide(rng *rand.Rand) Input {
	s := newSketch(1 + rng.IntN(4))
	hubs := int64(len(s.in.Nodes))
	for id := int64(2); id <= hubs; id++ {
		s.edge(1, id)
	}
	var ends []int64
	for range 20 + rng.IntN(150) {
		at := 1 + rng.Int64N(hubs)
		for range 1 + rng.IntN(3) {
			id := s.node()
			s.edge(at, id)
			at = id
			if rng.IntN(6) == 0 {
				s.edge(at, s.node())
			}
		}
		ends = append(ends, at)
	}
	end := s.node()
	for i, id := range ends {
		if rng.IntN(5) > 0 {
			s.edge(id, end)
		}
		if i > 0 && rng.IntN(30) == 0 {
			s.edge(min(id, ends[i-1]), max(id, ends[i-1]))
		}
	}
	for i := range s.in.Nodes {
		if rng.IntN(20) == 0 {
			s.in.Nodes[i].Width, s.in.Nodes[i].Height = 100+rng.Float64()*200, 40+rng.Float64()*100
		}
	}
	for range rng.IntN(6) {
		s.tie(1+rng.Int64N(end), 1+rng.Int64N(end), 1+rng.Int64N(end))
	}
	return s.in
}
