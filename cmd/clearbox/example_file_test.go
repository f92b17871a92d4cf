package main

import (
	"path/filepath"
	"testing"
)

// The example says who waits for whom; so it is tried.
func TestExampleOfFileConflicts(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock", "--mock-speed", "1000")
	d := r.desk()
	path, err := filepath.Abs("../../examples/file-conflicts/plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d.fine([]string{"plan", "submit", path, "--dir", d.dir}, "Plan 1 with 5 steps")
	var v struct {
		Nodes []struct {
			NodeID    int `json:"node_id"`
			Conflicts []struct {
				NodeID int `json:"node_id"`
			}
		}
	}
	r.get("/api/plans/1", &v)
	want := map[int]string{1: "3 4 ", 2: "", 3: "1 4 ", 4: "1 3 ", 5: ""}
	for _, n := range v.Nodes {
		got := ""
		for _, c := range n.Conflicts {
			got += string(rune('0'+c.NodeID)) + " "
		}
		if got != want[n.NodeID] {
			t.Errorf("step %d shares files with %q, want %q", n.NodeID, got, want[n.NodeID])
		}
	}
	d.fine([]string{"plan", "start", "1"}, "Started")
	for n := 1; n <= 4; n++ {
		r.awaitStep(1, n, "done")
	}
}
