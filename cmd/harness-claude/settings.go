package main

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
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

// catalogue lists the params.
func catalogue() settings.List[params] {
	return settings.List[params]{
		{Name: "max_turns", Kind: settings.Integer, Title: "Max turns", Min: 1, Max: 10_000, Doc: "How often the model is asked in one run; no limit when empty.",
			Put: func(p *params, v any) { p.maxTurns = int(v.(float64)) }},
		{Name: "permission_mode", Kind: settings.String, Title: "Permission mode", Enum: modes, Doc: "The program's own mode at capability full, where every tool of the list is pre-approved and the mode decides on the rest. " +
			"Below full it is dontAsk (or default, when the agent asks), and only plan is taken from here. Before the profile's field of the same name.",
			Put: func(p *params, v any) { p.mode, p.modeSet = v.(string), true }},
		{Name: "ask", Kind: settings.Boolean, Title: "Ask", Default: false, Doc: "Put before a person, in the browser, what the capability does not allow, instead of denying it.",
			Put: func(p *params, v any) { p.ask = v.(bool) }},
		{Name: "ask_timeout", Kind: settings.Number, Title: "Ask timeout (s)", Default: 600, Min: 1, Max: 604_800, Doc: "How many seconds a question waits; then it is refused.",
			Put: func(p *params, v any) { p.askTimeout = time.Duration(v.(float64) * float64(time.Second)) }},
		{Name: "effort", Kind: settings.String, Title: "Effort", Enum: []string{"low", "medium", "high", "xhigh", "max"}, Doc: "How much the model thinks. Left to the program when empty.",
			Put: func(p *params, v any) { p.effort = v.(string) }},
		{Name: "fallback_model", Kind: settings.String, Title: "Fallback model", Doc: "The model that goes on when the first one is overloaded or not there; several with commas.",
			Put: func(p *params, v any) { p.fallback = v.(string) }},
		{Name: "max_budget_usd", Kind: settings.Number, Title: "Max budget (USD)", Min: 0.01, Max: 1e6, Doc: "What one run may cost. The program looks after each reply, so the last one can go over it.",
			Put: func(p *params, v any) { p.maxBudget = v.(float64) }},
		{Name: "max_retries", Kind: settings.Integer, Title: "Max retries", Max: 20, Doc: "How often a request is repeated after overload, a limit or a broken connection. Left to the program when empty (10 times within some 3 minutes).",
			Put: func(p *params, v any) { n := int(v.(float64)); p.maxRetries = &n }},
		{Name: "path", Kind: settings.String, Title: "Program", Doc: "The claude program. Looked for on PATH and where it is usually installed when empty.",
			Put: func(p *params, v any) { p.program = v.(string) }},
		{Name: "config_dir", Kind: settings.String, Title: "Configuration directory", Doc: "Where the login is, for more than one account: log in with CLAUDE_CONFIG_DIR set to this folder. The user's own (~/.claude) when empty.",
			Put: func(p *params, v any) { p.configDir = v.(string) }},
		{Name: "setting_sources", Kind: settings.String, Title: "Setting sources", Enum: []string{"", "user", "project", "user,project", "project,local", "user,project,local"}, Default: "",
			Doc: "Whose settings of Claude Code count: CLAUDE.md, hooks, skills, permissions, environment. None when empty. A project's hooks run without a question.",
			Put: func(p *params, v any) { p.sources = v.(string) }},
		{Name: "mcp_servers", Kind: settings.Object, Title: "MCP servers", Doc: "Further MCP servers by name, as in mcpServers of .mcp.json. Their tools are pre-approved. ${VARIABLE} is replaced by the program.",
			Put: func(p *params, v any) { p.servers = v.(map[string]json.RawMessage) }},
		settings.Review[params](),
	}
}

// readParams checks the params of a profile.
func readParams(raw json.RawMessage) (params, *settings.Fault) {
	p := params{askTimeout: 10 * time.Minute}
	if bad := catalogue().Read(raw, &p); bad != nil {
		return p, bad
	}
	return p, p.check()
}

func (p params) check() *settings.Fault {
	for name, raw := range p.servers {
		var server map[string]json.RawMessage
		switch {
		case name == ownServer:
			return settings.Wrong("params.mcp_servers", "params.mcp_servers must not hold %q, which is Clearbox itself", name)
		case !plainName(name):
			return settings.Wrong("params.mcp_servers", "params.mcp_servers has the name %q: letters, digits, - and _ are allowed", name)
		case json.Unmarshal(raw, &server) != nil || server == nil:
			return settings.Wrong("params.mcp_servers", "params.mcp_servers.%s must be a JSON object", name)
		}
	}
	return nil
}

func plainName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
