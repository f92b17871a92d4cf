package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestTitlesWidenTheCardThenShrink(t *testing.T) {
	last := 0.0
	for _, c := range []struct {
		title string
		small bool
	}{{"Short", false}, {"A title that needs somewhat more room than that, twice", false}, {strings.Repeat("a long title ", 20), true}} {
		w, small := fit(c.title)
		if w < last || small != c.small {
			t.Errorf("%q: width %v after %v, small %v", c.title, w, last, small)
		}
		last = w
	}
	if narrow, _ := fit("parser"); narrow != cardWidths[0] {
		t.Errorf("a short title gets %v", narrow)
	}
	if wide, _ := fit(strings.Repeat("测", 30)); wide == cardWidths[0] {
		t.Error("wide characters are counted as narrow ones")
	}
	if w, _ := fit("e" + strings.Repeat("\u0301", 500)); w != cardWidths[0] {
		t.Error("marks that take no room are counted")
	}
}

func TestStepsThatTakeTurnsAreTied(t *testing.T) {
	got := ties(tree(nil), 1)
	if diff := cmp.Diff([][]int64{{2, 4}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	ordered := tree(func(n map[string]*plan.Node) { n["1.5"].Files = n["1.2"].Files; n["1.4"].Files = nil })
	if got := ties(ordered, 1); len(got) != 0 {
		t.Errorf("steps that depend on each other are tied: %v", got)
	}
}

func TestTheSamePlanGivesTheSameInput(t *testing.T) {
	a := GraphInput(tree(nil), 1, nil)
	b := GraphInput(tree(func(n map[string]*plan.Node) { n["1.2"].State = plan.Failed }), 1, nil)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("a state changes the picture (-running +failed):\n%s", diff)
	}
}

func TestEdgesSayWhatTheyCarry(t *testing.T) {
	g := planPage(tree(nil), Place{Plan: 1}).Graph
	got := map[string]string{}
	for _, e := range g.edges {
		got[e.id] = e.class
	}
	want := map[string]string{"e-1-1-2": "edge active", "e-1-1-3": "edge active", "e-1-2-5": "edge", "e-1-3-5": "edge"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCardsNameAnotherAgentOnly(t *testing.T) {
	s := tree(func(n map[string]*plan.Node) { n["1.4"].Profile = 2; n["1.5"].Profile = 1 })
	s.Plan(2).DefaultProfile = 2
	for ref, want := range map[plan.Ref]string{{Plan: 1, Node: 4}: "cheap own", {Plan: 1, Node: 2}: "", {Plan: 1, Node: 5}: "", {Plan: 2, Node: 1}: ""} {
		g := planPage(s, Place{Plan: ref.Plan}).Graph
		i := slices.IndexFunc(g.Cards, func(c *card) bool { return c.ref == ref })
		got := g.Cards[i].chip
		if g.Cards[i].own {
			got += " own"
		}
		if got != want {
			t.Errorf("%s has the chip %q, want %q", ref, got, want)
		}
	}
}

func TestPixels(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 12: "12", 12.34: "12.3", 12.96: "13", -96: "-96", -0.04: "0", -1.25: "-1.3"} {
		if got := pixels(f); got != want {
			t.Errorf("pixels(%v) = %s, want %s", f, got, want)
		}
	}
}

func TestOnlyTheCardThatChangedIsAnotherPiece(t *testing.T) {
	before := htmlOf(t, planPage(tree(nil), Place{Plan: 1}).Pieces())
	after := htmlOf(t, planPage(tree(func(n map[string]*plan.Node) { n["1.4"].State = plan.Done }), Place{Plan: 1}).Pieces())
	var changed []string
	for id := range after {
		if after[id] != before[id] {
			changed = append(changed, id)
		}
	}
	slices.Sort(changed)
	if diff := cmp.Diff([]string{"bar", "c-1-4"}, changed); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
