package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// testdata/upgrade has a database of each earlier schema, with a plan that ran in
// it. Before a migration is added, a dump of the schema that it changes goes there.
func TestDatabasesOfEveryEarlierSchemaAreTakenOver(t *testing.T) {
	dumps, err := filepath.Glob("testdata/upgrade/v*.sql")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no dumps of earlier schemas: %v", err)
	}
	fresh := open(t, Options{})
	if latest := one[int](t, fresh, "PRAGMA user_version"); len(dumps) != latest-1 {
		t.Errorf("%d dumps for %d earlier schemas", len(dumps), latest-1)
	}
	want, err := fresh.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, dump := range dumps {
		t.Run(filepath.Base(dump), func(t *testing.T) {
			s := open(t, Options{Path: restore(t, dump)})
			got, err := s.Schema(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("schema (-fresh +upgraded):\n%s", diff)
			}
			checkUpgraded(t, s)
		})
	}
}

// restore makes a database of a dump.
func restore(t *testing.T, dump string) string {
	t.Helper()
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.sqlite")
	db, err := sqlx.Open("sqlite3", fileURL(path)+"?_foreign_keys=off")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatalf("load %s: %v", dump, err)
	}
	return path
}

// checkUpgraded looks whether the plan that every dump has is there as it was.
func checkUpgraded(t *testing.T, s *Store) {
	t.Helper()
	read(t, s, func(tx *Tx) error {
		snap, err := tx.Snapshot(1)
		if err != nil {
			return err
		}
		states := map[plan.NodeID]plan.State{}
		for _, n := range snap.NodesOf(1) {
			states[n.ID] = n.State
		}
		want := map[plan.NodeID]plan.State{1: plan.Done, 2: plan.Failed, 3: plan.Skipped, 4: plan.Ready, 5: plan.Pending}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		spent := one[int64](t, s, "SELECT SUM(tokens_in + tokens_out) FROM spend")
		if got := snap.Root().Tokens; got != spent || spent == 0 {
			t.Errorf("the plan has spent %d tokens, the ledger says %d", got, spent)
		}
		return nil
	})
	for what, query := range map[string]string{
		"broken references": "SELECT COUNT(*) FROM pragma_foreign_key_check",
		"wrong counts of open prerequisites": `SELECT COUNT(*) FROM nodes n WHERE blockers <> (SELECT COUNT(*) FROM edges e
			JOIN nodes f ON f.plan_id = e.plan_id AND f.node_id = e.from_node WHERE e.plan_id = n.plan_id AND e.to_node = n.node_id
			AND NOT (f.state = 'done' OR (f.state = 'skipped' AND f.skipped_by = 'person')))`,
	} {
		if n := one[int](t, s, query); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}
