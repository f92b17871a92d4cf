package engine

import (
	"context"
	"strings"
	"unicode"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// FollowUpIn makes a step of what a review found.
type FollowUpIn struct {
	PlanID  plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The reviewed step's plan."`
	NodeID  plan.NodeID `json:"node_id" param:"node_id" jsonschema:"The reviewed step's number."`
	Finding string      `json:"finding,omitempty" jsonschema:"What is to be put right. Left out: all that the step's review found."`
	Title   string      `json:"title,omitempty" jsonschema:"One line that says what the new step does; made from the finding when left out."`
}

// maxFollowTitle is how many characters of a finding make a title.
const maxFollowTitle = 90

// FollowUp adds a step after a finished one that puts right what was found of its
// work: with its files, its agent and its result. Where the plan is running it can
// start at once.
func (e *Engine) FollowUp(ctx context.Context, in FollowUpIn) (plan.Ref, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return plan.Ref{}, err
	}
	r := plan.Ref{Plan: in.PlanID, Node: in.NodeID}
	var bad plan.Problems
	checkText(&bad, "step", "finding", in.Finding)
	if err := bad.Err("nothing was changed:"); err != nil {
		return plan.Ref{}, err
	}
	n := &plan.Node{PlanID: in.PlanID}
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		reviewed, err := tx.Node(r)
		if err != nil {
			return err
		}
		if reviewed.State != plan.Done && reviewed.State != plan.Failed {
			return plan.Errorf(plan.Invalid, "step %s is %s: only a finished step can be followed up", r, reviewed.State)
		}
		fields, err := followFields(tx, reviewed, in)
		if err != nil {
			return err
		}
		n.Profile, n.Isolation = reviewed.Profile, reviewed.Isolation
		if err := e.insertNode(ctx, tx, n, fields); err != nil {
			return err
		}
		if err := addAfter(tx, n, []plan.NodeID{r.Node}); err != nil {
			return err
		}
		return touched(ctx, tx, in.PlanID)
	})
	return n.Ref(), err
}

func followFields(tx *store.Tx, reviewed *plan.Node, in FollowUpIn) (NodeFields, error) {
	finding := strings.TrimSpace(in.Finding)
	if finding == "" {
		var err error
		if finding, err = briefOf(tx, reviewed, ""); err != nil {
			return NodeFields{}, err
		}
	}
	title := strings.TrimSpace(in.Title)
	if title == "" {
		title = "Put right: " + shortTitle(finding)
	}
	text := "A review of step " + reviewed.Ref().String() + " (" + reviewed.Title + ") found this. Put it right, and leave the rest of that work as it is.\n\n" + finding
	files := pathsOf(reviewed)
	return NodeFields{Title: &title, Description: &text, Files: &files, ResultsFrom: &[]plan.NodeID{reviewed.ID}}, nil
}

// shortTitle makes one short line of a text in Markdown.
func shortTitle(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*+#>0123456789.) ")
		words := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '`' || r == '*' })
		short := []rune(strings.Join(words, " "))
		if len(short) > maxFollowTitle {
			short = append(short[:maxFollowTitle-1], '…')
		}
		if len(short) > 0 {
			return string(short)
		}
	}
	return "what was found"
}
