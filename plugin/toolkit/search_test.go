package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var project = tree{
	"README.md":                       "# readme\nneedle here\n",
	"main.go":                         "package main\n",
	"cmd/tool/main.go":                "package main // Needle\n",
	"cmd/tool/main_test.go":           "package main\n",
	"web/app.js":                      "needle()\n",
	"web/app.ts":                      "x\n",
	"web/node_modules/pkg/index.js":   "needle\n",
	".git/config":                     "needle\n",
	"py/__pycache__/x.pyc":            "needle\n",
	".venv/lib/a.py":                  "needle\n",
	"myenv/pyvenv.cfg":                "home\n",
	"myenv/lib/b.py":                  "needle\n",
	"environment/c.py":                "needle\n",
	"environment/venv":                "no folder\n",
	"data.bin":                        "needle\x00\n",
	"link.go":                         "-> main.go",
	"web/loop":                        "-> ..",
	"deep/1/2/3/4/5/needle.txt":       "x\n",
	"deep/1/2/3/4/5/6/7/8/9/last.txt": "needle at the end\n",
}

func TestListDir(t *testing.T) {
	k, _ := newKit(t, project)
	want := `.git/ (left out)
.venv/ (left out)
README.md (21 bytes)
cmd/
data.bin (8 bytes)
deep/
environment/
link.go -> main.go
main.go (13 bytes)
myenv/ (left out)
py/
web/`
	if diff := cmp.Diff(want, wantOK(t, k, "list_dir", m{})); diff != "" {
		t.Error(diff)
	}
	want = `web/app.js (9 bytes)
web/app.ts (2 bytes)
web/loop -> ..
web/node_modules/ (left out)`
	if diff := cmp.Diff(want, wantOK(t, k, "list_dir", m{"path": "web", "depth": 5})); diff != "" {
		t.Error(diff)
	}
	want = "environment/c.py (7 bytes)\nenvironment/venv (10 bytes)"
	if diff := cmp.Diff(want, wantOK(t, k, "list_dir", m{"path": "environment"})); diff != "" {
		t.Error(diff)
	}
	want = "cmd/tool/\ncmd/tool/main.go (23 bytes)\ncmd/tool/main_test.go (13 bytes)"
	if diff := cmp.Diff(want, wantOK(t, k, "list_dir", m{"path": "./cmd/", "depth": 2})); diff != "" {
		t.Error(diff)
	}
	if text := wantOK(t, k, "list_dir", m{"path": "web/node_modules/pkg"}); text != "web/node_modules/pkg/index.js (7 bytes)" {
		t.Errorf("a folder asked for by name: %q", text)
	}
	wantErr(t, k, "list_dir", m{"path": "nothing"}, "no such file")
	wantErr(t, k, "list_dir", m{"path": "main.go"}, "not a directory")
	empty, _ := newKit(t, nil)
	if text := wantOK(t, empty, "list_dir", m{}); text != ". is empty" {
		t.Errorf("empty folder: %q", text)
	}
}

func TestGlob(t *testing.T) {
	k, dir := newKit(t, project)
	tests := []struct{ pattern, want string }{
		{"*.go", "cmd/tool/main.go cmd/tool/main_test.go link.go main.go"},
		{"**/*.go", "cmd/tool/main.go cmd/tool/main_test.go link.go main.go"},
		{"./main.go", "cmd/tool/main.go main.go"},
		{"cmd/**/*.go", "cmd/tool/main.go cmd/tool/main_test.go"},
		{"cmd/*/main.go", "cmd/tool/main.go"},
		{"cmd/*.go", ""},
		{"web/*.{js,ts}", "web/app.js web/app.ts"},
		{"web/app.[jt]s", "web/app.js web/app.ts"},
		{"web/app.[!j]s", "web/app.ts"},
		{"*_????.go", "cmd/tool/main_test.go"},
		{"deep/**", "deep/1/2/3/4/5/6/7/8/9/last.txt deep/1/2/3/4/5/needle.txt"},
		{dir + "/cmd/tool/main.go", "cmd/tool/main.go"},
		{"*.py", "environment/c.py"},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			want := strings.ReplaceAll(tt.want, " ", "\n")
			if want == "" {
				want = "no file matches " + tt.pattern
			}
			if diff := cmp.Diff(want, wantOK(t, k, "glob", m{"pattern": tt.pattern})); diff != "" {
				t.Error(diff)
			}
		})
	}
	wantErr(t, k, "glob", m{"pattern": "../*"}, "leads out")
	wantErr(t, k, "glob", m{"pattern": "a/../../*"}, "leads out")
	wantErr(t, k, "glob", m{"pattern": "/etc/*"}, "leads out")
	wantErr(t, k, "glob", m{"pattern": "[a"}, "never closed")
	wantErr(t, k, "glob", m{"pattern": "{a,b"}, "never closed")
	wantErr(t, k, "glob", m{"pattern": "[z-a]"}, "not valid")
}

func TestGrep(t *testing.T) {
	k, _ := newKit(t, project)
	tests := []struct {
		name string
		args m
		want string
	}{
		{"everywhere", m{"pattern": "needle"}, "README.md:2:needle here\ndeep/1/2/3/4/5/6/7/8/9/last.txt:1:needle at the end\nenvironment/c.py:1:needle\nweb/app.js:1:needle()"},
		{"without case", m{"pattern": "(?i)NEEDLE", "glob": "*.go"}, "cmd/tool/main.go:1:package main // Needle"},
		{"in a folder", m{"pattern": "needle", "path": "web"}, "web/app.js:1:needle()"},
		{"glob as seen from the folder", m{"pattern": "package", "path": "cmd", "glob": "tool/*_test.go"}, "cmd/tool/main_test.go:1:package main"},
		{"in one file", m{"pattern": "^n.*e$", "path": "README.md"}, "README.md:2:needle here"},
		{"in one file behind a link", m{"pattern": "main", "path": "link.go"}, "main.go:1:package main"},
		{"nothing", m{"pattern": "haystack"}, "nothing matches haystack"},
		{"few", m{"pattern": "needle", "max_results": 1}, "README.md:2:needle here\n[cut after 1 line: narrow the search, or raise max_results]"},
		{"exactly as many", m{"pattern": "needle", "path": "web", "max_results": 1}, "web/app.js:1:needle()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, wantOK(t, k, "grep", tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
	wantErr(t, k, "grep", m{"pattern": "(a"}, "pattern", "missing closing )")
	wantErr(t, k, "grep", m{"pattern": "a", "glob": "[a"}, "glob", "never closed")
	wantErr(t, k, "grep", m{"pattern": "a", "path": "none"}, "no such file")
}

func TestLongResultsAreCutWithAMark(t *testing.T) {
	files := tree{"wide.txt": "x" + strings.Repeat("y", 1000) + "\n", "endless.txt": strings.Repeat("z", 3<<20)}
	for i := range 1200 {
		files[fmt.Sprintf("many/file%04d.txt", i)] = ""
	}
	k, _ := newKit(t, files)
	if text := wantOK(t, k, "list_dir", m{"path": "many"}); !strings.Contains(text, "file0999") || strings.Contains(text, "file1000") || !strings.Contains(text, "[cut after 1000 entries") {
		t.Errorf("list_dir ends with %q", text[len(text)-80:])
	}
	if text := wantOK(t, k, "glob", m{"pattern": "many/*"}); !strings.Contains(text, "file0499") || strings.Contains(text, "file0500") || !strings.Contains(text, "[cut after 500 files") {
		t.Errorf("glob ends with %q", text[len(text)-80:])
	}
	if text := wantOK(t, k, "grep", m{"pattern": "^x"}); !strings.Contains(text, "y… [line cut: 701 characters more]") {
		t.Errorf("grep: %q", text)
	}
	if text := wantOK(t, k, "grep", m{"pattern": "z$"}); len(text) > 500 {
		t.Errorf("a line of megabytes gave %d bytes", len(text))
	}
}

func TestAWalkEndsWithTheRun(t *testing.T) {
	k, _ := newKit(t, project)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range []string{"glob", "grep"} {
		text, isErr := k.Call(ctx, tool, json.RawMessage(`{"pattern":"x"}`))
		if !isErr || !strings.Contains(text, context.Canceled.Error()) {
			t.Errorf("%s: %q", tool, text)
		}
	}
}

func TestAFolderOfNobodyIsPassedBy(t *testing.T) {
	k, _ := newKit(t, tree{"a/x.txt": "", "b/y.txt": ""})
	seen := 0
	err := k.jail.walk(t.Context(), ".", 5, func(e entry) error {
		if e.name == "a" {
			e.dir.RemoveAll("a") // gone between listing and entering
		}
		seen++
		return nil
	})
	if err != nil || seen != 3 {
		t.Errorf("saw %d entries, error %v", seen, err)
	}
}

func TestAVisitsErrorEndsTheWalk(t *testing.T) {
	k, _ := newKit(t, tree{"a/x.txt": ""})
	boom := errors.New("boom")
	if err := k.jail.walk(t.Context(), ".", 5, func(entry) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"*.go", "**/a", "[!a]", "{a,b}", "[]]", `\*`, "a{b,[c,}]d}", "[^/]"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, s, rel string) {
		p, err := compilePattern(s)
		if err != nil {
			return
		}
		p.match(rel)
		if !strings.ContainsAny(s, `*?[]{}\,/`) && s != "" && s == strings.ToValidUTF8(s, "") && !p.match(s) {
			t.Errorf("%q does not match itself", s)
		}
	})
}
