package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/clearbox-go/clearbox/engine/plan"
)

var originals = []string{"0.1.0", "0.3.0", "0.4.1"}

// original makes a database of a version of the Python program in a folder of its
// own, changed by further statements. Its plans work in folders beside it, of
// which all but "stopped" are there.
func original(t testing.TB, version string, changes ...string) (path string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "original", "v"+version+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	for _, dir := range []string{"app", "api", "site", "later", "empty", "data"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(base, "data", "clearbox.db")
	db := openRaw(t, path)
	defer db.Close()
	whole := strings.ReplaceAll(string(text), "/tmp/clearbox-original", base)
	for _, q := range append([]string{"PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF", "BEGIN;" + whole + "COMMIT"}, changes...) {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q[:min(len(q), 200)], err)
		}
	}
	return path
}

func openRaw(t testing.TB, path string) *sqlx.DB {
	t.Helper()
	db, err := sqlx.Open("sqlite3", fileURL(path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// rows returns what a query finds in a database of theirs or ours, a line each.
func rows(t testing.TB, path, query string) []string {
	t.Helper()
	db := openRaw(t, path)
	defer db.Close()
	var list []string
	if err := db.Select(&list, query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return list
}

// importing is an import by a test.
type importing struct {
	path  string
	again bool
	dry   bool
	from  string // workspace
	ctx   context.Context
}

// into imports into a store.
func (i importing) into(t testing.TB, s *Store) (*Imported, error) {
	t.Helper()
	if i.ctx == nil {
		i.ctx = t.Context()
	}
	from, err := OpenOriginal(i.ctx, i.path, t.TempDir())
	if err != nil {
		return nil, err
	}
	defer from.Close()
	var out *Imported
	err = s.Write(context.Background(), func(tx *Tx) (err error) {
		out, err = tx.Import(i.ctx, from, ImportOptions{Again: i.again, Workspace: i.from,
			FolderKey: func(dir string) string { return "key of " + dir }})
		if err == nil && i.dry {
			err = errNo
		}
		return err
	})
	if i.dry && errors.Is(err, errNo) {
		err = nil
	}
	return out, err
}

// mustImport imports into a store and checks that it holds together.
func mustImport(t testing.TB, s *Store, i importing) *Imported {
	t.Helper()
	out, err := i.into(t, s)
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, s)
	return out
}

// What must hold of every database, and of one that nothing runs in.
var neverFound = map[string]string{
	"open runs":             `SELECT id FROM runs WHERE outcome = ''`,
	"started plans":         `SELECT id FROM plans WHERE started <> 0`,
	"steps at work":         `SELECT plan_id FROM nodes WHERE state IN ('ready', 'running') OR phase <> ''`,
	"pending, but begun":    `SELECT plan_id FROM nodes WHERE state = 'pending' AND (started_at <> 0 OR finished_at <> 0)`,
	"foreign keys":          `SELECT "table" FROM pragma_foreign_key_check`,
	"runs that are unknown": `SELECT run_id FROM nodes WHERE run_id <> '' AND run_id NOT IN (SELECT id FROM runs)`,
	"events of no run":      `SELECT id FROM events WHERE run_id <> '' AND run_id NOT IN (SELECT id FROM runs)`,
	"events that are text":  `SELECT id FROM events WHERE NOT json_valid(data)`,
	"roots": `SELECT p.id FROM plans p JOIN plans q ON q.id = p.parent_plan_id WHERE p.root_id <> q.root_id
		UNION ALL SELECT id FROM plans WHERE parent_plan_id = 0 AND root_id <> id`,
	"subplans": `SELECT p.id FROM plans p WHERE parent_plan_id > 0 AND NOT EXISTS (SELECT 1 FROM nodes n
		WHERE n.plan_id = p.parent_plan_id AND n.node_id = p.parent_node_id AND n.subplan_id = p.id)`,
	"node numbers": `SELECT p.id FROM plans p JOIN nodes n ON n.plan_id = p.id WHERE n.node_id >= p.next_node_id`,
	"profiles": `SELECT profile_id FROM nodes WHERE profile_id > 0 AND profile_id NOT IN (SELECT id FROM profiles)
		UNION ALL SELECT default_profile_id FROM plans WHERE default_profile_id > 0 AND default_profile_id NOT IN (SELECT id FROM profiles)
		UNION ALL SELECT profile_id FROM runs WHERE profile_id > 0 AND profile_id NOT IN (SELECT id FROM profiles)`,
	"sequence": `SELECT id FROM events e WHERE EXISTS (SELECT 1 FROM changes c WHERE c.seq = e.id)`,
	"spending": `SELECT p.id FROM plans p WHERE parent_plan_id = 0 AND spent_tokens <>
		(SELECT COALESCE(SUM(tokens_in + tokens_out), 0) FROM spend WHERE root_id = p.id)`,
}

// checkWhole counts anew what triggers keep, and looks for what must not be.
func checkWhole(t testing.TB, s *Store) {
	t.Helper()
	read(t, s, recount)
	read(t, s, compareOverviews)
	for what, query := range neverFound {
		read(t, s, func(tx *Tx) error {
			var found []string
			if err := tx.list(what, &found, query); err != nil {
				return err
			}
			if len(found) > 0 {
				t.Errorf("%s: %v", what, found)
			}
			return nil
		})
	}
}

func refsOf(list []plan.Ref) string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.String()
	}
	return strings.Join(texts, " ")
}
