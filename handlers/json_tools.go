package handlers

import (
	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// graphView is the answer of the tool get_plan.
type graphView struct {
	PlanID           plan.PlanID      `json:"plan_id"`
	Title            string           `json:"title"`
	Description      string           `json:"description"`
	WorkingDirectory string           `json:"working_directory"`
	TestInstructions *string          `json:"test_instructions"`
	Parent           *[2]int64        `json:"parent"`
	MaxParallel      *int             `json:"max_parallel"`
	IsolateSteps     bool             `json:"isolate_steps"`
	OnFailure        *string          `json:"on_failure"`
	MaxAttempts      *int             `json:"max_attempts"`
	MaxTokens        *int64           `json:"max_tokens"`
	MaxCostUSD       *float64         `json:"max_cost_usd"`
	StallAfter       *int64           `json:"stall_after"`
	Budget           budgetView       `json:"budget"`
	DefaultAgent     *string          `json:"default_agent"`
	Started          bool             `json:"started"`
	Approval         plan.Approval    `json:"approval"`
	Status           plan.Status      `json:"status"`
	Nodes            []stepView       `json:"nodes"`
	Edges            [][2]plan.NodeID `json:"edges"`
}

// stepView is a node in it.
type stepView struct {
	NodeID             plan.NodeID   `json:"node_id"`
	Title              string        `json:"title"`
	Description        string        `json:"description"`
	Status             plan.State    `json:"status"`
	Kind               plan.NodeKind `json:"kind"`
	WaitingForUser     bool          `json:"waiting_for_user"`
	Agent              *agentView    `json:"agent"`
	AgentOverride      *string       `json:"agent_override"`
	SubplanID          *plan.PlanID  `json:"subplan_id"`
	Files              []string      `json:"files"`
	Conflicts          [][2]int64    `json:"conflicts"`
	ResultsFrom        []plan.NodeID `json:"results_from"`
	TaskType           *string       `json:"task_type"`
	AcceptanceCriteria []string      `json:"acceptance_criteria"`
	MaxAttempts        *int          `json:"max_attempts"`
	Attempts           int           `json:"attempts"`
	Hold               *holdView     `json:"hold"`
	SkippedBy          *string       `json:"skipped_by"`
	SkipNote           *string       `json:"skip_note"`
	ReworkBrief        *string       `json:"rework_brief"`
	Result             *string       `json:"result"`
	Error              *string       `json:"error"`
	UndeclaredFiles    []string      `json:"undeclared_files"`
	UndeclaredMore     int           `json:"undeclared_more"`
	UndeclaredShared   bool          `json:"undeclared_shared"`
}

func graphViewOf(e *engine.Engine, s *plan.Snapshot, id plan.PlanID) graphView {
	p, root := s.Plan(id), s.Root()
	v := graphView{PlanID: id, Title: p.Title, Description: p.Description, WorkingDirectory: e.WorkDirOf(root),
		TestInstructions: orNull(&root.TestInstructions), MaxParallel: orNull(&root.MaxParallel), IsolateSteps: isolates(root),
		OnFailure: orNull(&root.OnFailure), MaxAttempts: orNull(&root.MaxAttempts), MaxTokens: orNull(&root.MaxTokens),
		MaxCostUSD: orNull(&root.MaxCostUSD), StallAfter: orNull(&root.StallAfter), Budget: budgetOf(root),
		DefaultAgent: nameOf(s.Profiles[p.DefaultProfile]), Started: root.Started, Approval: approval(root), Status: s.Status(id),
		Edges: edgesOf(s, id)}
	if !p.TopLevel() {
		pair := pairOf(p.Parent())
		v.Parent = &pair
	}
	nodes := s.NodesOf(id)
	v.Nodes = make([]stepView, len(nodes))
	for i, n := range nodes {
		v.Nodes[i] = stepViewOf(s, n)
	}
	return v
}

func pairOf(r plan.Ref) [2]int64 { return [2]int64{int64(r.Plan), int64(r.Node)} }

func nameOf(p *plan.Profile) *string {
	if p == nil {
		return nil
	}
	return &p.Name
}

func stepViewOf(s *plan.Snapshot, n *plan.Node) stepView {
	v := stepView{NodeID: n.ID, Title: n.Title, Description: n.Description, Status: n.State, Kind: n.Kind,
		WaitingForUser: n.WaitingForUser(), AgentOverride: nameOf(s.Profiles[n.Profile]), SubplanID: orNull(&n.Subplan),
		Files: paths(n), ResultsFrom: listed(n.ResultsFrom), TaskType: orNull(&n.TaskType), AcceptanceCriteria: listed(n.Criteria),
		MaxAttempts: orNull(&n.MaxAttempts), Attempts: n.Attempts, Hold: holdOf(s, n), SkippedBy: orNull(&n.SkippedBy),
		SkipNote: orNull(&n.SkipNote), ReworkBrief: n.ReworkBrief,
		Result: n.Result, Error: n.Error, UndeclaredFiles: listed(n.Undeclared), UndeclaredMore: n.UndeclaredMore,
		UndeclaredShared: n.UndeclaredShared, Conflicts: [][2]int64{}}
	if a := s.Agent(n); a.Profile != nil {
		agent := agentOf(a.Profile, a.Capability, a.CapabilitySource)
		v.Agent = &agent
	}
	for _, c := range s.Conflicts(n.Ref()) {
		v.Conflicts = append(v.Conflicts, pairOf(c.Ref))
	}
	return v
}
