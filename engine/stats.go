package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Stats is what the engine counts about itself, for metrics. Totals count from
// the start of this process.
type Stats struct {
	OpenRuns map[plan.RunKind]int
	Waiting  map[plan.Phase]int // ready steps of started plans, by what they wait for

	ReviewsQueued    int
	DeliveriesQueued int // for webhooks

	Events  uint64 // transcript entries stored
	Changes uint64 // other changes recorded
	Commits Commits
}

// Commits is how changes of the database were grouped: many share one flush to
// disk.
type Commits = store.Commits

// Stats returns what the engine counts. It reads open runs only, so it costs the
// same however long the history is.
func (e *Engine) Stats(ctx context.Context) (Stats, error) {
	s := Stats{OpenRuns: map[plan.RunKind]int{}, Commits: e.store.Commits()}
	s.Events, s.Changes = e.hub.counted()
	s.Waiting, s.ReviewsQueued = e.desk.waiting(e.now())
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		open, err := tx.OpenRuns()
		if err != nil {
			return err
		}
		for i := range open {
			s.OpenRuns[open[i].Kind]++
		}
		waiting, err := tx.WaitingDeliveries()
		for _, n := range waiting {
			s.DeliveriesQueued += n
		}
		return err
	})
	return s, err
}
