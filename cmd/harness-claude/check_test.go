package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
)

// checked is the report on a profile, with the player in the place of the program.
func checked(t *testing.T, env m, p plugin.Profile, connect bool) plugin.Report {
	t.Helper()
	if program := usePlayer(t); p.Params == nil {
		p.Params = encoded(t, m{"path": program})
	}
	r, err := at(env).Check(t.Context(), p, connect)
	must(t, err)
	return r
}

func TestCheckFindsTheProgram(t *testing.T) {
	home, empty := t.TempDir(), t.TempDir()
	t.Setenv("PATH", empty) // the player finds its shell all the same
	none := plugin.Profile{Params: []byte(`{}`), Secret: "k"}
	r := checked(t, m{"HOME": home}, none, false)
	if r.OK || r.Field != "params.path" {
		t.Errorf("report %+v", r)
	}
	wantIn(t, r.Detail, "was not found", "npm install -g @anthropic-ai/claude-code")
	if _, err := os.Stat("/usr/local/bin/claude"); err == nil {
		t.Skip("claude is installed for all")
	}
	must(t, os.MkdirAll(filepath.Join(home, ".local", "bin"), 0o755))
	program, _ := player(t)
	must(t, os.Symlink(program, filepath.Join(home, ".local", "bin", "claude")))
	if r = checked(t, m{"HOME": home}, none, false); !r.OK {
		t.Errorf("report %+v", r)
	}
	wantIn(t, r.Detail, "claude 2.1.900 at "+home)

	for path, want := range map[string]string{"/nowhere/claude": "no such file", empty: "params.path", "not-on-the-path": "params.path"} {
		r := checked(t, m{"HOME": home}, plugin.Profile{Params: encoded(t, m{"path": path})}, false)
		if r.OK || r.Field != "params.path" {
			t.Errorf("%s: %+v", path, r)
		}
		wantIn(t, r.Detail, want)
	}
}

func TestCheckOfTheVersion(t *testing.T) {
	for version, want := range map[string]string{
		"2.1.100 (Claude Code)": "", "2.2.0": "", "3.0.0": "", "2.1.99 (Claude Code)": "too old", "2.0.300": "too old", "1.0.120": "too old", "claude, a fine name": "does not name a version",
	} {
		t.Setenv(playedVersion, version)
		r := checked(t, nil, plugin.Profile{Secret: "k"}, false)
		if r.OK != (want == "") {
			t.Errorf("%s: %+v", version, r)
		}
		wantIn(t, r.Detail, want)
	}
}

func TestCheckOfALogin(t *testing.T) {
	home, account := t.TempDir(), t.TempDir()
	program, _ := player(t)
	params := encoded(t, m{"path": program, "config_dir": account})
	tests := []struct {
		says    string
		ok      bool
		details string
	}{
		{`{"loggedIn":true,"authMethod":"claude.ai","subscriptionType":"max"}`, true, "it is logged in (claude.ai, max) with " + account},
		{`{"loggedIn":false}`, false, "CLAUDE_CONFIG_DIR=" + account},
		{`error: unknown command`, true, "is not known"},
	}
	for _, tt := range tests {
		t.Setenv(playedLogin, tt.says)
		r := checked(t, m{"HOME": home}, plugin.Profile{Params: params}, true)
		if r.OK != tt.ok || r.Credential != "login" || r.Reachable != nil {
			t.Errorf("%s: %+v", tt.says, r)
		}
		wantIn(t, r.Detail, tt.details)
	}
}

func TestCheckWithoutConnecting(t *testing.T) {
	r := checked(t, nil, plugin.Profile{Secret: "sk-1234567", Credential: "literal", BaseURL: "http://127.0.0.1:9"}, false)
	if !r.OK || r.Reachable != nil || r.ModelListed != nil || r.Credential != "literal" || r.BaseURL != "http://127.0.0.1:9" {
		t.Errorf("report %+v", r)
	}
	wantIn(t, r.Detail, "was not tried")
	r = checked(t, m{"ANTHROPIC_API_KEY": "sk-1234567"}, plugin.Profile{}, false)
	if !r.OK || r.Credential != "env:ANTHROPIC_API_KEY" || r.BaseURL != officialURL {
		t.Errorf("report %+v", r)
	}
}

func TestCheckOfAnEndpoint(t *testing.T) {
	srv := scriptedmessages.New()
	srv.Models, srv.Key = []string{"claude-one-1", "other"}, "sk-right"
	url := serve(t, srv)
	yes, no := true, false
	tests := []struct {
		name, model, key string
		ok               bool
		listed           *bool
		field, detail    string
	}{
		{"listed", "claude-one-1", "sk-right", true, &yes, "", "has the model 'claude-one-1'"},
		{"a short name", "opus", "sk-right", true, nil, "", "answers"},
		{"the default", "", "sk-right", true, nil, "", "answers"},
		{"not listed", "claude-two-1", "sk-right", false, &no, "model", "not among the 2"},
		{"wrong key", "opus", "sk-wrong", false, nil, "api_key_env", "refused the api key (401)"},
		{"no key", "opus", "", false, nil, "api_key_env", "the profile has none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := checked(t, nil, plugin.Profile{Model: tt.model, BaseURL: url, Secret: tt.key}, true)
			if r.OK != tt.ok || r.Field != tt.field || r.Reachable == nil || !*r.Reachable {
				t.Errorf("report %+v", r)
			}
			if (r.ModelListed == nil) != (tt.listed == nil) || r.ModelListed != nil && *r.ModelListed != *tt.listed {
				t.Errorf("listed %v", r.ModelListed)
			}
			wantIn(t, r.Detail, tt.detail)
			if tt.key != "" && len(srv.Requests()) > 0 {
				t.Error("a model was asked")
			}
		})
	}
	r := checked(t, nil, plugin.Profile{BaseURL: "http://127.0.0.1:9", Secret: "sk-right"}, true)
	if r.OK || *r.Reachable || r.Field != "base_url" {
		t.Errorf("report %+v", r)
	}
	wantIn(t, r.Detail, "could not connect", "connection refused")
}

func TestCheckOfThingsThatAreNoSuchEndpoint(t *testing.T) {
	for status, want := range map[int]string{200: "not JSON", 404: "no list of models", 500: "answered with 500", 301: "answered with 301"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path != "/v1/models" || q.Method != http.MethodGet {
				t.Errorf("asked for %s %s", q.Method, q.URL)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>sk-echoed</html>"))
		}))
		r := checked(t, nil, plugin.Profile{BaseURL: srv.URL, Secret: "sk-echoed"}, true)
		srv.Close()
		wantIn(t, r.Detail, want)
		if r.OK != (status == 404) {
			t.Errorf("%d: %+v", status, r)
		}
	}
}
