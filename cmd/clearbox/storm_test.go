package main

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const clients = 16

// layered is a plan whose steps are in rows: each waits for two of the row above.
func layered(t *testing.T, rows, wide int) graph {
	t.Helper()
	g := graph{WorkingDirectory: t.TempDir()}
	key := func(row, col int) string { return fmt.Sprintf("%d/%d", row, col%wide) }
	for row := range rows {
		for col := range wide {
			g.Nodes = append(g.Nodes, node{Key: key(row, col), Title: key(row, col)})
			if row > 0 {
				g.Edges = append(g.Edges, [2]string{key(row-1, col), key(row, col)}, [2]string{key(row-1, col+1), key(row, col)})
			}
		}
	}
	return g
}

func TestSixteenClientsClaimEachStepOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	g := layered(t, 6, 10)
	id := r.submit(g)
	r.post(fmt.Sprintf("/api/plans/%d/start", id), object{"executor": "external"}, nil)
	var mu sync.Mutex
	claimed := map[string]int{}
	var all sync.WaitGroup
	for c := range clients {
		s := r.connect(t.Context(), t, []string{"/mcp", "/mcp/observe"}[c%2])
		all.Go(func() {
			if err := work(t, s, id, func(title string) {
				mu.Lock()
				defer mu.Unlock()
				claimed[title]++
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	want := map[string]int{}
	for _, n := range g.Nodes {
		want[n.Title] = 1
	}
	if diff := cmp.Diff(want, claimed); diff != "" {
		t.Errorf("how often each step was claimed (-want +got):\n%s", diff)
	}
	v := r.plan(id)
	for _, n := range v.Nodes {
		if n.Status != "done" || n.Result != "did "+n.Title || n.Attempts != 1 {
			t.Errorf("step %s is %s after %d attempts, with result %q", n.Title, n.Status, n.Attempts, n.Result)
		}
		if runs := r.runs(id, n.NodeID); len(runs) != 1 {
			t.Errorf("step %s has %d runs", n.Title, len(runs))
		}
	}
	if v.Status != "done" {
		t.Errorf("the plan is %s", v.Status)
	}
}

// work claims and completes steps until the plan is done.
func work(t *testing.T, s *mcp.ClientSession, id int, claimed func(title string)) error {
	for {
		var got struct {
			NodeID int    `json:"node_id"` // missing when nothing is ready
			Run    int    `json:"run"`
			Title  string `json:"title"`
		}
		err := call(t.Context(), s, &mcp.CallToolParams{Name: "claim_next_node", Arguments: object{"agent_name": "someone", "plan_id": id}}, &got)
		if err != nil {
			return err
		}
		if got.NodeID == 0 {
			var plan struct{ Status string }
			if err := call(t.Context(), s, &mcp.CallToolParams{Name: "get_plan", Arguments: object{"plan_id": id}}, &plan); err != nil {
				return err
			}
			if plan.Status == "done" {
				return nil
			}
			continue
		}
		claimed(got.Title)
		err = call(t.Context(), s, &mcp.CallToolParams{Name: "complete_node",
			Arguments: object{"plan_id": id, "node_id": got.NodeID, "run": got.Run, "result": "did " + got.Title}}, nil)
		if err != nil {
			return err
		}
	}
}

// together calls f from many goroutines at once.
func together(f func(i int)) {
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	all.Wait()
}

func TestAPlanThatIsStartedManyTimesAtOnceRunsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	g := graph{WorkingDirectory: t.TempDir()}
	for i := range 4 {
		g.Nodes = append(g.Nodes, node{Key: strconv.Itoa(i), Title: strconv.Itoa(i), Description: "```mock\nappend log.txt x\nresult fine\n```"})
	}
	id := r.submit(g)
	together(func(int) {
		status, b, err := r.ask(http.MethodPost, fmt.Sprintf("/api/plans/%d/start", id), object{"executor": "builtin"})
		if err != nil || status != http.StatusOK {
			t.Errorf("start: %d %s %v", status, b, err)
		}
	})
	r.awaitPlan(id, "done")
	for n := 1; n <= 4; n++ {
		if runs := r.runs(id, n); len(runs) != 1 {
			t.Errorf("step %d has %d runs", n, len(runs))
		}
	}
}

func TestOfPlansInOneFolderOneStarts(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	dir := t.TempDir()
	ids := make([]int, clients)
	for i := range ids {
		ids[i] = r.submit(graph{WorkingDirectory: dir, Nodes: []node{{Key: "a", Title: "a"}}})
	}
	var mu sync.Mutex
	started := 0
	together(func(i int) {
		status, b, err := r.ask(http.MethodPost, fmt.Sprintf("/api/plans/%d/start", ids[i]), object{"executor": "external"})
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil && status == http.StatusOK:
			started++
		case err != nil || status != http.StatusBadRequest:
			t.Errorf("start: %d %s %v", status, b, err)
		}
	})
	if started != 1 {
		t.Errorf("%d plans were started in one folder", started)
	}
}
