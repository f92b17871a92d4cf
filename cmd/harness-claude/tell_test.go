package main

import (
	"encoding/json"
	"testing"
)

func TestFlatResults(t *testing.T) {
	for raw, want := range map[string]string{
		`"text"`: "text", `[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]`: "a\n[image]\nb",
		`null`: "", `7`: "", `{}`: "", `[1,{"type":"tool_reference"}]`: "",
	} {
		if got := flat(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}
