package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drop puts one of the harnesses that are not beside the server into a folder.
func drop(t *testing.T, name, dir string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(program(t, more), name), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestAStrangersHarnessThatIsDroppedInRunsSteps(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := newRig(t, "--mock", "--harness-dir", folder)
	if status, b, _ := r.ask("POST", "/api/agents", object{"name": "guest", "harness": "stranger"}); status != 400 {
		t.Errorf("a profile for a harness that is not there: %d %s", status, b)
	}
	drop(t, "harness-stranger", folder)
	var found []struct {
		Slug, Name, Version, Path string
		Protocol                  int
		Capabilities              []string
		Settings                  struct{ Properties map[string]any }
		Refused                   *string
	}
	r.post("/api/harnesses/rescan", nil, nil)
	r.get("/api/harnesses", &found)
	at := len(found) - 1 // by name the last
	if h := found[at]; h.Slug != "stranger" || h.Name != "A stranger" || h.Version != "7.8.9" || h.Path != filepath.Join(folder, "harness-stranger") ||
		h.Protocol != 1 || len(h.Capabilities) != 1 || h.Settings.Properties["mood"] == nil || h.Refused != nil {
		t.Errorf("it is listed as %+v", h)
	}
	r.post("/api/agents", object{"name": "guest", "harness": "stranger", "params": object{"mood": "cheerful"}}, nil)

	// Two megabytes of what a shell or an argument list would spoil.
	hostile := "--help -rf /; echo never-an-argument" + strings.Repeat(" -n 'single' \"double\" `tick` $HOME \\ % ünïcödé 😀\r\n\ttab", 2<<20/60)
	g := graph{WorkingDirectory: t.TempDir(), Nodes: []node{{Key: "a", Title: "-rf", Description: hostile, Agent: "guest"}}}
	id := r.submit(g)
	r.begin(id)
	r.awaitText(id, 1, 1, "waiting")
	for _, p := range processesIn(r.dir) {
		if strings.Contains(p.args, "never-an-argument") || strings.Contains(strings.Join(p.env, " "), "never-an-argument") {
			t.Errorf("the prompt is among the arguments or variables of process %d", p.pid)
		}
	}
	touch(t, g.WorkingDirectory, "go")
	v := r.awaitStep(id, 1, "done")
	var told struct {
		Length int
		SHA256 string
		Params struct{ Mood string }
	}
	if err := json.Unmarshal([]byte(v.Result), &told); err != nil {
		t.Fatalf("the result is %q: %v", v.Result, err)
	}
	var run runView
	r.get(fmt.Sprintf("/api/plans/%d/nodes/1/runs/1", id), &run)
	if !strings.Contains(run.Prompt, hostile) {
		t.Error("the prompt does not hold the description as it was given")
	}
	if told.Length != len(run.Prompt) || told.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(run.Prompt))) {
		t.Errorf("a prompt of %d bytes arrived as %d bytes", len(run.Prompt), told.Length)
	}
	if told.Params.Mood != "cheerful" {
		t.Errorf("the settings arrived as %+v", told.Params)
	}
}
