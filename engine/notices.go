package engine

import (
	"strings"
	"unicode/utf8"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// What people can ask to be told of.
const (
	NoticePlanDone   = "plan_done"   // a top-level plan is done
	NoticePlanFailed = "plan_failed" // a step of a top-level plan has failed that failed nothing before
	NoticeStepFailed = "step_failed" // a step has failed, in a subplan too
	NoticeWaiting    = "waiting"     // something waits for a person; the reason says what
	NoticeTest       = "test"        // someone tries a webhook
)

// NoticeEvents are the events that can be asked for, in the order of pages.
var NoticeEvents = []string{NoticePlanDone, NoticePlanFailed, NoticeStepFailed, NoticeWaiting}

// Why a person is waited for.
const (
	WaitsStep     = "step"     // a step is theirs
	WaitsVerdict  = "verdict"  // a judge came to no verdict
	WaitsQuestion = "question" // an agent asks
	WaitsApproval = "approval" // a plan is to be approved
	WaitsPlanning = "planning" // a planner has failed
	WaitsBudget   = "budget"   // a budget is used up
)

// noticeText bounds what a notice quotes, in bytes.
const noticeText = 400

// tell has webhooks told about a node, or (nil) about the plan as a whole. It is
// part of the change that it tells of.
func (m *mover) tell(event, reason string, n *plan.Node, text string) error {
	d := store.Delivery{Event: event, Reason: reason, Root: m.root.ID, Plan: m.root.ID, Title: m.root.Title, Text: brief(text)}
	if n != nil {
		d.Plan, d.Node, d.Step = n.PlanID, n.ID, n.Title
	}
	return m.tx.Tell(d)
}

// brief is the first line of a text, cut.
func brief(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if len(text) <= noticeText {
		return text
	}
	cut := noticeText
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// tellFailed tells that a step has failed, and its plan if nothing in it had. A
// container is told of by what failed inside it.
func (m *mover) tellFailed(n *plan.Node) error {
	if n.Subplan == 0 {
		if err := m.tell(NoticeStepFailed, "", n, deref(n.Error)); err != nil {
			return err
		}
	}
	if n.PlanID != m.root.ID {
		return nil
	}
	_, counts, err := m.tx.Status(n.PlanID)
	if err != nil || counts.Failed != 1 {
		return err
	}
	return m.tell(NoticePlanFailed, "", nil, "step "+n.Ref().String()+" failed: "+brief(deref(n.Error)))
}

// tellQuestion tells that an agent asks something.
func tellQuestion(tx *store.Tx, q *plan.Question) error {
	m, err := newMover(tx, q.PlanID)
	if err != nil {
		return err
	}
	if q.NodeID == 0 {
		return m.tell(NoticeWaiting, WaitsQuestion, nil, q.Text)
	}
	n, err := tx.Node(plan.Ref{Plan: q.PlanID, Node: q.NodeID})
	if err != nil {
		return err
	}
	return m.tell(NoticeWaiting, WaitsQuestion, n, q.Text)
}
