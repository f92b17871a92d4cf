package views

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func render(t testing.TB, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func htmlOf(t *testing.T, pieces []Piece) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, p := range pieces {
		if _, twice := all[p.ID]; twice {
			t.Errorf("two pieces are called %s", p.ID)
		}
		all[p.ID] = render(t, p.Body)
	}
	return all
}

// walk visits all elements.
func walk(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// everything renders all pages and pieces with one text in all places.
func everything(text string) map[string]templ.Component {
	s := tree(func(nodes map[string]*plan.Node) {
		for _, n := range nodes {
			n.Title, n.Description, n.Criteria, n.AgentName = text, text, []string{text}, text
			n.Files, n.Undeclared, n.SkipNote = []plan.File{{Path: text, Key: "k"}}, []string{text}, text
			n.Result, n.Error = &text, &text
		}
		nodes["1.4"].State, nodes["1.4"].SkippedBy = plan.Skipped, plan.SkippedByPerson
		nodes["1.5"].State, nodes["1.5"].Profile = plan.Failed, 2
	})
	for _, id := range s.PlanIDs() {
		s.Plan(id).Title, s.Plan(id).TestInstructions = text, text
	}
	for _, p := range s.Profiles {
		p.Name, p.Model, p.Description, p.BaseURL = text, text, text, "https://example.com/"+text
	}
	s.Questions = []plan.Question{{ID: text, PlanID: 1, NodeID: 2, Tool: text, Text: text, Input: []byte(fmt.Sprintf(`{%q:%q}`, text, text))}}
	s.Root().MaxTokens, s.Root().Tokens, s.Root().StallAfter = 10, 20, 60
	nodes := s.NodesOf(1)
	nodes[0].ReworkBrief, nodes[1].StalledAt = &text, 1400
	runs := []plan.Run{{ID: "q", PlanID: 1, NodeID: 2, Kind: plan.RunStep, Number: 1, AgentName: text, Model: text, Outcome: plan.OutcomeFailed, Cause: text}, {ID: "r", Number: 2, AgentName: text, Model: text}}
	drawer := func(tab string) *Drawer {
		return NewDrawer(DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: 2}, Place: Place{Plan: 1, Tab: tab}, Runs: runs, Events: events(text), Older: true})
	}
	summary := []PlanSummary{{ID: 1, Title: text, WorkDir: text, Tally: plan.Tally{Total: 3, Waiting: 1}}}
	profiles := []plan.Profile{*s.Profiles[1], *s.Profiles[2]}
	harness := Harness{Slug: text, Name: text, Path: text, Refused: text, Version: text}
	agents := NewAgentsPage(AgentsInput{Profiles: profiles, Limits: []plan.Limit{{Profile: 1, Until: 9, Text: text}}, Harnesses: []Harness{harness},
		Faults: map[plan.ProfileID][]string{2: {text}}})
	setting := plan.Setting{Name: text, Title: text, Help: text, Enum: []json.RawMessage{[]byte(strconv.Quote("x"))}}
	form := NewAgentForm(AgentFormInput{Profile: &profiles[0], Harness: harness, Choices: []Harness{harness}, Fault: text,
		Settings: &plan.Settings{Open: true, List: []plan.Setting{setting, {Name: "z", Title: text, Help: text, Type: plan.SettingObject}}},
		Values:   map[string]string{"name": text, "harness": text, "params": text, "params.z": text, "params." + text: text, "description": text},
		Faults:   map[string]string{"name": text, "params.z": text, "api_key": text}})
	return map[string]templ.Component{
		"graph":    PlanView(planPage(s, Place{Plan: 1})),
		"list":     PlanView(planPage(s, Place{Plan: 1, View: ViewList})),
		"timeline": PlanView(NewPlanPage(PlanInput{Snapshot: s, Place: Place{Plan: 1, View: ViewTimeline}, Times: &TimelineInput{Now: 2000, Runs: runs}})),
		"inbox": InboxView(NewInbox([]InboxItem{NewQuestion(s.Questions[0], text, text), {Kind: WaitsFailed, Node: ref(1, 2), Title: text, PlanTitle: text, Text: text}},
			[]LimitItem{{Agent: text, Until: 9, Text: text}}, 1)),
		"you":      YouLink(NewInbox([]InboxItem{{Kind: WaitsStep, Node: ref(1, 2), Title: text}}, nil, 1)),
		"notice":   Notice(AnswerWords(ref(1, 2), text, true, false)),
		"subplan":  PlanView(planPage(s, Place{Plan: 2})),
		"task":     DrawerView(drawer(TabTask)),
		"done":     DrawerView(NewDrawer(DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: 1}, Place: Place{Plan: 1}, Runs: runs})),
		"skipped":  DrawerView(NewDrawer(DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: 4}, Place: Place{Plan: 1}, Runs: runs})),
		"session":  DrawerView(drawer(TabSession)),
		"full":     NodePage(drawer(TabSession)),
		"older":    OlderEntries(OlderSession(plan.Ref{Plan: 1, Node: 2}, runs, events(text), true)),
		"plans":    PlansView(NewPlansPage(PlansInput{Plans: summary, Query: text})),
		"sidebar":  SidebarNav(&Sidebar{Plans: summary}),
		"prompt":   PromptText(text),
		"problem":  ProblemView(text, text),
		"toast":    Toast(text),
		"field":    FieldError(text),
		"outcome":  TestOutcomeView(&TestOutcome{Detail: text, Facts: []Fact{{Name: "x", Value: text}}}),
		"agents":   AgentsView(agents),
		"agent":    AgentPageView(NewAgentPage(agents, 1, form, []AgentUse{UseOf(plan.Ref{Plan: 1, Node: 2}, text, false, text)})),
		"newagent": NewAgentView(form, text),
		"faults":   AgentFaultsView(form),
		"tried":    AgentTriedView(form, &TestOutcome{Detail: text, Models: []string{text}}),
		"saved":    AgentSavedView(form),
		"start":    StartView(&StartPage{[]Client{{"claude", "Claude Code", "Run once:", "claude mcp add <x>"}}}),
		"document": Layout(&Shell{Title: text, Sidebar: Sidebar{Plans: summary}, Page: ProblemView(text, text)}),
	}
}

// events are one of each kind.
func events(text string) []plan.Event {
	var list []plan.Event
	add := func(kind, format string, args ...any) {
		list = append(list, plan.Event{ID: int64(len(list) + 1), RunID: "r", Kind: kind, Data: []byte(fmt.Sprintf(format, args...))})
	}
	add("system", `{"text":%q,"model":%q}`, text, text)
	add("text", `{"text":%q}`, text)
	add("thinking", `{"text":%q,"parent_tool_use_id":"p"}`, text)
	add("tool_use", `{"id":%q,"name":%q,"input":{%q:%q,"command":%q}}`, text, text, text, text, text)
	add("tool_result", `{"tool_use_id":%q,"content":%q,"is_error":true}`, text, text)
	add("tool_result", `{"tool_use_id":"elsewhere","content":%q}`, text)
	add("error", `{"text":%q}`, text)
	add("log", `{"text":%q,"stream":%q}`, text, text)
	add("rate_limited", `{"text":%q,"until":1700000000}`, text)
	add("status", `{"from":"ready","to":"running"}`)
	add("result", `{"text":%q,"is_error":true,"errors":[%q],"num_turns":3}`, text, text)
	add(text, `not json %s`, text)
	return list
}

func TestHostileTextIsTextEverywhere(t *testing.T) {
	const text = `<img src=x onerror=owned()><script>owned()</script>"'><b onclick=owned()>[l](javascript:owned()) ![i](http://evil.example/i.png) <hx-get x> {{.}}`
	for name, c := range everything(text) {
		out := render(t, c)
		doc, err := html.Parse(strings.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		walk(doc, func(n *html.Node) {
			if n.Data == "img" || n.Data == "b" || n.Data == "script" && attr(n, "src") == "" && name != "document" {
				t.Errorf("%s: the text became an element <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), a.Key == "style":
					t.Errorf("%s: <%s> has the attribute %s", name, n.Data, a.Key)
				case (a.Key == "href" || a.Key == "src" || a.Key == "action") && strings.Contains(strings.ToLower(a.Val), "javascript:"):
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				case strings.HasPrefix(a.Key, "hx-") && strings.Contains(a.Val, "owned"):
					t.Errorf("%s: %s=%q came from text", name, a.Key, a.Val)
				}
			}
		})
	}
}

func TestEveryControlHasAName(t *testing.T) {
	for name, c := range everything("Text") {
		doc, err := html.Parse(strings.NewReader(render(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		labels := map[string]bool{}
		walk(doc, func(n *html.Node) {
			if n.Data == "label" {
				labels[attr(n, "for")] = true
			}
		})
		walk(doc, func(n *html.Node) {
			switch n.Data {
			case "button", "a", "summary":
				if attr(n, "aria-label") == "" && strings.TrimSpace(textOf(n)) == "" {
					t.Errorf("%s: a <%s class=%q> has no name", name, n.Data, attr(n, "class"))
				}
			case "input", "textarea", "select":
				inLabel := n.Parent != nil && n.Parent.Data == "label"
				if attr(n, "type") != "hidden" && attr(n, "aria-label") == "" && !labels[attr(n, "id")] && !inLabel {
					t.Errorf("%s: a <%s name=%q> has no label", name, n.Data, attr(n, "name"))
				}
			}
		})
	}
}

func TestIdsAreUnique(t *testing.T) {
	for name, c := range everything("Text") {
		doc, err := html.Parse(strings.NewReader(render(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		walk(doc, func(n *html.Node) {
			id := attr(n, "id")
			if id != "" && seen[id] {
				t.Errorf("%s: two elements are called %s", name, id)
			}
			seen[id] = true
		})
	}
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textOf(c))
	}
	return b.String()
}

func TestWhatStreamsInIsWhatAReloadShows(t *testing.T) {
	for _, at := range []Place{{Plan: 1}, {Plan: 1, View: ViewList}} {
		p := planPage(tree(nil), at)
		whole := render(t, PlanView(p))
		for id, piece := range htmlOf(t, p.Pieces()) {
			if !strings.Contains(whole, piece) {
				t.Errorf("the page does not hold the piece %s as it is sent:\n%s", id, piece)
			}
		}
	}
	in := DrawerInput{Snapshot: tree(nil), Node: plan.Ref{Plan: 1, Node: 2}, Place: Place{Plan: 1},
		Runs: []plan.Run{{ID: "q", Number: 1, Outcome: plan.OutcomeFailed}, {ID: "r", Number: 2}}, Events: append(events("x"), plan.Event{ID: 99, RunID: "q", Kind: "text"})}
	pieces := htmlOf(t, NewDrawer(in).Pieces())
	task := render(t, DrawerView(NewDrawer(in)))
	in.Place.Tab = TabSession
	session := render(t, DrawerView(NewDrawer(in)))
	for id, piece := range pieces {
		whole := task
		if strings.HasPrefix(id, "run") {
			whole = session
		}
		if !strings.Contains(whole, piece) {
			t.Errorf("the drawer does not hold the piece %s as it is sent", id)
		}
	}
}
