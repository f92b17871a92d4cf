package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/clearbox-go/clearbox/plugin"
)

// version is that of the harness, not of Clearbox.
const version = "1.0.0"

type mock struct{}

const settings = `{
  "type": "object",
  "properties": {
    "speed": {
      "type": "number", "title": "Speed", "exclusiveMinimum": 0, "default": 1,
      "description": "Factor of the played delays: 2 plays twice as fast."
    },
    "script": {
      "type": "string", "title": "Script", "format": "textarea",
      "description": "What every run plays, one directive a line, unless the step's description has a mock block."
    }
  }
}`

func (mock) Info(context.Context) (plugin.Info, error) {
	return plugin.Info{
		Slug: "mock", Name: "Mock (no model)", Version: version,
		Capabilities: []plugin.Capability{plugin.Read, plugin.Run, plugin.Edit, plugin.Full},
		Features:     plugin.Features{MCP: true, Resume: true, Ask: true, Usage: true, Cost: true},
		Settings:     json.RawMessage(settings),
	}, nil
}

func (mock) Check(_ context.Context, p plugin.Profile, _ bool) (plugin.Report, error) {
	set, err := readParams(p)
	if err != nil {
		return plugin.Report{Detail: err.Error(), Field: "params"}, nil
	}
	if _, err := parse(set.Script); err != nil {
		return plugin.Report{Detail: fmt.Sprintf("params.script: %v", err), Field: "params.script"}, nil
	}
	return plugin.Report{OK: true, Detail: "ready: plays runs without a model", Credential: "none"}, nil
}

func (mock) Run(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	p := &player{task: t, host: h, speed: 1, session: sessionID(t)}
	h.Emit(plugin.System("session started", plugin.SessionInfo{
		SessionID: p.session, Model: modelOf(t), Cwd: t.WorkDir,
	}))
	set, err := readParams(t.Profile)
	if err != nil {
		return plugin.Result{}, err
	}
	p.speed = speedOf(t, set)
	script, scripted, err := scriptOf(t, set)
	switch {
	case err != nil:
		return plugin.Result{}, err
	case scripted:
		return p.script(ctx, script)
	}
	return p.scene(ctx)
}

// params are the settings of a profile.
type params struct {
	Speed  *float64 `json:"speed"`
	Script string   `json:"script"`
}

func readParams(p plugin.Profile) (params, error) {
	var set params
	if len(bytes.TrimSpace(p.Params)) == 0 {
		return set, nil
	}
	if err := json.Unmarshal(p.Params, &set); err != nil {
		return set, fmt.Errorf("params: speed must be a number and script a text: %w", err)
	}
	if s := set.Speed; s != nil && !(*s > 0) {
		return set, fmt.Errorf("params.speed must be greater than 0, not %g", *s)
	}
	return set, nil
}

// speedOf is the profile's own speed, else the server's.
func speedOf(t plugin.Task, set params) float64 {
	switch {
	case set.Speed != nil:
		return *set.Speed
	case t.Speed > 0 && !math.IsInf(t.Speed, 0):
		return t.Speed
	}
	return 1
}

func modelOf(t plugin.Task) string {
	if t.Profile.Model != "" {
		return t.Profile.Model
	}
	return "mock"
}

// sessionID is the session to go on with, else a new one that looks like a UUID
// and follows from the run.
func sessionID(t plugin.Task) string {
	if t.ResumeSession != "" {
		return t.ResumeSession
	}
	h := fnv.New128a()
	fmt.Fprintf(h, "%s\n%s", t.RunID, t.Title)
	x := h.Sum(nil)
	return fmt.Sprintf("%x-%x-%x-%x-%x", x[:4], x[4:6], x[6:8], x[8:10], x[10:])
}
