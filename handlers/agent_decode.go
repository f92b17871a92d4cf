package handlers

import (
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// sentFields are the fields of a form that were sent, as people mean their ends of
// lines.
func sentFields(c echo.Context) (map[string]string, error) {
	all, err := c.FormParams()
	if err != nil {
		return nil, plan.Errorf(plan.Malformed, "the form could not be read")
	}
	sent := map[string]string{}
	for name := range all {
		sent[name] = strings.ReplaceAll(all.Get(name), "\r\n", "\n")
	}
	return sent, nil
}

// shownAgain are the values of a form that is shown once more: what was typed,
// and for what was not sent the profile as it is. A key never comes back.
func shownAgain(sent map[string]string, was *plan.Profile, settings func(string) *plan.Settings) map[string]string {
	values := map[string]string{}
	if was != nil {
		values = views.AgentValues(was, settings(was.Harness))
	}
	maps.Copy(values, sent)
	for _, name := range []string{"api_key", "api_key_clear", "do", "stamp", "settings_of"} {
		delete(values, name)
	}
	return values
}

// agentDecoder reads an agent's form into what changes about its profile.
type agentDecoder struct {
	sent   map[string]string
	was    *plan.Profile
	in     engine.ProfileFields
	faults map[string]string
}

// decodeAgent reads a form. was is the profile that it changes, nil for a new
// one; a field that was not sent, or is as it was, changes nothing. faults says
// by field what cannot be read.
func decodeAgent(sent map[string]string, was *plan.Profile, settings func(string) *plan.Settings) (in engine.ProfileFields, faults map[string]string) {
	d := &agentDecoder{sent: sent, was: was, faults: map[string]string{}}
	isNew := was == nil
	if isNew {
		d.was = &plan.Profile{}
	}
	d.words()
	d.limits()
	d.key()
	harness := d.was.Harness
	if d.in.Harness != nil {
		harness = *d.in.Harness
	}
	if of, ok := sent["settings_of"]; ok && of != harness {
		d.faults["harness"] = "this harness has settings of its own: look at them below, then do it once more"
	}
	d.params(harness, settings(harness))
	d.tools()
	if stamp, ok := sent["stamp"]; ok && !isNew && stamp != views.ProfileStamp(was) {
		d.faults["name"] = "someone has changed this agent meanwhile: load the page again to see how it is now"
	}
	if isNew { // so that a name or a harness that is missing is told at its field
		d.in.Name, d.in.Harness = orEmpty(d.in.Name), orEmpty(d.in.Harness)
	}
	return d.in, d.faults
}

func orEmpty(s *string) *string {
	if s == nil {
		s = new(string)
	}
	return s
}

// words reads the fields that hold words.
func (d *agentDecoder) words() {
	for _, f := range []struct {
		name string
		to   **string
		was  string
	}{
		{"name", &d.in.Name, d.was.Name}, {"harness", &d.in.Harness, d.was.Harness}, {"model", &d.in.Model, d.was.Model},
		{"base_url", &d.in.BaseURL, d.was.BaseURL}, {"api_key_env", &d.in.KeyEnv, d.was.KeyEnv},
		{"permission_mode", &d.in.PermissionMode, d.was.PermissionMode}, {"system_append", &d.in.SystemAppend, d.was.SystemAppend},
		{"description", &d.in.Description, d.was.Description}, {"capability", &d.in.Capability, d.was.Capability},
		{"test_level", &d.in.TestLevel, d.was.TestLevel}, {"isolation", &d.in.Isolation, d.was.Isolation},
	} {
		if text, ok := d.sent[f.name]; ok {
			changed(f.to, f.was, strings.TrimSpace(text))
		}
	}
}

func (d *agentDecoder) limits() {
	if n, ok := d.whole("max_parallel", math.MaxInt32, int64(d.was.MaxParallel)); ok {
		changed(&d.in.MaxParallel, d.was.MaxParallel, int(n))
	}
	if n, ok := d.whole("max_tokens_per_run", math.MaxInt64, d.was.MaxTokens); ok {
		changed(&d.in.MaxTokens, d.was.MaxTokens, n)
	}
	text, ok := d.sent["max_cost_per_run_usd"]
	if text = strings.TrimSpace(text); !ok {
		return
	}
	if text == "" {
		changed(&d.in.MaxCostUSD, d.was.MaxCostUSD, 0)
		return
	}
	n, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err != nil || !(n > 0) || math.IsInf(n, 0) {
		d.faults["max_cost_per_run_usd"] = "this must be a number above 0, or empty"
		return
	}
	changed(&d.in.MaxCostUSD, d.was.MaxCostUSD, n)
}

// whole reads a number of at least 1; nothing at all is 0, which clears.
func (d *agentDecoder) whole(name string, most, was int64) (n int64, ok bool) {
	text, sent := d.sent[name]
	if text = strings.TrimSpace(text); !sent || text == "" {
		return 0, sent
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		d.faults[name] = "this must be a whole number of at least 1, or empty"
		return was, false
	}
	return n, true
}

// key reads what is to become of the key: kept, replaced or cleared.
func (d *agentDecoder) key() {
	key, clear := strings.TrimSpace(d.sent["api_key"]), d.sent["api_key_clear"] != ""
	switch {
	case key != "" && clear:
		d.faults["api_key"] = "give a new key or clear the stored one, not both"
	case key != "":
		d.in.Key = &key
	case clear:
		d.in.Key = &key
	}
}

// params reads the settings of a harness. What is stored for a setting that was
// not sent stays, unless the harness is another one.
func (d *agentDecoder) params(harness string, settings *plan.Settings) {
	params := map[string]json.RawMessage{}
	if harness == d.was.Harness {
		_ = json.Unmarshal(d.was.Params, &params) // what is stored is an object
	}
	read := func(s *plan.Setting) {
		text, ok := d.sent["params."+s.Name]
		if !ok {
			return
		}
		value, fault := s.Parse(text)
		if fault != "" {
			d.faults["params."+s.Name] = "this " + fault
		}
		setOrClear(params, s.Name, value)
	}
	d.rest(params, settings)
	for i := range settings.List {
		if s := &settings.List[i]; !plan.SecretName(s.Name) && s.Name != plan.ReviewParam {
			read(s)
		}
	}
	read(&plan.Setting{Name: plan.ReviewParam, Type: plan.SettingText})
	d.object(&d.in.Params, d.was.Params, params)
}

// rest reads the params that the harness does not describe.
func (d *agentDecoder) rest(params map[string]json.RawMessage, settings *plan.Settings) {
	text, ok := d.sent["params"]
	if !ok {
		return
	}
	for name := range params {
		if settings.Named(name) == nil && name != plan.ReviewParam {
			delete(params, name)
		}
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	var given map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &given) != nil {
		d.faults["params"] = "this must be a JSON object"
		return
	}
	maps.Copy(params, given)
}

// tools reads the tools. Keys that have no field stay.
func (d *agentDecoder) tools() {
	tools := map[string]json.RawMessage{}
	_ = json.Unmarshal(d.was.Tools, &tools)
	for name, s := range views.ToolSettings() {
		text, ok := d.sent["tools."+name]
		if !ok {
			continue
		}
		value, fault := s.Parse(text)
		if fault != "" {
			d.faults["tools."+name] = "this " + fault
		}
		setOrClear(tools, name, value)
	}
	d.object(&d.in.Tools, d.was.Tools, tools)
}

func setOrClear(m map[string]json.RawMessage, name string, value json.RawMessage) {
	if value == nil {
		delete(m, name)
	} else {
		m[name] = value
	}
}

// object sets a field that is an object, if it is another than before.
func (d *agentDecoder) object(to **json.RawMessage, was json.RawMessage, is map[string]json.RawMessage) {
	raw, err := json.Marshal(is)
	if err != nil || plan.SameJSON(raw, object(was)) { // an error: a value that is no JSON, which has a fault
		return
	}
	text := json.RawMessage(raw)
	*to = &text
}

// faultsOf sorts the faults that the engine told, one a line, to the fields that
// they name; what names none is about the form.
func faultsOf(message string, fields []views.FieldFault) (faults map[string]string, rest string) {
	faults = map[string]string{}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	var others []string
	lines := strings.Split(message, "\n")
	if len(lines) > 1 {
		lines = lines[1:] // the first says what follows
	}
	for _, line := range lines {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "- "), "profile: ")
		name, rule := faultField(line, names)
		switch {
		case name == "":
			others = append(others, line)
		case faults[name] == "":
			faults[name] = rule
		default:
			faults[name] += "\n" + rule
		}
	}
	return faults, strings.Join(others, "\n")
}
