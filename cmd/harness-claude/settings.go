package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// params are the settings of a profile that are special to this harness.
type params struct {
	maxTurns   int // 0: no limit
	mode       string
	ask        bool
	askTimeout time.Duration
	effort     string
	fallback   string
	maxBudget  float64 // US dollars; 0: no limit
	maxRetries *int    // nil: as the program has it
	program    string
	configDir  string
	sources    string
	servers    map[string]json.RawMessage
	modeSet    bool // mode is that of params.permission_mode
}

// modes are the permission modes of the program.
var modes = []string{"default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"}

// problem is what is wrong with a profile, with the field that is at fault.
type problem struct{ field, text string }

func (p *problem) Error() string { return p.text }

func wrong(field, format string, args ...any) *problem {
	return &problem{field: field, text: fmt.Sprintf(format, args...)}
}

// setting describes one of them once: for the schema, from which the agents page
// builds its form, and for the check of what a profile holds.
type setting struct {
	name, kind, title, doc string
	standard               any // the value when the profile has none
	min, max               float64
	enum                   []string
	put                    func(*params, any)
}

func settings() []setting {
	return []setting{
		{name: "max_turns", kind: "integer", title: "Max turns", min: 1, max: 10_000, doc: "How often the model is asked in one run; no limit when empty.",
			put: func(p *params, v any) { p.maxTurns = int(v.(float64)) }},
		{name: "permission_mode", kind: "string", title: "Permission mode", enum: modes, doc: "The program's own mode at capability full, where every tool of the list is pre-approved and the mode decides on the rest. " +
			"Below full it is dontAsk (or default, when the agent asks), and only plan is taken from here. Before the profile's field of the same name.",
			put: func(p *params, v any) { p.mode, p.modeSet = v.(string), true }},
		{name: "ask", kind: "boolean", title: "Ask", standard: false, doc: "Put before a person, in the browser, what the capability does not allow, instead of denying it.",
			put: func(p *params, v any) { p.ask = v.(bool) }},
		{name: "ask_timeout", kind: "number", title: "Ask timeout (s)", standard: 600, min: 1, max: 604_800, doc: "How many seconds a question waits; then it is refused.",
			put: func(p *params, v any) { p.askTimeout = time.Duration(v.(float64) * float64(time.Second)) }},
		{name: "effort", kind: "string", title: "Effort", enum: []string{"low", "medium", "high", "xhigh", "max"}, doc: "How much the model thinks. Left to the program when empty.",
			put: func(p *params, v any) { p.effort = v.(string) }},
		{name: "fallback_model", kind: "string", title: "Fallback model", doc: "The model that goes on when the first one is overloaded or not there; several with commas.",
			put: func(p *params, v any) { p.fallback = v.(string) }},
		{name: "max_budget_usd", kind: "number", title: "Max budget (USD)", min: 0.01, max: 1e6, doc: "What one run may cost. The program looks after each reply, so the last one can go over it.",
			put: func(p *params, v any) { p.maxBudget = v.(float64) }},
		{name: "max_retries", kind: "integer", title: "Max retries", max: 20, doc: "How often a request is repeated after overload, a limit or a broken connection. Left to the program when empty (10 times within some 3 minutes).",
			put: func(p *params, v any) { n := int(v.(float64)); p.maxRetries = &n }},
		{name: "path", kind: "string", title: "Program", doc: "The claude program. Looked for on PATH and where it is usually installed when empty.",
			put: func(p *params, v any) { p.program = v.(string) }},
		{name: "config_dir", kind: "string", title: "Configuration directory", doc: "Where the login is, for more than one account: log in with CLAUDE_CONFIG_DIR set to this folder. The user's own (~/.claude) when empty.",
			put: func(p *params, v any) { p.configDir = v.(string) }},
		{name: "setting_sources", kind: "string", title: "Setting sources", enum: []string{"", "user", "project", "user,project", "project,local", "user,project,local"}, standard: "",
			doc: "Whose settings of Claude Code count: CLAUDE.md, hooks, skills, permissions, environment. None when empty. A project's hooks run without a question.",
			put: func(p *params, v any) { p.sources = v.(string) }},
		{name: "mcp_servers", kind: "object", title: "MCP servers", doc: "Further MCP servers by name, as in mcpServers of .mcp.json. Their tools are pre-approved. ${VARIABLE} is replaced by the program.",
			put: func(p *params, v any) { p.servers = v.(map[string]json.RawMessage) }},
		{name: "review_capability", kind: "string", title: "Review capability", enum: []string{"read", "run", "edit", "full"}, doc: "What this agent may do when it reviews; run when empty. Clearbox reads this one itself.",
			put: func(*params, any) {}},
	}
}

// settingsSchema returns the JSON Schema of a profile's params.
func settingsSchema() (json.RawMessage, error) {
	props, order := map[string]any{}, []string{}
	for _, s := range settings() {
		d := map[string]any{"type": s.kind, "title": s.title, "description": s.doc}
		if s.standard != nil {
			d["default"] = s.standard
		}
		if s.kind == "number" || s.kind == "integer" {
			d["minimum"], d["maximum"] = s.min, s.max
		}
		if s.enum != nil {
			d["enum"] = s.enum
		}
		props[s.name] = d
		order = append(order, s.name)
	}
	return json.Marshal(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"properties": props, "propertyOrder": order, "additionalProperties": false,
	})
}

// readParams checks the params of a profile. null stands for a setting left empty.
func readParams(raw json.RawMessage) (params, *problem) {
	p := params{askTimeout: 10 * time.Minute}
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return p, wrong("params", "params must be a JSON object")
		}
	}
	all := settings()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(all, func(s setting) bool { return s.name == name })
		if i < 0 {
			return p, wrong("params."+name, "params has the unknown setting %q: there is %s", name, names(all))
		}
		if string(given[name]) == "null" {
			continue
		}
		v, fault := all[i].read(given[name])
		if fault != "" {
			return p, wrong("params."+name, "params.%s %s", name, fault)
		}
		all[i].put(&p, v)
	}
	return p, p.check()
}

func (p params) check() *problem {
	for name, raw := range p.servers {
		var server map[string]json.RawMessage
		switch {
		case name == ownServer:
			return wrong("params.mcp_servers", "params.mcp_servers must not hold %q, which is Clearbox itself", name)
		case !plainName(name):
			return wrong("params.mcp_servers", "params.mcp_servers has the name %q: letters, digits, - and _ are allowed", name)
		case json.Unmarshal(raw, &server) != nil || server == nil:
			return wrong("params.mcp_servers", "params.mcp_servers.%s must be a JSON object", name)
		}
	}
	return nil
}

func plainName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// read returns the value of a setting, or what is wrong with it.
func (s setting) read(raw json.RawMessage) (v any, fault string) {
	if s.kind == "object" {
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return nil, "must be a JSON object"
		}
		return o, ""
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, "is not JSON"
	}
	switch v := v.(type) {
	case float64:
		if s.kind == "number" || s.kind == "integer" && v == math.Trunc(v) {
			return v, s.bounds(v)
		}
	case bool:
		if s.kind == "boolean" {
			return v, ""
		}
	case string:
		if s.kind == "string" {
			return v, s.word(v)
		}
	}
	return nil, fmt.Sprintf("must be of type %s, not %s", s.kind, raw)
}

func (s setting) bounds(v float64) string {
	switch {
	case v < s.min:
		return fmt.Sprintf("must be at least %v, not %v", s.min, v)
	case v > s.max:
		return fmt.Sprintf("must be at most %v, not %v", s.max, v)
	}
	return ""
}

func (s setting) word(v string) string {
	if s.enum != nil && v != "" && !slices.Contains(s.enum, v) {
		return fmt.Sprintf("must be one of %s, not %q", strings.Join(s.enum, ", "), v)
	}
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' }) {
		return "must not hold control characters"
	}
	return ""
}

func names(all []setting) string {
	var out []string
	for _, s := range all {
		out = append(out, s.name)
	}
	return strings.Join(out, ", ")
}
