package main

import (
	"net/http"
	"strings"
)

// dialect is what was found out about the endpoint during the run.
type dialect struct {
	noStreamOptions bool
	noParallel      bool
	otherTokenLimit bool // the token limit goes by its other name
}

// adaptation is what to do when the endpoint refuses a field that it does not know.
type adaptation struct {
	field string
	plain bool // the refusal need only name the field
	done  func(*dialect) *bool
}

var adaptations = []adaptation{
	{"stream_options", true, func(d *dialect) *bool { return &d.noStreamOptions }},
	{"parallel_tool_calls", true, func(d *dialect) *bool { return &d.noParallel }},
	{"max_tokens", false, func(d *dialect) *bool { return &d.otherTokenLimit }},
	{"max_completion_tokens", false, func(d *dialect) *bool { return &d.otherTokenLimit }},
}

// adapt reports whether the request is worth repeating in a changed form.
func (c *client) adapt(f *fault) bool {
	if f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity {
		return false
	}
	for _, a := range adaptations {
		done := a.done(&c.dialect)
		if *done || !c.sends(a.field) || !f.names(a.field) || !a.plain && !f.unknownField() {
			continue
		}
		*done = true
		c.note("the endpoint does not know " + a.field + "; going on without it")
		return true
	}
	return false
}

func (f *fault) names(field string) bool {
	return f.api.param == field || strings.Contains(f.api.message, field)
}

// unknownField tells "I do not know this field" from "its value is too large".
func (f *fault) unknownField() bool {
	return f.api.mentions("unsupported", "not supported", "unknown", "unrecognized", "unexpected", "extra", "not permitted", "instead")
}

// sends reports whether a field is in the next request.
func (c *client) sends(field string) bool {
	_, ok := c.fields()[field]
	return ok
}
