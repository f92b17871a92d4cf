package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/google/go-cmp/cmp"
)

// everythingOnce tries to read, run, write and edit, one after the other.
var everythingOnce = []script{{Turns: []turn{
	use("Read", m{"file_path": "a.txt"}),
	use("Bash", m{"command": "echo run > run.txt", "description": "run"}),
	use("Write", m{"file_path": "new.txt", "content": "new\n"}),
	use("Edit", m{"file_path": "a.txt", "old_string": "alpha", "new_string": "omega"}),
	say1("That was all."),
}}}

func TestRealCapabilities(t *testing.T) {
	tests := []struct {
		allowed          plugin.Capability
		run, write, edit bool
	}{
		{plugin.Read, false, false, false},
		{plugin.Run, true, false, false},
		{plugin.Edit, false, true, true},
		{plugin.Full, true, true, true},
	}
	for _, tt := range tests {
		t.Run(string(tt.allowed), func(t *testing.T) {
			p := play(t, scene{
				files: map[string]string{"a.txt": "alpha\n"}, scripts: everythingOnce,
				task: func(t *plugin.Task) { t.Allowed = tt.allowed },
			})
			a, err := os.ReadFile(filepath.Join(p.dir, "a.txt"))
			must(t, err)
			got := []bool{p.exists("run.txt"), p.exists("new.txt"), string(a) == "omega\n"}
			if d := cmp.Diff([]bool{tt.run, tt.write, tt.edit}, got); d != "" {
				t.Errorf("run, write, edit: %s\n%s", d, p.everything())
			}
			results := p.results()
			if len(results) != 4 || !strings.Contains(results[0], "alpha") {
				t.Fatalf("results: %q", results)
			}
			for i, granted := range got {
				if refused := strings.HasPrefix(results[i+1], "ERROR"); refused == granted {
					t.Errorf("result %d: %s", i+1, results[i+1])
				}
			}
			if p.result.IsError || p.result.Text != "That was all." {
				t.Errorf("result %+v", p.result)
			}
		})
	}
}

// A task type with writable paths holds at full, too; links do not lead around it.
func TestRealWritablePaths(t *testing.T) {
	p := play(t, scene{
		files: map[string]string{"docs/a.md": "alpha\n", "other.txt": "alpha\n", "odd [x]/f(1), *.txt": "alpha\n"},
		links: map[string]string{"docs/up": ".."},
		scripts: []script{{Turns: []turn{
			use("Bash", m{"command": "echo made", "description": "make"}),
			use("Write", m{"file_path": "docs/new.md", "content": "x"}),
			use("Write", m{"file_path": "new.txt", "content": "x"}),
			use("Write", m{"file_path": "docs/up/sneaky.txt", "content": "x"}),
			use("Read", m{"file_path": "odd [x]/f(1), *.txt"}),
			use("Edit", m{"file_path": "odd [x]/f(1), *.txt", "old_string": "alpha", "new_string": "omega"}),
			use("Write", m{"file_path": "docs/../outside.md", "content": "x"}),
			say1("Done."),
		}}},
		task: func(t *plugin.Task) {
			t.TaskType, t.LimitWrites, t.Writable = "implement", true, []string{"docs/", "odd [x]/f(1), *.txt"}
		},
	})
	results := p.results()
	if len(results) != 7 {
		t.Fatalf("results %q", results)
	}
	for i, want := range []string{"made", "created", "may write only docs, odd", "which is sneaky.txt", "alpha", "updated", "may not be written"} {
		wantIn(t, results[i], want)
	}
	for name, want := range map[string]bool{"docs/new.md": true, "new.txt": false, "sneaky.txt": false, "outside.md": false} {
		if p.exists(name) != want {
			t.Errorf("%s exists: %v", name, !want)
		}
	}
}

// Without a shell, files outside the working directory are not read; what the profile
// denies stays denied, though the guard would allow it.
func TestRealLimitsOfAnEditor(t *testing.T) {
	p := play(t, scene{
		files: map[string]string{"a.txt": "alpha\n", "secret/s.txt": "s\n"},
		scripts: []script{{Turns: []turn{
			use("Read", m{"file_path": "/etc/hostname"}),
			use("Glob", m{"pattern": "/etc/host*"}),
			use("Grep", m{"pattern": "root", "path": "/etc"}),
			use("Write", m{"file_path": "/tmp/clearbox-must-not-be", "content": "x"}),
			use("Write", m{"file_path": "secret/new.txt", "content": "x"}),
			use("Glob", m{"pattern": "*.txt"}),
			say1("Done."),
		}}},
		tools: `{"preset":"all","deny":["Edit(secret/**)"]}`,
		task:  func(t *plugin.Task) { t.Allowed = plugin.Edit },
	})
	results := p.results()
	if len(results) != 6 {
		t.Fatalf("results %q", results)
	}
	for i, want := range []string{"ERROR", "ERROR", "ERROR", "ERROR", "ERROR"} {
		wantIn(t, results[i], want)
	}
	wantIn(t, results[0], "outside the working directory")
	wantIn(t, results[5], "a.txt")
	if p.exists("secret/new.txt") {
		t.Error("a denied path was written")
	}
	if _, err := os.Lstat("/tmp/clearbox-must-not-be"); err == nil {
		t.Error("a file outside was written")
	}
}

// Questions reach a person, who allows one call and refuses another; the third is
// answered by nobody.
func TestRealQuestions(t *testing.T) {
	p := play(t, scene{
		scripts: []script{{Turns: []turn{
			use("Bash", m{"command": "echo yes > yes.txt", "description": "say yes"}),
			use("Write", m{"file_path": "no.txt", "content": "x"}),
			use("Bash", m{"command": "ls", "description": "look"}),
			say1("Done."),
		}}},
		params: m{"ask": true, "ask_timeout": 1},
		task:   func(t *plugin.Task) { t.Allowed = plugin.Read },
		answer: func(ctx context.Context, q plugin.Question) (plugin.Answer, error) {
			switch {
			case strings.Contains(q.Text, "yes"):
				return plugin.Answer{Allow: true}, nil
			case q.Tool == "Write":
				return plugin.Answer{Message: "not that file"}, nil
			}
			<-ctx.Done()
			return plugin.Answer{}, ctx.Err()
		},
	})
	if !p.exists("yes.txt") || p.exists("no.txt") {
		t.Errorf("files are wrong; results %q", p.results())
	}
	results := p.results()
	wantIn(t, strings.Join(results, "\n"), "ERROR not that file", "ERROR Nobody answered within 1s")
	if d := cmp.Diff([]string{"Bash allow=true taken=true", "Write allow=false taken=true"}, p.answered); d != "" {
		t.Error(d)
	}
	var input m
	must(t, json.Unmarshal(p.asked[0].Input, &input))
	if len(p.asked) != 3 || input["command"] != "echo yes > yes.txt" {
		t.Errorf("asked %+v", p.asked)
	}
	wantIn(t, p.everything(), "answered: Bash was allowed", "answered: Write was refused")
}
