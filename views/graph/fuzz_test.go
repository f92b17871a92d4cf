package graph

import "testing"

// FuzzArrange reads bytes as a small plan: each byte pair is an edge, a tie, or
// an odd size. Ids that do not exist, loops and cycles are all in reach.
func FuzzArrange(f *testing.F) {
	f.Add(uint8(3), []byte{1, 2, 2, 3})
	f.Add(uint8(3), []byte{1, 2, 2, 3, 3, 1})
	f.Add(uint8(40), []byte{200, 3, 201, 4, 1, 9})
	f.Add(uint8(0), []byte{})
	f.Fuzz(func(t *testing.T, nodes uint8, raw []byte) {
		s := newSketch(int(nodes % 80))
		for ; len(raw) >= 2; raw = raw[2:] {
			a, b := int64(raw[0]), int64(raw[1])
			switch {
			case a < 100:
				s.edge(a, b%100)
			case a < 200:
				s.tie(a-100, b%100, b/2)
			case len(s.in.Nodes) > 0:
				n := &s.in.Nodes[int(a)%len(s.in.Nodes)]
				n.Width, n.Height = float64(b)*1.7-20, float64(a-150)*1.3
			}
		}
		l := Arrange(s.in)
		check(t, s.in, l)
		s.in.Previous = l
		check(t, s.in, Arrange(s.in))
	})
}
