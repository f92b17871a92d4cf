package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// OpenStep is a step that a person may want to look at: theirs to do or to decide,
// asking, silent or failed.
type OpenStep = store.OpenStep

// Inbox is what waits for a person in all plans, read at one moment.
type Inbox struct {
	Steps     []OpenStep // the longest waiting first
	Questions []plan.Question
	Plans     []Overview // all of them, the newest first
	Limits    []plan.Limit
}

// Inbox reads what waits for a person in all plans.
func (e *Engine) Inbox(ctx context.Context) (*Inbox, error) {
	in := &Inbox{}
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if in.Steps, err = tx.OpenSteps(); err != nil {
			return err
		}
		if in.Questions, err = tx.OpenQuestions(0); err != nil {
			return err
		}
		if in.Limits, err = tx.Limits(); err != nil {
			return err
		}
		in.Plans, err = tx.Overviews()
		return err
	})
	return in, err
}
