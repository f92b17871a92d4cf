package graph

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// orders lists the cards of each layer of each part from left to right.
func orders(in Input, l *Layout) [][]int64 {
	a := newArrangement(newNet(in), nil)
	layers := make(map[[2]int][]Box)
	for i, b := range l.Boxes {
		key := [2]int{int(a.partOf[i]), b.Layer}
		layers[key] = append(layers[key], b)
	}
	var out [][]int64
	for _, boxes := range layers {
		slices.SortFunc(boxes, func(a, b Box) int { return cmp.Compare(a.X, b.X) })
		var ids []int64
		for _, b := range boxes {
			ids = append(ids, b.ID)
		}
		out = append(out, ids)
	}
	slices.SortFunc(out, func(a, b []int64) int { return cmp.Compare(slices.Min(a), slices.Min(b)) })
	return out
}

func without(order [][]int64, id int64) [][]int64 {
	var out [][]int64
	for _, ids := range order {
		if ids = slices.DeleteFunc(slices.Clone(ids), func(v int64) bool { return v == id }); len(ids) > 0 {
			out = append(out, ids)
		}
	}
	return out
}

func TestALeafMovesNobodyPastAnother(t *testing.T) {
	for seed := range seeds(t, 30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		in := random(3+rng.IntN(40), 8, seed)
		before := Arrange(in)
		id := int64(len(in.Nodes) + 1)
		in.Nodes = append(slices.Clone(in.Nodes), Node{id, 220, 92})
		in.Edges = append(slices.Clone(in.Edges), Edge{1 + rng.Int64N(id-1), id})
		in.Previous = before
		after := Arrange(in)
		check(t, in, after)
		if diff := gocmp.Diff(orders(in, before), without(orders(in, after), id)); diff != "" {
			t.Errorf("seed %d: old cards changed their order (-before +after):\n%s", seed, diff)
		}
	}
}

func TestTheSamePlanAgainGivesTheSamePicture(t *testing.T) {
	for seed := range seeds(t, 25) {
		in := tangle(rand.New(rand.NewPCG(seed, 4)), 50)
		first := Arrange(in)
		in.Previous = first
		if diff := gocmp.Diff(first, Arrange(in), ignoreIndex); diff != "" {
			t.Fatalf("seed %d: a repetition changes the picture:\n%s", seed, diff)
		}
	}
}

func TestAStoredPreviousPictureServesAsWell(t *testing.T) {
	in := random(40, 8, 5)
	raw, err := json.Marshal(Arrange(in))
	if err != nil {
		t.Fatal(err)
	}
	stored := new(Layout)
	if err := json.Unmarshal(raw, stored); err != nil {
		t.Fatal(err)
	}
	in.Nodes = append(in.Nodes, Node{41, 220, 92})
	in.Edges = append(in.Edges, Edge{20, 41})
	fresh := in
	fresh.Previous = Arrange(random(40, 8, 5))
	in.Previous = stored
	if diff := gocmp.Diff(Arrange(fresh), Arrange(in), ignoreIndex); diff != "" {
		t.Errorf("stored and live previous pictures differ in effect:\n%s", diff)
	}
	if _, ok := stored.Neighbour(1, Down); ok {
		t.Error("a stored picture claims to know neighbours")
	}
}

func TestAPlanBuiltStepByStepStaysReadable(t *testing.T) {
	full := random(60, 10, 11)
	var prev *Layout
	for n := 1; n <= len(full.Nodes); n++ {
		in := Input{Nodes: full.Nodes[:n], Previous: prev}
		for _, e := range full.Edges {
			if e.From <= int64(n) && e.To <= int64(n) {
				in.Edges = append(in.Edges, e)
			}
		}
		prev = Arrange(in)
		check(t, in, prev)
	}
	built, fresh := crossingsOf(Input{Nodes: full.Nodes, Edges: full.Edges, Previous: prev}), crossingsOf(full)
	if built > 3*fresh+10 {
		t.Errorf("built step by step it has %d crossings, drawn at once %d", built, fresh)
	}
}

// crossingsOf counts the crossings of all sheets.
func crossingsOf(in Input) int {
	a := newArrangement(newNet(in), in.Previous)
	total := 0
	for i := range a.parts {
		a.layPart(&a.parts[i])
		if s := a.parts[i].sheet; s != nil {
			w := &sweeper{s: s, tree: make([]int32, len(s.items)+1)}
			total += w.crossings()
		}
	}
	return total
}

func TestAPreviousPictureOfAnotherPlanDoesNoHarm(t *testing.T) {
	prev := Arrange(random(40, 8, 1))
	prev.Boxes[3].X = math.NaN()
	prev.Edges[0].Lanes = []float64{math.Inf(1), math.NaN(), 3}
	for seed := range seeds(t, 20) {
		in := tangle(rand.New(rand.NewPCG(seed, 6)), 50)
		in.Previous = prev
		check(t, in, Arrange(in))
	}
}
