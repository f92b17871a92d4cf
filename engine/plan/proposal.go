package plan

// Goal is what a plan is to be made from, and what its planner said of it.
type Goal struct {
	PlanID      PlanID    `db:"plan_id"`
	Text        string    `db:"goal"`
	Constraints string    `db:"constraints"`
	Planner     ProfileID `db:"profile_id"`
	Rounds      int       `db:"rounds"`   // proposals of this planning that were refused
	Feedback    string    `db:"feedback"` // what was asked for before this planning
	Problems    TextList  `db:"problems"` // why the last proposal was refused
	Summary     string    `db:"summary"`
	TechStack   TextList  `db:"tech_stack"`
	Risks       TextList  `db:"risks"`
	Assumptions TextList  `db:"assumptions"`
}

// Revision is a plan as it stood at one moment before or after its approval.
type Revision struct {
	PlanID    PlanID `db:"plan_id"`
	Number    int64  `db:"revision"`
	Proposal  string `db:"proposal"` // the plan, JSON
	Author    string `db:"author"`   // AuthorPlanner or AuthorPerson
	Feedback  string `db:"feedback"` // what was asked for before it
	CreatedAt Stamp  `db:"created_at"`
	Decided   string `db:"decided"` // "", DecidedApproved, DecidedRejected
	DecidedAt Stamp  `db:"decided_at"`
	Reason    string `db:"reason"`
}

// Authors of revisions, and what became of them.
const (
	AuthorPlanner   = "planner"
	AuthorPerson    = "person"
	DecidedApproved = "approved"
	DecidedRejected = "rejected"
)
