package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin"
)

// ownServer is the name under which an agent has the tools of Clearbox.
const ownServer = "clearbox"

// verdict is what becomes of a tool call.
type verdict struct {
	allow  bool
	beyond bool // a person may allow it
	why    string
}

// judge decides on a call by its kind and the paths that it names. Kinds and paths are
// the agent's own word: this keeps an honest agent within its limits, and no other.
func (s *session) judge(c toolCall) verdict {
	switch c.Kind {
	case "read", "search", "think":
		return verdict{allow: true}
	case "edit", "delete", "move":
		return s.judgeWrite(c)
	case "execute":
		if s.kit.Runs() {
			return verdict{allow: true}
		}
		return verdict{beyond: true, why: "commands are beyond this agent's capability"}
	}
	if s.task.Allowed == plugin.Full && s.task.TaskType == "" || s.ownTool(c) {
		return verdict{allow: true}
	}
	return verdict{beyond: true, why: "this tool is beyond the agent's capability"}
}

func (s *session) ownTool(c toolCall) bool {
	return len(s.servers()) > 0 && c.Kind != "fetch" && c.Kind != "switch_mode" && strings.Contains(c.Name+" "+c.Title, ownServer)
}

func (s *session) judgeWrite(c toolCall) verdict {
	paths := c.paths()
	for _, p := range paths {
		if beyond, err := s.kit.MayWrite(p); err != nil {
			return verdict{beyond: beyond, why: err.Error()}
		}
	}
	switch {
	case !s.kit.Writes():
		return verdict{beyond: true, why: "changing files is beyond this agent's capability"}
	case len(paths) == 0 && (s.task.LimitWrites || s.task.TaskType != ""):
		return verdict{beyond: true, why: "the agent does not say which file it would change"}
	}
	return verdict{allow: true}
}

// paths are the files that a call names.
func (c toolCall) paths() []string {
	var out []string
	for _, l := range c.Locations {
		out = append(out, l.Path)
	}
	for _, d := range c.Content {
		if d.Type == "diff" {
			out = append(out, d.Path)
		}
	}
	var in map[string]any
	_ = json.Unmarshal(c.Input, &in) // may be anything
	for _, key := range []string{"file_path", "path", "filePath", "notebook_path"} {
		if p, ok := in[key].(string); ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(p string) bool { return p == "" })
}

// permit answers the agent's question whether it may.
func (s *session) permit(ctx context.Context, raw json.RawMessage) (any, error) {
	var p permission
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("the question was not understood: %w", err)
	}
	c := s.learn(p.Call)
	v := s.judge(c)
	if !v.allow && v.beyond && s.ask {
		a, err := s.host.Ask(ctx, plugin.Question{Tool: c.label(), Text: c.wording(v.why), Input: object(c.Input), Timeout: s.askTimeout})
		if err != nil {
			return cancelled(), nil
		}
		v.allow, v.why = a.Allow, either(a.Message, "a person refused this")
	}
	if ctx.Err() != nil {
		return cancelled(), nil
	}
	if v.allow {
		s.granted(c.ID)
		return choose(p.Options, "allow_once", "allow_always"), nil
	}
	s.note("refused: %s (%s)", c.label(), v.why)
	return choose(p.Options, "reject_once", "reject_always"), nil
}

func cancelled() any {
	return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
}

// choose picks the first option of the kinds, in their order.
func choose(all []option, kinds ...string) any {
	for _, kind := range kinds {
		if i := slices.IndexFunc(all, func(o option) bool { return o.Kind == kind }); i >= 0 {
			return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": all[i].ID}}
		}
	}
	return cancelled()
}

// wording is a question in one line.
func (c toolCall) wording(why string) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s (%s)", either(c.Title, c.label()), why)), " ")
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func object(raw json.RawMessage) json.RawMessage {
	var o map[string]any
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return json.RawMessage(`{}`)
	}
	return raw
}
