package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readPlan reads a plan from a text.
func readPlan(t testing.TB, name, text string) (*planFile, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return readPlanFile(nil, path)
}

func TestYAMLAndJSONAreReadAlike(t *testing.T) {
	t.Parallel()
	want := map[string]any{
		"title": "1.10", "max_parallel": 2, "isolate_steps": false, "description": nil,
		"nodes": []any{
			map[string]any{"key": "1", "title": "yes", "files": []any{"2024-01-02", "true"}, "agent": 7},
			map[string]any{"key": "b", "title": "tab\tand \"quotes\"", "kind": "user"},
		},
		"edges": []any{[]any{"1", "b"}},
	}
	yaml := `# a comment
title: 1.10
max_parallel: 2
isolate_steps: false
description: ~
nodes:
  - {key: 1, title: yes, files: [2024-01-02, true], agent: 7}
  - key: b
    title: "tab\tand \"quotes\""
    kind: user
edges: [[1, b]]
`
	p, err := readPlan(t, "plan.yaml", "\ufeff"+yaml)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, p.Body); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
	p, err = readPlan(t, "plan.json", `{"title": "1.10", "nodes": [{"key": "😀", "title": "\ud83d\ude00"}],
"max_tokens": 12345678901234567}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Body["max_tokens"], p.Body["nodes"]); got != "12345678901234567[map[key:😀 title:😀]]" {
		t.Errorf("JSON was read as %s", got)
	}
}

func TestAliasesInYAMLAreFollowed(t *testing.T) {
	t.Parallel()
	p, err := readPlan(t, "plan.yml", `title: x
common: &common
  agent: cheap
  files: [a]
nodes:
  - <<: *common
    key: a
    title: one
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{map[string]any{"agent": "cheap", "files": []any{"a"}, "key": "a", "title": "one"}}
	if diff := cmp.Diff(want, p.Body["nodes"]); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsInAFileNameTheLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, text, want string }{
		{"empty", "p.yaml", "", "p.yaml: there is no plan in it"},
		{"a broken mapping", "p.yaml", "title: x\nnodes: [\n", "p.yaml:2: "},
		{"a tab", "p.yaml", "title: x\nnodes:\n\t- key: a\n", "p.yaml:3: "},
		{"a key twice", "p.yaml", "title: x\nnodes: []\ntitle: y\n", "p.yaml:3: mapping key \"title\" already defined at line 1"},
		{"two documents", "p.yaml", "title: x\n---\ntitle: y\n", "p.yaml:2: a second document"},
		{"a list", "p.yaml", "# a comment\n- title: x\n", "p.yaml:2: a plan has fields"},
		{"a plain word", "p.yaml", "hello\n", "p.yaml:1: a plan has fields"},
		{"names that are no text", "p.yaml", "title: x\nnodes:\n  - 1: 2\n", "p.yaml:3: the names of fields must be text"},
		{"broken JSON", "p.json", "{\n \"title\": \"x\",\n \"nodes\": [,]\n}", "p.json:3: invalid character ','"},
		{"half of it", "p.json", "{\n \"title\": \"x\",\n", "p.json:3: the plan ends in the middle"},
		{"too much JSON", "p.json", "{\"title\": \"x\"}\n\n\n{}", "p.json:4: there is something after the end"},
		{"an alias of itself", "p.yaml", "title: x\nnodes: &a [*a]\n", "p.yaml: anchor 'a' value contains itself"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := readPlan(t, tt.file, tt.text)
			if err == nil {
				t.Fatal("it was read")
			}
			dir := filepath.Dir(strings.SplitN(err.Error(), ":", 2)[0]) + "/"
			if got := strings.TrimPrefix(err.Error(), dir); !strings.HasPrefix(got, tt.want) {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
		})
	}
}

// An alias of aliases of aliases is refused before it fills the memory.
func TestABombOfAliasesIsRefused(t *testing.T) {
	t.Parallel()
	text := "title: x\na0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	if _, err := readPlan(t, "p.yaml", text); err == nil || !strings.Contains(err.Error(), "alias") {
		t.Errorf("it says %v", err)
	}
}

func TestThePlansFolder(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text, flag string
		want             any // DIR is the folder of the file
	}{
		{"none", "title: x", "", here},
		{"absolute", "title: x\nworking_directory: /src/x", "", "/src/x"},
		{"relative to the file", "title: x\nworking_directory: ../x", "", "DIR/../x"},
		{"the flag", "title: x\nworking_directory: /src/x", "sub", filepath.Join(here, "sub")},
		{"a subplan", "title: x\nparent_plan_id: 1\nparent_node_id: 2", "", nil},
		{"not a text", "title: x\nworking_directory: [1]", "", []any{"1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := readPlan(t, "p.yaml", tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.setFolder(tt.flag); err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if s, ok := want.(string); ok {
				want = filepath.Clean(strings.Replace(s, "DIR", p.dir, 1))
			}
			if diff := cmp.Diff(want, p.Body["working_directory"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatTheServerRefusesNamesTheLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	d.write("bad.yaml", `title: ""
colour: blue
max_parallel: many
nodes:
  - key: a
    titel: One
  - key: b
    title: [x]
edges: [a]
`)
	checkFaults(t, d.run("plan", "submit", "bad.yaml"), []string{
		"bad.yaml: ", `bad.yaml:2: unknown field "colour"`, "bad.yaml:3: max_parallel must be a whole number",
		"bad.yaml:5: nodes[0].title is required", `bad.yaml:6: unknown field "nodes[0].titel"`, "bad.yaml:8: nodes[1].title must be a string",
		"bad.yaml:9: edges[0] must be a list"})
	d.write("worse.yaml", `title: x
working_directory: /no/such/folder
nodes:
  - key: a
    title: One
    files:
      - ../x
  - key: a
    title: Two
    kind: robot
  - key: c
    title: Three
    agent: nobody
    results_from: [a]
    task_type: dance
edges:
  - [a, nope]
  - [c, c]
`)
	checkFaults(t, d.run("plan", "submit", "worse.yaml"), []string{
		"worse.yaml: ", `worse.yaml:2: working_directory "/no/such/folder"`, "worse.yaml:4: node \"a\": ", "worse.yaml:8: duplicate node key 'a'",
		"worse.yaml:15: node \"c\": task_type", "worse.yaml:14: node 'c': results_from", "worse.yaml:17: edges[0]: unknown node key 'nope'",
		"worse.yaml:18: edges[1]: self-loops"})
	d.write("one.json", "{\"title\": \"x\",\n \"nodes\": [\n  {\"key\": \"a\",\n   \"title\": \"\"}]}")
	checkFaults(t, d.run("plan", "submit", "one.json"), []string{`one.json:4: node "a": title`})
	o := d.feed("title: ''", "plan", "submit", "-")
	checkFaults(t, o, []string{"standard input:1: plan: title must not be empty"})
	d.fine([]string{"plan", "list"}, "no plan yet")
}

// checkFaults makes sure that a command names these faults, and each on a line.
func checkFaults(t testing.TB, o outcome, want []string) {
	t.Helper()
	if o.code != 1 || o.out != "" {
		t.Errorf("exit code %d, %q", o.code, o.out)
	}
	for _, part := range want {
		if !strings.Contains(o.errOut, "clearbox: "+part) {
			t.Errorf("%q is not in:\n%s", part, o.errOut)
		}
	}
}

func TestASubmittedPlanIsStartedAndWatchedAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	d.write("plan.yaml", "title: x\nnodes:\n  - key: a\n    title: One\n    description: \"```mock\\nresult the end\\n```\"\n")
	d.fine([]string{"plan", "submit", "plan.yaml", "--watch"}, "Plan 1 with 1 step", "1.1    One: done", "the end", "plan 1 is done: 1 done")
	d.write("fails.yaml", "title: x\nnodes:\n  - key: a\n    title: One\n    description: \"```mock\\nfail no luck\\n```\"\n")
	o := d.run("plan", "submit", "fails.yaml", "--watch")
	if told := withoutSpans(stepLines(o.out)); o.code != 1 || !slices.Contains(told, "2.1    One: failed: no luck") || o.errOut != "" {
		t.Errorf("%+v", o)
	}
	// A folder that is in use keeps the plan from being started, not from being.
	r.play(lines("@1 hang"))
	d.dir = r.workdir(3)
	d.write("plan.yaml", "title: x\n")
	o = d.run("plan", "submit", "plan.yaml", "--start")
	if o.code != 1 || !strings.Contains(o.errOut, "plan 4 is there, but it could not be started: plan 3") || !strings.Contains(o.out, "Plan 4") {
		t.Errorf("%+v", o)
	}
}

// workdir returns where a plan works.
func (r *rig) workdir(id int) string {
	var v struct {
		Dir string `json:"working_directory"`
	}
	r.get(fmt.Sprintf("/api/plans/%d", id), &v)
	return v.Dir
}
