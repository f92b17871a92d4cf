package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// waiting are the steps that notices for a webhook are about, in their order.
func waiting(t *testing.T, s *Store, hook int64) []plan.NodeID {
	t.Helper()
	var list []Delivery
	read(t, s, func(tx *Tx) error {
		return tx.list("list", &list, `SELECT `+deliveryColumns+` FROM deliveries WHERE hook_id = ? AND next_at > 0 ORDER BY next_at, id`, hook)
	})
	var nodes []plan.NodeID
	for _, d := range list {
		nodes = append(nodes, d.Node)
	}
	return nodes
}

func TestDeliveriesWaitInOrderAndAreBounded(t *testing.T) {
	s := open(t, Options{})
	write(t, s, func(tx *Tx) error {
		err := tx.SetSetting(WebhooksSetting, `{"hooks":[{"id":1,"enabled":true,"events":["waiting"]},{"id":2,"enabled":true,"events":["waiting"]}]}`)
		for n := range plan.NodeID(5) {
			err = errors.Join(err, tx.Tell(Delivery{Event: "waiting", Root: 1, Plan: 1, Node: n + 1}))
		}
		return err
	})
	later := plan.StampOf(time.Now().Add(time.Hour))
	write(t, s, func(tx *Tx) error {
		d, err := tx.DueDelivery(1)
		if err != nil || d == nil || d.Node != 1 {
			t.Fatalf("due: %+v, %v", d, err)
		}
		d.NextAt, d.Attempts = later, 1
		return errors.Join(tx.NoteAttempt(d), tx.PutOffDeliveries(1, later))
	})
	read(t, s, func(tx *Tx) error {
		next, err := tx.NextDeliveries()
		due, dueErr := tx.DueDelivery(1)
		if next[1] != later || next[2] >= later || due != nil {
			t.Errorf("next %v, due %+v", next, due)
		}
		return errors.Join(err, dueErr)
	})
	if diff := cmp.Diff([]plan.NodeID{1, 2, 3, 4, 5}, waiting(t, s, 1)); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
	for _, b := range []struct {
		since plan.Stamp
		most  int
		gone  int
		stay  []plan.NodeID
	}{{0, 5, 0, []plan.NodeID{1, 2, 3, 4, 5}}, {0, 2, 3, []plan.NodeID{4, 5}}, {later, 2, 2, nil}} {
		write(t, s, func(tx *Tx) error {
			n, err := tx.BoundDeliveries(1, b.since, b.most)
			if n != b.gone {
				t.Errorf("%d are gone, want %d", n, b.gone)
			}
			return err
		})
		if diff := cmp.Diff(b.stay, waiting(t, s, 1)); diff != "" {
			t.Errorf("what stays of %d (-want +got):\n%s", b.most, diff)
		}
	}
	if len(waiting(t, s, 2)) != 5 {
		t.Error("another webhook lost notices")
	}
}
