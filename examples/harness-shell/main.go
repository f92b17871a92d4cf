// Command harness-shell is a harness in a module of its own, as an outsider writes
// one: its agent is no model but the shell. It runs the fenced block named sh in a
// step's description, line by line, and stops at the first that fails.
//
//	go build -o ~/.local/share/clearbox/harnesses/harness-shell .
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

func main() { plugin.Serve(shell{}) }

type shell struct{}

// params are the settings of a profile.
type params struct {
	shell   string
	timeout time.Duration
}

func catalogue() settings.List[params] {
	return settings.List[params]{
		{Name: "shell", Kind: settings.String, Title: "Shell", Default: "sh", Doc: "The shell that runs the lines.",
			Put: func(p *params, v any) { p.shell = v.(string) }},
		{Name: "timeout", Kind: settings.Number, Title: "Timeout (s)", Default: 600, Min: 1, Max: 86_400, Doc: "How many seconds one line may take.",
			Put: func(p *params, v any) { p.timeout = time.Duration(v.(float64) * float64(time.Second)) }},
	}
}

func read(p plugin.Profile) (params, *settings.Fault) {
	s := params{shell: "sh", timeout: 10 * time.Minute}
	if bad := catalogue().Read(p.Params, &s); bad != nil {
		return s, bad
	}
	if _, err := exec.LookPath(s.shell); err != nil {
		return s, settings.Wrong("params.shell", "params.shell: there is no program %q on the PATH of Clearbox", s.shell)
	}
	return s, nil
}

// Info says that commands are all it knows: a step that may not run any is refused.
func (shell) Info(context.Context) (plugin.Info, error) {
	schema, err := catalogue().Schema()
	return plugin.Info{Slug: "shell", Name: "Shell", Version: "1.0", Settings: schema,
		Capabilities: []plugin.Capability{plugin.Run, plugin.Full}}, err
}

func (shell) Check(_ context.Context, p plugin.Profile, _ bool) (plugin.Report, error) {
	s, bad := read(p)
	if bad != nil {
		return plugin.Report{Field: bad.Field, Detail: bad.Text}, nil
	}
	return plugin.Report{OK: true, Detail: s.shell + " is there"}, nil
}

// script is the first fenced block named sh.
var script = regexp.MustCompile("(?s)```sh\n(.*?)```")

func (shell) Run(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	s, bad := read(t.Profile)
	if bad != nil {
		return plugin.Result{}, bad
	}
	if t.Allowed != plugin.Run && t.Allowed != plugin.Full {
		return plugin.Result{}, fmt.Errorf("this agent runs commands, which the capability %q does not allow: give it run or full", t.Allowed)
	}
	h.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: t.RunID, Cwd: t.WorkDir}))
	m := script.FindStringSubmatch(t.Prompt)
	if m == nil {
		return plugin.Result{Text: "There is no block named sh in the step: nothing was done."}, nil
	}
	lines := strings.Split(strings.TrimSpace(m[1]), "\n")
	for i, line := range lines {
		code, err := s.run(ctx, h, fmt.Sprintf("line-%d", i+1), line)
		if err != nil {
			return plugin.Result{}, err
		}
		if code != 0 {
			return plugin.Result{}, fmt.Errorf("line %d ended with exit code %d: %s", i+1, code, line)
		}
	}
	return plugin.Result{Text: fmt.Sprintf("%d lines were run.", len(lines))}, nil
}

// run runs one line as a tool call.
func (s params) run(ctx context.Context, h plugin.Host, id, line string) (int, error) {
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return 0, err
	}
	h.Emit(plugin.ToolUse(id, "Bash", input, ""))
	var out bytes.Buffer
	p, err := h.Command(ctx, []string{s.shell, "-c", line}, plugin.Exec{Stdout: &out, Stderr: &out, Timeout: s.timeout})
	if err != nil {
		return 0, err
	}
	code, err := p.Wait()
	h.Emit(plugin.ToolResult(id, out.String(), code != 0 || err != nil, ""))
	return code, err
}
