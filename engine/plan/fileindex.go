package plan

import (
	"strings"

	"github.com/tidwall/btree"
)

// fileIndex finds the nodes whose files conflict with given ones, in time that
// depends on the depth of the paths and not on how many nodes there are. It
// keeps a tree of path segments, and in each segment the claims made there and
// the claims made there or below.
type fileIndex struct{ top segment }

type segment struct {
	kids  map[string]*segment
	here  claims
	below claims // here, or further down
}

// claims counts, by role, the claims of each node. A node can claim several
// paths below one segment, hence counts.
type claims [numRoles]btree.Map[uint64, int]

// role is why a node is in the index.
type role int

const (
	roleRunning role = iota // it holds its files
	roleReady               // it waits for its turn, or is free to start
	roleFree                // it is ready and nothing holds it back
	numRoles
)

// rank packs a ref into one number of the same order.
func (r Ref) rank() uint64 { return uint64(r.Plan)<<32 | uint64(uint32(r.Node)) }

func refOf(rank uint64) Ref { return Ref{PlanID(rank >> 32), NodeID(uint32(rank))} }

// add puts the claims of a node in (delta 1) or takes them out (delta -1).
func (x *fileIndex) add(r Ref, keys []string, as role, delta int) {
	for _, key := range keys {
		x.top.add(key, r.rank(), as, delta)
	}
}

func (g *segment) add(key string, rank uint64, as role, delta int) {
	seg, rest, more := strings.Cut(key, "/")
	if g.kids == nil {
		g.kids = map[string]*segment{}
	}
	kid := g.kids[seg]
	if kid == nil {
		kid = &segment{}
		g.kids[seg] = kid
	}
	kid.below.add(as, rank, delta)
	if more {
		kid.add(rest, rank, as, delta)
	} else {
		kid.here.add(as, rank, delta)
	}
	if kid.below.none() {
		delete(g.kids, seg)
	}
}

func (c *claims) add(as role, rank uint64, delta int) {
	n, _ := c[as].Get(rank)
	if n += delta; n > 0 {
		c[as].Set(rank, n)
	} else {
		c[as].Delete(rank)
	}
}

func (c *claims) none() bool {
	for i := range c {
		if c[i].Len() > 0 {
			return false
		}
	}
	return true
}

// visit calls f with every set of claims that conflicts with the keys: those on
// the folders above a key, and those at a key or below it.
func (x *fileIndex) visit(keys []string, as role, f func(*btree.Map[uint64, int])) {
	for _, key := range keys {
		g, rest, more := &x.top, key, true
		for more && g != nil {
			var seg string
			seg, rest, more = strings.Cut(rest, "/")
			if g = g.kids[seg]; g == nil {
				break
			}
			if more {
				f(&g.here[as])
			} else {
				f(&g.below[as])
			}
		}
	}
}

// first returns the lowest conflicting node of a role other than r itself.
func (x *fileIndex) first(r Ref, keys []string, as role) (Ref, bool) {
	best := ^uint64(0)
	x.visit(keys, as, func(m *btree.Map[uint64, int]) {
		m.Scan(func(k uint64, _ int) bool {
			if k == r.rank() {
				return true
			}
			best = min(best, k)
			return false
		})
	})
	return refOf(best), best != ^uint64(0)
}

// lastBelow returns the highest conflicting node of a role that is lower than r.
func (x *fileIndex) lastBelow(r Ref, keys []string, as role) (Ref, bool) {
	best := uint64(0)
	if r.rank() == 0 {
		return Ref{}, false
	}
	x.visit(keys, as, func(m *btree.Map[uint64, int]) {
		m.Descend(r.rank()-1, func(k uint64, _ int) bool {
			best = max(best, k)
			return false
		})
	})
	return refOf(best), best != 0
}

// above returns the conflicting nodes of a role that are higher than a rank.
func (x *fileIndex) above(rank uint64, keys []string, as role) []Ref {
	var out []Ref
	x.visit(keys, as, func(m *btree.Map[uint64, int]) {
		m.Ascend(rank+1, func(k uint64, _ int) bool {
			out = append(out, refOf(k))
			return true
		})
	})
	return out
}
