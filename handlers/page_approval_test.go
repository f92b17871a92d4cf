package handlers

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

const proposed = `{"title":"Health endpoint","summary":"One handler that says **how the service is**.","tech_stack":["Go"],"nodes":[
 {"key":"h","title":"Handler","description":"Write it.","task_type":"implement","files":["health.go"],"acceptance_criteria":["answers 200"],"estimate_minutes":50},
 {"key":"t","title":"Test it","task_type":"test","files":["health_test.go"],"acceptance_criteria":["go test passes"],"results_from":["h"],"estimate_minutes":20}],
 "edges":[["h","t"]],"risks":["Another service uses the path already."],"assumptions":["Port 80 is free."]}`

var smaller = strings.NewReplacer("Health endpoint", "Smaller", "Test it", "Try it").Replace(proposed)

// planned is a server with an agent "planner", which answers when it is let go,
// and an agent "judge" that every step passes.
type planned struct {
	*rig
	mu      sync.Mutex
	replies []string
	letGo   chan struct{}
}

func newPlanned(t *testing.T, replies ...string) *planned {
	t.Helper()
	p := &planned{replies: replies, letGo: make(chan struct{}, 20)}
	p.rig = newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"planner": p.reply,
		"judge": func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
			return plugin.Result{Text: `{"verdict":"pass","criteria":[{"criterion":1,"met":"met","evidence":"seen"}],"reason":"fine"}`}, nil
		}}})
	for _, name := range []string{"planner", "judge"} {
		if _, err := p.engine.CreateProfile(context.Background(), engine.ProfileFields{Name: ptr(name), Harness: ptr(name)}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *planned) reply(ctx context.Context, _ plugin.Task, _ plugin.Host) (plugin.Result, error) {
	select {
	case <-p.letGo:
	case <-ctx.Done():
		return plugin.Result{IsError: true, Text: "stopped"}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.replies[0]
	if len(p.replies) > 1 {
		p.replies = p.replies[1:]
	}
	return plugin.Result{Text: text}, nil
}

// ask posts the form for a plan from a goal.
func (p *planned) ask(goal string) plan.PlanID {
	p.t.Helper()
	a := p.form("/plans/new/goal", url.Values{"goal": {goal}, "working_directory": {p.t.TempDir()}, "constraints": {"no new dependency"}, "agent": {"planner"}}, byHtmx)
	var id plan.PlanID
	if _, err := fmt.Sscanf(a.header.Get("HX-Redirect"), "/plans/%d", &id); err != nil || a.status != 204 {
		p.t.Fatalf("%v %s", a.header, a)
	}
	return id
}

func (p *planned) until(id plan.PlanID, state plan.Approval, revision int64) {
	p.t.Helper()
	enginetest.Until(p.t, p.engine, id, string(state), func(s *plan.Snapshot) bool {
		return s.Root().Approval == state && s.Root().Revision == revision
	})
}

var atApproval = []string{"approval-planning", "approval-planning_failed", "approval-awaiting", "approval-rejected", "start"}

func TestAGoalIsPlannedRevisedApprovedAndStartedOverThePages(t *testing.T) {
	p := newPlanned(t, proposed, smaller)
	id := p.ask("Add a health endpoint")
	if got := p.offered("/plans/1", atApproval...); got != "approval-planning" {
		t.Errorf("while it is planned the page shows %q", got)
	}
	v := p.watchLive(t, fmt.Sprintf("plan:1@%d,plans@%d", p.now(), p.now()))
	v.reads(p.rig, "/plans/1")
	p.letGo <- struct{}{}
	p.until(id, plan.Awaiting, 1)
	v.until("approval", "Waiting for your approval")
	v.until("side-1", "1 thing waits for you")
	if got := p.offered("/plans/1", atApproval...); got != "approval-awaiting" {
		t.Errorf("while it waits the page shows %q", got)
	}
	if got := textAt(t, p.page("/plans/1"), "approval-size"); got != "Revision 1 · 2 steps · about 1 h 10 min of agents' work" {
		t.Errorf("it says %q", got)
	}
	if a := p.form("/plans/1/revise", url.Values{"feedback": {" "}}, byHtmx); a.status != 400 || a.header.Get("HX-Retarget") != "#revise-error" {
		t.Errorf("nothing asked for: %v %s", a.header, a)
	}
	if a := p.form("/plans/1/revise", url.Values{"feedback": {"Fewer\r\nsteps."}}, byHtmx); a.status != 204 {
		t.Fatal(a)
	}
	p.letGo <- struct{}{}
	p.until(id, plan.Awaiting, 2)
	a := p.form("/plans/1/approve", url.Values{"revision": {"1"}, "start": {"1"}}, byHtmx, "HX-Target: p#approve-error")
	if a.status != 409 || a.header.Get("HX-Retarget") != "" || !strings.Contains(string(a.body), "at revision 2 now. Look at it again") {
		t.Errorf("what was not looked at: %v %s", a.header, a)
	}
	if a := p.form("/plans/1/approve", url.Values{"revision": {"x"}}, byHtmx); a.status != 400 {
		t.Errorf("no revision: %s", a)
	}
	if _, err := p.engine.SetReviewAgent(context.Background(), id, "judge"); err != nil {
		t.Fatal(err)
	}
	if a := p.form("/plans/1/approve", url.Values{"revision": {"2"}, "start": {"1"}}); a.status != 303 || a.header.Get("Location") != "/plans/1" {
		t.Fatalf("without scripts: %s", a)
	}
	if s := p.root(id); s.Approval != plan.Approved || !s.Started {
		t.Errorf("afterwards it is %s, started %t", s.Approval, s.Started)
	}
	v.until("approval", `<div id="approval"></div>`)
	doc := p.page("/plans/1/revisions/2")
	for id, want := range map[string]string{"revision-diff": "What differs from revision 1", "decided": "approved", "changed": "Try it"} {
		if got := textAt(t, doc, id); !strings.Contains(got, want) {
			t.Errorf("%s of the revision reads %q", id, got)
		}
	}
	if got := len(findAll(doc, "data-testid", "revision-step")); got != 2 {
		t.Errorf("%d steps", got)
	}
	for _, path := range []string{"/plans/1/revisions/3", "/plans/1/revisions/x", "/plans/9/revisions/1"} {
		if a := p.do("GET", path, nil); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestPlanningThatFailedIsTriedAgainOrRejectedOverThePages(t *testing.T) {
	p := newPlanned(t, "no", "no", "no", proposed)
	for range 3 {
		p.letGo <- struct{}{}
	}
	id := p.ask("Add a health endpoint")
	p.until(id, plan.PlanningFailed, 0)
	if got := textAt(t, p.page("/plans/1"), "problems"); !strings.Contains(got, "no JSON object") {
		t.Errorf("it says %q", got)
	}
	if got := p.offered("/plans?state=you", "plan-row"); got == "" {
		t.Error("it is not listed under what waits")
	}
	if a := p.form("/plans/1/replan", url.Values{"guidance": {"a\x00b"}}, byHtmx); a.status != 400 || a.header.Get("HX-Retarget") != "#replan-error" {
		t.Errorf("guidance: %v %s", a.header, a)
	}
	if a := p.form("/plans/1/replan", url.Values{"guidance": {"begin with the handler"}}, byHtmx); a.status != 204 {
		t.Fatal(a)
	}
	p.letGo <- struct{}{}
	p.until(id, plan.Awaiting, 1)
	if a := p.form("/plans/1/reject", url.Values{"reason": {"<b>not now</b>"}}, byHtmx); a.status != 204 {
		t.Fatal(a)
	}
	if got := textAt(t, p.page("/plans/1"), "reject-reason"); got != "<b>not now</b>" {
		t.Errorf("the reason reads %q", got)
	}
	if a := p.form("/plans/1/approve", url.Values{"revision": {"1"}}, byHtmx); a.status != 400 {
		t.Errorf("a rejected plan is approved: %s", a)
	}
}

func TestNewPlansSayWhatIsWrongAtTheirFields(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ way, field, value, at string }{
		{"goal", "goal", " ", "#new-goal-error"},
		{"goal", "working_directory", "relative", "#new-dir-error"},
		{"goal", "working_directory", "", "#new-dir-error"},
		{"goal", "constraints", "a\x00b", "#new-constraints-error"},
		{"goal", "agent", "nobody", "#new-agent-error"},
		{"hand", "title", "", "#new-title-error"},
		{"hand", "title", "a\nb", "#new-title-error"},
		{"hand", "working_directory", "/nowhere/at all", "#new-dir-error"},
		{"hand", "description", "a\x00b", "#new-description-error"},
	} {
		form := url.Values{"goal": {"g"}, "title": {"t"}, "working_directory": {t.TempDir()}}
		form.Set(c.field, c.value)
		a := r.form("/plans/new/"+c.way, form, byHtmx)
		if a.status != 400 || a.header.Get("HX-Retarget") != c.at {
			t.Errorf("%s %q: %d at %q: %s", c.field, c.value, a.status, a.header.Get("HX-Retarget"), a.body)
		}
	}
	if a := r.do("GET", "/plans/1", nil); a.status != 404 {
		t.Error("something that was refused was made")
	}
	dir := t.TempDir()
	if a := r.form("/plans/new/hand", url.Values{"title": {" Mine "}, "working_directory": {dir}}); a.status != 303 || a.header.Get("Location") != "/plans/1" {
		t.Fatalf("by hand: %s", a)
	}
	if s := r.root(1); s.Title != "Mine" || s.WorkDir != dir {
		t.Errorf("made %+v", s)
	}
	if got := r.offered("/plans/1", "fill-help", "start"); got != "fill-help" {
		t.Errorf("an empty plan shows %q", got)
	}
	for path, want := range map[string]string{"/plans/new": dir, "/plans/new?by=hand": "Make the plan", "/plans": "/plans/new", "/connect": "/plans/new"} {
		if a := r.do("GET", path, nil); a.status != 200 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s has no %q", path, want)
		}
	}
}

// TestApprovalScreens takes pictures of what is said about approval.
func TestApprovalScreens(t *testing.T) {
	if os.Getenv("CLEARBOX_SCREENS") == "" {
		t.Skip("CLEARBOX_SCREENS names no folder for pictures")
	}
	b := openBrowser(t)
	p := newPlanned(t, "no", "no", "no", proposed, smaller, proposed)
	for range 3 {
		p.letGo <- struct{}{}
	}
	p.until(p.ask("Add an endpoint that fails"), plan.PlanningFailed, 0)
	p.letGo <- struct{}{}
	waits := p.ask("Add a health endpoint that says how the service is.\n\nIt must be fast.")
	p.until(waits, plan.Awaiting, 1)
	if a := p.form("/plans/2/revise", url.Values{"feedback": {"Fewer steps, and try it by hand."}}, byHtmx); a.status != 204 {
		t.Fatal(a)
	}
	p.letGo <- struct{}{}
	p.until(waits, plan.Awaiting, 2)
	p.letGo <- struct{}{}
	p.until(p.ask("Something else"), plan.Awaiting, 1)
	if a := p.form("/plans/3/reject", url.Values{"reason": {"Not this year."}}, byHtmx); a.status != 204 {
		t.Fatal(a)
	}
	p.ask("Move the importer to streaming")
	p.plan("")
	tab := b.tab(t, p.url)
	for _, size := range screenSizes() {
		tab.size(size.w, size.h)
		for _, dark := range []bool{false, true} {
			tab.dark(dark)
			for name, path := range map[string]string{"failed": "/plans/1", "awaiting": "/plans/2", "rejected": "/plans/3", "planning": "/plans/4", "empty": "/plans/5?view=graph",
				"planner-works": "/plans/4/nodes/0?tab=session", "planner-waits": "/plans/2/nodes/0?tab=session", "inbox": "/inbox", "revision": "/plans/2/revisions/2", "new-goal": "/plans/new", "new-hand": "/plans/new?by=hand", "plans": "/plans"} {
				tab.open(path)
				tab.until("the connection is up", `document.querySelector('#lost').hidden`)
				tab.shoot("approval-" + name + "-" + size.name(dark))
			}
			tab.open("/plans/2")
			tab.click("#approval-notes > summary")
			tab.click("#approval-revisions > summary")
			tab.click("[data-testid=ask-changes]")
			tab.shoot("approval-open-" + size.name(dark))
		}
	}
}
