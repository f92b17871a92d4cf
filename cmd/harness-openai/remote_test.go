package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type addNode struct {
	Title string `json:"title" jsonschema:"title of the step"`
}

// board is an MCP server like the one that Clearbox gives to a worker.
type board struct {
	mu     sync.Mutex
	titles []string
	away   bool // as while Clearbox is restarted
}

func (b *board) serve(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "board", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add_node", Description: "Add a step."}, func(_ context.Context, _ *mcp.CallToolRequest, in addNode) (*mcp.CallToolResult, any, error) {
		if in.Title == "" {
			return nil, nil, errors.New("title must not be empty")
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.titles = append(b.titles, in.Title)
		return nil, map[string]any{"result": []int{1, 2}}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "get_plan", Description: "Read the plan."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("p", maxRemote+7)}}}, nil, nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b.mu.Lock()
		away := b.away
		b.mu.Unlock()
		if away { // it dies in the middle of its answer
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"jsonrpc":`))
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, q)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp-agent/token-of-this-run"
}

func TestTheToolsOfClearboxWork(t *testing.T) {
	b := &board{}
	url := b.serve(t)
	p := play(t, scene{
		turns: []turn{
			{Calls: []toolUse{{Name: "vc_add_node", Args: m{"title": "One more"}}, {Name: "vc_add_node", Args: m{"title": ""}}, {Name: "vc_add_node", Args: m{"name": "x"}}, {Name: "add_node", Args: m{}}}},
			{Calls: []toolUse{{Name: "vc_get_plan"}}, Expect: `(?s)"result":\[1,2\].*title must not be empty.*name.*no tool "add_node"`},
			{Text: "done", Expect: `p\n\[cut: 7 bytes more\]`},
		},
		task: func(t *plugin.Task) { t.MCPURL = url },
	})
	if p.result.IsError {
		t.Fatal(p.result.Text)
	}
	if got := strings.Join(p.requests[0].Tools, " "); got != "read_file write_file edit_file list_dir glob grep bash vc_add_node vc_get_plan" {
		t.Errorf("offered %s", got)
	}
	wantIn(t, string(p.requests[0].Param("tools")), `"description":"title of the step"`)
	if len(b.titles) != 1 || b.titles[0] != "One more" {
		t.Errorf("added %v", b.titles)
	}
}

func TestTheProfileCanTurnTheToolsOfClearboxOff(t *testing.T) {
	url := (&board{}).serve(t)
	for tools, want := range map[string]string{
		`{"preset":"none"}`:                            "vc_add_node vc_get_plan",
		`{"preset":"none","mcp":false}`:                "",
		`{"preset":"none","deny":["vc_get_plan"]}`:     "vc_add_node",
		`{"mcp":false,"allow":["grep"]}`:               "grep",
		`{"preset":"readonly","deny":["vc_add_node"]}`: "read_file list_dir glob grep vc_get_plan",
	} {
		p := play(t, scene{turns: []turn{say("ok")}, tools: tools, task: func(t *plugin.Task) { t.MCPURL = url }})
		if got := strings.Join(p.requests[0].Tools, " "); got != want {
			t.Errorf("%s: offered %s, want %s", tools, got, want)
		}
	}
}

func TestARunGoesOnWithoutTheToolsOfClearbox(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	for name, url := range map[string]string{"unknown token": gone.URL + "/mcp-agent/token-of-this-run", "nobody there": "http://127.0.0.1:9/mcp-agent/token-of-this-run"} {
		t.Run(name, func(t *testing.T) {
			p := play(t, scene{turns: []turn{use("vc_add_node", m{"title": "x"}), say("ok")}, task: func(t *plugin.Task) { t.MCPURL = url }})
			if p.result.IsError || p.result.Text != "ok" {
				t.Errorf("result %+v", p.result)
			}
			wantIn(t, p.everything(t), "the tools of Clearbox are not there", `there is no tool \"vc_add_node\"`)
			if strings.Contains(p.everything(t), "token-of-this-run") {
				t.Errorf("the token is in the transcript: %s", p.everything(t))
			}
		})
	}
}

func TestTheTokenOfTheRunIsShownNowhere(t *testing.T) {
	url := (&board{}).serve(t)
	p := play(t, scene{turns: []turn{say("I know " + url)}, task: func(t *plugin.Task) { t.MCPURL = url }})
	if strings.Contains(p.everything(t), "token-of-this-run") {
		t.Errorf("the token is in %s", p.everything(t))
	}
}

func TestTheToolsOfClearboxComeBackAfterARestart(t *testing.T) {
	b := &board{}
	url := b.serve(t)
	set := func(away bool) func(*scriptedmodel.Request) turn {
		return func(*scriptedmodel.Request) turn {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.away = away
			return use("vc_add_node", m{"title": "while away: " + strconv.FormatBool(away)})
		}
	}
	p := play(t, scene{
		turns: []turn{{Make: set(false)}, {Make: set(true)}, {Make: set(true)}, {Make: set(false)}, say("ok")},
		task:  func(t *plugin.Task) { t.MCPURL = url },
	})
	if p.result.Text != "ok" || strings.Join(b.titles, ", ") != "while away: false, while away: false" {
		t.Errorf("added %q, result %+v", b.titles, p.result)
	}
}
