package plan

import "strings"

// Review is a reviewer's verdict on one finished node, or on a whole plan.
type Review struct {
	ID        int64   `db:"id"`
	PlanID    PlanID  `db:"plan_id"`
	NodeID    NodeID  `db:"node_id"` // 0: of the plan
	RunID     RunID   `db:"run_id"`
	Verdict   Verdict `db:"verdict"`
	Summary   string  `db:"summary"`
	Findings  *string `db:"findings"` // nil: none
	AgentName string  `db:"agent_name"`
	TokensIn  *int64  `db:"tokens_in"`
	TokensOut *int64  `db:"tokens_out"`
	CreatedAt Stamp   `db:"created_at"`
}

// Verdict is how a review ended.
type Verdict string

// The verdicts. VerdictError means that none could be formed.
const (
	VerdictOK       Verdict = "ok"
	VerdictConcerns Verdict = "concerns"
	VerdictError    Verdict = "error"
)

// Brief is a review as the instructions for a rework.
func (r *Review) Brief() string {
	parts := []string{"A review came to the verdict: " + string(r.Verdict) + "."}
	if r.Summary != "" {
		parts = append(parts, r.Summary)
	}
	if r.Findings != nil && *r.Findings != "" {
		parts = append(parts, "Findings:\n"+*r.Findings)
	}
	return strings.Join(parts, "\n\n")
}
