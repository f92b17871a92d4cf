package graph

import (
	"math/rand/v2"
	"testing"
)

func TestArrowKeys(t *testing.T) {
	web := newSketch(5).chain(1, 2, 5).chain(1, 3, 5).chain(1, 4, 5).in
	l := Arrange(web)
	for _, c := range []struct {
		from int64
		d    Direction
		want int64 // 0 for none
	}{
		{1, Down, 3}, {2, Down, 5}, {5, Up, 3}, {3, Up, 1}, {4, Up, 1},
		{2, Right, 3}, {3, Right, 4}, {4, Left, 3}, {3, Left, 2}, {2, Left, 0}, {1, Up, 0}, {5, Down, 0},
		{99, Up, 0},
	} {
		got, ok := l.Neighbour(c.from, c.d)
		if got != c.want || ok != (c.want != 0) {
			t.Errorf("from %d in direction %d: %d, %v; want %d", c.from, c.d, got, ok, c.want)
		}
	}
}

func TestArrowKeysInAGrid(t *testing.T) {
	l := Arrange(newSketch(36).in)
	cols := int64(1)
	for box(t, l, cols+1).Y == box(t, l, 1).Y {
		cols++
	}
	for id := int64(1); id <= 36; id++ {
		for d, want := range map[Direction]int64{Left: id - 1, Right: id + 1, Up: id - cols, Down: id + cols} {
			switch {
			case want < 1 || want > 36,
				d == Left && id%cols == 1, d == Right && id%cols == 0:
				continue // the edge of the grid
			}
			if got, _ := l.Neighbour(id, d); got != want {
				t.Errorf("from %d in direction %d: %d, want %d (%d columns)", id, d, got, want, cols)
			}
		}
	}
}

// Every card can be reached from every other with the arrow keys.
func TestArrowKeysReachEveryCard(t *testing.T) {
	for seed := range seeds(t, 30) {
		in := tangle(rand.New(rand.NewPCG(seed, 12)), 40)
		l := Arrange(in)
		seen := map[int64]bool{1: true}
		queue := []int64{1}
		for k := 0; k < len(queue); k++ {
			for d := Up; d <= Right; d++ {
				if to, ok := l.Neighbour(queue[k], d); ok && !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		if len(seen) != len(l.Boxes) {
			t.Fatalf("seed %d: %d of %d cards reached from the first", seed, len(seen), len(l.Boxes))
		}
	}
}

// The index must find what a look at all boxes finds.
func TestNearestAgreesWithASlowSearch(t *testing.T) {
	for seed := range seeds(t, 20) {
		l := Arrange(tangle(rand.New(rand.NewPCG(seed, 13)), 60))
		for i := range l.Boxes {
			for d := Up; d <= Right; d++ {
				best := int32(-1)
				for k := range l.Boxes {
					s := score(l.Boxes[i], l.Boxes[k], d)
					if s < 1e300 && (best < 0 || s < score(l.Boxes[i], l.Boxes[best], d)) {
						best = int32(k)
					}
				}
				if got := l.index.nearest(int32(i), d); got != best {
					t.Fatalf("seed %d: from %d in direction %d: %d, want %d", seed, i, d, got, best)
				}
			}
		}
	}
}
