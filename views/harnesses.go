package views

import "strings"

// Harness is a harness that was found, usable or refused. One that can be chosen
// though it was not found has no path.
type Harness struct {
	Slug, Name, Version, Path string
	Protocol                  string
	Capabilities              []string // those it can enforce
	Features                  []string
	NeedsModel                bool
	Refused                   string // why it does not serve; "" when it does
}

func (h *Harness) title() string {
	if h.Name != "" && h.Name != h.Slug {
		return h.Name + " (" + h.Slug + ")"
	}
	return h.Slug
}

func (h *Harness) enforces() string {
	if len(h.Capabilities) == 0 {
		return "Keeps its agents to no capability: they can do all that it can."
	}
	return "Keeps its agents to: " + strings.Join(h.Capabilities, ", ") + "."
}
