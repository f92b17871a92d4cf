package handlers

import (
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestNullIsTakenWhereItIsDescribed sends null in every place of every body where
// the description has it, and in the groups of fields that are within a body.
func TestNullIsTakenWhereItIsDescribed(t *testing.T) {
	r := edgeRig(t)
	for _, o := range table() {
		if m := o.doors.rest.method; m != "PATCH" && m != "PUT" && m != "POST" {
			continue
		}
		schema := requestSchema(o.doors.rest, o.in)
		known, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, deep := range []bool{false, true} {
			body := nullsFor(&o, schema, deep)
			if err := known.Validate(body); err != nil {
				t.Errorf("%s: %v is not as described: %v", o.name, body, err)
			}
			if a := r.do(o.doors.rest.method, pathOf(&o, nil), body); a.status == 422 || a.status >= 500 {
				t.Errorf("%s %v: %s", o.name, body, a)
			}
		}
	}
	if d := r.want(200, "GET", "/api/settings", nil)["retention"].(map[string]any); d["keep_days"] != nil {
		t.Errorf("null did not clear: %v", d)
	}
}

// nullsFor is a body with null wherever that is allowed; deep, with groups of
// fields that have it.
func nullsFor(o *operation, s *jsonschema.Schema, deep bool) map[string]any {
	body := map[string]any{}
	for name, p := range s.Properties {
		group := p
		if p.Items != nil {
			group = p.Items
		}
		switch {
		case deep && group.Properties != nil:
			inner := any(nullsFor(nil, group, deep))
			if p.Items != nil {
				inner = []any{inner}
			}
			body[name] = inner
		case slices.Contains(p.Types, "null"):
			body[name] = nil
		}
	}
	if o == nil {
		for _, name := range s.Required {
			if _, there := body[name]; !there {
				body[name] = "x"
			}
		}
		return body
	}
	for _, f := range bodyFields(o) {
		if _, there := body[f.name]; f.required && !there {
			body[f.name] = plausibleValue(f)
		}
	}
	return body
}
