package views

import "github.com/clearbox-go/clearbox/engine/plan"

// Look is how a state is shown: always by a shape and a word too, never by
// colour alone.
type Look struct {
	Name string // of the CSS class "s-…" and of the glyph
	Word string
}

// The looks. You is what waits for a person, stalled what seems to hang.
var (
	lookPending = Look{"pending", "Pending"}
	lookReady   = Look{"ready", "Ready"}
	lookRunning = Look{"running", "Running"}
	lookDone    = Look{"done", "Done"}
	lookFailed  = Look{"failed", "Failed"}
	lookSkipped = Look{"skipped", "Skipped"}
	lookYou     = Look{"you", "Waiting for you"}
	lookStalled = Look{"stalled", "No sign of life"}
	lookStopped = Look{"stopped", "Stopped"}
	lookEmpty   = Look{"pending", "Empty"}
)

// Class is the CSS class of the look.
func (l Look) Class() string { return "s-" + l.Name }

// lookOf returns the look of a step; asks says that its agent waits for an answer.
func lookOf(n *plan.Node, asks bool) Look {
	if n.WaitingForUser() || asks || n.State == plan.Running && n.Phase == plan.PhaseNeedsPerson {
		return lookYou
	}
	switch n.State {
	case plan.Ready:
		return lookReady
	case plan.Running:
		if n.StalledAt != 0 {
			return lookStalled
		}
		return lookRunning
	case plan.Done:
		return lookDone
	case plan.Failed:
		return lookFailed
	case plan.Skipped:
		return lookSkipped
	}
	return lookPending
}

// planLook returns the look of a whole plan. Plans that have begun and are not
// started any more are stopped.
func planLook(s plan.Status, started, begun bool) Look {
	switch {
	case s == plan.StatusEmpty:
		return lookEmpty
	case s == plan.StatusDone:
		return lookDone
	case s == plan.StatusFailed:
		return lookFailed
	case started:
		return lookRunning
	case begun:
		return lookStopped
	}
	return lookPending
}
