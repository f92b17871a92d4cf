// Package settings describes the params of a profile once: for the JSON Schema from
// which the agents page builds its form ([plugin.Info.Settings]), and for the check
// of what a profile holds.
package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Kinds of a [Setting], as JSON Schema calls them.
const (
	Number  = "number"
	Integer = "integer"
	Boolean = "boolean"
	String  = "string"
	Object  = "object"
	Words   = "array" // of strings
)

// Unbounded stands for no limit in Max, and negative in Min.
const Unbounded = 1e15

// Setting is one of the params. P is where their values go.
type Setting[P any] struct {
	Name, Kind, Title, Doc string
	Default                any      // the value when the profile has none; it is told, not put
	Min, Max               float64  // of numbers and integers
	Enum                   []string // of strings; an empty text is as good as none
	// Put takes a value that was found good: a float64, bool, string,
	// map[string]json.RawMessage or []string.
	Put func(p *P, v any)
}

// List is all the params of a harness, in the order of the form.
type List[P any] []Setting[P]

// Fault is what is wrong with a profile, with the field that is at fault.
type Fault struct{ Field, Text string }

func (f *Fault) Error() string { return f.Text }

// Wrong makes a fault.
func Wrong(field, format string, args ...any) *Fault {
	return &Fault{Field: field, Text: fmt.Sprintf(format, args...)}
}

// Review is a setting that Clearbox reads itself. A harness lists it so that its
// form shows it.
func Review[P any]() Setting[P] {
	return Setting[P]{Name: "review_capability", Kind: String, Title: "Review capability", Enum: []string{"read", "run", "edit", "full"},
		Doc: "What this agent may do when it reviews; run when empty. Clearbox reads this one itself.", Put: func(*P, any) {}}
}

// Schema returns the JSON Schema of the params.
func (l List[P]) Schema() (json.RawMessage, error) {
	props, order := map[string]any{}, []string{}
	for _, s := range l {
		props[s.Name] = s.schema()
		order = append(order, s.Name)
	}
	return json.Marshal(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"properties": props, "propertyOrder": order, "additionalProperties": false,
	})
}

func (s Setting[P]) schema() map[string]any {
	d := map[string]any{"type": s.Kind, "title": s.Title, "description": s.Doc}
	if s.Default != nil {
		d["default"] = s.Default
	}
	numeric := s.Kind == Number || s.Kind == Integer
	if numeric && s.Min != -Unbounded {
		d["minimum"] = s.Min
	}
	if numeric && s.Max != Unbounded {
		d["maximum"] = s.Max
	}
	if s.Enum != nil {
		d["enum"] = s.Enum
	}
	if s.Kind == Words {
		d["items"] = map[string]any{"type": String}
	}
	return d
}

// Read checks params and puts them into p, which holds the defaults. null stands for
// a setting left empty.
func (l List[P]) Read(raw json.RawMessage, p *P) *Fault {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return Wrong("params", "params must be a JSON object")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(l, func(s Setting[P]) bool { return s.Name == name })
		if i < 0 {
			return Wrong("params."+name, "params has the unknown setting %q: there is %s", name, l.names())
		}
		if string(given[name]) == "null" {
			continue
		}
		v, fault := l[i].read(given[name])
		if fault != "" {
			return Wrong("params."+name, "params.%s %s", name, fault)
		}
		l[i].Put(p, v)
	}
	return nil
}

func (l List[P]) names() string {
	var out []string
	for _, s := range l {
		out = append(out, s.Name)
	}
	return strings.Join(out, ", ")
}

// read returns the value of a setting, or what is wrong with it.
func (s Setting[P]) read(raw json.RawMessage) (v any, fault string) {
	switch s.Kind {
	case Object:
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return nil, "must be a JSON object"
		}
		return o, ""
	case Words:
		return readWords(raw)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, "is not JSON"
	}
	switch v := v.(type) {
	case float64:
		if s.Kind == Number || s.Kind == Integer && v == math.Trunc(v) {
			return v, s.bounds(v)
		}
	case bool:
		if s.Kind == Boolean {
			return v, ""
		}
	case string:
		if s.Kind == String {
			return v, s.word(v)
		}
	}
	return nil, fmt.Sprintf("must be of type %s, not %s", s.Kind, raw)
}

func readWords(raw json.RawMessage) (v any, fault string) {
	var words []string
	if json.Unmarshal(raw, &words) != nil {
		return nil, "must be a list of texts"
	}
	if slices.ContainsFunc(words, controlled) {
		return nil, "must not hold control characters"
	}
	return words, ""
}

func (s Setting[P]) word(v string) string {
	switch {
	case s.Enum != nil && v != "" && !slices.Contains(s.Enum, v):
		return fmt.Sprintf("must be one of %s, not %q", strings.Join(s.Enum, ", "), v)
	case controlled(v):
		return "must not hold control characters"
	}
	return ""
}

func controlled(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
}

func (s Setting[P]) bounds(v float64) string {
	switch {
	case v < s.Min:
		return fmt.Sprintf("must be at least %v, not %v", s.Min, v)
	case v > s.Max:
		return fmt.Sprintf("must be at most %v, not %v", s.Max, v)
	}
	return ""
}
