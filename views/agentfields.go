package views

import (
	"github.com/clearbox-go/clearbox/engine/plan"
)

func chooser(in *AgentFormInput) formField {
	f := formField{Name: "harness", Label: "Harness", Kind: fieldChoice, Required: true, Value: in.Harness.Slug, Fault: in.Faults["harness"],
		Help: "The program that runs this agent's sessions. Its own settings are further down."}
	for i := range in.Choices {
		h := &in.Choices[i]
		label := h.title()
		switch {
		case h.Refused != "":
			label += " – refused"
		case h.Path == "":
			label += " – not found"
		}
		f.Options = append(f.Options, choice{h.Slug, label})
	}
	f.Options = withValue(f.Options, f.Value)
	return f
}

func identityFields() []formField {
	return []formField{
		{Name: "name", Label: "Name", Kind: fieldLine, Required: true, Help: "How plans and steps refer to it. Not digits alone."},
		{Name: "description", Label: "Description", Kind: fieldArea, Rows: "2", Help: "What it is good for. Planners choose agents by it."},
	}
}

func modelFields(h Harness) []formField {
	model := formField{Name: "model", Label: "Model", Kind: fieldLine, List: "agent-models", Required: h.NeedsModel,
		Help: "As the harness or its endpoint names it. A test of the connection suggests what there is."}
	if !h.NeedsModel {
		model.Placeholder = "the harness's own choice"
	}
	return []formField{model,
		{Name: "base_url", Label: "Endpoint", Kind: fieldLine, Placeholder: "the harness's own", Help: "Base URL of the model's API, http:// or https://."},
		{Name: "api_key_env", Label: "Variable with the key", Kind: fieldLine, Placeholder: "none",
			Help: "NAME of an environment variable of this server. It comes before a stored key."},
	}
}

func rightsFields(server plan.Server) []formField {
	capability := []choice{{"", "The server's default: " + server.DefaultCapability}}
	for _, c := range plan.Capabilities {
		capability = append(capability, choice{c, c})
	}
	return []formField{
		{Name: "capability", Label: "Capability", Kind: fieldChoice, Options: capability, Help: "What its sessions may do in the working directory."},
		{Name: "isolation", Label: "Isolation", Kind: fieldChoice, Help: "The least it works in. A plan or a step can ask for more.",
			Options: []choice{{"", "As the plan and the server say"}, {"none", "None: in the working directory itself"}, {"worktree", "Worktree: in a copy, brought back when it is done"}}},
		{Name: "test_level", Label: "Tests", Kind: fieldChoice, Help: "How much its agents are told to test what they did.",
			Options: []choice{{"", "Default: standard"}, {"none", "None"}, {"light", "Light: a quick look that it works"}, {"standard", "Standard: what was changed is tested"},
				{"thorough", "Thorough: the whole suite, and new tests"}}},
		{Name: "system_append", Label: "Added to its system text", Kind: fieldArea, Rows: "3", Help: "Rules that all its sessions get, such as how to write commit messages."},
	}
}

func limitFields() []formField {
	return []formField{
		{Name: "max_parallel", Label: "Runs at once", Kind: fieldNumber, Placeholder: "no limit", Help: "In all plans together."},
		{Name: "max_tokens_per_run", Label: "Tokens of one run", Kind: fieldNumber, Placeholder: "no limit",
			Help: "In and out. A run that has used so many is ended, and its step fails."},
		{Name: "max_cost_per_run_usd", Label: "US dollars of one run", Kind: fieldNumber, Placeholder: "no limit",
			Help: "The same in money, for agents that report what they cost."},
	}
}

// settingFields are the fields of the harness's own settings, and the names of
// those that have none because they would hold secrets. A setting that is a field
// of every agent too is drawn once, unless it is in use.
func settingFields(in *AgentFormInput) (fields []formField, secrets []string) {
	for i := range in.Settings.List {
		s := &in.Settings.List[i]
		name := "params." + s.Name
		switch {
		case plan.SecretName(s.Name):
			secrets = append(secrets, s.Title)
		case s.Name == plan.ReviewParam, s.Name == "permission_mode" && in.Values[name] == "" && in.Faults[name] == "":
		default:
			fields = append(fields, settingField(s, in.Values[name]))
		}
	}
	return fields, secrets
}

func advancedFields(in *AgentFormInput) []formField {
	mode := formField{Name: "permission_mode", Label: "Permission mode", Kind: fieldLine, Placeholder: "by capability",
		Help: "The harness's own word, for harnesses that have modes."}
	if s := in.Settings.Named("permission_mode"); s != nil && s.Enum != nil {
		mode.Kind, mode.Options, mode.Help = fieldChoice, enumChoices(s, ""), s.Help
	}
	review := []choice{{"", "Default: run"}}
	for _, c := range plan.Capabilities {
		review = append(review, choice{c, c})
	}
	list := []formField{mode,
		{Name: "tools.preset", Label: "Tools", Kind: fieldChoice, Help: "Takes the place of what the capability would offer.",
			Options: []choice{{"", "By capability"}, {"all", "All"}, {"readonly", "Those that only read"}, {"none", "None"}}},
		{Name: "tools.allow", Label: "Allowed tools", Kind: fieldCode, Rows: "2", Help: "Names of tools, one a line."},
		{Name: "tools.deny", Label: "Denied tools", Kind: fieldCode, Rows: "2", Help: "Names of tools, one a line. They win over allowed ones."},
		{Name: "tools.mcp", Label: "Clearbox's own tools", Kind: fieldChoice, Help: "With them an agent can report progress and break its step down.",
			Options: []choice{{"", "Default: offered"}, {"true", "Offered"}, {"false", "Not offered"}}},
		{Name: fieldReview, Label: "Capability when it reviews", Kind: fieldChoice, Options: review, Help: "What it may do as a reviewer, whatever its capability."},
	}
	if in.Settings.Open || in.Values[fieldRest] != "" || in.Faults[fieldRest] != "" {
		list = append(list, formField{Name: fieldRest, Label: "Further settings", Kind: fieldCode, Rows: "3",
			Help: "A JSON object with params that the harness does not describe. No keys or passwords: everyone who sees this agent sees them."})
	}
	return list
}
