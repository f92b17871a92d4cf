package handlers

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// byHand describes the routes that are mounted one by one.
func (d *describer) byHand(s *server) {
	nothing := shapeOf(reflect.TypeFor[none]())
	health := d.add(http.MethodGet, "/api/health", "health", "Tell that a Clearbox answers here, to anyone.")
	health.Responses["200"] = d.types.answer(reflect.TypeFor[healthView]())
	d.refusals(health, http.MethodGet, nothing)
	if d.locked {
		health.Security = &[]map[string][]string{}
		delete(health.Responses, strconv.Itoa(http.StatusUnauthorized))
	}
	stop := shutdownRow()
	d.row(&stop)
	d.doc.Paths["/api/shutdown"]["post"].Responses["200"] = d.types.answer(reflect.TypeFor[stoppingView]())
	if s.engine.Mock() {
		debug := debugRow()
		d.row(&debug)
	}
	d.stream()
	d.export()
	d.files()
	self := d.add(http.MethodGet, "/api/openapi.json", "openapi", "Read this description.")
	self.Responses["200"] = described200(jsonMedia, &jsonschema.Schema{Type: "object"})
	d.refusals(self, http.MethodGet, nothing)
	told := d.add(http.MethodGet, "/metrics", "metrics", "Read the state of the server in the text format of Prometheus.")
	told.Responses["200"] = described200(textMedia, &jsonschema.Schema{Type: "string"})
	d.refusals(told, http.MethodGet, nothing)
}

// streamIn is what the stream of changes can be asked for.
type streamIn struct {
	Plan  plan.PlanID `json:"-" query:"plan" jsonschema:"Only changes of the tree that this plan is in."`
	After int64       `json:"-" query:"after" jsonschema:"Begin after this number; without it, now."`
}

func (d *describer) stream() {
	in := shapeOf(reflect.TypeFor[streamIn]())
	a := d.add(http.MethodGet, "/api/stream", "stream", "Follow changes as server-sent events. After the event hello, each message is a JSON object "+
		"with a type: plan, event, tokens, agents, question, harnesses or resync. A client that comes back with the id of its last message gets what "+
		"it missed, or one resync where that is too much: then it reads anew.")
	for i := range in.fields {
		f := &in.fields[i]
		a.Parameters = append(a.Parameters, apiParameter{Name: f.query, In: "query", Description: f.doc, Schema: plainSchema(f.typ)})
	}
	a.Parameters = append(a.Parameters, apiParameter{Name: "Last-Event-ID", In: "header", Description: "As after; browsers send it by themselves.",
		Schema: &jsonschema.Schema{Type: "string"}})
	a.Responses["200"] = described200("text/event-stream", &jsonschema.Schema{Type: "string"})
	d.refusals(a, http.MethodGet, in)
	delete(a.Responses, strconv.Itoa(http.StatusBadRequest))
}

func (d *describer) export() {
	in := shapeOf(reflect.TypeFor[exportIn]())
	a := d.add(http.MethodGet, "/api/plans/:plan_id/export.md", "export", "Read a plan as Markdown.")
	a.Parameters = []apiParameter{pathParameter(in, "plan_id"), {Name: "diffs", In: "query",
		Description: "Whether the diffs are in it; default true.", Schema: &jsonschema.Schema{Type: "boolean"}}}
	a.Responses["200"] = described200("text/markdown", &jsonschema.Schema{Type: "string"})
	d.refusals(a, http.MethodGet, in)
}

// files describes what can be had of plans as a file.
func (d *describer) files() {
	in := shapeOf(reflect.TypeFor[oneRunIn]())
	for _, f := range []struct{ ext, media string }{{"json", "application/json"}, {"yaml", "application/yaml"}} {
		a := d.add(http.MethodGet, "/api/plans/:plan_id/export."+f.ext, "template_"+f.ext,
			"Read a plan as it can be submitted again: steps, order and settings, without results, folder and subplans.")
		a.Parameters = []apiParameter{pathParameter(in, "plan_id")}
		a.Responses["200"] = described200(f.media, &jsonschema.Schema{Type: "object"})
		d.refusals(a, http.MethodGet, in)
	}
	h := d.add(http.MethodGet, "/api/plans/:plan_id/export.html", "report", "Read a plan as one HTML file that loads nothing: graph, steps, runs, "+
		"transcripts, diffs and reviews, without the keys and tokens that the server knows.")
	h.Parameters = []apiParameter{pathParameter(in, "plan_id"), {Name: "transcripts", In: "query",
		Description: "Whether the transcripts are in it; default true.", Schema: &jsonschema.Schema{Type: "boolean"}}}
	h.Responses["200"] = described200("text/html", &jsonschema.Schema{Type: "string"})
	d.refusals(h, http.MethodGet, in)
	a := d.add(http.MethodGet, "/api/plans/:plan_id/nodes/:node_id/runs/:run/patch", "patch", "Read what a run changed as a patch, or with path what it changed in one file.")
	a.Parameters = []apiParameter{pathParameter(in, "plan_id"), pathParameter(in, "node_id"), pathParameter(in, "run"),
		{Name: "path", In: "query", Description: "A file, as the diffs of the run name it.", Schema: &jsonschema.Schema{Type: "string"}}}
	a.Responses["200"] = described200("text/plain", &jsonschema.Schema{Type: "string"})
	d.refusals(a, http.MethodGet, in)
}

func described200(media string, schema *jsonschema.Schema) *apiAnswer {
	return &apiAnswer{Description: "Done.", Content: map[string]apiMedia{media: {schema}}}
}

// failures describes what refused requests are answered with.
func (d *describer) failures() map[string]*apiAnswer {
	body := map[string]apiMedia{jsonMedia: {d.types.of(reflect.TypeFor[failure]())}}
	text := map[string]apiMedia{textMedia: {&jsonschema.Schema{Type: "string"}}}
	all := map[int]*apiAnswer{
		http.StatusBadRequest:            {Description: "A rule is broken.", Content: body},
		http.StatusForbidden:             {Description: "The page that sent the request is of another origin.", Content: text},
		http.StatusNotFound:              {Description: "Something that the request names does not exist.", Content: body},
		http.StatusConflict:              {Description: "Someone else was faster, or the revision is an old one.", Content: body},
		http.StatusRequestEntityTooLarge: {Description: "The body has more than 8 MiB.", Content: body},
		http.StatusMisdirectedRequest:    {Description: "The Host header does not name this server.", Content: text},
		http.StatusUnprocessableEntity:   {Description: "The request cannot be read: broken JSON, a wrong type, a missing or unknown field.", Content: body},
		http.StatusInternalServerError:   {Description: "A fault of the server; its log has the request.", Content: body},
		http.StatusServiceUnavailable:    {Description: "The server cannot do this here or now.", Content: body},
	}
	if d.locked {
		all[http.StatusUnauthorized] = &apiAnswer{Description: "The server's token is missing or wrong.", Content: body}
	}
	byCode := map[string]*apiAnswer{}
	for code, a := range all {
		byCode[strconv.Itoa(code)] = a
	}
	return byCode
}
