package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
)

func result(t *testing.T, raw string) *resultLine {
	t.Helper()
	var r resultLine
	must(t, json.Unmarshal([]byte(raw), &r))
	return &r
}

func TestTokensOfMessages(t *testing.T) {
	n := func(i int64) *int64 { return &i }
	var c counter
	c.update("", &usage{Out: n(9)}) // the end of a message that never began
	if _, _, ok := c.stop(""); ok {
		t.Error("a message that never began is counted")
	}
	c.start("", &usage{In: n(3), CacheRead: n(100), CacheWrite: n(20), Out: n(1)})
	c.start("sub", &usage{In: n(7)})
	c.update("", &usage{Out: n(40)}) // without what it said before
	if in, out, ok := c.stop(""); in != 123 || out != 40 || !ok {
		t.Errorf("got %d, %d", in, out)
	}
	if in, out, _ := c.stop("sub"); in != 7 || out != 0 {
		t.Errorf("the sub-agent: %d, %d", in, out)
	}
	if in, out, ok := c.rest(result(t, `{"modelUsage":{"a":{"inputTokens":100,"cacheReadInputTokens":50,"outputTokens":60},"b":{"inputTokens":1}}}`)); in != 21 || out != 20 || !ok {
		t.Errorf("the rest: %d, %d", in, out)
	}
	if _, _, ok := c.rest(result(t, `{"modelUsage":{"a":{"inputTokens":1}}}`)); ok {
		t.Error("totals below what was told add something")
	}
}

func TestCost(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		want      float64 // -1: not known
	}{
		{"the total", `{"total_cost_usd":0.5,"modelUsage":{"claude-x":{"costUSD":0.5}}}`, 0.5},
		{"of this run alone", `{"total_cost_usd":2,"modelUsage":{"claude-x":{"costUSD":2}},"model_usage_since_last_result":{"claude-x":{"costUSD":0.25},"claude-y":{"costUSD":0.5}}}`, 0.75},
		{"of a model that is not known", `{"total_cost_usd":2,"modelUsage":{"claude-x":{"costUSD":2,"costBasis":"unknown"}}}`, -1},
		{"of another maker's model", `{"total_cost_usd":2,"modelUsage":{"gpt-oss":{"costUSD":2}}}`, -1},
		{"of nothing", `{"total_cost_usd":0,"modelUsage":{}}`, 0},
		{"not told", `{}`, -1},
	} {
		got := -1.0
		if c := result(t, tt.raw).cost(); c != nil {
			got = *c
		}
		if math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	second := result(t, `{"model_usage_since_last_result":{"claude-x":{"costUSD":0.25,"inputTokens":5}}}`)
	second.merge(result(t, `{"model_usage_since_last_result":{"claude-x":{"costUSD":1,"inputTokens":7},"claude-y":{"outputTokens":2}}}`))
	if in, out := second.tokens(); in != 12 || out != 2 || *second.cost() != 1.25 {
		t.Errorf("two results of a process: %d, %d, %v", in, out, *second.cost())
	}
}

func TestIdsAreUnique(t *testing.T) {
	var i ids
	got := []string{i.call("a"), i.call("a"), i.call(""), i.call("b")}
	for n, want := range []string{"a", "a#2", "#1", "b"} {
		if got[n] != want {
			t.Errorf("call %d: %q, want %q", n, got[n], want)
		}
	}
	for _, want := range []string{"a", "a#2", ""} {
		if id, ok := i.answer("a"); id != want || ok != (want != "") {
			t.Errorf("answer %q, %v; want %q", id, ok, want)
		}
	}
}

// A mode that does not count is said, and only when the profile chose it for this
// harness.
func TestModesThatDoNotCount(t *testing.T) {
	const said = "the permission mode acceptEdits counts only at capability full"
	params := m{"permission_mode": "acceptEdits"}
	out := replayed(t, "garbage", scene{params: params, task: func(t *plugin.Task) { t.Allowed = plugin.Read }}).everything()
	wantIn(t, out, said)
	out = replayed(t, "garbage", scene{params: params}).everything()
	wantNotIn(t, out, said)
	out = replayed(t, "garbage", scene{task: func(t *plugin.Task) { t.Allowed, t.Profile.PermissionMode = plugin.Read, "acceptEdits" }}).everything()
	wantNotIn(t, out, said)
}
