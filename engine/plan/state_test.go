package plan

import (
	"slices"
	"strings"
	"testing"
)

// life is the list of what may happen to a node, by state: what it becomes, and
// for which causes. It is written out apart from the code, from the spec.
var life = map[State]map[State][]Cause{
	Pending: {
		Ready:   {Unblocked},
		Running: {Entered}, // a container
		Skipped: {FailureAbove, PersonSkipped},
		Done:    {PersonDid},
	},
	Ready: {
		Running: {Started, Entered},
		Pending: {Blocked, PlanStopped, WasReset},
		Failed:  {PersonStopped, CannotRun},
		Skipped: {FailureAbove, PersonSkipped},
		Done:    {PersonDid},
	},
	Running: {
		Done:    {Finished, PersonDid},
		Failed:  {Broke, PersonStopped},
		Pending: {PlanStopped, Interrupted, TriesAgain, WasReset},
		Ready:   {LimitReached},
	},
	Done: {
		Pending: {Reworked, WasReset},
		Running: {ReopenedBelow},
	},
	Failed: {
		Pending: {Retried, Reworked, WasReset},
		Running: {ReopenedBelow},
		Done:    {PersonDid},
	},
	Skipped: {
		Pending: {Unskipped, Retried, Reworked, WasReset}, // a retry or rework of what failed brings it back
		Done:    {PersonDid},
	},
}

var causes = []Cause{Unblocked, Blocked, Started, Entered, Finished, Broke, CannotRun, PersonDid, PersonStopped,
	PlanStopped, Interrupted, TriesAgain, LimitReached, Retried, Reworked, WasReset, ReopenedBelow, FailureAbove, PersonSkipped, Unskipped}

func TestEveryStateAndCause(t *testing.T) {
	for _, s := range States {
		for _, c := range causes {
			var want State
			for to, allowed := range life[s] {
				if slices.Contains(allowed, c) {
					want = to
				}
			}
			got, err := Next(s, c)
			switch {
			case want != "" && (got != want || err != nil):
				t.Errorf("%s by %s: got %s, %v; want %s", s, c, got, err, want)
			case want == "" && (KindOf(err) != Invalid || got != s):
				t.Errorf("%s by %s: got %s, %v; want it refused and the state kept", s, c, got, err)
			case want == "" && (!strings.Contains(err.Error(), string(s)) || len(err.Error()) < 20):
				t.Errorf("%s by %s is refused with %q, which does not name the state", s, c, err)
			}
		}
	}
}

func TestEveryCauseIsTested(t *testing.T) {
	for c := range transitions {
		if !slices.Contains(causes, c) {
			t.Errorf("cause %s is not in the test's list", c)
		}
	}
	if len(causes) != len(transitions) {
		t.Errorf("%d causes are tested, %d exist", len(causes), len(transitions))
	}
}

func TestUnknownCauseAndStateAreRefused(t *testing.T) {
	if s, err := Next(Running, "whim"); s != Running || KindOf(err) != Invalid {
		t.Errorf("an unknown cause: got %s, %v", s, err)
	}
	if _, err := Next("lost", Finished); KindOf(err) != Invalid {
		t.Errorf("an unknown state: got %v", err)
	}
}

func TestAllowedPairs(t *testing.T) {
	for _, from := range States {
		for _, to := range States {
			want := len(life[from][to]) > 0
			if got := Allowed(from, to); got != want {
				t.Errorf("from %s to %s allowed: %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestWhatAPhaseHolds(t *testing.T) {
	for _, c := range []struct {
		phase       Phase
		files, slot bool
	}{
		{PhaseWorking, true, true},
		{PhaseSubplan, false, false},
		{PhaseChecking, true, false},
		{PhaseReviewing, true, false},
		{PhaseNeedsPerson, true, false},
		{PhaseApplying, true, false},
		{PhaseNone, false, false},
		{PhaseQueued, false, false}, {PhaseFiles, false, false}, {PhaseSlot, false, false},
		{PhaseLimit, false, false}, {PhaseBudget, false, false}, {PhasePerson, false, false},
	} {
		if got := c.phase.HoldsFiles(); got != c.files {
			t.Errorf("phase %q holds files: %v, want %v", c.phase, got, c.files)
		}
		if got := c.phase.HoldsSlot(); got != c.slot {
			t.Errorf("phase %q holds a slot: %v, want %v", c.phase, got, c.slot)
		}
	}
}
