package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// everyCommand calls a function for each command that is shown, with its path.
func everyCommand(table []command, path string, do func(path string, c *command)) {
	for i := range table {
		c := &table[i]
		if c.hidden {
			continue
		}
		do(strings.TrimSpace(path+" "+c.name), c)
		everyCommand(c.sub, strings.TrimSpace(path+" "+c.name), do)
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	overview := execute(t, "help")
	checkFine(t, overview, "usage: clearbox", "Exit codes")
	for _, args := range [][]string{{"--help"}, {"-h"}} {
		if o := execute(t, args...); o != overview {
			t.Errorf("%v prints something else: %+v", args, o)
		}
	}
	home := "XDG_DATA_HOME=" + t.TempDir() // help shows the usual database
	everyCommand(commands(), "", func(path string, c *command) {
		o := execute(t, append(strings.Fields(path), "--help", home)...)
		checkFine(t, o, "clearbox "+path, c.summary)
		if c.sub == nil && path != "version" && path != "help" && !strings.Contains(o.out, "examples:\n  ") {
			t.Errorf("%s has no examples", path)
		}
		if other := execute(t, append([]string{"help", home}, strings.Fields(path)...)...); other != o {
			t.Errorf("help %s prints something else", path)
		}
		for line := range strings.Lines(o.out) {
			if c.sub == nil && strings.HasPrefix(line, "  --") == false && len(line) > 140 && !strings.HasPrefix(line, "      ") {
				t.Errorf("%s: a line has %d characters: %s", path, len(line), line)
			}
		}
		if !strings.Contains(path, " ") && !strings.Contains(overview.out, "\n  "+c.name+" ") {
			t.Errorf("%s is not in the overview", path)
		}
	})
	checkRefused(t, execute(t, "help", "frobnicate"), 2, `"frobnicate"`)
	checkFine(t, execute(t, "--version"), "clearbox "+version)
}

// complete asks a shell what it offers for the last of some words.
func complete(t *testing.T, d *desk, shell string, words ...string) []string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("there is no %s here", shell)
	}
	script := d.write("completion."+shell, execute(t, "completion", shell).out)
	var code string
	switch shell {
	case "bash":
		code = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _clearbox; printf '%s\n' "${COMPREPLY[@]}"`
	case "zsh":
		code = `compdef() { : }; _describe() { print -l -- "${(@P)4}" }; _files() { print :files }; source "$1"; shift; words=("$@"); CURRENT=$#; _clearbox; true`
	case "fish":
		code = `source $argv[1]; complete -C (string join " " -- $argv[2..-1]) | string replace -r "\t.*" ""; true`
	}
	args := []string{"-c", code}
	if shell != "fish" {
		args = append(args, shell)
	}
	cmd := exec.Command(path, append(append(args, script), words...)...)
	cmd.Dir, cmd.Env = d.dir, slices.Concat(d.env, []string{"PATH=" + filepath.Dir(program(t, "clearbox")) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()})
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if shell == "zsh" {
			line, _, _ = strings.Cut(line, ":")
		}
		if line != "" {
			got = append(got, line)
		}
	}
	slices.Sort(got)
	return got
}

func TestCompletionInRealShells(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	r.submit(graph{Title: "One", WorkingDirectory: t.TempDir(), Nodes: []node{{Key: "a", Title: "A: step"}, {Key: "b", Title: "B"}}})
	r.submit(graph{Title: "Two", WorkingDirectory: t.TempDir()})
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			d := &desk{t: t, dir: t.TempDir(), data: d.data, env: d.env}
			for _, tt := range []struct {
				words string // "_" is an empty one
				want  string
			}{
				{"pl", "plan"},
				{"plan s", "show start stop submit"},
				{"plan submit --st", "--start"},
				{"--mo", "--mock --mock-speed --model"},
				{"plan start --executor _", "builtin external"},
				{"plan start _", "1 2"},
				{"plan show 1.", "1.1 1.2"},
				{"plan done _", "1. 2."},
				{"answer 1.1 a", "allow"},
				{"completion z", "zsh"},
				{"mcp-config c", "claude codex cursor"},
				{"help plan w", "watch"},
				{"nonsense _", ""},
				{"plan list _", ""},
			} {
				words := strings.Fields("clearbox " + tt.words)
				if words[len(words)-1] == "_" {
					words[len(words)-1] = ""
				}
				var diff string
				for range 5 { // a shell does not wait for a server that is busy
					if diff = cmp.Diff(strings.Fields(tt.want), complete(t, d, shell, words...), cmpopts.EquateEmpty()); diff == "" {
						break
					}
				}
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.words, diff)
				}
			}
		})
	}
	d.write("plan one.yaml", "")
	if got := complete(t, d, "bash", "clearbox", "plan", "submit", "pl"); !slices.Equal(got, []string{"plan one.yaml"}) {
		t.Errorf("of files bash offers %q", got)
	}
	checkRefused(t, execute(t, "completion", "tcsh"), 2, `"tcsh"`, "bash, zsh, fish")
}

func TestTheConfigurationOfClientsFollowsTheServer(t *testing.T) {
	t.Parallel()
	all := execute(t, "mcp-config", "CLEARBOX_PORT=9000")
	checkFine(t, all, "Claude Code", "Codex", "Cursor", "VS Code", "Gemini CLI", "claude mcp add --transport http", "http://127.0.0.1:9000/mcp\n")
	for _, tt := range []struct{ args, want string }{
		{"claude --port 9001", `{"mcpServers":{"clearbox":{"type":"http","url":"http://127.0.0.1:9001/mcp"}}}`},
		{"cursor --observe CLEARBOX_URL=https://box.lan/", `{"mcpServers":{"clearbox":{"url":"https://box.lan/mcp/observe"}}}`},
		{"vscode --name box --host 0.0.0.0", `{"servers":{"box":{"type":"http","url":"http://127.0.0.1:8765/mcp"}}}`},
		{"gemini", `{"mcpServers":{"clearbox":{"httpUrl":"http://127.0.0.1:8765/mcp"}}}`},
		{"claude CLEARBOX_AUTH_TOKEN=do-not-print-this", `{"mcpServers":{"clearbox":{"type":"http","url":"http://127.0.0.1:8765/mcp",` +
			`"headers":{"Authorization":"Bearer ${CLEARBOX_AUTH_TOKEN}"}}}}`},
	} {
		var got, want any
		o := execute(t, append([]string{"mcp-config"}, strings.Fields(tt.args)...)...)
		checkFine(t, o)
		if err := json.Unmarshal([]byte(o.out), &got); err != nil {
			t.Fatalf("%s: %v in %s", tt.args, err, o.out)
		}
		_ = json.Unmarshal([]byte(tt.want), &want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.args, diff)
		}
	}
	o := execute(t, "mcp-config", "codex", "CLEARBOX_AUTH_TOKEN=do-not-print-this")
	if want := "[mcp_servers.clearbox]\nurl = \"http://127.0.0.1:8765/mcp\"\nbearer_token_env_var = \"CLEARBOX_AUTH_TOKEN\"\n"; o.out != want {
		t.Errorf("codex: %q, want %q", o.out, want)
	}
	o = execute(t, "mcp-config", "CLEARBOX_AUTH_TOKEN=do-not-print-this")
	checkFine(t, o, "--header", "promptString", "${env:CLEARBOX_AUTH_TOKEN}")
	if strings.Contains(o.out, "do-not-print") {
		t.Error("the token is printed")
	}
	checkRefused(t, execute(t, "mcp-config", "emacs"), 2, `"emacs"`, "claude, codex, cursor, vscode, gemini")
	checkRefused(t, execute(t, "mcp-config", "--name", "a b"), 2, "--name")
}

func TestHarnessesAreListedAndChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	await(t, "the server has looked for harnesses", func() bool { return strings.Contains(d.run("harness", "list").out, "mock") })
	d.fine([]string{"harness", "list"}, "mock", "usable", program(t, "harness-mock"))
	if list := parseJSON[[]harnessView](t, d.fine([]string{"harness", "list", "--json"})); len(list) == 0 || list[0].Slug != "mock" {
		t.Errorf("the list is %+v", list)
	}
	d.fine([]string{"harness", "check", program(t, "harness-mock"), "--set", "speed=1000"}, "pass  starts and shakes hands", "pass  works without a host and hands over all",
		"skip  asks and hears the answer", "0 failed")
	o := d.run("harness", "check", program(t, "harness-mock"), "--env", "CLEARBOX_MOCK_BOOT=garbage")
	if o.code != 1 || o.errOut != "" || !strings.Contains(o.out, "fail  starts and shakes hands") || !strings.Contains(o.out, "good morning") || !strings.Contains(o.out, "1 failed") {
		t.Errorf("%+v", o)
	}
	o = d.run("harness", "check", program(t, "harness-mock"), "--env", "CLEARBOX_MOCK_BOOT=exit", "--json")
	if got := parseJSON[map[string]any](t, o.out); o.code != 1 || got["status"] != "fail" || got["demand"] != "starts and shakes hands" {
		t.Errorf("%+v", o)
	}
	d.write("notes.txt", "no program")
	for _, tt := range []struct {
		args  []string
		code  int
		parts []string
	}{
		{nil, 2, []string{"needs PATH"}},
		{[]string{"nowhere"}, 1, []string{"no file nowhere"}},
		{[]string{"notes.txt"}, 1, []string{"notes.txt is not a program"}},
		{[]string{"."}, 1, []string{"not a program"}},
		{[]string{"notes.txt", "--set", "speed"}, 2, []string{"--set", "name=value"}},
		{[]string{"notes.txt", "--env", "=x"}, 2, []string{"--env", "NAME=VALUE"}},
		{[]string{"notes.txt", "--key-env", "NO_SUCH_VARIABLE"}, 2, []string{"NO_SUCH_VARIABLE"}},
		{[]string{"notes.txt", "--timeout", "0s"}, 2, []string{"--timeout"}},
	} {
		checkRefused(t, d.run(append([]string{"harness", "check"}, tt.args...)...), tt.code, tt.parts...)
	}
}
