package plan

import (
	"encoding/json"
	"strings"
)

// Event is one entry of a transcript.
type Event struct {
	ID     int64           `db:"id" json:"id"`
	PlanID PlanID          `db:"plan_id" json:"plan_id"`
	NodeID NodeID          `db:"node_id" json:"node_id"`
	RunID  RunID           `db:"run_id" json:"-"`
	RunSeq int64           `db:"run_seq" json:"-"` // 0 for the engine's own events
	At     Stamp           `db:"ts" json:"ts"`
	Kind   string          `db:"kind" json:"kind"`
	Data   json.RawMessage `db:"data" json:"data"`
}

// Ref returns the node that the event belongs to.
func (e *Event) Ref() Ref { return Ref{e.PlanID, e.NodeID} }

// Kinds of events that the engine adds of its own. Those of harnesses are named
// in the plugin package.
const (
	EventStatus = "status" // {from, to}
	EventSystem = "system" // {text}
)

// RunKind says what a run is for.
type RunKind string

// The kinds of runs. Those of plan level are kept under node 0.
const (
	RunStep       RunKind = "step"
	RunExternal   RunKind = "external"
	RunReview     RunKind = "review"
	RunPlanReview RunKind = "plan_review"
	RunJudge      RunKind = "judge"
	RunPlanner    RunKind = "planner"
)

// Outcome is how a run ended; empty while it is open.
type Outcome string

// The outcomes.
const (
	OutcomeOpen        Outcome = ""
	OutcomeDone        Outcome = "done"
	OutcomeFailed      Outcome = "failed"
	OutcomeStopped     Outcome = "stopped"
	OutcomeInterrupted Outcome = "interrupted"
	OutcomeLimited     Outcome = "limited"
	OutcomeBudget      Outcome = "budget"
	OutcomeStalled     Outcome = "stalled"
)

// Run is one session of an agent on a node, or on a whole plan (node 0).
type Run struct {
	ID         RunID       `db:"id"`
	PlanID     PlanID      `db:"plan_id"`
	NodeID     NodeID      `db:"node_id"`
	Number     int         `db:"number"` // 1, 2, 3 … per node
	Kind       RunKind     `db:"kind"`
	Outcome    Outcome     `db:"outcome"`
	Cause      string      `db:"cause"`       // of its outcome
	StartCause string      `db:"start_cause"` // why it began; see the Start constants
	Profile    ProfileID   `db:"profile_id"`
	AgentName  string      `db:"agent_name"`
	Harness    string      `db:"harness"`
	Model      string      `db:"model"`
	Capability string      `db:"capability"`
	SessionID  string      `db:"session_id"`
	Prompt     string      `db:"prompt"`
	System     string      `db:"system"`
	TokenHash  []byte      `db:"token_hash"`
	TokenRole  Role        `db:"token_role"`
	Isolation  string      `db:"isolation"`
	Worktree   string      `db:"worktree"`
	BaseTree   string      `db:"base_tree"`
	EndTree    string      `db:"end_tree"`
	BaseTook   float64     `db:"base_took"` // seconds that its snapshots took
	EndTook    float64     `db:"end_took"`
	LeftOut    LeftOutList `db:"left_out"`
	Attach     []byte      `db:"attach"`     // how to find its process again; nil when it has none
	Acked      int64       `db:"acked"`      // the last run_seq that is stored
	MaxTokens  int64       `db:"max_tokens"` // that it may use; 0: no limit
	TokensIn   *int64      `db:"tokens_in"`
	TokensOut  *int64      `db:"tokens_out"`
	CostUSD    *float64    `db:"cost_usd"`
	NumTurns   int         `db:"num_turns"`
	Result     *string     `db:"result"`
	StartedAt  Stamp       `db:"started_at"`
	FinishedAt Stamp       `db:"finished_at"`
	Stopping   bool        `db:"stopping"` // a stop was asked for

	// BaseWriters are the steps that were writing in the folder itself when the
	// copy that this run works in was made of it. Lists of runs have it.
	BaseWriters []Ref `db:"-"`
}

// Why runs begin. They are shown. Further ones begin with "attempt".
const (
	StartFirst   = "first"
	StartRetry   = "retry by a person"
	StartRework  = "rework"
	StartLimit   = "limit over"
	StartServer  = "the server was started again"
	StartPlan    = "the plan was started again"
	StartRelease = "given back by its agent"
	StartLost    = "after interruption: " // and what happened
	StartAgain   = "again"                // nothing says why

	// Of those that judge or plan; they begin for a limit, an interruption or a new
	// server, too.
	StartStepDone = "the step is done"
	StartPlanDone = "the plan is done"
	StartToJudge  = "the step waits for its verdict"
	StartAsked    = "asked for by a person"
	StartGoal     = "the goal was given"
	StartRevise   = "changes were asked for"
	StartRefused  = "after a reply that could not be used: " // and what was wrong with it
)

// GoesOn reports whether a run begun for this cause goes on with what the one before
// it could not end, rather than doing it anew.
func GoesOn(cause string) bool {
	return cause == StartLimit || cause == StartServer || cause == StartPlan || strings.HasPrefix(cause, StartLost)
}

// Ref returns the node that the run works on.
func (r *Run) Ref() Ref { return Ref{r.PlanID, r.NodeID} }

// Open reports whether the run has not ended.
func (r *Run) Open() bool { return r.Outcome == OutcomeOpen }

// Question is what an agent asks of a person while it runs.
type Question struct {
	ID      string          `db:"id" json:"id"`
	RunID   RunID           `db:"run_id" json:"-"`
	PlanID  PlanID          `db:"plan_id" json:"plan_id"`
	NodeID  NodeID          `db:"node_id" json:"node_id"`
	Tool    string          `db:"tool" json:"tool"`
	Text    string          `db:"text" json:"text"`
	Input   json.RawMessage `db:"input" json:"input"`
	AskedAt Stamp           `db:"asked_at" json:"asked_at"`
	Until   Stamp           `db:"until" json:"until"`
	Answer  string          `db:"answer" json:"answer"` // "", allow, deny
	Message string          `db:"message" json:"message"`
	Closed  Stamp           `db:"answered_at" json:"answered_at"`
}
