package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// params are the settings of a profile that are special to this harness.
type params struct {
	temperature, topP   *float64
	maxTokens           *int64
	maxCompletionTokens *int64
	reasoningEffort     string
	seed                *int64
	parallelToolCalls   *bool
	maxTurns            int
	stream              bool
	timeout             time.Duration // of silence, see watchdog
	maxRetries          int
	extraBody           map[string]json.RawMessage
	inputPrice          *float64 // US dollars for a million tokens
	outputPrice         *float64
}

// setting describes one of them once: for the schema, from which the agents page
// builds its form, and for the check of what a profile holds.
type setting struct {
	name, kind, title, doc string
	standard               any // the value when the profile has none
	min, max               float64
	enum                   []string
	put                    func(*params, any)
}

const unbounded = 1e15

func settings() []setting {
	return []setting{
		{name: "temperature", kind: "number", title: "Temperature", max: 2, doc: "How freely the model chooses its words. Left to the endpoint when empty; reasoning models often refuse it.",
			put: func(p *params, v any) { p.temperature = ptr(v.(float64)) }},
		{name: "top_p", kind: "number", title: "Top p", max: 1, doc: "The share of likely words to choose from.",
			put: func(p *params, v any) { p.topP = ptr(v.(float64)) }},
		{name: "max_tokens", kind: "integer", title: "Max tokens", min: 1, max: unbounded, doc: "The longest reply, in tokens.",
			put: func(p *params, v any) { p.maxTokens = ptr(int64(v.(float64))) }},
		{name: "max_completion_tokens", kind: "integer", title: "Max completion tokens", min: 1, max: unbounded, doc: "The same for models that think: the longest reply with its thinking.",
			put: func(p *params, v any) { p.maxCompletionTokens = ptr(int64(v.(float64))) }},
		{name: "reasoning_effort", kind: "string", title: "Reasoning effort", doc: "How long a thinking model may think, in the endpoint's words, such as low, medium or high.",
			put: func(p *params, v any) { p.reasoningEffort = v.(string) }},
		{name: "seed", kind: "integer", title: "Seed", min: -unbounded, max: unbounded, doc: "For replies that can be repeated, where the endpoint can do that.",
			put: func(p *params, v any) { p.seed = ptr(int64(v.(float64))) }},
		{name: "parallel_tool_calls", kind: "boolean", title: "Parallel tool calls", doc: "Whether the model may call several tools at once. Left to the endpoint when empty.",
			put: func(p *params, v any) { p.parallelToolCalls = ptr(v.(bool)) }},
		{name: "max_turns", kind: "integer", title: "Max turns", standard: 50, min: 1, max: 10_000, doc: "How often the model is asked in one run. Small models that go in circles need less.",
			put: func(p *params, v any) { p.maxTurns = int(v.(float64)) }},
		{name: "stream", kind: "boolean", title: "Stream", standard: true, doc: "Whether replies come piece by piece. Turn it off for servers or proxies that break streams.",
			put: func(p *params, v any) { p.stream = v.(bool) }},
		{name: "timeout", kind: "number", title: "Timeout (s)", standard: 600, min: 1, max: 86_400, doc: "How many seconds the endpoint may be silent.",
			put: func(p *params, v any) { p.timeout = time.Duration(v.(float64) * float64(time.Second)) }},
		{name: "max_retries", kind: "integer", title: "Max retries", standard: 2, max: 20, doc: "How often a request is repeated after overload, a limit or a broken connection.",
			put: func(p *params, v any) { p.maxRetries = int(v.(float64)) }},
		{name: "extra_body", kind: "object", title: "Extra body", doc: "Further fields of the request, for what this endpoint alone knows.",
			put: func(p *params, v any) { p.extraBody = v.(map[string]json.RawMessage) }},
		{name: "input_price_per_mtok", kind: "number", title: "Input price per million tokens (USD)", max: 1e6, doc: "With both prices a run says what it cost.",
			put: func(p *params, v any) { p.inputPrice = ptr(v.(float64)) }},
		{name: "output_price_per_mtok", kind: "number", title: "Output price per million tokens (USD)", max: 1e6, doc: "Price of what the model writes.",
			put: func(p *params, v any) { p.outputPrice = ptr(v.(float64)) }},
		{name: "review_capability", kind: "string", title: "Review capability", enum: []string{"read", "run", "edit", "full"}, doc: "What this agent may do when it reviews; run when empty. Clearbox reads this one itself.",
			put: func(*params, any) {}},
	}
}

func ptr[T any](v T) *T { return &v }

// settingsSchema returns the JSON Schema of a profile's params.
func settingsSchema() (json.RawMessage, error) {
	props := map[string]any{}
	order := []string{}
	for _, s := range settings() {
		d := map[string]any{"type": s.kind, "title": s.title, "description": s.doc}
		if s.standard != nil {
			d["default"] = s.standard
		}
		if (s.kind == "number" || s.kind == "integer") && s.min != -unbounded {
			d["minimum"] = s.min
		}
		if s.max != 0 && s.max != unbounded {
			d["maximum"] = s.max
		}
		if s.enum != nil {
			d["enum"] = s.enum
		}
		props[s.name] = d
		order = append(order, s.name)
	}
	return json.Marshal(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"properties": props, "propertyOrder": order, "additionalProperties": false,
	})
}

// ownFields are the fields of a request that extra_body must not replace.
var ownFields = []string{"model", "messages", "tools", "stream"}

// readParams checks the params of a profile. null stands for a setting left empty.
func readParams(raw json.RawMessage) (params, *problem) {
	p := params{maxTurns: 50, stream: true, timeout: 600 * time.Second, maxRetries: 2}
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return p, wrong("params", "params must be a JSON object")
		}
	}
	all := settings()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(all, func(s setting) bool { return s.name == name })
		if i < 0 {
			return p, wrong("params."+name, "params has the unknown setting %q: there is %s", name, names(all))
		}
		if string(given[name]) == "null" {
			continue
		}
		v, fault := all[i].read(given[name])
		if fault != "" {
			return p, wrong("params."+name, "params.%s %s", name, fault)
		}
		all[i].put(&p, v)
	}
	return p, p.check()
}

func (p params) check() *problem {
	if p.maxTokens != nil && p.maxCompletionTokens != nil {
		return wrong("params.max_tokens", "params.max_tokens and params.max_completion_tokens are one limit by two names: set the one that the endpoint knows")
	}
	for _, f := range ownFields {
		if _, ok := p.extraBody[f]; ok {
			return wrong("params.extra_body", "params.extra_body must not hold %q, which the harness sets itself", f)
		}
	}
	return nil
}

// read returns the value of a setting, or what is wrong with it.
func (s setting) read(raw json.RawMessage) (v any, fault string) {
	if s.kind == "object" {
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return nil, "must be a JSON object"
		}
		return o, ""
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, "is not JSON"
	}
	switch v := v.(type) {
	case float64:
		if s.kind == "number" || s.kind == "integer" && v == math.Trunc(v) {
			return v, s.bounds(v)
		}
	case bool:
		if s.kind == "boolean" {
			return v, ""
		}
	case string:
		if s.kind == "string" && (s.enum == nil || slices.Contains(s.enum, v)) {
			return v, ""
		}
		if s.kind == "string" {
			return nil, fmt.Sprintf("must be one of %s, not %q", strings.Join(s.enum, ", "), v)
		}
	}
	return nil, fmt.Sprintf("must be of type %s, not %s", s.kind, raw)
}

func (s setting) bounds(v float64) string {
	switch {
	case v < s.min:
		return fmt.Sprintf("must be at least %v, not %v", s.min, v)
	case v > s.max:
		return fmt.Sprintf("must be at most %v, not %v", s.max, v)
	}
	return ""
}

func names(all []setting) string {
	var out []string
	for _, s := range all {
		out = append(out, s.name)
	}
	return strings.Join(out, ", ")
}

// price returns what tokens cost, or nil when the profile has no prices.
func (p params) price(in, out int64) *float64 {
	if p.inputPrice == nil || p.outputPrice == nil {
		return nil
	}
	return ptr((float64(in)**p.inputPrice + float64(out)**p.outputPrice) / 1e6)
}
