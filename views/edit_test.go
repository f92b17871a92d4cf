package views

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestAStepsFormIsSafeAndNamed(t *testing.T) {
	const nasty = `<img src=x onerror=owned()>"'</textarea><b>`
	s := tree(func(n map[string]*plan.Node) {
		for _, one := range n {
			one.Title, one.Description, one.Criteria, one.CheckCommand = nasty, nasty, []string{nasty}, nasty
			one.Files = []plan.File{{Path: nasty, Key: nasty}}
		}
	})
	for node := plan.NodeID(1); node <= 5; node++ {
		doc, err := html.Parse(strings.NewReader(tabOf(t, s, node, TabEdit)))
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
			case "img", "b", "script":
				t.Errorf("step %d: the text became an element <%s>", node, n.Data)
			case "textarea", "select", "input":
				if attr(n, "type") != "hidden" && attr(n, "aria-label") == "" && !labels[attr(n, "id")] {
					t.Errorf("step %d: %s has no label", node, attr(n, "id"))
				}
			}
		})
	}
}

func TestWhatHasStartedIsFixed(t *testing.T) {
	s := tree(nil)
	out := tabOf(t, s, 1, TabEdit) // it is done
	says(t, out, "Fixed: the step has started.", `id="edit-kind" name="kind" disabled`, "counts at its next start")
	if strings.Contains(out, "remove-step") || strings.Contains(out, "order-after-add") {
		t.Error("what has started can be removed or made to wait")
	}
	says(t, tabOf(t, s, 5, TabEdit), "remove-step", "order-after-add")
}

func TestAnEditSaysWhatItMeansForTheApproval(t *testing.T) {
	s := tree(nil)
	for state, want := range map[plan.Approval]string{plan.Awaiting: "makes its next revision", plan.Approved: "asks for approval again"} {
		s.Root().Approval = state
		says(t, tabOf(t, s, 5, TabEdit), want)
	}
}

func TestWhatWasSeenChangesWithEachField(t *testing.T) {
	was := Seen(&plan.Node{})
	for name, n := range map[string]*plan.Node{"title": {Title: "x"}, "criteria": {Criteria: []string{"x"}}, "files": {Files: []plan.File{{Path: "x"}}},
		"agent": {Profile: 1}, "estimate": {EstimateMinutes: 1}, "check": {CheckCommand: "x"}, "isolation": {Isolation: "none"}} {
		if Seen(n) == was {
			t.Errorf("%s makes no difference", name)
		}
	}
	if Seen(&plan.Node{State: plan.Running, Attempts: 7}) != was {
		t.Error("what nobody edits makes a difference")
	}
}

func TestAttemptsStandSideBySide(t *testing.T) {
	s := tree(nil)
	exit := 1
	runs := []plan.Run{{ID: "a", Number: 1, Kind: plan.RunStep, Outcome: plan.OutcomeDone}, {ID: "j", Number: 2, Kind: plan.RunJudge, Outcome: plan.OutcomeDone},
		{ID: "b", Number: 3, Kind: plan.RunStep, Outcome: plan.OutcomeDone}}
	judged := []plan.Review{{ID: 1, State: plan.ReviewDone, JudgedRun: "a", Verdict: plan.VerdictConcerns, Summary: "it does not build", CheckExit: &exit,
		Criteria: []plan.Finding{{Number: 1, Verdict: plan.Unmet, Evidence: "a.go:3"}}}, {ID: 2, State: plan.ReviewDone, JudgedRun: "b", Verdict: plan.VerdictOK, Summary: "fine"}}
	in := DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: 1}, Place: Place{Plan: 1, Tab: TabReview}, Runs: runs, Judgements: judged,
		AttemptDiffs: map[plan.RunID][]plan.FileDiff{"a": {{Path: "a b.go", Added: 3, Diff: "x"}}}}
	out := render(t, DrawerView(NewDrawer(in)))
	says(t, out, "Attempt 1", "Attempt 2", "Not passed", "exit code 1", "1: unmet", "a.go:3", "it does not build", "#run-3", "/patch?run=1&amp;path=a+b.go", "No changes kept.")
	if strings.Contains(out, "Attempt 3") {
		t.Error("a judge counts as an attempt")
	}
	in.Runs = runs[:2]
	if out := render(t, DrawerView(NewDrawer(in))); strings.Contains(out, `data-testid="attempts"`) {
		t.Error("one attempt stands beside itself")
	}
}
