package views

import (
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// The looks of verdicts: a bubble with a sign in it.
var (
	lookVerdictOK       = Look{"review-ok", "Review: ok"}
	lookVerdictConcerns = Look{"review-concerns", "Review: concerns"}
	lookVerdictError    = Look{"review-error", "Review: no verdict"}
)

func verdictLook(v plan.Verdict) Look {
	switch v {
	case plan.VerdictOK:
		return lookVerdictOK
	case plan.VerdictConcerns:
		return lookVerdictConcerns
	}
	return lookVerdictError
}

// Verdict is a review as it is shown.
type Verdict struct {
	Look              Look
	Summary, Findings string // Markdown
	Agent             string
	At                plan.Stamp
	Tokens            string
}

func newVerdict(r *plan.Review) *Verdict {
	if r == nil {
		return nil
	}
	return &Verdict{Look: verdictLook(r.Verdict), Summary: r.Summary, Findings: text(r.Findings), Agent: r.AgentName, At: r.CreatedAt,
		Tokens: tokenWords(r.TokensIn, r.TokensOut)}
}

// AskReview is the form with which a person asks for a review.
type AskReview struct {
	URL      string
	Name     string // in the ids of its elements
	Reviewer string // the plan's; "" : there is none
	Agents   []string
	Again    bool
}

func (a *AskReview) dom() string { return a.Name + "-agent" }

func (a *AskReview) word() string {
	if a.Again {
		return "Review again"
	}
	return "Review now"
}

// ReviewPanel is what others found of a step's work.
type ReviewPanel struct {
	Verdict    *Verdict
	Running    string     // how far a review is, "" : there is none
	Ask        *AskReview // nil: it cannot be reviewed now
	Judging    string     // how far a judgement is
	Judgement  *Judgement
	Earlier    []Judgement // the newest first
	Attempts   []Attempt   // side by side, the first first
	Decide     bool        // a person has to say how it goes on
	AcceptURL  string
	JudgeURL   string
	TaskURL    string
	CanRework  bool
	FollowURL  string
	Findings   []Finding // that can be made steps
	WhyNothing string    // said where there is nothing else
}

// Judgement is what a gate found of an attempt.
type Judgement struct {
	Look     Look
	Reason   string // Markdown
	Agent    string
	At       plan.Stamp
	Criteria []CriterionRow
	Check    string // how the check command ended, "" : there was none
	CheckOK  bool
	Output   string
}

// CriterionRow is the verdict on one criterion.
type CriterionRow struct {
	Number         int
	Text, Evidence string
	Look           Look
}

func newJudgement(r *plan.Review, n *plan.Node) *Judgement {
	j := &Judgement{Look: Look{lookFailed.Name, "Not passed"}, Reason: r.Summary, Agent: r.AgentName, At: r.CreatedAt, Output: r.CheckText}
	switch r.Verdict {
	case plan.VerdictOK:
		j.Look = Look{lookDone.Name, "Passed"}
	case plan.VerdictError:
		j.Look = Look{lookVerdictError.Name, "No verdict"}
	}
	if r.CheckExit != nil {
		j.Check, j.CheckOK = "exit code "+grouped(int64(*r.CheckExit)), *r.CheckExit == 0
	}
	for _, f := range r.Criteria {
		row := CriterionRow{Number: f.Number, Evidence: f.Evidence, Look: Look{lookPending.Name, plan.Unknown}}
		switch f.Verdict {
		case plan.Met:
			row.Look = Look{lookDone.Name, plan.Met}
		case plan.Unmet:
			row.Look = Look{lookFailed.Name, plan.Unmet}
		}
		if i := f.Number - 1; i >= 0 && i < len(n.Criteria) {
			row.Text = n.Criteria[i]
		}
		j.Criteria = append(j.Criteria, row)
	}
	return j
}

// reviewPanel makes the panel of a step; judgements are those of all attempts.
func (s *scene) reviewPanel(n *plan.Node, at Place, judgements []plan.Review) *ReviewPanel {
	r, here := n.Ref(), NodeURL(n.Ref())
	p := &ReviewPanel{Verdict: newVerdict(s.Reviews[r]), Running: waitWords(s.Reviewing[r], "being reviewed"),
		Judging: waitWords(s.Judging[r], "being judged"), AcceptURL: here + "/accept", JudgeURL: here + "/judge",
		TaskURL: at.WithTab(TabTask).Node(r), CanRework: actionsOf(n).Rework}
	p.Decide = n.State == plan.Running && n.Phase == plan.PhaseNeedsPerson
	last := s.Judged[r]
	if last != nil {
		p.Judgement = newJudgement(last, n)
	}
	for i := len(judgements) - 1; i >= 0; i-- {
		if j := &judgements[i]; j.State == plan.ReviewDone && (last == nil || j.ID != last.ID) {
			p.Earlier = append(p.Earlier, *newJudgement(j, n))
		}
	}
	finished := n.State == plan.Done || n.State == plan.Failed
	if finished {
		p.Ask = s.askReview(r, here)
	}
	if finished && p.Verdict != nil {
		p.FollowURL, p.Findings = here+"/follow", findingsOf(p.Verdict.Findings)
	}
	if p.Verdict == nil && p.Running == "" && p.Judging == "" && p.Judgement == nil && len(p.Earlier) == 0 {
		p.WhyNothing = "Nobody has reviewed it."
		if !finished {
			p.WhyNothing = "A step is reviewed when it is finished."
		}
	}
	return p
}

// waitWords says how far a review without a verdict is.
func waitWords(r *plan.Review, running string) string {
	if r == nil {
		return ""
	}
	who := ""
	if r.AgentName != "" {
		who = " by " + r.AgentName
	}
	switch r.State {
	case plan.ReviewCheck:
		return "its check command runs"
	case plan.ReviewRunning:
		return running + who
	}
	return "waiting for a free agent"
}

func (s *scene) askReview(r plan.Ref, here string) *AskReview {
	a := &AskReview{URL: here + "/review", Name: "review", Reviewer: s.reviewer(r.Plan), Again: s.Reviews[r] != nil, Agents: s.agentNames()}
	if r.Node == 0 {
		a.Name = "plan-review"
	}
	return a
}

func (s *scene) agentNames() []string {
	var list []string
	for _, prof := range s.Profiles {
		list = append(list, prof.Name)
	}
	slices.Sort(list)
	return list
}

// reviewer is the name of who reviews what is in a plan, "" for nobody.
func (s *scene) reviewer(id plan.PlanID) string {
	for p := s.Plan(id); p != nil; p = s.Plan(p.ParentPlan) {
		if prof := s.Profiles[p.ReviewProfile]; prof != nil {
			return prof.Name
		}
	}
	return ""
}

// reviewMark is the look of the verdict on a step, nil where there is none.
func (s *scene) reviewMark(r plan.Ref) *Look {
	v := s.Reviews[r]
	if v == nil {
		return nil
	}
	look := verdictLook(v.Verdict)
	return &look
}

// reworkBrief is what a rework begins with: what a review found, else what the
// last one was told.
func (s *scene) reworkBrief(n *plan.Node) string {
	if r := s.Reviews[n.Ref()]; r != nil && r.Verdict == plan.VerdictConcerns {
		return r.Brief()
	}
	return text(n.ReworkBrief)
}

// PlanReview is the verdict on a whole plan, and what is on its way.
type PlanReview struct {
	Verdict *Verdict
	Running string
	Ask     *AskReview
}

func (s *scene) planReview(id plan.PlanID) *PlanReview {
	r := plan.Ref{Plan: id}
	return &PlanReview{Verdict: newVerdict(s.Reviews[r]), Running: waitWords(s.Reviewing[r], "being reviewed"), Ask: s.askReview(r, PlanURL(id))}
}

func (p *PlanReview) shown() bool { return p.Verdict != nil || p.Running != "" }
