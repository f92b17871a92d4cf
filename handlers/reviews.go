package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// reviewRows are what clients may ask about the judgement of finished work.
func reviewRows() []operation {
	return []operation{
		op("set_plan_review_agent", "Set the agent profile (name or id) that reviews the steps of a plan, and the plan itself when it is done; "+
			"null inherits again, or on a top-level plan turns automatic reviews off. A step is reviewed when it is done and changed files.",
			doors{mcp: full}, setReviewAgentText),
		op("put_review_agent", "Set who reviews a plan.", doors{rest: put("/plans/:plan_id/review-agent")}, setReviewAgent),
		op("review_node", "Have a finished step reviewed now, and wait for the verdict: ok, concerns or error (none could be formed). Without agent "+
			"the plan's reviewer does it. It replaces a review of the same step that waits or runs.", doors{mcp: full}, reviewNode),
		op("post_review", "Have a finished node reviewed now.", doors{rest: post("/plans/:plan_id/nodes/:node_id/review")}, postReview),
		op("review_plan", "Have a plan reviewed as a whole now, and wait for the verdict. Without agent the plan's reviewer does it.",
			doors{mcp: full}, reviewPlan),
		op("post_plan_review", "Have a plan reviewed as a whole now.", doors{rest: post("/plans/:plan_id/review")}, postPlanReview),
		op("get_reviews", "Read the reviews of a plan and of all steps in it, also in subplans.", doors{mcp: full}, getReviews),
		op("export_plan", "Read a plan as Markdown: its steps with results, reviews and what they changed; with diffs false, the names of changed "+
			"files alone.", doors{mcp: full | observe}, exportPlan),
		op("node_diffs", "Read what a node's last run changed in its declared files.", doors{rest: get("/plans/:plan_id/nodes/:node_id/diffs")}, nodeDiffs),
		op("run_diffs", "Read what one run changed.", doors{rest: get("/plans/:plan_id/nodes/:node_id/runs/:run/diffs").ours()}, runDiffs),
		op("follow_up", "Make a step of what a review found: it comes after the reviewed one, with its files, agent and result, and starts where "+
			"the plan runs.", doors{rest: post("/plans/:plan_id/nodes/:node_id/follow-up").ours()}, followUp),
		op("judge_node", "Have a step judged again whose judge came to no verdict.", doors{rest: post("/plans/:plan_id/nodes/:node_id/judge").ours()}, judgeNode),
		op("accept_node", "Accept a step whose judge came to no verdict.", doors{rest: post("/plans/:plan_id/nodes/:node_id/accept").ours()}, acceptNode),
		op("node_judgements", "List what judges found of all attempts at a node.",
			doors{rest: get("/plans/:plan_id/nodes/:node_id/judgements").ours()}, nodeJudgements),
	}
}

// reviewRow is a review as tools give it; every key is there.
type reviewRow struct {
	PlanID    plan.PlanID  `json:"plan_id"`
	NodeID    *plan.NodeID `json:"node_id"` // null: of the plan
	Verdict   plan.Verdict `json:"verdict"`
	Summary   string       `json:"summary"`
	Findings  *string      `json:"findings"`
	AgentName string       `json:"agent_name"`
	TokensIn  *int64       `json:"tokens_in"`
	TokensOut *int64       `json:"tokens_out"`
	CreatedAt plan.Stamp   `json:"created_at"`
}

func reviewRowOf(r *plan.Review) *reviewRow {
	if r == nil {
		return nil
	}
	return &reviewRow{r.PlanID, orNull(&r.NodeID), r.Verdict, r.Summary, r.Findings, r.AgentName, r.TokensIn, r.TokensOut, r.CreatedAt}
}

func reviewViewOf(r *plan.Review) *reviewView {
	if r == nil {
		return nil
	}
	return &reviewView{Verdict: r.Verdict, Summary: r.Summary, Findings: r.Findings, Agent: r.AgentName, When: r.CreatedAt}
}

type reviewAgentSet struct {
	OK      string          `json:"ok"`
	PlanID  plan.PlanID     `json:"plan_id"`
	Profile *plan.ProfileID `json:"review_agent_profile_id"`
}

func setReviewAgent(e *engine.Engine, ctx context.Context, in agentIn) (reviewAgentSet, error) {
	id, err := e.SetReviewAgent(ctx, in.PlanID, in.Agent)
	return reviewAgentSet{"set", in.PlanID, orNull(&id)}, err
}

func setReviewAgentText(e *engine.Engine, ctx context.Context, in agentIn) (string, error) {
	_, err := e.SetReviewAgent(ctx, in.PlanID, in.Agent)
	return agentSentence("is reviewed by", in.Agent, "inherits its review agent again"), err
}

type reviewNodeIn struct {
	nodeIn
	Agent engine.AgentRef `json:"agent,omitempty" jsonschema:"Name or id of the agent profile for this review alone."`
}

func reviewNode(e *engine.Engine, ctx context.Context, in reviewNodeIn) (*reviewRow, error) {
	r, err := reviewStep(e, ctx, in)
	return reviewRowOf(r), err
}

// reviewStep has a step reviewed; number 0 stands for no step here.
func reviewStep(e *engine.Engine, ctx context.Context, in reviewNodeIn) (*plan.Review, error) {
	if in.NodeID == 0 {
		return nil, plan.Errorf(plan.NotFound, "plan %d has no step 0", in.PlanID)
	}
	return e.Review(ctx, in.ref(), in.Agent)
}

type reviewPage struct {
	Review *reviewView `json:"review"`
}

func postReview(e *engine.Engine, ctx context.Context, in reviewNodeIn) (reviewPage, error) {
	r, err := reviewStep(e, ctx, in)
	return reviewPage{reviewViewOf(r)}, err
}

type reviewPlanIn struct {
	planIn
	Agent engine.AgentRef `json:"agent,omitempty" jsonschema:"Name or id of the agent profile for this review alone."`
}

func reviewPlan(e *engine.Engine, ctx context.Context, in reviewPlanIn) (*reviewRow, error) {
	r, err := e.Review(ctx, plan.Ref{Plan: in.PlanID}, in.Agent)
	return reviewRowOf(r), err
}

func postPlanReview(e *engine.Engine, ctx context.Context, in reviewPlanIn) (reviewPage, error) {
	r, err := e.Review(ctx, plan.Ref{Plan: in.PlanID}, in.Agent)
	return reviewPage{reviewViewOf(r)}, err
}

type reviewsOut struct {
	PlanReview  *reviewRow   `json:"plan_review"`
	NodeReviews []*reviewRow `json:"node_reviews"`
}

func getReviews(e *engine.Engine, ctx context.Context, in planIn) (reviewsOut, error) {
	out := reviewsOut{NodeReviews: []*reviewRow{}}
	s, err := e.Snapshot(ctx, in.PlanID)
	if err != nil {
		return out, err
	}
	out.PlanReview = reviewRowOf(s.Reviews[plan.Ref{Plan: in.PlanID}])
	s.WalkFrom(in.PlanID, func(n *plan.Node) {
		if r := s.Reviews[n.Ref()]; r != nil {
			out.NodeReviews = append(out.NodeReviews, reviewRowOf(r))
		}
	})
	return out, nil
}

type exportIn struct {
	planIn
	Diffs *bool `json:"diffs,omitempty" query:"diffs" jsonschema:"Whether the diffs are in it; default true."`
}

func exportPlan(e *engine.Engine, ctx context.Context, in exportIn) (string, error) {
	return e.Export(ctx, in.PlanID, in.Diffs == nil || *in.Diffs)
}

// exportMarkdown answers with a plan as Markdown.
func (s *server) exportMarkdown(c echo.Context) error {
	id, err := numberIn(c, "plan_id")
	if err != nil {
		return err
	}
	diffs, err := switchIn(c, "diffs")
	if err != nil {
		return err
	}
	text, err := s.engine.Export(c.Request().Context(), plan.PlanID(id), diffs)
	if err != nil {
		return err
	}
	attach(c, fmt.Sprintf("plan-%d.md", id))
	return c.Blob(http.StatusOK, "text/markdown; charset=utf-8", []byte(text))
}

type diffView struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
}

type diffsView struct {
	Diffs []diffView `json:"diffs"`
}

func nodeDiffs(e *engine.Engine, ctx context.Context, in nodeIn) (diffsView, error) {
	files, err := e.Diffs(ctx, in.ref())
	out := diffsView{[]diffView{}}
	for _, f := range files {
		if f.Declared {
			out.Diffs = append(out.Diffs, diffView{f.Path, strings.ToValidUTF8(f.Diff, "\uFFFD")})
		}
	}
	return out, err
}

type runDiffsView struct {
	Files []plan.FileDiff `json:"files"`
}

func runDiffs(e *engine.Engine, ctx context.Context, in oneRunIn) (runDiffsView, error) {
	run, err := e.RunOf(ctx, in.ref(), in.Number)
	if err != nil {
		return runDiffsView{}, err
	}
	files, err := e.DiffsOf(ctx, run)
	if files == nil {
		files = []plan.FileDiff{}
	}
	for i := range files {
		files[i].Diff = strings.ToValidUTF8(files[i].Diff, "\uFFFD")
	}
	return runDiffsView{files}, err
}

func judgeNode(e *engine.Engine, ctx context.Context, in nodeIn) (said, error) {
	return said{"judging", ""}, e.JudgeAgain(ctx, in.ref())
}

type acceptIn struct {
	nodeIn
	Note string `json:"note,omitempty" jsonschema:"Why it is good enough; shown in the transcript."`
}

func acceptNode(e *engine.Engine, ctx context.Context, in acceptIn) (said, error) {
	return said{"accepted", ""}, e.Accept(ctx, in.ref(), in.Note)
}

type judgementView struct {
	Verdict   plan.Verdict     `json:"verdict"`
	Reason    string           `json:"reason"`
	Criteria  plan.FindingList `json:"criteria"`
	CheckExit *int             `json:"check_exit"`
	CheckText *string          `json:"check_text"`
	AgentName string           `json:"agent_name"`
	State     plan.ReviewState `json:"state"`
	CreatedAt plan.Stamp       `json:"created_at"`
}

type judgementsView struct {
	Judgements []judgementView `json:"judgements"`
}

func nodeJudgements(e *engine.Engine, ctx context.Context, in nodeIn) (judgementsView, error) {
	list, err := e.Judgements(ctx, in.ref())
	out := judgementsView{make([]judgementView, len(list))}
	for i := range list {
		r := &list[i]
		criteria := r.Criteria
		if criteria == nil {
			criteria = plan.FindingList{}
		}
		out.Judgements[i] = judgementView{r.Verdict, r.Summary, criteria, r.CheckExit, orNull(&r.CheckText), r.AgentName, r.State, r.CreatedAt}
	}
	return out, err
}
