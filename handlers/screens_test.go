package handlers

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// stage is a server whose agents play by the first word of a step's title:
// "Hold" works until it is let go, "Fail" fails, "Ask" asks for permission;
// others are done at once.
type stage struct {
	*rig
	letGo chan struct{}
}

func newStage(t testing.TB) *stage {
	s := &stage{letGo: make(chan struct{})}
	t.Cleanup(func() { close(s.letGo) }) // runs after the engine has stopped its agents
	s.rig = newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": s.play}})
	return s
}

func (s *stage) play(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	word, _, _ := strings.Cut(t.Title, " ")
	h.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: "s-1", Model: "model-x"}))
	playSome(h)
	in, out := int64(12_400), int64(3_170)
	result := plugin.Result{Text: "Did **" + t.Title + "**.", NumTurns: 4, DurationMS: 73_000, TokensIn: &in, TokensOut: &out}
	switch word {
	case "Hold":
		select {
		case <-s.letGo:
		case <-ctx.Done():
			return plugin.Result{IsError: true, Text: "stopped"}, nil
		}
	case "Fail":
		h.Emit(plugin.Err("the endpoint answered 500 twice"))
		return plugin.Result{IsError: true, Errors: []string{"go test ./...: 2 of 41 tests failed\n--- FAIL: TestParse (0.00s)"}, NumTurns: 7}, nil
	case "Ask":
		a, err := h.Ask(ctx, plugin.Question{Tool: "Bash", Text: "Run a command outside of the working directory",
			Input: json.RawMessage(`{"command":"rm -rf /var/cache/build && make install","description":"clean and install"}`)})
		if err != nil || !a.Allow {
			return plugin.Result{IsError: true, Text: "permission was denied"}, err
		}
	}
	return result, nil
}

// playSome emits one of everything that a transcript shows.
func playSome(h plugin.Host) {
	h.Emit(plugin.Thinking("The parser reads the whole file first.\nIt would be simpler to stream it.", ""))
	h.Emit(plugin.Text("I will look at the parser first.\n\n1. read `parse.go`\n2. write a *failing* test\n\n```go\nfunc Parse(r io.Reader) (*File, error)\n```\n\n| case | want |\n|---|---|\n| empty | error |\n| one line | one entry |", ""))
	h.Emit(plugin.ToolUse("t1", "Read", json.RawMessage(`{"file_path":"internal/parse/parse.go","limit":200}`), ""))
	h.Emit(plugin.ToolResult("t1", "package parse\n\n// Parse reads …\nfunc Parse(r io.Reader) (*File, error) {", false, ""))
	h.Emit(plugin.ToolUse("t2", "Bash", json.RawMessage(`{"command":"go test ./internal/parse/... -run TestParse -count=1","description":"run the tests"}`), ""))
	h.Emit(plugin.ToolResult("t2", "--- FAIL: TestParse (0.00s)\n    parse_test.go:41: got 2 entries, want 3\nFAIL", true, ""))
	h.Emit(plugin.Text("The second entry is lost when the line ends without a newline.", ""))
	h.Emit(plugin.Log("warning: cache is cold", "stderr"))
	h.Emit(plugin.Usage(12_400, 3_170))
}

// richPlan has a bit of everything: states, ties, a subplan, a person's step.
func (s *stage) richPlan() plan.PlanID {
	s.t.Helper()
	ctx := context.Background()
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Move the importer to streaming", WorkingDirectory: s.t.TempDir(),
		TestInstructions: "go test ./... -race", MaxParallel: 4},
		Nodes: []engine.NodeSpec{
			{Key: "a", Title: "Read the importer and write down how it works", Description: "Look at `importer/` and write **docs/importer.md**:\n\n- what it reads\n- where it *buffers*\n- what depends on the order\n\nSee [the issue](https://example.com/issues/12).", Files: []string{"docs/importer.md"},
				AcceptanceCriteria: []string{"each input format is named", "a diagram shows the buffers"}},
			{Key: "b", Title: "Hold the tokenizer: stream it", Files: []string{"importer/token.go"}, ResultsFrom: []string{"a"}},
			{Key: "c", Title: "Parse records one at a time and report the position of the first error in a message that people understand", Files: []string{"importer/record.go", "importer/errors.go"}, ResultsFrom: []string{"a"}},
			{Key: "d", Title: "Errors with line and column", Files: []string{"importer/errors.go"}, ResultsFrom: []string{"a"}},
			{Key: "e", Title: "Command line", Files: []string{"cmd/import/main.go"}},
			{Key: "f", Title: "Fail fast on malformed input", Files: []string{"importer/guard.go"}},
			{Key: "g", Title: "Ask before the cache is cleared", Files: []string{"cache/"}},
			{Key: "h", Title: "Put the parts together", ResultsFrom: []string{"b", "c", "d"}, Files: []string{"importer/importer.go"}},
			{Key: "i", Title: "Benchmarks", Files: []string{"importer/bench_test.go"}},
			{Key: "u", Title: "Try it with the customer's file", Kind: "user", Description: "Import `orders-2024.csv` and check that the **totals** match the old report.\n\nThe file is on the share under `/imports`."},
			{Key: "j", Title: "Release notes", ResultsFrom: []string{"h"}, Files: []string{"CHANGELOG.md"}},
			{Key: "k", Title: "Delete the old reader", Files: []string{"importer/old.go"}},
		},
		Edges: [][]string{{"a", "b"}, {"a", "c"}, {"a", "d"}, {"a", "e"}, {"a", "f"}, {"a", "g"}, {"a", "u"}, {"b", "h"}, {"c", "h"}, {"d", "h"}, {"e", "h"},
			{"h", "i"}, {"h", "j"}, {"u", "j"}, {"h", "k"}, {"f", "k"}}}
	out, err := s.engine.SubmitPlan(ctx, in)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = s.engine.SubmitPlan(ctx, engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Command line", ParentPlanID: out.PlanID, ParentNodeID: out.Nodes["e"]},
		Nodes: []engine.NodeSpec{{Key: "x", Title: "Flags and help"}, {Key: "y", Title: "Hold on: exit codes", Files: []string{"cmd/import/exit.go"}}, {Key: "z", Title: "Completion scripts"}},
		Edges: [][]string{{"x", "y"}, {"y", "z"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	return out.PlanID
}

// settled waits until nothing more happens in a rich plan by itself.
func (s *stage) settled(id plan.PlanID) {
	s.t.Helper()
	enginetest.Until(s.t, s.engine, id, "all that can happen", func(n *plan.Snapshot) bool {
		t := n.Tally(id)
		return t.Failed == 1 && len(n.Active()) == 3 && len(n.Questions) == 1 && t.Waiting == 1
	})
}

// TestScreens takes pictures to look at; it runs where CLEARBOX_SCREENS names a
// folder for them.
func TestScreens(t *testing.T) {
	if os.Getenv("CLEARBOX_SCREENS") == "" {
		t.Skip("CLEARBOX_SCREENS names no folder for pictures")
	}
	b := openBrowser(t)
	s := newStage(t)
	p := b.tab(t, s.url)
	p.ignore("status of 404")
	p.open("/plans")
	p.shoot("no-plans")
	p.open("/")
	p.shoot("start")
	id := s.richPlan()
	s.plan("a b:a c:a")
	s.plan("")
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: hostile[0] + hostile[1], WorkingDirectory: t.TempDir()}}
	for i, text := range hostile {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: string(rune('a' + i)), Title: text})
	}
	if _, err := s.engine.SubmitPlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	s.start(id, plan.Builtin)
	s.settled(id)
	for _, size := range []struct {
		name string
		w, h int64
	}{{"1440", 1440, 900}, {"1024", 1024, 768}, {"375", 375, 812}} {
		p.size(size.w, size.h)
		for _, dark := range []bool{false, true} {
			p.dark(dark)
			name := size.name + "-" + map[bool]string{false: "light", true: "dark"}[dark]
			for page, path := range map[string]string{
				"plan": "/plans/1?view=graph", "list": "/plans/1?view=list", "drawer-task": "/plans/1/nodes/1", "drawer-session": "/plans/1/nodes/2?tab=session",
				"drawer-user": "/plans/1/nodes/10", "drawer-failed": "/plans/1/nodes/6", "drawer-ask": "/plans/1/nodes/7", "sub": "/plans/2?view=graph",
				"plans": "/plans", "agents": "/agents", "full": "/plans/1/nodes/6/full?tab=session", "connect": "/connect", "missing": "/plans/99",
				"hostile": "/plans/5?view=graph", "hostile-list": "/plans/5?view=list", "hostile-drawer": "/plans/5/nodes/5", "empty": "/plans/4?view=graph",
			} {
				p.open(path)
				p.until("the connection is up", `document.querySelector('#lost').hidden`)
				p.shoot(page + "-" + name)
			}
			p.open("/plans/3?view=graph")
			p.click("[aria-label='Ways to start']")
			p.shoot("menu-" + name)
			p.press(keyEscape)
			p.click("[aria-label='More for this plan']")
			p.click("[data-dialog=settings]")
			p.shoot("settings-" + name)
			p.press(keyEscape)
			p.press("?")
			p.shoot("keys-" + name)
			p.press(keyEscape)
			if size.w < 900 {
				p.click("[data-nav=open]")
				p.shoot("nav-" + name)
			}
		}
	}
}
