package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const smallPlan = `title: Mend the parser
nodes:
  - key: 1
    title: 1.10
    description: |
      ` + "```mock" + `
      result mended
      ` + "```" + `
    files: [parser.go]
  - key: look
    kind: user
    title: Look at it
  - key: docs
    title: Describe it
    description: "` + "```mock\\nresult described\\n```" + `"
    results_from: [1]
edges:
  - [1, docs]
  - [look, docs]
`

func TestAPlanIsPostedAndSteeredFromATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	d.fine([]string{"plan", "list"}, "no plan yet")
	d.fine([]string{"status"}, "Clearbox "+version, r.url(), "No plan is under way")
	d.write("plan.yaml", smallPlan)
	d.fine([]string{"plan", "submit", "plan.yaml"}, "Plan 1 with 3 steps", r.url()+"/plans/1", "clearbox plan start 1")
	d.fine([]string{"plan", "show", "1"}, "Mend the parser", "not started", "3 pending", d.dir, "1.1  1.10", "1.3  Describe it")
	d.fine([]string{"plan", "start", "1"}, "Started plan 1")
	r.awaitStep(1, 1, "done")
	d.fine([]string{"plan", "list"}, "1  waits for you   1/3", "Mend the parser")
	d.fine([]string{"status"}, "1  running  1/3  Mend the parser", "waiting for you", "1.2  Look at it", "clearbox plan done 1.2")
	d.fine([]string{"plan", "show", "1.1"}, "done", "mock", "parser.go", "mended", "result mended")
	d.fine([]string{"plan", "done", "1.2", "--result", "looks good"}, "Step 1.2 is done")
	r.awaitPlan(1, "done")
	if got := r.step(1, 2).Result; got != "looks good" {
		t.Errorf("the step's result is %q", got)
	}
	d.fine([]string{"status"}, "No plan is under way; there are 1 in all")
	d.fine([]string{"plan", "delete", "1", "--yes"}, "Deleted plan 1", "Mend the parser", "3 steps")
	checkRefused(t, d.run("plan", "show", "1"), 1, "no plan 1")
}

func TestPlansForPrograms(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	o := d.feed(`{"title": "From a pipe", "nodes": [{"key": "a", "title": "Yours", "kind": "user"}]}`, "plan", "submit", "-", "--json", "--start")
	checkFine(t, o)
	made := parseJSON[struct {
		PlanID int `json:"plan_id"`
		Nodes  map[string]int
	}](t, o.out)
	if diff := cmp.Diff(map[string]int{"a": 1}, made.Nodes); diff != "" || made.PlanID != 1 {
		t.Errorf("plan %d was made (-want +got):\n%s", made.PlanID, diff)
	}
	list := parseJSON[[]planBrief](t, d.fine([]string{"plan", "list", "--json"}))
	if len(list) != 1 || list[0].Title != "From a pipe" || !list[0].Started || list[0].WorkingDirectory != d.dir {
		t.Errorf("the list is %+v", list)
	}
	if v := parseJSON[planPage](t, d.fine([]string{"plan", "show", "1", "--json"})); v.Progress.Waiting != 1 || len(v.Nodes) != 1 {
		t.Errorf("the plan is %+v", v)
	}
	if v := parseJSON[struct{ Node stepView }](t, d.fine([]string{"plan", "show", "1.1", "--json"})); v.Node.Title != "Yours" {
		t.Errorf("the step is %+v", v)
	}
	all := parseJSON[overall](t, d.fine([]string{"status", "--json"}))
	want := overall{Server: serverInfo{r.url(), version}, Plans: []planSummary{{ID: 1, Title: "From a pipe", Status: "running", Started: true, Total: 1}},
		Active: []stepRef{}, Waiting: []stepRef{{1, 1, "Yours", ""}}, Questions: []question{}}
	if diff := cmp.Diff(want, all, cmp.AllowUnexported(overall{}, planSummary{})); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	o = d.feed("a link\n", "plan", "done", "1.1", "--result", "-")
	checkFine(t, o)
	if got := r.step(1, 1).Result; got != "a link" {
		t.Errorf("the result is %q", got)
	}
}

func TestStepsAreStoppedAndRetriedFromATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	id, dir := r.play(lines("@1 fail no luck", "result the end"), lines("@1 fail no luck", "result the end"), lines(until("go"), "result the end"))
	r.awaitStep(id, 1, "failed")
	r.awaitStep(id, 2, "failed")
	d.fine([]string{"plan", "retry", "1.1"}, "Retrying step 1.1")
	r.awaitStep(id, 1, "done")
	d.fine([]string{"plan", "retry", "1"}, "Retrying 1 failed step of plan 1")
	r.awaitStep(id, 2, "done")
	r.awaitStep(id, 3, "running")
	d.fine([]string{"plan", "stop", "1.3"}, "Stopped step 1.3")
	if v := r.awaitStep(id, 3, "failed"); v.Error != "stopped by user" {
		t.Errorf("the step failed with %q", v.Error)
	}
	d.fine([]string{"plan", "retry", "1.3"}, "Retrying")
	r.awaitStep(id, 3, "running")
	d.fine([]string{"plan", "stop", "1"}, "Stopped plan 1", "clearbox plan start 1")
	r.awaitStep(id, 3, "pending")
	touch(t, dir, "go")
	d.fine([]string{"plan", "start", "1", "--executor", "builtin"}, "Started")
	r.awaitPlan(id, "done")
	checkRefused(t, d.run("plan", "retry", "1.1"), 1, "only a failed step")
}

func TestQuestionsAreAnsweredFromATerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	d.fine([]string{"questions"}, "No agent asks")
	id, _ := r.play(lines("ask may I begin?", "ask may I end?", "result the end"))
	r.awaitQuestion("may I begin?")
	d.fine([]string{"questions"}, "1.1", "may I begin?")
	d.fine([]string{"status"}, "asked of you", "may I begin?", "clearbox answer 1.1 allow|deny")
	checkRefused(t, d.run("answer", "1.1", "perhaps"), 2, `"perhaps"`, "allow or deny")
	checkRefused(t, d.run("answer", "1.2", "allow"), 1, `"1.2"`, "clearbox questions")
	d.fine([]string{"answer", "1.1", "deny", "--message", "not yet"}, "Told the agent of step 1.1: deny")
	r.awaitQuestion("may I end?")
	asked := parseJSON[[]question](t, d.fine([]string{"plan", "questions", "--json"}))
	if len(asked) != 1 || asked[0].Text != "may I end?" {
		t.Fatalf("these are asked: %+v", asked)
	}
	d.fine([]string{"answer", asked[0].ID, "allow"}, "allow")
	r.awaitPlan(id, "done")
	r.awaitText(id, 1, 1, "answer: refused: not yet")
	checkRefused(t, d.run("answer", asked[0].ID, "allow"), 1, "no open question")
}

// awaitQuestion waits until an agent asks something.
func (r *rig) awaitQuestion(text string) {
	r.t.Helper()
	await(r.t, "an agent asks "+text, func() bool {
		var list []question
		r.get("/api/questions", &list)
		return len(list) == 1 && list[0].Text == text
	})
}

func TestWrongWordsAboutPlansAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	for _, tt := range []struct {
		args  string
		code  int
		parts []string
	}{
		{"plan", 2, []string{"submit", "clearbox plan --help"}},
		{"plan sbumit", 2, []string{`"sbumit"`, `did you mean "submit"`}},
		{"pla list", 2, []string{`"pla"`, `did you mean "plan"`}},
		{"plan show", 2, []string{"needs PLAN|STEP"}},
		{"plan show 1 2", 2, []string{`"2"`}},
		{"plan show one", 2, []string{`"one"`, "clearbox plan list"}},
		{"plan show 1.x", 2, []string{`"1.x"`, "3.2"}},
		{"plan show -1", 2, []string{"--1"}},
		{"plan show 9", 1, []string{"no plan 9"}},
		{"plan show 9.1", 1, []string{"9"}},
		{"plan start 9", 1, []string{"no plan 9"}},
		{"plan start 1.2", 2, []string{`"1.2"`}},
		{"plan stop 9", 1, []string{"no plan 9"}},
		{"plan stop 9.1", 1, []string{"9"}},
		{"plan retry 9", 1, []string{"no plan 9"}},
		{"plan done 9", 2, []string{"needs a step"}},
		{"plan done 9.1", 1, []string{"9"}},
		{"plan delete 9", 1, []string{"no plan 9"}},
		{"plan export 9", 1, []string{"no plan 9"}},
		{"plan watch 9", 1, []string{"no plan 9"}},
		{"plan list --colour", 2, []string{"--colour", "clearbox plan list --help"}},
		{"plan list --server nonsense", 2, []string{"--server", `"nonsense"`}},
		{"plan list --server ftp://127.0.0.1", 2, []string{"--server", "ftp"}},
		{"plan list --server http://me:secret@127.0.0.1", 2, []string{"--server", "--token-file"}},
		{"plan list --port 0", 2, []string{"--port", "0"}},
		{"plan submit nowhere.yaml", 1, []string{"nowhere.yaml"}},
		{"questions extra", 2, []string{`"extra"`}},
		{"answer 1.1", 2, []string{"allow|deny"}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			checkRefused(t, d.run(strings.Fields(tt.args)...), tt.code, tt.parts...)
		})
	}
}

func TestWithoutAServerEveryCommandSaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("plan.yaml", smallPlan)
	for _, args := range []string{"status", "plan list", "plan show 1", "plan start 1", "plan submit plan.yaml", "plan watch 1", "plan export 1",
		"plan delete 1 --yes", "questions", "answer 1.1 allow", "harness list"} {
		t.Run(args, func(t *testing.T) {
			checkRefused(t, d.run(strings.Fields(args)...), 1, d.url(), "clearbox ensure", "--server")
		})
	}
}

func TestAPlanIsDeletedOnlyWhenThatIsMeant(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	id := r.submit(graph{Title: "Precious", WorkingDirectory: t.TempDir()})
	checkRefused(t, d.run("plan", "delete", "1"), 2, "--yes")
	r.plan(id)
}

func TestAnExportIsWrittenWhereTheServerHasOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	id := r.submit(graph{Title: "To export", WorkingDirectory: t.TempDir(), Nodes: []node{{Key: "a", Title: "Only"}}})
	status, want, err := r.ask("GET", fmt.Sprintf("/api/plans/%d/export.md?diffs=false", id), nil)
	if err != nil {
		t.Fatal(err)
	}
	if status == 404 {
		checkRefused(t, d.run("plan", "export", "1"), 1, "cannot export plans")
		return
	}
	if got := d.fine([]string{"plan", "export", "1", "--no-diffs"}); got != string(want) {
		t.Errorf("it printed %q, want %q", got, want)
	}
	d.fine([]string{"plan", "export", "1", "--no-diffs", "--out", "plan.md"}, "Wrote plan 1 to plan.md")
	if b, err := os.ReadFile(filepath.Join(d.dir, "plan.md")); err != nil || !bytes.Equal(b, want) {
		t.Errorf("the file has %q, %v", b, err)
	}
	checkRefused(t, d.run("plan", "export", "1", "--out", "no/such/folder.md"), 1, "no/such/folder.md")
	checkRefused(t, d.run("plan", "export", "1", "--format", "pdf"), 2, "pdf")
	d.fine([]string{"plan", "export", "1", "--out", "plan.html"}, "Wrote plan 1 to plan.html")
	if b, err := os.ReadFile(filepath.Join(d.dir, "plan.html")); err != nil || !bytes.HasPrefix(b, []byte("<!DOCTYPE html>")) {
		t.Errorf("the report begins with %.80q, %v", b, err)
	}
	// A template that goes back in is the same plan.
	template := d.fine([]string{"plan", "export", "1", "--format", "json"})
	for i, name := range []string{"plan.json", "plan.yaml"} {
		d.fine([]string{"plan", "export", "1", "--out", name}, "Wrote plan 1 to "+name)
		d.fine([]string{"plan", "submit", name}, fmt.Sprintf("Plan %d with 1 step", i+2))
		if again := d.fine([]string{"plan", "export", fmt.Sprint(i + 2), "--format", "json"}); again != template {
			t.Errorf("%s came back as\n%s\nand went out as\n%s", name, again, template)
		}
	}
}

// What is no Clearbox is not taken for one, and does not steer the terminal.
func TestAStrangeServerIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := impostor(t, version)
	d := &desk{t: t, dir: t.TempDir(), data: t.TempDir()}
	d.env = append(cleanEnv(), "XDG_DATA_HOME="+d.data, "CLEARBOX_URL="+s.URL)
	checkRefused(t, d.run("plan", "list"), 1, "404")
	checkRefused(t, d.run("questions"), 1, "404")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t, "clearbox"), "plan", "show", "1", "--server", "http://no-such-host.invalid")
	cmd.Env = d.env
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no answer from http://no-such-host.invalid") {
		t.Errorf("%v: %s", err, out)
	}
}
