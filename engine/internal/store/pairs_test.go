package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// TestSetStateComparesEveryPair writes every state over every other while it
// believes in any: only who believes right changes anything, and then all of it
// and what is counted from it.
func TestSetStateComparesEveryPair(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 3)
	r := plan.Ref{Plan: p.ID, Node: 2}
	write(t, s, func(tx *Tx) error {
		_, err := tx.InsertEdges(p.ID, []plan.Edge{{From: 1, To: 2}, {From: 2, To: 3}})
		return err
	})
	for _, real := range plan.States {
		for _, believed := range plan.States {
			for _, to := range plan.States {
				write(t, s, func(tx *Tx) error { return put(tx, r, real) })
				before := dump(t, s)
				var want *plan.Node
				err := s.Write(t.Context(), func(tx *Tx) error {
					n := fullNode()
					n.PlanID, n.ID, n.State, want = r.Plan, r.Node, to, n
					return tx.SetState(n, believed)
				})
				if believed != real {
					if plan.KindOf(err) != plan.Conflict || dump(t, s) != before {
						t.Errorf("%s over %s, taken for %s: %v; want a conflict and nothing changed", to, real, believed, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s over %s: %v", to, real, err)
				}
				read(t, s, recount)
				checkWritten(t, s, want)
			}
		}
	}
}

// checkWritten makes sure that all that SetState writes is there, and what it
// does not write is as it was.
func checkWritten(t *testing.T, s *Store, want *plan.Node) {
	t.Helper()
	var got *plan.Node
	read(t, s, func(tx *Tx) (err error) { got, err = tx.Node(want.Ref()); return err })
	w := *want
	w.Title, w.Description, w.Kind, w.Profile, w.Subplan, w.Blockers = got.Title, got.Description, got.Kind, got.Profile, got.Subplan, 1
	w.TaskType, w.Isolation, w.CheckCommand, w.MaxAttempts, w.EstimateMinutes = "", "", "", 0, 0
	w.CreatedAt, w.Files, w.ResultsFrom, w.Criteria = got.CreatedAt, nil, nil, nil
	if diff := cmp.Diff(&w, got); diff != "" {
		t.Errorf("as %s (-written +read):\n%s", want.State, diff)
	}
}
