package plan

import (
	"maps"
	"slices"

	"github.com/tidwall/btree"
)

// displace takes the freedom of those that an entry now goes before: all when it
// runs, the higher ones when it waits.
func (b *Board) displace(t *tree, e *entry) {
	r := e.facts.Ref()
	from := r.rank()
	if e.holds {
		from = 0
	}
	for _, other := range t.index.above(from, e.facts.Keys, roleFree) {
		if o := b.nodes[other]; o != e && o.free {
			b.unfree(o)
			b.waitFor(o, r)
		}
	}
}

// settle makes a waiting entry free, or finds a witness of why it is not.
func (b *Board) settle(e *entry) {
	t, r := b.treeOf(e), e.facts.Ref()
	if w, ok := t.index.lastBelow(r, e.facts.Keys, roleReady); ok {
		b.waitFor(e, w)
	} else if w, ok := t.index.first(r, e.facts.Keys, roleRunning); ok {
		b.waitFor(e, w)
	} else {
		b.setFree(e)
	}
}

func (b *Board) waitFor(e *entry, witness Ref) {
	e.witness = witness
	e.waited.note(PhaseFiles, b.now)
	if b.waiters[witness] == nil {
		b.waiters[witness] = map[Ref]bool{}
	}
	b.waiters[witness][e.facts.Ref()] = true
}

func (b *Board) unwitness(e *entry) {
	if w := b.waiters[e.witness]; w != nil {
		if delete(w, e.facts.Ref()); len(w) == 0 {
			delete(b.waiters, e.witness)
		}
	}
	e.witness = Ref{}
}

// wakeWaiters looks again at those whose witness r was.
func (b *Board) wakeWaiters(r Ref) {
	waiting := b.waiters[r]
	delete(b.waiters, r)
	for _, w := range slices.SortedFunc(maps.Keys(waiting), Ref.Compare) {
		if e := b.nodes[w]; e != nil && e.waits && e.witness == r {
			e.witness = Ref{}
			b.settle(e)
		}
	}
}

func (b *Board) setFree(e *entry) {
	t := b.treeOf(e)
	e.free, e.profile = true, b.resolve(e.facts)
	e.waited.note(PhaseSlot, b.now)
	t.index.add(e.facts.Ref(), e.facts.Keys, roleFree, 1)
	if t.free[e.profile] == nil {
		t.free[e.profile] = &btree.Map[uint64, bool]{}
	}
	t.free[e.profile].Set(e.facts.Ref().rank(), true)
	b.queued(t, e, true)
}

func (b *Board) unfree(e *entry) {
	t := b.treeOf(e)
	e.free = false
	t.index.add(e.facts.Ref(), e.facts.Keys, roleFree, -1)
	if m := t.free[e.profile]; m != nil {
		if m.Delete(e.facts.Ref().rank()); m.Len() == 0 {
			delete(t.free, e.profile)
		}
	}
	b.queued(t, e, false)
}
