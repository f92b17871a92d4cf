package main

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit"
	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

// params are the settings of a profile that are special to this harness.
type params struct {
	command    []string
	env        map[string]json.RawMessage
	keyVar     string
	auth       string
	mode       string
	ask        bool
	askTimeout time.Duration
}

// catalogue lists the params.
func catalogue() settings.List[params] {
	return settings.List[params]{
		{Name: "command", Kind: settings.Words, Title: "Command", Doc: "The agent program and its arguments, one a line, such as gemini and --acp. It must speak the Agent Client Protocol.",
			Put: func(p *params, v any) { p.command = v.([]string) }},
		{Name: "env", Kind: settings.Object, Title: "Variables", Doc: "Further environment variables of the agent, by name. No secrets: they are shown here.",
			Put: func(p *params, v any) { p.env = v.(map[string]json.RawMessage) }},
		{Name: "key_var", Kind: settings.String, Title: "Variable of the key", Doc: "The environment variable in which the agent looks for its API key, such as GEMINI_API_KEY. The profile's key is given to the agent there; what the agent itself starts can read it. Not given when empty.",
			Put: func(p *params, v any) { p.keyVar = v.(string) }},
		{Name: "auth_method", Kind: settings.String, Title: "Way to log in", Doc: "The id of the agent's own way to log in, where it needs to be told one that asks nothing. The check of the profile lists them.",
			Put: func(p *params, v any) { p.auth = v.(string) }},
		{Name: "mode", Kind: settings.String, Title: "Mode", Doc: "The id of the agent's mode for the session, where it has several. One that skips permission questions also skips the capability.",
			Put: func(p *params, v any) { p.mode = v.(string) }},
		{Name: "ask", Kind: settings.Boolean, Title: "Ask", Default: false, Doc: "Put before a person, in the browser, what the capability does not allow, instead of denying it.",
			Put: func(p *params, v any) { p.ask = v.(bool) }},
		{Name: "ask_timeout", Kind: settings.Number, Title: "Ask timeout (s)", Default: 600, Min: 1, Max: 604_800, Doc: "How many seconds a question waits; then it is refused.",
			Put: func(p *params, v any) { p.askTimeout = time.Duration(v.(float64) * float64(time.Second)) }},
		settings.Review[params](),
	}
}

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (p params) check() *settings.Fault {
	if len(p.command) == 0 || p.command[0] == "" {
		return settings.Wrong("params.command", `params.command is not set: name the agent program and its arguments, such as ["gemini","--acp"]`)
	}
	if p.keyVar != "" && !variableForm.MatchString(p.keyVar) {
		return settings.Wrong("params.key_var", "params.key_var is %q: it must be the name of a variable", p.keyVar)
	}
	for name, raw := range p.env {
		var value string
		switch {
		case !variableForm.MatchString(name):
			return settings.Wrong("params.env", "params.env has the name %q: letters, digits and _ are allowed", name)
		case json.Unmarshal(raw, &value) != nil:
			return settings.Wrong("params.env", "params.env.%s must be a text", name)
		}
	}
	return nil
}

// setup is a profile that has been read and found good.
type setup struct {
	params
	tools toolkit.Selection
}

func readProfile(p plugin.Profile) (setup, *settings.Fault) {
	s := setup{params: params{askTimeout: 10 * time.Minute}}
	if bad := catalogue().Read(p.Params, &s.params); bad != nil {
		return s, bad
	}
	var err error
	if s.tools, err = toolkit.ParseSelection(p.Tools); err != nil {
		return s, settings.Wrong("tools", "%v", err)
	}
	return s, s.check()
}

// environment is what the agent gets beside the environment of the run.
func (s setup) environment(secret string) []string {
	var out []string
	for name, raw := range s.env {
		var value string
		if json.Unmarshal(raw, &value) == nil { // it was checked
			out = append(out, name+"="+value)
		}
	}
	if s.keyVar != "" && secret != "" {
		out = append(out, s.keyVar+"="+secret)
	}
	return out
}
