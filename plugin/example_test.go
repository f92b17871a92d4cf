package plugin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// shout is a whole harness: it lists the working directory and repeats its task
// in capitals. A real one talks to a model in between. Build the like of it as
// harness-shout and put it into the harness folder.
type shout struct{}

type settings struct {
	Ending string `json:"ending"`
}

func (shout) Info(context.Context) (plugin.Info, error) {
	return plugin.Info{
		Slug: "shout", Name: "Shout", Version: "1.0",
		Capabilities: []plugin.Capability{plugin.Read}, // its one command only reads
		Settings:     json.RawMessage(`{"type":"object","properties":{"ending":{"type":"string","title":"Ending","default":"!"}}}`),
	}, nil
}

func (shout) Check(_ context.Context, p plugin.Profile, connect bool) (plugin.Report, error) {
	if _, err := read(p); err != nil {
		return plugin.Report{Detail: err.Error(), Field: "params"}, nil
	}
	return plugin.Report{OK: true, Detail: "ready to shout"}, nil
}

func (shout) Run(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	s, err := read(t.Profile)
	if err != nil {
		return plugin.Result{}, err // becomes a failed result
	}
	h.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: t.RunID, Cwd: t.WorkDir}))

	h.Emit(plugin.ToolUse("t1", "Bash", json.RawMessage(`{"command":"ls"}`), ""))
	var out strings.Builder
	p, err := h.Command(ctx, []string{"ls"}, plugin.Exec{Stdout: &out, Stderr: &out})
	if err != nil {
		return plugin.Result{}, err
	}
	code, err := p.Wait()
	if err != nil {
		return plugin.Result{}, err // the run was stopped: ls with it
	}
	h.Emit(plugin.ToolResult("t1", out.String(), code != 0, ""))

	text := strings.ToUpper(t.Title) + s.Ending
	h.Emit(plugin.Text(text, ""))
	return plugin.Result{Text: text}, nil
}

func read(p plugin.Profile) (settings, error) {
	s := settings{Ending: "!"}
	if len(p.Params) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(p.Params, &s); err != nil {
		return s, fmt.Errorf("params: %w", err)
	}
	return s, nil
}

// The main function of a harness is this one line.
func Example() {
	plugin.Serve(shout{})
}
