package views

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Line is one line of what a step is doing now.
type Line struct {
	Text  string
	Since plan.Stamp // when not 0, the time since then is shown after the text and ticks
	At    plan.Stamp // when not 0, this moment is shown after the text
	Took  string     // a length of time that is over
	Then  string     // what stands after the moment
}

// scene is what lines and cards are read from: a snapshot with lookups that many
// of them need.
type scene struct {
	*plan.Snapshot
	asked map[plan.Ref][]plan.Question
}

func newScene(s *plan.Snapshot) *scene {
	c := &scene{Snapshot: s, asked: map[plan.Ref][]plan.Question{}}
	for _, q := range s.Questions {
		r := plan.Ref{Plan: q.PlanID, Node: q.NodeID}
		c.asked[r] = append(c.asked[r], q)
	}
	return c
}

// look returns how a step is shown.
func (c *scene) look(n *plan.Node) Look {
	return lookOf(n, n.State == plan.Running && len(c.asked[n.Ref()]) > 0)
}

// agentName is who runs, ran or will run a step.
func (c *scene) agentName(n *plan.Node) string {
	if n.AgentName != "" && n.State != plan.Pending && n.State != plan.Ready {
		return n.AgentName
	}
	if n.Kind == plan.KindUser {
		return "you"
	}
	if p := c.Agent(n).Profile; p != nil {
		return p.Name
	}
	return ""
}

// line says what a step is doing now, or what became of it.
func (c *scene) line(n *plan.Node) Line {
	switch n.State {
	case plan.Pending:
		return c.pendingLine(n)
	case plan.Ready:
		return c.readyLine(n)
	case plan.Running:
		return c.runningLine(n)
	case plan.Failed:
		if n.Error != nil {
			return Line{Text: firstLine(*n.Error, 200)}
		}
		return Line{Text: "failed"}
	case plan.Skipped:
		return skippedLine(n)
	}
	return c.doneLine(n)
}

func (c *scene) doneLine(n *plan.Node) Line {
	if n.Kind == plan.KindUser || n.AgentName == "" && n.Subplan == 0 {
		return Line{Text: "done by you"}
	}
	return Line{Text: n.AgentName, Took: between(n.StartedAt, n.FinishedAt)}
}

func skippedLine(n *plan.Node) Line {
	switch {
	case n.SkippedBy == plan.SkippedByFailure && n.SkippedCause != 0:
		return Line{Text: fmt.Sprintf("skipped: %s failed", plan.Ref{Plan: n.PlanID, Node: n.SkippedCause})}
	case n.SkipNote != "":
		return Line{Text: "skipped: " + firstLine(n.SkipNote, 120)}
	}
	return Line{Text: "skipped by you"}
}

// pendingLine names the first prerequisite that is missing.
func (c *scene) pendingLine(n *plan.Node) Line {
	var missing []plan.NodeID
	for _, id := range c.Graph(n.PlanID).Prerequisites(n.ID) {
		if p := c.Node(plan.Ref{Plan: n.PlanID, Node: id}); p != nil && !p.Satisfied() {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return Line{Text: "not started"}
	}
	text := "after " + plan.Ref{Plan: n.PlanID, Node: missing[0]}.String()
	if more := len(missing) - 1; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return Line{Text: text}
}

func (c *scene) readyLine(n *plan.Node) Line {
	if n.Kind == plan.KindUser {
		return Line{Text: "your turn", Since: n.PhaseSince}
	}
	switch h := c.hold(n); {
	case h.Phase == plan.PhaseFiles && !h.By.IsZero():
		return Line{Text: fmt.Sprintf("waits for %s · shares files", h.By)}
	case h.Phase == plan.PhaseLimit && h.Reason == plan.HeldTrying:
		return Line{Text: "trying again"}
	case h.Phase == plan.PhaseLimit && h.Until == 0:
		return Line{Text: "waits for a limit"}
	case h.Phase == plan.PhaseLimit:
		return Line{Text: "limit until", At: h.Until}
	case h.Phase == plan.PhaseSlot:
		return Line{Text: "waits for a free agent"}
	case h.Phase == plan.PhaseBudget:
		return Line{Text: "budget used up"}
	case h.Until != 0:
		return Line{Text: "again at", At: h.Until, Then: c.nextTry(n)}
	}
	return Line{Text: "up next"}
}

// hold says why a ready step has not started. Where nobody schedules its plan
// the step itself knows whether it waits for a limit.
func (c *scene) hold(n *plan.Node) plan.Hold {
	h, ok := c.Holds[n.Ref()]
	if !ok && n.Phase == plan.PhaseLimit {
		h = plan.Hold{Phase: plan.PhaseLimit, Until: n.NotBefore}
	}
	return h
}

// nextTry says why a step is run again.
func (c *scene) nextTry(n *plan.Node) string {
	if try := c.try(n); try != "" {
		return "(" + try + ")"
	}
	if n.Interruptions > 0 {
		return "(it was interrupted)"
	}
	return ""
}

// try numbers the attempt that a step is at or comes to next, "" for the only
// one that it has.
func (c *scene) try(n *plan.Node) string {
	made, most := n.Attempts-n.AttemptsBefore, c.maxAttempts(n)
	if made < 1 || made >= most {
		return ""
	}
	return fmt.Sprintf("attempt %d of %d", made+1, most)
}

// maxAttempts is how often a step is tried without a person asking.
func (c *scene) maxAttempts(n *plan.Node) int { return cmp.Or(n.MaxAttempts, c.Root().MaxAttempts, 1) }

// usualPatience is after how many seconds without a sign of life an agent is
// marked where its plan says nothing else.
const usualPatience = 15 * 60

// quietSince is when a stalled step's agent was heard of last.
func (c *scene) quietSince(n *plan.Node) plan.Stamp {
	return n.StalledAt - plan.Stamp(cmp.Or(c.Root().StallAfter, usualPatience))
}

func (c *scene) runningLine(n *plan.Node) Line {
	if asked := c.asked[n.Ref()]; len(asked) > 0 {
		return Line{Text: "asks to use " + asked[0].Tool, Since: asked[0].AskedAt}
	}
	switch n.Phase {
	case plan.PhaseSubplan:
		t := c.Tally(n.Subplan)
		return Line{Text: fmt.Sprintf("%d of %d steps done", t.Done+t.Skipped, t.Total)}
	case plan.PhaseChecking:
		return Line{Text: "running checks", Since: n.PhaseSince}
	case plan.PhaseReviewing:
		return Line{Text: "being reviewed", Since: n.PhaseSince}
	case plan.PhaseNeedsPerson:
		return Line{Text: "needs you", Since: n.PhaseSince}
	case plan.PhaseApplying:
		return Line{Text: "applying changes", Since: n.PhaseSince}
	}
	if n.StalledAt != 0 {
		return Line{Text: "silent for", Since: c.quietSince(n)}
	}
	text := c.agentName(n)
	if try := c.try(n); try != "" {
		text += " · " + try
	}
	return Line{Text: text, Since: n.StartedAt}
}
