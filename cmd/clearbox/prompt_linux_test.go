package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The mock's script is part of the step's description: that it plays all of it
// shows that a prompt of two megabytes, which begins like a flag, is whole when
// it arrives.
func TestTheMockPlaysTwoMegabytesOfScript(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock", "--mock-speed", "100")
	const chunks, size = 256, 8 << 10
	var script, want strings.Builder
	script.WriteString("--help\n-n -e $HOME `tick` \"quoted\" 'quoted' % \\ ünïcödé 😀\r\n\n```mock\n")
	for i := range chunks {
		chunk := fmt.Sprintf("%08d", i) + strings.Repeat("-é", (size-8)/3)
		want.WriteString(chunk)
		fmt.Fprintf(&script, "append out.txt %s\n", chunk)
	}
	script.WriteString("result -all of it\n```")
	g := graph{WorkingDirectory: t.TempDir(), Nodes: []node{{Key: "a", Title: "--version", Description: script.String()}}}
	id := r.submit(g)
	r.begin(id)
	v := r.awaitStep(id, 1, "done")
	got, err := os.ReadFile(filepath.Join(g.WorkingDirectory, "out.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() || v.Result != "-all of it" || len(got) < 2_000_000 {
		t.Errorf("of %d bytes %d arrived as they were, with the result %q", want.Len(), len(got), v.Result)
	}
	var run runView
	r.get(fmt.Sprintf("/api/plans/%d/nodes/1/runs/1", id), &run)
	if !strings.Contains(run.Prompt, script.String()) {
		t.Error("the kept prompt does not hold the description as it was given")
	}
}
