package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
)

// a folder with files, and links that lead out of it, nowhere, and around its limits.
func guarded(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, name := range []string{"docs", "src/deep", "elsewhere"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	for name, target := range map[string]string{"out": "/etc", "dangling": "/nowhere/yet", "docs/up": "..", "docs/ok": "../src/deep", "loop": "loop", "self": "."} {
		must(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	return dir
}

func TestTheGuardOfPaths(t *testing.T) {
	dir := guarded(t)
	docs := plugin.Task{Allowed: "edit", LimitWrites: true, Writable: []string{"docs", "src/deep"}}
	tests := []struct {
		name, tool, path string
		task             plugin.Task
		ask              bool
		want, why        string
	}{
		{"inside", "Write", "a.txt", plugin.Task{Allowed: "edit"}, false, "allow", ""},
		{"by its whole path", "Edit", dir + "/src/new/a.go", plugin.Task{Allowed: "edit"}, false, "allow", ""},
		{"outside", "Write", "/etc/passwd", plugin.Task{Allowed: "edit"}, false, "deny", "outside the working directory"},
		{"up and away", "Write", "../a.txt", plugin.Task{Allowed: "edit"}, false, "deny", "outside"},
		{"a folder with the same beginning", "Write", dir + "-2/a.txt", plugin.Task{Allowed: "edit"}, false, "deny", "outside"},
		{"by the home", "Write", "~/.bashrc", plugin.Task{Allowed: "edit"}, false, "deny", "outside"},
		{"by a link out", "Write", "out/a.txt", plugin.Task{Allowed: "edit"}, false, "deny", "outside"},
		{"by a link to nothing", "Write", "dangling", plugin.Task{Allowed: "edit"}, false, "deny", "cannot be resolved"},
		{"below a link to nothing", "Write", "dangling/a", plugin.Task{Allowed: "edit"}, false, "deny", "cannot be resolved"},
		{"by a circle of links", "Write", "loop/a", plugin.Task{Allowed: "edit"}, false, "deny", "cannot be resolved"},
		{"no path", "Write", "", plugin.Task{Allowed: "edit"}, false, "deny", "names no path"},
		{"NUL", "Write", "a\x00b", plugin.Task{Allowed: "edit"}, false, "deny", "names no path"},
		{"outside, with a person", "Write", "/etc/passwd", plugin.Task{Allowed: "edit"}, true, "ask", "outside"},
		{"without the right, with a person", "Write", "a.txt", plugin.Task{Allowed: "read"}, true, "ask", "beyond this agent's capability"},

		{"a declared folder", "Write", "docs/a.md", docs, false, "allow", ""},
		{"in another case", "Write", "DOCS/a.md", docs, false, "allow", ""},
		{"the folder itself", "Write", "docs", docs, false, "allow", ""},
		{"not declared", "Write", "a.md", docs, false, "deny", "this step may write only docs, src/deep"},
		{"a name with the same beginning", "Write", "docs2/a.md", docs, false, "deny", "may write only"},
		{"not declared, with a person", "Write", "a.md", docs, true, "deny", "may write only"},
		{"outside of everything, with a person", "Write", "/etc/passwd", docs, true, "deny", "outside"},
		{"up by a link", "Write", "docs/up/a.md", docs, false, "deny", "(which is a.md)"},
		{"by a link to a declared folder", "Write", "docs/ok/a.md", docs, false, "allow", ""},
		{"by a link to the folder itself", "Write", "self/self/docs/a.md", docs, false, "allow", ""},
		{"a notebook", "NotebookEdit", "a.ipynb", docs, false, "deny", "may write only"},
		{"nothing declared", "Write", "a.md", plugin.Task{Allowed: "edit", LimitWrites: true}, false, "deny", "writes no files"},
		{"a design writes documents", "Write", "docs/a.go", plugin.Task{Allowed: "edit", TaskType: "design", Writable: []string{"docs"}}, false, "deny", "documents only"},
		{"and only them", "Write", "docs/a.MD", plugin.Task{Allowed: "edit", TaskType: "design", Writable: []string{"docs"}}, false, "allow", ""},

		{"reading inside", "Read", "src", plugin.Task{Allowed: "read"}, false, "allow", ""},
		{"reading outside", "Read", "/etc/hostname", plugin.Task{Allowed: "read"}, false, "deny", "outside"},
		{"reading by a link out", "Read", "out/hostname", plugin.Task{Allowed: "read"}, false, "deny", "outside"},
		{"searching here", "Grep", "", plugin.Task{Allowed: "read"}, false, "allow", ""},
		{"a shell that was not granted", "Bash", "", plugin.Task{Allowed: "read"}, true, "ask", "beyond"},
		{"a tool that nobody hooked", "Other", "", plugin.Task{Allowed: "read"}, false, "deny", "not known"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.task.WorkDir = dir
			g, err := newGrants(tt.task, setup{params: params{ask: tt.ask}})
			must(t, err)
			name := "file_path"
			if tt.tool == "NotebookEdit" {
				name = "notebook_path"
			}
			v := newGuard(tt.task, g, "/home/someone").decide(call{Tool: tt.tool, Input: encoded(t, m{name: tt.path}), Cwd: dir})
			if v.decision != tt.want {
				t.Errorf("got %+v, want %s", v, tt.want)
			}
			wantIn(t, v.why, tt.why)
		})
	}
}

func TestTheGuardOfPatterns(t *testing.T) {
	dir := guarded(t)
	task := plugin.Task{Allowed: "read", WorkDir: dir}
	grants, err := newGrants(task, setup{})
	must(t, err)
	g := newGuard(task, grants, "/home/someone")
	for pattern, want := range map[string]string{
		"**/*.go": "allow", "src/*": "allow", dir + "/src/**": "allow", "a{b,c}": "allow",
		"/etc/*": "deny", "../*": "deny", "src/../../*": "deny", "*/../../x": "deny", "~/*": "deny", "out/*": "deny", "/*": "deny", "/etc/host[n]ame": "deny",
	} {
		if v := g.decide(call{Tool: "Glob", Input: encoded(t, m{"pattern": pattern}), Cwd: dir}); v.decision != want {
			t.Errorf("%s: %+v, want %s", pattern, v, want)
		}
	}
	if v := g.decide(call{Tool: "Glob", Input: encoded(t, m{"pattern": "*", "path": "/etc"}), Cwd: dir}); v.decision != "deny" {
		t.Errorf("a folder outside: %+v", v)
	}
}

// What the program itself put aside can be read, nothing else in its folders.
func TestTheGuardKnowsResultsThatWerePutAside(t *testing.T) {
	dir, config := guarded(t), t.TempDir()
	session := filepath.Join(config, "projects", "p", "s1")
	must(t, os.MkdirAll(filepath.Join(session, "tool-results"), 0o755))
	for _, name := range []string{filepath.Join(session, "tool-results", "long.txt"), filepath.Join(config, "secret"), session + ".jsonl"} {
		must(t, os.WriteFile(name, nil, 0o600))
	}
	task := plugin.Task{Allowed: "read", WorkDir: dir}
	grants, err := newGrants(task, setup{})
	must(t, err)
	g := newGuard(task, grants, "/home/someone")
	for name, want := range map[string]string{
		session + "/tool-results/long.txt": "allow", session + "/../../../secret": "deny", config + "/secret": "deny", session + ".jsonl": "deny",
	} {
		if v := g.decide(call{Tool: "Read", Input: encoded(t, m{"file_path": name}), Cwd: dir, Transcript: session + ".jsonl"}); v.decision != want {
			t.Errorf("%s: %+v, want %s", name, v, want)
		}
	}
}

func TestRulesOfTheProfileStayTheProgramsBusiness(t *testing.T) {
	dir := guarded(t)
	task := plugin.Task{Allowed: "edit", WorkDir: dir}
	grants, err := newGrants(task, setup{choice: choice{Preset: "all", Allow: []string{"Edit(docs/**)"}}})
	must(t, err)
	g := newGuard(task, grants, "")
	for tool, want := range map[string]string{"Edit": "", "Write": "allow"} {
		if v := g.decide(call{Tool: tool, Input: encoded(t, m{"file_path": "src/a"}), Cwd: dir}); v.decision != want {
			t.Errorf("%s: %+v, want %q", tool, v, want)
		}
	}
	if v := g.decide(call{Tool: "Edit", Input: encoded(t, m{"file_path": "/etc/a"}), Cwd: dir}); v.decision != "deny" {
		t.Errorf("outside: %+v", v)
	}
}

// Whatever a model sends, a path outside is never allowed.
func FuzzGuard(f *testing.F) {
	for _, s := range []string{"a", "../a", "/etc/passwd", "docs/../../x", "out/x", "~", "~/x", "dangling", "a\x00", "docs/up/../..", "//etc", "./././a", "docs/ok/../../.."} {
		f.Add(s)
	}
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	_ = os.Symlink("/etc", filepath.Join(dir, "out"))
	task := plugin.Task{Allowed: "edit", WorkDir: dir}
	grants, err := newGrants(task, setup{})
	if err != nil {
		f.Fatal(err)
	}
	g := newGuard(task, grants, "/home/someone")
	f.Fuzz(func(t *testing.T, path string) {
		raw, _ := json.Marshal(m{"file_path": path})
		if g.decide(call{Tool: "Write", Input: raw, Cwd: dir}).decision != "allow" {
			return
		}
		path = field(raw, "file_path") // as JSON carries it
		full := path
		if !filepath.IsAbs(path) {
			full = dir + "/" + path
		}
		if full = filepath.Clean(full); full != dir && !strings.HasPrefix(full, dir+"/") || strings.HasPrefix(full, dir+"/out/") {
			t.Errorf("%q was allowed", path)
		}
	})
}
