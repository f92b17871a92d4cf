package graph

// bundle marks runs of lanes that come from one item or lead to one item. They
// need no room between them: on each other they read as one line that forks.
func (s *sheet) bundle() {
	next := int32(0)
	for _, layer := range s.layers {
		for p := 0; p < len(layer); {
			run := max(s.run(layer[p:], func(l link) int32 { return l.from }),
				s.run(layer[p:], func(l link) int32 { return l.to }))
			for _, i := range layer[p : p+run] {
				s.items[i].bundle = next
			}
			next++
			p += run
		}
	}
}

// run is how many of the first items are lanes with the same end.
func (s *sheet) run(layer []int32, end func(link) int32) int {
	first := s.items[layer[0]]
	if first.kind != lane {
		return 1
	}
	want := end(s.links[first.link])
	n := 1
	for want >= 0 && n < len(layer) {
		if it := s.items[layer[n]]; it.kind != lane || end(s.links[it.link]) != want {
			break
		}
		n++
	}
	return n
}

// apart is the least distance between the centres of neighbours.
func (s *sheet) apart(i, j int32) float64 {
	a, b := &s.items[i], &s.items[j]
	gap := s.a.n.opt.GapX
	switch {
	case a.kind == lane && b.kind == lane:
		if a.bundle == b.bundle {
			return 0
		}
		gap *= 0.5
	case a.kind == lane || b.kind == lane:
		gap *= 0.6
	case a.kind == grid || b.kind == grid:
		gap *= 1.5
	}
	return (a.w+b.w)/2 + gap
}
