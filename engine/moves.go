package engine

import (
	"fmt"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// mover changes the states of nodes inside one transaction, with everything
// that follows: dependants that become ready, subplans that are entered,
// containers that are done. It is the only way in which a state changes.
type mover struct {
	tx   *store.Tx
	root *plan.Plan
}

// newMover returns a mover for the tree that a plan belongs to.
func newMover(tx *store.Tx, id plan.PlanID) (*mover, error) {
	p, err := tx.RootPlan(id)
	return &mover{tx: tx, root: p}, err
}

// move changes a node's state by a cause, after plan.Next, and does what
// follows from it. edit sets what goes with the new state.
func (m *mover) move(n *plan.Node, c plan.Cause, edit func(*plan.Node)) error {
	from := n.State
	to, err := plan.Next(from, c)
	if err != nil {
		return fmt.Errorf("step %s: %w", n.Ref(), err)
	}
	was, left := n.Satisfied(), n.Phase
	n.State, n.Phase, n.PhaseSince = to, plan.PhaseNone, m.tx.Now()
	n.NotBefore, n.StalledAt = 0, 0
	if to == plan.Done && n.ReworkBrief != nil {
		if err := m.shrinkBrief(n); err != nil {
			return err
		}
	}
	if to == plan.Running {
		n.StartedAt, n.FinishedAt = m.tx.Now(), 0
		n.Error = nil
	}
	if to == plan.Done || to == plan.Failed || to == plan.Skipped {
		n.FinishedAt = m.tx.Now()
	}
	if to == plan.Pending || to == plan.Ready {
		n.AgentKind, n.AgentDone, n.FinishedAt = "", false, 0
		n.SkippedBy, n.SkippedCause, n.SkipNote = "", 0, ""
	}
	if to == plan.Pending {
		n.StartedAt = 0
	}
	if to == plan.Ready && n.Kind == plan.KindUser {
		n.Phase = plan.PhasePerson
	}
	if edit != nil {
		edit(n)
	}
	if err := m.save(n, from); err != nil {
		return err
	}
	if err := m.tx.Note(m.root.ID, n.Ref(), n.RunID, plan.EventStatus, statusData{from, to}); err != nil {
		return err
	}
	if atGate(left) {
		if err := m.giveUpReviews(func(r *plan.Review) bool { return r.Ref() == n.Ref() && r.Kind == plan.KindJudge }); err != nil {
			return err
		}
	}
	return m.follow(n, was)
}

// atGate reports whether a node in a phase waits for a verdict on its work.
func atGate(p plan.Phase) bool {
	return p == plan.PhaseChecking || p == plan.PhaseReviewing || p == plan.PhaseNeedsPerson
}

type statusData struct {
	From plan.State `json:"from"`
	To   plan.State `json:"to"`
}

// save stores a node's changed state or phase and records it.
func (m *mover) save(n *plan.Node, from plan.State) error {
	if err := m.tx.SetState(n, from); err != nil {
		return err
	}
	return m.record(n)
}

// record tells the scheduler and everyone who watches what a node is now.
func (m *mover) record(n *plan.Node) error {
	return m.tx.Record(plan.Change{Root: m.root.ID, Plan: n.PlanID, Node: n.ID, Kind: plan.ChangeNode,
		Facts: &plan.Facts{Nodes: []plan.NodeFacts{factsOf(n)}}})
}

func factsOf(n *plan.Node) plan.NodeFacts {
	f := plan.NodeFacts{PlanID: n.PlanID, ID: n.ID, State: n.State, Phase: n.Phase, Kind: n.Kind, Profile: n.Profile,
		Subplan: n.Subplan, NotBefore: n.NotBefore, AgentKind: n.AgentKind, Agent: n.Agent}
	for _, file := range n.Files {
		f.Keys = append(f.Keys, file.Key)
	}
	return f
}

// setPhase changes what a running node is at.
func (m *mover) setPhase(n *plan.Node, p plan.Phase, edit func(*plan.Node)) error {
	n.Phase, n.PhaseSince = p, m.tx.Now()
	if edit != nil {
		edit(n)
	}
	return m.save(n, n.State)
}

// follow does what a change of state brings with it. was says whether the node
// was satisfied before.
func (m *mover) follow(n *plan.Node, was bool) error {
	switch {
	case n.Satisfied():
		if err := m.release(n.Ref()); err != nil {
			return err
		}
	case was:
		if err := m.holdBack(n.Ref()); err != nil {
			return err
		}
	}
	switch n.State {
	case plan.Ready:
		if n.Kind == plan.KindUser {
			return m.handOver(n)
		}
	case plan.Failed:
		if m.root.OnFailure == "skip" {
			if err := m.skipDependants(n); err != nil {
				return err
			}
		}
		if err := m.tellFailed(n); err != nil {
			return err
		}
		return m.rollUp(n.PlanID)
	case plan.Done:
		if err := m.reviewDone(n); err != nil {
			return err
		}
		return m.rollUp(n.PlanID)
	case plan.Skipped:
		return m.rollUp(n.PlanID)
	}
	return nil
}

// handOver tells the person whose a step is that it is their turn.
func (m *mover) handOver(n *plan.Node) error {
	if err := m.say(n.Ref(), "waiting for you: this step is yours; mark it done when it is"); err != nil {
		return err
	}
	return m.tell(NoticeWaiting, WaitsStep, n, n.Description)
}

func (m *mover) say(r plan.Ref, text string) error {
	return m.tx.Note(m.root.ID, r, "", plan.EventSystem, textData{text})
}

type textData struct {
	Text string `json:"text"`
}

// release makes those dependants ready that waited for this node alone.
func (m *mover) release(r plan.Ref) error {
	ids, err := m.tx.FreedBy(r)
	if err != nil || len(ids) == 0 {
		return err
	}
	return m.advance(r.Plan, ids)
}

// advance makes nodes ready, or enters their subplans, if their plan is live.
func (m *mover) advance(id plan.PlanID, ids []plan.NodeID) error {
	live, err := m.live(id)
	if err != nil || !live {
		return err
	}
	for _, nid := range ids {
		n, err := m.tx.Node(plan.Ref{Plan: id, Node: nid})
		if err != nil {
			return err
		}
		if err := m.unblock(n); err != nil {
			return err
		}
	}
	return nil
}

// unblock takes a node whose prerequisites are satisfied one step on.
func (m *mover) unblock(n *plan.Node) error {
	if n.State != plan.Pending || n.Blockers > 0 {
		return nil
	}
	if again, err := m.agentGoesOn(n); err != nil {
		return err
	} else if again || n.Subplan == 0 {
		return m.move(n, plan.Unblocked, nil)
	}
	return m.enter(n, plan.Entered)
}

// enter begins to work through a node's subplan.
func (m *mover) enter(n *plan.Node, c plan.Cause) error {
	if err := m.move(n, c, func(n *plan.Node) { n.Phase = plan.PhaseSubplan }); err != nil {
		return err
	}
	text := fmt.Sprintf("working through subplan %d", n.Subplan)
	if begun, err := m.tx.Begun(n.Subplan); err != nil {
		return err
	} else if !begun && n.RunID == "" {
		text += ", which has no steps yet: it waits for the first one, or to be marked done"
	}
	if err := m.say(n.Ref(), text); err != nil {
		return err
	}
	return m.activate(n.Subplan)
}

// activate takes on what can start in a plan that has just become live, and
// settles its container when there is nothing to do.
func (m *mover) activate(id plan.PlanID) error {
	ids, err := m.tx.Startable(id)
	if err != nil {
		return err
	}
	if err := m.advance(id, ids); err != nil {
		return err
	}
	return m.rollUp(id)
}

// live reports whether the nodes of a plan may become ready: its tree is started
// and every container above it works through its subplan.
func (m *mover) live(id plan.PlanID) (bool, error) {
	for id != m.root.ID {
		p, err := m.tx.Plan(id)
		if err != nil {
			return false, err
		}
		c, err := m.tx.Node(p.Parent())
		if err != nil {
			return false, err
		}
		if c.State != plan.Running || c.Phase != plan.PhaseSubplan {
			return false, nil
		}
		id = c.PlanID
	}
	return m.root.Started && m.root.Approval.MayStart(), nil
}

// holdBack sends ready dependants back to pending, after a node that they need
// came undone. Those that have started are left alone.
func (m *mover) holdBack(r plan.Ref) error {
	ids, err := m.tx.Dependants(r)
	if err != nil {
		return err
	}
	for _, id := range ids {
		n, err := m.tx.Node(plan.Ref{Plan: r.Plan, Node: id})
		if err != nil {
			return err
		}
		if n.State == plan.Ready {
			if err := m.move(n, plan.Blocked, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipDependants skips all that depends on a failed node and has not started.
func (m *mover) skipDependants(failed *plan.Node) error {
	todo, err := m.tx.Dependants(failed.Ref())
	if err != nil {
		return err
	}
	for seen := map[plan.NodeID]bool{}; len(todo) > 0; todo = todo[1:] {
		n, err := m.tx.Node(plan.Ref{Plan: failed.PlanID, Node: todo[0]})
		if err != nil {
			return err
		}
		if seen[n.ID] || n.State != plan.Pending && n.State != plan.Ready {
			continue
		}
		seen[n.ID] = true
		if err := m.move(n, plan.FailureAbove, func(n *plan.Node) {
			n.SkippedBy, n.SkippedCause = plan.SkippedByFailure, failed.ID
		}); err != nil {
			return err
		}
		further, err := m.tx.Dependants(n.Ref())
		if err != nil {
			return err
		}
		todo = append(todo, further...)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
