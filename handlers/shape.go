package handlers

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/clearbox-go/clearbox/engine"
)

// shape is what clients may send for one type: read once from its tags, it
// decides what is decoded, what a tool's schema says and what is refused.
type shape struct {
	fields []field
	byName map[string]int
}

// field is one thing that a client may send.
type field struct {
	name     string // in JSON; "" when it comes from the URL alone
	param    string // of the path
	query    string // of the query
	doc      string
	index    []int
	typ      reflect.Type
	required bool   // must be given where it is read from JSON
	secret   bool   // it is never repeated, and null leaves it as it is even where null clears
	sub      *shape // of a struct, or of the structs in a list
}

var (
	agentRefType = reflect.TypeFor[engine.AgentRef]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

// shapeOf reads the tags of a struct type: json, param, query, jsonschema (the
// description), secret. As in encoding/json, fields of embedded structs
// count as the struct's own, and an outer field hides an embedded one.
func shapeOf(t reflect.Type) *shape {
	s := &shape{byName: map[string]int{}}
	s.collect(t, nil)
	return s
}

func (s *shape) collect(t reflect.Type, prefix []int) {
	var embedded []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			embedded = append(embedded, f)
			continue
		}
		s.add(f, append(prefix[:len(prefix):len(prefix)], i))
	}
	for _, f := range embedded {
		s.collect(f.Type, append(prefix[:len(prefix):len(prefix)], f.Index...))
	}
}

func (s *shape) add(f reflect.StructField, index []int) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		name = ""
	}
	x := field{name: name, param: f.Tag.Get("param"), query: f.Tag.Get("query"), doc: f.Tag.Get("jsonschema"),
		index: index, typ: f.Type, required: options != "omitempty", secret: f.Tag.Get("secret") == "true"}
	if x.name == "" && x.param == "" && x.query == "" {
		return // not for clients
	}
	key := x.key()
	if _, hidden := s.byName[key]; hidden {
		return
	}
	x.sub = subShape(f.Type)
	s.byName[key] = len(s.fields)
	s.fields = append(s.fields, x)
}

// key names a field within its shape.
func (f *field) key() string {
	if f.name != "" {
		return f.name
	}
	return f.param + "?" + f.query
}

func subShape(t reflect.Type) *shape {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		return shapeOf(t)
	}
	return nil
}

// names lists what may be sent as JSON.
func (s *shape) names() []string {
	var out []string
	for _, f := range s.fields {
		if f.name != "" {
			out = append(out, f.name)
		}
	}
	return out
}

// schema describes the shape to MCP clients.
func (s *shape) schema() *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, f := range s.fields {
		if f.name == "" {
			continue
		}
		p := f.schema(f.typ)
		p.Description = f.doc
		out.Properties[f.name] = p
		out.PropertyOrder = append(out.PropertyOrder, f.name)
		if f.required {
			out.Required = append(out.Required, f.name)
		}
	}
	return out
}

func (f *field) schema(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == agentRefType:
		return anyOf("string", "integer", "null")
	case t == rawType:
		return &jsonschema.Schema{Type: "object"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		if f.required { // it can only be left out by being null
			p := f.schema(t.Elem())
			return anyOf(p.Type, "null")
		}
		return f.schema(t.Elem())
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: f.schema(t.Elem())}
	case reflect.Struct:
		return f.sub.schema()
	}
	return &jsonschema.Schema{Type: jsonType(t)}
}

func anyOf(types ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: t})
	}
	return s
}

// jsonType is the JSON name of a plain Go type.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Float64:
		return "number"
	}
	return "integer"
}
