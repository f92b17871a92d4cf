package engine

import (
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// lastCutOff returns the last run of a step when it was cut off and the step is to go
// on where it was, nil otherwise.
func lastCutOff(tx *store.Tx, n *plan.Node) (*plan.Run, error) {
	cause, err := startCause(tx, n)
	if err != nil || !plan.GoesOn(cause) {
		return nil, err
	}
	return tx.Run(n.RunID)
}

// resumeSession has an agent go on with the session of a run that was cut off, where
// its program can and nothing has changed that the session depends on. When the
// session turns out to be gone, the harness begins a new one: the prompt is whole.
func (e *Engine) resumeSession(a *assignment) {
	last := a.resumed
	if last == nil || last.Kind != plan.RunStep || last.SessionID == "" || last.Profile != a.profile.ID ||
		last.Harness != a.harness || last.Worktree != a.run.Worktree || !e.canResume(a.harness) {
		a.resumed = nil
		return
	}
	a.task.ResumeSession = last.SessionID
}

func (e *Engine) canResume(slug string) bool {
	for _, f := range e.launcher.Found() {
		if f.Slug == slug {
			return f.Info.Features.Resume
		}
	}
	return false
}
