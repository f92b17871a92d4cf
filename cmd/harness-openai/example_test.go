package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
)

const example = "../../examples/fix-the-tests"

type examplePlan struct {
	Description string
	Nodes       []struct {
		Key, Title, Description, Kind string
		Files                         []string
		ResultsFrom                   []string `json:"results_from"`
	}
	Edges [][2]string
}

func loadExample(t *testing.T) (examplePlan, []scriptedmodel.Script) {
	t.Helper()
	var p examplePlan
	data, err := os.ReadFile(filepath.Join(example, "plan.json"))
	must(t, err)
	must(t, json.Unmarshal(data, &p))
	data, err = os.ReadFile(filepath.Join(example, "model", "model.json"))
	must(t, err)
	scripts, err := scriptedmodel.Load(bytes.NewReader(data))
	must(t, err)
	return p, scripts
}

// passes runs the tests of the example's library.
func passes(t *testing.T, dir string) (bool, string) {
	t.Helper()
	cmd := exec.Command("go", "test", "-vet=off", "-trimpath", "./...") // what is compiled and linked once is found again, wherever the folder is
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

// The steps of the example, played one after the other, make the failing tests of its
// library pass, by nothing but the tools of the harness.
func TestTheExampleMakesItsTestsPass(t *testing.T) {
	t.Setenv("GOFLAGS", "") // as the environment of a harness has it
	t.Setenv("GOWORK", "off")
	plan, scripts := loadExample(t)
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join(example, "repo"))))
	if ok, out := passes(t, dir); ok {
		t.Fatalf("the tests pass before anything is done:\n%s", out)
	}
	srv := scriptedmodel.New(scripts...)
	url := serve(t, srv)
	results := map[string]string{}
	for _, n := range plan.Nodes {
		if n.Kind == "user" {
			continue
		}
		var prompt strings.Builder
		fmt.Fprintf(&prompt, "# Goal\n%s\n\n", plan.Description)
		for _, other := range plan.Nodes {
			fmt.Fprintf(&prompt, "- %s\n", other.Title)
		}
		for _, key := range n.ResultsFrom {
			fmt.Fprintf(&prompt, "\n## Result of %s\n%s\n", key, results[key])
		}
		fmt.Fprintf(&prompt, "\n# Your step: %s\n%s\n", n.Title, n.Description)
		task := plugin.Task{
			RunID: n.Key, WorkDir: dir, Prompt: prompt.String(), Allowed: plugin.Full, Writable: n.Files, LimitWrites: true,
			Profile: plugin.Profile{Model: model, BaseURL: url, Params: json.RawMessage(`{"max_retries":0}`)},
		}
		p := played{dir: dir}
		p.run(t, task)
		if p.result.IsError {
			t.Fatalf("step %s: %s", n.Key, p.result.Text)
		}
		results[n.Key] = p.result.Text
	}
	if ok, out := passes(t, dir); !ok {
		t.Errorf("the tests still fail:\n%s", out)
	}
	for _, q := range srv.Requests() {
		if q.Script == "" {
			t.Errorf("a request found no script: %.200s", q.User())
		}
	}
}

func TestEachScriptOfTheExampleFitsOneStep(t *testing.T) {
	plan, scripts := loadExample(t)
	for _, s := range scripts {
		var fits []string
		for _, n := range plan.Nodes {
			if strings.Contains(n.Description, s.Match) {
				fits = append(fits, n.Key)
			}
		}
		if !slices.Equal(fits, []string{s.Name}) {
			t.Errorf("script %s fits the steps %v", s.Name, fits)
		}
		for _, other := range scripts {
			for _, turn := range other.Turns {
				if strings.Contains(turn.Text, s.Match) {
					t.Errorf("what %s says would call up script %s where its result is handed on", other.Name, s.Name)
				}
			}
		}
	}
}
