package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type object = map[string]any

// ask makes a request and returns the answer's status and body; an error when no
// whole answer came.
func (r *rig) ask(method, path string, in any) (int, []byte, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return 0, nil, err
		}
		body = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, r.url()+path, body)
	if err != nil {
		return 0, nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json")
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, b, err
}

// must makes a request that has to be answered well and reads its answer into
// out, which may be nil.
func (r *rig) must(method, path string, in, out any) {
	r.t.Helper()
	status, b, err := r.ask(method, path, in)
	if err != nil || status/100 != 2 {
		r.t.Fatalf("%s %s: %d %.2000s %v", method, path, status, b, err)
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			r.t.Fatalf("%s %s: %v in %.2000s", method, path, err, b)
		}
	}
}

func (r *rig) get(path string, out any)      { r.t.Helper(); r.must(http.MethodGet, path, nil, out) }
func (r *rig) post(path string, in, out any) { r.t.Helper(); r.must(http.MethodPost, path, in, out) }

// node is a step of a plan to post.
type node struct {
	Key         string   `json:"key"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Kind        string   `json:"kind,omitempty"`
	Agent       string   `json:"agent,omitempty"`
	Files       []string `json:"files,omitempty"`
}

// graph is a plan to post.
type graph struct {
	Title            string      `json:"title"`
	Description      string      `json:"description,omitempty"`
	WorkingDirectory string      `json:"working_directory"`
	Nodes            []node      `json:"nodes"`
	Edges            [][2]string `json:"edges,omitempty"`
}

// submit posts a plan and returns its id.
func (r *rig) submit(g graph) int {
	r.t.Helper()
	if g.Title == "" {
		g.Title = r.t.Name()
	}
	var made struct {
		PlanID int `json:"plan_id"`
	}
	r.post("/api/plans", g, &made)
	return made.PlanID
}

// play posts and starts a plan of independent steps, each with a script for the
// mock. It returns the plan's id and the folder that it works in.
func (r *rig) play(scripts ...string) (id int, dir string) {
	r.t.Helper()
	g := graph{WorkingDirectory: r.t.TempDir()}
	for i, script := range scripts {
		key := fmt.Sprintf("step %d", i+1)
		g.Nodes = append(g.Nodes, node{Key: key, Title: key, Description: "```mock\n" + script + "\n```"})
	}
	id = r.submit(g)
	r.begin(id)
	return id, g.WorkingDirectory
}

func (r *rig) begin(id int) {
	r.t.Helper()
	r.post(fmt.Sprintf("/api/plans/%d/start", id), object{"executor": "builtin"}, nil)
}

// planView is what is read of GET /api/plans/{id}.
type planView struct {
	Status   string         `json:"status"`
	Progress map[string]int `json:"progress"`
	Nodes    []nodeView     `json:"nodes"`
}

type nodeView struct {
	NodeID        int      `json:"node_id"`
	Title         string   `json:"title"`
	Status        string   `json:"status"`
	Kind          string   `json:"kind"`
	Result        string   `json:"result"`
	Error         string   `json:"error"`
	Files         []string `json:"files"`
	Attempts      int      `json:"attempts"`
	Interruptions int      `json:"interruptions"`
	StartedAt     float64  `json:"started_at"`
	FinishedAt    float64  `json:"finished_at"`
}

type runView struct {
	Run     int    `json:"run"`
	Kind    string `json:"kind"`
	Outcome string `json:"outcome"`
	Cause   string `json:"cause"`
	Result  string `json:"result"`
	Prompt  string `json:"prompt"`
}

type event struct {
	ID   int64  `json:"id"`
	Plan int    `json:"plan_id"`
	Node int    `json:"node_id"`
	Kind string `json:"kind"`
	Data object `json:"data"`
}

// text is what an event says.
func (e event) text() string {
	for _, key := range []string{"text", "content"} {
		if s, ok := e.Data[key].(string); ok {
			return s
		}
	}
	return ""
}

func (r *rig) plan(id int) planView {
	r.t.Helper()
	var v planView
	r.get(fmt.Sprintf("/api/plans/%d", id), &v)
	return v
}

// step returns a node by its number.
func (r *rig) step(id, n int) nodeView {
	r.t.Helper()
	for _, v := range r.plan(id).Nodes {
		if v.NodeID == n {
			return v
		}
	}
	r.t.Fatalf("plan %d has no node %d", id, n)
	return nodeView{}
}

// runs returns the sessions of a step.
func (r *rig) runs(id, n int) []runView {
	r.t.Helper()
	var v struct{ Runs []runView }
	r.get(fmt.Sprintf("/api/plans/%d/nodes/%d/runs", id, n), &v)
	return v.Runs
}

// transcript returns all that a run of a step told.
func (r *rig) transcript(id, n, run int) []event {
	r.t.Helper()
	var all []event
	for after := int64(1); ; { // ids begin at 1, and the first entry is no agent's
		var page struct {
			Events []event
			More   bool
		}
		r.get(fmt.Sprintf("/api/plans/%d/nodes/%d/runs/%d/events?limit=1000&after=%d", id, n, run, after), &page)
		all = append(all, page.Events...)
		if !page.More {
			return all
		}
		after = page.Events[len(page.Events)-1].ID
	}
}

// newest returns the last entries of a run's transcript.
func (r *rig) newest(id, n, run int) []event {
	r.t.Helper()
	var page struct{ Events []event }
	r.get(fmt.Sprintf("/api/plans/%d/nodes/%d/runs/%d/events", id, n, run), &page)
	return page.Events
}

// awaitText waits until a run of a step has said something that begins so, and
// returns the whole text.
func (r *rig) awaitText(id, n, run int, prefix string) string {
	r.t.Helper()
	var text string
	await(r.t, fmt.Sprintf("run %d of step %d.%d says %q", run, id, n, prefix), func() bool {
		if len(r.runs(id, n)) < run {
			return false
		}
		for _, e := range r.newest(id, n, run) {
			if t := e.text(); len(t) >= len(prefix) && t[:len(prefix)] == prefix {
				text = t
				return true
			}
		}
		return false
	})
	return text
}

func (r *rig) awaitPlan(id int, status string) {
	r.t.Helper()
	await(r.t, fmt.Sprintf("plan %d is %s", id, status), func() bool { return r.plan(id).Status == status })
}

func (r *rig) awaitStep(id, n int, status string) nodeView {
	r.t.Helper()
	var v nodeView
	await(r.t, fmt.Sprintf("step %d.%d is %s", id, n, status), func() bool {
		v = r.step(id, n)
		return v.Status == status
	})
	return v
}

// connect opens a session with one of the MCP endpoints.
func (r *rig) connect(ctx context.Context, t testing.TB, path string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "end-to-end", Version: "1"}, nil)
	s, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: r.url() + path, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatalf("connect to %s: %v", path, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// call calls a tool and reads its structured answer into out, which may be nil.
// A refusal is an error with the tool's words.
func call(ctx context.Context, s *mcp.ClientSession, p *mcp.CallToolParams, out any) error {
	res, err := s.CallTool(ctx, p)
	if err != nil {
		return fmt.Errorf("call %s: %w", p.Name, err)
	}
	if res.IsError {
		b, _ := json.Marshal(res.Content)
		return fmt.Errorf("%s refused: %s", p.Name, b)
	}
	if out == nil {
		return nil
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, out)
}
