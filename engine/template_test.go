package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// fullSpec is a plan that uses every field that a template has.
func fullSpec(t *testing.T) engine.SubmitPlanIn {
	in := spec(t, "step-1 step-2:step-1 step-3:step-2")
	in.Description, in.MaxParallel, in.TestInstructions, in.OnFailure, in.MaxAttempts = "what for", 2, "make test", "skip", 3
	in.MaxTokens, in.MaxCostUSD, in.ReviewPolicy, in.CheckCommand, in.Approval, in.StallAfter = 9, 1.5, "gate", "true", "required", 60
	in.Nodes[0].Files, in.Nodes[0].Agent, in.Nodes[0].TaskType = []string{"a.go", "docs/"}, "mock", "implement"
	in.Nodes[0].AcceptanceCriteria, in.Nodes[0].MaxAttempts, in.Nodes[0].CheckCommand = []string{"it works"}, 4, "go test ./..."
	in.Nodes[1].Kind, in.Nodes[1].Description = "user", "look at it\n"
	in.Nodes[2].ResultsFrom, in.Nodes[2].Isolation = []string{"step-1"}, "none"
	return in
}

func TestATemplateGivesTheSamePlanAgain(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := fullSpec(t)
	for round := range 2 {
		out, err := e.Template(bg, submit(t, e, in))
		must(t, err)
		if out.WorkingDirectory != "" {
			t.Errorf("round %d: a template names the folder %s", round, out.WorkingDirectory)
		}
		out.WorkingDirectory = in.WorkingDirectory
		if diff := cmp.Diff(in, out, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("round %d (-posted +template):\n%s", round, diff)
		}
		in = out
	}
}

func TestATemplateHasNoResultsAndNumbersAnew(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := finished(t, e, spec(t, "a b:a c:a"))
	must(t, e.ReworkNode(bg, ref(id, 3), "again"))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	r, err := e.AddNode(bg, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("More"), Kind: p("user")}})
	must(t, err)
	must(t, e.RemoveNode(bg, r))
	_, err = e.AddNode(bg, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("Last"), Kind: p("user")}})
	must(t, err)
	out, err := e.Template(bg, id)
	must(t, err)
	if last := out.Nodes[3]; last.Key != "step-4" || last.Title != "Last" {
		t.Errorf("the fourth step is %+v", last)
	}
	if text := out.Nodes[2].Description; strings.Contains(text, "again") {
		t.Errorf("a brief is in the description: %s", text)
	}
	_, err = e.Template(bg, 99)
	refused(t, err, plan.NotFound, "99")
}
