package views

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"sync"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views/graph"
)

// maxPictures is how many plans' pictures are remembered.
const maxPictures = 64

// Pictures remembers how plans were laid out: so a change of state costs no
// layout, and a change of shape moves as little as possible. It is safe for
// concurrent use.
type Pictures struct {
	seed maphash.Seed

	mu    sync.Mutex
	plans map[plan.PlanID]picture
	order []plan.PlanID // the longest unused first
}

type picture struct {
	key    uint64 // of what it shows
	layout *graph.Layout
}

// NewPictures returns a memory that is empty.
func NewPictures() *Pictures {
	return &Pictures{seed: maphash.MakeSeed(), plans: map[plan.PlanID]picture{}}
}

// Of returns the layout of a plan.
func (p *Pictures) Of(s *plan.Snapshot, id plan.PlanID) *graph.Layout {
	in := GraphInput(s, id, nil)
	key := p.keyOf(in)
	p.mu.Lock()
	known, ok := p.plans[id]
	p.mu.Unlock()
	if ok && known.key == key {
		return known.layout
	}
	in.Previous = known.layout
	fresh := picture{key, graph.Arrange(in)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plans[id] = fresh
	if !ok {
		p.order = append(p.order, id)
	}
	if len(p.order) > maxPictures {
		delete(p.plans, p.order[0])
		p.order = p.order[1:]
	}
	return fresh.layout
}

// keyOf tells inputs apart that would be laid out differently.
func (p *Pictures) keyOf(in graph.Input) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	var b []byte
	put := func(n int64) {
		b = binary.LittleEndian.AppendUint64(b[:0], uint64(n))
		h.Write(b)
	}
	for _, n := range in.Nodes {
		put(n.ID)
		put(int64(math.Round(n.Width)))
	}
	put(-1)
	for _, e := range in.Edges {
		put(e.From)
		put(e.To)
	}
	for _, tie := range in.Ties {
		put(-2)
		for _, id := range tie {
			put(id)
		}
	}
	return h.Sum64()
}
