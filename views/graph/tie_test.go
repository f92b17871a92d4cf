package graph

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func tiesOf(l *Layout) [][2]int64 {
	var out [][2]int64
	for _, p := range l.Ties {
		out = append(out, [2]int64{p.From, p.To})
	}
	return out
}

func TestTies(t *testing.T) {
	fan := func() *sketch {
		s := newSketch(7)
		for id := int64(2); id <= 6; id++ {
			s.chain(1, id, 7)
		}
		return s
	}
	for _, c := range []struct {
		name  string
		in    Input
		ties  [][2]int64
		drops map[int64]float64 // below the top of the layer
	}{
		{"neighbours hang a step lower each", fan().tie(2, 3, 4).in,
			[][2]int64{{2, 3}, {3, 4}}, map[int64]float64{2: 0, 3: 16, 4: 32, 5: 0, 6: 0}},
		{"who takes turns stands together", fan().tie(2, 6).in,
			[][2]int64{{2, 6}}, map[int64]float64{2: 0, 6: 16, 3: 0, 4: 0, 5: 0}},
		{"two groups do not add up", fan().tie(2, 3).tie(4, 5).in,
			[][2]int64{{2, 3}, {4, 5}}, map[int64]float64{2: 0, 3: 16, 4: 0, 5: 16, 6: 0}},
		{"groups that share a card do", fan().tie(2, 3).tie(3, 4).in,
			[][2]int64{{2, 3}, {3, 4}}, map[int64]float64{2: 0, 3: 16, 4: 32}},
		{"two shared files are one connector", fan().tie(2, 3).tie(3, 2).tie(2, 3, 4).in,
			[][2]int64{{2, 3}, {3, 4}}, map[int64]float64{2: 0, 3: 16, 4: 32}},
		{"who depends on the other is not tied", newSketch(3).chain(1, 2, 3).tie(1, 2, 3).in,
			nil, map[int64]float64{1: 0, 2: 0, 3: 0}},
		{"next layers are tied when near", newSketch(4).chain(1, 2).chain(3, 4).tie(1, 4).in,
			[][2]int64{{1, 4}}, map[int64]float64{1: 0, 4: 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := Arrange(c.in)
			check(t, c.in, l)
			if diff := gocmp.Diff(c.ties, tiesOf(l)); diff != "" {
				t.Errorf("connectors (-want +got):\n%s", diff)
			}
			for id, want := range c.drops {
				b := box(t, l, id)
				top := b.Y
				for _, o := range l.Boxes {
					if o.Layer == b.Layer {
						top = min(top, o.Y)
					}
				}
				if got := b.Y - top; got != want {
					t.Errorf("card %d hangs %v below its layer, want %v", id, got, want)
				}
			}
		})
	}
}

func TestManyTiesStepLess(t *testing.T) {
	l := Arrange(newSketch(12).tie(ids(1, 12)...).in)
	for id := int64(2); id <= 12; id++ {
		if a, b := box(t, l, id-1), box(t, l, id); b.Y <= a.Y || b.Y >= a.bottom() {
			t.Errorf("card %d at y %v after %v", id, b.Y, a.Y)
		}
	}
	if low := box(t, l, 12).Y; low > 92 {
		t.Errorf("the last hangs %v lower, more than the height of a card", low)
	}
}

func TestConnectorsOfAWrappedGroupFormAChain(t *testing.T) {
	in := newSketch(30).tie(ids(1, 30)...).in
	l := Arrange(in)
	check(t, in, l)
	var want [][2]int64
	for id := int64(1); id < 30; id++ {
		want = append(want, [2]int64{id, id + 1})
	}
	if diff := gocmp.Diff(want, tiesOf(l)); diff != "" {
		t.Errorf("connectors (-want +got):\n%s", diff)
	}
}
