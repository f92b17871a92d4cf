package plan

import (
	"cmp"

	"github.com/tidwall/btree"
)

// Who starts next is found without looking at each started tree: those that have a
// step for an agent and may start it stand in a queue of that agent.

// door says by which way the free steps of a tree may start now.
type door int

const (
	closed    door = iota
	forAgents      // built-in ones: it stands in the queues of those that it has steps for
	forClaims      // its steps are among those that can be claimed
)

// setDoor opens or closes a tree after something has changed for all of it.
func (b *Board) setDoor(t *tree) {
	want := forAgents
	switch f := &t.facts; {
	case !f.Started || !f.Approval.MayStart() || f.OverBudget:
		want = closed
	case f.Executor == External:
		want = forClaims
	case f.MaxParallel > 0 && t.slots >= f.MaxParallel:
		want = closed
	}
	if want == t.door {
		return
	}
	for profile, free := range t.free {
		b.eachQueued(t, profile, free, false)
	}
	t.door = want
	for profile, free := range t.free {
		b.eachQueued(t, profile, free, true)
	}
}

// eachQueued puts all steps of a tree that one agent runs where its door says, or
// takes them away from there.
func (b *Board) eachQueued(t *tree, profile ProfileID, free *btree.Map[uint64, bool], on bool) {
	switch t.door {
	case forAgents:
		b.setTurn(profile, t.facts.ID, on)
	case forClaims:
		free.Scan(func(k uint64, _ bool) bool {
			b.setClaim(k, on)
			return true
		})
	}
}

func (b *Board) setTurn(profile ProfileID, root PlanID, on bool) {
	q := b.turns[profile]
	switch {
	case on && q == nil:
		b.turns[profile] = &btree.Map[PlanID, bool]{}
		b.turns[profile].Set(root, true)
	case on:
		q.Set(root, true)
	case q != nil:
		if q.Delete(root); q.Len() == 0 {
			delete(b.turns, profile)
		}
	}
}

func (b *Board) setClaim(k uint64, on bool) {
	if on {
		b.claims.Set(k, true)
	} else {
		b.claims.Delete(k)
	}
}

// queued notes that a step of a tree has become free, or is free no more. Its
// agent's other free steps are known.
func (b *Board) queued(t *tree, e *entry, on bool) {
	switch t.door {
	case forAgents:
		n := 0
		if free := t.free[e.profile]; free != nil {
			n = free.Len()
		}
		if on && n == 1 || !on && n == 0 {
			b.setTurn(e.profile, t.facts.ID, on)
		}
	case forClaims:
		b.setClaim(e.facts.Ref().rank(), on)
	}
}

// turn returns the tree whose turn it is: the first after the one that had the last
// turn, else the first of all.
func (b *Board) turn() (PlanID, bool) {
	var next, first PlanID
	for profile, q := range b.turns {
		b.looked++
		if !b.mayRun(profile) {
			continue
		}
		q.Ascend(b.last+1, func(id PlanID, _ bool) bool {
			if next == 0 || id < next {
				next = id
			}
			return false
		})
		if id, _, ok := q.Min(); ok && (first == 0 || id < first) {
			first = id
		}
	}
	next = cmp.Or(next, first)
	return next, next != 0
}

// mayRun reports whether neither its own limit nor its provider's keeps an agent
// from starting another run.
func (b *Board) mayRun(p ProfileID) bool {
	if limit := b.caps[p]; limit > 0 && b.perAgent[p] >= limit {
		return false
	}
	_, holds := b.limitHolds(p)
	return !holds
}
