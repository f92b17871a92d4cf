package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// fullPlan has something in every field that is stored.
func fullPlan() *plan.Plan {
	return &plan.Plan{
		Title: "T", Description: "D\n'", WorkDir: "/w/ä", DefaultProfile: 1, ReviewProfile: 2, Executor: plan.External, Started: true,
		StartedAt: 10.5, FirstStart: 9.5, FinishedAt: 11.5, Approval: plan.Approved, Revision: 3,
		Policies: plan.Policies{MaxParallel: 2, TestInstructions: "make", Isolation: "worktree", OnFailure: "skip", ReviewPolicy: "gate",
			MaxAttempts: 3, MaxTokens: 1 << 40, MaxCostUSD: 1.25, CheckCommand: "make check", Deliver: "branch", StallAfter: 60},
	}
}

func TestPlanComesBackAsItWasStored(t *testing.T) {
	s := open(t, Options{})
	want := fullPlan()
	write(t, s, func(tx *Tx) error {
		return errors.Join(tx.InsertPlan(want, "/key"), tx.UpdatePlan(want, "/key"))
	})
	if want.ID != 1 || want.Root != 1 || want.NextNode != 1 || want.CreatedAt == 0 {
		t.Errorf("inserting fills in %+v; want id, root, first node number and time", want)
	}
	var got *plan.Plan
	read(t, s, func(tx *Tx) (err error) { got, err = tx.Plan(want.ID); return err })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-stored +read):\n%s", diff)
	}
	for _, at := range []plan.Stamp{77.5, 0} {
		write(t, s, func(tx *Tx) error { return tx.SetFinished(want.ID, at) })
		if got := one[plan.Stamp](t, s, "SELECT finished_at FROM plans"); got != at {
			t.Errorf("finished at %v, want %v", got, at)
		}
	}
	err := s.Write(t.Context(), func(tx *Tx) error { return tx.UpdatePlan(&plan.Plan{ID: 99}, "") })
	if plan.KindOf(err) != plan.NotFound {
		t.Errorf("update of an unknown plan: %v; want it not found", err)
	}
}

func TestANodeHasOneSubplan(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 2)
	sub := func(node plan.NodeID) *plan.Plan {
		return &plan.Plan{Title: "sub", Root: p.ID, ParentPlan: p.ID, ParentNode: node}
	}
	first := sub(1)
	write(t, s, func(tx *Tx) error { return tx.InsertPlan(first, "") })
	if got := one[plan.PlanID](t, s, "SELECT subplan_id FROM nodes WHERE plan_id = ? AND node_id = 1", p.ID); got != first.ID {
		t.Errorf("node 1 has subplan %d, want %d", got, first.ID)
	}
	for _, id := range []plan.PlanID{p.ID, first.ID} {
		read(t, s, func(tx *Tx) error {
			root, err := tx.RootPlan(id)
			if err == nil && root.ID != p.ID {
				t.Errorf("the root of plan %d is plan %d, want %d", id, root.ID, p.ID)
			}
			_, missing := tx.RootPlan(99)
			if plan.KindOf(missing) != plan.NotFound {
				t.Errorf("the root of an unknown plan: %v; want not found", missing)
			}
			return err
		})
	}
	before := dump(t, s)
	for _, node := range []plan.NodeID{1, 99} {
		err := s.Write(t.Context(), func(tx *Tx) error { return tx.InsertPlan(sub(node), "") })
		if err == nil || dump(t, s) != before {
			t.Errorf("a subplan of node %d: %v; want it refused and nothing left", node, err)
		}
	}
}

func TestPlanNumbersAreNeverUsedAgain(t *testing.T) {
	s := open(t, Options{})
	last := makePlan(t, s, 1).ID
	for range 3 {
		write(t, s, func(tx *Tx) error { return tx.DeletePlans([]plan.PlanID{last}) })
		s = reopen(t, s)
		next := makePlan(t, s, 1).ID
		if next <= last {
			t.Fatalf("plan %d comes after plan %d was deleted", next, last)
		}
		last = next
	}
	write(t, s, func(tx *Tx) error {
		if err := tx.DeleteNode(plan.Ref{Plan: last, Node: 1}); err != nil {
			return err
		}
		n, err := tx.TakeNodeIDs(last, 2)
		if err == nil && n != 2 {
			err = fmt.Errorf("node number %d is given out, want 2", n)
		}
		return err
	})
}

func TestDeletedTreeLeavesNothing(t *testing.T) {
	s := open(t, Options{})
	keep := makePlan(t, s, 2)
	base := counts(t, s)
	p := makePlan(t, s, 3)
	write(t, s, func(tx *Tx) error {
		sub := &plan.Plan{Root: p.ID, ParentPlan: p.ID, ParentNode: 2}
		if err := tx.InsertPlan(sub, ""); err != nil {
			return err
		}
		if _, err := addNodes(tx, sub.ID, 1); err != nil {
			return err
		}
		if _, err := insertFull(tx, p.ID); err != nil {
			return err
		}
		for _, id := range []plan.PlanID{p.ID, sub.ID} {
			if err := history(tx, plan.Ref{Plan: id, Node: 1}); err != nil {
				return err
			}
		}
		_, err := tx.InsertEdges(p.ID, []plan.Edge{{From: 1, To: 2}})
		return err
	})
	write(t, s, func(tx *Tx) error {
		ids, err := tx.Subtree(p.ID)
		if err == nil && !slices.Equal(ids, []plan.PlanID{p.ID, p.ID + 1}) {
			err = fmt.Errorf("subtree %v, want the plan and its subplan", ids)
		}
		return errors.Join(err, tx.DeletePlans(ids))
	})
	after := counts(t, s)
	for _, table := range []string{"spend", "system_texts"} { // the ledger stays, and what runs of other plans may share
		delete(after, table)
		delete(base, table)
	}
	if diff := cmp.Diff(base, after); diff != "" {
		t.Errorf("rows (-before +after the plan came and went):\n%s", diff)
	}
	if got := one[plan.PlanID](t, s, "SELECT id FROM plans"); got != keep.ID {
		t.Errorf("plan %d is left, want %d", got, keep.ID)
	}
}

// history gives a node a finished run with all that may hang on it.
func history(tx *Tx, r plan.Ref) error {
	root, err := tx.RootOf(r.Plan)
	if err != nil {
		return err
	}
	run := &plan.Run{ID: plan.RunID("run-" + r.String()), PlanID: r.Plan, NodeID: r.Node, Kind: plan.RunStep, TokensIn: ptr(int64(5))}
	q := &plan.Question{ID: "q", RunID: run.ID, PlanID: r.Plan, NodeID: r.Node, Input: []byte("{}")}
	if err := tx.InsertRun(run); err != nil {
		return err
	}
	if _, err := tx.InsertQuestion(q); err != nil {
		return err
	}
	run.Outcome = plan.OutcomeDone
	err = errors.Join(tx.Note(root, r, run.ID, plan.EventSystem, map[string]string{"text": "hello"}), tx.EndRun(run), tx.AddSpend(root, run),
		put(tx, r, plan.Ready))
	for _, q := range []string{
		"INSERT INTO diffs (run_id, path, change, diff) VALUES (?1, 'a', 'added', '+')",
		"INSERT INTO reviews (plan_id, node_id, run_id, verdict, created_at) VALUES (?2, ?3, ?1, 'ok', 1)",
		"INSERT INTO phases (plan_id, node_id, run_id, state, since, until) VALUES (?2, ?3, ?1, 'ready', 1, 2)",
	} {
		_, e := tx.exec("insert", q, run.ID, r.Plan, r.Node)
		err = errors.Join(err, e)
	}
	return err
}

// counts returns how many rows each table has, those of the change log left out.
func counts(t *testing.T, s *Store) map[string]int {
	t.Helper()
	var tables []string
	read(t, s, func(tx *Tx) error {
		return tx.list("tables", &tables, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'changes'")
	})
	out := map[string]int{}
	for _, name := range tables {
		out[name] = one[int](t, s, "SELECT COUNT(*) FROM "+name)
	}
	return out
}

func TestHistoryIsClearedButForTheLedger(t *testing.T) {
	s := open(t, Options{})
	p, other := makePlan(t, s, 1), makePlan(t, s, 1)
	base := counts(t, s)
	write(t, s, func(tx *Tx) error { return history(tx, plan.Ref{Plan: other.ID, Node: 1}) })
	want := counts(t, s)
	for table, n := range want {
		if n == base[table] && slices.Contains([]string{"runs", "events", "diffs", "reviews", "questions", "phases", "spend"}, table) {
			t.Errorf("the history has nothing in table %s", table)
		}
	}
	want["spend"]++
	write(t, s, func(tx *Tx) error { return history(tx, plan.Ref{Plan: p.ID, Node: 1}) })
	write(t, s, func(tx *Tx) error { return tx.ClearHistory([]plan.PlanID{p.ID}) })
	got := counts(t, s)
	delete(want, "tallies") // the states have moved
	delete(got, "tallies")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-other plan's history and two in the ledger +left):\n%s", diff)
	}
}

func TestFoldersInUse(t *testing.T) {
	s := open(t, Options{})
	for i, c := range []struct {
		name    string
		started bool
		states  []plan.State
		busy    bool
	}{
		{"not started", false, []plan.State{plan.Pending}, false},
		{"work left", true, []plan.State{plan.Done, plan.Pending}, true},
		{"one runs", true, []plan.State{plan.Running}, true},
		{"one is ready", true, []plan.State{plan.Ready, plan.Failed}, true},
		{"all over", true, []plan.State{plan.Done, plan.Failed, plan.Skipped}, false},
		{"empty", true, nil, false},
	} {
		key := fmt.Sprintf("/k%d", i)
		var busy []Folder
		var started []plan.PlanID
		p := &plan.Plan{Title: c.name}
		write(t, s, func(tx *Tx) error {
			err := tx.InsertPlan(p, key)
			p.Started = c.started
			if _, e := addNodes(tx, p.ID, len(c.states)); e != nil {
				return e
			}
			for n, st := range c.states {
				err = errors.Join(err, put(tx, plan.Ref{Plan: p.ID, Node: plan.NodeID(n + 1)}, st))
			}
			return errors.Join(err, tx.UpdatePlan(p, key))
		})
		read(t, s, func(tx *Tx) (err error) {
			if started, err = tx.StartedRoots(); err != nil {
				return err
			}
			busy, err = tx.BusyFolders()
			return err
		})
		if got := slices.Contains(busy, Folder{p.ID, c.name, key, true}); got != c.busy {
			t.Errorf("%s: folder in use %v, want %v", c.name, got, c.busy)
		}
		if got := slices.Contains(started, p.ID); got != c.started {
			t.Errorf("%s: listed as started %v, want %v", c.name, got, c.started)
		}
	}
}

func TestFactsOfATreeAreItsPlansAndActiveNodes(t *testing.T) {
	s := open(t, Options{})
	root, sub := fullPlan(), &plan.Plan{ParentNode: 1, Approval: plan.NoApproval, DefaultProfile: 8}
	write(t, s, func(tx *Tx) error {
		if err := tx.InsertPlan(root, ""); err != nil {
			return err
		}
		if err := tx.UpdatePlan(root, ""); err != nil {
			return err
		}
		if _, err := addNodes(tx, root.ID, 3); err != nil {
			return err
		}
		sub.Root, sub.ParentPlan = root.ID, root.ID
		if err := tx.InsertPlan(sub, ""); err != nil {
			return err
		}
		if _, err := addNodes(tx, sub.ID, 1); err != nil {
			return err
		}
		a, b := plan.Ref{Plan: root.ID, Node: 1}, plan.Ref{Plan: sub.ID, Node: 1}
		return errors.Join(tx.SetFiles(b, []plan.File{{Path: "B", Key: "b"}, {Path: "A", Key: "a"}}),
			put(tx, a, plan.Running, func(n *plan.Node) { n.Phase = plan.PhaseSubplan }),
			put(tx, b, plan.Ready, func(n *plan.Node) { n.NotBefore, n.AgentKind = 5.5, "x" }),
			put(tx, plan.Ref{Plan: root.ID, Node: 2}, plan.Done))
	})
	want := plan.Facts{
		Plans: []plan.PlanFacts{
			{ID: root.ID, Root: root.ID, Profile: 1, Started: true, Executor: plan.External, MaxParallel: 2, Approval: plan.Approved},
			{ID: sub.ID, Root: root.ID, ParentPlan: root.ID, ParentNode: 1, Profile: 8, Started: true, Executor: plan.External, MaxParallel: 2, Approval: plan.Approved},
		},
		Nodes: []plan.NodeFacts{
			{PlanID: root.ID, ID: 1, State: plan.Running, Phase: plan.PhaseSubplan, Kind: plan.KindAgent, Subplan: sub.ID},
			{PlanID: sub.ID, ID: 1, State: plan.Ready, Kind: plan.KindAgent, NotBefore: 5.5, AgentKind: "x", Keys: []string{"a", "b"}},
		},
	}
	read(t, s, func(tx *Tx) error {
		got, err := tx.TreeFacts(root.ID)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("facts (-want +got):\n%s", diff)
		}
		alone, e := tx.PlanFacts(sub.ID)
		if diff := cmp.Diff(want.Plans[1], alone); diff != "" {
			t.Errorf("facts of the subplan (-want +got):\n%s", diff)
		}
		return errors.Join(err, e)
	})
}
