package views

import (
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
	switch h := c.Holds[n.Ref()]; {
	case h.Phase == plan.PhaseFiles && !h.By.IsZero():
		return Line{Text: fmt.Sprintf("waits for %s · shares files", h.By)}
	case h.Phase == plan.PhaseLimit || n.Phase == plan.PhaseLimit:
		return limitLine(n)
	case h.Phase == plan.PhaseSlot:
		return Line{Text: "waits for a free agent"}
	case h.Phase == plan.PhaseBudget:
		return Line{Text: "budget is used up"}
	}
	return Line{Text: "up next"}
}

// limitLine tells a provider's limit from a pause before another attempt: both
// sleep until a moment.
func limitLine(n *plan.Node) Line {
	word := "again at"
	if n.Phase == plan.PhaseLimit {
		word = "limit until"
	}
	if n.NotBefore == 0 {
		return Line{Text: "waits for a limit"}
	}
	return Line{Text: word, At: n.NotBefore}
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
	return Line{Text: c.agentName(n), Since: n.StartedAt}
}
