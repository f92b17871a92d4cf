package handlers

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// studio is a server that takes snapshots, in a git repository. Its agent changes
// files, its critic finds fault when it is let go, its judge comes to no verdict.
type studio struct {
	*rig
	letGo chan struct{}
	dir   string
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	s := &studio{letGo: make(chan struct{}, 9), dir: t.TempDir()}
	s.rig = newRigWith(t, rigOptions{snapshots: true, agents: map[string]enginetest.Agent{"mock": s.work, "critic": s.criticise, "judge": s.judge}})
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = s.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	s.write("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n")
	for _, name := range []string{"critic", "judge"} {
		if _, err := s.engine.CreateProfile(context.Background(), engine.ProfileFields{Name: &name, Harness: &name}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *studio) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *studio) work(_ context.Context, t plugin.Task, _ plugin.Host) (plugin.Result, error) {
	for name, text := range map[string]string{
		"main.go":  "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tfmt.Fprintln(os.Stderr, \"<b>hello</b>\")\n}\n",
		"data.bin": "\x00\x01\x02", "long.txt": strings.Repeat("another line of a long file\n", 900), "notes.txt": "left behind\n"} {
		if err := os.WriteFile(filepath.Join(t.WorkDir, name), []byte(text), 0o644); err != nil {
			return plugin.Result{}, err
		}
	}
	return plugin.Result{Text: "did " + t.Title}, nil
}

func (s *studio) criticise(ctx context.Context, t plugin.Task, _ plugin.Host) (plugin.Result, error) {
	select {
	case <-s.letGo:
	case <-ctx.Done():
	}
	return plugin.Result{Text: "VERDICT: concerns\nSUMMARY: It works, but it writes to the **wrong** stream.\nFINDINGS:\n- `main.go:9` writes to standard error\n- notes.txt was left behind"}, nil
}

func (s *studio) judge(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
	return plugin.Result{Text: "I cannot say."}, nil
}

// submit makes a plan of one step and starts it.
func (s *studio) submit(policy string) plan.PlanID {
	s.t.Helper()
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Say hello", WorkingDirectory: s.dir, ReviewPolicy: policy},
		Nodes: []engine.NodeSpec{{Key: "a", Title: "Greet on the right stream", Files: []string{"main.go", "data.bin", "long.txt"}, AcceptanceCriteria: []string{"it greets", "nothing is left behind"}}}}
	out, err := s.engine.SubmitPlan(context.Background(), in)
	if err != nil {
		s.t.Fatal(err)
	}
	if policy == plan.PolicyGate {
		if _, err := s.engine.SetReviewAgent(context.Background(), out.PlanID, "judge"); err != nil {
			s.t.Fatal(err)
		}
	}
	s.start(out.PlanID, plan.Builtin)
	return out.PlanID
}

func TestTheTabChangesShowsWhatAStepChanged(t *testing.T) {
	s := newStudio(t)
	id := s.submit("")
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	doc := s.page("/plans/1/nodes/1?tab=changes")
	text := textAt(t, doc, "changes")
	for _, want := range []string{"Changed without saying so notes.txt added", "3 files", "main.go changed", "data.bin added", "A binary file", "long.txt added"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tab does not say %q:\n%.3000s", want, text)
		}
	}
	if !strings.Contains(strings.ReplaceAll(text, " ", ""), `fmt.Fprintln(os.Stderr,"<b>hello</b>")`) {
		t.Error("the tab does not show the new line")
	}
	if n := len(findAll(doc, "data-testid", "file-change")); n != 4 {
		t.Errorf("%d files", n)
	}
	a := s.do("GET", "/plans/1/nodes/1/patch?path=main.go", nil)
	if a.status != 200 || a.header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(string(a.body), "+\tfmt.Fprintln(os.Stderr, \"<b>hello</b>\")\n") {
		t.Errorf("the patch: %v %s", a.header, a)
	}
	for _, path := range []string{"/plans/1/nodes/1/patch?path=../x", "/plans/1/nodes/1/patch?run=7", "/plans/1/nodes/9/patch?path=main.go"} {
		if a := s.do("GET", path, nil); a.status != 404 {
			t.Errorf("GET %s: %d", path, a.status)
		}
	}
	s.page("/plans/1/nodes/1/full?tab=changes")
	s.page("/plans/1/nodes/1?tab=nonsense")
}

func TestAStepIsReviewedFromItsPage(t *testing.T) {
	s := newStudio(t)
	id := s.submit("")
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	if a := s.form("/plans/1/nodes/1/review", url.Values{}, byHtmx, "HX-Target: p#review-agent-error"); a.status != 400 || !strings.Contains(string(a.body), "no review agent") {
		t.Errorf("without an agent: %s", a)
	}
	if a := s.form("/plans/1/nodes/9/review", url.Values{"agent": {"critic"}}, byHtmx); a.status != 404 {
		t.Errorf("of nothing: %s", a)
	}
	v := s.watchLive(t, fmt.Sprintf("node:1.1@%[1]d,plan:1@%[1]d", s.now()))
	if a := s.form("/plans/1/nodes/1/review", url.Values{"agent": {"critic"}}, byHtmx); a.status != 204 {
		t.Fatalf("review: %s", a)
	}
	v.until("node-review", "being reviewed")
	s.letGo <- struct{}{}
	v.until("node-review", "<strong>wrong</strong>")
	v.until("c-1-1", "Review: concerns")
	text := textAt(t, s.page("/plans/1/nodes/1?tab=review"), "review")
	for _, want := range []string{"Review: concerns", "by critic", "Findings", "main.go:9"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tab does not say %q: %s", want, text)
		}
	}
	s.letGo <- struct{}{}
	if a := s.form("/plans/1/review", url.Values{"agent": {"critic"}}); a.status != 303 {
		t.Fatalf("of the plan, without scripts: %s", a)
	}
	v.until("bar", "Review: concerns")
	if a := s.form("/plans/1/settings", url.Values{"review_agent": {"critic"}}, byHtmx); a.status != 204 {
		t.Fatalf("set the review agent: %s", a)
	}
	if got, err := s.engine.Snapshot(context.Background(), 1); err != nil || got.Profiles[got.Root().ReviewProfile].Name != "critic" {
		t.Errorf("the review agent was not set: %v", err)
	}
	if a := s.form("/plans/1/settings", url.Values{"review_agent": {"nobody"}}, byHtmx); a.header.Get("HX-Retarget") != "#set-reviewer-error" {
		t.Errorf("an agent that is not there: %v %s", a.header, a)
	}
}

func TestAPersonDecidesWhereAJudgeCannot(t *testing.T) {
	s := newStudio(t)
	id := s.submit(plan.PolicyGate)
	r := plan.Ref{Plan: id, Node: 1}
	undecided := func(n *plan.Snapshot) bool { return n.Node(r).Phase == plan.PhaseNeedsPerson }
	enginetest.Until(t, s.engine, id, "undecided", undecided)
	if got := s.offered("/plans/1/nodes/1?tab=review", "decide", "accept", "judge-again", "act-rework", "ask-review"); got != "decide accept judge-again act-rework" {
		t.Errorf("it offers %q", got)
	}
	before := s.now()
	if a := s.form("/plans/1/nodes/1/judge", nil, byHtmx); a.status != 204 {
		t.Fatalf("judge again: %s", a)
	}
	enginetest.Until(t, s.engine, id, "undecided again", func(n *plan.Snapshot) bool { return undecided(n) && n.Seq > before })
	if a := s.form("/plans/1/nodes/1/accept", url.Values{"note": {"good enough"}}, byHtmx); a.status != 204 {
		t.Fatalf("accept: %s", a)
	}
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	for _, action := range []string{"accept", "judge"} {
		if a := s.form("/plans/1/nodes/1/"+action, nil, byHtmx); a.status != 400 {
			t.Errorf("%s again: %s", action, a)
		}
	}
}

// TestReviewScreens takes pictures of changes and reviews.
func TestReviewScreens(t *testing.T) {
	if os.Getenv("CLEARBOX_SCREENS") == "" {
		t.Skip("CLEARBOX_SCREENS names no folder for pictures")
	}
	b := openBrowser(t)
	s := newStudio(t)
	id := s.submit("")
	enginetest.Until(t, s.engine, id, "done", enginetest.Status(plan.StatusDone))
	s.write("main.go", "package other\n")
	if err := s.engine.ReworkNode(context.Background(), plan.Ref{Plan: id, Node: 1}, "Greet on the right stream."); err != nil {
		t.Fatal(err)
	}
	enginetest.Until(t, s.engine, id, "done twice", func(n *plan.Snapshot) bool {
		return n.Status(id) == plan.StatusDone && n.Node(plan.Ref{Plan: id, Node: 1}).Attempts == 2
	})
	s.letGo <- struct{}{}
	s.letGo <- struct{}{}
	for _, r := range []plan.Ref{{Plan: id, Node: 1}, {Plan: id}} {
		if _, err := s.engine.Review(context.Background(), r, "critic"); err != nil {
			t.Fatal(err)
		}
	}
	gated := s.submit(plan.PolicyGate)
	enginetest.Until(t, s.engine, gated, "undecided", func(n *plan.Snapshot) bool {
		return n.Node(plan.Ref{Plan: gated, Node: 1}).Phase == plan.PhaseNeedsPerson
	})
	p := b.tab(t, s.url)
	p.ignore("sandboxed") // what a report may not run is told on the console
	for _, size := range screenSizes() {
		p.size(size.w, size.h)
		for _, dark := range []bool{false, true} {
			p.dark(dark)
			name := size.name(dark)
			for page, path := range map[string]string{"changes": "1/nodes/1?tab=changes", "changes-full": "1/nodes/1/full?tab=changes", "new-file": "new?by=file", "review": "1/nodes/1?tab=review", "attempts": "1/nodes/1/full?tab=review", "inbox-gate": "../inbox", "gate": "2/nodes/1?tab=review"} {
				p.open("/plans/" + path)
				p.until("the connection is up", `document.querySelector('#lost').hidden`)
				p.shoot(page + "-" + name)
			}
			p.open("/api/plans/1/export.html")
			p.shoot("report-" + name)
			p.open("/plans/1?view=list")
			p.click("[data-testid=plan-review] > summary")
			p.shoot("plan-review-" + name)
			p.press(keyEscape)
			p.click("[aria-label='More for this plan']")
			p.shoot("plan-menu-" + name)
		}
	}
}
