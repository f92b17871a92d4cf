package engine

import (
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// What is kept of a step that runs more than once: why it runs again, what its
// failed attempts leave to the next one, and whether its agent goes on at all where
// the step has been split meanwhile.

// startCause says why a step begins a run now.
func startCause(tx *store.Tx, n *plan.Node) (string, error) {
	if n.RunID == "" {
		return plan.StartFirst, nil
	}
	cause, err := tx.StartCause(n.Ref())
	if err == nil && cause == "" {
		cause = plan.StartAgain
	}
	return cause, err
}

// started keeps with a run why it begins; the step's next one has reasons of its own.
func (m *mover) started(n *plan.Node, run *plan.Run) (err error) {
	if run.StartCause, err = startCause(m.tx, n); err != nil || n.RunID == "" {
		return err
	}
	return m.tx.SetStartCause(n.Ref(), "")
}

// reviewCause says why a reviewer or a judge begins a run now.
func reviewCause(tx *store.Tx, r *plan.Review, kind plan.RunKind) (string, error) {
	runs, err := tx.Runs(r.Ref())
	if err != nil {
		return "", err
	}
	for i := len(runs) - 1; i >= 0 && runs[i].StartedAt >= r.CreatedAt; i-- {
		if runs[i].Kind != kind {
			continue
		}
		if cause := cutOffBy(&runs[i]); cause != "" {
			return cause, nil
		}
		break // it replied, or another review was asked for
	}
	switch {
	case r.Asked > 0:
		return plan.StartRefused + firstLine(r.Fault), nil
	case r.Urgent:
		return plan.StartAsked, nil
	case r.Kind == plan.KindReview && r.NodeID == 0:
		return plan.StartPlanDone, nil
	case r.Kind == plan.KindReview:
		return plan.StartStepDone, nil
	}
	before, err := tx.Judgements(r.Ref())
	for i := range before {
		if before[i].ID != r.ID && before[i].JudgedRun == r.JudgedRun {
			return plan.StartAsked, err
		}
	}
	return plan.StartToJudge, err
}

// cutOffBy says why a run that was cut off is begun anew, "" when it was not.
func cutOffBy(run *plan.Run) string {
	switch {
	case run.Outcome == plan.OutcomeLimited:
		return plan.StartLimit
	case run.Outcome == plan.OutcomeInterrupted || run.Outcome == plan.OutcomeStalled:
		return plan.StartLost + firstLine(run.Cause)
	case run.Outcome == plan.OutcomeStopped && run.Cause == causeShutdown:
		return plan.StartServer
	}
	return ""
}

// firstLine is what of a text fits into the head of a run.
func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return clip(text, 200)
}

// attempt keeps why a step is tried once more.
func (m *mover) attempt(n *plan.Node, number, most int, after string) error {
	return m.tx.SetStartCause(n.Ref(), fmt.Sprintf("attempt %d of %d after %s", number, most, after))
}

// growBrief returns a step's brief with what a failed attempt adds to what a person
// wrote, and with all to what earlier ones added too.
func (m *mover) growBrief(n *plan.Node, addition string, all bool) (*string, error) {
	own, grown, err := m.tx.OwnBrief(n.Ref())
	if err != nil {
		return nil, err
	}
	if !grown {
		own = deref(n.ReworkBrief)
		if err := m.tx.SetOwnBrief(n.Ref(), own, true); err != nil {
			return nil, err
		}
	}
	if all {
		own = deref(n.ReworkBrief)
	}
	brief := strings.TrimSpace(own + "\n\n" + addition)
	return &brief, nil
}

// shrinkBrief takes away from the brief of a step that is done what its failed
// attempts had added. What a person wrote stays, for display.
func (m *mover) shrinkBrief(n *plan.Node) error {
	own, grown, err := m.tx.OwnBrief(n.Ref())
	if err != nil || !grown {
		return err
	}
	n.ReworkBrief = nil
	if own != "" {
		n.ReworkBrief = &own
	}
	return m.tx.SetOwnBrief(n.Ref(), "", false)
}

// newBrief gives a step the brief of a person.
func (m *mover) newBrief(n *plan.Node) error {
	if err := m.tx.SetOwnBrief(n.Ref(), "", false); err != nil {
		return err
	}
	return m.tx.SetStartCause(n.Ref(), plan.StartRework)
}

// agentGoesOn reports whether a step that has been split needs its own agent once
// more before its subplan can be worked through: the agent was cut off, or reached its
// provider's limit, while it put the subplan together. A subplan that was handed in
// whole needs nobody: it is worked through at once, without what else the agent would
// have done.
func (m *mover) agentGoesOn(n *plan.Node) (bool, error) {
	if n.Subplan == 0 || n.RunID == "" {
		return false, nil
	}
	last, err := m.tx.Run(n.RunID)
	switch {
	case err != nil:
		return false, err
	case last.Outcome == plan.OutcomeDone:
		return false, nil
	}
	return m.tx.Unfinished(n.Subplan)
}
