package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
)

func one(t turn) []script { return []script{{Turns: []turn{t}, Loop: true}} }

// What goes wrong between the program and the model is told in a sentence of its own,
// and waits or is tried again where that helps.
func TestRealFaults(t *testing.T) {
	cut := 3
	began := time.Now()
	stamp := began.Add(3 * time.Hour).Unix()
	tests := []struct {
		name      string
		scene     scene
		want      string
		transient bool
		limited   time.Duration // from now, about
	}{
		{"wrong key", scene{scripts: one(say1("x")), server: func(s *scriptedmessages.Server) { s.Key = "another" }}, "refused the api key (401): check the variable", false, 0},
		{"overload", scene{scripts: one(turn{Status: 529, Kind: "overloaded_error", Message: "Overloaded"})}, "overloaded (529)", true, 0},
		{"server fault", scene{scripts: one(turn{Status: 500, Kind: "api_error", Message: "boom"})}, "failed (500)", true, 0},
		{"cut stream", scene{scripts: one(turn{Text: "never whole", CutAfter: &cut})}, "broke off", true, 0},
		{"no such model", scene{scripts: one(turn{Status: 404, Kind: "not_found_error", Message: "model: gone"}), task: func(t *plugin.Task) { t.Profile.Model = "claude-gone-1" }}, "the model 'claude-gone-1' was not found", false, 0},
		{"limit with a span", scene{scripts: one(turn{Status: 429, Kind: "rate_limit_error", Message: "slow down", Headers: headers(m{"Retry-After": "7200"})})}, "rate limit is reached, until", false, 2 * time.Hour},
		{"limit with a moment", scene{scripts: one(turn{Status: 429, Kind: "rate_limit_error", Message: "no more", Headers: headers(m{"Retry-After": "7200", "anthropic-ratelimit-unified-reset": stamp})})}, "rate limit is reached, until", false, 3 * time.Hour},
		{"no credit", scene{scripts: one(turn{Status: 400, Kind: "invalid_request_error", Message: "Your credit balance is too low to access the Anthropic API."})}, "no credit left", false, 0},
		{"nobody there", scene{scripts: one(say1("x")), task: func(t *plugin.Task) { t.Profile.BaseURL = "http://127.0.0.1:9" }}, "could not connect to http://127.0.0.1:9: connection refused; see whether", true, 0},
		{"turns used up", scene{scripts: []script{{Loop: true, Turns: []turn{use("Bash", m{"command": "true"})}}}, params: m{"max_turns": 2}}, "not done after max_turns=2", false, 0},
		{"tokens used up", scene{
			scripts: []script{{Loop: true, Turns: []turn{{Calls: []scriptedmessages.Call{{Name: "Bash", Input: m{"command": "true"}}}, Usage: &scriptedmessages.Usage{In: 90, Out: 20}}}}},
			task:    func(t *plugin.Task) { t.Limits.MaxTokens = 200 },
		}, "limit of 200 tokens is reached (220 used)", false, 0},
		{"money used up", scene{
			scripts: []script{{Loop: true, Turns: []turn{{Calls: []scriptedmessages.Call{{Name: "Bash", Input: m{"command": "true"}}}, Usage: &scriptedmessages.Usage{In: 900_000, Out: 90_000}}}}},
			task:    func(t *plugin.Task) { t.Limits.MaxCostUSD = 1.5 },
		}, "limit of $1.50 is reached ($", false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := play(t, tt.scene)
			r := p.result
			if !r.IsError || len(r.Errors) == 0 {
				t.Fatalf("result %+v", r)
			}
			wantIn(t, r.Errors[0], tt.want)
			if r.Transient != tt.transient || r.RateLimited != (tt.limited > 0) {
				t.Errorf("transient %v, limited %v: %s", r.Transient, r.RateLimited, r.Errors[0])
			}
			if off := r.Until.Sub(began) - tt.limited; tt.limited > 0 && (off < -time.Second || r.Until.After(time.Now().Add(tt.limited))) {
				t.Errorf("until %v, want %v after %v", r.Until, tt.limited, began)
			}
			if out := p.everything(); strings.Contains(out, apiKey) {
				t.Errorf("the key is in %s", out)
			}
		})
	}
}

func headers(of m) map[string]string {
	out := map[string]string{}
	for k, v := range of {
		out[k] = fmt.Sprint(v)
	}
	return out
}

// A fault that passes by does not end the run.
func TestRealFaultsThatPass(t *testing.T) {
	cut := 3
	p := play(t, scene{scripts: []script{{Turns: []turn{
		{Status: 529, Kind: "overloaded_error", Message: "Overloaded", Times: 1, Calls: []scriptedmessages.Call{{Name: "Bash", Input: m{"command": "echo one"}}}},
		{CutAfter: &cut, Times: 1, Text: "All is well."},
	}}}})
	if p.result.IsError || p.result.Text != "All is well." {
		t.Errorf("result %+v", p.result)
	}
	wantIn(t, p.everything(), "a request to the model failed (529, overloaded)")
}

// The limit of a login comes with its own message, here through the long-lived token
// of one.
func TestRealLimitOfALogin(t *testing.T) {
	const token = "sk-ant-oat01-of-the-test"
	reset := time.Now().Add(90 * time.Minute).Truncate(time.Second)
	p := play(t, scene{
		scripts: one(turn{Status: 429, Kind: "rate_limit_error", Message: "This request would exceed your account's rate limit.", Headers: headers(m{
			"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": reset.Unix(),
			"anthropic-ratelimit-unified-representative-claim": "five_hour", "Retry-After": "5400",
		})}),
		server: func(s *scriptedmessages.Server) { s.Key = token },
		task:   func(t *plugin.Task) { t.Profile.Secret = token },
	})
	if !p.result.RateLimited || !p.result.Until.Equal(reset) {
		t.Errorf("result %+v", p.result)
	}
	wantIn(t, p.result.Text, "You've hit your", "resets")
	if got := p.requests[0].Header.Get("Authorization"); got != "Bearer "+token {
		t.Errorf("the endpoint got %q", got)
	}
}
