package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (s *stage) review(id int64, p ProfileID, state ReviewState, urgent bool) {
	s.b.Apply(&Facts{Reviews: []ReviewFacts{{ID: id, Profile: p, State: state, Urgent: urgent}}})
}

func (s *stage) wantReviews(what string, want ...int64) {
	s.t.Helper()
	got := []int64{}
	for id, ok := s.b.NextReview(); ok; id, ok = s.b.NextReview() {
		got = append(got, id)
	}
	if diff := cmp.Diff(append([]int64{}, want...), got); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestReviewsShareTheSlotsOfSteps(t *testing.T) {
	s := newStage(t, Limits{MaxConcurrency: 2})
	s.plan(1, "")
	s.ready("1.1")
	s.ready("1.2")
	s.review(5, 7, ReviewQueued, false)
	s.review(4, 7, ReviewQueued, false)
	s.review(6, 7, ReviewQueued, false)
	s.wantReviews("the oldest, as many as there are slots", 4, 5)
	s.wantStart("no step meanwhile")
	s.review(4, 7, ReviewRunning, false)
	s.review(5, 7, ReviewRunning, false)
	s.wantReviews("committed, they still hold their slots")
	s.review(4, 7, ReviewDone, false)
	s.wantReviews("the next", 6)
	s.b.ReturnReview(6)
	s.wantStart("the slot that was given back", "1.1")
	s.review(6, 7, ReviewDone, false)
	s.review(5, 7, ReviewDone, false)
	s.wantStart("all are free", "1.2")
}

func TestAReviewThatAPersonAskedForWaitsForNoSlot(t *testing.T) {
	s := newStage(t, Limits{MaxConcurrency: 1}, Profile{ID: 7, MaxParallel: 1})
	s.plan(1, "")
	s.ready("1.1")
	s.wantStart("the slot is taken", "1.1")
	s.review(1, 7, ReviewQueued, false)
	s.review(2, 7, ReviewQueued, true)
	s.wantReviews("the urgent one alone", 2)
	s.end("1.1", Done)
	s.wantReviews("its agent may do one at a time")
	s.review(2, 7, ReviewDone, true)
	s.wantReviews("then the other", 1)
}

func TestAReviewWaitsForItsProvidersLimit(t *testing.T) {
	s := newStage(t, Limits{})
	s.b.Apply(limit(7, 100))
	s.review(1, 7, ReviewQueued, true)
	s.wantReviews("not yet")
	s.b.Advance(100)
	s.wantReviews("at its time", 1)
}
