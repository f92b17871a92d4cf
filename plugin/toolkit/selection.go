package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// RemotePrefix marks the tools that Clearbox itself gives to an agent. They can be
// named in allow and deny like the others.
const RemotePrefix = "vc_"

var readTools = []string{"read_file", "list_dir", "glob", "grep"}
var allTools = append(slices.Clone(readTools), "write_file", "edit_file", "bash")

// Selection is the tools setting of a profile. The zero value takes nothing away.
type Selection struct {
	// Preset is all, readonly or none; "" means all, or none when Allow names tools.
	Preset string `json:"preset"`
	// Allow names tools beside those of the preset.
	Allow []string `json:"allow"`
	// Deny names tools that are not offered, whatever the rest says.
	Deny []string `json:"deny"`
	// MCP says whether the tools of Clearbox are offered; nil means yes.
	MCP *bool `json:"mcp"`
}

// ParseSelection reads the tools setting of a profile. Nothing and null are the
// zero Selection. Unknown keys, presets and tool names are refused: a misspelt
// deny would otherwise leave a tool on offer.
func ParseSelection(raw json.RawMessage) (Selection, error) {
	var s Selection
	if len(bytes.TrimSpace(raw)) == 0 {
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("read tools: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if !slices.Contains([]string{"", "all", "readonly", "none"}, s.Preset) {
		return s, fmt.Errorf("tools.preset is %q: it must be all, readonly or none", s.Preset)
	}
	if err := known("tools.allow", s.Allow); err != nil {
		return s, err
	}
	return s, known("tools.deny", s.Deny)
}

func known(field string, names []string) error {
	for _, n := range names {
		if !slices.Contains(allTools, n) && !strings.HasPrefix(n, RemotePrefix) {
			return fmt.Errorf("%s names %q: the tools are %s, and those that begin with %s", field, n, strings.Join(allTools, ", "), RemotePrefix)
		}
	}
	return nil
}

// Offers reports whether the setting leaves a tool on offer.
func (s Selection) Offers(name string) bool {
	switch {
	case slices.Contains(s.Deny, name):
		return false
	case slices.Contains(s.Allow, name):
		return true
	case strings.HasPrefix(name, RemotePrefix):
		return s.WantsMCP()
	case s.Preset == "readonly":
		return slices.Contains(readTools, name)
	case s.Preset == "none":
		return false
	case s.Preset == "":
		return len(s.Allow) == 0
	}
	return true
}

// WantsMCP reports whether the tools of Clearbox are wanted at all.
func (s Selection) WantsMCP() bool { return s.MCP == nil || *s.MCP }
