package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

// prepared is how a run would be started.
func prepared(t *testing.T, env m, task plugin.Task, params m) (*session, launch) {
	t.Helper()
	params["path"] = usePlayer(t)
	task.WorkDir, task.RunDir = t.TempDir(), t.TempDir()
	task.Profile.Params = encoded(t, params)
	env["HOME"] = t.TempDir()
	h := at(env)
	set, bad := h.readProfile(task.Profile)
	if bad != nil {
		t.Fatal(bad)
	}
	s, err := h.openSession(t.Context(), set, task, secrets.Host{})
	must(t, err)
	t.Cleanup(s.close)
	l, err := s.prepare()
	must(t, err)
	return s, l
}

func TestTheCommandLine(t *testing.T) {
	task := plugin.Task{Allowed: "run", Prompt: "SECRET PROMPT", System: "Be good.", MCPURL: "http://127.0.0.1:1/mcp-agent/run-token-9",
		Profile: plugin.Profile{Model: "--model-with-dashes", Secret: "sk-of-the-profile", BaseURL: "http://localhost:1", SystemAppend: "And kind."}, Limits: plugin.Limits{MaxCostUSD: 3}}
	s, l := prepared(t, m{}, task, m{"max_turns": 9, "max_budget_usd": 1.25, "fallback_model": "haiku", "effort": "low", "mcp_servers": m{"extra": m{"type": "http", "url": "http://x"}}})
	line := strings.Join(l.argv, "\n")
	for _, want := range []string{
		"\n-p\n", "--input-format=stream-json", "--output-format=stream-json", "--permission-mode=dontAsk", "--setting-sources=\n", "--strict-mcp-config",
		"--tools=Read,Glob,Grep,Bash\n", "--allowedTools=Read,Glob,Grep,Bash,mcp__extra,mcp__clearbox\n", "--session-id=" + s.id, "--model=--model-with-dashes",
		"--fallback-model=haiku", "--effort=low", "--max-turns=9", "--max-budget-usd=1.25",
	} {
		wantIn(t, line+"\n", want)
	}
	all := line + "\n" + strings.Join(l.env, "\n")
	for _, secret := range []string{"SECRET PROMPT", "sk-of-the-profile", "run-token-9", "Be good"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is in %s", secret, all)
		}
	}
	for _, arg := range l.argv[2:] {
		if !strings.HasPrefix(arg, "--") {
			t.Errorf("the argument %q has no flag", arg)
		}
	}
	var config struct{ MCPServers map[string]map[string]any }
	raw, err := os.ReadFile(s.folder.file("mcp.json"))
	must(t, err)
	must(t, json.Unmarshal(raw, &config))
	if config.MCPServers["clearbox"]["url"] != task.MCPURL || config.MCPServers["extra"]["url"] != "http://x" {
		t.Errorf("servers %s", raw)
	}
	system, err := os.ReadFile(s.folder.file("system.txt"))
	must(t, err)
	if string(system) != "Be good.\n\nAnd kind." {
		t.Errorf("system text %q", system)
	}
	for _, name := range []string{"mcp.json", "system.txt"} {
		if info, err := os.Stat(s.folder.file(name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if info, err := os.Stat(s.folder.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v %v", info.Mode(), err)
	}
}

func TestTheEnvironment(t *testing.T) {
	s, l := prepared(t, m{"NO_PROXY": "corp.example"}, plugin.Task{Allowed: "full", Profile: plugin.Profile{Secret: "sk-of-the-profile"}}, m{"max_retries": 3})
	for _, want := range []string{
		"ANTHROPIC_API_KEY=" + s.proxy.token, "ANTHROPIC_BASE_URL=" + s.proxy.url, "CLAUDE_CODE_OAUTH_TOKEN=", "NO_PROXY=corp.example,127.0.0.1,localhost",
		"CLAUDE_CODE_MAX_RETRIES=3", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_TMPDIR=" + s.folder.temp(), runMark + "=" + s.mark,
	} {
		if !slices.Contains(l.env, want) {
			t.Errorf("%s is missing in %v", want, l.env)
		}
	}
	s, l = prepared(t, m{}, plugin.Task{Allowed: "full", Profile: plugin.Profile{Secret: "sk-ant-oat01-token"}}, m{})
	if !slices.Contains(l.env, "CLAUDE_CODE_OAUTH_TOKEN="+s.proxy.token) || !slices.Contains(l.env, "ANTHROPIC_API_KEY=") {
		t.Errorf("the token of a login: %v", l.env)
	}
	account := t.TempDir()
	_, l = prepared(t, m{}, plugin.Task{Allowed: "full"}, m{"config_dir": account})
	if !slices.Contains(l.env, "CLAUDE_CONFIG_DIR="+account) || strings.Contains(strings.Join(l.env, "\n"), "ANTHROPIC") {
		t.Errorf("a login: %v", l.env)
	}
}

func TestOtherWaysToStart(t *testing.T) {
	_, l := prepared(t, m{}, plugin.Task{Allowed: "read", ResumeSession: "old-session"}, m{"ask": true, "setting_sources": "project"})
	line := strings.Join(l.argv, "\n")
	wantIn(t, line, "--resume=old-session", "--permission-prompt-tool=stdio", "--permission-mode=default", "--setting-sources=project")
	if strings.Contains(line, "--session-id") || strings.Contains(line, "--mcp-config") || strings.Contains(line, "--append-system-prompt-file") {
		t.Errorf("started with %s", line)
	}
}

func TestTheSystemTextNamesTheProjectsNotes(t *testing.T) {
	dir := t.TempDir()
	task := plugin.Task{WorkDir: dir, System: "Work. Be kind.", Profile: plugin.Profile{SystemAppend: "Be kind."}}
	if got := systemText(task, ""); got != "Work. Be kind." {
		t.Errorf("got %q", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "AGENTS.md"), nil, 0o644))
	wantIn(t, systemText(task, ""), "Be kind.\n\nThe working directory has notes for agents in AGENTS.md")
	if got := systemText(task, "user,project"); strings.Contains(got, "AGENTS.md") {
		t.Errorf("got %q", got)
	}
}
