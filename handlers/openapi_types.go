package handlers

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// requestSchema describes the body of a route: what its decoder takes.
func requestSchema(r route, in *shape) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	if r.strict {
		out.AdditionalProperties = nothingElse()
	}
	for i := range in.fields {
		f := &in.fields[i]
		if f.name == "" || f.param != "" {
			continue
		}
		out.Properties[f.name] = fieldSchema(r, f)
		out.PropertyOrder = append(out.PropertyOrder, f.name)
		if f.required {
			out.Required = append(out.Required, f.name)
		}
	}
	return out
}

func nothingElse() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// fieldSchema describes one field: null is in it where that means something.
func fieldSchema(r route, f *field) *jsonschema.Schema {
	t := f.typ
	isPointer := t.Kind() == reflect.Pointer
	if isPointer {
		t = t.Elem()
	}
	p := bodySchema(r, f, t)
	switch {
	case t == agentRefType:
		p = &jsonschema.Schema{Types: []string{"string", "integer", "null"}}
	case isPointer && (r.nulls || f.required):
		if number := t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64; number && r.nulls {
			p.ExclusiveMinimum = new(float64) // 0 is refused where null clears
		}
		p = orNullSchema(p)
	}
	p.Description = f.doc
	if r.nulls { // the tools, which share the text, have no null
		p.Description = strings.Replace(p.Description, "; 0 clears", "; null clears", 1)
	}
	return p
}

// bodySchema describes what a field holds. What is within it is read as the whole
// is, but for unknown fields, which are refused there by every route.
func bodySchema(r route, f *field, t reflect.Type) *jsonschema.Schema {
	switch {
	case t == agentRefType || t == rawType:
		return f.schema(t)
	case t.Kind() == reflect.Struct:
		return requestSchema(r.ours(), f.sub)
	case t.Kind() == reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: bodySchema(r, f, t.Elem())}
	}
	return f.schema(t)
}

// plainSchema describes a value in a URL.
func plainSchema(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: jsonType(t)}
	if t.Kind() == reflect.Int64 {
		s.Format = "int64"
	}
	return s
}

// orNullSchema also allows null.
func orNullSchema(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Type == "" || len(s.Enum) > 0 {
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	}
	c := *s
	c.Type, c.Types = "", []string{s.Type, "null"}
	return &c
}

// typeBook describes the types of answers, structs under names of their own.
type typeBook struct {
	schemas map[string]*jsonschema.Schema
	names   map[reflect.Type]string
}

func newTypeBook() *typeBook {
	return &typeBook{map[string]*jsonschema.Schema{}, map[reflect.Type]string{}}
}

// answer describes an answer of a type.
func (b *typeBook) answer(t reflect.Type) *apiAnswer { return described200(jsonMedia, b.of(t)) }

var (
	stampType      = reflect.TypeFor[plan.Stamp]()
	transcriptType = reflect.TypeFor[transcript]()
	eventType      = reflect.TypeFor[plan.Event]()
)

// enums lists the values of types that have only few.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[plan.State]():    words(plan.States...),
	reflect.TypeFor[plan.Status]():   words(plan.StatusEmpty, plan.StatusPending, plan.StatusRunning, plan.StatusDone, plan.StatusFailed),
	reflect.TypeFor[plan.NodeKind](): words(plan.KindAgent, plan.KindUser),
	reflect.TypeFor[plan.Executor](): words(plan.Builtin, plan.External),
}

func words[T ~string](list ...T) []any {
	out := make([]any, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// of describes a type as it is encoded.
func (b *typeBook) of(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == stampType:
		return &jsonschema.Schema{Types: []string{"number", "null"}}
	case t == rawType || t.Kind() == reflect.Interface || ownEncoding(t):
		return &jsonschema.Schema{}
	case t == transcriptType:
		return b.transcript(&jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}})
	case enums[t] != nil:
		return &jsonschema.Schema{Type: "string", Enum: enums[t]}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNullSchema(b.of(t.Elem()))
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: b.of(t.Elem())}
	case reflect.Array:
		n := t.Len()
		return &jsonschema.Schema{Type: "array", Items: b.of(t.Elem()), MinItems: &n, MaxItems: &n}
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: b.of(t.Elem())}
	case reflect.Struct:
		return b.reference(t)
	}
	return &jsonschema.Schema{Type: jsonType(t)}
}

// ownEncoding reports whether a type is encoded by code of its own, which only
// the cases above know how to read.
func ownEncoding(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Kind() != reflect.Pointer && (t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler))
}

// reference describes a struct once and refers to that.
func (b *typeBook) reference(t reflect.Type) *jsonschema.Schema {
	name, known := b.names[t]
	if !known {
		name = b.nameFor(t)
		b.names[t] = name
		s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
		b.schemas[name] = s // before its fields, which may refer to it
		b.fields(s, t)
	}
	return &jsonschema.Schema{Ref: "#/components/schemas/" + name}
}

// nameFor makes a name of a type's own; where two packages have one of the same
// name, the later one gets its package's too.
func (b *typeBook) nameFor(t reflect.Type) string {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if b.schemas[name] == nil {
		return name
	}
	return path.Base(t.PkgPath()) + "." + name
}

// fields adds the fields of a struct, those of embedded structs included; as in
// encoding/json an outer field hides an embedded one.
func (b *typeBook) fields(s *jsonschema.Schema, t reflect.Type) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == transcriptType:
			b.transcript(s)
		case f.Anonymous && name == "":
			embedded = append(embedded, f.Type)
		case f.IsExported() && name != "-":
			if name == "" {
				name = f.Name
			}
			b.property(s, name, b.of(f.Type), !strings.Contains(options, "omit"))
		}
	}
	for _, e := range embedded {
		b.fields(s, e)
	}
}

func (b *typeBook) property(s *jsonschema.Schema, name string, p *jsonschema.Schema, always bool) {
	if s.Properties[name] != nil {
		return
	}
	s.Properties[name] = p
	s.PropertyOrder = append(s.PropertyOrder, name)
	if always && !slices.Contains(s.Required, name) {
		s.Required = append(s.Required, name)
	}
}

// transcript adds the keys under which events are sent.
func (b *typeBook) transcript(s *jsonschema.Schema) *jsonschema.Schema {
	b.property(s, "events", &jsonschema.Schema{Type: "array", Items: b.of(eventType)}, true)
	b.property(s, "more", &jsonschema.Schema{Type: "boolean"}, true)
	return s
}
