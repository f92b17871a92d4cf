package views

import (
	"fmt"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// RunHead is a run of a step, as the head of its transcript and the list of runs
// show it.
type RunHead struct {
	Number   int
	Why      string // it was begun: "rework"; "" for the first
	Agent    string
	Model    string
	Look     Look // of its outcome
	Outcome  string
	Cause    string
	At       plan.Stamp
	Open     bool
	Took     string // once it is over
	Tokens   string
	TokWords string
	Cost     string
}

// runHeads makes the heads of all runs of a step.
func runHeads(runs []plan.Run) []RunHead {
	list := make([]RunHead, len(runs))
	var before *plan.Run // of those that did the step itself
	for i := range runs {
		r := &runs[i]
		list[i] = RunHead{Number: r.Number, Why: whyRun(r, before), Agent: r.AgentName, Model: r.Model, Look: outcomeLook(r.Outcome),
			Outcome: outcomeWord(r.Outcome), Cause: r.Cause, At: r.StartedAt, Open: r.Open(), Took: between(r.StartedAt, r.FinishedAt),
			Tokens: tokens(r.TokensIn, r.TokensOut), TokWords: tokenWords(r.TokensIn, r.TokensOut), Cost: cost(r.CostUSD)}
		if r.Kind == plan.RunStep || r.Kind == plan.RunExternal {
			before = r
		}
	}
	return list
}

// whyRun says in a few words what a run is for: what it is, why it was begun, or,
// where that was not kept, what became of the one before.
func whyRun(r, before *plan.Run) string {
	if role := roleOf(r.Kind); role != "" && r.StartCause != "" {
		return role + ": " + r.StartCause
	} else if role != "" {
		return role
	}
	if r.StartCause != "" && r.StartCause != plan.StartFirst {
		return r.StartCause
	}
	if before == nil || r.StartCause != "" {
		return ""
	}
	switch before.Outcome {
	case plan.OutcomeDone:
		return "rework"
	case plan.OutcomeInterrupted, plan.OutcomeStalled:
		return "after an interruption"
	case plan.OutcomeLimited:
		return "after the limit"
	case plan.OutcomeStopped:
		return "after a stop"
	}
	return "another attempt"
}

// roleOf names those who judge or plan; "" for who does a step.
func roleOf(k plan.RunKind) string {
	switch k {
	case plan.RunReview, plan.RunPlanReview:
		return "review"
	case plan.RunJudge:
		return "judge"
	case plan.RunPlanner:
		return "planner"
	}
	return ""
}

func outcomeLook(o plan.Outcome) Look {
	switch o {
	case plan.OutcomeOpen:
		return lookRunning
	case plan.OutcomeDone:
		return lookDone
	case plan.OutcomeFailed, plan.OutcomeBudget:
		return lookFailed
	case plan.OutcomeStalled:
		return lookStalled
	}
	return lookStopped
}

func outcomeWord(o plan.Outcome) string {
	switch o {
	case plan.OutcomeOpen:
		return "Running"
	case plan.OutcomeDone:
		return "Done"
	case plan.OutcomeFailed:
		return "Failed"
	case plan.OutcomeStopped:
		return "Stopped"
	case plan.OutcomeInterrupted:
		return "Interrupted"
	case plan.OutcomeLimited:
		return "Provider's limit"
	case plan.OutcomeBudget:
		return "Used up its limit"
	case plan.OutcomeStalled:
		return "No sign of life"
	}
	return string(o)
}

// DOM is the id of the run's element.
func (h *RunHead) DOM() string { return "run-" + strconv.Itoa(h.Number) }

// head is the id of what stands above the run's transcript.
func (h *RunHead) head() string { return "run-head-" + strconv.Itoa(h.Number) }

// segment is the id of the element that holds its entries.
func (h *RunHead) segment() string { return "seg-" + strconv.Itoa(h.Number) }

// Name names the run.
func (h *RunHead) Name() string {
	if h.Why == "" {
		return "Run " + strconv.Itoa(h.Number)
	}
	return fmt.Sprintf("Run %d · %s", h.Number, h.Why)
}

// cause is why the run ended, where its outcome does not say it all.
func (h *RunHead) cause() string { return firstLine(h.Cause, 300) }

// runPieces are the parts of a transcript that change as runs go on.
func runPieces(runs []RunHead) []Piece {
	list := []Piece{{ID: "runs", Body: runList(runs)}}
	for i := range runs {
		list = append(list, Piece{ID: runs[i].head(), Body: runHead(&runs[i])})
	}
	return list
}
