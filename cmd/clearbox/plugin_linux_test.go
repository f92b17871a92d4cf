package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const claudePlugin = "../../integrations/claude-code"

// readJSONFile reads a file of the repository.
func readJSONFile(t *testing.T, path string, to any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func TestThePluginForClaudeCodeIsWhole(t *testing.T) {
	t.Parallel()
	var market struct {
		Plugins []struct{ Name, Source string }
	}
	readJSONFile(t, claudePlugin+"/.claude-plugin/marketplace.json", &market)
	if len(market.Plugins) != 1 {
		t.Fatalf("the marketplace has %+v", market.Plugins)
	}
	dir := filepath.Join(claudePlugin, market.Plugins[0].Source)
	var manifest struct{ Name, Version string }
	readJSONFile(t, dir+"/.claude-plugin/plugin.json", &manifest)
	if manifest.Version != version || manifest.Name != market.Plugins[0].Name {
		t.Errorf("the plugin is %+v, and this is %s", manifest, version)
	}
	for path, want := range map[string]string{dir + "/.mcp.json": "http://127.0.0.1:${CLEARBOX_PORT:-8765}/mcp/observe",
		"../../.mcp.json": "http://127.0.0.1:${CLEARBOX_PORT:-8765}/mcp"} {
		var config struct {
			MCPServers map[string]struct{ Type, URL string }
		}
		readJSONFile(t, path, &config)
		if got := config.MCPServers["clearbox"]; got.Type != "http" || got.URL != want {
			t.Errorf("%s connects to %+v", path, got)
		}
	}
	skill, err := os.ReadFile(dir + "/skills/plan-with-clearbox/SKILL.md")
	if err != nil || !strings.HasPrefix(string(skill), "---\nname: plan-with-clearbox\ndescription: ") {
		t.Errorf("the skill begins with %.60q, %v", skill, err)
	}
	var hooks struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	readJSONFile(t, dir+"/hooks/hooks.json", &hooks)
	if start := hooks.Hooks["SessionStart"]; len(start) != 1 || !strings.Contains(start[0].Hooks[0].Command, "/hooks/session-start.sh") {
		t.Errorf("the hooks are %+v", hooks)
	}
}

// The hook never keeps a session from starting, and says in a line how it is.
func TestTheHookStartsTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ports := neighbours(t)
	bin := filepath.Dir(program(t, "clearbox"))
	for _, tt := range []struct {
		name string
		env  []string
		want string
	}{
		{"first", []string{"PATH=" + bin + ":/usr/bin:/bin"}, "background: " + d.url()},
		{"again", []string{"PATH=" + bin + ":/usr/bin:/bin"}, "is running: " + d.url()},
		{"no program", []string{"PATH=/usr/bin:/bin"}, "not installed"},
		{"another program has the port", []string{"PATH=" + bin + ":/usr/bin:/bin", "CLEARBOX_PORT=" + strconv.Itoa(ports["a web server"])}, "not Clearbox"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script, err := filepath.Abs(claudePlugin + "/clearbox/hooks/session-start.sh")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", script)
			cmd.Dir, cmd.Env = d.dir, slices.Concat(d.env, []string{"CLEARBOX_AGENT=mock"}, tt.env)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) || strings.Count(string(out), "\n") != 1 {
				t.Errorf("it printed %q, %v; want %q", out, err, tt.want)
			}
		})
	}
}
