package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
)

// realAgent is claude-code-acp, named by CLEARBOX_TEST_ACP or found on PATH. Without
// it the test is skipped.
func realAgent(t *testing.T) string {
	t.Helper()
	name := os.Getenv("CLEARBOX_TEST_ACP")
	if name == "" {
		name = "claude-code-acp"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no real agent is here: npm install -g @zed-industries/claude-code-acp, or set CLEARBOX_TEST_ACP to its path")
	}
	return path
}

// A real agent works within its capability, with a scripted model in the place of its
// own. What it may not do it asks about, and is refused.
func TestARealAgent(t *testing.T) {
	agent := realAgent(t)
	dir := t.TempDir()
	srv := scriptedmessages.New(
		scriptedmessages.Script{Match: "Do the step.", Turns: []scriptedmessages.Turn{
			{Thinking: "First the file.", Text: "I write it.", Calls: []scriptedmessages.Call{{Name: "mcp__acp__Write", Input: m{"file_path": filepath.Join(dir, "b.txt"), "content": "new\n"}}}},
			{Calls: []scriptedmessages.Call{{Name: "mcp__acp__Bash", Input: m{"command": "touch ran.txt"}}}},
			scriptedmessages.Say("All done."),
		}},
		scriptedmessages.Script{Turns: []scriptedmessages.Turn{scriptedmessages.Say("a title")}, Loop: true})
	r, err := srv.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	home := t.TempDir()
	task := plugin.Task{Prompt: "Do the step.", WorkDir: dir, Allowed: plugin.Edit, Profile: plugin.Profile{Name: "real", Secret: "sk-ant-of-the-test", Params: encoded(t, m{
		"command": []string{agent}, "key_var": "ANTHROPIC_API_KEY",
		"env": m{"ANTHROPIC_BASE_URL": r.URL, "HOME": home, "CLAUDE_CONFIG_DIR": home, "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDECODE": "", "IS_SANDBOX": "1"},
	})}}
	p := playIn(t, task)
	t.Log(p.Transcript())
	if p.Result.IsError || !strings.Contains(p.Result.Text, "All done.") {
		t.Errorf("result %+v", p.Result)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(b) != "new\n" {
		t.Errorf("it wrote %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran.txt")); err == nil {
		t.Error("a command ran")
	}
}
