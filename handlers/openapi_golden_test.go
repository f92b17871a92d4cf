package handlers

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// TestAPIDescription pins the surface, in short: a change of it is seen here, and
// meant.
func TestAPIDescription(t *testing.T) {
	a := newRig(t).do("GET", "/api/openapi.json", nil)
	if a.status != 200 || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %d %s", a.status, a.header)
	}
	var doc apiDocument
	if err := json.Unmarshal(a.body, &doc); err != nil {
		t.Fatal(err)
	}
	got := apiText(&doc)
	file := filepath.Join("testdata", "api.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// apiText writes a description as people would note it down: "?" marks what may
// be left out or missing.
func apiText(doc *apiDocument) string {
	var b strings.Builder
	fmt.Fprintf(&b, "OpenAPI %s, %s\n\n", doc.OpenAPI, doc.Info.Title)
	for _, path := range sorted(doc.Paths) {
		for _, method := range sorted(doc.Paths[path]) {
			actionText(&b, strings.ToUpper(method)+" "+path, doc.Paths[path][method])
		}
	}
	for _, name := range sorted(doc.Components.Schemas) {
		fmt.Fprintf(&b, "\n%s\n", name)
		propertiesText(&b, doc.Components.Schemas[name])
	}
	return b.String()
}

func actionText(b *strings.Builder, name string, a *apiAction) {
	fmt.Fprintf(b, "%s [%s in %s] %s\n", name, a.ID, a.Tags[0], a.Summary)
	for _, p := range a.Parameters {
		fmt.Fprintf(b, "\t%s %s %s: %s\n", p.In, p.Name, schemaText(p.Schema), p.Description)
	}
	if a.Body != nil {
		fmt.Fprintf(b, "\tbody, %s\n", map[bool]string{true: "required", false: "optional"}[a.Body.Required])
		propertiesText(b, a.Body.Content[jsonMedia].Schema)
	}
	var codes []string
	for code := range a.Responses {
		if code != "200" {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	for media, content := range a.Responses["200"].Content {
		fmt.Fprintf(b, "\tanswers %s as %s, or %s\n", schemaText(content.Schema), media, strings.Join(codes, " "))
	}
}

func propertiesText(b *strings.Builder, s *jsonschema.Schema) {
	for _, name := range sorted(s.Properties) {
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		fmt.Fprintf(b, "\t\t%s%s %s\n", name, mark, schemaText(s.Properties[name]))
	}
	if s.AdditionalProperties != nil {
		fmt.Fprintf(b, "\t\tothers: %s\n", schemaText(s.AdditionalProperties))
	}
}

func schemaText(s *jsonschema.Schema) string {
	limit := ""
	if s.ExclusiveMinimum != nil {
		limit = fmt.Sprint(" > ", *s.ExclusiveMinimum)
	}
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/components/schemas/")
	case s.Not != nil:
		return "none"
	case len(s.AnyOf) > 0:
		return schemaText(s.AnyOf[0]) + "|" + schemaText(s.AnyOf[1])
	case len(s.Enum) > 0:
		return fmt.Sprint(s.Enum)
	case s.Items != nil && s.MaxItems != nil:
		return fmt.Sprintf("[%s × %d]", schemaText(s.Items), *s.MaxItems)
	case s.Items != nil:
		return "[" + schemaText(s.Items) + "]" + orNullText(s)
	case s.AdditionalProperties != nil && s.Properties == nil:
		return "{…: " + schemaText(s.AdditionalProperties) + "}"
	case s.Properties != nil:
		var b strings.Builder
		propertiesText(&b, s)
		return "{" + strings.Join(strings.Fields(b.String()), " ") + "}" + orNullText(s)
	case s.Types != nil:
		return strings.Join(s.Types, "|") + limit
	case s.Type == "":
		return "anything"
	}
	return s.Type + limit
}

func orNullText(s *jsonschema.Schema) string {
	if slices.Contains(s.Types, "null") {
		return "|null"
	}
	return ""
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
