package views

import (
	"math"
	"strconv"
)

// Settings are the fields of the settings dialog.
type Settings struct {
	TopLevel         bool
	WorkDir          string
	WorkDirFixed     bool
	TestInstructions string
	MaxParallel      string
	MaxAttempts      string
	OnFailure        string
	MaxTokens        string
	MaxCost          string
	StallMinutes     string
	SpentTokens      string // so far
	SpentCost        string
	Agent            string // name of the plan's own default; "" inherits
	Inherits         string // what is used when it has none
	Agents           []string
	Reviewer         string // name of the plan's own review agent; "" inherits
	InheritsReviewer string
	Words            PlanWords
}

func newSettings(s *scene, in PlanInput) Settings {
	p, root := s.Plan(in.Place.Plan), s.Root()
	set := Settings{TopLevel: p.TopLevel(), WorkDir: in.WorkDir, WorkDirFixed: root.FirstStart != 0,
		TestInstructions: root.TestInstructions, MaxParallel: count(int64(root.MaxParallel)), MaxAttempts: count(int64(root.MaxAttempts)),
		OnFailure: root.OnFailure, MaxTokens: count(root.MaxTokens), MaxCost: decimal(root.MaxCostUSD),
		StallMinutes: minutes(root.StallAfter), SpentTokens: grouped(root.Tokens), SpentCost: dollars(root.Spent.CostUSD),
		Inherits: s.inherits(p)}
	set.Words = PlanWords{Title: p.Title, Description: p.Description, Check: root.CheckCommand, Policy: root.ReviewPolicy, Isolation: root.Isolation,
		TopLevel: p.TopLevel(), Fixed: s.Tally(root.ID).Running > 0}
	if root.Uncosted > 0 {
		set.SpentCost += "; " + uncosted(root)
	}
	if own := s.Profiles[p.DefaultProfile]; own != nil {
		set.Agent = own.Name
	}
	set.Agents = s.agentNames()
	if own := s.Profiles[p.ReviewProfile]; own != nil {
		set.Reviewer = own.Name
	}
	set.InheritsReviewer = "Nobody: no automatic reviews"
	if name := s.reviewer(p.ParentPlan); name != "" {
		set.InheritsReviewer = "Inherit: " + name
	}
	return set
}

// count writes a number for a field; none is an empty one.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// decimal writes an amount for a field, as exactly as it was given.
func decimal(f float64) string {
	if f == 0 {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// minutes writes a number of seconds, exactly enough to come back as it was.
func minutes(seconds int64) string { return decimal(math.Round(float64(seconds)/60*100) / 100) }

// hold is the value for the policy that is usual, as it is stored.
func (s *Settings) hold() string {
	if s.OnFailure == "skip" {
		return ""
	}
	return s.OnFailure
}

// numberField is a field for a number that may be empty.
type numberField struct {
	ID, Name, Label, Value string
	Min, Max, Step         string
	Placeholder, Help      string
}

func (f *numberField) helpID() string  { return f.ID + "-help" }
func (f *numberField) errorID() string { return f.ID + "-error" }

// limits are the numbers that bound a plan.
func (s *Settings) limits() []numberField {
	return []numberField{
		{ID: "set-parallel", Name: "max_parallel", Label: "Agents at once", Value: s.MaxParallel, Min: "1", Step: "1", Placeholder: "no limit",
			Help: "Of this plan and its subplans together."},
		{ID: "set-attempts", Name: "max_attempts", Label: "Attempts", Value: s.MaxAttempts, Min: "1", Max: "20", Step: "1", Placeholder: "1",
			Help: "How often a step that fails is tried in all. Each further attempt is told why the last one failed."},
		{ID: "set-tokens", Name: "max_tokens", Label: "Budget in tokens", Value: s.MaxTokens, Min: "1", Step: "1", Placeholder: "no limit",
			Help: "In and out, of all runs. At it nothing new starts; steps that run finish. So far: " + s.SpentTokens + "."},
		{ID: "set-cost", Name: "max_cost_usd", Label: "Budget in US dollars", Value: s.MaxCost, Min: "0", Step: "any", Placeholder: "no limit",
			Help: "The same in money. Only agents whose cost is known can run then. So far: " + s.SpentCost + "."},
		{ID: "set-stall", Name: "stall_minutes", Label: "Patience, in minutes", Value: s.StallMinutes, Min: "0", Step: "any",
			Placeholder: "not ended",
			Help:        "After so long without a sign of life an agent is ended and its step run again. Empty: after 15 minutes it is only marked."},
	}
}
