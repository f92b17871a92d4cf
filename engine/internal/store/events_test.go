package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func told(p plan.PlanID, run string, seq int64, text string) *plan.Event {
	data, _ := json.Marshal(map[string]any{"text": text})
	return &plan.Event{PlanID: p, NodeID: 1, RunID: plan.RunID(run), RunSeq: seq, Kind: "text", Data: data}
}

// tell appends events in one change and returns which were new.
func tell(t *testing.T, s *Store, events ...*plan.Event) (isNew []bool) {
	t.Helper()
	write(t, s, func(tx *Tx) error {
		isNew = nil
		for _, e := range events {
			ok, err := tx.AppendEvent(e.PlanID, e)
			if err != nil {
				return err
			}
			isNew = append(isNew, ok)
		}
		return nil
	})
	return isNew
}

func TestEventsOfABatchSentTwiceAreStoredOnce(t *testing.T) {
	var h hook
	s := open(t, Options{Published: h.publish})
	p := makePlan(t, s, 1)
	first := tell(t, s, told(p.ID, "r1", 1, "a"), told(p.ID, "r1", 2, "b"))
	again := tell(t, s, told(p.ID, "r1", 1, "a"), told(p.ID, "r1", 2, "b"), told(p.ID, "r1", 3, "c"), told(p.ID, "r2", 1, "of another run"))
	own := tell(t, s, told(p.ID, "r1", 0, "the engine's own"), told(p.ID, "r1", 0, "the engine's own"))
	for i, c := range []struct{ got, want []bool }{
		{first, []bool{true, true}}, {again, []bool{false, false, true, true}}, {own, []bool{true, true}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("batch %d: new are %v, want %v", i+1, c.got, c.want)
		}
	}
	var stored []plan.Event
	read(t, s, func(tx *Tx) (err error) {
		stored, err = tx.NodeEvents(plan.Ref{Plan: p.ID, Node: 1}, 0, 100)
		return err
	})
	var published []plan.Event
	for _, c := range h.all() {
		if c.Kind != plan.ChangeEvent || c.Event == nil || c.Seq != c.Event.ID || c.Root != p.ID || c.Plan != p.ID || c.Node != 1 {
			t.Errorf("published %+v; want the event with its number and addresses", c)
			continue
		}
		published = append(published, *c.Event)
	}
	if len(stored) != 6 {
		t.Errorf("%d events are stored, want 6", len(stored))
	}
	if diff := cmp.Diff(stored, published); diff != "" {
		t.Errorf("(-stored +published):\n%s", diff)
	}
}

func TestEventDataComesBackByteForByte(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	want := `{"text":"ü \u0000 \"q\"","n":12345678901234567890,"none":null,"f":1.0}`
	e := &plan.Event{PlanID: p.ID, NodeID: 1, RunID: "r", RunSeq: 1, Kind: "log", Data: json.RawMessage(want), At: 5.25}
	tell(t, s, e)
	read(t, s, func(tx *Tx) error {
		list, err := tx.EventsAfter(0, 0, 10)
		if diff := cmp.Diff([]plan.Event{*e}, list); diff != "" {
			t.Errorf("(-stored +read):\n%s", diff)
		}
		return err
	})
}

func TestTranscriptsArePaged(t *testing.T) {
	s := open(t, Options{})
	p, other := makePlan(t, s, 1), makePlan(t, s, 1)
	var events []*plan.Event
	for i := range int64(5) {
		events = append(events, told(p.ID, "r1", i+1, ""), told(other.ID, "r2", i+1, ""), told(p.ID, "r3", i+1, ""))
	}
	tell(t, s, events...) // ids 1 to 15
	r := plan.Ref{Plan: p.ID, Node: 1}
	run := &plan.Run{ID: "r1", PlanID: p.ID, NodeID: 1}
	for _, c := range []struct {
		name string
		get  func(*Tx) ([]plan.Event, error)
		want []int64
	}{
		{"all", func(tx *Tx) ([]plan.Event, error) { return tx.EventsAfter(0, 0, 4) }, []int64{1, 2, 3, 4}},
		{"all after one", func(tx *Tx) ([]plan.Event, error) { return tx.EventsAfter(13, 0, 4) }, []int64{14, 15}},
		{"of a tree", func(tx *Tx) ([]plan.Event, error) { return tx.EventsAfter(2, other.ID, 3) }, []int64{5, 8, 11}},
		{"of a node", func(tx *Tx) ([]plan.Event, error) { return tx.NodeEvents(r, 3, 3) }, []int64{4, 6, 7}},
		{"the newest of a node", func(tx *Tx) ([]plan.Event, error) { return tx.NodeEventsBefore(r, 0, 3) }, []int64{12, 13, 15}},
		{"a page further back", func(tx *Tx) ([]plan.Event, error) { return tx.NodeEventsBefore(r, 12, 3) }, []int64{7, 9, 10}},
		{"of a run", func(tx *Tx) ([]plan.Event, error) { return tx.RunEvents(run, 0, 0, 3) }, []int64{1, 4, 7}},
		{"of a run between two", func(tx *Tx) ([]plan.Event, error) { return tx.RunEvents(run, 1, 10, 9) }, []int64{4, 7}},
		{"the newest of a run", func(tx *Tx) ([]plan.Event, error) { return tx.RunEventsBefore(run, 0, 2) }, []int64{10, 13}},
		{"a page of a run further back", func(tx *Tx) ([]plan.Event, error) { return tx.RunEventsBefore(run, 10, 2) }, []int64{4, 7}},
		{"none", func(tx *Tx) ([]plan.Event, error) { return tx.NodeEvents(plan.Ref{Plan: p.ID, Node: 9}, 0, 9) }, nil},
	} {
		var got []int64
		read(t, s, func(tx *Tx) error {
			list, err := c.get(tx)
			for _, e := range list {
				got = append(got, e.ID)
			}
			return err
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: events %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLastWordsOfARun(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	r := plan.Ref{Plan: p.ID, Node: 1}
	say := func(run, kind, data string) {
		write(t, s, func(tx *Tx) error {
			_, err := tx.AppendEvent(p.ID, &plan.Event{PlanID: p.ID, NodeID: 1, RunID: plan.RunID(run), Kind: kind, Data: json.RawMessage(data)})
			return err
		})
	}
	want := func(what, run, want string) {
		t.Helper()
		read(t, s, func(tx *Tx) error {
			got, err := tx.LastSaid(r, plan.RunID(run))
			if got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
			return err
		})
	}
	want("nothing was said", "r1", "")
	say("r1", "text", `{"text":"first"}`)
	say("r1", "text", `{"text":"second"}`)
	say("r1", "thinking", `{"text":"hm"}`)
	say("r1", "text", `{"text":""}`)
	say("r1", "result", `{"text":null}`)
	say("r2", "text", `{"text":"of another run"}`)
	want("the last text that is not empty", "r1", "second")
	say("r1", "result", `{"text":"the result"}`)
	want("a result", "r1", "the result")
}

func TestNumbersAreNeverUsedAgain(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	var highest int64
	next := func(what string) {
		t.Helper()
		e := told(p.ID, "", 0, what)
		tell(t, s, e)
		write(t, s, func(tx *Tx) error { return tx.Record(plan.Change{Plan: p.ID, Kind: plan.ChangePlan}) })
		last := one[int64](t, s, lastSeq)
		if e.ID <= highest || last <= e.ID {
			t.Errorf("%s: event %d, then change %d; want both above %d", what, e.ID, last, highest)
		}
		highest = last
	}
	next("at first")
	err := s.Write(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.Record(plan.Change{Plan: p.ID, Kind: plan.ChangePlan}), errNo)
	})
	if !errors.Is(err, errNo) {
		t.Fatal(err)
	}
	next("after a failed change")
	write(t, s, func(tx *Tx) error { _, err := tx.PruneChanges(1e12, 0); return err })
	next("after pruning")
	write(t, s, func(tx *Tx) error { return tx.ClearHistory([]plan.PlanID{p.ID}) })
	s = reopen(t, s)
	next("after a reset and a restart")
	write(t, s, func(tx *Tx) error {
		_, err := tx.exec("empty", "DELETE FROM changes")
		return errors.Join(err, tx.DeletePlans([]plan.PlanID{p.ID}))
	})
	s = reopen(t, s)
	p = makePlan(t, s, 1)
	next("after everything was deleted, and a restart")
}

func TestChangesCanBeReadAgain(t *testing.T) {
	var h hook
	s := open(t, Options{Published: h.publish})
	a, b := makePlan(t, s, 1), makePlan(t, s, 1)
	write(t, s, func(tx *Tx) error {
		return errors.Join(
			tx.Record(plan.Change{Plan: a.ID, Node: 1, Kind: plan.ChangeNode, Shape: true}),
			tx.Record(plan.Change{Plan: b.ID, Kind: plan.ChangePlan}),
			tx.Record(plan.Change{Kind: plan.ChangeAgents, Profiles: []plan.Profile{{ID: 1}}}),
			tx.Record(plan.Change{Plan: a.ID, Node: 1, Kind: plan.ChangeTokens, TokensIn: ptr(int64(3)), TokensOut: ptr(int64(0))}),
			tx.Record(plan.Change{Root: b.ID, Plan: b.ID, Kind: plan.ChangePlan, Deleted: true}),
		)
	})
	if err := s.Write(t.Context(), func(tx *Tx) error { return tx.Record(plan.Change{Plan: 99, Kind: plan.ChangePlan}) }); plan.KindOf(err) != plan.NotFound {
		t.Errorf("a change of an unknown plan: %v; want not found", err)
	}
	all := h.all()
	local := cmpopts.IgnoreFields(plan.Change{}, "Event", "Facts", "Profiles") // known to the process alone
	for _, c := range []struct {
		name  string
		after int64
		root  plan.PlanID
		limit int
		want  []plan.Change
	}{
		{"all", 0, 0, 100, all},
		{"a few", 0, 0, 2, all[:2]},
		{"after one", 2, 0, 100, all[2:]},
		{"of a tree, and of none", 0, a.ID, 100, []plan.Change{all[0], all[2], all[3]}},
		{"after the last", 5, 0, 100, nil},
	} {
		read(t, s, func(tx *Tx) error {
			got, err := tx.ChangesAfter(c.after, c.root, c.limit)
			if diff := cmp.Diff(c.want, got, local, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-published +read):\n%s", c.name, diff)
			}
			return err
		})
	}
}

func TestPruningKeepsTheNewestAndTheYoung(t *testing.T) {
	for _, c := range []struct {
		name   string
		before plan.Stamp
		keep   int
		want   []int64 // left of ten, recorded at seconds 1 to 10
	}{
		{"nothing is old or too much", 0, 100, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"too many", 0, 4, []int64{7, 8, 9, 10}},
		{"exactly as many", 0, 10, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"too old", 4, 100, []int64{4, 5, 6, 7, 8, 9, 10}},
		{"both", 3, 9, []int64{3, 4, 5, 6, 7, 8, 9, 10}},
		{"the last stays", 100, 0, []int64{10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Options{})
			p := makePlan(t, s, 1)
			var got []int64
			write(t, s, func(tx *Tx) error {
				for i := range 10 {
					tx.now = plan.Stamp(i + 1)
					if err := tx.Record(plan.Change{Plan: p.ID, Kind: plan.ChangePlan}); err != nil {
						return err
					}
				}
				return nil
			})
			write(t, s, func(tx *Tx) error {
				n, err := tx.PruneChanges(c.before, c.keep)
				if err == nil && int(n) != 10-len(c.want) {
					err = fmt.Errorf("%d changes were pruned, want %d", n, 10-len(c.want))
				}
				return err
			})
			read(t, s, func(tx *Tx) error {
				first, err := tx.FirstSeq()
				last, err2 := tx.LastSeq()
				if first != c.want[0] || last != 10 {
					t.Errorf("known are %d to %d, want %d to 10", first, last, c.want[0])
				}
				return errors.Join(err, err2, tx.list("left", &got, "SELECT seq FROM changes ORDER BY seq"))
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("left are %v, want %v", got, c.want)
			}
		})
	}
}
