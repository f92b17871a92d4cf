package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// ErrResync is returned to a subscriber that asks for changes from so long ago
// that they are no longer known: it has to read the present state anew.
var ErrResync = errors.New("too far back: read the present state anew")

// ErrStreamClosed is returned to subscribers when the engine ends.
var ErrStreamClosed = errors.New("the server is ending")

// What the hub keeps in memory. Who needs older changes reads them from the
// database, so these bounds are about speed alone.
const (
	hubChanges = 8192
	hubBytes   = 16 << 20
	pageSize   = 1000
	// maxReplay is how far back a subscriber may begin. Beyond it, reading the
	// present state costs less than the history.
	maxReplay = 50_000
)

// hub passes committed changes on. Subscribers pull at their own pace from one
// log, so a slow one costs nothing, loses nothing and slows nobody.
type hub struct {
	store *store.Store

	mu     sync.Mutex
	log    []plan.Change // the newest, by Seq
	bytes  int
	last   int64 // Seq of the newest ever published
	events uint64
	others uint64
	wake   chan struct{}
	closed bool
}

func newHub() *hub { return &hub{wake: make(chan struct{})} }

// start learns how far the history in the database reaches.
func (h *hub) start(ctx context.Context) error {
	return h.store.Read(ctx, func(tx *store.Tx) error {
		last, err := tx.LastSeq()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.last = max(h.last, last)
		return err
	})
}

func (h *hub) publish(changes []plan.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range changes {
		h.log = append(h.log, c)
		h.bytes += sizeOf(&c)
		h.last = c.Seq
		if c.Kind == plan.ChangeEvent {
			h.events++
		} else {
			h.others++
		}
	}
	for len(h.log) > hubChanges || h.bytes > hubBytes && len(h.log) > 1 {
		h.bytes -= sizeOf(&h.log[0])
		h.log[0] = plan.Change{}
		h.log = h.log[1:]
	}
	if !h.closed {
		close(h.wake)
		h.wake = make(chan struct{})
	}
}

// counted returns how many events and other changes were published.
func (h *hub) counted() (events, others uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events, h.others
}

func sizeOf(c *plan.Change) int {
	n := 200
	if c.Event != nil {
		n += len(c.Event.Data)
	}
	return n
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.wake)
	}
}

// since returns the changes after a number that are in memory. known is false
// when some are not.
func (h *hub) since(after int64) (changes []plan.Change, known bool, wake chan struct{}, closed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after >= h.last {
		return nil, true, h.wake, h.closed
	}
	if len(h.log) == 0 || h.log[0].Seq > after+1 {
		return nil, false, h.wake, h.closed
	}
	at, _ := slices.BinarySearchFunc(h.log, after+1, func(c plan.Change, seq int64) int { return cmp.Compare(c.Seq, seq) })
	end := min(len(h.log), at+pageSize)
	return slices.Clone(h.log[at:end]), true, h.wake, h.closed
}

// Subscription follows the changes of one tree or of all. It is for one
// goroutine.
type Subscription struct {
	hub    *hub
	root   plan.PlanID
	cursor int64
}

// Subscribe follows what is committed after a number: of one tree with what
// concerns all, or (root 0) everything. A negative number begins now.
func (e *Engine) Subscribe(root plan.PlanID, after int64) *Subscription {
	s := &Subscription{hub: e.hub, root: root, cursor: after}
	if after < 0 {
		e.hub.mu.Lock()
		s.cursor = e.hub.last
		e.hub.mu.Unlock()
	}
	return s
}

// Cursor returns the number up to which the subscriber has seen everything.
func (s *Subscription) Cursor() int64 { return s.cursor }

// Next waits for changes and returns them in order. It returns ErrResync when
// some are no longer known, ErrStreamClosed when the engine ends, and the error
// of ctx.
func (s *Subscription) Next(ctx context.Context) ([]plan.Change, error) {
	for {
		changes, known, wake, closed := s.hub.since(s.cursor)
		if closed {
			return nil, ErrStreamClosed
		}
		if !known {
			var err error
			if changes, err = s.replay(ctx); err != nil {
				return nil, err
			}
		}
		if more := len(changes) > 0; more || !known {
			if more {
				s.cursor = changes[len(changes)-1].Seq
			}
			if changes = s.mine(changes); len(changes) > 0 {
				return changes, nil
			}
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *Subscription) mine(all []plan.Change) []plan.Change {
	if s.root == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(c plan.Change) bool { return c.Root != 0 && c.Root != s.root })
}

// replay reads one page of history from the database.
func (s *Subscription) replay(ctx context.Context) ([]plan.Change, error) {
	var page []plan.Change
	err := s.hub.store.Read(ctx, func(tx *store.Tx) error {
		first, err := tx.FirstSeq()
		if err != nil {
			return err
		}
		last, err := tx.LastSeq()
		if err != nil {
			return err
		}
		if s.cursor+1 < first || last-s.cursor > maxReplay {
			return ErrResync
		}
		if page, err = history(tx, s.cursor); err == nil && len(page) == 0 {
			s.cursor = last // what was there has been deleted
		}
		return err
	})
	return page, err
}

// history merges recorded changes and events, which share one numbering.
func history(tx *store.Tx, after int64) ([]plan.Change, error) {
	changes, err := tx.ChangesAfter(after, 0, pageSize)
	if err != nil {
		return nil, err
	}
	events, err := tx.EventsAfter(after, 0, pageSize)
	if err != nil {
		return nil, err
	}
	// Beyond the shorter of two full pages the other one may have more to come.
	limit := int64(1<<63 - 1)
	if len(changes) == pageSize {
		limit = changes[pageSize-1].Seq
	}
	if len(events) == pageSize {
		limit = min(limit, events[pageSize-1].ID)
	}
	for i := range events {
		e := &events[i]
		root, err := tx.RootOf(e.PlanID)
		if err != nil {
			return nil, err
		}
		changes = append(changes, plan.Change{Seq: e.ID, At: e.At, Root: root, Plan: e.PlanID, Node: e.NodeID,
			Kind: plan.ChangeEvent, Event: e})
	}
	slices.SortFunc(changes, func(a, b plan.Change) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.DeleteFunc(changes, func(c plan.Change) bool { return c.Seq > limit }), nil
}
