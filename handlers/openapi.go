package handlers

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/labstack/echo/v4"
)

// apiDocument describes what programs can ask for over HTTP, as OpenAPI 3.1.
type apiDocument struct {
	OpenAPI    string                           `json:"openapi"`
	Info       apiInfo                          `json:"info"`
	Servers    []apiServer                      `json:"servers"`
	Security   []map[string][]string            `json:"security,omitempty"`
	Paths      map[string]map[string]*apiAction `json:"paths"` // by path, then method in lower case
	Components apiComponents                    `json:"components"`
}

type apiInfo struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type apiServer struct {
	URL string `json:"url"`
}

type apiComponents struct {
	Schemas         map[string]*jsonschema.Schema `json:"schemas"`
	Responses       map[string]*apiAnswer         `json:"responses"`
	SecuritySchemes map[string]apiScheme          `json:"securitySchemes,omitempty"`
}

type apiScheme struct {
	Type   string `json:"type"`
	Scheme string `json:"scheme,omitempty"`
	In     string `json:"in,omitempty"`
	Name   string `json:"name,omitempty"`
}

// apiAction is one method of one path.
type apiAction struct {
	ID         string                 `json:"operationId"`
	Summary    string                 `json:"summary"`
	Tags       []string               `json:"tags"`
	Security   *[]map[string][]string `json:"security,omitempty"` // set where it differs
	Parameters []apiParameter         `json:"parameters,omitempty"`
	Body       *apiBody               `json:"requestBody,omitempty"`
	Responses  map[string]*apiAnswer  `json:"responses"`
}

type apiParameter struct {
	Name        string             `json:"name"`
	In          string             `json:"in"` // path, query or header
	Description string             `json:"description,omitempty"`
	Required    bool               `json:"required,omitempty"`
	Schema      *jsonschema.Schema `json:"schema"`
}

type apiBody struct {
	Required bool                `json:"required,omitempty"`
	Content  map[string]apiMedia `json:"content"`
}

type apiAnswer struct {
	Ref         string              `json:"$ref,omitempty"`
	Description string              `json:"description,omitempty"`
	Headers     map[string]apiParam `json:"headers,omitempty"`
	Content     map[string]apiMedia `json:"content,omitempty"`
}

// apiParam is a header of an answer.
type apiParam struct {
	Description string             `json:"description"`
	Schema      *jsonschema.Schema `json:"schema"`
}

type apiMedia struct {
	Schema *jsonschema.Schema `json:"schema"`
}

const (
	jsonMedia = "application/json"
	textMedia = "text/plain"
)

// openAPI answers GET /api/openapi.json.
func (s *server) openAPI(c echo.Context) error {
	b, err := s.described()
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, jsonMedia, b)
}

// describeOnce returns a function that encodes the description when it is asked
// for first: most servers never are.
func (s *server) describeOnce() func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		b, err := marshal(s.describe())
		if err != nil {
			return nil, fmt.Errorf("encode the description of the API: %w", err)
		}
		return b, nil
	})
}

// describe makes the description from the table that the routes are made from,
// and from the few routes that have no row in it.
func (s *server) describe() *apiDocument {
	d := &describer{types: newTypeBook(), locked: s.auth != nil, doc: &apiDocument{OpenAPI: "3.1.0",
		Info: apiInfo{"Clearbox", s.opts.Version, apiDoc}, Servers: []apiServer{{"/"}}, Paths: map[string]map[string]*apiAction{}}}
	for i := range s.ops {
		if s.ops[i].doors.rest.path != "" {
			d.row(&s.ops[i])
		}
	}
	d.byHand(s)
	d.doc.Components = apiComponents{Schemas: d.types.schemas, Responses: d.failures()}
	if s.auth != nil {
		d.doc.Components.SecuritySchemes = map[string]apiScheme{"token": {Type: "http", Scheme: "bearer"},
			"browser": {Type: "apiKey", In: "cookie", Name: s.auth.cookie}}
		d.doc.Security = []map[string][]string{{"token": {}}, {"browser": {}}}
	}
	return d.doc
}

const apiDoc = "Plans, their steps and the agents that do them. Ids are integers; times are seconds since 1970, with fractions. " +
	"A refused request is answered with {\"detail\": \"…\"}, which names the field and the rule, and changes nothing."

// describer collects the description of an API.
type describer struct {
	doc    *apiDocument
	types  *typeBook
	locked bool // a token is needed
}

// row describes a route of the table.
func (d *describer) row(o *operation) {
	rest := o.doors.rest
	a := d.add(rest.method, "/api"+rest.path, o.name, o.doc)
	for _, name := range paramsOf(rest.path) {
		a.Parameters = append(a.Parameters, pathParameter(o.in, name))
	}
	for i := range o.in.fields {
		if f := &o.in.fields[i]; f.query != "" {
			a.Parameters = append(a.Parameters, apiParameter{Name: f.query, In: "query", Description: f.doc, Schema: plainSchema(f.typ)})
		}
	}
	a.Body = bodyOf(rest, o.in)
	a.Responses["200"] = d.types.answer(o.out)
	d.refusals(a, rest.method, o.in)
}

// add begins the description of a route.
func (d *describer) add(method, path, id, doc string) *apiAction {
	a := &apiAction{ID: id, Summary: doc, Tags: []string{tagOf(path)}, Responses: map[string]*apiAnswer{}}
	at := wildcard.ReplaceAllString(path, "{$1}")
	if d.doc.Paths[at] == nil {
		d.doc.Paths[at] = map[string]*apiAction{}
	}
	d.doc.Paths[at][strings.ToLower(method)] = a
	return a
}

// wildcard is a parameter in a path, as the router writes it.
var wildcard = regexp.MustCompile(`:(\w+)`)

func paramsOf(path string) []string {
	var names []string
	for _, m := range wildcard.FindAllStringSubmatch(path, -1) {
		names = append(names, m[1])
	}
	return names
}

// tagOf groups routes by what they are about: the last noun before a number.
func tagOf(path string) string {
	tag := "server"
	for _, part := range strings.Split(strings.TrimPrefix(path, "/api/"), "/") {
		switch part {
		case "plans", "nodes", "runs", "agents", "harnesses", "questions", "settings":
			tag = part
		}
	}
	return tag
}

func pathParameter(in *shape, name string) apiParameter {
	p := apiParameter{Name: name, In: "path", Required: true, Schema: plainSchema(reflect.TypeFor[string]())}
	for i := range in.fields {
		if f := &in.fields[i]; f.param == name {
			p.Description, p.Schema = f.doc, plainSchema(f.typ)
		}
	}
	return p
}

// bodyOf describes what a route reads from its body, nil where that is nothing.
func bodyOf(r route, in *shape) *apiBody {
	if r.method == http.MethodGet || r.method == http.MethodDelete {
		return nil
	}
	schema := requestSchema(r, in)
	if len(schema.Properties) == 0 {
		return nil
	}
	return &apiBody{Required: len(schema.Required) > 0, Content: map[string]apiMedia{jsonMedia: {schema}}}
}

// refusals adds the ways in which a route can refuse a request.
func (d *describer) refusals(a *apiAction, method string, in *shape) {
	codes := []int{http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if d.locked {
		codes = append(codes, http.StatusUnauthorized)
	}
	writes := method != http.MethodGet
	if len(in.fields) > 0 {
		codes = append(codes, http.StatusBadRequest, http.StatusUnprocessableEntity)
	}
	if len(in.fields) > 0 && writes {
		codes = append(codes, http.StatusConflict)
	}
	if writes {
		codes = append(codes, http.StatusRequestEntityTooLarge)
	}
	if namesThings(in) {
		codes = append(codes, http.StatusNotFound)
	}
	for _, code := range codes {
		text := strconv.Itoa(code)
		a.Responses[text] = &apiAnswer{Ref: "#/components/responses/" + text}
	}
}

// namesThings reports whether a request names something that may not be there.
func namesThings(in *shape) bool {
	for i := range in.fields {
		if f := &in.fields[i]; f.param != "" || strings.HasSuffix(f.typ.Name(), "ID") {
			return true
		}
	}
	return false
}
