package views

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/internal/goldenfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// harnessSettings reads what one of our harnesses says can be set; its own tests
// keep the file as it is.
func harnessSettings(t *testing.T, slug string) *plan.Settings {
	t.Helper()
	schema, err := os.ReadFile("testdata/settings/" + slug + ".json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := plan.ParseSettings(schema)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestFormsOfOurHarnesses(t *testing.T) {
	for slug, params := range map[string]string{
		"claude": `{"ask":true,"mcp_servers":{"gh":{"command":"gh"}},"effort":"high","setting_sources":"user","review_capability":"read"}`,
		"openai": `{"temperature":0.2,"stream":false,"extra_body":{"top_k":4},"seed":12345}`,
		"mock":   `{"script":"say a\nsay b","pace":2}`,
	} {
		settings := harnessSettings(t, slug)
		p := &plan.Profile{ID: 4, Name: "one", Harness: slug, Params: json.RawMessage(params)}
		f := NewAgentForm(AgentFormInput{Profile: p, Values: AgentValues(p, settings), Settings: settings,
			Harness: Harness{Slug: slug, Name: "The " + slug, Path: "/h/harness-" + slug}, Server: plan.Server{DefaultCapability: "full"}})
		got := strings.ReplaceAll(render(t, AgentSettingsView(f)), "><", ">\n<") + "\n"
		goldenfile.Check(t, "testdata/form-"+slug+".golden.html", got, *update)
	}
}

func TestEachKindOfSettingHasItsField(t *testing.T) {
	low, high := 0.0, 2.0
	def := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, c := range []struct {
		name    string
		setting plan.Setting
		value   string
		want    formField
	}{
		{"a text", plan.Setting{Name: "a", Title: "A", Type: plan.SettingText, Help: "Say it.", Default: def(`"x"`), Required: true}, "v",
			formField{Name: "params.a", Label: "A", Kind: fieldLine, Value: "v", Placeholder: "x", Help: "Say it.", Required: true}},
		{"a long text", plan.Setting{Name: "a", Type: plan.SettingText, Long: true}, "", formField{Name: "params.a", Kind: fieldArea, Rows: "6"}},
		{"a number", plan.Setting{Name: "n", Type: plan.SettingNumber, Min: &low, Max: &high, Default: def("1"), Help: "How warm."}, "",
			formField{Name: "params.n", Kind: fieldNumber, Placeholder: "1", Help: "How warm. From 0 to 2."}},
		{"yes or no", plan.Setting{Name: "b", Type: plan.SettingBoolean, Default: def("true")}, "false",
			formField{Name: "params.b", Kind: fieldChoice, Value: "false", Placeholder: "true", Options: []choice{{"", "Default: yes"}, {"true", "Yes"}, {"false", "No"}}}},
		{"one of several", plan.Setting{Name: "e", Type: plan.SettingText, Enum: []json.RawMessage{def(`""`), def(`"low"`)}}, "gone",
			formField{Name: "params.e", Kind: fieldChoice, Value: "gone", Options: []choice{{"", "Not set"}, {"low", "low"}, {"gone", "gone (not one of them)"}}}},
		{"a list", plan.Setting{Name: "l", Type: plan.SettingTexts}, "a\nb", formField{Name: "params.l", Kind: fieldCode, Rows: "3", Value: "a\nb", Help: "One a line."}},
		{"an object", plan.Setting{Name: "o", Type: plan.SettingObject}, "{}", formField{Name: "params.o", Kind: fieldCode, Rows: "4", Value: "{}", Help: "A JSON object."}},
		{"anything", plan.Setting{Name: "x"}, "[1]", formField{Name: "params.x", Kind: fieldCode, Rows: "2", Value: "[1]", Help: "In JSON."}},
	} {
		if diff := cmp.Diff(c.want, settingField(&c.setting, c.value), cmp.AllowUnexported(formField{})); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestSettingsThatLookLikeSecretsHaveNoField(t *testing.T) {
	settings, err := plan.ParseSettings(json.RawMessage(`{"properties":{"api_key":{"type":"string","title":"API key"},"mood":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Profile{Harness: "x", Params: json.RawMessage(`{"mood":"good"}`)}
	out := render(t, AgentSettingsView(NewAgentForm(AgentFormInput{Values: AgentValues(p, &settings), Settings: &settings, Harness: Harness{Slug: "x", Path: "/x"}})))
	if strings.Contains(out, "params.api_key") || !strings.Contains(out, "API key") || !strings.Contains(out, `name="params.mood" value="good"`) {
		t.Error(out)
	}
}

func TestFieldsAreNamedForSelectors(t *testing.T) {
	for name, want := range map[string]string{"name": "f-name", "params.max_turns": "f-params-max_turns", "params.a b#": "f-params-a-20b-23"} {
		if got := FieldID(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestWhatAgentsSpentIsAsFarAsItIsKnown(t *testing.T) {
	dollars := 1.5
	for want, s := range map[string]plan.ProfileSpend{
		"1 run, 1,500 tokens":               {Runs: 1, TokensIn: 1000, TokensOut: 500},
		"2 runs, 10 tokens, $1.50":          {Runs: 2, TokensIn: 10, CostUSD: &dollars, Priced: 2},
		"3 runs, 10 tokens, at least $1.50": {Runs: 3, TokensIn: 10, CostUSD: &dollars, Priced: 2},
	} {
		if got := spent(&s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWhatIsUsedInsteadIsSaid(t *testing.T) {
	for _, c := range []struct {
		at     plan.Ref
		review bool
		heir   string
		want   AgentUse
	}{
		{plan.Ref{Plan: 3}, false, "claude", AgentUse{Ref: "3", Title: "T", URL: "/plans/3", Then: "has its steps run on claude"}},
		{plan.Ref{Plan: 3, Node: 2}, false, "cheap", AgentUse{Ref: "3.2", Title: "T", URL: "/plans/3/nodes/2", Then: "runs on cheap"}},
		{plan.Ref{Plan: 3}, true, "", AgentUse{Ref: "3", Title: "T", URL: "/plans/3", Then: "is not reviewed any more"}},
		{plan.Ref{Plan: 3}, true, "critic", AgentUse{Ref: "3", Title: "T", URL: "/plans/3", Then: "is reviewed by critic"}},
	} {
		if diff := cmp.Diff(c.want, UseOf(c.at, "T", c.review, c.heir)); diff != "" {
			t.Error(diff)
		}
	}
}
