package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestRunsSayWhyTheyWereBegun(t *testing.T) {
	runs := []plan.Run{
		{Number: 1, Kind: plan.RunStep, Outcome: plan.OutcomeLimited}, {Number: 2, Kind: plan.RunStep, Outcome: plan.OutcomeInterrupted},
		{Number: 3, Kind: plan.RunStep, Outcome: plan.OutcomeFailed}, {Number: 4, Kind: plan.RunStep, Outcome: plan.OutcomeDone},
		{Number: 5, Kind: plan.RunReview, Outcome: plan.OutcomeDone}, {Number: 6, Kind: plan.RunStep, Outcome: plan.OutcomeStopped},
		{Number: 7, Kind: plan.RunExternal, Outcome: plan.OutcomeStalled}, {Number: 8, Kind: plan.RunStep},
	}
	var got []string
	for _, h := range runHeads(runs) {
		got = append(got, h.Name()+": "+h.Outcome)
	}
	want := []string{"Run 1: Provider's limit", "Run 2 · after the limit: Interrupted", "Run 3 · after an interruption: Failed",
		"Run 4 · another attempt: Done", "Run 5 · review: Done", "Run 6 · rework: Stopped", "Run 7 · after a stop: No sign of life",
		"Run 8 · after an interruption: Running"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRunsAreNamedByWhyTheyBegan(t *testing.T) {
	runs := []plan.Run{{Number: 1, Kind: plan.RunStep, StartCause: plan.StartFirst, Outcome: plan.OutcomeFailed},
		{Number: 2, Kind: plan.RunStep, StartCause: plan.StartRetry, Outcome: plan.OutcomeDone},
		{Number: 3, Kind: plan.RunJudge, Outcome: plan.OutcomeDone},
		{Number: 4, Kind: plan.RunStep, StartCause: "attempt 2 of 3 after check failed"},
		{Number: 5, Kind: plan.RunReview, StartCause: plan.StartAsked}}
	want := []string{"Run 1", "Run 2 · retry by a person", "Run 3 · judge", "Run 4 · attempt 2 of 3 after check failed",
		"Run 5 · review: asked for by a person"}
	var got []string
	for _, h := range runHeads(runs) {
		got = append(got, h.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAHeadTellsWhatCameOfTheRun(t *testing.T) {
	price := 0.4
	over := plan.Run{Number: 2, Kind: plan.RunStep, Outcome: plan.OutcomeFailed, Cause: "the tests are red\nFAIL", AgentName: "claude",
		StartedAt: 1000, FinishedAt: 1130, TokensIn: ptr(int64(1500)), TokensOut: ptr(int64(20)), CostUSD: &price}
	head := render(t, runHead(&runHeads([]plan.Run{over})[0]))
	for _, want := range []string{"Failed", "the tests are red", "claude", "2m 10s", "↑1.5k ↓20", "$0.40"} {
		if !strings.Contains(head, want) {
			t.Errorf("the head has no %q: %s", want, head)
		}
	}
	open := render(t, runHead(&runHeads([]plan.Run{{Number: 1, StartedAt: 1000}})[0]))
	if !strings.Contains(open, `data-since="1000.000"`) || !strings.Contains(open, "Running") {
		t.Errorf("an open run's time does not tick: %s", open)
	}
}

func TestRunsAreListedWhereThereAreSeveral(t *testing.T) {
	one, two := runHeads([]plan.Run{{Number: 1}}), runHeads([]plan.Run{{Number: 1}, {Number: 2}})
	if out := render(t, runList(one)); !strings.Contains(out, " hidden") {
		t.Errorf("one run alone is listed: %s", out)
	}
	if out := render(t, runList(two)); strings.Contains(out, " hidden") || !strings.Contains(out, `href="#run-2"`) {
		t.Errorf("two runs are not: %s", out)
	}
}
