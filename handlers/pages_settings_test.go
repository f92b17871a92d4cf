package handlers

import (
	"context"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// root reads the top-level plan of a tree.
func (r *rig) root(id plan.PlanID) *plan.Plan {
	r.t.Helper()
	s, err := r.engine.Snapshot(context.Background(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Root()
}

func TestSettingsChangeWhatWasChanged(t *testing.T) {
	r := newRig(t)
	id := r.plan("a")
	same := url.Values{"working_directory": {r.root(id).WorkDir}, "test_instructions": {""}, "max_parallel": {""}, "max_attempts": {""}, "max_tokens": {""},
		"max_cost_usd": {""}, "stall_minutes": {""}, "on_failure": {""}, "agent": {""}}
	before := r.now()
	if a := r.form("/plans/1/settings", same, byHtmx); a.status != 204 {
		t.Fatalf("nothing changed: %s", a)
	}
	if r.now() != before {
		t.Error("saving what was there is a change")
	}
	for _, c := range []struct{ field, value, at, says string }{
		{"max_parallel", "-3", "#set-parallel-error", "whole number"},
		{"working_directory", "relative/path", "#set-dir-error", "absolute"},
		{"agent", "nobody", "#set-agent-error", "nobody"},
		{"max_attempts", "21", "#set-attempts-error", "this must be between 1 and 20"},
		{"max_attempts", "x", "#set-attempts-error", "whole number"},
		{"max_tokens", "0", "#set-tokens-error", "at least 1"},
		{"max_tokens", "1.5", "#set-tokens-error", "whole number"},
		{"max_tokens", "99999999999999999999", "#set-tokens-error", "whole number"},
		{"max_cost_usd", "0", "#set-cost-error", "above 0"},
		{"max_cost_usd", "-1", "#set-cost-error", "above 0"},
		{"max_cost_usd", "NaN", "#set-cost-error", "above 0"},
		{"max_cost_usd", "1e999", "#set-cost-error", "above 0"},
		{"stall_minutes", "0.1", "#set-stall-error", "at least 10 seconds"},
		{"stall_minutes", "soon", "#set-stall-error", "above 0"},
		{"on_failure", "panic", "#set-failure-error", "unknown value"},
		{"test_instructions", "a\x00b", "#set-tests-error", "NUL"},
	} {
		form := maps.Clone(same)
		form.Set(c.field, c.value)
		a := r.form("/plans/1/settings", form, byHtmx)
		if a.status != 400 || a.header.Get("HX-Retarget") != c.at || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%s %q: %d at %q: %s", c.field, c.value, a.status, a.header.Get("HX-Retarget"), a.body)
		}
	}
	if r.now() != before {
		t.Error("what was refused is a change")
	}
	form := maps.Clone(same)
	for field, value := range map[string]string{"max_attempts": "3", "max_tokens": " 50000 ", "max_cost_usd": "1,5", "stall_minutes": "1.67", "on_failure": "skip"} {
		form.Set(field, value)
	}
	if a := r.form("/plans/1/settings", form, byHtmx); a.status != 204 {
		t.Fatalf("got %s", a)
	}
	want := plan.Policies{MaxAttempts: 3, MaxTokens: 50_000, MaxCostUSD: 1.5, StallAfter: 100, OnFailure: "skip"}
	if got := r.root(id).Policies; got != want {
		t.Errorf("kept %+v, want %+v", got, want)
	}
	if a := r.form("/plans/1/settings", url.Values{"max_tokens": {"60000"}}, byHtmx); a.status != 204 || r.root(id).MaxAttempts != 3 || r.root(id).MaxTokens != 60_000 {
		t.Errorf("a field that was not sent did not stay: %+v", r.root(id).Policies)
	}
	if a := r.form("/plans/1/settings", same, byHtmx); a.status != 204 || r.root(id).Policies != (plan.Policies{}) {
		t.Errorf("what was emptied is %+v", r.root(id).Policies)
	}
}

func TestSettingsOfASubplanAreItsAgentAlone(t *testing.T) {
	s := newStage(t)
	s.richPlan()
	if a := s.form("/plans/2/settings", url.Values{"agent": {"mock"}, "max_parallel": {"7"}}, byHtmx); a.status != 204 {
		t.Fatalf("got %s", a)
	}
	snap, err := s.engine.Snapshot(context.Background(), 2)
	if err != nil || snap.Plan(2).DefaultProfile == 0 || snap.Root().MaxParallel != 4 {
		t.Errorf("got %+v, %v", snap.Plan(2), err)
	}
}
