package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// NodeFields are the fields of a node that can be edited. Nil leaves a field as
// it is; an empty list or string clears it.
type NodeFields struct {
	Title              *string        `json:"title,omitempty" jsonschema:"One line that says what the step does."`
	Description        *string        `json:"description,omitempty" jsonschema:"Everything the step's agent has to know."`
	Agent              *AgentRef      `json:"agent,omitempty" jsonschema:"Name or id of an agent profile; an empty string takes the plan's again."`
	Files              *[]string      `json:"files,omitempty" jsonschema:"Files or folders that the step will create or change; [] clears. Only while it is pending or ready."`
	ResultsFrom        *[]plan.NodeID `json:"results_from,omitempty" jsonschema:"Numbers of steps whose result goes into the prompt; [] clears. Only while the step is pending or ready."`
	Kind               *string        `json:"kind,omitempty" jsonschema:"agent or user. Only while the step is pending or ready."`
	AcceptanceCriteria *[]string      `json:"acceptance_criteria,omitempty" jsonschema:"What must be true when the step is done; [] clears."`
	TaskType           *string        `json:"task_type,omitempty" jsonschema:"design, implement, configure, test, review or integrate; an empty string clears."`
	MaxAttempts        *int           `json:"max_attempts,omitempty" jsonschema:"How often the step is tried in all if it fails, 1 to 20; 0 takes the plan's again."`
	Isolation          *string        `json:"isolation,omitempty" jsonschema:"none or worktree, if stricter than the plan's; an empty string clears."`
	CheckCommand       *string        `json:"check_command,omitempty" jsonschema:"Shell command that has to succeed for the step to pass its gate; an empty string takes the plan's again."`
	EstimateMinutes    *float64       `json:"estimate_minutes,omitempty" jsonschema:"How long it may take an agent; 0 clears."`
}

// onlyTitle reports whether nothing is given that could need an approval.
func (f *NodeFields) onlyTitle() bool {
	rest := *f
	rest.Title, rest.MaxAttempts, rest.EstimateMinutes = nil, nil, nil
	return rest == NodeFields{}
}

// AddNodeIn adds one node to a plan.
type AddNodeIn struct {
	PlanID plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The plan to add to."`
	NodeFields
	After []plan.NodeID `json:"-"` // nodes of the plan that come before it
}

// AddNode adds a node, with edges from those that it is to come after, and returns
// its address. In a running plan it can start at once.
func (e *Engine) AddNode(ctx context.Context, in AddNodeIn) (plan.Ref, error) {
	n := &plan.Node{PlanID: in.PlanID}
	if in.Title == nil {
		in.Title = ptr("")
	}
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		if err := e.insertNode(ctx, tx, n, in.NodeFields); err != nil {
			return err
		}
		if err := addAfter(tx, n, in.After); err != nil {
			return err
		}
		return touched(ctx, tx, in.PlanID)
	})
	return n.Ref(), err
}

// addAfter orders a new node after others before it can start, and settles it.
func addAfter(tx *store.Tx, n *plan.Node, after []plan.NodeID) error {
	for _, from := range after {
		if _, err := edgeAllowed(tx, plan.Edge{Plan: n.PlanID, From: from, To: n.ID}); err != nil {
			return err
		}
		if _, err := tx.InsertEdges(n.PlanID, []plan.Edge{{Plan: n.PlanID, From: from, To: n.ID}}); err != nil {
			return err
		}
	}
	if err := settleAdded(tx, n); err != nil {
		return err
	}
	for _, from := range after {
		if err := settleEdge(tx, plan.Edge{Plan: n.PlanID, From: from, To: n.ID}); err != nil {
			return err
		}
	}
	return nil
}

// insertNode checks a new node of a plan and stores it.
func (e *Engine) insertNode(ctx context.Context, tx *store.Tx, n *plan.Node, f NodeFields) error {
	actor := plan.ActorFrom(ctx)
	if err := mayTouchPlan(tx, actor, n.PlanID); err != nil {
		return err
	}
	p, err := tx.Plan(n.PlanID)
	if err != nil {
		return err
	}
	if err := planIsOpen(tx, p); err != nil {
		return err
	}
	if int(p.NextNode) > e.opts.MaxNodes {
		return plan.Errorf(plan.Invalid, "plan %d has %d steps already, which is the limit", p.ID, e.opts.MaxNodes)
	}
	if err := applyFields(tx, actor, n, f); err != nil {
		return err
	}
	if err := requestsExist(tx, n); err != nil {
		return err
	}
	if n.ID, err = tx.TakeNodeIDs(n.PlanID, 1); err != nil {
		return err
	}
	return tx.InsertNodes(n.PlanID, []*plan.Node{n})
}

// planIsOpen refuses to add to a subplan whose container is over.
func planIsOpen(tx *store.Tx, p *plan.Plan) error {
	if p.TopLevel() {
		return nil
	}
	c, err := tx.Node(p.Parent())
	if err != nil {
		return err
	}
	if c.State == plan.Done || c.State == plan.Skipped {
		return plan.Errorf(plan.Invalid, "plan %d is the subplan of step %s, which is %s: nothing can be added to it", p.ID, c.Ref(), c.State)
	}
	return nil
}

// requestsExist checks that the nodes whose results are wanted are there. That
// the node depends on them is checked once edges can be known.
func requestsExist(tx *store.Tx, n *plan.Node) error {
	for _, id := range n.ResultsFrom {
		if id == n.ID {
			return plan.Errorf(plan.Invalid, "results_from: a step cannot ask for its own result")
		}
		if _, err := tx.Node(plan.Ref{Plan: n.PlanID, Node: id}); err != nil {
			return plan.Errorf(plan.Invalid, "results_from: plan %d has no step %d", n.PlanID, id)
		}
	}
	return nil
}

// settleAdded records a new node and starts it where its plan is running.
func settleAdded(tx *store.Tx, n *plan.Node) error {
	m, err := newMover(tx, n.PlanID)
	if err != nil {
		return err
	}
	if err := recordPlan(tx, n.PlanID, true); err != nil {
		return err
	}
	if err := m.reopenFor(n.PlanID); err != nil {
		return err
	}
	return m.advance(n.PlanID, []plan.NodeID{n.ID})
}

// reopenFor notes that a plan that was over has work again.
func (m *mover) reopenFor(id plan.PlanID) error {
	if err := m.folderFree(); err != nil {
		return err
	}
	if id == m.root.ID && m.root.FinishedAt != 0 {
		return m.closePlan(plan.StatusRunning)
	}
	return nil
}

// folderFree makes sure that a started plan which gets work again does not share
// its folder with another that was started since.
func (m *mover) folderFree() error {
	if !m.root.Started || m.root.WorkDir == "" {
		return nil
	}
	return folderFree(m.tx, m.root.ID, folderKey(m.root.WorkDir))
}

// applyFields checks the given fields and sets them on n: all or none.
func applyFields(tx *store.Tx, a plan.Actor, n *plan.Node, f NodeFields) error {
	var bad plan.Problems
	set(&n.Title, f.Title)
	set(&n.Description, f.Description)
	set(&n.Criteria, f.AcceptanceCriteria)
	set(&n.TaskType, f.TaskType)
	set(&n.MaxAttempts, f.MaxAttempts)
	if a.Role != plan.Trusted && (f.CheckCommand != nil || f.Isolation != nil) {
		bad.Addf(notForAgents)
	}
	set(&n.CheckCommand, f.CheckCommand)
	set(&n.Isolation, f.Isolation)
	set(&n.EstimateMinutes, f.EstimateMinutes)
	checkEstimate(&bad, "step", n.EstimateMinutes)
	bad.Add(plan.Choice("isolation", n.Isolation, []string{"none", worktree}))
	kind := string(n.Kind)
	set(&kind, f.Kind)
	paths := make([]string, len(n.Files))
	for i, file := range n.Files {
		paths[i] = file.Path
	}
	set(&paths, f.Files)
	checkNode(&bad, "step", n, kind, paths)
	if f.ResultsFrom != nil {
		n.ResultsFrom = sortedUnique(*f.ResultsFrom)
	}
	if f.Agent != nil {
		if a.Role == plan.Worker && *f.Agent != "" {
			bad.Addf("agent is not accepted here: steps of your subplan run on your own agent")
		} else if id, err := findAgent(tx, *f.Agent); err != nil {
			bad.Add(err)
		} else {
			n.Profile = id
		}
	}
	return bad.Err("the step was refused; nothing was changed:")
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// UpdateNodeIn edits a node.
type UpdateNodeIn struct {
	PlanID plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The step's plan."`
	NodeID plan.NodeID `json:"node_id" param:"node_id" jsonschema:"The step's number."`
	NodeFields
}

// UpdateNode changes fields of a node, all or none. What its agent was told
// stays as it was: changes apply at the next start.
func (e *Engine) UpdateNode(ctx context.Context, in UpdateNodeIn) error {
	actor := plan.ActorFrom(ctx)
	r := plan.Ref{Plan: in.PlanID, Node: in.NodeID}
	return e.store.Write(ctx, func(tx *store.Tx) error {
		if err := mayTouchPlan(tx, actor, in.PlanID); err != nil {
			return err
		}
		n, err := tx.Node(r)
		if err != nil {
			return err
		}
		if err := editableNow(n, in.NodeFields); err != nil {
			return err
		}
		wasKind := n.Kind
		if err := applyFields(tx, actor, n, in.NodeFields); err != nil {
			return err
		}
		if err := checkUpdate(tx, n, in.NodeFields); err != nil {
			return err
		}
		if err := storeFields(tx, n, in.NodeFields); err != nil {
			return err
		}
		if err := settleEdited(tx, n, in.NodeFields, wasKind); err != nil || in.onlyTitle() {
			return err
		}
		return touched(ctx, tx, in.PlanID)
	})
}

// editableNow refuses fields that are fixed once a node has started.
func editableNow(n *plan.Node, f NodeFields) error {
	if n.State == plan.Pending || n.State == plan.Ready {
		return nil
	}
	for field, given := range map[string]bool{"files": f.Files != nil, "results_from": f.ResultsFrom != nil, "kind": f.Kind != nil} {
		if given {
			return plan.Errorf(plan.Invalid, "step %s is %s: its %s can only change while it is pending or ready", n.Ref(), n.State, field)
		}
	}
	return nil
}

func checkUpdate(tx *store.Tx, n *plan.Node, f NodeFields) error {
	if n.Kind == plan.KindUser && n.Subplan != 0 {
		return plan.Errorf(plan.Invalid, "step %s has a subplan: it cannot become a person's step", n.Ref())
	}
	if f.ResultsFrom == nil {
		return nil
	}
	if err := requestsExist(tx, n); err != nil {
		return err
	}
	var foreign []string
	for _, id := range n.ResultsFrom {
		ok, err := tx.Reaches(n.PlanID, id, n.ID)
		if err != nil {
			return err
		}
		if !ok {
			foreign = append(foreign, fmt.Sprint(id))
		}
	}
	return foreignRequests(n.Ref(), foreign)
}

// foreignRequests is the error for results that a node does not depend on.
func foreignRequests(r plan.Ref, foreign []string) error {
	if len(foreign) == 0 {
		return nil
	}
	return plan.Errorf(plan.Invalid, "step %s: results_from names [%s], which it does not depend on: add an edge, or leave it out",
		r, strings.Join(foreign, ", "))
}

func storeFields(tx *store.Tx, n *plan.Node, f NodeFields) error {
	if err := tx.UpdateNode(n); err != nil {
		return err
	}
	if f.Files != nil {
		if err := tx.SetFiles(n.Ref(), n.Files); err != nil {
			return err
		}
	}
	if f.ResultsFrom != nil {
		return tx.SetResultsFrom(n.Ref(), n.ResultsFrom)
	}
	return nil
}

// settleEdited records an edited node.
func settleEdited(tx *store.Tx, n *plan.Node, f NodeFields, wasKind plan.NodeKind) error {
	m, err := newMover(tx, n.PlanID)
	if err != nil {
		return err
	}
	if n.State == plan.Ready && n.Kind != wasKind && n.Kind == plan.KindUser {
		if err := m.handOver(n); err != nil {
			return err
		}
	}
	if f.Agent != nil {
		if err := recordAgents(tx); err != nil {
			return err
		}
	}
	if f.Files != nil || f.Title != nil {
		if err := recordPlan(tx, n.PlanID, true); err != nil {
			return err
		}
	}
	return m.record(n)
}
