package plan

// State is where a node stands.
type State string

// The states of a node.
const (
	Pending State = "pending"
	Ready   State = "ready"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	Skipped State = "skipped"
)

// States lists all states, in the order of a node's life.
var States = []State{Pending, Ready, Running, Done, Failed, Skipped}

// Phase says what a running or ready node is doing or waiting for.
type Phase string

// The phases of a running node, then those of a ready one.
const (
	PhaseNone        Phase = ""
	PhaseWorking     Phase = "working"
	PhaseSubplan     Phase = "subplan"
	PhaseChecking    Phase = "checking"
	PhaseReviewing   Phase = "reviewing"
	PhaseNeedsPerson Phase = "needs_person"
	PhaseApplying    Phase = "applying"

	PhaseQueued Phase = "queued"
	PhaseFiles  Phase = "files"
	PhaseSlot   Phase = "slot"
	PhaseLimit  Phase = "limit"
	PhaseBudget Phase = "budget"
	PhasePerson Phase = "person"
)

// HoldsFiles reports whether a node in this phase keeps its turn for its files.
// A node that waits for a check, a verdict or a person does; one that waits for
// a provider's limit or works only through its subplan does not.
func (p Phase) HoldsFiles() bool {
	switch p {
	case PhaseWorking, PhaseChecking, PhaseReviewing, PhaseNeedsPerson, PhaseApplying:
		return true
	}
	return false
}

// HoldsSlot reports whether a node in this phase counts against the limits on
// concurrent agents.
func (p Phase) HoldsSlot() bool { return p == PhaseWorking }

// Cause is why a node changes state.
type Cause string

// The causes. Each allows the changes listed in transitions and no others.
const (
	Unblocked     Cause = "unblocked"      // every prerequisite is satisfied
	Blocked       Cause = "blocked"        // a prerequisite was added or came undone
	Started       Cause = "started"        // an agent was put on it
	Entered       Cause = "entered"        // its subplan was reached
	Finished      Cause = "finished"       // its work is done
	Broke         Cause = "broke"          // its work failed
	CannotRun     Cause = "cannot_run"     // its agent is misconfigured
	PersonDid     Cause = "person_did"     // a person marked it done
	PersonStopped Cause = "person_stopped" // a person stopped the step
	PlanStopped   Cause = "plan_stopped"
	Interrupted   Cause = "interrupted" // its agent was lost
	TriesAgain    Cause = "tries_again" // its work failed, and another attempt is allowed
	LimitReached  Cause = "limit_reached"
	Retried       Cause = "retried"
	Reworked      Cause = "reworked"
	WasReset      Cause = "reset"
	ReopenedBelow Cause = "reopened_below" // a step inside its subplan goes on
	FailureAbove  Cause = "failure_above"  // what it depends on failed
	PersonSkipped Cause = "person_skipped"
	Unskipped     Cause = "unskipped"
)

// transitions is the whole of a node's life.
var transitions = map[Cause]map[State]State{
	Unblocked:     {Pending: Ready},
	Blocked:       {Ready: Pending},
	Started:       {Ready: Running},
	Entered:       {Pending: Running, Ready: Running},
	Finished:      {Running: Done},
	Broke:         {Running: Failed},
	CannotRun:     {Ready: Failed},
	PersonDid:     {Pending: Done, Ready: Done, Running: Done, Failed: Done, Skipped: Done},
	PersonStopped: {Ready: Failed, Running: Failed},
	PlanStopped:   {Ready: Pending, Running: Pending},
	Interrupted:   {Running: Pending},
	TriesAgain:    {Running: Pending},
	LimitReached:  {Running: Ready},
	Retried:       {Failed: Pending, Skipped: Pending},
	Reworked:      {Done: Pending, Failed: Pending, Skipped: Pending},
	WasReset:      {Ready: Pending, Running: Pending, Done: Pending, Failed: Pending, Skipped: Pending},
	ReopenedBelow: {Done: Running, Failed: Running},
	FailureAbove:  {Pending: Skipped, Ready: Skipped},
	PersonSkipped: {Pending: Skipped, Ready: Skipped},
	Unskipped:     {Skipped: Pending},
}

// Next returns the state that a node in state s has after c. It is the only way
// in which a node changes state. A change that is not allowed is Invalid.
func Next(s State, c Cause) (State, error) {
	if to, ok := transitions[c][s]; ok {
		return to, nil
	}
	return s, Errorf(Invalid, "%s", refusal(s, c))
}

// Allowed reports whether any cause leads from one state to the other.
func Allowed(from, to State) bool {
	for _, m := range transitions {
		if m[from] == to {
			return true
		}
	}
	return false
}

// refusal says in words why a change is not allowed.
func refusal(s State, c Cause) string {
	switch c {
	case PersonDid:
		return "the step is done already"
	case Retried:
		return "only a failed step can be retried; this one is " + string(s)
	case Reworked:
		if s == Running {
			return "the step is running: stop it before it is reworked"
		}
		return "only a finished step can be reworked; this one is " + string(s)
	case PersonStopped:
		return "only a running step, or one that waits for a person, can be stopped; this one is " + string(s)
	case PersonSkipped:
		return "only a step that has not started can be skipped; this one is " + string(s)
	case Unskipped:
		return "the step is not skipped; it is " + string(s)
	case Finished, Broke:
		return "the step is not running; it is " + string(s)
	}
	return "a step that is " + string(s) + " does not change by \"" + string(c) + "\""
}
