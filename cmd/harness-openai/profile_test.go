package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
	"github.com/google/go-cmp/cmp"
)

func TestParamsAreChecked(t *testing.T) {
	tests := []struct{ raw, field, want string }{
		{`{"max_turn":3}`, "params.max_turn", `unknown setting "max_turn"`},
		{`{"temperature":"hot"}`, "params.temperature", `must be of type number, not "hot"`},
		{`{"temperature":3}`, "params.temperature", "must be at most 2, not 3"},
		{`{"temperature":-1}`, "params.temperature", "must be at least 0"},
		{`{"top_p":1.5}`, "params.top_p", "at most 1"},
		{`{"max_tokens":0}`, "params.max_tokens", "at least 1"},
		{`{"max_tokens":1.5}`, "params.max_tokens", "must be of type integer"},
		{`{"max_turns":0}`, "params.max_turns", "at least 1"},
		{`{"stream":"yes"}`, "params.stream", "must be of type boolean"},
		{`{"timeout":0}`, "params.timeout", "at least 1"},
		{`{"max_retries":-1}`, "params.max_retries", "at least 0"},
		{`{"seed":[]}`, "params.seed", "must be of type integer"},
		{`{"reasoning_effort":2}`, "params.reasoning_effort", "must be of type string"},
		{`{"extra_body":[1]}`, "params.extra_body", "must be a JSON object"},
		{`{"extra_body":{"messages":[]}}`, "params.extra_body", `must not hold "messages"`},
		{`{"review_capability":"all"}`, "params.review_capability", "one of read, run, edit, full"},
		{`{"max_tokens":5,"max_completion_tokens":5}`, "params.max_tokens", "one limit by two names"},
		{`[]`, "params", "must be a JSON object"},
	}
	for _, tt := range tests {
		_, bad := readParams(json.RawMessage(tt.raw))
		if bad == nil {
			t.Errorf("%s was taken", tt.raw)
			continue
		}
		if bad.Field != tt.field {
			t.Errorf("%s: the field is %s, want %s", tt.raw, bad.Field, tt.field)
		}
		wantIn(t, bad.Text, tt.want)
	}
	p, bad := readParams(json.RawMessage(`{"timeout":1.5,"max_turns":7,"stream":false,"seed":-3,"max_retries":null}`))
	if bad != nil || p.timeout != 1500*time.Millisecond || p.maxTurns != 7 || p.stream || *p.seed != -3 || p.maxRetries != 2 {
		t.Errorf("got %+v, problem %v", p, bad)
	}
	p, bad = readParams(nil)
	if bad != nil || p.timeout != 600*time.Second || p.maxTurns != 50 || !p.stream || p.maxRetries != 2 {
		t.Errorf("the standard is %+v, problem %v", p, bad)
	}
}

func TestInfoDescribesTheSettings(t *testing.T) {
	info, err := newHarness().Info(t.Context())
	must(t, err)
	if info.Slug != "openai" || len(info.Capabilities) != 4 || !info.Features.MCP || !info.Features.Model || info.Version == "" {
		t.Errorf("info %+v", info)
	}
	var s struct {
		Type       string
		Properties map[string]struct {
			Type, Title, Description string
			Default                  any
		}
		AdditionalProperties *bool
	}
	must(t, json.Unmarshal(info.Settings, &s))
	if s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties {
		t.Errorf("schema %s", info.Settings)
	}
	var have []string
	for name, p := range s.Properties {
		have = append(have, name)
		if p.Type == "" || p.Title == "" || p.Description == "" {
			t.Errorf("%s lacks a type, title or description", name)
		}
	}
	for _, name := range strings.Fields("temperature top_p max_tokens max_completion_tokens reasoning_effort seed parallel_tool_calls max_turns stream timeout max_retries extra_body input_price_per_mtok output_price_per_mtok") {
		if _, ok := s.Properties[name]; !ok {
			t.Errorf("%s is missing; there is %v", name, have)
		}
	}
	defaults := map[string]any{"max_turns": 50.0, "stream": true, "timeout": 600.0, "max_retries": 2.0}
	for name, want := range defaults {
		if got := s.Properties[name].Default; got != want {
			t.Errorf("%s has the default %v, want %v", name, got, want)
		}
	}
}

func TestWhereTheModelIs(t *testing.T) {
	tests := []struct {
		name    string
		p       plugin.Profile
		want    string // the chat address
		auth    string
		problem string
	}{
		{"official", plugin.Profile{Secret: "sk-1"}, "https://api.openai.com/v1/chat/completions", "Bearer sk-1", ""},
		{"official without a key", plugin.Profile{}, "", "", "api_key_env"},
		{"a named variable that is not set", plugin.Profile{KeyEnv: "MY_KEY"}, "", "", "environment variable MY_KEY"},
		{"a public host without a key", plugin.Profile{BaseURL: "https://llm.example.com/v1"}, "", "", "no api key for llm.example.com"},
		{"a slash at the end", plugin.Profile{BaseURL: "http://localhost:8080/v1/"}, "http://localhost:8080/v1/chat/completions", "Bearer not-needed", ""},
		{"the whole address", plugin.Profile{BaseURL: " http://localhost:8080/v1/chat/completions "}, "http://localhost:8080/v1/chat/completions", "Bearer not-needed", ""},
		{"a query", plugin.Profile{BaseURL: "http://localhost/v1?api-version=2"}, "http://localhost/v1/chat/completions?api-version=2", "Bearer not-needed", ""},
		{"a key for a local host", plugin.Profile{BaseURL: "http://localhost/v1", Secret: " sk-2\n"}, "http://localhost/v1/chat/completions", "Bearer sk-2", ""},
		{"another scheme", plugin.Profile{BaseURL: "localhost:8080/v1"}, "", "", "must begin with http:// or https://"},
		{"no host", plugin.Profile{BaseURL: "http:///v1"}, "", "", "names no host"},
		{"no URL", plugin.Profile{BaseURL: "http://[::1/v1"}, "", "", "is not a URL"},
		{"a password", plugin.Profile{BaseURL: "http://me:hunter2@localhost/v1"}, "", "", "must not hold a user or password"},
		{"a key of two lines", plugin.Profile{BaseURL: "http://localhost/v1", Secret: "a\nb"}, "", "", "line break"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, bad := readEndpoint(tt.p)
			if tt.problem != "" {
				if bad == nil {
					t.Fatalf("taken as %v", e)
				}
				wantIn(t, bad.Text, tt.problem)
				if strings.Contains(bad.Text, "hunter2") {
					t.Errorf("the password is in %q", bad.Text)
				}
				return
			}
			if bad != nil {
				t.Fatal(bad)
			}
			if diff := cmp.Diff([]string{tt.want, tt.auth}, []string{e.url("chat/completions"), e.authorization()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHostsThatNeedNoKey(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.8.8.8": true, "::1": true, "0.0.0.0": true, "10.1.2.3": true, "172.16.0.1": true, "192.168.1.5": true,
		"169.254.0.1": true, "fd00::1": true, "fe80::1": true, "100.100.1.1": true, "::ffff:10.0.0.1": true, "::ffff:100.64.0.1": true,
		"ollama": true, "gpu.local": true, "GPU.LAN": true, "host.docker.internal": true, "a.localhost": true, "nas.home.arpa": true,
		"api.openai.com": false, "8.8.8.8": false, "172.32.0.1": false, "2001:4860::1": false, "localhost.example.com": false, "100.200.0.1": false,
	} {
		if got := isPrivate(host); got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}

const secret = `sk-"very/secret+key`

// A key is echoed by the endpoint in errors, texts, arguments and thinking, and found
// in a file; it is sent to the endpoint and comes out nowhere.
func TestTheKeyIsSentAndShownNowhere(t *testing.T) {
	withKey := func(t *plugin.Task) { t.Profile.Secret, t.Profile.Credential = secret, "literal" }
	scenes := map[string]scene{
		"error": {turns: []turn{say("never")}, server: func(s *scriptedmodel.Server) { s.Key = "another" }},
		"retry": {loop: true, turns: []turn{{Status: 500, Body: string(encoded(t, m{"error": m{"message": "no: Bearer " + secret}}))}}},
		"limit": {turns: []turn{{Status: 429, Headers: map[string]string{"Retry-After": "999"}, Body: "key " + secret}}},
		"text and tools": {
			files: map[string]string{"env": "KEY=" + secret + "\n"},
			turns: []turn{
				{Text: "my key is " + secret, Thinking: secret, Calls: []toolUse{{Name: "bash", Args: m{"command": "cat env; echo '" + secret + "' >&2"}}, {Name: secret, Raw: secret}}},
				{Text: "it is " + secret},
			},
		},
		"cut": {turns: []turn{{Text: secret, Finish: "length"}}},
		"bad": {params: m{"max_turns": secret}},
	}
	for name, sc := range scenes {
		t.Run(name, func(t *testing.T) {
			sc.task = withKey
			p := play(t, sc)
			out := p.everything(t)
			for _, form := range []string{secret, `sk-\"very/secret+key`, "very/secret"} {
				if strings.Contains(out, form) {
					t.Errorf("%s is in %s", form, out)
				}
			}
			for _, q := range p.requests {
				if got := q.Header.Get("Authorization"); got != "Bearer "+secret {
					t.Errorf("sent %q", got)
				}
				for _, msg := range q.Messages {
					if msg.Role == "tool" && strings.Contains(msg.Content, secret) {
						t.Errorf("the model was told the key: %q", msg.Content)
					}
				}
			}
		})
	}
}

func TestCommandsDoNotSeeTheKey(t *testing.T) {
	p := play(t, scene{
		turns: []turn{use("bash", m{"command": "env; cat /proc/$PPID/cmdline /proc/$PPID/environ | tr '\\0' '\\n' | grep -c h[i]dden-key"}), say("ok")},
		task:  func(t *plugin.Task) { t.Profile.Secret = "hidden-key-123" },
	})
	out := p.everything(t)
	if strings.Contains(out, "hidden-key-123") || strings.Contains(out, secrets.Mark) || !strings.Contains(out, `\n0\n[exit code 1]`) {
		t.Errorf("a command saw: %s", out)
	}
}
