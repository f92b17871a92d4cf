package prompt

import (
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
)

type reviewCase struct{ name, got string }

func reviewCases() []reviewCase {
	text := func(s string) *string { return &s }
	root := &plan.Plan{ID: 3, Title: "A faster parser", Description: "Parse twice as fast, same results."}
	node := &plan.Node{PlanID: 3, ID: 2, Title: "Use a table", Description: "Replace the switch by a table.",
		State: plan.Done, Result: text("Done. VERDICT: ok"), Criteria: []string{"all tests pass"}, Files: []plan.File{{Path: "parse.go"}}}
	diff := Diff{Changed{"parse.go", "changed", 1, 1}, "--- a/parse.go\n+++ b/parse.go\n@@ -1 +1 @@\n-old\n+new with ``` in it\n"}
	failed := &plan.Node{PlanID: 3, ID: 4, Title: "Measure", State: plan.Failed, Error: text("no benchmark")}
	return []reviewCase{
		{"review", Review(ReviewInput{Root: root, Node: node, Diffs: []Diff{diff}})},
		{"review-undeclared", Review(ReviewInput{Root: root, Node: node, Undeclared: []Diff{{Changed{"go.mod", "changed", 1, 0}, "+x\n"},
			{Changed: Changed{Path: "big\nname", How: "added", Added: 9}}}})},
		{"review-failed", Review(ReviewInput{Root: root, Node: failed})},
		{"review-plan", PlanReview(PlanReviewInput{Plan: root, Steps: []ReviewedStep{{Node: node, Review: &plan.Review{Verdict: plan.VerdictConcerns,
			Summary: "The table is built at each call."}}, {Node: failed}}})},
		{"judge", Judge(JudgeInput{ReviewInput: ReviewInput{Root: root, Node: node, Diffs: []Diff{diff}}, Missing: []string{"table.go"},
			Check: &Check{"go test ./...", 1, "FAIL parse"}, Fault: "criterion 1 is not judged"})},
		{"judge-without-criteria", Judge(JudgeInput{ReviewInput: ReviewInput{Root: root, Node: failed}})},
		{"judge-system", JudgeSystem(ReviewerInput{TestInstructions: "Run `make test`.", Port: 8765})},
		{"gate-brief", GateBrief(node, plan.Judgement{Reason: "The table is built wrongly.", Criteria: []plan.Finding{{Number: 1, Verdict: plan.Unmet,
			Evidence: "parse_test.go:7 fails"}}}, &Check{"go test ./...", 1, "FAIL parse"}) + "\n"},
		{"planner", Planner(PlannerInput{Goal: "Add a health endpoint.", Constraints: "No new dependency."})},
		{"planner-again", Planner(PlannerInput{Goal: "Add a health endpoint.", Proposal: `{"title":"Health"}`, Feedback: []string{"Fewer steps.", "Name the file."},
			Problems: []string{"node 'a': acceptance_criteria must not be empty"}})},
		{"planner-system", PlannerSystem(PlannerInput{MaxNodes: 40, Tools: true})},
		{"planner-system-without-tools", PlannerSystem(PlannerInput{MaxNodes: 40})},
		{"reviewer", Reviewer(ReviewerInput{TestInstructions: "Run `make test`.", Port: 8765, Append: "Answer in English."})},
		{"reviewer-of-plan", Reviewer(ReviewerInput{OfPlan: true})},
	}
}

func TestReviewPrompts(t *testing.T) {
	for _, c := range reviewCases() {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, c.got) })
	}
}

func TestHugeDiffsAreCutForAReviewer(t *testing.T) {
	in := ReviewInput{Root: &plan.Plan{Title: "t"}, Node: &plan.Node{PlanID: 1, ID: 1, State: plan.Done}}
	for range 30 {
		in.Diffs = append(in.Diffs, Diff{Changed{"f", "changed", 1, 1}, strings.Repeat("+line of a diff\n", 5000)})
	}
	got := Review(in)
	if len(got) > maxDiffs*2 || !strings.Contains(got, "[cut here") || !strings.Contains(got, "left out: read the file") {
		t.Errorf("the prompt has %d bytes; it should be bounded and say what is missing", len(got))
	}
}
