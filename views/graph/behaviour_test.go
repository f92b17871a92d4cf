package graph

import (
	"math"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func box(t *testing.T, l *Layout, id int64) Box {
	t.Helper()
	b, ok := l.Box(id)
	if !ok {
		t.Fatalf("no box for %d", id)
	}
	return b
}

func layersOf(l *Layout) map[int64]int {
	out := make(map[int64]int)
	for _, b := range l.Boxes {
		out[b.ID] = b.Layer
	}
	return out
}

func TestLayers(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		edges []Edge
		want  map[int64]int
	}{
		{"a chain", 3, []Edge{{1, 2}, {2, 3}}, map[int64]int{1: 0, 2: 1, 3: 2}},
		{"the longest way counts", 4, []Edge{{1, 2}, {2, 3}, {3, 4}, {1, 4}}, map[int64]int{1: 0, 2: 1, 3: 2, 4: 3}},
		{"a late root stands next to what needs it", 5, []Edge{{1, 2}, {2, 3}, {3, 4}, {5, 4}},
			map[int64]int{1: 0, 2: 1, 3: 2, 4: 3, 5: 2}},
		{"a late root of two stands next to the first", 7, []Edge{{1, 2}, {2, 3}, {3, 4}, {4, 5}, {3, 6}, {7, 5}, {7, 6}},
			map[int64]int{1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 3, 7: 2}},
		{"a late root takes its leaf along", 6, []Edge{{1, 2}, {2, 3}, {3, 4}, {5, 4}, {5, 6}},
			map[int64]int{1: 0, 2: 1, 3: 2, 4: 3, 5: 2, 6: 3}},
		{"parts count on their own", 4, []Edge{{1, 2}, {3, 4}}, map[int64]int{1: 0, 2: 1, 3: 0, 4: 1}},
		{"loose cards", 2, nil, map[int64]int{1: 0, 2: 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newSketch(c.nodes).in
			in.Edges = c.edges
			if diff := gocmp.Diff(c.want, layersOf(Arrange(in))); diff != "" {
				t.Errorf("layers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALeafChangesNoLayer(t *testing.T) {
	for seed := range seeds(t, 25) {
		in := random(30, 10, seed)
		before := layersOf(Arrange(in))
		in.Nodes = append(in.Nodes, Node{31, 220, 92})
		in.Edges = append(in.Edges, Edge{1 + int64(seed)%30, 31})
		after := layersOf(Arrange(in))
		delete(after, 31)
		if diff := gocmp.Diff(before, after); diff != "" {
			t.Fatalf("seed %d (-before +after):\n%s", seed, diff)
		}
	}
}

func TestChainsAreStraightAndFansCentred(t *testing.T) {
	in := newSketch(9).chain(1, 2, 3, 4).chain(4, 5, 8).chain(4, 6, 8).chain(4, 7, 8).chain(8, 9).in
	l := Arrange(in)
	axis := box(t, l, 1).centreX()
	for _, id := range []int64{2, 3, 4, 6, 8, 9} {
		if x := box(t, l, id).centreX(); x != axis {
			t.Errorf("card %d is at %v, its chain at %v", id, x, axis)
		}
	}
	if left, right := axis-box(t, l, 5).centreX(), box(t, l, 7).centreX()-axis; left != right || left != 248 {
		t.Errorf("the fan reaches %v to the left and %v to the right, want 248", left, right)
	}
}

func TestTreesAndPhasesHaveNoCrossings(t *testing.T) {
	for _, name := range []string{"tree", "phases50", "phases500", "pipelines40", "review", "skips", "fan20"} {
		if n := crossingsOf(gallery()[name]); n != 0 {
			t.Errorf("%s: %d crossings", name, n)
		}
	}
}

func TestCrossingsAreCountedRight(t *testing.T) {
	for seed := range seeds(t, 20) {
		a := newArrangement(newNet(random(40, 12, seed)), nil)
		a.layPart(&a.parts[0])
		s := a.parts[0].sheet
		slow := 0
		for l := range s.layers {
			var segments [][2]int32
			for _, i := range s.layers[l] {
				for _, j := range s.below.of(i) {
					segments = append(segments, [2]int32{s.pos[i], s.pos[j]})
				}
			}
			for k, p := range segments {
				for _, q := range segments[k+1:] {
					if (p[0]-q[0])*(p[1]-q[1]) < 0 {
						slow++
					}
				}
			}
		}
		w := &sweeper{s: s, tree: make([]int32, len(s.items)+1)}
		if got := w.crossings(); got != slow {
			t.Fatalf("seed %d: counted %d crossings, want %d", seed, got, slow)
		}
	}
}

func TestBadInputIsDrawnAsFarAsItMakesSense(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name    string
		in      Input
		boxes   int
		edges   int
		ignored []Edge
	}{
		{"nothing", Input{}, 0, 0, nil},
		{"unknown ends and self-loops", Input{Nodes: []Node{{1, 9, 9}, {2, 9, 9}}, Edges: []Edge{{7, 1}, {1, 1}, {1, 2}, {2, 8}}},
			2, 1, []Edge{{1, 1}, {2, 8}, {7, 1}}},
		{"a repeated edge", Input{Nodes: []Node{{1, 9, 9}, {2, 9, 9}}, Edges: []Edge{{1, 2}, {1, 2}}}, 2, 1, nil},
		{"a repeated node", Input{Nodes: []Node{{1, 9, 9}, {1, 5, 5}}}, 1, 0, nil},
		{"a cycle", newSketch(3).chain(1, 2, 3, 1).in, 3, 2, []Edge{{3, 1}}},
		{"a cycle behind a root", newSketch(4).chain(4, 2, 3, 1, 2).in, 4, 3, []Edge{{3, 1}}},
		{"two nodes that want each other", newSketch(2).chain(1, 2, 1).in, 2, 1, []Edge{{2, 1}}},
		{"ties with strangers", newSketch(2).tie(1, 99).tie(1).tie().tie(1, 1).in, 2, 0, nil},
		{"senseless sizes", Input{Nodes: []Node{{1, nan, inf}, {2, -5, 0}, {3, 1e300, -inf}}, Edges: []Edge{{1, 2}, {2, 3}}}, 3, 2, nil},
		{"senseless options", Input{Nodes: newSketch(3).in.Nodes, Edges: []Edge{{1, 2}},
			Options: Options{GapX: nan, GapY: inf, Stagger: -inf, Aspect: 1e-300}}, 3, 1, nil},
		{"ids at the ends of the range", Input{Nodes: []Node{{math.MinInt64, 9, 9}, {math.MaxInt64, 9, 9}},
			Edges: []Edge{{math.MaxInt64, math.MinInt64}}}, 2, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := Arrange(c.in)
			check(t, c.in, l)
			if len(l.Boxes) != c.boxes || len(l.Edges) != c.edges {
				t.Errorf("%d boxes and %d edges, want %d and %d", len(l.Boxes), len(l.Edges), c.boxes, c.edges)
			}
			if diff := gocmp.Diff(c.ignored, l.Ignored); diff != "" {
				t.Errorf("ignored (-want +got):\n%s", diff)
			}
			if !(l.Width >= 0 && l.Width < 1e6 && l.Height >= 0 && l.Height < 1e6) {
				t.Errorf("page of %v x %v", l.Width, l.Height)
			}
		})
	}
}

// A plan in which every step needs every earlier one would need millions of
// lanes.
func TestADensePlanUsesTheBus(t *testing.T) {
	s := newSketch(90)
	for to := int64(2); to <= 90; to++ {
		for from := int64(1); from < to; from++ {
			s.edge(from, to)
		}
	}
	l := Arrange(s.in)
	if len(l.Edges) != 90*89/2 || len(l.Boxes) != 90 {
		t.Fatalf("%d boxes, %d edges", len(l.Boxes), len(l.Edges))
	}
	lanes := 0
	for _, p := range l.Edges {
		lanes += len(p.Lanes)
	}
	if lanes > 10_000+6*90 || lanes < 1000 {
		t.Errorf("%d lanes", lanes)
	}
	checkBoxes(t, l)
	for _, p := range l.Edges[:300] {
		for _, q := range trace(t, p.D) {
			checkPoint(t, l, p, q)
		}
	}
}

func TestWideLayersAreWrapped(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Input
		most float64 // width over height
	}{
		{"roots without edges", newSketch(300).in, 2.5},
		{"fan-out and fan-in", fan(600), 2.5},
		{"short pipelines", pipelines(120, 3), 2.5},
		{"mixed parents", mixed(300), 4},
		{"a file for all", newSketch(100).tie(ids(1, 100)...).in, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := Arrange(c.in)
			check(t, c.in, l)
			if l.Width > c.most*l.Height || l.Height > c.most*l.Width {
				t.Errorf("the page is %v x %v", l.Width, l.Height)
			}
		})
	}
}

func ids(from, to int64) []int64 {
	var out []int64
	for id := from; id <= to; id++ {
		out = append(out, id)
	}
	return out
}

// mixed is two wide layers, the lower with random parents in the upper.
func mixed(nodes int) Input {
	rng := rand.New(rand.NewPCG(1, 2))
	s := newSketch(nodes)
	half := int64(nodes / 2)
	for id := half + 1; id <= int64(nodes); id++ {
		s.edge(1+rng.Int64N(half), id)
		s.edge(1+rng.Int64N(half), id)
	}
	return s.in
}

func TestAFanOfSixteenIsOneRowAndOfSeventeenTwo(t *testing.T) {
	rows := func(width int) int {
		ys := make(map[float64]bool)
		for _, b := range Arrange(fan(width)).Boxes[1 : width+1] {
			ys[b.Y] = true
		}
		return len(ys)
	}
	if rows(16) != 1 || rows(17) != 2 {
		t.Errorf("16 cards in %d rows, 17 in %d; want 1 and 2", rows(16), rows(17))
	}
}

func TestWrappedCardsReadLikeText(t *testing.T) {
	l := Arrange(fan(40))
	for id := int64(3); id <= 41; id++ {
		a, b := box(t, l, id-1), box(t, l, id)
		if !(b.Y == a.Y && b.X > a.X) && !(b.Y > a.bottom() && b.X < a.X) {
			t.Errorf("card %d at %v,%v does not follow %d at %v,%v", id, b.X, b.Y, id-1, a.X, a.Y)
		}
	}
}

// Work stays bounded whatever the plan looks like: none of these may hang.
func TestExtremePlansAreDrawn(t *testing.T) {
	chain := newSketch(1000)
	for id := int64(2); id <= 1000; id++ {
		chain.edge(id-1, id)
		chain.edge(1, id)
	}
	for name, in := range map[string]Input{
		"a long chain with long edges": chain.in,
		"two wide layers":              mixed(2000),
		"one file for all":             newSketch(2000).tie(ids(1, 2000)...).in,
	} {
		t.Run(name, func(t *testing.T) { checkBoxes(t, Arrange(in)) })
	}
}
