package engine

import (
	"fmt"

	"github.com/clearbox-go/clearbox/engine/internal/prompt"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// rollUp looks whether the end of a node ends the container of its plan, or the
// plan itself.
func (m *mover) rollUp(id plan.PlanID) error {
	status, counts, err := m.tx.Status(id)
	if err != nil {
		return err
	}
	if id == m.root.ID {
		return m.closePlan(status)
	}
	p, err := m.tx.Plan(id)
	if err != nil {
		return err
	}
	c, err := m.tx.Node(p.Parent())
	if err != nil || c.State != plan.Running || c.Phase != plan.PhaseSubplan {
		return err
	}
	switch status {
	case plan.StatusDone:
		return m.finishContainer(c, id)
	case plan.StatusEmpty:
		if begun, err := m.tx.Begun(id); err != nil || c.RunID == "" && !begun {
			return err // whoever made the subplan is about to fill it
		}
		return m.finishContainer(c, id)
	case plan.StatusFailed:
		if m.root.OnFailure == "skip" && counts.Running+counts.Ready > 0 {
			return nil // other branches go on
		}
		return m.move(c, plan.Broke, func(n *plan.Node) {
			n.AgentDone = n.AgentKind != ""
			n.Error = ptr(fmt.Sprintf("a step of its subplan %d failed", id))
		})
	}
	return nil
}

// closePlan notes when the whole plan is over, or no longer is.
func (m *mover) closePlan(s plan.Status) error {
	over := s == plan.StatusDone
	if over == (m.root.FinishedAt != 0) {
		return nil
	}
	m.root.FinishedAt = 0
	if over {
		m.root.FinishedAt = m.tx.Now()
	}
	if err := m.tx.SetFinished(m.root.ID, m.root.FinishedAt); err != nil {
		return err
	}
	if err := m.tx.Record(plan.Change{Root: m.root.ID, Plan: m.root.ID, Kind: plan.ChangePlan}); err != nil {
		return err
	}
	if over {
		if err := m.tell(NoticePlanDone, "", nil, ""); err != nil {
			return err
		}
		return m.reviewWhole()
	}
	return m.setAside(plan.Ref{Plan: m.root.ID})
}

// finishContainer ends a node whose subplan is done: its result is that of its
// own agent followed by those of the subplan's last nodes.
func (m *mover) finishContainer(c *plan.Node, sub plan.PlanID) error {
	last, err := m.tx.FinalNodes(sub)
	if err != nil {
		return err
	}
	results := make([]prompt.Result, len(last))
	for i := range last {
		results[i] = prompt.Result{Node: &last[i]}
	}
	own, err := m.ownResult(c)
	if err != nil {
		return err
	}
	text := prompt.SubplanResult(own, results)
	return m.move(c, plan.Finished, func(n *plan.Node) {
		n.Result = &text
		n.AgentDone = n.AgentKind != ""
	})
}

// ownResult is what a container's own agent said. The node's result may hold the
// summary of an earlier way through its subplan already.
func (m *mover) ownResult(c *plan.Node) (string, error) {
	if c.RunID == "" {
		return "", nil
	}
	run, err := m.tx.Run(c.RunID)
	if err != nil {
		return "", err
	}
	return deref(run.Result), nil
}

// reopen makes the failed or finished containers above a plan work through
// their subplans again, from the inside out; in a tree that is not started they
// wait for that. What their failure had skipped waits again. It returns the
// outermost plan in which steps can go on.
func (m *mover) reopen(id plan.PlanID) (top plan.PlanID, err error) {
	for top = id; id != m.root.ID; {
		p, err := m.tx.Plan(id)
		if err != nil {
			return 0, err
		}
		c, err := m.tx.Node(p.Parent())
		if err != nil {
			return 0, err
		}
		id = c.PlanID
		if c.State != plan.Failed && c.State != plan.Done {
			continue
		}
		if err := m.reopenNode(c); err != nil {
			return 0, err
		}
		if err := m.unskip(id); err != nil {
			return 0, err
		}
		top = id
	}
	return top, nil
}

func (m *mover) reopenNode(c *plan.Node) error {
	if m.root.Started {
		return m.move(c, plan.ReopenedBelow, func(n *plan.Node) {
			n.Phase, n.Error, n.AgentDone = plan.PhaseSubplan, nil, n.AgentKind != "" // it is over, however it ended
		})
	}
	cause := plan.Reworked
	if c.State == plan.Failed {
		cause = plan.Retried
	}
	kind := c.AgentKind
	return m.move(c, cause, func(n *plan.Node) { n.Error, n.AgentDone, n.AgentKind = nil, kind != "", kind })
}
