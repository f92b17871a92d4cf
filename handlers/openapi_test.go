package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// TestEveryRouteIsDescribed compares the description with what the router has.
func TestEveryRouteIsDescribed(t *testing.T) {
	s := newServer(newRig(t).engine, Options{})
	mounted := map[string]bool{}
	for _, r := range s.echo.Routes() {
		known := s.methods[r.Path]
		if !strings.HasPrefix(r.Path, "/api") && r.Path != "/metrics" || known != nil && !slices.Contains(known, r.Method) {
			continue // a page, or a method that is only there to be refused
		}
		if r.Method != http.MethodHead {
			mounted[r.Method+" "+wildcard.ReplaceAllString(r.Path, "{$1}")] = true
		}
	}
	described, ids := map[string]bool{}, map[string]string{}
	for path, actions := range s.describe().Paths {
		for method, a := range actions {
			name := strings.ToUpper(method) + " " + path
			described[name] = true
			if ids[a.ID] != "" {
				t.Errorf("%s and %s are both called %s", name, ids[a.ID], a.ID)
			}
			ids[a.ID] = name
			checkAction(t, name, a)
		}
	}
	if diff := cmp.Diff(mounted, described); diff != "" {
		t.Errorf("routes (-mounted +described):\n%s", diff)
	}
}

func checkAction(t *testing.T, name string, a *apiAction) {
	t.Helper()
	inPath := map[string]bool{}
	for _, p := range a.Parameters {
		if p.In == "path" {
			inPath["{"+p.Name+"}"] = true
		}
	}
	for _, want := range regexp.MustCompile(`\{\w+\}`).FindAllString(name, -1) {
		if !inPath[want] {
			t.Errorf("%s: %s is not described", name, want)
		}
		delete(inPath, want)
	}
	if len(inPath) > 0 || a.Summary == "" || a.Responses["200"] == nil || len(a.Tags) != 1 {
		t.Errorf("%s: parameters too many: %v; %+v", name, inPath, a)
	}
}

// TestTypesThatEncodeThemselvesAreKnown: a new one has to be described by hand.
func TestTypesThatEncodeThemselvesAreKnown(t *testing.T) {
	s := newServer(newRig(t).engine, Options{})
	for path, actions := range s.describe().Paths {
		for method, a := range actions {
			for media, content := range a.Responses["200"].Content {
				if b, _ := json.Marshal(content.Schema); media == jsonMedia && (string(b) == "true" || string(b) == "{}") {
					t.Errorf("%s %s: its answer is not described", method, path)
				}
			}
		}
	}
}

// TestAnswersAreAsDescribed plays a scenario and holds every answer against the
// description.
func TestAnswersAreAsDescribed(t *testing.T) {
	r := newRig(t)
	check := newAnswerCheck(t, r)
	id := r.plan("a b:a c")
	sub := fmt.Sprintf(`{"title":"Sub","parent_plan_id":%d,"parent_node_id":3,"nodes":[{"key":"x","title":"X","kind":"user"}]}`, id)
	check.do("POST", "/api/plans", sub)
	check.do("POST", "/api/plans", `{"title":"T"}`)
	check.do("PATCH", "/api/plans/1", `{"max_parallel":2,"test_instructions":"make test"}`)
	check.do("PUT", "/api/plans/1/agent", `{"agent":"mock"}`)
	check.do("POST", "/api/plans/1/nodes", `{"title":"D","files":["a.txt"],"acceptance_criteria":["it works"],"task_type":"implement"}`)
	check.do("PUT", "/api/plans/1/nodes/2/results-from", `{"node_ids":[1]}`)
	check.do("PUT", "/api/plans/1/nodes/4/agent", `{"agent":1}`)
	check.do("GET", "/api/agents/1/uses", "")
	check.do("POST", "/api/plans/1/start", `{"executor":"external"}`)
	if err := r.engine.Report(context.Background(), plan.Ref{Plan: id, Node: r.claim()}, "at it", ""); err != nil {
		t.Fatal(err)
	}
	check.do("POST", "/api/agents", `{"name":"gpt","harness":"openai","api_key":"k","params":{"a":1},"capability":"read"}`)
	check.do("PATCH", "/api/agents/3", `{"max_parallel":null,"model":"m"}`)
	check.do("POST", "/api/agents/2/test", ``)
	check.do("POST", "/api/harnesses/rescan", ``)
	for _, path := range []string{"/api/plans", "/api/plans/1", "/api/plans/2", "/api/plans/1/nodes/1", "/api/plans/1/nodes/3", "/api/plans/1/nodes/4",
		"/api/plans/1/nodes/1/context", "/api/plans/1/nodes/1/runs", "/api/plans/1/nodes/1/runs/1", "/api/plans/1/nodes/1/runs/1/events?limit=1", "/api/agents", "/api/agents/spend",
		"/api/settings", "/api/harnesses", "/api/questions", "/api/health", "/api/debug/plans/1/nodes/1/agent-mcp-url", "/api/openapi.json", "/metrics"} {
		check.do("GET", path, "")
	}
	check.do("POST", "/api/plans/1/nodes/1/complete", `{"result":"done"}`)
	check.do("POST", "/api/plans/1/nodes/2/retry", ``)
	check.do("POST", "/api/plans/1/nodes/9/retry", ``)
	check.do("POST", "/api/plans/1/stop", ``)
	check.do("POST", "/api/plans/1/retry-failed", ``)
	check.do("GET", "/api/plans/1", "")
	check.do("PUT", "/api/plans/1/workdir", `{"dir":null}`)
	check.do("POST", "/api/plans/1/reset", ``)
	check.do("DELETE", "/api/plans/1/edges/1/2", "")
	check.do("DELETE", "/api/plans/1/nodes/1", "")
	check.do("DELETE", "/api/agents/3", "")
	check.do("DELETE", "/api/plans/1", "")
	check.do("POST", "/api/shutdown", "")
	if check.good < 35 || check.refused < 3 {
		t.Errorf("%d answers and %d refusals were compared", check.good, check.refused)
	}
}

// claim claims a step and returns its number.
func (r *rig) claim() plan.NodeID {
	r.t.Helper()
	got, _ := r.ok("/mcp", "claim_next_node", map[string]any{"agent_name": "me"}).(map[string]any)
	n, ok := got["node_id"].(float64)
	if !ok {
		r.t.Fatalf("nothing to claim: %v", got)
	}
	return plan.NodeID(n)
}

// answerCheck holds answers against the description of the API.
type answerCheck struct {
	t             *testing.T
	r             *rig
	doc           *apiDocument
	all           *jsonschema.Resolved
	good, refused int
}

func newAnswerCheck(t *testing.T, r *rig) *answerCheck {
	doc := newServer(r.engine, Options{}).describe()
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	// What a validator of JSON Schema alone resolves.
	b = bytes.ReplaceAll(b, []byte("#/components/schemas/"), []byte("#/$defs/"))
	c := &answerCheck{t: t, r: r, doc: &apiDocument{}}
	if err := json.Unmarshal(b, c.doc); err != nil {
		t.Fatal(err)
	}
	c.resolve()
	return c
}

func (c *answerCheck) do(method, path, body string) {
	c.t.Helper()
	a := c.r.do(method, path, body)
	action := c.action(method, path)
	if action == nil {
		c.t.Fatalf("%s %s is not described", method, path)
	}
	told := action.Responses[fmt.Sprint(a.status)]
	if told != nil && told.Ref != "" {
		told = c.doc.Components.Responses[fmt.Sprint(a.status)]
	}
	if told == nil {
		c.t.Errorf("%s %s: an answer %d is not described: %s", method, path, a.status, a.body)
		return
	}
	if a.status == 200 {
		c.good++
	} else {
		c.refused++
	}
	media, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	if _, ok := told.Content[media]; !ok {
		c.t.Errorf("%s %s: %d of type %s is not described", method, path, a.status, media)
		return
	}
	if media == jsonMedia {
		c.validate(fmt.Sprint(action.ID, " ", a.status), a.body)
	}
}

func (c *answerCheck) action(method, path string) *apiAction {
	path, _, _ = strings.Cut(path, "?")
	for at, actions := range c.doc.Paths {
		pattern := "^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(at), `[^/]+`) + "$"
		if a := actions[strings.ToLower(method)]; a != nil && regexp.MustCompile(pattern).MatchString(path) {
			return a
		}
	}
	return nil
}

// validate holds a body against the schema of its action and status. All schemas
// are resolved once, as properties of one.
func (c *answerCheck) validate(key string, body []byte) {
	c.t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		c.t.Fatal(err)
	}
	if err := c.all.Validate(map[string]any{key: v}); err != nil {
		c.t.Errorf("%s: %v\n%s", key, err, body)
	}
}

// resolve makes the one schema, with a property for each answer of each action.
func (c *answerCheck) resolve() {
	c.t.Helper()
	all := &jsonschema.Schema{Defs: c.doc.Components.Schemas, Properties: map[string]*jsonschema.Schema{}}
	for _, def := range all.Defs {
		if def.Properties != nil {
			def.AdditionalProperties = nothingElse() // what is answered is all described
		}
	}
	for _, actions := range c.doc.Paths {
		for _, a := range actions {
			for code, told := range a.Responses {
				if told.Ref != "" {
					told = c.doc.Components.Responses[code]
				}
				all.Properties[a.ID+" "+code] = told.Content[jsonMedia].Schema.CloneSchemas()
			}
		}
	}
	for key, schema := range all.Properties {
		if schema == nil {
			delete(all.Properties, key)
		}
	}
	r, err := all.Resolve(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.all = r
}
