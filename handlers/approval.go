package handlers

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// approvalRows are what clients may ask about plans that are made from a goal, and
// about the approval of plans. Over MCP nobody approves, unless the server was told
// so: the author of a plan is not who approves it.
func approvalRows(mcpMayApprove bool) []operation {
	approver := door(0)
	if mcpMayApprove {
		approver = full
	}
	return []operation{
		op("plan_from_goal", "Have a plan made from a goal: a planner looks at the repository and proposes steps, which a person then approves, "+
			"changes or rejects in the browser. Answers the plan's id at once.", doors{rest: post("/plans/from-goal").ours(), mcp: full}, planFromGoal),
		op("approve_plan", "Approve the revision of a plan that you looked at; with start, start it too.",
			doors{rest: post("/plans/:plan_id/approve").ours(), mcp: approver}, approvePlan),
		op("revise_plan", "Ask the planner of a plan that waits for approval for changes; it makes a new revision.",
			doors{rest: post("/plans/:plan_id/revise").ours(), mcp: full}, revisePlan),
		op("reject_plan", "Reject a plan that waits for approval.", doors{rest: post("/plans/:plan_id/reject").ours(), mcp: full}, rejectPlan),
		op("replan", "Plan again after planning failed, or after a rejection.", doors{rest: post("/plans/:plan_id/replan").ours()}, replan),
		op("list_revisions", "List the revisions of a plan, with its goal and what its planner said of it.",
			doors{rest: get("/plans/:plan_id/revisions").ours()}, listRevisions),
		op("get_revision", "Read a plan as it stood at one revision.", doors{rest: get("/plans/:plan_id/revisions/:revision").ours()}, getRevision),
		op("propose_plan", "Hand in the plan that you made: whole, with all steps and edges. If anything is wrong nothing is taken, and the answer "+
			"lists every fault: put them right and call this again.", doors{mcp: planner}, proposePlan),
	}
}

type plannedOut struct {
	PlanID plan.PlanID `json:"plan_id"`
	text   string
}

func (p plannedOut) toolText() string { return p.text }

func planFromGoal(e *engine.Engine, ctx context.Context, in engine.FromGoalIn) (plannedOut, error) {
	id, err := e.PlanFromGoal(ctx, in)
	return plannedOut{id, fmt.Sprintf("plan %d is being planned; a person approves it when that is done", id)}, err
}

func approvePlan(e *engine.Engine, ctx context.Context, in engine.ApproveIn) (said, error) {
	return said{"approved", fmt.Sprintf("revision %d of plan %d is approved", in.Revision, in.PlanID)}, e.Approve(ctx, in)
}

type feedbackIn struct {
	planIn
	Feedback string `json:"feedback" jsonschema:"What to change."`
}

func revisePlan(e *engine.Engine, ctx context.Context, in feedbackIn) (said, error) {
	return said{"planning", fmt.Sprintf("plan %d goes back to its planner", in.PlanID)}, e.Revise(ctx, in.PlanID, in.Feedback)
}

type reasonIn struct {
	planIn
	Reason string `json:"reason,omitempty" jsonschema:"Why; kept with the revision."`
}

func rejectPlan(e *engine.Engine, ctx context.Context, in reasonIn) (said, error) {
	return said{"rejected", fmt.Sprintf("plan %d is rejected", in.PlanID)}, e.Reject(ctx, in.PlanID, in.Reason)
}

type guidanceIn struct {
	planIn
	Guidance string `json:"guidance,omitempty" jsonschema:"What to do better."`
}

func replan(e *engine.Engine, ctx context.Context, in guidanceIn) (said, error) {
	return said{"planning", fmt.Sprintf("plan %d is planned again", in.PlanID)}, e.Replan(ctx, in.PlanID, in.Guidance)
}

// goalView is what a plan was made from; null when it was not made from a goal.
type goalView struct {
	Goal        string   `json:"goal"`
	Constraints *string  `json:"constraints"`
	Summary     *string  `json:"summary"`
	TechStack   []string `json:"tech_stack"`
	Risks       []string `json:"risks"`
	Assumptions []string `json:"assumptions"`
	Problems    []string `json:"problems"`
}

type revisionView struct {
	Revision  int64       `json:"revision"`
	Author    string      `json:"author"`
	Feedback  *string     `json:"feedback"`
	CreatedAt plan.Stamp  `json:"created_at"`
	Decided   *string     `json:"decided"`
	DecidedAt *plan.Stamp `json:"decided_at"`
	Reason    *string     `json:"reason"`
}

func revisionViewOf(r *plan.Revision) revisionView {
	return revisionView{r.Number, r.Author, orNull(&r.Feedback), r.CreatedAt, orNull(&r.Decided), orNull(&r.DecidedAt), orNull(&r.Reason)}
}

type revisionsView struct {
	Goal      *goalView      `json:"goal"`
	Revisions []revisionView `json:"revisions"`
}

func listRevisions(e *engine.Engine, ctx context.Context, in planIn) (revisionsView, error) {
	g, list, err := e.GoalOf(ctx, in.PlanID)
	out := revisionsView{Revisions: make([]revisionView, len(list))}
	for i := range list {
		out.Revisions[i] = revisionViewOf(&list[i])
	}
	if g != nil {
		out.Goal = &goalView{g.Text, orNull(&g.Constraints), orNull(&g.Summary), listed([]string(g.TechStack)), listed([]string(g.Risks)),
			listed([]string(g.Assumptions)), listed([]string(g.Problems))}
	}
	return out, err
}

type oneRevisionIn struct {
	planIn
	Revision int64 `json:"-" param:"revision" jsonschema:"The number of the revision."`
}

type revisionPage struct {
	revisionView
	Plan json.RawMessage `json:"plan"`
}

func getRevision(e *engine.Engine, ctx context.Context, in oneRevisionIn) (revisionPage, error) {
	r, err := e.RevisionOf(ctx, in.PlanID, in.Revision)
	if err != nil {
		return revisionPage{}, err
	}
	return revisionPage{revisionViewOf(r), json.RawMessage(r.Proposal)}, nil
}

func proposePlan(e *engine.Engine, ctx context.Context, in engine.ProposalIn) (string, error) {
	return "the plan is taken; a person looks at it now", e.Propose(ctx, in)
}

const plannerInstructions = `You are the planner of one Clearbox plan: you look at the repository and hand in a plan that a person approves before anything runs.

` + planWriting + `

Hand the whole plan in with propose_plan. A refusal lists every fault: put all of them right and call it again. get_plan reads the plan as it stands.`
