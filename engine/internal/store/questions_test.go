package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestQuestions(t *testing.T) {
	s := open(t, Options{})
	p, other := makePlan(t, s, 1), makePlan(t, s, 1)
	ask := func(run plan.RunID, id string, of plan.PlanID) *plan.Question {
		return &plan.Question{ID: id, RunID: run, PlanID: of, NodeID: 1, Tool: "bash", Text: "may I?", Input: []byte(`{"cmd":"ls"}`), Until: 99}
	}
	q := ask("r1", "q1", p.ID)
	write(t, s, func(tx *Tx) error {
		err := errors.Join(tx.InsertRun(&plan.Run{ID: "r1", PlanID: p.ID, NodeID: 1, Kind: plan.RunStep}),
			tx.InsertRun(&plan.Run{ID: "r2", PlanID: other.ID, NodeID: 1, Kind: plan.RunStep}))
		for _, x := range []*plan.Question{q, ask("r1", "q2", p.ID), ask("r2", "q1", other.ID)} {
			isNew, e := tx.InsertQuestion(x)
			if err = errors.Join(err, e); !isNew {
				t.Errorf("question %s of run %s is not new", x.ID, x.RunID)
			}
		}
		again, e := tx.InsertQuestion(ask("r1", "q1", p.ID))
		if again {
			t.Error("a question that is there already is new")
		}
		return errors.Join(err, e)
	})
	count := func(root plan.PlanID, want int) {
		t.Helper()
		read(t, s, func(tx *Tx) error {
			list, err := tx.OpenQuestions(root)
			if len(list) != want {
				t.Errorf("%d open questions of tree %d, want %d", len(list), root, want)
			}
			return err
		})
	}
	count(0, 3)
	count(p.ID, 2)
	read(t, s, func(tx *Tx) error {
		got, err := tx.Question("r1", "q1")
		if diff := cmp.Diff(q, got); diff != "" {
			t.Errorf("(-stored +read):\n%s", diff)
		}
		if _, err := tx.Question("r1", "q9"); plan.KindOf(err) != plan.NotFound {
			t.Errorf("an unknown question: %v; want not found", err)
		}
		return err
	})
	write(t, s, func(tx *Tx) error { return tx.AnswerQuestion("r1", "q1", "allow", "go on") })
	err := s.Write(t.Context(), func(tx *Tx) error { return tx.AnswerQuestion("r1", "q1", "deny", "") })
	if plan.KindOf(err) != plan.Conflict {
		t.Errorf("a second answer: %v; want a conflict", err)
	}
	write(t, s, func(tx *Tx) error {
		n, err := tx.CloseQuestions("r1", "the run has ended")
		if n != 1 {
			t.Errorf("%d questions are closed with the run, want the open one", n)
		}
		return err
	})
	for id, want := range map[string][2]string{"q1": {"allow", "go on"}, "q2": {"deny", "the run has ended"}} {
		read(t, s, func(tx *Tx) error {
			got, err := tx.Question("r1", id)
			if err == nil && (got.Answer != want[0] || got.Message != want[1] || got.Closed == 0) {
				t.Errorf("%s is %+v; want it closed with %v", id, got, want)
			}
			return err
		})
	}
	count(p.ID, 0)
	count(0, 1)
}

func TestSettings(t *testing.T) {
	s := open(t, Options{})
	want := func(name, want string) {
		t.Helper()
		read(t, s, func(tx *Tx) error {
			got, err := tx.Setting(name)
			if got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
			return err
		})
	}
	want("retention", "")
	write(t, s, func(tx *Tx) error { return errors.Join(tx.SetSetting("retention", "1"), tx.SetSetting("other", `"x"`)) })
	write(t, s, func(tx *Tx) error { return tx.SetSetting("retention", "2") })
	want("retention", "2")
	want("other", `"x"`)
}
