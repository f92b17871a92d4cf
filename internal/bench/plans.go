package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// step is a node of a plan to submit.
type step struct {
	Key         string   `json:"key"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Files       []string `json:"files,omitempty"`
}

// wholePlan is a plan to submit, over REST or MCP.
type wholePlan struct {
	Title   string      `json:"title"`
	WorkDir string      `json:"working_directory"`
	Nodes   []step      `json:"nodes"`
	Edges   [][2]string `json:"edges,omitempty"`
}

const layer = 10 // steps beside each other

// layered is a plan of n steps in layers of ten with 2n edges: each step comes
// after two or three of the layer before, and has two files. shared says whether
// one of the two is a neighbour's too, so that pairs of steps take turns.
func layered(n int, dir string, shared bool) wholePlan {
	p := wholePlan{Title: fmt.Sprintf("A plan of %d steps", n), WorkDir: dir}
	for i := range n {
		other := i
		if shared {
			other = i / 2
		}
		p.Nodes = append(p.Nodes, step{Key: key(i), Title: fmt.Sprintf("Step %d of the plan", i+1),
			Description: "Change the parser so that it reads the new form, and the callers with it.",
			Files:       []string{fmt.Sprintf("src/own%d.go", i), fmt.Sprintf("src/part%d.go", other)}})
	}
	for offset := 0; offset < layer; offset++ {
		// Two edges for each step but those of the first layer, and then a third
		// for as many as it takes.
		for i := layer; i < n && (offset < 2 || len(p.Edges) < 2*n); i++ {
			before := i - i%layer - layer
			p.Edges = append(p.Edges, [2]string{key(before + (i+offset*3)%layer), key(i)})
		}
	}
	return p
}

// wide is a plan of n steps that wait for nothing.
func wide(n int, dir string) wholePlan {
	p := wholePlan{Title: fmt.Sprintf("%d steps beside each other", n), WorkDir: dir}
	for i := range n {
		p.Nodes = append(p.Nodes, step{Key: key(i), Title: fmt.Sprintf("Step %d", i+1), Description: "Do this."})
	}
	return p
}

// single is a plan of one step.
func single(title, description, dir string) wholePlan {
	return wholePlan{Title: title, WorkDir: dir, Nodes: []step{{Key: "only", Title: title, Description: description}}}
}

func key(i int) string { return "k" + strconv.Itoa(i) }

// submit posts a plan and returns its id.
func (c *client) submit(ctx context.Context, p wholePlan) (int64, error) {
	var out struct {
		PlanID int64 `json:"plan_id"`
	}
	err := c.post(ctx, "/api/plans", p, &out)
	return out.PlanID, err
}

// start starts a plan.
func (c *client) start(ctx context.Context, id int64, executor string) error {
	return c.post(ctx, fmt.Sprintf("/api/plans/%d/start", id), map[string]string{"executor": executor}, nil)
}

// begin posts a plan and starts it.
func (c *client) begin(ctx context.Context, p wholePlan, executor string) (int64, error) {
	id, err := c.submit(ctx, p)
	if err != nil {
		return 0, err
	}
	return id, c.start(ctx, id, executor)
}

// await waits until a plan is over and returns how it ended.
func (c *client) await(ctx context.Context, id int64) (string, error) {
	for {
		var list []struct {
			ID     int64  `json:"id"`
			Status string `json:"status"`
		}
		if err := c.get(ctx, "/api/plans", &list); err != nil {
			return "", err
		}
		for _, p := range list {
			if p.ID == id && (p.Status == "done" || p.Status == "failed") {
				return p.Status, nil
			}
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// event is a transcript entry as REST gives it.
type event struct {
	ID   int64  `json:"id"`
	Kind string `json:"kind"`
}

// events reads the whole transcript of a step.
func (c *client) events(ctx context.Context, planID, node int64) ([]event, error) {
	var all []event
	for after := int64(0); ; after = all[len(all)-1].ID {
		var page struct {
			Events []event `json:"events"`
		}
		if err := c.get(ctx, fmt.Sprintf("/api/plans/%d/nodes/%d?after=%d", planID, node, after), &page); err != nil {
			return nil, err
		}
		if len(page.Events) == 0 {
			return all, nil
		}
		all = append(all, page.Events...)
	}
}

// claimed is a step that this program has been given.
type claimed struct {
	PlanID int64 `json:"plan_id"`
	NodeID int64 `json:"node_id"`
	Run    int   `json:"run"`
}

// claim asks for a step; ok is false when none is ready.
func (c *client) claim(ctx context.Context) (s claimed, ok bool, err error) {
	err = c.tool(ctx, "claim_next_node", map[string]string{"agent_name": "bench"}, &s)
	return s, s.NodeID != 0, err
}

// complete ends a claimed step.
func (c *client) complete(ctx context.Context, s claimed) error {
	return c.tool(ctx, "complete_node", map[string]any{"plan_id": s.PlanID, "node_id": s.NodeID, "run": s.Run,
		"result": "The parser reads the new form; its callers follow."}, nil)
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
