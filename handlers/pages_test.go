package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// page reads a page that has to be there.
func (r *rig) page(path string, headers ...string) *html.Node {
	r.t.Helper()
	a := r.do("GET", path, nil, headers...)
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		r.t.Fatalf("GET %s: %s", path, a)
	}
	doc, err := html.Parse(strings.NewReader(string(a.body)))
	if err != nil {
		r.t.Fatal(err)
	}
	return doc
}

// form posts a form as htmx does, or as a browser without scripts.
func (r *rig) form(path string, fields url.Values, headers ...string) answer {
	r.t.Helper()
	return r.do("POST", path, fields.Encode(), append([]string{"Content-Type: application/x-www-form-urlencoded"}, headers...)...)
}

const byHtmx = "HX-Request: true"

// findAll returns the elements that have an attribute with a value.
func findAll(n *html.Node, name, value string) []*html.Node {
	var list []*html.Node
	if n.Type == html.ElementNode {
		for _, a := range n.Attr {
			if a.Key == name && a.Val == value {
				list = append(list, n)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		list = append(list, findAll(c, name, value)...)
	}
	return list
}

// textAt returns the text of the one element with a test id.
func textAt(t *testing.T, doc *html.Node, id string) string {
	t.Helper()
	found := findAll(doc, "data-testid", id)
	if len(found) != 1 {
		t.Fatalf("%d elements are called %s", len(found), id)
	}
	return strings.Join(strings.Fields(textIn(found[0])), " ")
}

func textIn(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data + " "
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textIn(c))
	}
	return b.String()
}

func TestEveryPageIsThere(t *testing.T) {
	s := newStage(t)
	id := s.richPlan()
	s.start(id, plan.Builtin)
	s.settled(id)
	for path, want := range map[string]string{
		"/connect": "claude mcp add", "/plans": "Move the importer", "/plans?q=importer&state=failed": "Move the importer", "/plans?q=nothing": "Nothing found",
		"/agents": "Test connection", "/agents/2": "Settings of", "/agents/new": "Create the agent", "/plans/1": "Working now", "/plans/1?view=list": "<table", "/plans/2": "Command line",
		"/plans/1/nodes/1": "Done when", "/plans/1/nodes/1?tab=session": "Run 1", "/plans/1/nodes/10": "What you are to do",
		"/plans/1/nodes/7": "The agent asks to use", "/plans/1/nodes/6/full?tab=session": "Previous", "/plans/1/nodes/2/prompt": "<pre",
		"/plans/1/nodes/1?view=list&tab=session": "Run 1",
	} {
		a := s.do("GET", path, nil)
		if a.status != http.StatusOK || !strings.Contains(string(a.body), want) {
			t.Errorf("GET %s: %d, without %q", path, a.status, want)
		}
		if got := a.header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("GET %s may be kept: %q", path, got)
		}
		if got := a.header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'self'") {
			t.Errorf("GET %s has the policy %q", path, got)
		}
	}
}

func TestTheFirstPageIsTheNewestPlan(t *testing.T) {
	r := newRig(t)
	if a := r.do("GET", "/", nil); a.status != http.StatusOK || !strings.Contains(string(a.body), "Run the demo plan") {
		t.Errorf("without plans: %d", a.status)
	}
	r.plan("a")
	r.plan("b")
	if a := r.do("GET", "/", nil); a.status != http.StatusSeeOther || a.header.Get("Location") != "/plans/2" {
		t.Errorf("with plans: %d %s", a.status, a.header.Get("Location"))
	}
}

func TestWhatIsNotThereIsSaidOnAPage(t *testing.T) {
	r := newRig(t)
	r.plan("a")
	for _, path := range []string{"/nothing", "/plans/99", "/plans/x", "/plans/0", "/plans/99999999999999999999", "/plans/1/nodes/99", "/plans/1/nodes/x",
		"/plans/1/nodes/9/full", "/plans/1/nodes/1/events/77", "/plans/1/nodes/9/prompt"} {
		a := r.do("GET", path, nil)
		if a.status != http.StatusNotFound || !strings.Contains(string(a.body), "Not found") || !strings.Contains(string(a.body), `id="sidebar"`) {
			t.Errorf("GET %s: %d %.100s", path, a.status, a.body)
		}
	}
	if a := r.do("GET", "/plans/1/nodes/1/events?before=x", nil); a.status != http.StatusBadRequest {
		t.Errorf("a wrong number: %d", a.status)
	}
	if a := r.do("GET", "/api/nothing", nil); a.status != http.StatusNotFound || a.detail(t) == "" {
		t.Errorf("programs get %s", a)
	}
}

func TestPartsOfAPageAloneAreThatPart(t *testing.T) {
	r := newRig(t)
	r.plan("a")
	for part, path := range map[string]string{"page": "/plans/1", "drawer": "/plans/1/nodes/1", "sidebar": "/agents"} {
		a := r.do("GET", path, nil, "Clearbox-Part: "+part)
		body := string(a.body)
		if a.status != http.StatusOK || strings.Contains(body, "<html") || !strings.Contains(body, `data-part="`+part+`"`) || !strings.HasPrefix(body, "<") {
			t.Errorf("%s: %d %.80s", part, a.status, body)
		}
		if a.header.Get("Vary") == "" {
			t.Errorf("%s does not vary", part)
		}
	}
	if a := r.do("GET", "/plans/1", nil, "Clearbox-Part: drawer"); !strings.Contains(string(a.body), "hidden") {
		t.Errorf("a plan without a step has the drawer %s", a.body)
	}
}

func TestOpeningAStepNeverSetsThePlanBack(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b:a")
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
	doc := r.page("/plans/1/nodes/2?tab=session")
	if got := textAt(t, doc, "plan-count"); got != "2/2" {
		t.Errorf("it shows %q", got)
	}
	if got := textAt(t, doc, "node-title"); got != "Step b" {
		t.Errorf("the drawer shows %q", got)
	}
	if len(findAll(doc, "data-testid", "run-end")) != 1 {
		t.Error("the session has no end")
	}
}

func TestActionsAnswerNothingOrWhatIsWrong(t *testing.T) {
	r := newRig(t)
	r.plan("a")
	if a := r.form("/plans/1/start", url.Values{"executor": {"external"}}, byHtmx); a.status != http.StatusNoContent || len(a.body) > 0 {
		t.Errorf("start: %s", a)
	}
	s, err := r.engine.Snapshot(context.Background(), 1)
	if err != nil || s.Root().Executor != plan.External {
		t.Errorf("it was not started: %v", err)
	}
	a := r.form("/plans/1/start", url.Values{"executor": {"builtin"}}, byHtmx)
	if a.status != http.StatusBadRequest || a.header.Get("HX-Retarget") != "#toasts" || !strings.Contains(string(a.body), "stop it first") {
		t.Errorf("start again: %v %s", a.header, a)
	}
	a = r.form("/plans/1/nodes/1/complete", url.Values{}, byHtmx, "HX-Target: p#mark-error")
	if a.status != http.StatusNoContent {
		t.Errorf("complete: %s", a)
	}
	a = r.form("/plans/1/nodes/1/complete", url.Values{}, byHtmx, "HX-Target: p#mark-error")
	if a.status != http.StatusBadRequest || a.header.Get("HX-Retarget") != "" || !strings.Contains(string(a.body), "field-error") {
		t.Errorf("complete again: %v %s", a.header, a)
	}
	for _, path := range []string{"/plans/9/start", "/plans/9/stop", "/plans/9/reset", "/plans/9/delete", "/plans/9/retry-failed", "/plans/9/settings",
		"/plans/1/nodes/9/retry", "/plans/1/nodes/9/stop", "/plans/1/nodes/9/complete", "/plans/1/nodes/9/rework", "/plans/1/nodes/9/skip",
		"/plans/1/nodes/9/unskip", "/agents/99/test", "/agents/99/limits"} {
		if a := r.form(path, url.Values{}, byHtmx); a.status != http.StatusNotFound || !strings.Contains(string(a.body), "toast") {
			t.Errorf("POST %s: %s", path, a)
		}
	}
	if a := r.form("/plans/1/nodes/1/answer", url.Values{"question": {"q"}, "answer": {"allow"}}, byHtmx); a.status != http.StatusConflict {
		t.Errorf("an answer to nothing: %s", a)
	}
	if a := r.form("/plans/1/start", url.Values{"executor": {"nobody"}}, byHtmx); a.status != http.StatusBadRequest {
		t.Errorf("an unknown executor: %s", a)
	}
	if a := r.do("POST", "/plans/1/start", "", "Origin: http://evil.example"); a.status != http.StatusForbidden {
		t.Errorf("another site: %s", a)
	}
}

func TestActionsWorkWithoutScripts(t *testing.T) {
	r := newRig(t)
	r.plan("a")
	if a := r.form("/plans/1/start", url.Values{}); a.status != http.StatusSeeOther || a.header.Get("Location") != "/plans/1" {
		t.Errorf("start: %d %s", a.status, a.header.Get("Location"))
	}
	enginetest.Until(t, r.engine, 1, "done", enginetest.Status(plan.StatusDone))
	if a := r.form("/plans/1/nodes/1/retry", url.Values{}); a.status != http.StatusBadRequest || !strings.Contains(string(a.body), "only a failed step can be retried") {
		t.Errorf("retry: %d %.200s", a.status, a.body)
	}
	if a := r.form("/plans/1/delete", url.Values{}); a.status != http.StatusSeeOther || a.header.Get("Location") != "/plans" {
		t.Errorf("delete: %d %s", a.status, a.header.Get("Location"))
	}
}

func TestTheDemoIsMadeAndStarted(t *testing.T) {
	r := newRig(t)
	for _, want := range []string{"/plans/1", "/plans/3"} {
		if a := r.form("/demo", url.Values{}, byHtmx); a.header.Get("HX-Redirect") != want {
			t.Fatalf("it leads to %q, want %q: %s", a.header.Get("HX-Redirect"), want, a)
		}
	}
	s := enginetest.Until(t, r.engine, 1, "waiting for a person", func(s *plan.Snapshot) bool { return len(s.Waiting()) == 1 && len(s.Active()) == 0 })
	if got := s.Tally(1); got.Done != 8 || got.Failed != 0 {
		t.Errorf("got %+v", got)
	}
	s.Walk(func(n *plan.Node) {
		if a := s.Agent(n); a.Profile.Name != "mock" {
			t.Errorf("step %s runs on %s", n.Ref(), a.Profile.Name)
		}
	})
}

func TestTheWholeTextOfAnEntry(t *testing.T) {
	r := newRig(t)
	id := r.plan("a")
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
	list, err := r.engine.Events(context.Background(), plan.Ref{Plan: 1, Node: 1}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Kind != "system" {
			continue
		}
		a := r.do("GET", fmt.Sprintf("/plans/1/nodes/1/events/%d", e.ID), nil)
		if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") || len(a.body) == 0 {
			t.Errorf("entry %d: %v %s", e.ID, a.header, a)
		}
	}
}

func TestPagesAreNotShownWithoutTheToken(t *testing.T) {
	r := authRig(t)
	for _, path := range []string{"/", "/plans", "/live?topics=plans@0", "/plans/1/nodes/1/prompt"} {
		if a := r.do("GET", path, nil); a.status != http.StatusSeeOther && a.status != http.StatusUnauthorized {
			t.Errorf("GET %s: %s", path, a)
		}
	}
	if a := r.form("/demo", url.Values{}, byHtmx); a.status != http.StatusUnauthorized {
		t.Errorf("an action: %s", a)
	}
}

func TestASubplansQuestionCountsForItsPlan(t *testing.T) {
	s := newStage(t)
	ctx := context.Background()
	out, err := s.engine.SubmitPlan(ctx, engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Whole", WorkingDirectory: t.TempDir()},
		Nodes: []engine.NodeSpec{{Key: "a", Title: "Part"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine.SubmitPlan(ctx, engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Part", ParentPlanID: out.PlanID, ParentNodeID: 1},
		Nodes: []engine.NodeSpec{{Key: "a", Title: "Ask me"}}}); err != nil {
		t.Fatal(err)
	}
	s.start(1, plan.Builtin)
	enginetest.Until(t, s.engine, 1, "a question", func(n *plan.Snapshot) bool { return len(n.Questions) == 1 })
	if got := textAt(t, s.page("/plans"), "side-plan"); !strings.Contains(got, "1 thing waits for you") {
		t.Errorf("the sidebar says %q", got)
	}
}
