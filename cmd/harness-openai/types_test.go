package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
)

// A model that tries everything gets no further than its step's type and its agent's
// capability together, whatever it was told.
func TestEachTaskTypeDoesNoMoreThanItMay(t *testing.T) {
	for _, tt := range []struct {
		kind          string
		allowed       plugin.Capability
		code, doc, sh bool
	}{
		{"", plugin.Full, true, true, true},
		{"design", plugin.Full, false, true, false},
		{"design", plugin.Read, false, false, false},
		{"implement", plugin.Full, true, true, true},
		{"implement", plugin.Edit, true, true, false},
		{"implement", plugin.Run, false, false, false},
		{"configure", plugin.Full, true, true, true},
		{"configure", plugin.Edit, true, true, false},
		{"test", plugin.Full, true, true, true},
		{"test", plugin.Run, false, false, true},
		{"test", plugin.Edit, true, true, false},
		{"review", plugin.Full, false, false, true},
		{"review", plugin.Edit, false, false, false},
		{"integrate", plugin.Full, true, true, true},
		{"integrate", plugin.Edit, true, true, false},
	} {
		t.Run(tt.kind+" with "+string(tt.allowed), func(t *testing.T) {
			t.Parallel()
			p := play(t, scene{files: map[string]string{"seen.txt": "seen"}, turns: []turn{
				use("read_file", m{"path": "seen.txt"}),
				use("write_file", m{"path": "a.go", "content": "package a\n"}),
				use("write_file", m{"path": "docs/a.md", "content": "# a\n"}),
				use("write_file", m{"path": "other.md", "content": "not declared\n"}),
				use("edit_file", m{"path": "seen.txt", "old_string": "seen", "new_string": "changed"}),
				use("bash", m{"command": "touch ran"}),
				say("done"),
			}, task: func(task *plugin.Task) {
				task.Allowed, task.TaskType = tt.allowed, tt.kind
				task.Writable, task.LimitWrites = []string{"a.go", "docs"}, true
			}})
			for name, want := range map[string]bool{"a.go": tt.code, "docs/a.md": tt.doc, "ran": tt.sh, "other.md": false} {
				if _, err := os.Stat(filepath.Join(p.dir, name)); (err == nil) != want {
					t.Errorf("%s is there: %t", name, err == nil)
				}
			}
			if text, _ := os.ReadFile(filepath.Join(p.dir, "seen.txt")); string(text) != "seen" {
				t.Error("a file that was not declared was changed")
			}
			if results := p.requests[1].LastResults(); p.result.IsError || len(results) != 1 || !strings.Contains(results[0], "seen") {
				t.Errorf("it could not read: %q", results)
			}
		})
	}
}
