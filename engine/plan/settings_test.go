package plan

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someSchema = `{"type":"object","additionalProperties":false,"required":["where"],"propertyOrder":["temperature"],"properties":{
	"where":{"type":"string"},
	"long":{"type":"string","format":"textarea","title":"Long text","description":"Several lines."},
	"temperature":{"type":"number","minimum":0,"maximum":2},
	"speed":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":100,"default":1},
	"turns":{"type":["integer","null"],"minimum":1},
	"stream":{"type":"boolean","default":true},
	"effort":{"type":"string","enum":["low","high"]},
	"size":{"type":"integer","enum":[1,2]},
	"words":{"type":"array","items":{"type":"string"}},
	"extra":{"type":"object"},
	"odd":{"oneOf":[{"type":"string"},{"type":"number"}]},
	"any":true}}`

func parsed(t *testing.T, schema string) Settings {
	t.Helper()
	s, err := ParseSettings(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSettingsAreReadInOrder(t *testing.T) {
	s := parsed(t, someSchema)
	var got []string
	for _, one := range s.List {
		got = append(got, one.Name+" "+one.Type)
	}
	want := []string{"temperature number", "where string", "long string", "speed number", "turns integer", "stream boolean", "effort string",
		"size integer", "words strings", "extra object", "odd ", "any "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if long := s.Named("long"); !long.Long || long.Title != "Long text" || long.Help != "Several lines." || s.Named("turns").Title != "turns" || s.Open {
		t.Errorf("got %+v", long)
	}
}

func TestASchemaOfNothingAllowsEverything(t *testing.T) {
	for _, schema := range []string{"", " ", `{}`, `{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`} {
		s := parsed(t, schema)
		var bad Problems
		s.Check(json.RawMessage(`{"b":1,"a":[]}`), &bad)
		if bad.Len() != 0 || !s.Open {
			t.Errorf("%q refuses: %v", schema, bad.List())
		}
	}
	for _, schema := range []string{`[]`, `7`, `{"properties":[]}`, `{`} {
		if s, err := ParseSettings(json.RawMessage(schema)); err == nil || !s.Open {
			t.Errorf("%s is a schema", schema)
		}
	}
}

func TestParamsAreCheckedAgainstTheSchema(t *testing.T) {
	s := parsed(t, someSchema)
	for _, c := range []struct{ params, says string }{
		{`{"temperature":2,"turns":1,"speed":0.1,"stream":false,"effort":"low","size":2,"words":["a"],"extra":{},"odd":[1],"any":null}`, ""},
		{`{"turns":null,"stream":null}`, ""},
		{`{"review_capability":"read"}`, ""},
		{`{"temperature":2.1}`, "params.temperature must be at most 2, not 2.1"},
		{`{"temperature":"warm"}`, `params.temperature must be a number, not "warm"`},
		{`{"turns":0}`, "params.turns must be at least 1, not 0"},
		{`{"turns":1.5}`, "params.turns must be a whole number, not 1.5"},
		{`{"speed":0}`, "params.speed must be greater than 0, not 0"},
		{`{"speed":100}`, "params.speed must be less than 100, not 100"},
		{`{"stream":"yes"}`, `params.stream must be true or false, not "yes"`},
		{`{"effort":"most"}`, "params.effort must be one of low, high, not most"},
		{`{"size":3}`, "params.size must be one of 1, 2, not 3"},
		{`{"words":["a",1]}`, `params.words must be a list of texts, not ["a",1]`},
		{`{"extra":[]}`, "params.extra must be an object, not []"},
		{`{"temprature":1}`, "params.temprature is no setting of this harness: it has temperature, where, long"},
		{`{"where":"` + strings.Repeat("x", 10) + `","long":` + strings.Repeat("9", 100) + `}`, "params.long must be a text, not " + strings.Repeat("9", 60) + "…"},
	} {
		var bad Problems
		params := c.params
		if !strings.Contains(params, "where") {
			params = strings.Replace(params, "{", `{"where":"here",`, 1)
		}
		s.Check(json.RawMessage(params), &bad)
		switch got := strings.Join(bad.List(), "\n"); {
		case c.says == "" && got != "", !strings.HasPrefix(got, c.says):
			t.Errorf("%s: %q, want %q", c.params, got, c.says)
		}
	}
	var bad Problems
	s.Check(nil, &bad)
	if diff := cmp.Diff([]string{"params.where must be set"}, bad.List()); diff != "" {
		t.Error(diff)
	}
}

func TestWhatPeopleTypeIsRead(t *testing.T) {
	s := parsed(t, someSchema)
	for _, c := range []struct{ name, text, want, fault string }{
		{"where", "  here ", `"here"`, ""},
		{"where", "<b> & \"q\"", `"<b> & \"q\""`, ""},
		{"long", "  a\n b\n", `"  a\n b\n"`, ""},
		{"where", "  ", "", ""},
		{"temperature", "0,5", "0.5", ""},
		{"temperature", "1e1", "10", "must be at most 2, not 10"},
		{"temperature", "warm", "", "must be a number"},
		{"temperature", "NaN", "", "must be a number"},
		{"turns", "7", "7", ""},
		{"turns", "7.5", "7.5", "must be a whole number, not 7.5"},
		{"stream", "false", "false", ""},
		{"stream", "no", "", "must be true or false in JSON"},
		{"effort", "low", `"low"`, ""},
		{"effort", "lower", `"lower"`, "must be one of low, high, not lower"},
		{"words", " a \n\n b c ", `["a","b c"]`, ""},
		{"extra", `{"a": [1]}`, `{"a": [1]}`, ""},
		{"extra", `{"a"`, "", "must be an object in JSON"},
		{"extra", `[]`, `[]`, "must be an object, not []"},
		{"odd", `"x"`, `"x"`, ""},
	} {
		got, fault := s.Named(c.name).Parse(c.text)
		if c.fault != fault || fault == "" && string(got) != c.want {
			t.Errorf("%s %q: %s, %q; want %s, %q", c.name, c.text, got, fault, c.want, c.fault)
		}
		if fault == "" && got != nil {
			if again, fault := s.Named(c.name).Parse(s.Named(c.name).Text(got)); fault != "" || !SameJSON(again, got) {
				t.Errorf("%s %s came back as %s, %q", c.name, got, again, fault)
			}
		}
	}
}

func TestRangesAreSaid(t *testing.T) {
	s := parsed(t, someSchema)
	for name, want := range map[string]string{"temperature": "From 0 to 2.", "turns": "At least 1.", "speed": "More than 0, less than 100.", "where": ""} {
		if got := s.Named(name).Range(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	huge := math.MaxFloat64
	if got := (&Setting{Max: &huge}).Range(); got != "" {
		t.Errorf("a bound that means nothing is said: %q", got)
	}
}

func TestSecretsDoNotBelongIntoParams(t *testing.T) {
	for _, c := range []struct {
		params string
		says   []string
	}{
		{`{"max_tokens":5,"pad_token":"<pad>","input_price_per_mtok":1,"keyboard":"de"}`, nil},
		{`{"mcp_servers":{"gh":{"env":{"GITHUB_TOKEN":"${GITHUB_TOKEN}"},"headers":{"Authorization":"Bearer ${T}"}}}}`, nil},
		{`{"api_key":""}`, nil},
		{`{"api_key":"sk"}`, []string{"params must not hold api_key"}},
		{`{"API-Key":"sk","token":"t","client_secret":"s"}`, []string{"params must not hold API-Key", "params must not hold client_secret", "params must not hold token"}},
		{`{"mcp_servers":{"gh":{"env":{"GITHUB_TOKEN":"ghp"},"headers":{"Authorization":"Bearer x"}}}}`,
			[]string{"params.mcp_servers must not hold GITHUB_TOKEN", "params.mcp_servers must not hold Authorization"}},
		{`{"review_capability":"all"}`, []string{"params.review_capability: unknown value"}},
		{`{"review_capability":3}`, []string{"params.review_capability must be one of"}},
	} {
		var bad Problems
		CheckParams(json.RawMessage(c.params), &bad)
		if bad.Len() != len(c.says) {
			t.Errorf("%s: %q", c.params, bad.List())
			continue
		}
		for i, want := range c.says {
			if !strings.HasPrefix(bad.List()[i], want) {
				t.Errorf("%s: %q, want %q", c.params, bad.List()[i], want)
			}
			if strings.Contains(bad.List()[i], "ghp") || strings.Contains(bad.List()[i], "sk") && !strings.Contains(want, "sk") {
				t.Errorf("the refusal repeats the secret: %q", bad.List()[i])
			}
		}
	}
}

func TestToolsAreChecked(t *testing.T) {
	for tools, want := range map[string]string{
		`{}`: "", `{"preset":"readonly","allow":["bash"],"deny":[],"mcp":false,"own":1}`: "", `{"preset":""}`: "", `{"allow":null}`: "",
		`{"preset":"some"}`: "tools.preset must be one of all, readonly, none, not some",
		`{"allow":"bash"}`:  `tools.allow must be a list of texts, not "bash"`,
		`{"deny":[1]}`:      "tools.deny must be a list of texts, not [1]",
		`{"mcp":"on"}`:      `tools.mcp must be true or false, not "on"`,
	} {
		var bad Problems
		CheckTools(json.RawMessage(tools), &bad)
		if got := strings.Join(bad.List(), "\n"); got != want {
			t.Errorf("%s: %q, want %q", tools, got, want)
		}
	}
}

func FuzzSettings(f *testing.F) {
	f.Add(someSchema, `{"where":"x","turns":1}`, "1")
	f.Add(`{"properties":{"a":{"type":["null"],"enum":[],"default":{}}}}`, `{"a":null}`, "{}")
	f.Fuzz(func(t *testing.T, schema, params, text string) {
		s, err := ParseSettings(json.RawMessage(schema))
		if err != nil {
			return
		}
		var bad Problems
		s.Check(json.RawMessage(params), &bad)
		for i := range s.List {
			value, fault := s.List[i].Parse(text)
			if fault == "" && value != nil && !json.Valid(value) {
				t.Errorf("%q became %s, which is no JSON", text, value)
			}
			_, _ = s.List[i].Text(s.List[i].Default), s.List[i].Range()
		}
	})
}
