package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wantChecked runs the suite for harnesses on a binary, as its author would.
func wantChecked(t *testing.T, path string) {
	t.Helper()
	out, err := exec.Command(program(t, "clearbox"), "harness", "check", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), ", 0 failed,") {
		t.Errorf("clearbox harness check %s: %v\n%s", filepath.Base(path), err, out)
	}
}

// The example of the document is what it says: whole, short and good.
func TestTheHarnessOfTheDocument(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/writing-a-harness.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) != 1 {
		t.Fatalf("the document has %d blocks of Go", len(blocks))
	}
	code := blocks[0][1]
	if n := strings.Count(code, "\n"); n >= 80 {
		t.Errorf("the example has %d lines, want less than 80", n)
	}
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "harness-shout")
	if err := os.WriteFile(file, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := goBuild(binary, file); err != nil {
		t.Fatal(err)
	}
	wantChecked(t, binary)
}

// A harness in a module of its own builds, keeps the contract and runs a step.
func TestAHarnessInAModuleOfItsOwn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	binary := filepath.Join(folder, "harness-shell")
	cmd := exec.Command("go", "build", "-o", binary, ".")
	cmd.Dir, cmd.Env = "../../examples/harness-shell", append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	wantChecked(t, binary)

	r := newRig(t, "--mock", "--harness-dir", folder)
	r.post("/api/harnesses/rescan", nil, nil)
	r.post("/api/agents", object{"name": "script", "harness": "shell", "params": object{"timeout": 60}}, nil)
	g := graph{WorkingDirectory: t.TempDir(), Nodes: []node{{Key: "a", Title: "Make a file", Agent: "script",
		Description: "Run this:\n```sh\necho made > made.txt\ncat made.txt\n```"}}}
	id := r.submit(g)
	r.begin(id)
	if v := r.awaitStep(id, 1, "done"); v.Result != "2 lines were run." {
		t.Errorf("the result is %q", v.Result)
	}
	if b, err := os.ReadFile(filepath.Join(g.WorkingDirectory, "made.txt")); err != nil || string(b) != "made\n" {
		t.Errorf("it made %q, %v", b, err)
	}
}
