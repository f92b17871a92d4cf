package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// clearbox is a stand-in whose steps are done one at each look, but for the user step,
// which waits for complete_node. What it is to do to the folder, it does at the end.
type clearbox struct {
	mu        sync.Mutex
	plan      plan
	started   bool
	done      int
	completed string
	fail      string // key of a step that fails
	finish    func(dir string)
}

func (c *clearbox) serve(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "clearbox", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "submit_plan"}, c.submit)
	mcp.AddTool(s, &mcp.Tool{Name: "start_plan"}, c.start)
	mcp.AddTool(s, &mcp.Tool{Name: "get_plan"}, c.get)
	mcp.AddTool(s, &mcp.Tool{Name: "complete_node"}, c.complete)
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

func (c *clearbox) submit(_ context.Context, _ *mcp.CallToolRequest, p plan) (*mcp.CallToolResult, any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Nodes[0].Agent == "nobody" {
		return nil, nil, errors.New("unknown agent profile 'nobody': nothing was created")
	}
	c.plan = p
	ids := map[string]int{}
	for i, n := range p.Nodes {
		ids[n.Key] = i + 1
	}
	return nil, object{"plan_id": 7, "nodes": ids}, nil
}

type planID struct {
	PlanID int64 `json:"plan_id"`
}

func (c *clearbox) start(_ context.Context, _ *mcp.CallToolRequest, in planID) (*mcp.CallToolResult, any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = in.PlanID == 7
	return nil, object{"result": "started"}, nil
}

func (c *clearbox) get(context.Context, *mcp.CallToolRequest, planID) (*mcp.CallToolResult, any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := view{PlanID: 7, Status: "running"}
	for i, n := range c.plan.Nodes {
		one := nodeView{ID: int64(i + 1), Title: n.Title, Status: "pending"}
		switch {
		case i < c.done:
			one.Status, one.Result = "done", "did it\nreally"
		case i == c.done && n.Key == c.fail:
			one.Status, one.Error, v.Status = "failed", "could not connect", "failed"
		case i == c.done && n.Kind == "user":
			one.Status, one.Waiting = "ready", true
		case i == c.done:
			one.Status = "running"
		}
		v.Nodes = append(v.Nodes, one)
	}
	if c.done == len(c.plan.Nodes) {
		v.Status = "done"
		if c.finish != nil {
			c.finish(c.plan.WorkingDirectory)
		}
	} else if c.started && c.plan.Nodes[c.done].Kind != "user" && c.plan.Nodes[c.done].Key != c.fail {
		c.done++
	}
	return nil, v, nil
}

func (c *clearbox) complete(_ context.Context, _ *mcp.CallToolRequest, in struct {
	PlanID int64  `json:"plan_id"`
	NodeID int64  `json:"node_id"`
	Result string `json:"result"`
}) (*mcp.CallToolResult, any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.completed = in.Result
	c.done = int(in.NodeID)
	return nil, object{"result": "ok"}, nil
}

// poster runs the command and returns its exit code and what it printed.
func poster(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"--poll", "10ms"}, args...), &o, &e)
	return code, o.String(), e.String()
}

func TestAPlanIsPostedFollowedAndProved(t *testing.T) {
	c := &clearbox{finish: func(dir string) { // the least that makes all tests pass
		for _, name := range []string{"duration", "entry", "money", "report"} {
			_ = os.Remove(filepath.Join(dir, name+"_test.go"))
		}
	}}
	url := c.serve(t)
	dir := filepath.Join(t.TempDir(), "lib")
	extra := filepath.Join(t.TempDir(), "marks.json")
	must(t, os.WriteFile(extra, []byte(`{"parse":"[mark parse]","money":"[from file]"}`), 0o644))
	code, out, errs := poster(t, "--server", url+"/", "--agent", "someone", "--dir", dir, "--extra", extra, "--step-text", "money=[mark money]", "--yes")
	if code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errs)
	}
	for _, want := range []string{dir, url + "/plans/7", "7.1 done     Find out what is broken: did it\n", "Read the diff and say yes: yes", "Plan 7 is done.", "ok  \texample.com/timesheet"} {
		if !strings.Contains(out, want) && !strings.Contains(out, strings.Replace(want, "ok  \t", "?   \t", 1)) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	if c.completed != "Yes, the changes are right." || c.plan.WorkingDirectory != dir {
		t.Errorf("completed with %q in %s", c.completed, c.plan.WorkingDirectory)
	}
	got := map[string]string{}
	for _, n := range c.plan.Nodes {
		text := n.Description[strings.LastIndex(n.Description, "\n\n")+1:]
		if i := strings.LastIndex(n.Description, "\n\n"); i < 0 {
			text = ""
		}
		got[n.Key] = n.Agent + strings.TrimPrefix(text, "\n")
	}
	want := map[string]string{"survey": "someone", "parse": "someone[mark parse]", "format": "someone", "midnight": "someone", "money": "someone[mark money]", "report": "someone", "approve": "", "changes": "someone"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "HEAD")); err != nil {
		t.Errorf("no git repository: %v", err)
	}
}

func TestAPlanThatIsDoneWithoutMendingAnythingIsAFailure(t *testing.T) {
	c := &clearbox{}
	code, out, errs := poster(t, "--server", c.serve(t), "--dir", t.TempDir(), "--yes")
	if code != 1 || !strings.Contains(errs, "still fail") || !strings.Contains(out, "--- FAIL: TestCost") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
}

func TestWhatGoesWrongIsSaid(t *testing.T) {
	full := t.TempDir()
	must(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o644))
	failing := (&clearbox{fail: "money"}).serve(t)
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"a step fails", []string{"--server", failing}, 1, "step 7.5 (Charge parts of an hour): could not connect"},
		{"unknown agent", []string{"--server", failing, "--agent", "nobody"}, 1, "post the plan: unknown agent profile 'nobody'"},
		{"nobody listens", []string{"--server", "http://127.0.0.1:9"}, 1, "connect to Clearbox at http://127.0.0.1:9 (is it running?)"},
		{"the plan hangs", []string{"--server", (&clearbox{}).serve(t), "--timeout", "2s"}, 1, "deadline exceeded"},
		{"a folder with something in it", []string{"--dir", full}, 1, "is not empty"},
		{"no library", []string{"--repo", full}, 1, "name the folder with --repo"},
		{"a step that is not there", []string{"--step-text", "nope=x", "--server", failing}, 1, "the plan has no step nope"},
		{"a bad step text", []string{"--step-text", "x"}, 2, "KEY=TEXT"},
		{"a missing file", []string{"--extra", "none.json"}, 2, "none.json"},
		{"a stray argument", []string{"now"}, 2, `unexpected argument "now"`},
		{"no time between looks", []string{"--poll", "0s"}, 2, "--poll"},
		{"an unknown flag", []string{"--fast"}, 2, "fast"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := tt.args
			if !strings.Contains(strings.Join(args, " "), "--dir") {
				args = append(args, "--dir", t.TempDir())
			}
			if tt.name == "a stray argument" {
				args = tt.args
			}
			code, out, errs := poster(t, args...)
			if code != tt.code || !strings.Contains(errs, tt.want) {
				t.Errorf("exit code %d, want %d with %q\n%s\n%s", code, tt.code, tt.want, out, errs)
			}
		})
	}
}

func TestTheUserStepIsPointedOut(t *testing.T) {
	c := &clearbox{}
	url := c.serve(t)
	_, out, _ := poster(t, "--server", url, "--dir", t.TempDir(), "--timeout", "3s")
	for _, want := range []string{"Step 7.7 is yours: Read the diff and say yes.", "Open " + url + "/plans/7", "Mark done"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%q is not once in:\n%s", want, out)
		}
	}
	if c.completed != "" {
		t.Error("the step was completed without --yes")
	}
}
