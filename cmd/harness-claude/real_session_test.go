package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The prompt arrives whole and as text, whatever it begins with and however long it
// is; the system text is appended to the program's own.
func TestRealPromptArrivesWhole(t *testing.T) {
	for name, begin := range map[string]string{"dash": "--help", "slash": "/compact", "at": "@secret.txt is a file", "long": strings.Repeat("0123456789abcdef", 128<<10)} {
		t.Run(name, func(t *testing.T) {
			prompt := begin + "\n日本語 \"quoted\" \\ $HOME `ls` and\tthe END"
			p := play(t, scene{
				files: map[string]string{"secret.txt": "SENTINEL"}, scripts: one(say1("Read.")),
				task: func(t *plugin.Task) {
					t.Prompt, t.System = prompt, "RULE: "+strings.Repeat("long ", 50_000)+"END-OF-RULES"
				},
			})
			if p.result.Text != "Read." || len(p.requests) != 1 {
				t.Fatalf("result %+v after %d requests", p.result, len(p.requests))
			}
			q := p.requests[0]
			if !strings.Contains(q.User(), prompt) {
				t.Errorf("the prompt did not arrive whole: %.300s", q.User())
			}
			wantIn(t, string(q.Body), "END-OF-RULES")
			if strings.Contains(string(q.Body), "SENTINEL") {
				t.Error("a file was attached")
			}
		})
	}
}

// Sub-agents carry their parent, and their tokens are in the totals.
func TestRealSubAgents(t *testing.T) {
	p := play(t, scene{scripts: []script{
		{Match: "the sub job", Turns: []turn{use("Bash", m{"command": "echo from-below", "description": "say"}), say1("Sub done.")}},
		{Match: "Do the step", Turns: []turn{
			{Calls: []scriptedmessages.Call{{ID: "toolu_parent", Name: "Agent", Input: m{"description": "sub", "subagent_type": "general-purpose", "prompt": "Do the sub job"}}}},
			say1("All done."),
		}},
	}})
	if p.result.IsError || p.result.Text != "All done." {
		t.Fatalf("result %+v", p.result)
	}
	var below, parents int
	var in, out int64
	for _, e := range p.events {
		if strings.Contains(string(e.Data), `"parent_tool_use_id":"toolu_parent"`) {
			below++
		}
		if strings.Contains(string(e.Data), `"parent_tool_use_id":null`) {
			parents++
		}
		if e.Kind == plugin.KindUsage {
			i, o, _ := plugin.DecodeUsage(e)
			in, out = in+i, out+o
		}
	}
	if below < 2 || parents < 2 {
		t.Errorf("%d events below, %d above", below, parents)
	}
	if in != *p.result.TokensIn || out != *p.result.TokensOut || in != 40 || out != 20 {
		t.Errorf("events count %d/%d tokens, the result %d/%d; want 40/20", in, out, *p.result.TokensIn, *p.result.TokensOut)
	}
}

// A run that was ended in the middle of a command is gone on with: the same session,
// its history, and only its own tokens and cost.
func TestRealResume(t *testing.T) {
	scripts := []script{
		{Match: "Go on", Turns: []turn{say1("Resumed.")}},
		{Match: "Do the step", Turns: []turn{use("Bash", m{"command": "echo before", "description": "a"}), use("Bash", m{"command": "sleep 300", "description": "b"})}},
	}
	calls := 0
	first := scene{scripts: scripts, during: func(s plugin.Session, e plugin.Event) {
		if e.Kind == plugin.KindToolUse {
			if calls++; calls == 2 {
				_ = s.Stop(context.Background())
			}
		}
	}}
	p := play(t, first)
	id := p.result.SessionID
	if !p.result.IsError || id == "" {
		t.Fatalf("result %+v", p.result)
	}
	second := scene{scripts: scripts, program: claude(t), task: func(t *plugin.Task) { t.Prompt, t.ResumeSession = "Go on.", id }}
	srv := scriptedmessages.New(scripts...)
	p.url = serve(t, srv)
	for range 2 { // the second time what was spent before is known to the program
		p.run(t, second, p.newTask(t, second))
		if p.result.IsError || p.result.Text != "Resumed." || p.result.SessionID != id || *p.result.TokensIn != 10 || *p.result.TokensOut != 5 {
			t.Errorf("result %+v", p.result)
		}
		if c := p.result.CostUSD; c == nil || *c > 0.0002 {
			t.Errorf("the cost is that of more than one run: %v", *c)
		}
	}
	q := srv.Requests()[0]
	if !strings.Contains(q.User(), "Do the step") {
		t.Error("the history is gone")
	}

	second.task = func(t *plugin.Task) { t.Prompt, t.ResumeSession = "Go on.", "11111111-2222-4333-8444-555555555555" }
	p.run(t, second, p.newTask(t, second))
	if p.result.IsError || p.result.Text != "Resumed." {
		t.Errorf("a session that is gone: %+v", p.result)
	}
	wantIn(t, p.everything(), "is not there any more: a new one begins")
}

// The tools of Clearbox are offered at every capability.
func TestRealClearboxTools(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "clearbox", Version: "test"}, nil)
	type in struct {
		Message string `json:"message"`
	}
	heard := make(chan string, 10)
	mcp.AddTool(server, &mcp.Tool{Name: "report_progress", Description: "Say what you do."}, func(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
		heard <- i.Message
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noted"}}}, nil, nil
	})
	tools := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	defer tools.Close()
	sc := scene{
		scripts: []script{{Turns: []turn{use("mcp__clearbox__report_progress", m{"message": "halfway"}), say1("Done.")}}},
		task:    func(t *plugin.Task) { t.Allowed, t.MCPURL = plugin.Read, tools.URL+"/mcp-agent/run-token-1" },
	}
	p := play(t, sc)
	if len(heard) != 1 || p.result.IsError {
		t.Errorf("heard %d messages; results %q", len(heard), p.results())
	}
	wantIn(t, strings.Join(p.requests[0].Tools, " "), "mcp__clearbox__report_progress")
	sc.tools = `{"mcp":false,"preset":"all"}`
	if p = play(t, sc); len(heard) != 1 || strings.Contains(strings.Join(p.requests[0].Tools, " "), "mcp__") {
		t.Error("the profile wants no tools of Clearbox")
	}
	sc.tools = ""
	sc.task = func(t *plugin.Task) { t.MCPURL = "http://127.0.0.1:9/mcp-agent/run-token-2" }
	p = play(t, sc)
	wantIn(t, p.everything(), "the tools of Clearbox are not there in this run")
}
