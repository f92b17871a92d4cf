package graph

// ranker gives every node its layer.
//
// Whatever hangs on by one edge is taken off first, again and again, and put
// right beside its neighbour at the end. That is as tight as can be, and a leaf
// added later moves nobody. The core that remains gets the longest path from
// its roots and is then pulled tight.
type ranker struct {
	n     *net
	rank  []int32
	off   []bool  // taken off
	order []int32 // the core, every node after its predecessors
	hung  []int32 // arcs of what was taken off, in that order
}

// ranks returns a layer for each node, every connected part counted from 0.
func ranks(n *net) []int32 {
	r := &ranker{n: n, rank: make([]int32, n.size()), off: make([]bool, n.size())}
	r.strip()
	r.longestPaths()
	for range 8 {
		if moved := r.pullNodes(); !r.pullClusters() && !moved {
			break
		}
	}
	r.hangBack()
	r.fromZero()
	return r.rank
}

func (r *ranker) strip() {
	n := r.n
	degree := make([]int32, n.size())
	var queue []int32
	for v := range degree {
		degree[v] = int32(len(n.out.of(int32(v))) + len(n.in.of(int32(v))))
		if degree[v] == 1 {
			queue = append(queue, int32(v))
		}
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		if degree[v] != 1 {
			continue // its only neighbour went first
		}
		r.off[v] = true
		e, other := r.lastArc(v)
		r.hung = append(r.hung, e)
		if degree[other]--; degree[other] == 1 {
			queue = append(queue, other)
		}
	}
}

// lastArc finds the one arc of v whose other end is still there.
func (r *ranker) lastArc(v int32) (e, other int32) {
	for _, e := range r.n.out.of(v) {
		if to := r.n.arcs[e].to; !r.off[to] {
			return e, to
		}
	}
	for _, e := range r.n.in.of(v) {
		if from := r.n.arcs[e].from; !r.off[from] {
			return e, from
		}
	}
	return -1, -1
}

// core reports whether both ends of an arc are in the core.
func (r *ranker) core(a arc) bool { return !r.off[a.from] && !r.off[a.to] }

func (r *ranker) longestPaths() {
	n := r.n
	waits := make([]int32, n.size())
	for _, a := range n.arcs {
		if r.core(a) {
			waits[a.to]++
		}
	}
	for v := range waits {
		if waits[v] == 0 && !r.off[v] {
			r.order = append(r.order, int32(v))
		}
	}
	for i := 0; i < len(r.order); i++ {
		v := r.order[i]
		for _, e := range n.out.of(v) {
			a := n.arcs[e]
			if !r.core(a) {
				continue
			}
			r.rank[a.to] = max(r.rank[a.to], r.rank[v]+1)
			if waits[a.to]--; waits[a.to] == 0 {
				r.order = append(r.order, a.to)
			}
		}
	}
}

// pullNodes lets nodes sink that have more edges down than up, then lets those
// rise that have more up than down: both make the edges shorter in sum.
func (r *ranker) pullNodes() (moved bool) {
	for i := len(r.order) - 1; i >= 0; i-- {
		v := r.order[i]
		in, out, _, low := r.bounds(v)
		if out > in && low > r.rank[v] {
			r.rank[v], moved = low, true
		}
	}
	for _, v := range r.order {
		in, out, high, _ := r.bounds(v)
		if in > out && high < r.rank[v] {
			r.rank[v], moved = high, true
		}
	}
	return moved
}

// bounds counts the core edges of v and says how far up and down it may go.
// Without an edge on a side it stays where it is.
func (r *ranker) bounds(v int32) (in, out int, high, low int32) {
	high, low = r.rank[v], r.rank[v]
	for _, e := range r.n.in.of(v) {
		if from := r.n.arcs[e].from; !r.off[from] {
			if at := r.rank[from] + 1; in == 0 || at > high {
				high = at
			}
			in++
		}
	}
	for _, e := range r.n.out.of(v) {
		if to := r.n.arcs[e].to; !r.off[to] {
			if at := r.rank[to] - 1; out == 0 || at < low {
				low = at
			}
			out++
		}
	}
	return in, out, high, low
}

// pullClusters lets whole clusters sink that are held together by edges of
// length one and have more long edges down than up.
func (r *ranker) pullClusters() (moved bool) {
	c := newClusters(r.n.size())
	for _, a := range r.n.arcs {
		if r.core(a) && r.rank[a.to]-r.rank[a.from] == 1 {
			c.join(a.from, a.to)
		}
	}
	gain := make([]int32, r.n.size())
	slack := make([]int32, r.n.size())
	for _, a := range r.n.arcs {
		from, to := c.root(a.from), c.root(a.to)
		if from == to || !r.core(a) {
			continue
		}
		gain[from]++
		gain[to]--
		if s := r.rank[a.to] - r.rank[a.from] - 1; slack[from] == 0 || s < slack[from] {
			slack[from] = s
		}
	}
	for _, v := range r.order {
		if k := c.root(v); gain[k] > 0 && slack[k] > 0 {
			r.rank[v] += slack[k]
			moved = true
		}
	}
	return moved
}

func (r *ranker) hangBack() {
	for i := len(r.hung) - 1; i >= 0; i-- {
		a := r.n.arcs[r.hung[i]]
		if r.off[a.from] {
			r.rank[a.from] = r.rank[a.to] - 1
		} else {
			r.rank[a.to] = r.rank[a.from] + 1
		}
		r.off[a.from], r.off[a.to] = false, false
	}
}

func (r *ranker) fromZero() {
	c := newClusters(r.n.size())
	for _, a := range r.n.arcs {
		c.join(a.from, a.to)
	}
	lowest := make([]int32, r.n.size())
	for v := range lowest {
		if k := c.root(int32(v)); int(k) == v {
			lowest[k] = r.rank[v]
		} else {
			lowest[k] = min(lowest[k], r.rank[v])
		}
	}
	for v := range r.rank {
		r.rank[v] -= lowest[c.root(int32(v))]
	}
}
