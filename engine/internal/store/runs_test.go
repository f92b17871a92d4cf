package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestRunComesBackAsItWasStored(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	want := &plan.Run{ID: "r1", PlanID: p.ID, NodeID: 1, Kind: plan.RunStep, Profile: 3, AgentName: "a", Harness: "mock", Model: "m",
		Capability: "full", Prompt: "do\nit", System: "you are", TokenHash: []byte{0, 255, 1}, TokenRole: plan.Worker,
		Isolation: "worktree", Worktree: "/wt", BaseTree: "abc"}
	write(t, s, func(tx *Tx) error { return tx.InsertRun(want) })
	if want.Number != 1 || want.StartedAt == 0 {
		t.Errorf("inserting fills in number %d, start %v", want.Number, want.StartedAt)
	}
	read(t, s, func(tx *Tx) error {
		full, err := tx.RunByNumber(plan.Ref{Plan: p.ID, Node: 1}, 1)
		if diff := cmp.Diff(want, full); diff != "" {
			t.Errorf("(-stored +read):\n%s", diff)
		}
		prompt, system, err2 := tx.Prompt("r1")
		if prompt != want.Prompt || system != want.System {
			t.Errorf("prompt %q, system %q", prompt, system)
		}
		light := *want
		light.Prompt, light.System = "", ""
		got, err3 := tx.Run("r1")
		if diff := cmp.Diff(&light, got); diff != "" {
			t.Errorf("without its prompt (-stored +read):\n%s", diff)
		}
		return errors.Join(err, err2, err3)
	})
}

func TestRunsShareTheirSystemText(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 3)
	for i, text := range []string{"you are a worker", "you are a worker", "you review"} {
		write(t, s, func(tx *Tx) error {
			return tx.InsertRun(&plan.Run{ID: plan.RunID(fmt.Sprint("r", i)), PlanID: p.ID, NodeID: plan.NodeID(i + 1), Kind: plan.RunStep, System: text})
		})
		read(t, s, func(tx *Tx) error {
			_, got, err := tx.Prompt(plan.RunID(fmt.Sprint("r", i)))
			if got != text {
				t.Errorf("run %d has the system text %q, want %q", i, got, text)
			}
			return err
		})
	}
	if n := one[int](t, s, "SELECT COUNT(*) FROM system_texts"); n != 2 {
		t.Errorf("%d texts are stored, want 2", n)
	}
}

func TestRunsAreNumberedPerNode(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 2)
	for i, c := range []struct {
		node plan.NodeID
		want int
	}{{1, 1}, {1, 2}, {2, 1}, {0, 1}, {1, 3}, {0, 2}} {
		r := &plan.Run{ID: plan.RunID(fmt.Sprint("r", i)), PlanID: p.ID, NodeID: c.node, Kind: plan.RunStep}
		write(t, s, func(tx *Tx) error { return tx.InsertRun(r) })
		if r.Number != c.want {
			t.Errorf("run %d is number %d of node %d, want %d", i, r.Number, c.node, c.want)
		}
	}
	read(t, s, func(tx *Tx) error {
		runs, err := tx.Runs(plan.Ref{Plan: p.ID, Node: 1})
		for i, r := range runs {
			if r.Number != i+1 {
				t.Errorf("run %d comes at place %d", r.Number, i+1)
			}
		}
		open, err2 := tx.OpenRuns()
		if len(runs) != 3 || len(open) != 6 {
			t.Errorf("%d runs of node 1, %d open ones; want 3 and 6", len(runs), len(open))
		}
		return errors.Join(err, err2)
	})
}

func TestEndedRunIsClosedForGood(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	r := &plan.Run{ID: "r1", PlanID: p.ID, NodeID: 1, Kind: plan.RunStep, TokenHash: []byte("h")}
	write(t, s, func(tx *Tx) error {
		return errors.Join(tx.InsertRun(r), tx.SetAttach("r1", []byte("pid 7")), tx.SetStopping("r1", "a person"))
	})
	read(t, s, func(tx *Tx) error {
		got, err := tx.RunByToken([]byte("h"))
		if err == nil && (string(got.Attach) != "pid 7" || !got.Stopping || got.Cause != "a person") {
			t.Errorf("the open run is %+v", got)
		}
		return err
	})
	r.Outcome, r.Cause, r.Result, r.CostUSD, r.NumTurns = plan.OutcomeDone, "c", ptr("text"), ptr(0.5), 3
	r.TokensIn, r.TokensOut, r.SessionID, r.Model = ptr(int64(1)), ptr(int64(2)), "s", "m2"
	write(t, s, func(tx *Tx) error { return tx.EndRun(r) })
	r.TokenHash, r.Stopping = nil, true
	before := dump(t, s)
	err := s.Write(t.Context(), func(tx *Tx) error { return tx.EndRun(&plan.Run{ID: "r1", Outcome: plan.OutcomeFailed}) })
	if plan.KindOf(err) != plan.Conflict {
		t.Errorf("a second end: %v; want a conflict", err)
	}
	write(t, s, func(tx *Tx) error { return errors.Join(tx.SetAttach("r1", []byte("x")), tx.SetStopping("r1", "late")) })
	if after := dump(t, s); after != before {
		t.Errorf("an ended run was changed:\n%s\nbefore:\n%s", after, before)
	}
	read(t, s, func(tx *Tx) error {
		if _, err := tx.RunByToken([]byte("h")); plan.KindOf(err) != plan.NotFound {
			t.Errorf("its token finds %v; want nothing", err)
		}
		got, err := tx.Run("r1")
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("(-stored +read):\n%s", diff)
		}
		open, err2 := tx.OpenRuns()
		if len(open) != 0 {
			t.Errorf("open runs: %+v", open)
		}
		return errors.Join(err, err2)
	})
}

func TestUnknownRuns(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	read(t, s, func(tx *Tx) error {
		_, err1 := tx.Run("nope")
		_, err2 := tx.RunByNumber(plan.Ref{Plan: p.ID, Node: 1}, 1)
		_, err3 := tx.RunByToken([]byte("nope"))
		_, err4 := tx.RunByToken(nil)
		for i, err := range []error{err1, err2, err3, err4} {
			if plan.KindOf(err) != plan.NotFound {
				t.Errorf("question %d: %v; want not found", i+1, err)
			}
		}
		return nil
	})
}

func TestTokensAddUp(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	r := plan.Ref{Plan: p.ID, Node: 1}
	write(t, s, func(tx *Tx) error {
		return tx.InsertRun(&plan.Run{ID: "r1", PlanID: p.ID, NodeID: 1, Kind: plan.RunStep, Model: "m"})
	})
	for _, c := range []struct {
		p       Progress
		in, out *int64
		acked   int64
		session string
		model   string
	}{
		{Progress{Acked: 3}, nil, nil, 3, "", "m"},
		{Progress{Acked: 5, TokensIn: ptr(int64(10)), SessionID: "s1"}, ptr(int64(10)), nil, 5, "s1", "m"},
		{Progress{Acked: 4, TokensIn: ptr(int64(5)), TokensOut: ptr(int64(0)), Model: "m2"}, ptr(int64(15)), ptr(int64(0)), 5, "s1", "m2"},
		{Progress{TokensOut: ptr(int64(7)), SessionID: "s2"}, ptr(int64(15)), ptr(int64(7)), 5, "s2", "m2"},
	} {
		var in, out *int64
		write(t, s, func(tx *Tx) (err error) {
			if err = tx.ProgressRun("r1", c.p); err == nil {
				in, out, err = tx.ProgressNode(r, c.p)
			}
			return err
		})
		read(t, s, func(tx *Tx) error {
			run, err := tx.Run("r1")
			n, err2 := tx.Node(r)
			type sums struct {
				In, Out *int64
				Session string
			}
			want := sums{c.in, c.out, c.session}
			for who, got := range map[string]sums{"run": {run.TokensIn, run.TokensOut, run.SessionID}, "node": {n.TokensIn, n.TokensOut, n.SessionID},
				"answer": {in, out, c.session}} {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("after %+v, %s (-want +got):\n%s", c.p, who, diff)
				}
			}
			if run.Acked != c.acked || run.Model != c.model {
				t.Errorf("after %+v: acked %d, model %q; want %d, %q", c.p, run.Acked, run.Model, c.acked, c.model)
			}
			return errors.Join(err, err2)
		})
	}
}

func TestLedgerCountsARunOnce(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	run := func(id string, in *int64, cost *float64) *plan.Run {
		return &plan.Run{ID: plan.RunID(id), PlanID: p.ID, NodeID: 1, Kind: plan.RunStep, Profile: 2, TokensIn: in, CostUSD: cost}
	}
	ended := func(r *plan.Run) *plan.Run { r.Outcome = plan.OutcomeDone; return r }
	write(t, s, func(tx *Tx) error {
		return errors.Join(tx.AddSpend(p.ID, run("a", ptr(int64(5)), nil)), tx.AddSpend(p.ID, ended(run("a", ptr(int64(9)), ptr(0.25)))),
			tx.AddSpend(p.ID, ended(run("b", ptr(int64(7)), nil))), tx.AddSpend(p.ID, run("c", ptr(int64(1)), nil)),
			tx.AddSpend(p.ID, ended(run("d", nil, nil))))
	})
	var rows []string
	read(t, s, func(tx *Tx) error {
		return tx.list("ledger", &rows, "SELECT run_id || ' ' || tokens_in || ' ' || COALESCE(cost_usd, 'unknown') FROM spend ORDER BY 1")
	})
	if diff := cmp.Diff([]string{"a 9 0.25", "b 7 unknown", "c 1 unknown"}, rows); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	read(t, s, func(tx *Tx) error {
		got, err := tx.Plan(p.ID)
		if want := (plan.Spent{Tokens: 17, CostUSD: 0.25, Uncosted: 1}); got.Spent != want {
			t.Errorf("the plan has spent %+v, want %+v", got.Spent, want)
		}
		return err
	})
}

func TestLimitsAreKeptUntilTheyAreOver(t *testing.T) {
	s := open(t, Options{})
	profile := &plan.Profile{Name: "a", Harness: "mock"}
	write(t, s, func(tx *Tx) error {
		return errors.Join(tx.SaveProfile(profile), tx.SetLimit(plan.Limit{Profile: profile.ID, Until: 5, Times: 1, Text: "wait"}),
			tx.SetLimit(plan.Limit{Profile: profile.ID, Until: 9, Times: 2, Text: "wait on"}))
	})
	want := []plan.Limit{{Profile: profile.ID, Until: 9, Times: 2, Text: "wait on"}}
	for range 2 {
		read(t, s, func(tx *Tx) error {
			got, err := tx.Limits()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
			return err
		})
		write(t, s, func(tx *Tx) error { return tx.SetLimit(plan.Limit{Profile: profile.ID}) })
		want = nil
	}
}

func TestWhoWroteWhileACopyWasMade(t *testing.T) {
	second := 1.0
	s := open(t, Options{Now: func() time.Time { return time.UnixMicro(int64(second * 1e6)) }})
	p := makePlan(t, s, 9)
	at := func(when float64, fn func(tx *Tx) error) {
		second = when
		write(t, s, fn)
	}
	run := func(node int, id, worktree string, kind plan.RunKind, copying float64) func(tx *Tx) error {
		return func(tx *Tx) error {
			return tx.InsertRun(&plan.Run{ID: plan.RunID(id), PlanID: p.ID, NodeID: plan.NodeID(node), Kind: kind, Worktree: worktree, BaseTook: copying})
		}
	}
	end := func(id string) func(tx *Tx) error {
		return func(tx *Tx) error {
			r, err := tx.Run(plan.RunID(id))
			if err != nil {
				return err
			}
			r.Outcome, r.FinishedAt = plan.OutcomeDone, tx.Now()
			return tx.EndRun(r)
		}
	}
	// The copy is made from second 8 to second 10.
	at(2, run(1, "ended before", "", plan.RunStep, 0))
	at(2, run(2, "ended in between", "", plan.RunStep, 0))
	at(2, run(3, "ended later", "", plan.RunExternal, 0))
	at(2, run(4, "goes on", "", plan.RunStep, 0))
	at(2, run(5, "in a copy of its own", "other", plan.RunStep, 1))
	at(2, run(6, "judges", "", plan.RunReview, 0))
	at(7, end("ended before"))
	at(8.5, run(7, "began in between", "", plan.RunStep, 0))
	at(9, end("ended in between"))
	at(10, run(8, "first attempt", "w", plan.RunStep, 2))
	at(11, end("ended later"))
	at(12, run(9, "began later", "", plan.RunStep, 0))
	at(13, end("first attempt"))
	at(14, run(3, "ended later, again", "", plan.RunStep, 0))
	at(15, run(8, "second attempt", "w", plan.RunStep, 0))
	want := []plan.Ref{{Plan: p.ID, Node: 2}, {Plan: p.ID, Node: 3}, {Plan: p.ID, Node: 4}, {Plan: p.ID, Node: 7}}
	read(t, s, func(tx *Tx) error {
		got, err := tx.BaseWriters(p.ID, "w")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		return err
	})
}
