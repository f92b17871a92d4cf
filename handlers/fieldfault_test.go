package handlers

import "testing"

func TestAFaultIsToldAtTheFieldThatItNames(t *testing.T) {
	names := []string{"kind", "title", "agent", "max", "max_tokens", "params", "acceptance_criteria", "webhooks[0].url"}
	for line, want := range map[string][2]string{
		"title must not be empty":                                {"title", "this must not be empty"},
		"- step: title must not be empty":                        {"title", "this must not be empty"},
		"kind: unknown kind \"x\"":                               {"kind", "unknown kind \"x\""},
		"max_tokens must be positive":                            {"max_tokens", "this must be positive"},
		"params.effort: unknown":                                 {"params", "params.effort: unknown"},
		"step: 30 acceptance_criteria are too many":              {"acceptance_criteria", "30 acceptance_criteria are too many"},
		"webhooks[0].url must not have a fragment":               {"webhooks[0].url", "this must not have a fragment"},
		"subtitle must not be empty":                             {},
		"subtitle: it must differ from the title of another one": {},
		"the kind of it is wrong":                                {},
		"max_turns is no number":                                 {},
		"title":                                                  {},
	} {
		if name, rule := faultField(line, names); name != want[0] || rule != want[1] {
			t.Errorf("%q is about %q: %q; want %q", line, name, rule, want)
		}
	}
}
