package handlers

import (
	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// The public JSON is a contract: names, types and what is null. Every key is
// always there. Some fields of plan and node rows are 0 and 1 where others are
// booleans; clients rely on that.

// orNull returns nil for a zero value, so that it is sent as null. It points
// into what it is given.
func orNull[T comparable](v *T) *T {
	var zero T
	if *v == zero {
		return nil
	}
	return v
}

// seconds returns a moment as the plain number that it is sent as, which encodes
// several times faster than a type with a method of its own; nil for never.
func seconds(at *plan.Stamp) *float64 { return (*float64)(orNull(at)) }

// zeroOne returns 1 for true.
func zeroOne(b bool) int {
	if b {
		return 1
	}
	return 0
}

// overviewView is a top-level plan in GET /api/plans.
type overviewView struct {
	ID               plan.PlanID    `json:"id"`
	Title            string         `json:"title"`
	Started          bool           `json:"started"`
	Executor         *plan.Executor `json:"executor"`
	Status           plan.Status    `json:"status"`
	Approval         plan.Approval  `json:"approval"`
	Progress         plan.Tally     `json:"progress"`
	CreatedAt        *float64       `json:"created_at"`
	WorkingDirectory string         `json:"working_directory"`
}

func overviews(e *engine.Engine, list []engine.Overview) []overviewView {
	out := make([]overviewView, len(list))
	for i := range list {
		p := &list[i].Plan
		out[i] = overviewView{ID: p.ID, Title: p.Title, Started: p.Started, Executor: orNull(&p.Executor), Status: list[i].State,
			Approval: approval(p), Progress: list[i].Tally, CreatedAt: seconds(&p.CreatedAt), WorkingDirectory: e.WorkDirOf(p)}
	}
	return out
}

func approval(p *plan.Plan) plan.Approval {
	if p.Approval == "" {
		return plan.NoApproval
	}
	return p.Approval
}

// briefView is a top-level plan in the answer of list_plans.
type briefView struct {
	PlanID   plan.PlanID    `json:"plan_id"`
	Title    string         `json:"title"`
	Started  bool           `json:"started"`
	Executor *plan.Executor `json:"executor"`
	Status   plan.Status    `json:"status"`
	Progress plan.Tally     `json:"progress"`
}

func briefs(list []engine.Overview) []briefView {
	out := make([]briefView, len(list))
	for i := range list {
		p := &list[i].Plan
		out[i] = briefView{p.ID, p.Title, p.Started, orNull(&p.Executor), list[i].State, list[i].Tally}
	}
	return out
}

// planRow is a plan's own fields.
type planRow struct {
	ID               plan.PlanID     `json:"id"`
	Title            string          `json:"title"`
	Description      string          `json:"description"`
	ParentPlanID     *plan.PlanID    `json:"parent_plan_id"`
	ParentNodeID     *plan.NodeID    `json:"parent_node_id"`
	Cwd              *string         `json:"cwd"`
	Started          int             `json:"started"`
	Executor         *plan.Executor  `json:"executor"`
	DefaultProfile   *plan.ProfileID `json:"default_agent_profile_id"`
	ReviewProfile    *plan.ProfileID `json:"review_agent_profile_id"`
	NextNodeID       plan.NodeID     `json:"next_node_id"`
	MaxParallel      *int            `json:"max_parallel"`
	TestInstructions *string         `json:"test_instructions"`
	IsolateSteps     *int            `json:"isolate_steps"`
	Isolation        *string         `json:"isolation"`
	OnFailure        *string         `json:"on_failure"`
	ReviewPolicy     *string         `json:"review_policy"`
	MaxAttempts      *int            `json:"max_attempts"`
	MaxTokens        *int64          `json:"max_tokens"`
	MaxCostUSD       *float64        `json:"max_cost_usd"`
	CheckCommand     *string         `json:"check_command"`
	Deliver          *string         `json:"deliver"`
	StallAfter       *int64          `json:"stall_after"`
	Approval         plan.Approval   `json:"approval"`
	Revision         int64           `json:"revision"`
	CreatedAt        *float64        `json:"created_at"`
	StartedAt        *float64        `json:"started_at"`
	FinishedAt       *float64        `json:"finished_at"`
}

func rowOf(p *plan.Plan) planRow {
	row := planRow{ID: p.ID, Title: p.Title, Description: p.Description, ParentPlanID: orNull(&p.ParentPlan),
		ParentNodeID: orNull(&p.ParentNode), Cwd: orNull(&p.WorkDir), Started: zeroOne(p.Started), Executor: orNull(&p.Executor),
		DefaultProfile: orNull(&p.DefaultProfile), ReviewProfile: orNull(&p.ReviewProfile), NextNodeID: p.NextNode,
		MaxParallel: orNull(&p.MaxParallel), TestInstructions: orNull(&p.TestInstructions), Isolation: orNull(&p.Isolation),
		OnFailure: orNull(&p.OnFailure), ReviewPolicy: orNull(&p.ReviewPolicy), MaxAttempts: orNull(&p.MaxAttempts),
		MaxTokens: orNull(&p.MaxTokens), MaxCostUSD: orNull(&p.MaxCostUSD), CheckCommand: orNull(&p.CheckCommand),
		Deliver: orNull(&p.Deliver), StallAfter: orNull(&p.StallAfter), Approval: approval(p), Revision: p.Revision,
		CreatedAt: seconds(&p.CreatedAt), StartedAt: seconds(&p.StartedAt), FinishedAt: seconds(&p.FinishedAt)}
	if isolates(p) {
		row.IsolateSteps = new(int)
		*row.IsolateSteps = 1
	}
	return row
}

// isolates reports whether a plan's steps work in folders of their own.
func isolates(p *plan.Plan) bool { return p.Isolation != "" && p.Isolation != "none" }

// planView is the answer of GET /api/plans/{id}.
type planView struct {
	Plan             planRow          `json:"plan"`
	DefaultAgent     *defaultView     `json:"default_agent"`
	WorkingDirectory string           `json:"working_directory"`
	TestInstructions *string          `json:"test_instructions"`
	Root             rootView         `json:"root"`
	Budget           budgetView       `json:"budget"`
	Status           plan.Status      `json:"status"`
	Progress         plan.Tally       `json:"progress"`
	Ancestors        []ancestorView   `json:"ancestors"`
	Active           []activeView     `json:"active"`
	Waiting          []waitingView    `json:"waiting"`
	Review           *reviewView      `json:"review"`
	ReviewProfile    *plan.ProfileID  `json:"review_agent_profile_id"`
	TrimmedAt        *float64         `json:"trimmed_at"` // until when transcripts and diffs were removed
	Nodes            []nodeView       `json:"nodes"`
	Edges            [][2]plan.NodeID `json:"edges"`
}

// budgetView is what a plan tree may spend and has spent, subplans and runs
// before a reset included.
type budgetView struct {
	MaxTokens    *int64   `json:"max_tokens"`
	MaxCostUSD   *float64 `json:"max_cost_usd"`
	SpentTokens  int64    `json:"spent_tokens"` // in and out
	SpentCostUSD float64  `json:"spent_cost_usd"`
	UncostedRuns int      `json:"uncosted_runs"` // ended runs whose cost nobody knows
	Exhausted    *string  `json:"exhausted"`     // why nothing new starts, and what to raise
}

func budgetOf(root *plan.Plan) budgetView {
	over := root.OverBudget()
	return budgetView{orNull(&root.MaxTokens), orNull(&root.MaxCostUSD), root.Tokens, root.Spent.CostUSD, root.Uncosted, orNull(&over)}
}

type defaultView struct {
	ID      plan.ProfileID `json:"id"`
	Name    string         `json:"name"`
	Harness string         `json:"harness"`
	Model   *string        `json:"model"`
}

type rootView struct {
	ID           plan.PlanID    `json:"id"`
	Started      bool           `json:"started"`
	Executor     *plan.Executor `json:"executor"`
	IsolateSteps bool           `json:"isolate_steps"`
}

type ancestorView struct {
	PlanID          plan.PlanID `json:"plan_id"`
	Title           string      `json:"title"`
	Description     string      `json:"description"`
	NodeID          plan.NodeID `json:"node_id"`
	NodeTitle       string      `json:"node_title"`
	NodeDescription string      `json:"node_description"`
}

type activeView struct {
	PlanID    plan.PlanID `json:"plan_id"`
	NodeID    plan.NodeID `json:"node_id"`
	Title     string      `json:"title"`
	AgentKind string      `json:"agent_kind"`
	AgentName string      `json:"agent_name"`
}

type waitingView struct {
	PlanID plan.PlanID `json:"plan_id"`
	NodeID plan.NodeID `json:"node_id"`
	Title  string      `json:"title"`
}

// reviewView is a reviewer's verdict.
type reviewView struct {
	Verdict  plan.Verdict `json:"verdict"`
	Summary  string       `json:"summary"`
	Findings *string      `json:"findings"`
	Agent    string       `json:"agent"`
	When     plan.Stamp   `json:"when"`
}

func planViewOf(e *engine.Engine, s *plan.Snapshot, id plan.PlanID) planView {
	p, root := s.Plan(id), s.Root()
	v := planView{Plan: rowOf(p), DefaultAgent: defaultOf(s.Profiles[p.DefaultProfile]), WorkingDirectory: e.WorkDirOf(root),
		TestInstructions: orNull(&root.TestInstructions), Status: s.Status(id), Progress: s.Tally(id),
		Budget:        budgetOf(root),
		Root:          rootView{root.ID, root.Started, orNull(&root.Executor), isolates(root)},
		TrimmedAt:     seconds(&s.TrimmedAt),
		ReviewProfile: orNull(&p.ReviewProfile), Review: reviewViewOf(s.Reviews[plan.Ref{Plan: id}]), Ancestors: []ancestorView{}, Active: []activeView{}, Waiting: []waitingView{},
		Edges: edgesOf(s, id)}
	for _, a := range s.Ancestors(id) {
		v.Ancestors = append(v.Ancestors, ancestorView{a.Plan.ID, a.Plan.Title, a.Plan.Description, a.Node.ID, a.Node.Title, a.Node.Description})
	}
	for _, n := range s.Active() {
		v.Active = append(v.Active, activeView{n.PlanID, n.ID, n.Title, n.AgentKind, n.AgentName})
	}
	for _, n := range s.Waiting() {
		v.Waiting = append(v.Waiting, waitingView{n.PlanID, n.ID, n.Title})
	}
	nodes := s.NodesOf(id)
	v.Nodes = make([]nodeView, len(nodes))
	for i, n := range nodes {
		v.Nodes[i] = nodeViewOf(s, n)
	}
	return v
}

func defaultOf(p *plan.Profile) *defaultView {
	if p == nil {
		return nil
	}
	return &defaultView{p.ID, p.Name, p.Harness, orNull(&p.Model)}
}

func edgesOf(s *plan.Snapshot, id plan.PlanID) [][2]plan.NodeID {
	edges := s.EdgesOf(id)
	out := make([][2]plan.NodeID, len(edges))
	for i, e := range edges {
		out[i] = [2]plan.NodeID{e.From, e.To}
	}
	return out
}
