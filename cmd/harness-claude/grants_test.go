package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/google/go-cmp/cmp"
)

func TestGrants(t *testing.T) {
	const reads, writes, others = "Read Glob Grep", "Write Edit MultiEdit NotebookEdit", "Task WebFetch WebSearch TodoWrite TaskCreate TaskGet TaskList TaskUpdate"
	all := reads + " Bash " + writes + " " + others
	tests := []struct {
		name                       string
		task                       plugin.Task
		profile                    plugin.Profile
		mode, tools, allow, hooked string
	}{
		{"read", plugin.Task{Allowed: "read"}, plugin.Profile{}, "dontAsk", reads, "", reads},
		{"run", plugin.Task{Allowed: "run"}, plugin.Profile{}, "dontAsk", reads + " Bash", reads + " Bash", ""},
		{"edit", plugin.Task{Allowed: "edit"}, plugin.Profile{}, "dontAsk", reads + " " + writes, "", reads + " " + writes},
		{"full", plugin.Task{Allowed: "full"}, plugin.Profile{PermissionMode: "acceptEdits"}, "acceptEdits", all, all, ""},
		{"full in another mode", plugin.Task{Allowed: "full"}, plugin.Profile{PermissionMode: "bypassPermissions"}, "bypassPermissions", all, all, ""},
		{"the mode of the params counts first", plugin.Task{Allowed: "full"}, plugin.Profile{PermissionMode: "acceptEdits", Params: json.RawMessage(`{"permission_mode":"plan"}`)}, "plan", all, all, ""},
		{"a mode does not widen a capability", plugin.Task{Allowed: "edit"}, plugin.Profile{PermissionMode: "bypassPermissions"}, "dontAsk", reads + " " + writes, "", reads + " " + writes},
		{"but it can narrow one", plugin.Task{Allowed: "run"}, plugin.Profile{PermissionMode: "plan"}, "plan", reads + " Bash", reads + " Bash", ""},
		{"read that asks", plugin.Task{Allowed: "read"}, plugin.Profile{Params: json.RawMessage(`{"ask":true}`)}, "default", all, "", reads + " Bash " + writes},
		{"full with paths", plugin.Task{Allowed: "full", LimitWrites: true, Writable: []string{"a"}}, plugin.Profile{}, "dontAsk", all, reads + " Bash " + others, writes},
		{"an implementing step with an editor", plugin.Task{Allowed: "edit", TaskType: "implement", LimitWrites: true, Writable: []string{"a"}}, plugin.Profile{}, "dontAsk", reads + " " + writes, "", reads + " " + writes},
		{"a design with everything", plugin.Task{Allowed: "full", TaskType: "design", LimitWrites: true, Writable: []string{"a"}}, plugin.Profile{}, "dontAsk", reads + " " + writes + " " + others, others, reads + " " + writes},
		{"a review writes nothing", plugin.Task{Allowed: "full", TaskType: "review", LimitWrites: true}, plugin.Profile{}, "dontAsk", reads + " Bash " + others, reads + " Bash " + others, ""},
		{"tools taken away", plugin.Task{Allowed: "full"}, plugin.Profile{Tools: json.RawMessage(`{"preset":"readonly"}`)}, "acceptEdits", reads, reads, ""},
		{"no tools", plugin.Task{Allowed: "full"}, plugin.Profile{Tools: json.RawMessage(`{"preset":"none"}`)}, "acceptEdits", "", "", ""},
		{"a list of tools", plugin.Task{Allowed: "run"}, plugin.Profile{Tools: json.RawMessage(`{"allow":["Read","Bash(git log:*)","Write"]}`)}, "dontAsk", "Read Bash", "Read Bash(git log:*)", ""},
		{"rules for guarded tools", plugin.Task{Allowed: "edit"}, plugin.Profile{Tools: json.RawMessage(`{"preset":"all","allow":["Edit(docs/**)"],"deny":["Grep","Read(secret/**)"]}`)}, "dontAsk",
			"Read Glob Write Edit MultiEdit NotebookEdit", "Edit(docs/**)", "Read Glob Write Edit MultiEdit NotebookEdit"},
		{"reviewers have the capability alone", plugin.Task{Allowed: "run", Kind: "review"},
			plugin.Profile{PermissionMode: "plan", Params: json.RawMessage(`{"ask":true}`), Tools: json.RawMessage(`{"preset":"none"}`)}, "dontAsk", reads + " Bash", reads + " Bash", ""},
		{"servers of the profile", plugin.Task{Allowed: "run"}, plugin.Profile{Params: json.RawMessage(`{"mcp_servers":{"b":{},"a":{}}}`)}, "dontAsk", reads + " Bash", reads + " Bash mcp__a mcp__b", ""},
		{"skills with settings of the project", plugin.Task{Allowed: "full"}, plugin.Profile{Params: json.RawMessage(`{"setting_sources":"project"}`)}, "acceptEdits", all + " Skill", all + " Skill", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.task.WorkDir = t.TempDir()
			s, bad := at(nil).readProfile(tt.profile)
			if bad != nil {
				t.Fatal(bad)
			}
			g, err := newGrants(tt.task, s)
			must(t, err)
			got := []string{g.mode, strings.Join(g.tools, " "), strings.Join(g.allow, " "), strings.Join(g.hooked(), " ")}
			if d := cmp.Diff([]string{tt.mode, tt.tools, tt.allow, tt.hooked}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTasksThatCannotBe(t *testing.T) {
	for name, task := range map[string]plugin.Task{
		"unknown capability":         {Allowed: "all", WorkDir: t.TempDir()},
		"unknown task type":          {Allowed: "full", TaskType: "magic", WorkDir: t.TempDir()},
		"no such file":               {Allowed: "full", WorkDir: "/nowhere/at/all"},
		"not inside the working dir": {Allowed: "full", WorkDir: t.TempDir(), LimitWrites: true, Writable: []string{"../x"}},
	} {
		if _, err := newGrants(task, setup{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
