// Package plan is the vocabulary of Clearbox and its pure rules: what plans,
// nodes, runs and profiles are, how states change, which graphs and files are
// legal, and whose turn it is. It has no clock, no disk and no network.
package plan

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
)

// PlanID numbers plans, globally, counting up.
type PlanID int64

// NodeID numbers the nodes of one plan: 1, 2, 3 … Node 0 stands for the plan
// itself where runs and events need a node.
type NodeID int64

// ProfileID numbers agent profiles; 0 means none.
type ProfileID int64

// RunID names a run, opaquely and for ever.
type RunID string

// Ref addresses a node. It is shown as "plan.node".
type Ref struct {
	Plan PlanID
	Node NodeID
}

func (r Ref) String() string {
	return strconv.FormatInt(int64(r.Plan), 10) + "." + strconv.FormatInt(int64(r.Node), 10)
}

// LogValue shows the address in logs as people write it.
func (r Ref) LogValue() slog.Value { return slog.StringValue(r.String()) }

// IsZero reports whether r addresses nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// Compare orders refs by plan, then node: the order in which turns are taken.
func (r Ref) Compare(o Ref) int {
	if c := cmp.Compare(r.Plan, o.Plan); c != 0 {
		return c
	}
	return cmp.Compare(r.Node, o.Node)
}

// ParseRef reads the form that String writes.
func ParseRef(s string) (Ref, error) {
	a, b, ok := strings.Cut(s, ".")
	p, err1 := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || p <= 0 || n < 0 {
		return Ref{}, Errorf(Invalid, "%q is not a step address; write plan.node, for example 3.2", s)
	}
	return Ref{PlanID(p), NodeID(n)}, nil
}

// Stamp is a moment in Unix seconds; 0 means never. It is stored and sent as it
// is, null when 0.
type Stamp float64

// StampOf returns the stamp of a time, 0 for the zero time.
func StampOf(t time.Time) Stamp {
	if t.IsZero() {
		return 0
	}
	return Stamp(float64(t.UnixMicro()) / 1e6)
}

// Time returns the moment, the zero time for 0.
func (s Stamp) Time() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(float64(s) * 1e6)))
}

// MarshalJSON writes Unix seconds, or null for never.
func (s Stamp) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(s), 'f', -1, 64), nil
}

// NodeKind says who does the work of a node.
type NodeKind string

// The kinds of nodes.
const (
	KindAgent NodeKind = "agent"
	KindUser  NodeKind = "user" // a person; the plan waits there
)

// ParseKind reads a kind; empty means agent.
func ParseKind(s string) (NodeKind, error) {
	switch NodeKind(s) {
	case "", KindAgent:
		return KindAgent, nil
	case KindUser:
		return KindUser, nil
	}
	return "", Errorf(Invalid, "unknown kind %q: kind is agent or user", s)
}

// Executor says who carries a started plan tree out.
type Executor string

// The executors. A plan that was never started has none.
const (
	Builtin  Executor = "builtin"  // the engine runs agents
	External Executor = "external" // someone claims the nodes
)

// ParseExecutor reads an executor; empty means builtin.
func ParseExecutor(s string) (Executor, error) {
	switch Executor(s) {
	case "", Builtin:
		return Builtin, nil
	case External:
		return External, nil
	}
	return "", Errorf(Invalid, "unknown executor %q: executor is builtin or external", s)
}

// Approval is where a plan stands with the person who must approve it.
type Approval string

// The approval states. NoApproval plans need none.
const (
	NoApproval     Approval = "none"
	Planning       Approval = "planning"
	PlanningFailed Approval = "planning_failed"
	Awaiting       Approval = "awaiting"
	Approved       Approval = "approved"
	Rejected       Approval = "rejected"
)

// MayStart reports whether steps of a plan in this state may run.
func (a Approval) MayStart() bool { return a == NoApproval || a == Approved || a == "" }

// Policies are the settings of a top-level plan that its whole tree obeys. Zero
// values mean unset.
type Policies struct {
	MaxParallel      int     `db:"max_parallel"`
	TestInstructions string  `db:"test_instructions"`
	Isolation        string  `db:"isolation"`     // none worktree sandbox
	OnFailure        string  `db:"on_failure"`    // hold skip
	ReviewPolicy     string  `db:"review_policy"` // off advisory gate
	MaxAttempts      int     `db:"max_attempts"`
	MaxTokens        int64   `db:"max_tokens"`
	MaxCostUSD       float64 `db:"max_cost_usd"`
	CheckCommand     string  `db:"check_command"`
	Deliver          string  `db:"deliver"`     // apply branch
	StallAfter       int64   `db:"stall_after"` // seconds
}

// Plan is a titled goal with nodes and edges: top-level, or the subplan of one
// node of another plan.
type Plan struct {
	ID             PlanID    `db:"id"`
	Root           PlanID    `db:"root_id"`
	ParentPlan     PlanID    `db:"parent_plan_id"` // 0: top-level
	ParentNode     NodeID    `db:"parent_node_id"`
	Title          string    `db:"title"`
	Description    string    `db:"description"`
	WorkDir        string    `db:"working_directory"` // of top-level plans; "" in subplans
	DefaultProfile ProfileID `db:"default_profile_id"`
	ReviewProfile  ProfileID `db:"review_profile_id"`
	Executor       Executor  `db:"executor"`
	Started        bool      `db:"started"` // top-level: started and not stopped
	StartedAt      Stamp     `db:"started_at"`
	FirstStart     Stamp     `db:"first_started_at"` // its folder is fixed from then on
	FinishedAt     Stamp     `db:"finished_at"`
	Approval       Approval  `db:"approval"`
	Revision       int64     `db:"revision"`
	NextNode       NodeID    `db:"next_node_id"`
	CreatedAt      Stamp     `db:"created_at"`
	Policies
	Spent
}

// Spent is what all runs of a plan tree used so far, those before a reset too.
type Spent struct {
	Tokens   int64   `db:"spent_tokens"` // in and out
	CostUSD  float64 `db:"spent_cost_usd"`
	Uncosted int     `db:"spent_uncosted"` // ended runs whose cost nobody knows
}

// OverBudget says in words which budget of a top-level plan is used up, "" when
// none is. Nothing new starts then; what runs goes on to its end.
func (p *Plan) OverBudget() string {
	switch {
	case p.MaxTokens > 0 && p.Tokens >= p.MaxTokens:
		return fmt.Sprintf("the budget of %d tokens is used up (%d so far): raise max_tokens to go on", p.MaxTokens, p.Tokens)
	case p.MaxCostUSD > 0 && p.Spent.CostUSD >= p.MaxCostUSD:
		return fmt.Sprintf("the budget of $%.2f is used up ($%.2f so far): raise max_cost_usd to go on", p.MaxCostUSD, p.Spent.CostUSD)
	}
	return ""
}

// Parent returns the node whose subplan this is, the zero Ref for a top-level plan.
func (p *Plan) Parent() Ref { return Ref{p.ParentPlan, p.ParentNode} }

// TopLevel reports whether the plan is no subplan.
func (p *Plan) TopLevel() bool { return p.ParentPlan == 0 }

// File is a path that a node will create or change.
type File struct {
	Path string // as its author wrote it, for display
	Key  string // what is compared; see FileKey
}

// Node is one piece of work.
type Node struct {
	PlanID      PlanID    `db:"plan_id"`
	ID          NodeID    `db:"node_id"`
	Title       string    `db:"title"`
	Description string    `db:"description"`
	Kind        NodeKind  `db:"kind"`
	State       State     `db:"state"`
	Phase       Phase     `db:"phase"`
	Profile     ProfileID `db:"profile_id"` // its own; 0 inherits
	Subplan     PlanID    `db:"subplan_id"`
	Blockers    int       `db:"blockers"` // prerequisites that are not satisfied yet

	TaskType        string  `db:"task_type"`
	Isolation       string  `db:"isolation"`
	CheckCommand    string  `db:"check_command"`
	MaxAttempts     int     `db:"max_attempts"`
	EstimateMinutes float64 `db:"estimate_minutes"`

	Result      *string `db:"result"`
	Error       *string `db:"error"`
	ReworkBrief *string `db:"rework_brief"`

	AgentKind string   `db:"agent_kind"` // builtin, external, "" while no agent has it
	AgentName string   `db:"agent_name"`
	AgentDone bool     `db:"agent_done"` // its own agent has finished; only the subplan works on
	SessionID string   `db:"session_id"`
	RunID     RunID    `db:"run_id"` // the open run, or the last one
	TokensIn  *int64   `db:"tokens_in"`
	TokensOut *int64   `db:"tokens_out"`
	CostUSD   *float64 `db:"cost_usd"`

	Attempts       int   `db:"attempts"`        // runs that ended by their own result
	AttemptsBefore int   `db:"attempts_before"` // of them, before a person asked for another: they do not count against a limit
	Interruptions  int   `db:"interruptions"`
	NotBefore      Stamp `db:"not_before"`
	StalledAt      Stamp `db:"stalled_at"` // its agent has given no sign of life for long; 0 when it has

	SkippedBy    string `db:"skipped_by"` // failure person
	SkippedCause NodeID `db:"skipped_cause"`
	SkipNote     string `db:"skip_note"`

	UndeclaredMore   int  `db:"undeclared_more"`
	UndeclaredShared bool `db:"undeclared_shared"`

	CreatedAt  Stamp `db:"created_at"`
	PhaseSince Stamp `db:"phase_since"` // when state or phase changed last
	StartedAt  Stamp `db:"started_at"`
	FinishedAt Stamp `db:"finished_at"`

	Agent ProfileID `db:"-"` // of the run that begins with the change at hand; 0 else

	// Lists that live in tables or JSON columns of their own.
	Files       []File   `db:"-"`
	ResultsFrom []NodeID `db:"-"`
	Criteria    []string `db:"-"`
	Undeclared  []string `db:"-"`
}

// Ref returns the node's address.
func (n *Node) Ref() Ref { return Ref{n.PlanID, n.ID} }

// WaitingForUser reports whether a person is to do this node now.
func (n *Node) WaitingForUser() bool { return n.Kind == KindUser && n.State == Ready }

// Asking reports whether a running node waits for a person: its judge came to no
// verdict, or its agent gives no sign of life.
func (n *Node) Asking() bool {
	return n.State == Running && (n.Phase == PhaseNeedsPerson || n.StalledAt != 0)
}

// Working reports whether an agent of the node's own is on it now.
func (n *Node) Working() bool { return n.State == Running && n.AgentKind != "" && !n.AgentDone }

// Satisfied reports whether the node no longer holds its dependants back.
func (n *Node) Satisfied() bool {
	return n.State == Done || n.State == Skipped && n.SkippedBy == SkippedByPerson
}

// Who skipped a node.
const (
	SkippedByPerson  = "person"
	SkippedByFailure = "failure"
)

// Edge orders two nodes of one plan: From must be done before To may start.
type Edge struct {
	Plan PlanID `db:"plan_id"`
	From NodeID `db:"from_node"`
	To   NodeID `db:"to_node"`
}

func (e Edge) String() string { return fmt.Sprintf("%d → %d", e.From, e.To) }

// Tally counts the leaf nodes of a plan tree by state. Waiting counts those
// ready nodes that wait for a person; they are counted under Ready too. Asking
// counts the running ones, containers too, that do: for a verdict, or because their
// agent is silent.
type Tally struct {
	Total   int `json:"total"`
	Pending int `json:"pending"`
	Ready   int `json:"ready"`
	Running int `json:"running"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Waiting int `json:"waiting"`
	Asking  int `json:"asking"`
}

// Count adds n nodes of a state.
func (t *Tally) Count(s State, n int) {
	t.Total += n
	switch s {
	case Pending:
		t.Pending += n
	case Ready:
		t.Ready += n
	case Running:
		t.Running += n
	case Done:
		t.Done += n
	case Failed:
		t.Failed += n
	case Skipped:
		t.Skipped += n
	}
}

// Status is the state of a whole plan, derived from its nodes.
type Status string

// The plan states.
const (
	StatusEmpty   Status = "empty"
	StatusPending Status = "pending"
	StatusRunning Status = "running"
	StatusFailed  Status = "failed"
	StatusDone    Status = "done"
)

// StatusOf derives a plan's status from the counts of its own nodes.
// skippedByFailure are those of t.Skipped that no person skipped.
func StatusOf(t Tally, skippedByFailure int) Status {
	switch {
	case t.Total == 0:
		return StatusEmpty
	case t.Failed > 0:
		return StatusFailed
	case t.Done+t.Skipped-skippedByFailure == t.Total:
		return StatusDone
	case t.Running+t.Ready+t.Done+t.Skipped > 0:
		return StatusRunning
	}
	return StatusPending
}
