package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// stage is a server whose agents play by the first word of a step's title:
// "Hold" works until it is let go, "Fail" fails, "Retry" fails the first time,
// "Limit" is at its provider's limit, "Ask" asks for permission; others are done
// at once.
type stage struct {
	*rig
	letGo chan struct{}
}

func newStage(t testing.TB) *stage {
	s := &stage{letGo: make(chan struct{})}
	t.Cleanup(func() { close(s.letGo) }) // runs after the engine has stopped its agents
	s.rig = newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": s.play, "spare": s.play}})
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
	case "Limit":
		return plugin.Result{IsError: true, RateLimited: true, Until: time.Now().Add(47 * time.Minute),
			Errors: []string{"You have reached your 5-hour limit; it resets at a quarter to."}}, nil
	case "Retry":
		if t.Attempt == 1 {
			return plugin.Result{IsError: true, Errors: []string{"pay/retry_test.go:31: the second call was never made"}, TokensIn: &in, TokensOut: &out}, nil
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
	for _, size := range screenSizes() {
		p.size(size.w, size.h)
		for _, dark := range []bool{false, true} {
			p.dark(dark)
			name := size.name(dark)
			for page, path := range map[string]string{
				"plan": "/plans/1?view=graph", "list": "/plans/1?view=list", "drawer-task": "/plans/1/nodes/1", "drawer-session": "/plans/1/nodes/2?tab=session",
				"drawer-user": "/plans/1/nodes/10", "drawer-failed": "/plans/1/nodes/6", "drawer-ask": "/plans/1/nodes/7", "sub": "/plans/2?view=graph",
				"plans": "/plans", "agents": "/agents", "full": "/plans/1/nodes/6/full?tab=session",
				"edit": "/plans/1/nodes/9?tab=edit", "full-task": "/plans/1/nodes/1/full", "full-edit": "/plans/1/nodes/9/full?tab=edit", "connect": "/connect", "missing": "/plans/99",
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

type screenSize struct{ w, h int64 }

func screenSizes() []screenSize { return []screenSize{{1440, 900}, {1024, 768}, {375, 812}} }

func (s screenSize) name(dark bool) string {
	return fmt.Sprint(s.w, "-", map[bool]string{false: "light", true: "dark"}[dark])
}

// heldPlan has a step for everything that can keep a plan from going on.
func (s *stage) heldPlan() plan.PlanID {
	s.t.Helper()
	ctx := context.Background()
	if _, err := s.engine.CreateProfile(ctx, engine.ProfileFields{Name: ptr("night shift"), Harness: ptr("spare"), MaxTokens: ptr(int64(250_000)),
		MaxParallel: ptr(2), Description: ptr("Cheap, and often at its limit.")}); err != nil {
		s.t.Fatal(err)
	}
	out, err := s.engine.SubmitPlan(ctx, engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Replace the payment provider", WorkingDirectory: s.t.TempDir(),
		MaxAttempts: 3, MaxTokens: 1_000_000, StallAfter: 600},
		Nodes: []engine.NodeSpec{
			{Key: "a", Title: "Read how payments are made", Files: []string{"docs/payments.md"}},
			{Key: "b", Title: "Adapter for the new provider", Files: []string{"pay/adapter.go"}, ResultsFrom: []string{"a"}},
			{Key: "c", Title: "Limit the calls to the provider", Agent: "night shift", Files: []string{"pay/limit.go"}},
			{Key: "d", Title: "Retry what timed out", Files: []string{"pay/retry.go"}, MaxAttempts: 2},
			{Key: "e", Title: "Fail over to the old provider", Files: []string{"pay/old.go"}, MaxAttempts: 1},
			{Key: "f", Title: "Translate the receipts"},
			{Key: "g", Title: "Switch over", ResultsFrom: []string{"b"}},
		},
		Edges: [][]string{{"a", "b"}, {"a", "c"}, {"a", "d"}, {"a", "e"}, {"a", "f"}, {"b", "g"}, {"f", "g"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.engine.SkipNode(ctx, plan.Ref{Plan: out.PlanID, Node: out.Nodes["f"]}, "Marketing does it by hand for now: two languages, twenty texts."); err != nil {
		s.t.Fatal(err)
	}
	s.start(out.PlanID, plan.Builtin)
	first := plan.Ref{Plan: out.PlanID, Node: 1}
	enginetest.Until(s.t, s.engine, out.PlanID, "the first steps", func(n *plan.Snapshot) bool { return n.Tally(out.PlanID).Done >= 3 && n.Tally(out.PlanID).Failed == 1 })
	for _, brief := range []string{"Name each currency; the amounts are in cents.", "The diagram is missing: draw one with the **three** parties.\n\n- shop\n- provider\n- bank"} {
		if err := s.engine.ReworkNode(ctx, first, brief); err != nil {
			s.t.Fatal(err)
		}
		enginetest.Until(s.t, s.engine, out.PlanID, "reworked", enginetest.State(first, plan.Done))
	}
	if err := s.engine.UpdatePlan(ctx, engine.UpdatePlanIn{PlanID: out.PlanID, MaxTokens: ptr(int64(78_000))}); err != nil {
		s.t.Fatal(err)
	}
	last := engine.AddNodeIn{PlanID: out.PlanID, NodeFields: engine.NodeFields{Title: ptr("Write the changelog"), Files: &[]string{"CHANGELOG.md"}}}
	if _, err := s.engine.AddNode(ctx, last); err != nil {
		s.t.Fatal(err)
	}
	return out.PlanID
}

// TestHeldScreens takes pictures of what keeps plans from going on.
func TestHeldScreens(t *testing.T) {
	if os.Getenv("CLEARBOX_SCREENS") == "" {
		t.Skip("CLEARBOX_SCREENS names no folder for pictures")
	}
	b := openBrowser(t)
	s := newStage(t)
	id := s.heldPlan()
	p := b.tab(t, s.url)
	for _, size := range screenSizes() {
		p.size(size.w, size.h)
		for _, dark := range []bool{false, true} {
			p.dark(dark)
			name := size.name(dark)
			for page, path := range map[string]string{"held": "?view=graph", "held-list": "?view=list", "held-rework": "/nodes/1", "held-runs": "/nodes/1?tab=session",
				"held-failed": "/nodes/5", "held-skipped": "/nodes/6", "held-limit": "/nodes/3", "held-full": "/nodes/1/full?tab=session"} {
				p.open(fmt.Sprintf("/plans/%d%s", id, path))
				p.until("the connection is up", `document.querySelector('#lost').hidden`)
				p.shoot(page + "-" + name)
			}
			p.open(fmt.Sprintf("/plans/%d/nodes/1", id))
			p.click("[data-testid=act-rework]")
			p.shoot("held-rework-open-" + name)
			p.open(fmt.Sprintf("/plans/%d/nodes/8", id))
			p.click("[data-testid=act-skip]")
			p.shoot("held-skip-open-" + name)
			p.open(fmt.Sprintf("/plans/%d?view=graph", id))
			p.click("[data-testid=over-budget] [data-dialog=settings]")
			p.shoot("held-settings-" + name)
			p.open("/agents")
			p.shoot("held-agents-" + name)
			p.open("/plans")
			p.shoot("held-plans-" + name)
		}
	}
}
