package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// callTime is how long a call of an MCP tool may take, in milliseconds. The program's
// own limit is a minute.
const callTime = 600_000

// folder is where the files of one run are: a folder that only this user can enter.
type folder struct{ dir string }

// openFolder makes it in the run's own, or among the temporary files.
func openFolder(run string) (folder, error) {
	dir, err := os.MkdirTemp(run, "c") // short: sockets in it have little room for a name
	if err != nil {
		return folder{}, fmt.Errorf("make a folder for the run: %w", err)
	}
	f := folder{dir}
	if err := os.Mkdir(f.temp(), 0o700); err != nil {
		f.remove()
		return folder{}, fmt.Errorf("make a folder for the run: %w", err)
	}
	return f, nil
}

// temp is for what the program itself keeps for the time of the run.
func (f folder) temp() string { return filepath.Join(f.dir, "t") }

func (f folder) file(name string) string { return filepath.Join(f.dir, name) }

func (f folder) write(name string, data []byte) (string, error) {
	path := f.file(name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("write a file for the program: %w", err)
	}
	return path, nil
}

// remove takes the files away. What the program still writes there in its last moment
// is gone with the run's own folder.
func (f folder) remove() { _ = os.RemoveAll(f.dir) }

// launch is how the program is started.
type launch struct {
	argv, env []string
}

// prepare writes the files of a run and puts together how the program is started.
func (s *session) prepare() (launch, error) {
	var l launch
	args := []string{s.program, "-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose", "--include-partial-messages",
		"--permission-mode=" + s.guard.mode, "--setting-sources=" + s.sources, "--strict-mcp-config",
		"--tools=" + strings.Join(s.guard.tools, ",")}
	if s.guard.ask {
		args = append(args, "--permission-prompt-tool=stdio")
	}
	if s.resume != "" {
		args = append(args, "--resume="+s.resume)
	} else {
		args = append(args, "--session-id="+s.id)
	}
	args = append(args, s.options()...)
	files, err := s.files()
	if err != nil {
		return l, err
	}
	l.argv = append(args, files...)
	l.env, err = s.environment()
	return l, err
}

// options are the flags of the profile's settings. All have the form with =, so that
// no value can be taken for a flag.
func (s *session) options() []string {
	var out []string
	add := func(flag, value string) {
		if value != "" {
			out = append(out, "--"+flag+"="+value)
		}
	}
	allow := s.guard.allow
	if s.mcpURL() != "" {
		allow = append(allow[:len(allow):len(allow)], "mcp__"+ownServer)
	}
	add("allowedTools", strings.Join(allow, ","))
	add("disallowedTools", strings.Join(s.guard.deny, ","))
	add("model", s.model)
	add("fallback-model", s.fallback)
	add("effort", s.effort)
	if s.maxTurns > 0 {
		add("max-turns", strconv.Itoa(s.maxTurns))
	}
	if most := s.budget(); most > 0 {
		add("max-budget-usd", strconv.FormatFloat(most, 'f', -1, 64))
	}
	return out
}

// budget is the lower of the profile's two limits of money, 0 for none.
func (s *session) budget() float64 {
	most := s.task.Limits.MaxCostUSD
	if s.maxBudget > 0 && (most <= 0 || s.maxBudget < most) {
		most = s.maxBudget
	}
	return most
}

// mcpURL is where the tools of Clearbox are, "" when there are none for this run.
func (s *session) mcpURL() string {
	if !s.choice.wantsMCP() && !reviews(s.task.Kind) {
		return ""
	}
	return s.task.MCPURL
}

// files writes the files of the run and returns the flags that name them.
func (s *session) files() ([]string, error) {
	var out []string
	if text := systemText(s.task, s.sources); text != "" {
		path, err := s.folder.write("system.txt", []byte(text))
		if err != nil {
			return nil, err
		}
		out = append(out, "--append-system-prompt-file="+path)
	}
	servers := map[string]any{}
	for name, raw := range s.servers {
		servers[name] = raw
	}
	if address := s.mcpURL(); address != "" {
		servers[ownServer] = map[string]any{"type": "http", "url": address, "timeout": callTime}
	}
	if len(servers) == 0 {
		return out, nil
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, fmt.Errorf("write the MCP servers of the run: %w", err)
	}
	path, err := s.folder.write("mcp.json", raw)
	return append(out, "--mcp-config="+path), err
}

// runMark names the variable by which everything that a run started is found at its end.
const runMark = "CLEARBOX_CLAUDE_RUN"

// environment is what the program gets beside the environment of the run.
func (s *session) environment() ([]string, error) {
	config, err := s.h.configFolder(s.setup, s.folder.file("config"))
	if err != nil {
		return nil, err
	}
	env := []string{
		runMark + "=" + s.mark,
		"CLAUDE_CODE_TMPDIR=" + s.folder.temp(),
		// Nothing but model calls, and no newer program in the middle of a run.
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", // they would keep the program after its result
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",      // what one step notes must not steer another
		"ENABLE_TOOL_SEARCH=false",               // Clearbox's tools are there without being looked for
		"CLAUDECODE=",                            // it is no part of another session
	}
	env = append(env, noProxy(s.h.getenv)...)
	if config != "" {
		env = append(env, "CLAUDE_CONFIG_DIR="+config)
	}
	if s.maxRetries != nil {
		env = append(env, "CLAUDE_CODE_MAX_RETRIES="+strconv.Itoa(*s.maxRetries))
	}
	return append(env, s.credentials()...), nil
}

// credentials lead the program to the proxy, with the run's token in the place of any
// key. Empty variables stand for none.
func (s *session) credentials() []string {
	if s.proxy == nil {
		return nil
	}
	key, login := s.proxy.token, ""
	if s.access.token {
		key, login = "", s.proxy.token
	}
	return []string{"ANTHROPIC_BASE_URL=" + s.proxy.url, "ANTHROPIC_API_KEY=" + key, "ANTHROPIC_AUTH_TOKEN=", "CLAUDE_CODE_OAUTH_TOKEN=" + login}
}

// noProxy keeps calls to this machine away from a proxy that is set for the world.
func noProxy(getenv func(string) string) []string {
	var out []string
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list := "127.0.0.1,localhost"
		if old := getenv(name); old != "" {
			list = old + "," + list
		}
		out = append(out, name+"="+list)
	}
	return out
}

// systemText is what is appended to the program's own system text.
func systemText(t plugin.Task, sources string) string {
	parts := []string{strings.TrimSpace(t.System)}
	if own := strings.TrimSpace(t.Profile.SystemAppend); !strings.Contains(t.System, own) {
		parts = append(parts, own)
	}
	if !strings.Contains(sources, "project") { // else the program reads it itself
		for _, name := range []string{"CLAUDE.md", "AGENTS.md"} {
			if info, err := os.Lstat(filepath.Join(t.WorkDir, name)); err == nil && info.Mode().IsRegular() {
				parts = append(parts, "The working directory has notes for agents in "+name+": read them before you change anything.")
				break
			}
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n"))
}
