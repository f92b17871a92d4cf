package handlers

import (
	"github.com/clearbox-go/clearbox/engine/plan"
)

// agentView is the agent that runs, or would run, a node.
type agentView struct {
	Name             string         `json:"name"`
	Harness          string         `json:"harness"`
	Model            *string        `json:"model"`
	ProfileID        plan.ProfileID `json:"profile_id"`
	Capability       string         `json:"capability"`
	CapabilitySource string         `json:"capability_source"`
}

func agentOf(p *plan.Profile, capability, source string) agentView {
	return agentView{p.Name, p.Harness, orNull(&p.Model), p.ID, capability, source}
}

// sourcedView also says where that was decided.
type sourcedView struct {
	agentView
	Source   string       `json:"source"`
	FromPlan *plan.PlanID `json:"from_plan"`
}

// nodeView is a node in REST answers.
type nodeView struct {
	PlanID         plan.PlanID   `json:"plan_id"`
	NodeID         plan.NodeID   `json:"node_id"`
	Title          string        `json:"title"`
	Description    string        `json:"description"`
	Status         plan.State    `json:"status"`
	Phase          *plan.Phase   `json:"phase"`
	PhaseSince     *float64      `json:"phase_since"`
	Kind           plan.NodeKind `json:"kind"`
	WaitingForUser bool          `json:"waiting_for_user"`

	Agent          *sourcedView    `json:"agent"`
	AgentOverride  *plan.ProfileID `json:"agent_override"`
	AgentProfileID *plan.ProfileID `json:"agent_profile_id"`
	AgentKind      *string         `json:"agent_kind"`
	AgentName      *string         `json:"agent_name"`
	AgentDone      int             `json:"agent_done"`
	SessionID      *string         `json:"session_id"`

	SubplanID         *plan.PlanID    `json:"subplan_id"`
	Progress          *plan.Tally     `json:"progress"`
	Files             []string        `json:"files"`
	Conflicts         []conflictView  `json:"conflicts"`
	BlockedBy         *blockedView    `json:"blocked_by"`
	Hold              *holdView       `json:"hold"`
	ResultsFrom       []plan.NodeID   `json:"results_from"`
	StartedDependants []dependantView `json:"started_dependants"`

	Result           *string     `json:"result"`
	Error            *string     `json:"error"`
	Review           *reviewView `json:"review"`
	ReworkBrief      *string     `json:"rework_brief"`
	UndeclaredFiles  []string    `json:"undeclared_files"`
	UndeclaredMore   int         `json:"undeclared_more"`
	UndeclaredShared bool        `json:"undeclared_shared"`

	TaskType           *string  `json:"task_type"`
	AcceptanceCriteria []string `json:"acceptance_criteria"`
	Isolation          *string  `json:"isolation"`
	CheckCommand       *string  `json:"check_command"`
	MaxAttempts        *int     `json:"max_attempts"`
	EstimateMinutes    *float64 `json:"estimate_minutes"`

	TokensIn      *int64       `json:"tokens_in"`
	TokensOut     *int64       `json:"tokens_out"`
	CostUSD       *float64     `json:"cost_usd"`
	Attempts      int          `json:"attempts"`
	Interruptions int          `json:"interruptions"`
	NotBefore     *float64     `json:"not_before"`
	StalledAt     *float64     `json:"stalled_at"`
	SkippedBy     *string      `json:"skipped_by"`
	SkippedCause  *plan.NodeID `json:"skipped_cause"`
	SkipNote      *string      `json:"skip_note"`
	CreatedAt     *float64     `json:"created_at"`
	StartedAt     *float64     `json:"started_at"`
	FinishedAt    *float64     `json:"finished_at"`
}

// conflictView is a node that shares files and could run at the same time.
type conflictView struct {
	PlanID plan.PlanID `json:"plan_id"`
	NodeID plan.NodeID `json:"node_id"`
	Title  string      `json:"title"`
	Files  []string    `json:"files"`
}

// blockedView is the node that a ready one waits for, because of files.
type blockedView struct {
	conflictView
	Reason string `json:"reason"`
}

// holdView says why a ready node has not started.
type holdView struct {
	Phase  plan.Phase `json:"phase"` // queued files slot limit budget person
	Until  *float64   `json:"until"` // it starts then at the earliest
	By     *stepRef   `json:"by"`    // what goes first, for files
	Reason *string    `json:"reason"`
}

// stepRef names a node.
type stepRef struct {
	PlanID plan.PlanID `json:"plan_id"`
	NodeID plan.NodeID `json:"node_id"`
	Title  string      `json:"title"`
}

func holdOf(s *plan.Snapshot, n *plan.Node) *holdView {
	h, held := s.Holds[n.Ref()]
	if n.State != plan.Ready || !held {
		return nil
	}
	v := &holdView{Phase: h.Phase, Until: seconds(&h.Until), Reason: orNull(&h.Reason)}
	if by := s.Node(h.By); by != nil {
		v.By = &stepRef{by.PlanID, by.ID, by.Title}
	}
	return v
}

type dependantView struct {
	NodeID plan.NodeID `json:"node_id"`
	Title  string      `json:"title"`
	Status plan.State  `json:"status"`
}

func nodeViewOf(s *plan.Snapshot, n *plan.Node) nodeView {
	v := nodeView{PlanID: n.PlanID, NodeID: n.ID, Title: n.Title, Description: n.Description, Status: n.State,
		Phase: phaseOf(s, n), PhaseSince: seconds(&n.PhaseSince), Kind: n.Kind, WaitingForUser: n.WaitingForUser(),
		Agent: nodeAgent(s, n), AgentOverride: orNull(&n.Profile), AgentProfileID: orNull(&n.Profile),
		AgentKind: orNull(&n.AgentKind), AgentName: orNull(&n.AgentName), AgentDone: zeroOne(n.AgentDone),
		SessionID: orNull(&n.SessionID), SubplanID: orNull(&n.Subplan), Files: paths(n), Conflicts: conflictsOf(s, n),
		BlockedBy: blockedBy(s, n), Review: reviewViewOf(s.Reviews[n.Ref()]), Hold: holdOf(s, n), ResultsFrom: listed(n.ResultsFrom), StartedDependants: dependantsOf(s, n),
		Result: n.Result, Error: n.Error, ReworkBrief: n.ReworkBrief, UndeclaredFiles: listed(n.Undeclared),
		UndeclaredMore: n.UndeclaredMore, UndeclaredShared: n.UndeclaredShared, TaskType: orNull(&n.TaskType),
		AcceptanceCriteria: listed(n.Criteria), Isolation: orNull(&n.Isolation), CheckCommand: orNull(&n.CheckCommand),
		MaxAttempts: orNull(&n.MaxAttempts), EstimateMinutes: orNull(&n.EstimateMinutes), TokensIn: n.TokensIn,
		TokensOut: n.TokensOut, CostUSD: n.CostUSD, Attempts: n.Attempts, Interruptions: n.Interruptions, NotBefore: seconds(&n.NotBefore),
		StalledAt: seconds(&n.StalledAt),
		SkippedBy: orNull(&n.SkippedBy), SkippedCause: orNull(&n.SkippedCause), SkipNote: orNull(&n.SkipNote),
		CreatedAt: seconds(&n.CreatedAt), StartedAt: seconds(&n.StartedAt), FinishedAt: seconds(&n.FinishedAt)}
	if n.Subplan != 0 {
		t := s.Tally(n.Subplan)
		v.Progress = &t
	}
	return v
}

// phaseOf says what a running node is at, or what a ready one waits for.
func phaseOf(s *plan.Snapshot, n *plan.Node) *plan.Phase {
	phase := n.Phase
	switch hold := s.Holds[n.Ref()]; {
	case n.WaitingForUser():
		phase = plan.PhasePerson
	case n.State == plan.Ready && hold.Phase != "":
		phase = hold.Phase
	}
	return orNull(&phase)
}

func nodeAgent(s *plan.Snapshot, n *plan.Node) *sourcedView {
	a := s.Agent(n)
	if a.Profile == nil {
		return nil
	}
	return &sourcedView{agentOf(a.Profile, a.Capability, a.CapabilitySource), a.Source, orNull(&a.FromPlan)}
}

func paths(n *plan.Node) []string {
	out := make([]string, len(n.Files))
	for i, f := range n.Files {
		out[i] = f.Path
	}
	return out
}

// listed returns a list that is sent as [] when it is empty.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func conflictsOf(s *plan.Snapshot, n *plan.Node) []conflictView {
	list := s.Conflicts(n.Ref())
	out := make([]conflictView, len(list))
	for i, c := range list {
		out[i] = conflictView{c.Ref.Plan, c.Ref.Node, s.Node(c.Ref).Title, c.Files}
	}
	return out
}

func blockedBy(s *plan.Snapshot, n *plan.Node) *blockedView {
	hold := s.Holds[n.Ref()]
	by := s.Node(hold.By)
	if n.State != plan.Ready || hold.Phase != plan.PhaseFiles || by == nil {
		return nil
	}
	return &blockedView{conflictView{by.PlanID, by.ID, by.Title, plan.SharedFiles(n.Files, by.Files)}, hold.Reason}
}

func dependantsOf(s *plan.Snapshot, n *plan.Node) []dependantView {
	out := []dependantView{}
	for _, id := range s.StartedDependants(n.Ref()) {
		d := s.Node(plan.Ref{Plan: n.PlanID, Node: id})
		out = append(out, dependantView{id, d.Title, d.State})
	}
	return out
}

// nodePage is the answer of GET /api/plans/{id}/nodes/{n}.
type nodePage struct {
	Node         nodeView      `json:"node"`
	Predecessors []plan.NodeID `json:"predecessors"`
	told         transcript    // in the keys events and more
}

func (p nodePage) encode() ([]byte, error) {
	type head nodePage // without encode
	b, err := marshal(head(p))
	if err != nil {
		return nil, err
	}
	return p.told.appendTo(b), nil
}
