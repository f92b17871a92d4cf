package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// hook remembers what was published.
type hook struct {
	mu    sync.Mutex
	calls [][]plan.Change
}

func (h *hook) publish(list []plan.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, slices.Clone(list))
}

func (h *hook) all() []plan.Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Concat(h.calls...)
}

func (h *hook) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = nil
}

func TestNeighboursInAGroupDoNotHarmEachOther(t *testing.T) {
	var h hook
	s := open(t, Options{Published: h.publish})
	p := makePlan(t, s, 8)
	kinds := []struct {
		name string
		end  func() error
	}{
		{"good", func() error { return nil }}, {"failing", func() error { return errNo }},
		{"panicking", func() error { panic("boom") }}, {"also good", func() error { return nil }},
	}
	errs := make([]error, len(kinds))
	release := block(t, s)
	var wg sync.WaitGroup
	for i, k := range kinds {
		wg.Go(func() {
			errs[i] = s.Write(context.Background(), func(tx *Tx) error {
				if err := put(tx, plan.Ref{Plan: p.ID, Node: plan.NodeID(i + 1)}, plan.Ready); err != nil {
					return err
				}
				if err := tx.Record(plan.Change{Plan: p.ID, Node: plan.NodeID(i + 1), Kind: plan.ChangeNode}); err != nil {
					return err
				}
				return k.end()
			})
		})
		eventually(t, "it waits", func() bool { return len(s.jobs) == i+1 })
	}
	release()
	wg.Wait()
	if errs[0] != nil || !errors.Is(errs[1], errNo) || errs[2] == nil || errs[3] != nil {
		t.Errorf("answers %v; want an error for the failing and the panicking one alone", errs)
	}
	if errs[2] != nil && !strings.Contains(errs[2].Error(), "boom") {
		t.Errorf("the panic is told as %q, without its words", errs[2])
	}
	var ready []plan.NodeID
	read(t, s, func(tx *Tx) (err error) { ready, err = tx.NodesIn(p.ID, plan.Ready); return err })
	if !slices.Equal(ready, []plan.NodeID{1, 4}) {
		t.Errorf("ready are %v, want 1 and 4", ready)
	}
	if len(h.calls) != 1 || len(h.calls[0]) != 2 || h.calls[0][0].Node != 1 || h.calls[0][1].Node != 4 {
		t.Errorf("published %+v; want the changes of 1 and 4 in one call: they were one group", h.calls)
	}
	makePlan(t, s, 1) // the writer lives on
}

func TestManyWritersWithFailuresInBetween(t *testing.T) {
	var h hook
	s := open(t, Options{Published: h.publish})
	const goroutines, each = 16, 40
	var wg sync.WaitGroup
	var mu sync.Mutex
	want := map[string]bool{}
	for g := range goroutines {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 4))
			for i := range each {
				title, fail := fmt.Sprintf("%d/%d", g, i), r.IntN(4)
				err := s.Write(context.Background(), func(tx *Tx) error { return writeTitled(tx, title, fail) })
				if (err == nil) != (fail > 1) {
					t.Errorf("%s: %v", title, err)
				}
				if err == nil {
					mu.Lock()
					want[title] = true
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	var titles []string
	read(t, s, func(tx *Tx) error { return tx.list("list", &titles, "SELECT title FROM plans") })
	if len(titles) != len(want) || len(want) == 0 || len(want) == goroutines*each {
		t.Errorf("%d plans are there, %d were acknowledged", len(titles), len(want))
	}
	for _, title := range titles {
		if !want[title] {
			t.Errorf("plan %s is there and was not acknowledged", title)
		}
	}
	if broken := one[int](t, s, "SELECT COUNT(*) FROM plans p WHERE (SELECT COUNT(*) FROM nodes n WHERE n.plan_id = p.id) <> 2"); broken != 0 {
		t.Errorf("%d plans are there by halves", broken)
	}
	comparePublished(t, s, &h)
}

// writeTitled adds a plan with two nodes and records it; it fails by panic (0) or
// error (1) when all is written.
func writeTitled(tx *Tx, title string, fail int) error {
	p := &plan.Plan{Title: title}
	if err := tx.InsertPlan(p, ""); err != nil {
		return err
	}
	if _, err := addNodes(tx, p.ID, 2); err != nil {
		return err
	}
	for n := range plan.NodeID(3) {
		if err := tx.Record(plan.Change{Plan: p.ID, Node: n, Kind: plan.ChangeNode, Shape: n == 0}); err != nil {
			return err
		}
	}
	switch fail {
	case 0:
		panic("boom")
	case 1:
		return errNo
	}
	return nil
}

// comparePublished checks that what was published is what is stored, in order.
func comparePublished(t *testing.T, s *Store, h *hook) {
	t.Helper()
	var stored []plan.Change
	read(t, s, func(tx *Tx) (err error) { stored, err = tx.ChangesAfter(0, 0, 1<<30); return err })
	if diff := cmp.Diff(stored, h.all(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("published (-stored +published):\n%s", diff)
	}
	if !slices.IsSortedFunc(stored, func(a, b plan.Change) int { return int(a.Seq - b.Seq) }) {
		t.Error("the stored changes are not in the order of their numbers")
	}
}

func TestPublishedIsCommittedAndOrderedAndComesFirst(t *testing.T) {
	var s *Store
	var h hook
	var late []int64
	check := func(list []plan.Change) {
		for _, c := range list { // a reader of another connection sees it already
			if one[int](t, s, "SELECT COUNT(*) FROM changes WHERE seq = ?", c.Seq) != 1 {
				late = append(late, c.Seq)
			}
		}
		h.publish(list)
	}
	s = open(t, Options{Published: func(list []plan.Change) { check(list) }})
	for i := range 20 {
		p := makePlan(t, s, 1)
		write(t, s, func(tx *Tx) error { return tx.Record(plan.Change{Plan: p.ID, Kind: plan.ChangePlan}) })
		if got := len(h.all()); got != i+1 {
			t.Fatalf("when the writer heard of change %d, %d were published", i+1, got)
		}
	}
	if len(late) > 0 {
		t.Errorf("changes %v were published before they were committed", late)
	}
	comparePublished(t, s, &h)
}

func TestMoreCallersThanOneGroupHolds(t *testing.T) {
	s := open(t, Options{})
	const callers = 2*maxGroup + 10
	release := block(t, s)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			if err := s.Write(context.Background(), func(tx *Tx) error { _, err := newPlan(tx, 1); return err }); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "the queue is full", func() bool { return len(s.jobs) == cap(s.jobs) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Write(ctx, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gives up before there is room: %v", err)
	}
	release()
	wg.Wait()
	if n := one[int](t, s, "SELECT COUNT(*) FROM plans"); n != callers {
		t.Errorf("%d plans, want %d", n, callers)
	}
}

func TestCallerThatGivesUpWhileItWaitsIsSkipped(t *testing.T) {
	s := open(t, Options{})
	release := block(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { gone <- s.Write(ctx, func(*Tx) error { t.Error("it ran"); return nil }) }()
	eventually(t, "it waits", func() bool { return len(s.jobs) == 1 })
	cancel()
	release()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestFailureOfTheWholeGroupIsToldToAll(t *testing.T) {
	var h hook
	s := open(t, Options{Published: h.publish})
	p := makePlan(t, s, 1)
	s.write.Close() // as if the disk were gone
	for range 2 {
		err := s.Write(t.Context(), func(tx *Tx) error { return tx.Record(plan.Change{Plan: p.ID, Kind: plan.ChangePlan}) })
		if plan.KindOf(err) != plan.Internal || !strings.HasPrefix(err.Error(), "begin to write: ") {
			t.Errorf("got %v, want an internal error that says what was done", err)
		}
	}
	if len(h.all()) != 0 {
		t.Errorf("published %v without a commit", h.all())
	}
	close(s.closing) // Close itself would complain about the closed pool
	<-s.done
	s.shut()
}

func TestCrashBeforeCommitLeavesNothing(t *testing.T) {
	var h hook
	dies := false
	path := t.TempDir() + "/clearbox.sqlite"
	s := open(t, Options{Path: path, Published: h.publish, Crash: func() bool { return dies }})
	p := makePlan(t, s, 2)
	before := dump(t, s)
	h.reset()
	dies = true
	err := s.Write(t.Context(), func(tx *Tx) error {
		if err := put(tx, plan.Ref{Plan: p.ID, Node: 1}, plan.Ready); err != nil {
			return err
		}
		return tx.Record(plan.Change{Plan: p.ID, Node: 1, Kind: plan.ChangeNode})
	})
	if err == nil || len(h.all()) != 0 {
		t.Errorf("the crashed change: %v, published %v; want an error and nothing", err, h.all())
	}
	if s = reopen(t, s); dump(t, s) != before {
		t.Errorf("after the crash:\n%s\nbefore:\n%s", dump(t, s), before)
	}
}
