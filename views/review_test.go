package views

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// reviewed is a tree with a verdict on its first step and on the whole.
func reviewed() *plan.Snapshot {
	s := tree(nil)
	first, whole := plan.Ref{Plan: 1, Node: 1}, plan.Ref{Plan: 1}
	s.Reviews[first] = &plan.Review{ID: 1, PlanID: 1, NodeID: 1, Kind: plan.KindReview, Verdict: plan.VerdictConcerns, Summary: "It **leaks**.",
		Findings: ptr("- cache.go:3"), AgentName: "critic", CreatedAt: 1500}
	s.Reviews[whole] = &plan.Review{ID: 2, PlanID: 1, Kind: plan.KindReview, Verdict: plan.VerdictOK, Summary: "reached", AgentName: "critic", CreatedAt: 1600}
	s.Root().ReviewProfile = 2
	return s
}

func reviewTab(t *testing.T, s *plan.Snapshot, node plan.NodeID, judgements ...plan.Review) string {
	return tabOf(t, s, node, TabReview, judgements...)
}

func tabOf(t *testing.T, s *plan.Snapshot, node plan.NodeID, tab string, judgements ...plan.Review) string {
	t.Helper()
	in := DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: node}, Place: Place{Plan: 1, Tab: tab}, Judgements: judgements}
	return render(t, DrawerView(NewDrawer(in)))
}

func says(t *testing.T, out string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("it has no %s", want)
		}
	}
}

func TestAReviewIsShownWithAllThatItSays(t *testing.T) {
	says(t, reviewTab(t, reviewed(), 1), `data-testid="verdict"`, "Review: concerns", "<strong>leaks</strong>", "<li>cache.go:3</li>", "critic", "The plan&#39;s: cheap", "Review again")
	s := tree(nil)
	says(t, reviewTab(t, s, 1), "Nobody has reviewed it", "Choose an agent", "required", "Review now")
	if out := reviewTab(t, s, 5); strings.Contains(out, "ask-review") || !strings.Contains(out, "when it is finished") {
		t.Error("a step that has not run can be reviewed")
	}
	s.Reviewing[plan.Ref{Plan: 1, Node: 1}] = &plan.Review{State: plan.ReviewRunning, AgentName: "critic"}
	says(t, reviewTab(t, s, 1), `data-testid="reviewing"`, "being reviewed by critic")
	s.Reviewing[plan.Ref{Plan: 1, Node: 1}].State = plan.ReviewQueued
	says(t, reviewTab(t, s, 1), "waiting for a free agent")
}

func TestAReworkBeginsWithWhatAReviewFound(t *testing.T) {
	says(t, tabOf(t, reviewed(), 1, TabTask), "It **leaks**.", "- cache.go:3</textarea>")
}

func TestAGateShowsItsCriteriaAndTheWaysOn(t *testing.T) {
	s := tree(func(n map[string]*plan.Node) {
		n["1.2"].Phase, n["1.2"].Criteria = plan.PhaseNeedsPerson, []string{"no panics", "it is fast", "it is small"}
	})
	r := plan.Ref{Plan: 1, Node: 2}
	exit := 2
	last := plan.Review{ID: 9, PlanID: 1, NodeID: 2, Kind: plan.KindJudge, State: plan.ReviewDone, Verdict: plan.VerdictError, Summary: "no reply", CheckExit: &exit, CheckText: "FAIL x",
		Criteria: plan.FindingList{{Number: 1, Verdict: plan.Met, Evidence: "seen"}, {Number: 2, Verdict: plan.Unmet, Evidence: "a.go:7"}, {Number: 3, Verdict: plan.Unknown}}}
	s.Judged[r] = &last
	before := last
	before.ID, before.Verdict, before.Summary = 8, plan.VerdictConcerns, "too slow"
	out := reviewTab(t, s, 2, before, last)
	says(t, out, `data-testid="decide"`, `data-testid="accept"`, `data-testid="judge-again"`, `data-testid="judgement"`, "No verdict", "no panics", "met", "unmet", "unknown",
		"a.go:7", "exit code 2", "FAIL x", `data-testid="judged-before"`, "Not passed", "too slow", `data-testid="rework-form"`)
	if n := strings.Count(out, "no reply"); n != 1 {
		t.Errorf("the last judgement is shown %d times", n)
	}
	s.Judging[r] = &plan.Review{State: plan.ReviewCheck}
	says(t, reviewTab(t, s, 2), `data-testid="judging"`, "its check command runs")
}

func TestVerdictsAreMarkedOnStepsAndPlans(t *testing.T) {
	for _, at := range []Place{{Plan: 1}, {Plan: 1, View: ViewList}} {
		p := planPage(reviewed(), at)
		out := render(t, PlanView(p))
		if n := strings.Count(out, `aria-label="Review: concerns"`); n != 1 {
			t.Errorf("%d marks of a review, want one", n)
		}
		says(t, out, `data-testid="plan-review"`, "Review: ok", "reached", "/api/plans/1/export.md?download=1&amp;diffs=false", `<option value="cheap" selected>`, `action="/plans/1/review"`)
	}
	if out := render(t, PlanView(planPage(tree(nil), Place{Plan: 1}))); strings.Contains(out, `data-testid="plan-review"`) || strings.Contains(out, "review-mark") {
		t.Error("a plan without a review shows one")
	}
}

func TestHostileChangesAndReviewsAreText(t *testing.T) {
	const bad = `<img src=x onerror=owned()><script>owned()</script>"'><b onclick=owned()>`
	s := reviewed()
	r := plan.Ref{Plan: 1, Node: 1}
	n := s.Node(r)
	n.Undeclared, n.Criteria, n.RunID = []string{bad}, []string{bad}, "r"
	for _, v := range s.Reviews {
		v.Summary, v.Findings, v.AgentName = bad, ptr(bad), bad
	}
	exit := 1
	s.Judged[r] = &plan.Review{ID: 4, Verdict: plan.VerdictConcerns, Summary: bad, AgentName: bad, CheckExit: &exit, CheckText: bad, Criteria: plan.FindingList{{Number: 1, Verdict: bad, Evidence: bad}}}
	s.Profiles[2].Name = bad
	in := DrawerInput{Snapshot: s, Node: r, Place: Place{Plan: 1}, Runs: []plan.Run{{ID: "r", LeftOut: plan.LeftOutList{{Path: bad, Why: bad}}}},
		Diffs: []plan.FileDiff{{Path: bad, Declared: true, Note: bad, Diff: "@@ -1 +1 @@ " + bad + "\n-" + bad + "\n+" + bad + "\n"}}}
	pages := []string{render(t, PlanView(planPage(s, Place{Plan: 1})))}
	for _, tab := range []string{TabTask, TabChanges, TabReview} {
		in.Place.Tab = tab
		pages = append(pages, render(t, NodePage(NewDrawer(in))))
	}
	for _, page := range pages {
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		walk(doc, func(n *html.Node) {
			id := attr(n, "id")
			if n.Data == "img" || n.Data == "script" || n.Data == "b" || attr(n, "onclick") != "" || attr(n, "onerror") != "" || attr(n, "style") != "" || id != "" && ids[id] {
				t.Errorf("<%s id=%q class=%q> came from text, or is there twice", n.Data, id, attr(n, "class"))
			}
			ids[id] = true
		})
	}
}
