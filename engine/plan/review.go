package plan

import (
	"regexp"
	"strings"
)

// Review is a reviewer's verdict on one finished node, or on a whole plan, or the
// request for one.
type Review struct {
	ID        int64       `db:"id"`
	PlanID    PlanID      `db:"plan_id"`
	NodeID    NodeID      `db:"node_id"` // 0: of the plan
	RunID     RunID       `db:"run_id"`
	Kind      ReviewKind  `db:"kind"`
	JudgedRun RunID       `db:"judged_run"` // of a judgement: the attempt
	State     ReviewState `db:"state"`
	Profile   ProfileID   `db:"profile_id"`
	Urgent    bool        `db:"urgent"` // a person asked for it: it waits for no slot
	Tries     int         `db:"tries"`  // how often its agent was lost
	Asked     int         `db:"asked"`  // how many replies of a judge could not be used
	Fault     string      `db:"fault"`  // what was wrong with the last of them
	Verdict   Verdict     `db:"verdict"`
	Summary   string      `db:"summary"`
	Findings  *string     `db:"findings"`   // nil: none
	Criteria  FindingList `db:"criteria"`   // of a judgement
	CheckExit *int        `db:"check_exit"` // of the check command; nil: none ran
	CheckText string      `db:"check_text"` // head and tail of its output
	AgentName string      `db:"agent_name"`
	TokensIn  *int64      `db:"tokens_in"`
	TokensOut *int64      `db:"tokens_out"`
	CreatedAt Stamp       `db:"created_at"`
}

// Ref returns the node that is judged.
func (r *Review) Ref() Ref { return Ref{r.PlanID, r.NodeID} }

// ReviewKind says what a review is for.
type ReviewKind string

// The kinds of reviews: one that advises, and the judge of a gate.
const (
	KindReview ReviewKind = "review"
	KindJudge  ReviewKind = "judge"
)

// ReviewState is how far a review is.
type ReviewState string

// The states of a review.
const (
	ReviewCheck   ReviewState = "checking" // the check command runs before the judge
	ReviewQueued  ReviewState = "queued"
	ReviewRunning ReviewState = "running"
	ReviewDone    ReviewState = "done"
)

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

// noOutput is the summary of a review whose agent said nothing.
const noOutput = "(reviewer produced no output)"

// labels finds the parts of a reply at the starts of lines, whatever markup is
// around them. A verdict has its value on the same line.
var (
	verdictLine = regexp.MustCompile(`(?im)^[\s>*_#\x60-]*VERDICT[\s*_\x60]*:[\s*_\x60]*([a-z]+)`)
	labelLine   = regexp.MustCompile(`(?im)^[\s>*_#\x60-]*(VERDICT|SUMMARY|FINDINGS)[\s*_\x60]*:[*_\x60]*`)
	noFindings  = regexp.MustCompile(`(?i)^[\s>*_-]*(none|no findings|n/a)[\s.*_]*$`)
)

// SetVerdict reads a reviewer's reply. It is lenient: markup around labels does not
// matter, the last verdict counts, and without labels the first paragraph is the
// summary. A reply without a verdict is VerdictError with the whole of it.
func (r *Review) SetVerdict(reply string) {
	reply = strings.TrimSpace(reply)
	r.Verdict, r.Summary, r.Findings = VerdictError, reply, nil
	if reply == "" {
		r.Summary = noOutput
		return
	}
	all := verdictLine.FindAllStringSubmatchIndex(reply, -1)
	for i := len(all) - 1; i >= 0; i-- {
		switch v := Verdict(strings.ToLower(reply[all[i][2]:all[i][3]])); v {
		case VerdictOK, VerdictConcerns, VerdictError:
			r.Verdict = v
			r.setParts(reply)
			return
		}
	}
}

// setParts fills in summary and findings of a reply that has a verdict.
func (r *Review) setParts(reply string) {
	parts := map[string]string{}
	labels := labelLine.FindAllStringSubmatchIndex(reply, -1)
	for i, at := range labels {
		end := len(reply)
		if i+1 < len(labels) {
			end = labels[i+1][0]
		}
		if name := strings.ToUpper(reply[at[2]:at[3]]); name != "VERDICT" {
			parts[name] = strings.TrimSpace(reply[at[1]:end])
		}
	}
	summary, hasSummary := parts["SUMMARY"]
	findings, hasFindings := parts["FINDINGS"]
	if !hasSummary && !hasFindings {
		rest := strings.TrimSpace(verdictWhole.ReplaceAllString(reply, ""))
		summary, findings, _ = strings.Cut(rest, "\n\n")
	}
	r.Summary = strings.TrimSpace(summary)
	if findings = strings.TrimSpace(findings); findings != "" && !noFindings.MatchString(findings) {
		r.Findings = &findings
	}
}

var verdictWhole = regexp.MustCompile(`(?im)^[\s>*_#\x60-]*VERDICT[\s*_\x60]*:.*$`)
