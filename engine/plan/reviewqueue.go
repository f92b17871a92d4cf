package plan

import (
	"maps"
	"slices"
)

// Reviews share the limits on concurrent agents with the steps, and go before
// them: a verdict helps those who build on the work.

type boardReview struct {
	facts ReviewFacts
	taken bool // given out, not yet committed as running
}

func (r *boardReview) holdsSlot() bool { return r.taken || r.facts.State == ReviewRunning }

func (b *Board) applyReview(f ReviewFacts) {
	old := b.reviews[f.ID]
	if old != nil && old.holdsSlot() {
		b.reviewSlot(old, -1)
	}
	b.queue.Delete(f.ID)
	delete(b.checks, f.ID)
	if f.State == ReviewCheck {
		b.checks[f.ID] = true
		return
	}
	if f.State == ReviewDone {
		delete(b.reviews, f.ID)
		return
	}
	r := &boardReview{facts: f}
	b.reviews[f.ID] = r
	if f.State == ReviewQueued {
		b.queue.Set(f.ID, true)
		return
	}
	b.reviewSlot(r, 1)
}

func (b *Board) reviewSlot(r *boardReview, n int) {
	b.slots += n
	b.perAgent[r.facts.Profile] += n
	if by := (prober{review: r.facts.ID}); n > 0 {
		b.probe(r.facts.Profile, by)
	} else {
		b.endProbe(r.facts.Profile, by)
	}
}

// NextReview gives out the review that should start now, if there is one: the
// oldest whose agent has a slot. It counts as running until Apply tells otherwise
// or ReturnReview gives it back.
func (b *Board) NextReview() (int64, bool) {
	var found *boardReview
	b.queue.Scan(func(id int64, _ bool) bool {
		if r := b.reviews[id]; b.mayReview(&r.facts) {
			found = r
		}
		return found == nil
	})
	if found == nil {
		return 0, false
	}
	b.queue.Delete(found.facts.ID)
	found.taken = true
	b.reviewSlot(found, 1)
	return found.facts.ID, true
}

func (b *Board) mayReview(f *ReviewFacts) bool {
	if _, holds := b.limitHolds(f.Profile); holds {
		return false
	}
	limit := b.caps[f.Profile]
	return f.Urgent || (b.limits.MaxConcurrency == 0 || b.slots < b.limits.MaxConcurrency) &&
		(limit == 0 || b.perAgent[f.Profile] < limit)
}

// DueChecks gives out the checks that have to be run before their judges can look.
func (b *Board) DueChecks() []int64 {
	ids := slices.Sorted(maps.Keys(b.checks))
	clear(b.checks)
	return ids
}

// ReturnCheck gives back a check that could not be started.
func (b *Board) ReturnCheck(id int64) { b.checks[id] = true }

// ReturnReview gives back a review that was given out and could not be started.
func (b *Board) ReturnReview(id int64) {
	if r := b.reviews[id]; r != nil && r.taken {
		b.reviewSlot(r, -1)
		r.taken = false
		b.queue.Set(id, true)
	}
}
