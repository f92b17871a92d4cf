package plan

import (
	"maps"
	"slices"
)

// claimant is a review that has no verdict yet, as the slow version knows it.
type claimant struct {
	ReviewFacts
	given bool // out, and not committed
}

func (c *claimant) holdsSlot() bool { return c.given || c.State == ReviewRunning }

// reviewIDs returns the reviews that fit, the oldest first.
func (m *model) reviewIDs(fits func(*claimant) bool) []int64 {
	var ids []int64
	for _, id := range slices.Sorted(maps.Keys(m.reviews)) {
		if fits(m.reviews[id]) {
			ids = append(ids, id)
		}
	}
	return ids
}

// nextReview is the review that should start now, 0 for none.
func (m *model) nextReview() int64 {
	for _, id := range m.reviewIDs(func(c *claimant) bool { return c.State == ReviewQueued && !c.given }) {
		c := m.reviews[id]
		all, _, agent := m.used(nil, c.Profile)
		free := below(all, m.limits.MaxConcurrency) && below(agent, m.caps[c.Profile])
		if !m.limitHolds(c.Profile) && (c.Urgent || free) {
			return id
		}
	}
	return 0
}

// tellReview tells the board what a review has become.
func (s *storm) tellReview(c *claimant) {
	s.facts.Reviews = append(s.facts.Reviews, c.ReviewFacts)
}

func (s *storm) askForReview() bool {
	s.lastReview++
	c := &claimant{ReviewFacts: ReviewFacts{ID: s.lastReview, Profile: ProfileID(1 + s.r.IntN(4)), Urgent: s.r.IntN(5) == 0, State: ReviewQueued}}
	if s.r.IntN(3) == 0 {
		c.State = ReviewCheck
	}
	s.reviews[c.ID] = c
	s.tellReview(c)
	return true
}

// someReview returns some review that fits, nil when there is none.
func (s *storm) someReview(fits func(*claimant) bool) *claimant {
	id, ok := pick(s, s.reviewIDs(fits))
	if !ok {
		return nil
	}
	return s.reviews[id]
}

func (s *storm) giveOutReview() bool {
	want := s.nextReview()
	if got, _ := s.b.NextReview(); got != want {
		s.t.Fatalf("after %v, review %d is given out, want %d", s.did, got, want)
	}
	if want == 0 {
		return false
	}
	c := s.reviews[want]
	c.given = true
	s.startProbe(c.Profile, prober{review: c.ID})
	return true
}

// moveReview commits what becomes of a review that fits.
func (s *storm) moveReview(to ReviewState, fits func(*claimant) bool) bool {
	c := s.someReview(fits)
	if c == nil {
		return false
	}
	s.endProbe(prober{review: c.ID})
	c.State, c.given = to, false
	if to == ReviewRunning {
		s.startProbe(c.Profile, prober{review: c.ID})
	}
	if to == ReviewDone {
		delete(s.reviews, c.ID)
	}
	s.tellReview(c)
	return true
}

func (s *storm) beginReview() bool {
	return s.moveReview(ReviewRunning, func(c *claimant) bool { return c.given })
}

func (s *storm) endReview() bool {
	return s.moveReview(ReviewDone, func(c *claimant) bool { return c.State == ReviewRunning || s.r.IntN(10) == 0 })
}

func (s *storm) reviewAgain() bool {
	return s.moveReview(ReviewQueued, func(c *claimant) bool { return c.State == ReviewRunning || c.State == ReviewCheck })
}

func (s *storm) giveReviewBack() bool {
	c := s.someReview(func(c *claimant) bool { return c.given })
	if c == nil {
		return false
	}
	s.endProbe(prober{review: c.ID})
	c.given = false
	s.b.ReturnReview(c.ID)
	return true
}

// runChecks gives out what is due: all of it, and once.
func (s *storm) runChecks() bool {
	due := s.reviewIDs(func(c *claimant) bool { return c.State == ReviewCheck && !c.given })
	if got := s.b.DueChecks(); !slices.Equal(got, due) {
		s.t.Fatalf("after %v, checks %v are due, want %v", s.did, got, due)
	}
	for _, id := range due {
		if s.r.IntN(4) == 0 {
			s.b.ReturnCheck(id)
			continue
		}
		s.endCheck(s.reviews[id])
	}
	return len(due) > 0
}

// endCheck commits the outcome of a check at once: nothing else may happen to one
// that is given out.
func (s *storm) endCheck(c *claimant) {
	c.State = ReviewQueued
	s.tellReview(c)
}
