package plan

import "testing"

// An agent counts until its run has ended, though its plan was stopped.
func TestAnAgentOfAStoppedPlanCountsUntilItHasEnded(t *testing.T) {
	for name, c := range map[string]struct {
		limits   Limits
		profiles []Profile
	}{
		"against the server's limit": {limits: Limits{MaxConcurrency: 1}},
		"against its agent's":        {limits: Limits{DefaultProfile: 7}, profiles: []Profile{{ID: 7, MaxParallel: 1}}},
	} {
		for how, stop := range map[string]func(*stage){
			"after a stop": func(s *stage) { s.plan(1, "", func(p *PlanFacts) { p.Started = false }) },
			"after a stop and a restart of the server": func(s *stage) {
				b := NewBoard(c.limits)
				b.SetProfiles(c.profiles)
				stopped := *s.nodes["2.1"]
				stopped.Agent = 7
				b.Apply(&Facts{Plans: []PlanFacts{{ID: 1, Root: 1}, {ID: 2, Root: 1, ParentPlan: 1, ParentNode: 2, Profile: 7}}, Nodes: []NodeFacts{stopped}})
				s.b = b
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				s := newStage(t, c.limits, c.profiles...)
				s.plan(1, "")
				s.ready("1.2")
				s.plan(2, "1.2")
				s.ready("2.1")
				s.wantStart("one", "2.1")
				stop(s)
				s.plan(3, "")
				s.ready("3.1")
				s.wantStart("nothing while it winds down")
				s.wantHeld("3.1", Hold{Phase: PhaseSlot})
				s.end("2.1", Pending)
				s.wantStart("once it has ended", "3.1")
				if len(s.b.trees) != 1 || len(s.b.plans) != 1 {
					t.Errorf("the board remembers a stopped plan: %v, %v", s.b.trees, s.b.plans)
				}
			})
		}
	}
}

func TestAStepOfAStoppedPlanThatWasGivenOutCountsNoMore(t *testing.T) {
	s := newStage(t, Limits{MaxConcurrency: 1})
	s.plan(1, "")
	s.ready("1.1")
	r, _ := s.b.Next()
	s.plan(1, "", func(p *PlanFacts) { p.Started = false })
	s.b.Return(r)
	s.plan(2, "")
	s.ready("2.1")
	s.wantStart("its slot is free", "2.1")
}

// One run tries whether a limit is over, be it of a step or of a review.
func TestAReviewTriesWhetherALimitIsOver(t *testing.T) {
	s := newStage(t, Limits{DefaultProfile: 7})
	s.plan(1, "")
	s.ready("1.1")
	s.review(1, 7, ReviewQueued, false)
	s.review(2, 7, ReviewQueued, false)
	s.b.Apply(limit(7, 100))
	s.b.Advance(100)
	s.wantReviews("the oldest review tries", 1)
	s.wantStart("no step meanwhile")
	s.wantHeld("1.1", Hold{Phase: PhaseLimit, Reason: HeldTrying})
	s.review(1, 7, ReviewRunning, false)
	s.wantReviews("nor another review")
	s.b.Apply(limit(7, 0))
	s.wantReviews("it was let in, and the others follow", 2)
	s.wantStart("steps too", "1.1")
}
