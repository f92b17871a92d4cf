package handlers

import (
	"context"
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// maxEvents is how much of a transcript one answer holds.
const maxEvents = 5000

// nodeIn names a node.
type nodeIn struct {
	PlanID plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The step's plan."`
	NodeID plan.NodeID `json:"node_id" param:"node_id" jsonschema:"The step's number."`
}

func (in nodeIn) ref() plan.Ref { return plan.Ref{Plan: in.PlanID, Node: in.NodeID} }

// addNodeIn is a node to add; unlike in an edit its title is required.
type addNodeIn struct {
	PlanID plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The plan to add to."`
	Title  string      `json:"title" jsonschema:"One line that says what the step does."`
	engine.NodeFields
}

func (in *addNodeIn) add(e *engine.Engine, ctx context.Context) (plan.Ref, error) {
	in.NodeFields.Title = &in.Title
	return e.AddNode(ctx, engine.AddNodeIn{PlanID: in.PlanID, NodeFields: in.NodeFields})
}

func addNode(e *engine.Engine, ctx context.Context, in addNodeIn) ([2]int64, error) {
	r, err := in.add(e, ctx)
	return pairOf(r), err
}

func postNode(e *engine.Engine, ctx context.Context, in addNodeIn) (nodeView, error) {
	r, err := in.add(e, ctx)
	if err != nil {
		return nodeView{}, err
	}
	return viewOf(e, ctx, r)
}

// viewOf reads a node for an answer.
func viewOf(e *engine.Engine, ctx context.Context, r plan.Ref) (nodeView, error) {
	s, n, err := nodeAt(e, ctx, r)
	if err != nil {
		return nodeView{}, err
	}
	return nodeViewOf(s, n), nil
}

func nodeAt(e *engine.Engine, ctx context.Context, r plan.Ref) (*plan.Snapshot, *plan.Node, error) {
	s, err := e.Snapshot(ctx, r.Plan)
	if err != nil {
		return nil, nil, err
	}
	n := s.Node(r)
	if n == nil {
		return nil, nil, plan.Errorf(plan.NotFound, "there is no step %s", r)
	}
	return s, n, nil
}

func updateNode(e *engine.Engine, ctx context.Context, in engine.UpdateNodeIn) (string, error) {
	return "updated", e.UpdateNode(ctx, in)
}

func patchNode(e *engine.Engine, ctx context.Context, in engine.UpdateNodeIn) (nodeView, error) {
	if err := e.UpdateNode(ctx, in); err != nil {
		return nodeView{}, err
	}
	return viewOf(e, ctx, plan.Ref{Plan: in.PlanID, Node: in.NodeID})
}

func removeNode(e *engine.Engine, ctx context.Context, in nodeIn) (said, error) {
	return said{"removed", "removed"}, e.RemoveNode(ctx, in.ref())
}

func addEdge(e *engine.Engine, ctx context.Context, in engine.EdgeIn) (said, error) {
	return said{"added", fmt.Sprintf("step %d waits for step %d now", in.To, in.From)}, e.AddEdge(ctx, in)
}

func removeEdge(e *engine.Engine, ctx context.Context, in engine.EdgeIn) (said, error) {
	return said{"removed", "removed"}, e.RemoveEdge(ctx, in)
}

type viewNodeIn struct {
	nodeIn
	After int64 `json:"-" query:"after" jsonschema:"Only events after this one."`
}

func viewNode(e *engine.Engine, ctx context.Context, in viewNodeIn) (nodePage, error) {
	s, n, err := nodeAt(e, ctx, in.ref())
	if err != nil {
		return nodePage{}, err
	}
	events, err := e.Events(ctx, in.ref(), in.After, maxEvents+1)
	if err != nil {
		return nodePage{}, err
	}
	told := transcript{events, false}
	if len(events) > maxEvents {
		told = transcript{events[:maxEvents], true}
	}
	return nodePage{nodeViewOf(s, n), listed(s.Graph(in.PlanID).Prerequisites(in.NodeID)), told}, nil
}

type contextView struct {
	Context string `json:"context"`
}

func nodeContext(e *engine.Engine, ctx context.Context, in nodeIn) (contextView, error) {
	text, err := e.Context(ctx, in.ref())
	return contextView{text}, err
}

func retryNode(e *engine.Engine, ctx context.Context, in nodeIn) (said, error) {
	return said{"retrying", fmt.Sprintf("step %s waits for its turn again", in.ref())}, e.RetryNode(ctx, in.ref())
}

// nodeChanged is a step as an action has left it: the node over REST, a sentence
// for models.
type nodeChanged struct {
	Node nodeView `json:"node"`
	text string
}

func (c nodeChanged) toolText() string { return c.text }

type reworkIn struct {
	nodeIn
	Instructions string `json:"instructions,omitempty" jsonschema:"What to change. Left out: what the step's review found."`
}

func reworkNode(e *engine.Engine, ctx context.Context, in reworkIn) (nodeChanged, error) {
	if err := e.ReworkNode(ctx, in.ref(), in.Instructions); err != nil {
		return nodeChanged{}, err
	}
	v, err := viewOf(e, ctx, in.ref())
	return nodeChanged{v, fmt.Sprintf("step %s is to be done again%s", in.ref(), leftAlone(v))}, err
}

// leftAlone names the steps that used what is being changed.
func leftAlone(v nodeView) string {
	if len(v.StartedDependants) == 0 {
		return ""
	}
	refs := make([]string, len(v.StartedDependants))
	for i, d := range v.StartedDependants {
		refs[i] = plan.Ref{Plan: v.PlanID, Node: d.NodeID}.String()
	}
	return "; these depend on it, have started already and are left as they are: " + strings.Join(refs, ", ")
}

type skipIn struct {
	nodeIn
	Note string `json:"note,omitempty" jsonschema:"Why it is not needed; shown to the user."`
}

func skipNode(e *engine.Engine, ctx context.Context, in skipIn) (nodeChanged, error) {
	if err := e.SkipNode(ctx, in.ref(), in.Note); err != nil {
		return nodeChanged{}, err
	}
	v, err := viewOf(e, ctx, in.ref())
	return nodeChanged{v, fmt.Sprintf("step %s is skipped", in.ref())}, err
}

func unskipNode(e *engine.Engine, ctx context.Context, in nodeIn) (nodeChanged, error) {
	if err := e.UnskipNode(ctx, in.ref()); err != nil {
		return nodeChanged{}, err
	}
	v, err := viewOf(e, ctx, in.ref())
	return nodeChanged{v, fmt.Sprintf("step %s is back", in.ref()) + leftAlone(v)}, err
}

type markDoneIn struct {
	nodeIn
	Result *string `json:"result,omitempty" jsonschema:"What later steps may read; the last words of its agent when left out."`
}

func markDone(e *engine.Engine, ctx context.Context, in markDoneIn) (said, error) {
	return said{"completed", "completed"}, e.MarkDone(ctx, in.ref(), in.Result)
}

func stopNode(e *engine.Engine, ctx context.Context, in nodeIn) (said, error) {
	return said{"stopped", "stopped"}, e.StopNode(ctx, in.ref())
}

type nodeAgentIn struct {
	nodeIn
	Agent engine.AgentRef `json:"agent" jsonschema:"Name or id of an agent profile, or null."`
}

func putNodeAgent(e *engine.Engine, ctx context.Context, in nodeAgentIn) (nodeView, error) {
	return edit(e, ctx, in.nodeIn, engine.NodeFields{Agent: &in.Agent})
}

type kindIn struct {
	nodeIn
	Kind string `json:"kind" jsonschema:"agent or user."`
}

func putKind(e *engine.Engine, ctx context.Context, in kindIn) (nodeView, error) {
	return edit(e, ctx, in.nodeIn, engine.NodeFields{Kind: &in.Kind})
}

type filesIn struct {
	nodeIn
	Files []string `json:"files" jsonschema:"Files or folders, relative to the working directory."`
}

func putFiles(e *engine.Engine, ctx context.Context, in filesIn) (nodeView, error) {
	return edit(e, ctx, in.nodeIn, engine.NodeFields{Files: &in.Files})
}

type resultsFromIn struct {
	nodeIn
	NodeIDs []plan.NodeID `json:"node_ids" jsonschema:"Numbers of steps that it depends on."`
}

func putResultsFrom(e *engine.Engine, ctx context.Context, in resultsFromIn) (nodeView, error) {
	return edit(e, ctx, in.nodeIn, engine.NodeFields{ResultsFrom: &in.NodeIDs})
}

// edit changes fields of a node and returns it as it is then.
func edit(e *engine.Engine, ctx context.Context, in nodeIn, f engine.NodeFields) (nodeView, error) {
	return patchNode(e, ctx, engine.UpdateNodeIn{PlanID: in.PlanID, NodeID: in.NodeID, NodeFields: f})
}
