package main

import (
	"encoding/json"
	"time"

	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
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

// catalogue lists the params.
func catalogue() settings.List[params] {
	return settings.List[params]{
		{Name: "temperature", Kind: settings.Number, Title: "Temperature", Max: 2, Doc: "How freely the model chooses its words. Left to the endpoint when empty; reasoning models often refuse it.",
			Put: func(p *params, v any) { p.temperature = ptr(v.(float64)) }},
		{Name: "top_p", Kind: settings.Number, Title: "Top p", Max: 1, Doc: "The share of likely words to choose from.",
			Put: func(p *params, v any) { p.topP = ptr(v.(float64)) }},
		{Name: "max_tokens", Kind: settings.Integer, Title: "Max tokens", Min: 1, Max: settings.Unbounded, Doc: "The longest reply, in tokens.",
			Put: func(p *params, v any) { p.maxTokens = ptr(int64(v.(float64))) }},
		{Name: "max_completion_tokens", Kind: settings.Integer, Title: "Max completion tokens", Min: 1, Max: settings.Unbounded, Doc: "The same for models that think: the longest reply with its thinking.",
			Put: func(p *params, v any) { p.maxCompletionTokens = ptr(int64(v.(float64))) }},
		{Name: "reasoning_effort", Kind: settings.String, Title: "Reasoning effort", Doc: "How long a thinking model may think, in the endpoint's words, such as low, medium or high.",
			Put: func(p *params, v any) { p.reasoningEffort = v.(string) }},
		{Name: "seed", Kind: settings.Integer, Title: "Seed", Min: -settings.Unbounded, Max: settings.Unbounded, Doc: "For replies that can be repeated, where the endpoint can do that.",
			Put: func(p *params, v any) { p.seed = ptr(int64(v.(float64))) }},
		{Name: "parallel_tool_calls", Kind: settings.Boolean, Title: "Parallel tool calls", Doc: "Whether the model may call several tools at once. Left to the endpoint when empty.",
			Put: func(p *params, v any) { p.parallelToolCalls = ptr(v.(bool)) }},
		{Name: "max_turns", Kind: settings.Integer, Title: "Max turns", Default: 50, Min: 1, Max: 10_000, Doc: "How often the model is asked in one run. Small models that go in circles need less.",
			Put: func(p *params, v any) { p.maxTurns = int(v.(float64)) }},
		{Name: "stream", Kind: settings.Boolean, Title: "Stream", Default: true, Doc: "Whether replies come piece by piece. Turn it off for servers or proxies that break streams.",
			Put: func(p *params, v any) { p.stream = v.(bool) }},
		{Name: "timeout", Kind: settings.Number, Title: "Timeout (s)", Default: 600, Min: 1, Max: 86_400, Doc: "How many seconds the endpoint may be silent.",
			Put: func(p *params, v any) { p.timeout = time.Duration(v.(float64) * float64(time.Second)) }},
		{Name: "max_retries", Kind: settings.Integer, Title: "Max retries", Default: 2, Max: 20, Doc: "How often a request is repeated after overload, a limit or a broken connection.",
			Put: func(p *params, v any) { p.maxRetries = int(v.(float64)) }},
		{Name: "extra_body", Kind: settings.Object, Title: "Extra body", Doc: "Further fields of the request, for what this endpoint alone knows.",
			Put: func(p *params, v any) { p.extraBody = v.(map[string]json.RawMessage) }},
		{Name: "input_price_per_mtok", Kind: settings.Number, Title: "Input price per million tokens (USD)", Max: 1e6, Doc: "With both prices a run says what it cost.",
			Put: func(p *params, v any) { p.inputPrice = ptr(v.(float64)) }},
		{Name: "output_price_per_mtok", Kind: settings.Number, Title: "Output price per million tokens (USD)", Max: 1e6, Doc: "Price of what the model writes.",
			Put: func(p *params, v any) { p.outputPrice = ptr(v.(float64)) }},
		settings.Review[params](),
	}
}

func ptr[T any](v T) *T { return &v }

// ownFields are the fields of a request that extra_body must not replace.
var ownFields = []string{"model", "messages", "tools", "stream"}

// readParams checks the params of a profile.
func readParams(raw json.RawMessage) (params, *settings.Fault) {
	p := params{maxTurns: 50, stream: true, timeout: 600 * time.Second, maxRetries: 2}
	if bad := catalogue().Read(raw, &p); bad != nil {
		return p, bad
	}
	return p, p.check()
}

func (p params) check() *settings.Fault {
	if p.maxTokens != nil && p.maxCompletionTokens != nil {
		return settings.Wrong("params.max_tokens", "params.max_tokens and params.max_completion_tokens are one limit by two names: set the one that the endpoint knows")
	}
	for _, f := range ownFields {
		if _, ok := p.extraBody[f]; ok {
			return settings.Wrong("params.extra_body", "params.extra_body must not hold %q, which the harness sets itself", f)
		}
	}
	return nil
}

// price returns what tokens cost, or nil when the profile has no prices.
func (p params) price(in, out int64) *float64 {
	if p.inputPrice == nil || p.outputPrice == nil {
		return nil
	}
	return ptr((float64(in)**p.inputPrice + float64(out)**p.outputPrice) / 1e6)
}
