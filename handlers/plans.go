package handlers

import (
	"context"
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// said is an answer that has nothing to tell but that it was done: {"ok": …}
// over REST, a sentence for models.
type said struct {
	OK   string `json:"ok"`
	text string
}

func (s said) toolText() string { return s.text }

// none is an input without fields.
type none struct{}

// planIn names a plan.
type planIn struct {
	PlanID plan.PlanID `json:"plan_id" param:"plan_id" jsonschema:"The plan's id."`
}

// observedPlanIn is a plan of a session that tracks its own work.
type observedPlanIn struct {
	Title            string            `json:"title" jsonschema:"One line that names the goal."`
	WorkingDirectory string            `json:"working_directory,omitempty" jsonschema:"Absolute path of the folder that you work in. Required for a top-level plan."`
	Description      string            `json:"description,omitempty" jsonschema:"The overall goal, for the user who watches."`
	Nodes            []engine.NodeSpec `json:"nodes,omitempty" jsonschema:"The steps."`
	Edges            [][]string        `json:"edges,omitempty" jsonschema:"Pairs [from, to] of keys: from must be done before to may start."`
	ParentPlanID     plan.PlanID       `json:"parent_plan_id,omitempty" jsonschema:"For a subplan: the plan of the step that it breaks down."`
	ParentNodeID     plan.NodeID       `json:"parent_node_id,omitempty" jsonschema:"For a subplan: that step."`
}

type observedPlanOut struct {
	engine.SubmitPlanOut
	Started string `json:"started"`
}

// submitObserved posts a plan and, where it is top-level, starts it: both or
// nothing.
func submitObserved(base string) func(*engine.Engine, context.Context, observedPlanIn) (observedPlanOut, error) {
	return func(e *engine.Engine, ctx context.Context, in observedPlanIn) (observedPlanOut, error) {
		whole := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: in.Title, Description: in.Description,
			WorkingDirectory: in.WorkingDirectory, ParentPlanID: in.ParentPlanID, ParentNodeID: in.ParentNodeID},
			Nodes: in.Nodes, Edges: in.Edges, Start: plan.External}
		out, err := e.SubmitPlan(ctx, whole)
		if err != nil {
			return observedPlanOut{}, err
		}
		text := fmt.Sprintf("started with executor external: claim its steps with claim_next_node. Tell the user its link: %s/#/plan/%d",
			strings.TrimSuffix(base, "/"), out.PlanID)
		if in.ParentPlanID != 0 {
			text = fmt.Sprintf("not by itself: its steps are ready once its parent step %d.%d is claimed and completed",
				in.ParentPlanID, in.ParentNodeID)
		}
		return observedPlanOut{out, text}, nil
	}
}

// ownPlanIn is an empty subplan of a worker.
type ownPlanIn struct {
	Title        string      `json:"title" jsonschema:"One line that names what the subplan achieves."`
	Description  string      `json:"description,omitempty" jsonschema:"What its steps have to know together."`
	ParentPlanID plan.PlanID `json:"parent_plan_id" jsonschema:"The plan of the step that it breaks down."`
	ParentNodeID plan.NodeID `json:"parent_node_id" jsonschema:"That step: your own, or one inside your subplan."`
}

func (in *ownPlanIn) plan() engine.PlanIn {
	return engine.PlanIn{Title: in.Title, Description: in.Description, ParentPlanID: in.ParentPlanID, ParentNodeID: in.ParentNodeID}
}

// wholeOwnPlanIn is a whole one.
type wholeOwnPlanIn struct {
	ownPlanIn
	Nodes []engine.NodeSpec `json:"nodes,omitempty" jsonschema:"The steps."`
	Edges [][]string        `json:"edges,omitempty" jsonschema:"Pairs [from, to] of keys: from must be done before to may start."`
}

func submitOwn(e *engine.Engine, ctx context.Context, in wholeOwnPlanIn) (engine.SubmitPlanOut, error) {
	return e.SubmitPlan(ctx, engine.SubmitPlanIn{PlanIn: in.plan(), Nodes: in.Nodes, Edges: in.Edges})
}

func createPlan(e *engine.Engine, ctx context.Context, in engine.PlanIn) (plan.PlanID, error) {
	out, err := e.SubmitPlan(ctx, engine.SubmitPlanIn{PlanIn: in})
	return out.PlanID, err
}

func createOwnPlan(e *engine.Engine, ctx context.Context, in ownPlanIn) (plan.PlanID, error) {
	return createPlan(e, ctx, in.plan())
}

func updatePlan(e *engine.Engine, ctx context.Context, in engine.UpdatePlanIn) (string, error) {
	return "updated", e.UpdatePlan(ctx, in)
}

type planRowView struct {
	Plan planRow `json:"plan"`
}

func patchPlan(e *engine.Engine, ctx context.Context, in engine.UpdatePlanIn) (planRowView, error) {
	if err := e.UpdatePlan(ctx, in); err != nil {
		return planRowView{}, err
	}
	s, err := e.Snapshot(ctx, in.PlanID)
	if err != nil {
		return planRowView{}, err
	}
	return planRowView{rowOf(s.Plan(in.PlanID))}, nil
}

type workdirIn struct {
	planIn
	WorkingDirectory *string `json:"working_directory" jsonschema:"Absolute path of an existing folder, or null."`
}

func setWorkdir(e *engine.Engine, ctx context.Context, in workdirIn) (string, error) {
	var dir string
	if in.WorkingDirectory != nil {
		dir = *in.WorkingDirectory
	}
	if err := e.SetWorkdir(ctx, in.PlanID, dir); err != nil {
		return "", err
	}
	if dir == "" {
		return "working directory reset to the server's own folder for the plan", nil
	}
	return "working directory set", nil
}

type putWorkdirIn struct {
	planIn
	Dir *string `json:"dir" jsonschema:"Absolute path of an existing folder, or null."`
}

type workdirView struct {
	planRowView
	WorkingDirectory string `json:"working_directory"`
}

func putWorkdir(e *engine.Engine, ctx context.Context, in putWorkdirIn) (workdirView, error) {
	if _, err := setWorkdir(e, ctx, workdirIn{in.planIn, in.Dir}); err != nil {
		return workdirView{}, err
	}
	s, err := e.Snapshot(ctx, in.PlanID)
	if err != nil {
		return workdirView{}, err
	}
	return workdirView{planRowView{rowOf(s.Plan(in.PlanID))}, e.WorkDirOf(s.Root())}, nil
}

func getPlan(e *engine.Engine, ctx context.Context, in planIn) (graphView, error) {
	s, err := e.Snapshot(ctx, in.PlanID)
	if err != nil {
		return graphView{}, err
	}
	return graphViewOf(e, s, in.PlanID), nil
}

func viewPlan(e *engine.Engine, ctx context.Context, in planIn) (planView, error) {
	s, err := e.Snapshot(ctx, in.PlanID)
	if err != nil {
		return planView{}, err
	}
	return planViewOf(e, s, in.PlanID), nil
}

func listPlans(e *engine.Engine, ctx context.Context, _ none) ([]briefView, error) {
	list, err := e.Overviews(ctx)
	return briefs(list), err
}

func viewPlans(e *engine.Engine, ctx context.Context, _ none) ([]overviewView, error) {
	list, err := e.Overviews(ctx)
	return overviews(e, list), err
}

func deletePlan(e *engine.Engine, ctx context.Context, in planIn) (said, error) {
	return said{"deleted", "deleted"}, e.DeletePlan(ctx, in.PlanID)
}

// agentIn gives a plan an agent.
type agentIn struct {
	planIn
	Agent engine.AgentRef `json:"agent" jsonschema:"Name or id of an agent profile, or null."`
}

type agentSet struct {
	said
	PlanID    plan.PlanID     `json:"plan_id"`
	ProfileID *plan.ProfileID `json:"default_agent_profile_id"`
}

func setPlanAgent(e *engine.Engine, ctx context.Context, in agentIn) (agentSet, error) {
	id, err := e.SetPlanAgent(ctx, in.PlanID, in.Agent)
	return agentSet{said{"set", agentSentence("runs on", in.Agent, "inherits its agent again")}, in.PlanID, orNull(&id)}, err
}

func agentSentence(verb string, agent engine.AgentRef, without string) string {
	if agent == "" {
		return "the plan " + without
	}
	return "the plan " + verb + " " + string(agent)
}

type startIn struct {
	planIn
	Executor string `json:"executor,omitempty" jsonschema:"builtin (default): Clearbox's own agents run the steps; external: they wait to be claimed."`
}

func startPlan(e *engine.Engine, ctx context.Context, in startIn) (said, error) {
	by, err := plan.ParseExecutor(in.Executor)
	if err != nil {
		return said{}, err
	}
	text := fmt.Sprintf("plan %d is started: its steps run as soon as they are ready", in.PlanID)
	if by == plan.External {
		text = fmt.Sprintf("plan %d is started with executor external: claim its steps with claim_next_node", in.PlanID)
	}
	return said{"started", text}, e.StartPlan(ctx, in.PlanID, by)
}

func stopPlan(e *engine.Engine, ctx context.Context, in planIn) (said, error) {
	return said{"stopped", fmt.Sprintf("plan %d is stopped", in.PlanID)}, e.StopPlan(ctx, in.PlanID)
}

func resetPlan(e *engine.Engine, ctx context.Context, in planIn) (said, error) {
	return said{"reset", fmt.Sprintf("plan %d is reset: every step is pending", in.PlanID)}, e.ResetPlan(ctx, in.PlanID)
}

type retriedOut struct {
	said
	Count int `json:"count"`
}

func retryFailed(e *engine.Engine, ctx context.Context, in planIn) (retriedOut, error) {
	n, err := e.RetryFailed(ctx, in.PlanID)
	return retriedOut{said{"retrying", fmt.Sprintf("retrying %d failed steps", n)}, n}, err
}
