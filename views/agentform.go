package views

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// AgentFormInput is what an agent's form is made from.
type AgentFormInput struct {
	Profile  *plan.Profile     // nil: a new one
	Values   map[string]string // what the fields hold, by their names, see [AgentValues]
	Faults   map[string]string // what is wrong, by field
	Fault    string            // what is wrong beyond one field
	Harness  Harness           // the one that is chosen
	Choices  []Harness         // all that can be chosen
	Settings *plan.Settings    // of the chosen one
	Server   plan.Server
}

// AgentForm is the form in which an agent is made or changed.
type AgentForm struct {
	ID       plan.ProfileID // 0: a new one
	Stamp    string         // tells one state of the profile from another
	HasKey   bool
	Fault    string
	Faults   []FieldFault
	KeyFault string
	Harness  Harness
	Chooser  formField

	Identity, Model, Rights, Limits, Settings, Advanced []formField

	Secrets      []string // settings that look like secrets, which params do not hold
	AdvancedOpen bool
	Outcome      *TestOutcome // of a test with these values, for browsers without scripts
}

// FieldFault is what is wrong with one field.
type FieldFault struct{ Name, Label, Text string }

// AgentsURL is where agents are, NewAgentURL where one is made.
const (
	AgentsURL   = "/agents"
	NewAgentURL = "/agents/new"
)

// AgentURL is the page of an agent.
func AgentURL(id plan.ProfileID) string { return AgentsURL + "/" + strconv.FormatInt(int64(id), 10) }

// ProfileStamp tells one state of a profile from another.
func ProfileStamp(p *plan.Profile) string {
	return strconv.FormatFloat(float64(p.UpdatedAt), 'f', -1, 64)
}

// The fields of the form beside the settings of the harness.
const (
	fieldRest   = "params" // what the harness does not describe
	fieldReview = "params." + plan.ReviewParam
)

// AgentValues are the fields of a form for a profile as it is.
func AgentValues(p *plan.Profile, settings *plan.Settings) map[string]string {
	v := map[string]string{"name": p.Name, "harness": p.Harness, "model": p.Model, "base_url": p.BaseURL, "api_key_env": p.KeyEnv,
		"description": p.Description, "capability": p.Capability, "test_level": p.TestLevel, "isolation": p.Isolation,
		"max_parallel": count(int64(p.MaxParallel)), "max_tokens_per_run": count(p.MaxTokens), "max_cost_per_run_usd": decimal(p.MaxCostUSD),
		"system_append": p.SystemAppend, "permission_mode": p.PermissionMode}
	var params, tools map[string]json.RawMessage
	_ = json.Unmarshal(p.Params, &params) // what is stored is an object
	_ = json.Unmarshal(p.Tools, &tools)
	rest := map[string]json.RawMessage{}
	for name, value := range params {
		if s := paramSetting(settings, name); s != nil {
			v["params."+name] = s.Text(value)
		} else {
			rest[name] = value
		}
	}
	if len(rest) > 0 {
		v[fieldRest] = pretty(rest)
	}
	for name, s := range ToolSettings() {
		v["tools."+name] = s.Text(tools[name])
	}
	return v
}

// paramSetting finds a param that has a field of its own.
func paramSetting(settings *plan.Settings, name string) *plan.Setting {
	if name == plan.ReviewParam {
		return &plan.Setting{Name: name, Type: plan.SettingText}
	}
	if s := settings.Named(name); s != nil && !plan.SecretName(name) {
		return s
	}
	return nil
}

// ToolSettings are the fields for the tools of a profile.
func ToolSettings() map[string]*plan.Setting {
	return map[string]*plan.Setting{"preset": {Name: "preset", Type: plan.SettingText}, "allow": {Name: "allow", Type: plan.SettingTexts},
		"deny": {Name: "deny", Type: plan.SettingTexts}, "mcp": {Name: "mcp", Type: plan.SettingBoolean}}
}

func pretty(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(v) != nil { // of what was decoded from JSON: never
		return ""
	}
	return strings.TrimSpace(b.String())
}

// NewAgentForm makes the form.
func NewAgentForm(in AgentFormInput) *AgentForm {
	f := &AgentForm{Fault: in.Fault, Harness: in.Harness, KeyFault: in.Faults["api_key"]}
	if in.Profile != nil {
		f.ID, f.Stamp, f.HasKey = in.Profile.ID, ProfileStamp(in.Profile), in.Profile.HasKey
	}
	f.Chooser = chooser(&in)
	f.Identity, f.Model = identityFields(), modelFields(in.Harness)
	f.Rights, f.Limits = rightsFields(in.Server), limitFields()
	f.Settings, f.Secrets = settingFields(&in)
	f.Advanced = advancedFields(&in)
	for _, part := range f.parts() {
		for i := range part {
			part[i].Value, part[i].Fault = in.Values[part[i].Name], in.Faults[part[i].Name]
			if part[i].Kind == fieldChoice {
				part[i].Options = withValue(part[i].Options, part[i].Value)
			}
			if part[i].Fault != "" {
				f.Faults = append(f.Faults, FieldFault{part[i].Name, part[i].Label, part[i].Fault})
			}
		}
	}
	if f.KeyFault != "" {
		f.Faults = append(f.Faults, FieldFault{"api_key", "Key", f.KeyFault})
	}
	for i := range f.Advanced {
		f.AdvancedOpen = f.AdvancedOpen || f.Advanced[i].Value != "" || f.Advanced[i].Fault != ""
	}
	return f
}

func (f *AgentForm) parts() [][]formField {
	return [][]formField{{f.Chooser}, f.Identity, f.Model, f.Rights, f.Limits, f.Settings, f.Advanced}
}

// Fields are the names of all fields, with what is wrong with each: those with
// nothing, too, since what was wrong before is not any more.
func (f *AgentForm) Fields() []FieldFault {
	var list []FieldFault
	for _, part := range f.parts() {
		for i := range part {
			list = append(list, FieldFault{part[i].Name, part[i].Label, part[i].Fault})
		}
	}
	return append(list, FieldFault{"api_key", "Key", f.KeyFault})
}

// withoutKey are the fields but that of the key, which is drawn anew as a whole.
func (f *AgentForm) withoutKey() []FieldFault {
	all := f.Fields()
	return all[:len(all)-1]
}

// URL is where the form is sent.
func (f *AgentForm) URL() string {
	if f.ID == 0 {
		return NewAgentURL
	}
	return AgentURL(f.ID)
}

func (f *AgentForm) saveWord() string {
	if f.ID == 0 {
		return "Create the agent"
	}
	return "Save"
}

func (f *AgentForm) keyWord() string {
	if f.HasKey {
		return "stored; type a new one to replace it"
	}
	return ""
}

type capabilityRow struct {
	name      string
	edit, run bool
}

func capabilityRows() []capabilityRow {
	return []capabilityRow{{"read", false, false}, {"run", false, true}, {"edit", true, false}, {"full", true, true}}
}

func yesOrDash(yes bool) string {
	if yes {
		return "yes"
	}
	return "–"
}

func joined(list []string) string { return strings.Join(list, ", ") }
