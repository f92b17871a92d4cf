package graph

import "math"

// relaxer pulls the items of a sheet to what they are joined to, without
// changing their order: layer by layer, down and up, each layer solved exactly.
// At the end lines are pulled straight: chains in which everything between the
// ends has one item above and one below, most of all long edges.
type relaxer struct {
	s     *sheet
	x     []float64 // of each item
	gap   []float64 // of each item, the least distance from its left neighbour
	line  []int32   // of each item, the first item of its line
	mean  []float64 // of each line, where it is
	size  []float64 // of each line, how many items
	stiff float64   // how firmly items want to be on their line

	room  []float64 // of the present layer, the least distance from its first item
	pools []pool
	piece []int32
}

// pool is a run of neighbours in a layer that push each other and move as one.
type pool struct {
	at, firm float64
	count    int
}

func newRelaxer(s *sheet) *relaxer {
	n := len(s.items)
	r := &relaxer{
		s: s, x: make([]float64, n), gap: make([]float64, n),
		line: make([]int32, n), mean: make([]float64, n), size: make([]float64, n),
	}
	for _, layer := range s.layers {
		r.spread(layer)
		for _, i := range layer {
			r.line[i] = i
			if up := s.above.of(i); len(up) == 1 && len(s.below.of(up[0])) == 1 {
				r.line[i] = r.line[up[0]]
			}
			r.size[r.line[i]]++
		}
	}
	return r
}

// spread sets a layer as tightly as it goes, around x = 0.
func (r *relaxer) spread(layer []int32) {
	x := 0.0
	for p, i := range layer {
		if p > 0 {
			r.gap[i] = r.s.apart(layer[p-1], i)
			x += r.gap[i]
		}
		r.x[i] = x
	}
	for _, i := range layer {
		r.x[i] -= x / 2
	}
}

func (r *relaxer) run() {
	for range 3 {
		r.sweep(true, true, false)
		r.sweep(false, false, true)
	}
	for range 4 {
		r.sweep(true, true, true)
		r.sweep(false, true, true)
	}
	rounds, step := 20, 400.0
	if len(r.s.items) > 1000 {
		rounds, step = 6, 32
	}
	for k := range rounds {
		r.stiff += step
		r.measure()
		r.sweep(k%2 == 0, true, true)
	}
}

func (r *relaxer) sweep(down, above, below bool) {
	last := len(r.s.layers) - 1
	for l := range r.s.layers {
		if down {
			r.solve(l, above, below)
		} else {
			r.solve(last-l, above, below)
		}
	}
}

// measure finds where the lines are.
func (r *relaxer) measure() {
	clear(r.mean)
	for i, k := range r.line {
		r.mean[k] += r.x[i] / r.size[k]
	}
}

// solve gives the items of a layer the places closest to the wanted ones, in
// the sense of least squares, that leave enough room between neighbours: who
// would stand too close is pooled (pool adjacent violators).
func (r *relaxer) solve(l int, above, below bool) {
	layer := r.s.layers[l]
	r.room, r.pools = r.room[:0], r.pools[:0]
	room := 0.0
	for _, i := range layer {
		room += r.gap[i]
		r.room = append(r.room, room)
		at, firm := r.wish(i, above, below)
		r.push(pool{at - room, firm, 1})
	}
	p := 0
	for _, q := range r.pools {
		for range q.count {
			r.x[layer[p]] = q.at + r.room[p]
			p++
		}
	}
}

func (r *relaxer) push(next pool) {
	for n := len(r.pools); n > 0 && r.pools[n-1].at > next.at; n-- {
		last := r.pools[n-1]
		firm := last.firm + next.firm
		next = pool{(last.at*last.firm + next.at*next.firm) / firm, firm, last.count + next.count}
		r.pools = r.pools[:n-1]
	}
	r.pools = append(r.pools, next)
}

// wish is where an item would like to be and how firmly.
func (r *relaxer) wish(i int32, above, below bool) (at, firm float64) {
	if above {
		at, firm = r.pull(i, r.s.above.of(i), at, firm)
	}
	if below {
		at, firm = r.pull(i, r.s.below.of(i), at, firm)
	}
	if k := r.line[i]; r.stiff > 0 && r.size[k] > 1 {
		at += r.stiff * r.mean[k]
		firm += r.stiff
	}
	if firm == 0 {
		return r.x[i], 0.1
	}
	return at / firm, firm
}

func (r *relaxer) pull(i int32, side []int32, at, firm float64) (float64, float64) {
	for _, p := range side {
		w := r.s.weight(i, p)
		at += w * r.x[p]
		firm += w
	}
	return at, firm
}

// weight is how much it matters that two joined items are above each other:
// much inside a long edge, little where it begins and ends.
func (s *sheet) weight(i, j int32) float64 {
	switch a, b := s.items[i].kind == lane, s.items[j].kind == lane; {
	case a && b:
		return 8
	case a || b:
		return 1
	}
	return 3
}

// settle rounds to whole pixels, straightens the lines, and tells the sheet.
func (r *relaxer) settle() {
	for i := range r.x {
		r.x[i] = math.Round(r.x[i])
	}
	for range 3 {
		r.straighten()
	}
	for i, x := range r.x {
		r.s.items[i].x = x
	}
}

// straighten sets lines straight as far as their neighbours leave room. Where
// they do not, a line gets as few bends as possible.
func (r *relaxer) straighten() {
	for _, layer := range r.s.layers {
		for _, i := range layer {
			if r.line[i] == i && r.size[i] > 1 {
				r.straightenLine(i)
			}
		}
	}
}

func (r *relaxer) straightenLine(first int32) {
	s := r.s
	lo, hi := math.Inf(-1), math.Inf(1)
	r.piece = r.piece[:0]
	for i := first; ; {
		a, b := r.slack(i)
		if max(lo, a) > min(hi, b) {
			r.setPiece(lo, hi)
			lo, hi = math.Inf(-1), math.Inf(1)
		}
		lo, hi = max(lo, a), min(hi, b)
		r.piece = append(r.piece, i)
		below := s.below.of(i)
		if len(below) != 1 || r.line[below[0]] != first {
			break
		}
		i = below[0]
	}
	r.setPiece(lo, hi)
}

// setPiece moves a piece of a line to its mean, within bounds.
func (r *relaxer) setPiece(lo, hi float64) {
	sum := 0.0
	for _, i := range r.piece {
		sum += r.x[i]
	}
	x := min(max(math.Round(sum/float64(len(r.piece))), lo), hi)
	for _, i := range r.piece {
		r.x[i] = x
	}
	r.piece = r.piece[:0]
}

// slack is the whole pixels between which an item can be without pushing.
func (r *relaxer) slack(i int32) (lo, hi float64) {
	layer := r.s.layers[r.s.items[i].layer]
	lo, hi = math.Inf(-1), math.Inf(1)
	p := int(r.s.pos[i])
	if p > 0 {
		lo = math.Ceil(r.x[layer[p-1]] + r.gap[i])
	}
	if p+1 < len(layer) {
		hi = math.Floor(r.x[layer[p+1]] - r.gap[layer[p+1]])
	}
	return lo, hi
}
