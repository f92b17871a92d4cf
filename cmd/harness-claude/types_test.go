package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
)

// What is on offer and what the guard lets through, together, are no more than the
// step's type and its agent's capability allow.
func TestEachTaskTypeIsGrantedNoMoreThanItMay(t *testing.T) {
	for _, tt := range []struct {
		kind          string
		allowed       plugin.Capability
		code, doc, sh bool
	}{
		{"design", plugin.Full, false, true, false},
		{"design", plugin.Read, false, false, false},
		{"implement", plugin.Full, true, true, true},
		{"implement", plugin.Edit, true, true, false},
		{"implement", plugin.Run, false, false, false},
		{"configure", plugin.Full, true, true, true},
		{"configure", plugin.Edit, true, true, false},
		{"test", plugin.Full, true, true, true},
		{"test", plugin.Run, false, false, true},
		{"review", plugin.Full, false, false, true},
		{"review", plugin.Edit, false, false, false},
		{"integrate", plugin.Full, true, true, true},
		{"integrate", plugin.Edit, true, true, false},
	} {
		for _, asks := range []string{`{}`, `{"ask":true}`} {
			t.Run(tt.kind+" with "+string(tt.allowed)+" "+asks, func(t *testing.T) {
				task := plugin.Task{Allowed: tt.allowed, TaskType: tt.kind, LimitWrites: true, Writable: []string{"a.go", "docs"}, WorkDir: t.TempDir()}
				s, bad := at(nil).readProfile(plugin.Profile{Params: json.RawMessage(asks)})
				if bad != nil {
					t.Fatal(bad)
				}
				g, err := newGrants(task, s)
				must(t, err)
				guard := newGuard(task, g, t.TempDir())
				// passes reports whether a call is made without a person's word.
				passes := func(tool, input string) bool {
					if !slices.Contains(g.tools, tool) {
						return false
					}
					if !slices.Contains(g.hooked(), tool) {
						return slices.Contains(g.allow, tool)
					}
					return guard.decide(call{Tool: tool, Input: json.RawMessage(input)}).decision == "allow"
				}
				for input, want := range map[string]bool{`{"file_path":"a.go"}`: tt.code, `{"file_path":"docs/a.md"}`: tt.doc, `{"file_path":"other.md"}`: false, `{"file_path":"../a.go"}`: false} {
					for _, tool := range writeTools {
						if got := passes(tool, input); got != want {
							t.Errorf("%s %s: %t", tool, input, got)
						}
					}
				}
				if got := passes("Bash", `{"command":"touch ran"}`); got != tt.sh {
					t.Errorf("Bash: %t", got)
				}
				if !passes("Read", `{"file_path":"a.go"}`) {
					t.Error("it cannot read")
				}
			})
		}
	}
}
