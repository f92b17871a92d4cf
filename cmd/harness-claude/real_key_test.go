package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

// The key is used and found nowhere: not in the environment or the arguments of any
// process that the agent can see, in no file of the run, in no event. What the
// endpoint echoes of it is taken out.
func TestRealKeyIsNowhere(t *testing.T) {
	key := "sk-ant-api03-needle-in-the-haystack"
	look := `run=$(dirname "$CLAUDE_CODE_TMPDIR"); env | grep ANTHROPIC; ls -l "$run"; ` +
		`grep -lrs need[l]e /proc/[0-9]*/environ /proc/[0-9]*/cmdline "$CLAUDE_CONFIG_DIR" "$run" .; cat "$run"/mcp.json; echo looked`
	p := play(t, scene{
		scripts: []script{{Turns: []turn{
			use("Bash", m{"command": look, "description": "look"}),
			{Status: 400, Kind: "invalid_request_error", Message: "no: " + key},
		}}},
		server: func(s *scriptedmessages.Server) { s.Key = key },
		task: func(t *plugin.Task) {
			t.Profile.Secret, t.MCPURL = key, "http://127.0.0.1:9/mcp-agent/token-of-the-run"
		},
	})
	out := p.everything()
	for _, secret := range []string{"needle", "token-of-the-run"} {
		if strings.Contains(out, secret) {
			t.Errorf("%s is in %s", secret, out)
		}
	}
	wantIn(t, out, "ANTHROPIC_API_KEY="+secrets.Mark, "-rw-------", "mcp.json", "no: "+secrets.Mark, "looked", "/mcp-agent/"+secrets.Mark)
	for _, q := range p.requests {
		if q.Header.Get("X-Api-Key") != key {
			t.Errorf("the endpoint got the key %q", q.Header.Get("X-Api-Key"))
		}
		if strings.Contains(string(q.Body), "needle") {
			t.Error("the model was told the key")
		}
	}
}

// Neither the user's settings nor those of the project count, unless the profile says
// so; then their hooks run.
func TestRealIsolation(t *testing.T) {
	hook := func(name string) string {
		return `{"env":{"PLANTED":"by-` + name + `"},"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"touch hooked-by-` + name + `"}]}]}}`
	}
	home := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(home, ".claude"), 0o755))
	must(t, os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte(hook("user")), 0o644))
	must(t, os.WriteFile(filepath.Join(home, ".claude", "CLAUDE.md"), []byte("SECRET-HABIT of the user"), 0o644))
	sc := scene{
		files: map[string]string{
			".claude/settings.json": hook("project"), "CLAUDE.md": "HABIT-OF-THE-PROJECT",
			".mcp.json": `{"mcpServers":{"planted":{"type":"stdio","command":"touch","args":["started-by-mcp"]}}}`,
		},
		scripts: []script{{Turns: []turn{use("Bash", m{"command": "echo planted=$PLANTED", "description": "look"}), say1("Done.")}}},
		env:     map[string]string{"HOME": home},
	}
	t.Setenv("HOME", home)
	p := play(t, sc)
	body := string(p.requests[0].Body)
	if strings.Contains(body, "HABIT") || p.exists("hooked-by-user") || p.exists("hooked-by-project") || p.exists("started-by-mcp") {
		t.Errorf("something leaked in: %q", p.results())
	}
	wantIn(t, strings.Join(p.results(), ""), "planted=")
	wantIn(t, body, "has notes for agents in CLAUDE.md")
	if strings.Contains(p.everything(), "planted=by") {
		t.Errorf("the environment leaked in: %q", p.results())
	}
	sc.params = m{"setting_sources": "project"}
	p = play(t, sc)
	if !p.exists("hooked-by-project") || p.exists("hooked-by-user") || p.exists("started-by-mcp") {
		t.Error("setting_sources=project does not do what it says")
	}
	wantIn(t, string(p.requests[0].Body), "HABIT-OF-THE-PROJECT")
}

// A login is used from the folder that the profile names, here against a stand-in for
// the API; without one the message says what to do.
func TestRealLogin(t *testing.T) {
	account := t.TempDir()
	login := func(t *plugin.Task) { t.Profile.Secret, t.Profile.BaseURL, t.Profile.Credential = "", "", "" }
	sc := scene{scripts: one(say1("As the second account.")), params: m{"config_dir": account}, task: login}
	p := play(t, sc)
	if !p.result.IsError || p.result.Subtype != subtypeLogin {
		t.Errorf("without a login: %+v", p.result)
	}
	wantIn(t, p.result.Text, "not logged in with the configuration directory "+account, "CLAUDE_CONFIG_DIR="+account)

	must(t, os.WriteFile(filepath.Join(account, ".credentials.json"), []byte(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-second","refreshToken":"sk-ant-ort01-x",`+
		`"expiresAt":4102444800000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`), 0o600))
	sc.server = func(s *scriptedmessages.Server) { s.Key = "sk-ant-oat01-second" }
	sc.task = func(task *plugin.Task) {
		t.Setenv("ANTHROPIC_BASE_URL", task.Profile.BaseURL) // so that no real account is needed
		login(task)
	}
	p = play(t, sc)
	if p.result.IsError || p.result.Text != "As the second account." {
		t.Errorf("with a login: %+v", p.result)
	}
}
