package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func fullProfile(name string) *plan.Profile {
	return &plan.Profile{Name: name, Harness: "openai", Model: "m", BaseURL: "http://localhost/v1", KeyEnv: "MY_KEY",
		Params: json.RawMessage(`{"speed":2}`), Tools: json.RawMessage(`{"preset":"all"}`), PermissionMode: "plan", SystemAppend: "be brief",
		MaxParallel: 2, Description: "d", Capability: "read", TestLevel: "light", Isolation: "worktree", MaxTokens: 1 << 40, MaxCostUSD: 0.5}
}

func TestProfileComesBackAsItWasStored(t *testing.T) {
	s := open(t, Options{})
	want := fullProfile("ä b")
	check := func(when string) {
		t.Helper()
		read(t, s, func(tx *Tx) error {
			got, err := tx.Profile(want.ID)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-stored +read):\n%s", when, diff)
			}
			all, err2 := tx.Profiles()
			if len(all) != 1 || cmp.Diff(*want, all[0]) != "" {
				t.Errorf("%s: in the list is %+v", when, all)
			}
			id, err3 := tx.ProfileNamed(want.Name)
			if id != want.ID {
				t.Errorf("%s: the name %q finds %d, want %d", when, want.Name, id, want.ID)
			}
			return errors.Join(err, err2, err3)
		})
	}
	write(t, s, func(tx *Tx) error { return tx.SaveProfile(want) })
	if want.ID == 0 || want.CreatedAt == 0 || want.UpdatedAt == 0 {
		t.Errorf("saving fills in %+v; want id and times", want)
	}
	check("as inserted")
	want.Name, want.Model, want.MaxParallel, want.Params, want.Tools = "c", "", 0, nil, json.RawMessage("null")
	write(t, s, func(tx *Tx) error { return tx.SaveProfile(want) })
	want.Params, want.Tools = json.RawMessage("{}"), json.RawMessage("{}")
	check("as updated")
}

func TestProfileNamesAreUnique(t *testing.T) {
	s := open(t, Options{})
	a, b := fullProfile("a"), fullProfile("b")
	write(t, s, func(tx *Tx) error { return errors.Join(tx.SaveProfile(a), tx.SaveProfile(b)) })
	renamed := *b
	renamed.Name = "a"
	for what, p := range map[string]*plan.Profile{"insert": fullProfile("a"), "rename": &renamed} {
		err := s.Write(t.Context(), func(tx *Tx) error { return tx.SaveProfile(p) })
		if plan.KindOf(err) != plan.Invalid || !strings.HasPrefix(err.Error(), "name:") || !strings.Contains(err.Error(), `"a"`) {
			t.Errorf("%s to a taken name: %v; want it refused as invalid, naming field and name", what, err)
		}
	}
	same := *a
	same.Description = "other"
	write(t, s, func(tx *Tx) error { return tx.SaveProfile(&same) }) // its own name is free to it
	read(t, s, func(tx *Tx) error {
		id, err := tx.ProfileNamed("nobody")
		if id != 0 {
			t.Errorf("an unknown name finds %d", id)
		}
		if _, err := tx.Profile(99); plan.KindOf(err) != plan.NotFound {
			t.Errorf("an unknown id: %v; want not found", err)
		}
		return err
	})
}

func TestKeysAreKeptApart(t *testing.T) {
	const secret = "sk-very-secret"
	s := open(t, Options{})
	p := fullProfile("a")
	write(t, s, func(tx *Tx) error {
		return errors.Join(tx.SaveProfile(p), tx.SetKey(p.ID, "old"), tx.SetKey(p.ID, secret))
	})
	root := makePlan(t, s, 1)
	look := func() (key string, shown string, has bool) {
		read(t, s, func(tx *Tx) (err error) {
			if key, err = tx.Key(p.ID); err != nil {
				return err
			}
			got, err := tx.Profile(p.ID)
			if err != nil {
				return err
			}
			snap, err := tx.Snapshot(root.ID)
			shown, has = fmt.Sprintf("%+v %+v", *got, *snap.Profiles[p.ID]), got.HasKey
			return err
		})
		return key, shown, has
	}
	if key, shown, has := look(); key != secret || !has || strings.Contains(shown, secret) {
		t.Errorf("stored: key %q, told %v, in the profile %v", key, has, strings.Contains(shown, secret))
	}
	write(t, s, func(tx *Tx) error { return tx.SaveProfile(p) })
	if key, _, _ := look(); key != secret {
		t.Errorf("saving the profile leaves key %q", key)
	}
	write(t, s, func(tx *Tx) error { return tx.SetKey(p.ID, "") })
	if key, _, has := look(); key != "" || has {
		t.Errorf("cleared: key %q, told %v", key, has)
	}
	write(t, s, func(tx *Tx) error { return errors.Join(tx.SetKey(p.ID, secret), tx.DeleteProfile(p.ID)) })
	if n := one[int](t, s, "SELECT COUNT(*) FROM profile_keys"); n != 0 {
		t.Error("the key outlives its profile")
	}
	err := s.Write(t.Context(), func(tx *Tx) error { return tx.SetKey(99, secret) })
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("a key of no profile: %v; want an error without the key", err)
	}
}

func TestDeletedProfileReturnsItsUsersToInheriting(t *testing.T) {
	s := open(t, Options{})
	a, b := fullProfile("a"), fullProfile("b")
	var p, q *plan.Plan
	write(t, s, func(tx *Tx) (err error) {
		if err := errors.Join(tx.SaveProfile(a), tx.SaveProfile(b)); err != nil {
			return err
		}
		p = &plan.Plan{Title: "p", DefaultProfile: a.ID, ReviewProfile: a.ID, Started: true}
		if err := errors.Join(tx.InsertPlan(p, ""), tx.UpdatePlan(p, "")); err != nil {
			return err
		}
		if q, err = newPlan(tx, 0); err != nil {
			return err
		}
		nodes := []*plan.Node{{ID: 1, Kind: plan.KindAgent, Profile: a.ID}, {ID: 2, Kind: plan.KindAgent, Profile: a.ID}, {ID: 3, Kind: plan.KindAgent, Profile: b.ID}}
		return tx.InsertNodes(q.ID, nodes)
	})
	inUse := func() (out []int) {
		read(t, s, func(tx *Tx) error {
			all, err := tx.Profiles()
			for _, p := range all {
				out = append(out, p.InUse)
			}
			return err
		})
		return out
	}
	if got := inUse(); !slices.Equal(got, []int{4, 1}) {
		t.Errorf("in use %v times, want 4 (two nodes, a default, a reviewer) and 1", got)
	}
	read(t, s, func(tx *Tx) error {
		roots, err := tx.StartedRootsUsing(a.ID)
		if !slices.Equal(roots, []plan.PlanID{p.ID}) {
			t.Errorf("started trees that use it: %v, want plan %d alone", roots, p.ID)
		}
		return err
	})
	write(t, s, func(tx *Tx) error { return tx.DeleteProfile(a.ID) })
	if got := inUse(); !slices.Equal(got, []int{1}) {
		t.Errorf("after the delete in use %v times, want the other's 1", got)
	}
	var users []int
	read(t, s, func(tx *Tx) error {
		return tx.list("users", &users, `SELECT profile_id FROM nodes UNION ALL SELECT default_profile_id FROM plans
			UNION ALL SELECT review_profile_id FROM plans ORDER BY 1`)
	})
	if !slices.Equal(users, []int{0, 0, 0, 0, 0, 0, int(b.ID)}) {
		t.Errorf("nodes and plans name profiles %v after the delete", users)
	}
	c := fullProfile("c")
	write(t, s, func(tx *Tx) error { return errors.Join(tx.DeleteProfile(b.ID), tx.SaveProfile(c)) })
	if c.ID <= b.ID {
		t.Errorf("a new profile got number %d again", c.ID)
	}
}
