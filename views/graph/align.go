package graph

import "math"

// align gives the items their x: pulled to what they are joined to, then set
// straight, then moved to begin at 0.
func (s *sheet) align() {
	s.bundle()
	r := newRelaxer(s)
	r.run()
	r.settle()
	newSnapper(s).run()
	s.moveToZero()
}

// moveToZero lets the sheet begin at 0 and finds its width.
func (s *sheet) moveToZero() {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range s.items {
		low = min(low, s.items[i].x-s.items[i].w/2)
	}
	low = math.Floor(low) // centres stay whole pixels
	for i := range s.items {
		it := &s.items[i]
		it.x -= low
		high = max(high, it.x+it.w/2)
	}
	s.w = high
	for _, l := range s.links {
		if l.bus {
			s.busX = math.Round(high + s.a.n.opt.GapX)
			s.w = s.busX
		}
	}
}
