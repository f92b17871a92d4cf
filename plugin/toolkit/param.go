package toolkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The kinds of an argument, named as JSON Schema names them.
const (
	isString  = "string"
	isInteger = "integer"
	isBoolean = "boolean"
)

// param describes one argument once, for the schema that a model gets and for the
// check of what it sends.
type param struct {
	name     string
	kind     string
	doc      string
	required bool
	blank    bool // "" is a value
	min, max int64
}

func schemaOf(params []param) json.RawMessage {
	props := map[string]any{}
	required := []string{}
	for _, p := range params {
		d := map[string]any{"type": p.kind, "description": p.doc}
		if p.kind == isInteger {
			d["minimum"], d["maximum"] = p.min, p.max
		}
		props[p.name] = d
		if p.required {
			required = append(required, p.name)
		}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false})
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

// args are checked arguments: each is there only when given, with its right type.
type args map[string]any

func (a args) str(name string) string { s, _ := a[name].(string); return s }
func (a args) yes(name string) bool   { b, _ := a[name].(bool); return b }

func (a args) num(name string, otherwise int) int {
	if n, ok := a[name].(int64); ok {
		return int(n)
	}
	return otherwise
}

// path gives the named path, or the working directory.
func (a args) path(name string) string {
	if s := a.str(name); s != "" {
		return s
	}
	return "."
}

// parseArgs checks what a model sent against what the tool takes. All faults come
// in one message, each with the name of its argument, so that one more try is enough.
func parseArgs(t *tool, raw json.RawMessage) (args, error) {
	given, err := decodeObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	var faults []string
	for _, name := range unknownNames(t.params, given) {
		faults = append(faults, fmt.Sprintf("unknown argument %q", name))
	}
	out := args{}
	for _, p := range t.params {
		v, fault := p.check(given[p.name])
		if fault != "" {
			faults = append(faults, fault)
		} else if v != nil {
			out[p.name] = v
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: %s. It takes %s", t.name, strings.Join(faults, "; "), usage(t.params))
	}
	return out, nil
}

func decodeObject(raw json.RawMessage) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("invalid JSON in the arguments: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("invalid JSON in the arguments: there is text after the object")
	}
	if v == nil {
		return nil, nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the arguments must be a JSON object, not %s", kindOf(v))
	}
	return m, nil
}

func unknownNames(params []param, given map[string]any) []string {
	var out []string
	for name := range given {
		if !slices.ContainsFunc(params, func(p param) bool { return p.name == name }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// check returns the value, or what is wrong with it. null is the same as nothing.
func (p param) check(v any) (value any, fault string) {
	if v == nil {
		if p.required {
			return nil, fmt.Sprintf("missing argument %q (%s)", p.name, p.kind)
		}
		return nil, ""
	}
	switch x := v.(type) {
	case string:
		if p.kind == isString {
			return p.checkText(x)
		}
	case bool:
		if p.kind == isBoolean {
			return x, ""
		}
	case json.Number:
		if p.kind == isInteger {
			return p.checkNumber(x)
		}
	}
	return nil, fmt.Sprintf("argument %q must be %s, not %s", p.name, article(p.kind), kindOf(v))
}

func (p param) checkText(s string) (any, string) {
	if s == "" && p.required && !p.blank {
		return nil, fmt.Sprintf("argument %q must not be empty", p.name)
	}
	return s, ""
}

func (p param) checkNumber(n json.Number) (any, string) {
	i, err := n.Int64()
	if err != nil {
		f, ferr := n.Float64()
		i = int64(f)
		if ferr != nil || float64(i) != f {
			return nil, fmt.Sprintf("argument %q must be an integer, not %s", p.name, n)
		}
	}
	if i < p.min || i > p.max {
		return nil, fmt.Sprintf("argument %q must be from %d to %d, not %s", p.name, p.min, p.max, n)
	}
	return i, ""
}

func usage(params []param) string {
	var out []string
	for _, p := range params {
		need := ""
		if p.required {
			need = ", required"
		}
		out = append(out, fmt.Sprintf("%s (%s%s)", p.name, p.kind, need))
	}
	return strings.Join(out, ", ")
}

func article(kind string) string {
	if kind == isInteger {
		return "an integer"
	}
	return "a " + kind
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "null"
}
