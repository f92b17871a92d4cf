package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// open opens a new database in a folder of its own, closed at the end of the test.
func open(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "clearbox.sqlite")
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-s.closing: // the test closed it
		default:
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
	return s
}

// reopen closes a store and opens its database again.
func reopen(t testing.TB, s *Store) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, Options{Path: s.opts.Path})
}

// write runs fn, which must not end the test itself: it runs on the writer's
// goroutine.
func write(t testing.TB, s *Store, fn func(*Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, s *Store, fn func(*Tx) error) {
	t.Helper()
	if err := s.Read(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// one reads a single value.
func one[T any](t testing.TB, s *Store, query string, args ...any) T {
	t.Helper()
	var v T
	read(t, s, func(tx *Tx) error { return tx.get("look", &v, query, args...) })
	return v
}

// newPlan adds a top-level plan with n pending nodes.
func newPlan(tx *Tx, n int) (*plan.Plan, error) {
	p := &plan.Plan{Title: "plan", WorkDir: "/w"}
	if err := tx.InsertPlan(p, "/w"); err != nil {
		return nil, err
	}
	_, err := addNodes(tx, p.ID, n)
	return p, err
}

func addNodes(tx *Tx, id plan.PlanID, n int) ([]*plan.Node, error) {
	first, err := tx.TakeNodeIDs(id, n)
	if err != nil {
		return nil, err
	}
	nodes := make([]*plan.Node, n)
	for i := range nodes {
		nodes[i] = &plan.Node{ID: first + plan.NodeID(i), Title: fmt.Sprintf("step %d", i+1), Kind: plan.KindAgent}
	}
	return nodes, tx.InsertNodes(id, nodes)
}

// makePlan adds a plan in a change of its own.
func makePlan(t testing.TB, s *Store, nodes int) *plan.Plan {
	t.Helper()
	var p *plan.Plan
	write(t, s, func(tx *Tx) (err error) {
		p, err = newPlan(tx, nodes)
		return err
	})
	return p
}

// put moves a node to a state without asking whether that is allowed.
func put(tx *Tx, r plan.Ref, s plan.State, change ...func(*plan.Node)) error {
	n, err := tx.Node(r)
	if err != nil {
		return err
	}
	from := n.State
	n.State = s
	for _, c := range change {
		c(n)
	}
	return tx.SetState(n, from)
}

// eventually waits for what other goroutines do.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: still not so after 20 s", what)
		}
	}
}

func ptr[T any](v T) *T { return &v }

var errNo = errors.New("no")

func TestFailedChangeLeavesNothing(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 2)
	before := dump(t, s)
	for name, fn := range map[string]func(*Tx) error{
		"an error of the caller": func(tx *Tx) error { return errNo },
		"a broken constraint": func(tx *Tx) error {
			_, err := tx.InsertEdges(p.ID, []plan.Edge{{From: 1, To: 99}})
			return err
		},
		"a panic": func(tx *Tx) error { panic("boom") },
		"a lost race at the end": func(tx *Tx) error {
			return tx.SetState(&plan.Node{PlanID: p.ID, ID: 1, State: plan.Done}, plan.Running)
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.Write(t.Context(), func(tx *Tx) error {
				if _, err := newPlan(tx, 3); err != nil {
					return err
				}
				if err := put(tx, plan.Ref{Plan: p.ID, Node: 1}, plan.Ready); err != nil {
					return err
				}
				if err := tx.Record(plan.Change{Plan: p.ID, Kind: plan.ChangePlan}); err != nil {
					return err
				}
				return fn(tx)
			})
			if err == nil {
				t.Fatal("the change went through")
			}
			if after := dump(t, s); after != before {
				t.Errorf("something is left of it:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// dump writes out what tests compare: all rows of the tables that they change.
func dump(t testing.TB, s *Store) string {
	t.Helper()
	var text string
	for _, table := range []string{"plans", "nodes", "edges", "node_files", "results_from", "tallies", "changes", "events", "runs", "phases"} {
		read(t, s, func(tx *Tx) error {
			rows, err := tx.conn.QueryxContext(t.Context(), "SELECT * FROM "+table)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				row, err := rows.SliceScan()
				if err != nil {
					return err
				}
				text += fmt.Sprintf("%s %v\n", table, row)
			}
			return rows.Err()
		})
	}
	return text
}

func TestReadersSeeOneMoment(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	read(t, s, func(tx *Tx) error {
		if _, err := tx.Plan(p.ID); err != nil {
			return err
		}
		if err := s.Write(t.Context(), func(w *Tx) error { _, err := addNodes(w, p.ID, 5); return err }); err != nil {
			return err
		}
		ids, err := tx.NodesIn(p.ID, plan.Pending)
		if err == nil && len(ids) != 1 {
			err = fmt.Errorf("the reader sees %d nodes, want the one of its moment", len(ids))
		}
		return err
	})
	if n := one[int](t, s, "SELECT COUNT(*) FROM nodes"); n != 6 {
		t.Errorf("%d nodes afterwards, want 6", n)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	for range 2 * readers { // each connection of the pool, and each again after a transaction
		err := s.Read(t.Context(), func(tx *Tx) error { return tx.DeletePlans([]plan.PlanID{p.ID}) })
		if err == nil {
			t.Fatal("a reader deleted a plan")
		}
	}
	if _, err := s.read.Exec("DELETE FROM plans"); err == nil {
		t.Error("the pool of readers wrote outside a transaction")
	}
	if n := one[int](t, s, "SELECT COUNT(*) FROM plans"); n != 1 {
		t.Errorf("%d plans are left, want 1", n)
	}
}

func TestCancelledCallers(t *testing.T) {
	s := open(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Write(ctx, func(tx *Tx) error {
		cancel() // the caller goes away while its change runs
		_, err := newPlan(tx, 1)
		return err
	})
	if n := one[int](t, s, "SELECT COUNT(*) FROM plans"); err != nil || n != 1 {
		t.Errorf("a change that had begun: %v, %d plans; want it made", err, n)
	}
	if err := s.Write(ctx, func(*Tx) error { t.Error("it ran"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a change of a caller that is gone: %v, want it not even begun", err)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s := open(t, Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("write after close: %v, want %v", err, ErrClosed)
	}
	if err := s.Read(t.Context(), func(*Tx) error { return nil }); err == nil {
		t.Error("read after close went through")
	}
}

func TestCloseFinishesWhatWaits(t *testing.T) {
	s := open(t, Options{})
	const callers = 50
	errs := make(chan error, callers)
	release := block(t, s)
	for range callers {
		go func() {
			errs <- s.Write(context.Background(), func(tx *Tx) error { _, err := newPlan(tx, 1); return err })
		}()
	}
	eventually(t, "all wait", func() bool { return len(s.jobs) == callers })
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	<-s.closing
	release()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	made := 0
	for range callers {
		if err := <-errs; err == nil {
			made++
		} else if !errors.Is(err, ErrClosed) {
			t.Errorf("a waiting change: %v", err)
		}
	}
	s = open(t, Options{Path: s.opts.Path})
	if n := one[int](t, s, "SELECT COUNT(*) FROM plans"); n != made || made != callers {
		t.Errorf("%d plans are there, %d were acknowledged, %d waited", n, made, callers)
	}
}

// block keeps the writer busy until the function that it returns is called, so
// that what is asked meanwhile comes into one group.
func block(t testing.TB, s *Store) (release func()) {
	t.Helper()
	busy, go_ := make(chan bool), make(chan bool)
	done := make(chan error, 1)
	go func() {
		done <- s.Write(context.Background(), func(*Tx) error { close(busy); <-go_; return nil })
	}()
	<-busy
	return func() {
		t.Helper()
		close(go_)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestDatabaseIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data")
	s := open(t, Options{Path: filepath.Join(dir, "c?100%#.sqlite")})
	makePlan(t, s, 1)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory: %v, %v; want mode 0700", info, err)
	}
	if _, err := os.Stat(s.opts.Path); err != nil {
		t.Errorf("a path with odd characters: %v", err)
	}
}
