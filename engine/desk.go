package engine

import (
	"context"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// desk is the board behind a lock, with a bell. Commits are applied to it before
// the callers hear of them, so who has changed something finds the board changed.
type desk struct {
	mu    sync.Mutex
	board *plan.Board
	bell  chan struct{} // something may be startable
}

func newDesk(b *plan.Board) *desk { return &desk{board: b, bell: make(chan struct{}, 1)} }

func (d *desk) apply(changes []plan.Change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range changes {
		d.board.Advance(changes[i].At)
		d.board.Apply(changes[i].Facts)
		if changes[i].Profiles != nil {
			d.board.SetProfiles(changes[i].Profiles)
		}
	}
	d.ring()
}

func (d *desk) ring() {
	select {
	case d.bell <- struct{}{}:
	default:
	}
}

// next gives out the step that a built-in agent should start now.
func (d *desk) next(now plan.Stamp) (plan.Ref, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.board.Advance(now)
	return d.board.Next()
}

// nextReview gives out the review that should start now.
func (d *desk) nextReview(now plan.Stamp) (int64, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.board.Advance(now)
	return d.board.NextReview()
}

// dueChecks gives out the checks that have to be run.
func (d *desk) dueChecks() []int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.board.DueChecks()
}

// checkBack returns a check that could not be started.
func (d *desk) checkBack(id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.board.ReturnCheck(id)
}

// giveReviewBack returns a review that could not be started.
func (d *desk) giveReviewBack(id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.board.ReturnReview(id)
	d.ring()
}

// claim gives out the step that an external agent should do next.
func (d *desk) claim(now plan.Stamp, within plan.PlanID) (plan.Ref, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.board.Advance(now)
	return d.board.Claim(within)
}

// waits returns how a step that was just given out had waited.
func (d *desk) waits(r plan.Ref) []plan.Wait {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.board.Waits(r)
}

// limitOver reports whether a profile waits for someone to see that its limit is over.
func (d *desk) limitOver(p plan.ProfileID, now plan.Stamp) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.board.LimitOver(p, now)
}

// giveBack returns a step that could not be started.
func (d *desk) giveBack(r plan.Ref) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.board.Return(r)
	d.ring()
}

// wake returns how long until a sleeping step wakes; ok is false when none sleeps.
func (d *desk) wake(now plan.Stamp) (wait time.Duration, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.board.NextWake()
	if at == 0 {
		return 0, false
	}
	return max(0, time.Duration(float64(at-now)*float64(time.Second))), true
}

// holds says for each ready step of a tree why it has not started.
func (d *desk) holds(s *plan.Snapshot) map[plan.Ref]plan.Hold {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[plan.Ref]plan.Hold{}
	s.Walk(func(n *plan.Node) {
		if n.State == plan.Ready {
			if h := d.board.Held(n.Ref()); h.Phase != "" {
				out[n.Ref()] = h
			}
		}
	})
	return out
}

// waiting counts what waits, as Board.Waiting does.
func (d *desk) waiting(now plan.Stamp) (map[plan.Phase]int, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.board.Advance(now)
	return d.board.Waiting()
}

// loadBoard fills the board with the trees at work, as a new process does.
func (e *Engine) loadBoard(ctx context.Context) error {
	return e.store.Read(ctx, func(tx *store.Tx) error {
		profiles, err := tx.Profiles()
		if err != nil {
			return err
		}
		e.desk.board.SetProfiles(profiles)
		limits, err := tx.Limits()
		if err != nil {
			return err
		}
		reviews, err := tx.OpenReviews()
		if err != nil {
			return err
		}
		facts := &plan.Facts{Limits: limits}
		for _, r := range reviews {
			facts.Reviews = append(facts.Reviews, plan.ReviewFacts{ID: r.ID, Profile: r.Profile, Urgent: r.Urgent, State: r.State})
		}
		e.desk.board.Apply(facts)
		roots, err := tx.RootsAtWork()
		if err != nil {
			return err
		}
		for _, id := range roots {
			facts, err := tx.TreeFacts(id)
			if err != nil {
				return err
			}
			e.desk.board.Apply(&facts)
		}
		return nil
	})
}

// mayBegin reports whether a step that was given out may begin as it is now.
func (d *desk) mayBegin(n *plan.Node) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.board.MayBegin(factsOf(n))
}
