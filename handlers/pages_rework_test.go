package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// offered tells which elements with test ids are on a page.
func (r *rig) offered(path string, ids ...string) string {
	r.t.Helper()
	doc := r.page(path)
	var list []string
	for _, id := range ids {
		if len(findAll(doc, "data-testid", id)) > 0 {
			list = append(list, id)
		}
	}
	return strings.Join(list, " ")
}

func TestAStepIsReworkedSkippedAndBroughtBackFromItsPage(t *testing.T) {
	r := newRig(t)
	id := r.plan("a b:a")
	all := []string{"act-rework", "act-skip", "unskip", "act-done", "brief", "skipped", "started"}
	at := func(n int) string { return fmt.Sprintf("/plans/1/nodes/%d", n) }
	if got := r.offered(at(1), all...); got != "act-skip act-done" {
		t.Errorf("a pending step offers %q", got)
	}
	if a := r.form(at(2)+"/skip", url.Values{"note": {" not\r\nneeded "}}, byHtmx); a.status != 204 {
		t.Fatalf("skip: %s", a)
	}
	if got := r.offered(at(2), all...); got != "unskip act-done skipped" {
		t.Errorf("a skipped step offers %q", got)
	}
	if got := textAt(t, r.page(at(2)), "skipped"); got != "Skipped by a person not needed" {
		t.Errorf("it says %q", got)
	}
	if a := r.form(at(2)+"/skip", url.Values{}, byHtmx, "HX-Target: p#skip-error"); a.status != 400 || a.header.Get("HX-Retarget") != "" || !strings.Contains(string(a.body), "skipped") {
		t.Errorf("skip again: %v %s", a.header, a)
	}
	if a := r.form(at(2)+"/unskip", nil, byHtmx); a.status != 204 {
		t.Fatalf("bring back: %s", a)
	}
	if a := r.form(at(2)+"/unskip", nil, byHtmx); a.status != 400 || !strings.Contains(string(a.body), "not skipped") {
		t.Errorf("bring back again: %s", a)
	}
	r.done(id)
	if got := r.offered(at(1), all...); got != "act-rework started" {
		t.Errorf("a done step offers %q", got)
	}
	if a := r.form(at(1)+"/rework", url.Values{"instructions": {" "}}, byHtmx, "HX-Target: p#rework-error"); a.status != 400 || !strings.Contains(string(a.body), "no review") {
		t.Errorf("rework without a word: %s", a)
	}
	if a := r.form(at(1)+"/rework", url.Values{"instructions": {"use\r\nthe other one"}}); a.status != 303 || a.header.Get("Location") != at(1) {
		t.Errorf("rework without scripts: %d", a.status)
	}
	enginetest.Until(t, r.engine, id, "done again", func(s *plan.Snapshot) bool {
		return s.Status(id) == plan.StatusDone && s.Node(plan.Ref{Plan: id, Node: 1}).Attempts == 2
	})
	if got := textAt(t, r.page(at(1)), "brief"); got != "Rework brief use the other one" {
		t.Errorf("the brief reads %q", got)
	}
}

func TestASessionHasAPartForEachRun(t *testing.T) {
	var fail atomic.Bool
	fail.Store(true)
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			h.Emit(plugin.Text("said in run "+fmt.Sprint(task.Attempt), ""))
			if fail.Load() {
				return plugin.Result{}, errors.New("the tests are red")
			}
			return enginetest.Done(ctx, task, h)
		}}})
	id := r.plan("a")
	v := r.watchLive(t, fmt.Sprintf("node:1.1@%d", r.now()))
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "failed", enginetest.State(plan.Ref{Plan: id, Node: 1}, plan.Failed))
	fail.Store(false)
	if a := r.form("/plans/1/nodes/1/rework", url.Values{"instructions": {"mend it"}}, byHtmx); a.status != 204 {
		t.Fatal(a)
	}
	enginetest.Until(t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
	// Who looked on got the parts, their ends and the list of runs.
	v.until("run-1", `id="seg-1"`)
	v.until("run-head-1", "the tests are red")
	v.until("run-2", `id="seg-2"`)
	v.until("run-head-2", "Done")
	v.until("runs", "#run-2")
	doc := r.page("/plans/1/nodes/1?tab=session")
	for run, want := range map[string]string{"1": "said in run 1", "2": "said in run 2"} {
		seg := findAll(doc, "id", "seg-"+run)
		if len(seg) != 1 || !strings.Contains(textIn(seg[0]), want) || strings.Contains(textIn(seg[0]), "said in run "+map[string]string{"1": "2", "2": "1"}[run]) {
			t.Errorf("the part of run %s is not its own", run)
		}
	}
	for run, words := range map[string][]string{"run-head-1": {"Run 1", "Failed", "mock", "the tests are red"}, "run-head-2": {"Run 2 · rework", "Done"}} {
		got := textIn(findAll(doc, "id", run)[0])
		for _, w := range words {
			if !strings.Contains(got, w) {
				t.Errorf("%s does not say %q: %q", run, w, got)
			}
		}
	}
	if got := len(findAll(doc, "data-run", "2")); got != 1 {
		t.Errorf("%d links lead to run 2", got)
	}
	// What streamed in is where a reload shows it.
	for _, raw := range v.raw {
		if strings.Contains(raw, "said in run 2") && !strings.Contains(raw, `"p":"seg-2"`) {
			t.Errorf("an entry of run 2 came for another place: %s", raw)
		}
	}
}

func TestALimitIsShownOnAllPagesThatItConcerns(t *testing.T) {
	var limited atomic.Bool
	limited.Store(true)
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if limited.Load() {
				return plugin.Result{IsError: true, RateLimited: true, Until: time.Now().Add(time.Hour), Errors: []string{"5-hour limit"}}, nil
			}
			return enginetest.Done(ctx, task, h)
		}}})
	id, other := r.plan("a"), r.plan("x")
	wait := engine.AddNodeIn{PlanID: other, NodeFields: engine.NodeFields{Title: ptr("You first"), Kind: ptr("user")}}
	you, err := r.engine.AddNode(context.Background(), wait)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.engine.AddEdge(context.Background(), engine.EdgeIn{PlanID: other, From: you.Node, To: 1}); err != nil {
		t.Fatal(err)
	}
	r.start(other, plan.Builtin)
	v := r.watchLive(t, fmt.Sprintf("plan:1@%[1]d,agents@%[1]d", r.now()))
	r.start(id, plan.Builtin)
	v.until("c-1-1", "limit until")
	v.until("agent-2", "5-hour limit")
	if got := textAt(t, r.page("/agents"), "agent-limit"); !strings.Contains(got, "refuses work until") || !strings.Contains(got, "5-hour limit") {
		t.Errorf("the agent's card says %q", got)
	}
	// A step of another plan that becomes ready now waits too.
	v = r.watchLive(t, fmt.Sprintf("list:2@%d", r.now()))
	if err := r.engine.MarkDone(context.Background(), you, nil); err != nil {
		t.Fatal(err)
	}
	v.until("row-2-1", "limit until")
}

func TestPagesOfOtherPlansHearOfALimit(t *testing.T) {
	hold := make(chan struct{})
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{
		"mock": func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
			<-hold
			return plugin.Result{IsError: true, RateLimited: true, Until: time.Now().Add(time.Hour), Errors: []string{"limit"}}, nil
		}}})
	id := r.plan("a")
	if _, err := r.engine.UpdateProfile(context.Background(), 2, engine.ProfileFields{MaxParallel: ptr(1)}); err != nil {
		t.Fatal(err)
	}
	r.start(id, plan.Builtin)
	enginetest.Until(t, r.engine, id, "it runs", enginetest.State(plan.Ref{Plan: id, Node: 1}, plan.Running))
	other := r.plan("x")
	r.start(other, plan.Builtin)
	enginetest.Until(t, r.engine, other, "it waits for a slot", func(s *plan.Snapshot) bool {
		return s.Holds[plan.Ref{Plan: other, Node: 1}].Phase == plan.PhaseSlot
	})
	v := r.watchLive(t, fmt.Sprintf("plan:2@%d", r.now()))
	close(hold)
	v.until("c-2-1", "limit until")
}

func TestABudgetThatIsUsedUpIsOnThePage(t *testing.T) {
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{"mock": spender(600, 0.25)}})
	id := r.plan("a b:a c:b")
	if got := r.offered("/plans/1", "meter", "over-budget"); got != "" {
		t.Errorf("a plan without a budget shows %q", got)
	}
	if a := r.form("/plans/1/settings", url.Values{"max_tokens": {"1000"}}, byHtmx); a.status != 204 {
		t.Fatal(a)
	}
	if got := r.offered("/plans/1", "meter", "over-budget"); got != "meter" {
		t.Errorf("a plan with a budget shows %q", got)
	}
	v := r.watchLive(t, fmt.Sprintf("plan:1@%[1]d,plans@%[1]d", r.now()))
	r.start(id, plan.Builtin)
	v.until("strips", "The budget is used up: 1,200 of 1,000 tokens")
	v.until("bar", "1.2k / 1k tokens")
	v.until("c-1-3", "budget used up")
	v.until("side-1", "1 thing waits for you")
	if got := r.offered("/plans/1", "over-budget"); got == "" {
		t.Error("a reload does not show it")
	}
	if !strings.Contains(textAt(t, r.page("/plans"), "plan-row"), "budget used up") {
		t.Error("the list of plans does not say it")
	}
	if a := r.form("/plans/1/settings", url.Values{"max_tokens": {"5000"}}, byHtmx); a.status != 204 {
		t.Fatal(a)
	}
	enginetest.Until(t, r.engine, id, "done", enginetest.Status(plan.StatusDone))
	if got := r.offered("/plans/1", "meter", "over-budget"); got != "meter" {
		t.Errorf("afterwards it shows %q", got)
	}
}
