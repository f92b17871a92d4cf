package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
)

// choice is the tools setting of a profile. It takes tools away and adds none. Names
// are those of the program, such as Bash; with brackets they are its rules, such as
// Bash(git log:*).
type choice struct {
	Preset string   `json:"preset"` // "", all, readonly or none
	Allow  []string `json:"allow"`
	Deny   []string `json:"deny"`
	MCP    *bool    `json:"mcp"`
}

var ruleForm = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]*\*?)(\(.+\))?$`)

// readChoice reads it. Unknown keys and presets are refused: a misspelt deny would
// otherwise leave a tool on offer.
func readChoice(raw json.RawMessage) (choice, *settings.Fault) {
	var c choice
	if len(bytes.TrimSpace(raw)) == 0 {
		return c, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, settings.Wrong("tools", "tools: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if !slices.Contains([]string{"", "all", "readonly", "none"}, c.Preset) {
		return c, settings.Wrong("tools", "tools.preset is %q: it must be all, readonly or none", c.Preset)
	}
	for _, rule := range slices.Concat(c.Allow, c.Deny) {
		if !ruleForm.MatchString(rule) {
			return c, settings.Wrong("tools", "tools names %q: a name of a tool of Claude Code is wanted, such as Bash, or a rule such as Bash(git log:*)", rule)
		}
	}
	return c, nil
}

// toolOf is the tool that a rule is about.
func toolOf(rule string) string {
	name, _, _ := strings.Cut(rule, "(")
	return name
}

// offers reports whether the setting leaves a tool on offer.
func (c choice) offers(name string) bool {
	switch {
	case slices.Contains(c.Deny, name):
		return false
	case slices.ContainsFunc(c.Allow, func(r string) bool { return toolOf(r) == name }):
		return true
	case c.Preset == "readonly":
		return slices.Contains(readTools, name)
	case c.Preset == "none":
		return false
	case c.Preset == "":
		return len(c.Allow) == 0
	}
	return true
}

// rules returns what of a tool runs without a question: all of it, or what the rules
// of allow name.
func (c choice) rules(name string) []string {
	var out []string
	for _, r := range c.Allow {
		if r == name {
			return []string{name}
		}
		if toolOf(r) == name {
			out = append(out, r)
		}
	}
	if out == nil {
		return []string{name}
	}
	return out
}

// wantsMCP reports whether the tools of Clearbox are wanted.
func (c choice) wantsMCP() bool { return c.MCP == nil || *c.MCP }
