package plan

// ChangeKind says what a change is about.
type ChangeKind string

// The kinds of changes.
const (
	ChangePlan     ChangeKind = "plan"     // a plan's own fields, or its graph's shape
	ChangeNode     ChangeKind = "node"     // a node's fields or state
	ChangeTokens   ChangeKind = "tokens"   // a node's token counts
	ChangeEvent    ChangeKind = "event"    // a transcript entry
	ChangeAgents   ChangeKind = "agents"   // profiles, or who uses them
	ChangeQuestion ChangeKind = "question" // asked or answered
	ChangeHarness  ChangeKind = "harness"  // harnesses found or refused
	ChangeSettings ChangeKind = "settings" // of the server, or how a delivery went
)

// Change is one committed fact. Seq orders all changes and events of a database
// and is the id of streams. What follows Deleted is known only to the process
// that made the change: readers of history get the identity alone.
type Change struct {
	Seq     int64      `db:"seq"`
	At      Stamp      `db:"ts"`
	Root    PlanID     `db:"root_id"`
	Plan    PlanID     `db:"plan_id"`
	Node    NodeID     `db:"node_id"` // 0: the plan itself
	Kind    ChangeKind `db:"kind"`
	Shape   bool       `db:"shape"` // nodes, edges or files changed: the picture moves
	Deleted bool       `db:"deleted"`

	Event     *Event    `db:"-"`
	TokensIn  *int64    `db:"tokens_in"`
	TokensOut *int64    `db:"tokens_out"`
	Facts     *Facts    `db:"-"`
	Profiles  []Profile `db:"-"` // all of them, after a change of kind agents
	Notices   bool      `db:"-"` // there is something to tell webhooks
}

// Ref returns the node that the change is about.
func (c *Change) Ref() Ref { return Ref{c.Plan, c.Node} }

// Facts are what the scheduler needs to know of plans and nodes as they are
// after a change. Plans and nodes that are not named have not changed.
type Facts struct {
	Plans   []PlanFacts
	Nodes   []NodeFacts
	Limits  []Limit
	Reviews []ReviewFacts
}

// ReviewFacts is what the scheduler knows of a review without a verdict.
type ReviewFacts struct {
	ID      int64
	Profile ProfileID
	Urgent  bool        // it waits for no slot
	State   ReviewState // ReviewDone: there is nothing to do any more
}

// Limit says that the provider behind a profile refuses work until a moment. It
// lasts beyond that, until a run of the profile has shown that work is taken again.
type Limit struct {
	Profile ProfileID `db:"profile_id"`
	Until   Stamp     `db:"until"` // 0: it is over
	Times   int       `db:"times"` // how often in a row
	Text    string    `db:"text"`  // what the provider said
}

// PlanFacts is what the scheduler knows of a plan.
type PlanFacts struct {
	ID          PlanID    `db:"id"`
	Root        PlanID    `db:"root_id"`
	ParentPlan  PlanID    `db:"parent_plan_id"`
	ParentNode  NodeID    `db:"parent_node_id"`
	Profile     ProfileID `db:"default_profile_id"`
	Started     bool      `db:"started"` // of the root
	Executor    Executor  `db:"executor"`
	MaxParallel int       `db:"max_parallel"`
	Approval    Approval  `db:"approval"`
	OverBudget  bool      `db:"over_budget"` // of the root: nothing new starts
	Deleted     bool      `db:"-"`
}

// NodeFacts is what the scheduler knows of a node.
type NodeFacts struct {
	PlanID    PlanID    `db:"plan_id"`
	ID        NodeID    `db:"node_id"`
	State     State     `db:"state"`
	Phase     Phase     `db:"phase"`
	Kind      NodeKind  `db:"kind"`
	Profile   ProfileID `db:"profile_id"`
	Subplan   PlanID    `db:"subplan_id"`
	NotBefore Stamp     `db:"not_before"`
	AgentKind string    `db:"agent_kind"`
	Agent     ProfileID `db:"agent_id"` // that its run was started with; 0: as is known
	Keys      []string  `db:"-"`        // of its files
	Deleted   bool      `db:"-"`
}

// Ref returns the node's address.
func (n *NodeFacts) Ref() Ref { return Ref{n.PlanID, n.ID} }
