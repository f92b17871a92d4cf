package settings_test

import (
	"encoding/json"
	"testing"

	"github.com/clearbox-go/clearbox/plugin/toolkit/settings"
	"github.com/google/go-cmp/cmp"
)

type params struct {
	Heat    float64
	Turns   int
	Loud    bool
	Mode    string
	Extra   map[string]json.RawMessage
	Command []string
}

func catalogue() settings.List[params] {
	return settings.List[params]{
		{Name: "heat", Kind: settings.Number, Title: "Heat", Max: 2, Put: func(p *params, v any) { p.Heat = v.(float64) }},
		{Name: "turns", Kind: settings.Integer, Title: "Turns", Default: 50, Min: 1, Max: settings.Unbounded, Put: func(p *params, v any) { p.Turns = int(v.(float64)) }},
		{Name: "loud", Kind: settings.Boolean, Title: "Loud", Put: func(p *params, v any) { p.Loud = v.(bool) }},
		{Name: "mode", Kind: settings.String, Title: "Mode", Enum: []string{"a", "b"}, Put: func(p *params, v any) { p.Mode = v.(string) }},
		{Name: "extra", Kind: settings.Object, Title: "Extra", Put: func(p *params, v any) { p.Extra = v.(map[string]json.RawMessage) }},
		{Name: "command", Kind: settings.Words, Title: "Command", Put: func(p *params, v any) { p.Command = v.([]string) }},
		settings.Review[params](),
	}
}

func TestParamsAreRead(t *testing.T) {
	p := params{Turns: 50}
	raw := `{"heat":0.5,"turns":null,"loud":true,"mode":"","extra":{"a":1},"command":["x","--y z"],"review_capability":"read"}`
	if bad := catalogue().Read(json.RawMessage(raw), &p); bad != nil {
		t.Fatal(bad)
	}
	want := params{Heat: 0.5, Turns: 50, Loud: true, Extra: map[string]json.RawMessage{"a": json.RawMessage("1")}, Command: []string{"x", "--y z"}}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
	for _, nothing := range []string{"", " ", "{}", "null"} {
		if bad := catalogue().Read(json.RawMessage(nothing), &p); bad != nil {
			t.Errorf("%q: %v", nothing, bad)
		}
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for raw, want := range map[string]settings.Fault{
		`[]`:                          {Field: "params", Text: "params must be a JSON object"},
		`{"hat":1}`:                   {Field: "params.hat", Text: `params has the unknown setting "hat": there is heat, turns, loud, mode, extra, command, review_capability`},
		`{"heat":2.5}`:                {Field: "params.heat", Text: "params.heat must be at most 2, not 2.5"},
		`{"turns":0}`:                 {Field: "params.turns", Text: "params.turns must be at least 1, not 0"},
		`{"turns":1.5}`:               {Field: "params.turns", Text: "params.turns must be of type integer, not 1.5"},
		`{"loud":"yes"}`:              {Field: "params.loud", Text: `params.loud must be of type boolean, not "yes"`},
		`{"mode":"c"}`:                {Field: "params.mode", Text: `params.mode must be one of a, b, not "c"`},
		`{"extra":[]}`:                {Field: "params.extra", Text: "params.extra must be a JSON object"},
		`{"command":"x y"}`:           {Field: "params.command", Text: "params.command must be a list of texts"},
		`{"command":["x\ny"]}`:        {Field: "params.command", Text: "params.command must not hold control characters"},
		`{"review_capability":"all"}`: {Field: "params.review_capability", Text: `params.review_capability must be one of read, run, edit, full, not "all"`},
	} {
		bad := catalogue().Read(json.RawMessage(raw), &params{})
		if bad == nil {
			t.Errorf("%s was taken", raw)
		} else if d := cmp.Diff(want, *bad); d != "" {
			t.Errorf("%s: %s", raw, d)
		}
	}
}

func TestTheSchemaTellsAll(t *testing.T) {
	raw, err := catalogue().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Type                 string
		AdditionalProperties bool
		PropertyOrder        []string
		Properties           map[string]map[string]any
	}
	got.AdditionalProperties = true
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Type != "object" || got.AdditionalProperties || len(got.PropertyOrder) != 7 || got.PropertyOrder[0] != "heat" {
		t.Errorf("schema %s", raw)
	}
	for name, want := range map[string]map[string]any{
		"heat":    {"type": "number", "title": "Heat", "description": "", "minimum": 0.0, "maximum": 2.0},
		"turns":   {"type": "integer", "title": "Turns", "description": "", "default": 50.0, "minimum": 1.0},
		"mode":    {"type": "string", "title": "Mode", "description": "", "enum": []any{"a", "b"}},
		"command": {"type": "array", "title": "Command", "description": "", "items": map[string]any{"type": "string"}},
	} {
		if d := cmp.Diff(want, got.Properties[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
