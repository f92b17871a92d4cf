package store

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestSnapshotIsWhatWasStored(t *testing.T) {
	s := open(t, Options{})
	makePlan(t, s, 3) // another tree, which is not in it
	root, sub := fullPlan(), &plan.Plan{Title: "sub", ParentNode: 1, Approval: plan.NoApproval}
	var full, inner *plan.Node
	prof := fullProfile("a")
	q := &plan.Question{ID: "q", RunID: "r1", NodeID: 1, Input: []byte("{}")}
	write(t, s, func(tx *Tx) (err error) {
		if err := errors.Join(tx.InsertPlan(root, "/k"), tx.UpdatePlan(root, "/k"), tx.SaveProfile(prof)); err != nil {
			return err
		}
		if _, err := addNodes(tx, root.ID, 2); err != nil {
			return err
		}
		sub.Root, sub.ParentPlan = root.ID, root.ID
		if err := tx.InsertPlan(sub, ""); err != nil {
			return err
		}
		if full, err = insertFull(tx, root.ID); err != nil {
			return err
		}
		if _, err := addNodes(tx, sub.ID, 1); err != nil {
			return err
		}
		if inner, err = insertFull(tx, sub.ID); err != nil {
			return err
		}
		q.PlanID = sub.ID
		_, err1 := tx.InsertEdges(root.ID, []plan.Edge{{From: 2, To: 3}, {From: 1, To: 3}})
		_, err2 := tx.InsertEdges(sub.ID, []plan.Edge{{From: 1, To: 2}})
		err3 := tx.InsertRun(&plan.Run{ID: "r1", PlanID: sub.ID, NodeID: 1, Kind: plan.RunStep})
		_, err4 := tx.InsertQuestion(q)
		return errors.Join(err1, err2, err3, err4, tx.Record(plan.Change{Plan: root.ID, Kind: plan.ChangePlan}))
	})
	root.NextNode, sub.NextNode, full.Blockers, inner.Blockers, prof.InUse = 4, 3, 2, 1, 1
	for _, id := range []plan.PlanID{root.ID, sub.ID} {
		var got *plan.Snapshot
		read(t, s, func(tx *Tx) (err error) { got, err = tx.Snapshot(id); return err })
		for _, c := range []struct {
			name      string
			want, got any
		}{
			{"root", root, got.Root()},
			{"subplan", sub, got.Plan(sub.ID)},
			{"plans", []plan.PlanID{root.ID, sub.ID}, got.PlanIDs()},
			{"a node of the root", full, got.Node(full.Ref())},
			{"a node of the subplan", inner, got.Node(inner.Ref())},
			{"the container", sub.ID, got.Node(plan.Ref{Plan: root.ID, Node: 1}).Subplan},
			{"edges", []plan.Edge{{Plan: root.ID, From: 1, To: 3}, {Plan: root.ID, From: 2, To: 3}}, got.EdgesOf(root.ID)},
			{"profiles", map[plan.ProfileID]*plan.Profile{prof.ID: prof}, got.Profiles},
			{"questions", []plan.Question{*q}, got.Questions},
			{"last change", int64(1), got.Seq},
			{"numbers of nodes", []int{3, 2}, []int{len(got.NodesOf(root.ID)), len(got.NodesOf(sub.ID))}},
		} {
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Errorf("asked for plan %d, %s (-stored +read):\n%s", id, c.name, diff)
			}
		}
	}
	err := s.Read(t.Context(), func(tx *Tx) error { _, err := tx.Snapshot(99); return err })
	if plan.KindOf(err) != plan.NotFound {
		t.Errorf("snapshot of an unknown plan: %v; want not found", err)
	}
}

func TestSnapshotAndSingleReadsAgree(t *testing.T) {
	s := open(t, Options{})
	c := &chaos{r: rand.New(rand.NewPCG(8, 8)), kinds: map[string]int{}}
	for range 20 {
		write(t, s, func(tx *Tx) error {
			c.tx = tx
			for range 10 {
				if err := c.step(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	read(t, s, func(tx *Tx) error {
		c.tx = tx
		refs, err := c.refs("true")
		if err != nil || len(refs) < 10 {
			return errors.Join(err, errNo)
		}
		for _, r := range refs {
			one, err1 := tx.Node(r)
			snap, err2 := tx.Snapshot(r.Plan)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if diff := cmp.Diff(one, snap.Node(r), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("node %s (-alone +in the snapshot):\n%s", r, diff)
			}
		}
		return nil
	})
}

func TestReachesFollowsEdges(t *testing.T) {
	s := open(t, Options{})
	const n = 12
	p, other := makePlan(t, s, n), makePlan(t, s, n)
	r := rand.New(rand.NewPCG(9, 9))
	var edges []plan.Edge
	for range 16 {
		a, b := plan.NodeID(1+r.IntN(n)), plan.NodeID(1+r.IntN(n))
		if a < b {
			edges = append(edges, plan.Edge{Plan: p.ID, From: a, To: b})
		}
	}
	write(t, s, func(tx *Tx) error {
		_, err := tx.InsertEdges(p.ID, edges)
		var chain []plan.Edge // in another plan all nodes of the same numbers hang together
		for i := plan.NodeID(1); i < n; i++ {
			chain = append(chain, plan.Edge{From: i, To: i + 1})
		}
		_, err2 := tx.InsertEdges(other.ID, chain)
		return errors.Join(err, err2)
	})
	read(t, s, func(tx *Tx) error {
		g, err := tx.Graph(p.ID)
		if err != nil {
			return err
		}
		for a := plan.NodeID(1); a <= n; a++ {
			for b := plan.NodeID(1); b <= n; b++ {
				got, err := tx.Reaches(p.ID, a, b)
				if err != nil {
					return err
				}
				if got != g.Reaches(a, b) {
					t.Errorf("%d reaches %d: %v, by the graph %v", a, b, got, !got)
				}
			}
			ids, err := tx.Dependants(plan.Ref{Plan: p.ID, Node: a})
			if diff := cmp.Diff(g.Dependants(a), ids, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("dependants of %d (-graph +got), %v:\n%s", a, err, diff)
			}
		}
		return nil
	})
	write(t, s, func(tx *Tx) error {
		found, err := tx.DeleteEdge(edges[0])
		again, err2 := tx.DeleteEdge(edges[0])
		if !found || again {
			t.Errorf("an edge is found when it is there: %v, and when it is gone: %v", found, again)
		}
		return errors.Join(err, err2)
	})
}
