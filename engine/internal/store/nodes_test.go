package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clearbox-go/clearbox/engine/plan"
)

var allCauses = []plan.Cause{plan.Unblocked, plan.Blocked, plan.Started, plan.Entered, plan.Finished, plan.Broke, plan.CannotRun,
	plan.PersonDid, plan.PersonStopped, plan.PlanStopped, plan.Interrupted, plan.LimitReached, plan.Retried, plan.Reworked,
	plan.WasReset, plan.ReopenedBelow, plan.FailureAbove, plan.PersonSkipped, plan.Unskipped}

// move is what every operation does: plan.Next decides, SetState compares.
func move(tx *Tx, r plan.Ref, believed plan.State, c plan.Cause) error {
	n, err := tx.Node(r)
	if err != nil {
		return err
	}
	if n.State, err = plan.Next(believed, c); err != nil {
		return err
	}
	return tx.SetState(n, believed)
}

func TestEveryPairOfStates(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	r := plan.Ref{Plan: p.ID, Node: 1}
	for _, from := range plan.States {
		reached := map[plan.State]bool{}
		for _, c := range allCauses {
			write(t, s, func(tx *Tx) error { return put(tx, r, from) })
			before := dump(t, s)
			next, refused := plan.Next(from, c)
			err := s.Write(t.Context(), func(tx *Tx) error { return move(tx, r, from, c) })
			switch {
			case refused != nil && (plan.KindOf(err) != plan.Invalid || dump(t, s) != before):
				t.Errorf("%s by %s is not allowed: %v; want it refused as invalid, and nothing changed", from, c, err)
			case refused == nil && (err != nil || stateOf(t, s, r) != next):
				t.Errorf("%s by %s: %v, state %s; want %s", from, c, err, stateOf(t, s, r), next)
			case refused == nil:
				reached[next] = true
			}
		}
		for _, to := range plan.States {
			if reached[to] != plan.Allowed(from, to) {
				t.Errorf("from %s to %s: moved %v, allowed %v", from, to, reached[to], plan.Allowed(from, to))
			}
		}
	}
}

func stateOf(t testing.TB, s *Store, r plan.Ref) plan.State {
	t.Helper()
	return one[plan.State](t, s, "SELECT state FROM nodes WHERE plan_id = ? AND node_id = ?", r.Plan, r.Node)
}

func TestLostRaceIsAConflictAndChangesNothing(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	r := plan.Ref{Plan: p.ID, Node: 1}
	for _, real := range plan.States {
		write(t, s, func(tx *Tx) error { return put(tx, r, real) })
		before := dump(t, s)
		for _, believed := range plan.States {
			for _, c := range allCauses {
				if _, err := plan.Next(believed, c); believed == real || err != nil {
					continue
				}
				err := s.Write(t.Context(), func(tx *Tx) error { return move(tx, r, believed, c) })
				if plan.KindOf(err) != plan.Conflict || dump(t, s) != before {
					t.Errorf("a %s node that is taken for %s, by %s: %v; want a conflict and nothing changed", real, believed, c, err)
				}
			}
		}
	}
	err := s.Write(t.Context(), func(tx *Tx) error {
		return tx.SetState(&plan.Node{PlanID: p.ID, ID: 99, State: plan.Ready}, plan.Pending)
	})
	if plan.KindOf(err) != plan.Conflict {
		t.Errorf("a node that is gone: %v; want a conflict", err)
	}
}

func TestOneOfManyClaimsWins(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	r := plan.Ref{Plan: p.ID, Node: 1}
	write(t, s, func(tx *Tx) error { return move(tx, r, plan.Pending, plan.Unblocked) })
	var wg sync.WaitGroup
	var won, lost atomic.Int32
	for i := range 100 {
		wg.Go(func() {
			err := s.Write(context.Background(), func(tx *Tx) error {
				n := &plan.Node{PlanID: p.ID, ID: 1, State: plan.Running, AgentName: fmt.Sprint(i)}
				return tx.SetState(n, plan.Ready)
			})
			switch plan.KindOf(err) {
			case "":
				won.Add(1)
			case plan.Conflict:
				lost.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 99 {
		t.Errorf("%d won and %d lost; want 1 and 99", won.Load(), lost.Load())
	}
}

// fullNode has something in every field that is stored.
func fullNode() *plan.Node {
	return &plan.Node{
		Title: "Tït|e", Description: "d\n\"q\"", Kind: plan.KindUser, State: plan.Running, Phase: plan.PhaseChecking, Profile: 3,
		TaskType: "test", Isolation: "worktree", CheckCommand: "make", MaxAttempts: 4, EstimateMinutes: 2.5,
		Result: ptr("r"), Error: ptr(""), ReworkBrief: ptr("b"), AgentKind: "external", AgentName: "me", AgentDone: true,
		SessionID: "s1", RunID: "run1", TokensIn: ptr(int64(0)), TokensOut: ptr(int64(1) << 40), CostUSD: ptr(0.125),
		Attempts: 2, Interruptions: 1, NotBefore: 12.5, SkippedBy: "person", SkippedCause: 9, SkipNote: "why",
		UndeclaredMore: 7, UndeclaredShared: true, PhaseSince: 100.25, StartedAt: 101.5, FinishedAt: 102.75,
		Files: []plan.File{{Path: "A/", Key: "a"}, {Path: "b\"c", Key: "b\"c"}}, ResultsFrom: []plan.NodeID{1},
		Criteria: []string{"one", "t,w\"o"}, Undeclared: []string{"x", "ü"},
	}
}

// insertFull adds it to a plan of one node, in the two steps that its fields take.
func insertFull(tx *Tx, id plan.PlanID) (*plan.Node, error) {
	n, err := fullNode(), error(nil)
	if n.ID, err = tx.TakeNodeIDs(id, 1); err != nil {
		return nil, err
	}
	stored := *n
	if err := tx.InsertNodes(id, []*plan.Node{&stored}); err != nil {
		return nil, err
	}
	n.PlanID, n.CreatedAt = id, stored.CreatedAt
	return n, tx.SetState(n, plan.Pending)
}

func TestNodeComesBackAsItWasStored(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	var want, got *plan.Node
	write(t, s, func(tx *Tx) (err error) { want, err = insertFull(tx, p.ID); return err })
	read(t, s, func(tx *Tx) (err error) { got, err = tx.Node(want.Ref()); return err })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-stored +read):\n%s", diff)
	}
	want.Title, want.Description, want.Kind, want.Profile, want.TaskType = "T2", "", plan.KindAgent, 0, ""
	want.Isolation, want.CheckCommand, want.MaxAttempts, want.EstimateMinutes, want.Criteria = "", "", 0, 0, nil
	want.Files, want.ResultsFrom = []plan.File{{Path: "Z", Key: "z"}}, nil
	write(t, s, func(tx *Tx) error {
		return errors.Join(tx.UpdateNode(want), tx.SetFiles(want.Ref(), want.Files), tx.SetResultsFrom(want.Ref(), nil))
	})
	read(t, s, func(tx *Tx) (err error) { got, err = tx.Node(want.Ref()); return err })
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("after an update (-stored +read):\n%s", diff)
	}
}

func TestUnknownNodesAndPlansAreNamed(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	for r, want := range map[plan.Ref]string{
		{Plan: p.ID, Node: 9}: fmt.Sprintf("plan %d has no step 9", p.ID), {Plan: 77, Node: 1}: "there is no plan 77",
	} {
		err := s.Read(t.Context(), func(tx *Tx) error { _, err := tx.Node(r); return err })
		if plan.KindOf(err) != plan.NotFound || plan.MessageOf(err) != want {
			t.Errorf("%s: %v; want %q", r, err, want)
		}
	}
}

func TestWhoCanStartAndWhoIsFreed(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 5)
	lists := func() (startable, freed, last []plan.NodeID) {
		read(t, s, func(tx *Tx) (err error) {
			if startable, err = tx.Startable(p.ID); err != nil {
				return err
			}
			if freed, err = tx.FreedBy(plan.Ref{Plan: p.ID, Node: 1}); err != nil {
				return err
			}
			nodes, err := tx.FinalNodes(p.ID)
			for _, n := range nodes {
				last = append(last, n.ID)
			}
			return err
		})
		return startable, freed, last
	}
	write(t, s, func(tx *Tx) error {
		n, err := tx.InsertEdges(p.ID, []plan.Edge{{From: 1, To: 3}, {From: 2, To: 3}, {From: 1, To: 4}, {From: 1, To: 4}})
		if err == nil && n != 3 {
			err = fmt.Errorf("%d edges are new, want 3", n)
		}
		return err
	})
	startable, freed, last := lists()
	if !slices.Equal(startable, []plan.NodeID{1, 2, 5}) || len(freed) != 0 || !slices.Equal(last, []plan.NodeID{3, 4, 5}) {
		t.Errorf("at first: startable %v, freed by 1 %v, last %v", startable, freed, last)
	}
	write(t, s, func(tx *Tx) error { return put(tx, plan.Ref{Plan: p.ID, Node: 1}, plan.Done) })
	startable, freed, _ = lists()
	if !slices.Equal(startable, []plan.NodeID{2, 4, 5}) || !slices.Equal(freed, []plan.NodeID{4}) {
		t.Errorf("after 1 is done: startable %v, freed by it %v", startable, freed)
	}
	write(t, s, func(tx *Tx) error {
		return put(tx, plan.Ref{Plan: p.ID, Node: 2}, plan.Skipped, func(n *plan.Node) { n.SkippedBy = plan.SkippedByFailure })
	})
	if startable, _, _ = lists(); !slices.Equal(startable, []plan.NodeID{4, 5}) {
		t.Errorf("after 2 was skipped by a failure: startable %v", startable)
	}
	write(t, s, func(tx *Tx) error {
		return put(tx, plan.Ref{Plan: p.ID, Node: 2}, plan.Skipped, func(n *plan.Node) { n.SkippedBy = plan.SkippedByPerson })
	})
	if startable, _, _ = lists(); !slices.Equal(startable, []plan.NodeID{3, 4, 5}) {
		t.Errorf("after 2 was skipped by a person: startable %v", startable)
	}
}

func TestNearbyNodes(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 500)
	write(t, s, func(tx *Tx) error {
		edges := []plan.Edge{{From: 7, To: 250}, {From: 250, To: 490}}
		for i := plan.NodeID(300); i < 400; i++ {
			edges = append(edges, plan.Edge{From: 250, To: i})
		}
		_, err := tx.InsertEdges(p.ID, edges)
		return err
	})
	var got []plan.NodeID
	read(t, s, func(tx *Tx) error {
		nodes, err := tx.Nearby(plan.Ref{Plan: p.ID, Node: 250})
		for _, n := range nodes {
			got = append(got, n.ID)
		}
		return err
	})
	want := []plan.NodeID{7}
	for i := plan.NodeID(238); i <= 262; i++ {
		if i != 250 {
			want = append(want, i)
		}
	}
	for i := plan.NodeID(300); i < 312; i++ {
		want = append(want, i)
	}
	if !slices.Equal(got, want) {
		t.Errorf("near node 250 are %v, want %v", got, want)
	}
}

func TestTimeInEachPhaseIsKept(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	r := plan.Ref{Plan: p.ID, Node: 1}
	for i, st := range []struct {
		state plan.State
		phase plan.Phase
	}{{plan.Ready, plan.PhaseQueued}, {plan.Ready, plan.PhaseFiles}, {plan.Running, plan.PhaseWorking}, {plan.Running, plan.PhaseReviewing},
		{plan.Running, plan.PhaseReviewing}, {plan.Done, plan.PhaseNone}, {plan.Pending, plan.PhaseNone}} {
		write(t, s, func(tx *Tx) error {
			return put(tx, r, st.state, func(n *plan.Node) {
				if n.Phase != st.phase || st.state == plan.Done {
					n.PhaseSince = plan.Stamp(10 * (i + 1))
				}
				n.Phase, n.RunID = st.phase, plan.RunID(fmt.Sprint("r", i/4))
			})
		})
	}
	var got []string
	read(t, s, func(tx *Tx) error {
		return tx.list("phases", &got, "SELECT run_id || ' ' || state || ' ' || phase || ' ' || since || '-' || until FROM phases ORDER BY since")
	})
	want := []string{"r0 ready queued 10.0-20.0", "r0 ready files 20.0-30.0", "r0 running working 30.0-40.0", "r1 running reviewing 40.0-60.0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("phases that were left (-want +got):\n%s", diff)
	}
}
