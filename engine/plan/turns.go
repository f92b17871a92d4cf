package plan

import (
	"fmt"

	"github.com/tidwall/btree"
)

// Advance tells the board what time it is: nodes that waited for a moment up to
// now take part again.
func (b *Board) Advance(now Stamp) {
	b.now = max(b.now, now)
	for {
		key, r, ok := b.asleep.Min()
		if !ok {
			return
		}
		e := b.nodes[r]
		if e.facts.NotBefore > b.now {
			return
		}
		b.asleep.Delete(key)
		e.sleeps = false
		b.enter(e)
	}
}

// NextWake returns when the next sleeping node wakes or the next limit's time is
// up, 0 when nothing waits for a moment.
func (b *Board) NextWake() Stamp {
	next := b.nextLimit()
	if _, r, ok := b.asleep.Min(); ok {
		if at := b.nodes[r].facts.NotBefore; next == 0 || at < next {
			next = at
		}
	}
	return next
}

// wakeupAt orders sleepers by time, then by number.
func wakeupAt(f NodeFacts) wakeup {
	return fmt.Sprintf("%020.6f %020d", float64(f.NotBefore), f.Ref().rank())
}

// Next gives out the node that a built-in agent should start now, if there is
// one: started trees take turns, inside a tree the lowest number goes first. The
// node counts as running until Apply tells otherwise or Return gives it back.
func (b *Board) Next() (Ref, bool) {
	if b.limits.MaxConcurrency > 0 && b.slots >= b.limits.MaxConcurrency {
		return Ref{}, false
	}
	root, ok := b.turn()
	if !ok {
		return Ref{}, false
	}
	b.last = root
	r := b.lowestOf(b.trees[root])
	b.take(b.nodes[r], Builtin)
	return r, true
}

// lowestOf returns the lowest step of a tree that has a turn.
func (b *Board) lowestOf(t *tree) Ref {
	best := ^uint64(0)
	for profile, free := range t.free {
		b.looked++
		if k, _, ok := free.Min(); ok && b.mayRun(profile) {
			best = min(best, k)
		}
	}
	return refOf(best)
}

// Claim gives out the lowest free node of the trees that external agents carry
// out, if there is one; with a plan, of that plan and those nested in it.
func (b *Board) Claim(within PlanID) (Ref, bool) {
	best := ^uint64(0)
	if within == 0 {
		b.looked++
		if k, _, ok := b.claims.Min(); ok {
			best = k
		}
	} else if p := b.plans[within]; p != nil && b.trees[p.facts.Root].door == forClaims {
		for _, free := range b.trees[p.facts.Root].free {
			b.looked++
			b.lowestWithin(free, within, &best)
		}
	}
	if best == ^uint64(0) {
		return Ref{}, false
	}
	b.take(b.nodes[refOf(best)], External)
	return refOf(best), true
}

func (b *Board) lowestWithin(free *btree.Map[uint64, bool], within PlanID, best *uint64) {
	free.Ascend(Ref{Plan: within}.rank(), func(k uint64, _ bool) bool { // nested plans have higher numbers
		if k >= *best {
			return false
		}
		if b.isWithin(refOf(k).Plan, within) {
			*best = k
			return false
		}
		return true
	})
}

// isWithin reports whether a plan is another or nested in it.
func (b *Board) isWithin(id, other PlanID) bool {
	for p := b.plans[id]; p != nil; p = b.plans[p.facts.ParentPlan] {
		if p.facts.ID == other {
			return true
		}
	}
	return false
}

func (b *Board) take(e *entry, by Executor) {
	f := e.facts
	f.State, f.Phase, f.AgentKind = Running, PhaseWorking, string(by)
	e.taken = true
	b.replace(e, f)
}

// Return gives back a node that was given out and could not be started.
func (b *Board) Return(r Ref) {
	if e := b.nodes[r]; e != nil && e.taken {
		f := e.facts
		f.State, f.Phase, f.AgentKind = Ready, PhaseNone, ""
		b.replace(e, f)
		e.taken = false
	}
}

// Held says why a ready node has not started. The phase is empty for a node
// that the board does not know as ready.
func (b *Board) Held(r Ref) Hold {
	e := b.nodes[r]
	switch {
	case e == nil || e.facts.State != Ready:
		return Hold{}
	case e.facts.Kind == KindUser:
		return Hold{Phase: PhasePerson}
	case e.sleeps && e.facts.Phase == PhaseLimit:
		return Hold{Phase: PhaseLimit, Until: e.facts.NotBefore}
	case e.sleeps:
		return Hold{Phase: PhaseQueued, Until: e.facts.NotBefore}
	case e.waits && !e.free:
		t := b.treeOf(e)
		if by, ok := t.index.first(r, e.facts.Keys, roleRunning); ok {
			return Hold{Phase: PhaseFiles, By: by, Reason: HeldRunning}
		}
		by, _ := t.index.first(r, e.facts.Keys, roleReady)
		return Hold{Phase: PhaseFiles, By: by, Reason: HeldTurn}
	case e.free && b.treeOf(e).facts.OverBudget:
		return Hold{Phase: PhaseBudget}
	case e.free && b.treeOf(e).facts.Executor != External:
		return b.heldByLimits(e)
	}
	return Hold{Phase: PhaseQueued}
}

// heldByLimits says what keeps a free node of a built-in plan waiting.
func (b *Board) heldByLimits(e *entry) Hold {
	if until, holds := b.limitHolds(e.profile); holds && until <= b.now {
		return Hold{Phase: PhaseLimit, Reason: HeldTrying}
	} else if holds {
		return Hold{Phase: PhaseLimit, Until: until}
	}
	if b.noSlot(e) {
		return Hold{Phase: PhaseSlot}
	}
	return Hold{Phase: PhaseQueued}
}

// noSlot reports whether a limit on concurrent agents keeps a free node waiting.
func (b *Board) noSlot(e *entry) bool {
	t := b.treeOf(e)
	limit := b.caps[e.profile]
	return b.limits.MaxConcurrency > 0 && b.slots >= b.limits.MaxConcurrency ||
		t.facts.MaxParallel > 0 && t.slots >= t.facts.MaxParallel ||
		limit > 0 && b.perAgent[e.profile] >= limit
}

// MayBegin reports whether a node that was given out may still begin as it is
// now: it can have been edited meanwhile.
func (b *Board) MayBegin(now NodeFacts) bool {
	e := b.nodes[now.Ref()]
	if e == nil || !e.taken || now.Kind == KindUser {
		return false
	}
	_, held := b.treeOf(e).index.first(now.Ref(), now.Keys, roleRunning)
	return !held
}
