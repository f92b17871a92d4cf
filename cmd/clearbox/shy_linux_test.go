package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// shyRig is a rig with a harness that says hello like any other until the file
// quiet is in its folder: from then on it starts and never says a word. A step
// of it is being started when shyRig returns.
func shyRig(t *testing.T) (r *rig, id int, speak func()) {
	t.Helper()
	folder := t.TempDir()
	quiet := filepath.Join(folder, "quiet")
	script := fmt.Sprintf("#!/bin/sh\n[ -e %s ] && exec sleep 600\nexec %s\n", quiet, program(t, "harness-mock"))
	if err := os.WriteFile(filepath.Join(folder, "harness-shy"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	r = newRig(t, "--mock", "--harness-dir", folder)
	await(t, "harnesses were looked for", func() bool {
		var list []struct{ Slug string }
		r.get("/api/harnesses", &list)
		return len(list) > 1
	})
	r.post("/api/agents", object{"name": "shy", "harness": "shy"}, nil)
	touch(t, folder, "quiet")
	id = r.submit(graph{WorkingDirectory: t.TempDir(), Nodes: []node{{Key: "a", Title: "a", Agent: "shy", Description: "```mock\nresult the end\n```"}}})
	r.begin(id)
	await(t, "its process is there", func() bool {
		for _, p := range processesIn(r.dir) {
			if p.args == "sleep 600" {
				return true
			}
		}
		return false
	})
	return r, id, func() {
		if err := os.Remove(quiet); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServerEndsInOrderWhileAnAgentIsBeingStarted(t *testing.T) {
	t.Parallel()
	r, id, speak := shyRig(t)
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.awaitNobody()
	speak()
	r.restart()
	r.awaitPlan(id, "done")
}

func TestAServerThatIsKilledWhileAnAgentIsBeingStartedLeavesNoProcess(t *testing.T) {
	t.Parallel()
	r, id, speak := shyRig(t)
	before := processesIn(r.dir)
	r.kill()
	speak()
	r.restart()
	r.awaitPlan(id, "done")
	for _, p := range before {
		await(t, fmt.Sprintf("%v, which the server before had started, is gone", p), func() bool { return !alive(p.pid) })
	}
	if runs := r.runs(id, 1); len(runs) != 2 || runs[0].Outcome != "interrupted" {
		t.Errorf("the runs are %+v", runs)
	}
}
