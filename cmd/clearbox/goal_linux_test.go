package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

const goalRepo = "../../examples/goal/repo"

// person is somebody at a browser.
type person struct {
	t    testing.TB
	ctx  context.Context
	base string
}

func newPerson(t testing.TB, base string) *person {
	t.Helper()
	path := chromium()
	if path == "" && os.Getenv("CLEARBOX_REQUIRE_BROWSER") != "" {
		t.Fatal("no Chromium was found, and CLEARBOX_REQUIRE_BROWSER is set")
	}
	if path == "" {
		t.Skip("no Chromium was found: install one, or set CLEARBOX_CHROMIUM to its path")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1440, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, quit := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		quit()
		stop()
	})
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // the browser lives as long as the context of its first step
		t.Fatalf("start %s: %v", path, err)
	}
	return &person{t, ctx, base}
}

func chromium() string {
	for _, name := range []string{os.Getenv("CLEARBOX_CHROMIUM"), "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

func (p *person) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func (p *person) open(path string) {
	p.t.Helper()
	p.do("open "+path, chromedp.Navigate(p.base+path))
}

// sees waits until an expression is true on the page.
func (p *person) sees(what, expression string) {
	p.t.Helper()
	await(p.t, what, func() bool {
		yes, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		return err == nil && yes
	})
}

func (p *person) has(selector string) {
	p.t.Helper()
	p.sees(selector, fmt.Sprintf("document.querySelector(%q)?.checkVisibility({visibilityProperty: true})", selector))
}

func (p *person) reads(selector, words string) {
	p.t.Helper()
	p.sees(selector+" says "+words, fmt.Sprintf("document.querySelector(%q)?.innerText?.includes(%q)", selector, words))
}

func (p *person) click(selector string) {
	p.t.Helper()
	p.has(selector)
	p.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

func (p *person) write(selector, text string) {
	p.t.Helper()
	p.has(selector)
	p.do("write into "+selector, chromedp.SendKeys(chromedp.CSS(selector), text))
}

func (p *person) choose(selector, value string) {
	p.t.Helper()
	p.sees("choose in "+selector, fmt.Sprintf("(e => { if (e) e.value = %q; return e?.value === %q; })(document.querySelector(%q))", value, value, selector))
}

// goalModel starts the model of the example and returns its address.
func goalModel(t *testing.T) string {
	t.Helper()
	return startModel(t, "goal-model")
}

// service copies the example's service into a repository of its own.
func service(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "service")
	if err := os.CopyFS(dir, os.DirFS(goalRepo)); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"init --quiet", "add --all", "-c user.name=e -c user.email=e@localhost -c commit.gpgsign=false commit --quiet -m found"} {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, strings.Fields(args)...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return dir
}

// A goal is planned, looked at, edited and approved in a browser, and carried out
// with real edits and real tests. One step passes its gate at the third attempt, one
// never does.
func TestAGoalIsApprovedInTheBrowserAndCarriedOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--harness-dir", program(t, more), "--openai-base-url", goalModel(t), "--openai-model", "scripted-model")
	dir := service(t)
	p := newPerson(t, r.url())
	p.open("/plans/new")
	p.write("#new-goal", "Add a health endpoint with tests to this small Go service.")
	p.write("#new-dir", dir)
	p.choose("#new-agent", "openai")
	p.click("[data-testid=new-submit]")
	p.reads("[data-testid=approval-awaiting]", "Waiting for your approval")
	p.reads("[data-testid=shell-warning]", "your own rights")
	p.click("[aria-label='More for this plan']")
	p.click("[data-dialog=settings]")
	p.write("#set-check", "go test ./...")
	p.choose("#set-isolation", "worktree")
	p.choose("#set-agent", "openai")
	p.click("[data-testid=settings-save]")
	p.reads("[data-testid=proposal-facts]", "go test ./...")
	p.open("/plans/1/nodes/4?tab=edit")
	p.write("#edit-description", " Keep it short.")
	p.click("[data-testid=edit-save]")
	p.reads("[data-testid=task]", "Keep it short.")
	p.click("[data-testid=approve-start]")
	p.sees("the tests of the endpoint pass at last", `document.querySelector('#c-1-3.s-done')`)
	p.sees("the counter does not", `document.querySelector('#c-1-5.s-failed')`)
	p.sees("what depends on it is skipped", `document.querySelector('#c-1-6.s-skipped')`)
	p.sees("the other branch finishes", `document.querySelector('#c-1-4.s-done')`)
	p.open("/plans/1/nodes/3?tab=review")
	p.sees("three attempts stand side by side", `document.querySelectorAll('[data-testid=attempt]').length === 3`)
	p.reads("[data-testid=attempts]", "405 is not tested")
	p.open("/plans/1/nodes/6")
	p.reads("[data-testid=skipped]", "Count the requests")
	p.open("/plans/1/nodes/0?tab=session")
	p.sees("the planner was refused once", `document.querySelector('[data-testid=log]')?.textContent.includes('acceptance_criteria must not be empty')`)
	checkGoal(r, dir)
}

// checkGoal looks at what came of the goal.
func checkGoal(r *rig, dir string) {
	r.t.Helper()
	var got []string
	for _, n := range r.plan(1).Nodes {
		var page struct {
			Node struct {
				Attempts int `json:"attempts"`
			} `json:"node"`
		}
		r.get(fmt.Sprintf("/api/plans/1/nodes/%d", n.NodeID), &page)
		got = append(got, fmt.Sprintf("%s %d", n.Status, page.Node.Attempts))
	}
	if d := cmp.Diff([]string{"done 1", "done 1", "done 3", "done 1", "failed 3", "skipped 0"}, got); d != "" {
		r.t.Errorf("the steps (-want +got):\n%s", d)
	}
	var prompts []string
	for k := range 6 {
		var run struct{ Kind, Prompt string }
		r.get(fmt.Sprintf("/api/plans/1/nodes/3/runs/%d", k+1), &run)
		if run.Kind == "step" {
			prompts = append(prompts, run.Prompt)
		}
	}
	if len(prompts) != 3 || !strings.Contains(prompts[1], "exit code 1") || !strings.Contains(prompts[1], `"status":"ok"`) || !strings.Contains(prompts[2], "405 is not tested") {
		r.t.Errorf("the prompts of the three attempts lack what the gates found: %q", prompts)
	}
	files := filesOf(r.t, dir)
	if _, there := files["metrics.go"]; there || !strings.Contains(files["README.md"], "GET /health") {
		r.t.Error("what did not pass was applied, or what passed was not")
	}
	cmd := exec.Command("go", "test", "-v", "-count=1", "./...")
	cmd.Dir, cmd.Env = dir, append(cleanEnv(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestHealthRefusesOtherMethods") {
		r.t.Errorf("%v\n%s", err, out)
	}
	var rev struct {
		Revisions []struct{ Author, Decided string }
	}
	r.get("/api/plans/1/revisions", &rev)
	last := rev.Revisions[len(rev.Revisions)-1]
	if len(rev.Revisions) < 3 || rev.Revisions[0].Author != "planner" || last.Author != "person" || last.Decided != "approved" {
		r.t.Errorf("revisions %+v", rev.Revisions)
	}
}
