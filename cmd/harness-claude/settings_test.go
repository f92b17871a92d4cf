package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/google/go-cmp/cmp"
)

// at is a harness whose environment is env alone.
func at(env m) *harness {
	h := newHarness()
	h.root = false
	h.getenv = func(name string) string {
		s, _ := env[name].(string)
		return s
	}
	return h
}

func TestParamsAreChecked(t *testing.T) {
	tests := []struct{ raw, field, want string }{
		{`[]`, "params", "must be a JSON object"},
		{`{"max_turn":1}`, "params.max_turn", "unknown setting"},
		{`{"max_turns":0}`, "params.max_turns", "at least 1"},
		{`{"max_turns":1.5}`, "params.max_turns", "must be of type integer"},
		{`{"permission_mode":"yolo"}`, "params.permission_mode", "one of default, acceptEdits"},
		{`{"ask":"yes"}`, "params.ask", "must be of type boolean"},
		{`{"ask_timeout":0}`, "params.ask_timeout", "at least 1"},
		{`{"max_budget_usd":0}`, "params.max_budget_usd", "at least 0.01"},
		{`{"effort":"huge"}`, "params.effort", "one of low"},
		{`{"fallback_model":"a\nb"}`, "params.fallback_model", "control characters"},
		{`{"setting_sources":"everyone"}`, "params.setting_sources", "one of"},
		{`{"mcp_servers":[]}`, "params.mcp_servers", "must be a JSON object"},
		{`{"mcp_servers":{"clearbox":{}}}`, "params.mcp_servers", "Clearbox itself"},
		{`{"mcp_servers":{"a b":{}}}`, "params.mcp_servers", "letters, digits"},
		{`{"mcp_servers":{"a":"b"}}`, "params.mcp_servers", "mcp_servers.a must be a JSON object"},
		{`{"path":7}`, "params.path", "must be of type string"},
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
	p, bad := readParams(json.RawMessage(`{"max_turns":7,"ask":true,"ask_timeout":1.5,"max_retries":0,"effort":null,"setting_sources":"","review_capability":"read"}`))
	if bad != nil || p.maxTurns != 7 || !p.ask || p.askTimeout != 1500*time.Millisecond || *p.maxRetries != 0 {
		t.Errorf("got %+v, problem %v", p, bad)
	}
	if p, bad := readParams(nil); bad != nil || p.askTimeout != 10*time.Minute || p.maxRetries != nil || p.maxTurns != 0 {
		t.Errorf("the standard is %+v, problem %v", p, bad)
	}
}

func TestInfoDescribesTheSettings(t *testing.T) {
	info, err := newHarness().Info(t.Context())
	must(t, err)
	want := plugin.Features{MCP: true, Resume: true, Ask: true, Usage: true, Cost: true}
	if info.Slug != "claude" || len(info.Capabilities) != 4 || info.Features != want || info.Version == "" {
		t.Errorf("info %+v", info)
	}
	var s struct {
		Type                 string
		Properties           map[string]struct{ Type, Title, Description string }
		PropertyOrder        []string
		AdditionalProperties *bool
	}
	must(t, json.Unmarshal(info.Settings, &s))
	if s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties || len(s.PropertyOrder) != len(s.Properties) {
		t.Errorf("schema %s", info.Settings)
	}
	for name, p := range s.Properties {
		if p.Type == "" || p.Title == "" || p.Description == "" {
			t.Errorf("%s lacks a type, title or description", name)
		}
	}
	for _, name := range strings.Fields("max_turns permission_mode fallback_model max_budget_usd path config_dir ask ask_timeout") {
		if _, ok := s.Properties[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestHowTheProgramGetsToAModel(t *testing.T) {
	tests := []struct {
		name    string
		p       plugin.Profile
		env     m
		want    string // key, base
		problem string // field and text
	}{
		{"the login", plugin.Profile{}, nil, " ", ""},
		{"a key", plugin.Profile{Secret: " sk-1\n"}, nil, "sk-1 https://api.anthropic.com", ""},
		{"a key that was passed on", plugin.Profile{}, m{"ANTHROPIC_API_KEY": "sk-2"}, "sk-2 https://api.anthropic.com", ""},
		{"a key that was passed on is not for others", plugin.Profile{BaseURL: "http://localhost:1"}, m{"ANTHROPIC_API_KEY": "sk-2"}, " http://localhost:1", ""},
		{"a named key that is missing", plugin.Profile{KeyEnv: "MY_KEY"}, m{"ANTHROPIC_API_KEY": "sk-2"}, "", "api_key_env: the environment variable MY_KEY"},
		{"a key of two lines", plugin.Profile{Secret: "a\nb"}, nil, "", "api_key: line break"},
		{"a gateway", plugin.Profile{Secret: "k", BaseURL: "https://gw.example.com/anthropic/v1/"}, nil, "k https://gw.example.com/anthropic", ""},
		{"the whole address", plugin.Profile{BaseURL: "http://localhost:8080/v1/messages?x=1"}, nil, " http://localhost:8080", ""},
		{"another scheme", plugin.Profile{BaseURL: "localhost:8080"}, nil, "", "base_url: must begin with http"},
		{"no host", plugin.Profile{BaseURL: "http:///v1"}, nil, "", "base_url: names no host"},
		{"a password", plugin.Profile{BaseURL: "http://me:hunter2@localhost"}, nil, "", "base_url: must not hold a user or password"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, bad := at(tt.env).readAccess(tt.p)
			if field, text, ok := strings.Cut(tt.problem, ": "); ok {
				if bad == nil || bad.Field != field || strings.Contains(bad.Text, "hunter2") {
					t.Fatalf("got %+v, problem %v", a, bad)
				}
				wantIn(t, bad.Text, text)
				return
			}
			if bad != nil {
				t.Fatal(bad)
			}
			got := a.key + " "
			if a.base != nil {
				got += a.base.String()
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestProfileProblemsNameTheirField(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	root := at(nil)
	root.root = true
	tests := []struct {
		h     *harness
		p     plugin.Profile
		field string
	}{
		{at(nil), plugin.Profile{PermissionMode: "yolo"}, "permission_mode"},
		{root, plugin.Profile{PermissionMode: "bypassPermissions"}, "permission_mode"},
		{at(nil), plugin.Profile{Params: json.RawMessage(`{"config_dir":"relative"}`)}, "params.config_dir"},
		{at(nil), plugin.Profile{Params: encoded(t, m{"config_dir": file})}, "params.config_dir"},
		{at(nil), plugin.Profile{Tools: json.RawMessage(`{"denied":["Bash"]}`)}, "tools"},
		{at(nil), plugin.Profile{Tools: json.RawMessage(`{"preset":"some"}`)}, "tools"},
		{at(nil), plugin.Profile{Tools: json.RawMessage(`{"allow":["--flag"]}`)}, "tools"},
	}
	for _, tt := range tests {
		if _, bad := tt.h.readProfile(tt.p); bad == nil || bad.Field != tt.field {
			t.Errorf("%+v: %v", tt.p, bad)
		}
	}
	if _, bad := at(nil).readProfile(plugin.Profile{PermissionMode: "bypassPermissions"}); bad != nil {
		t.Error(bad)
	}
	home := t.TempDir()
	must(t, os.Mkdir(filepath.Join(home, "second"), 0o700))
	s, bad := at(m{"HOME": home}).readProfile(plugin.Profile{Params: json.RawMessage(`{"config_dir":"~/second"}`)})
	if bad != nil || s.configDir != filepath.Join(home, "second") {
		t.Errorf("got %+v, problem %v", s, bad)
	}
}

func TestSessionsWithAKeyHaveAFolderOfTheirOwn(t *testing.T) {
	home := t.TempDir()
	withKey, _ := at(nil).readProfile(plugin.Profile{Secret: "k"})
	login, _ := at(nil).readProfile(plugin.Profile{})
	for _, tt := range []struct {
		env  m
		s    setup
		want string
	}{
		{m{"HOME": home}, withKey, home + "/.local/state/clearbox/claude"},
		{m{"HOME": home, "XDG_STATE_HOME": home + "/state"}, withKey, home + "/state/clearbox/claude"},
		{nil, withKey, home + "/other"},
		{m{"HOME": home}, login, ""},
	} {
		got, err := at(tt.env).configFolder(tt.s, home+"/other")
		if err != nil || got != tt.want {
			t.Errorf("got %q, %v; want %q", got, err, tt.want)
		}
		if info, err := os.Stat(tt.want); tt.want != "" && (err != nil || info.Mode().Perm() != 0o700) {
			t.Errorf("%s: %v", tt.want, err)
		}
	}
}
