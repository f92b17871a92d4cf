package store

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jmoiron/sqlx"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// foreign makes a database by statements and returns its path and content.
func foreign(t *testing.T, statements ...string) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "other.db")
	db, err := sqlx.Open("sqlite3", fileURL(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

func TestForeignFilesAreRefusedAndLeftAlone(t *testing.T) {
	python := []string{"CREATE TABLE agent_profiles (id)", "CREATE TABLE node_files (id)", "CREATE TABLE plans (id)"}
	for _, c := range []struct {
		name       string
		statements []string
		text       string
		says       string
	}{
		{"the Python program's", python, "", "clearbox import"},
		{"the Python program's, with a version and a log", append([]string{"PRAGMA journal_mode = WAL", "PRAGMA user_version = 1"}, python...), "", "clearbox import"},
		{"another program's", []string{"CREATE TABLE bookmarks (url)"}, "", `"bookmarks"`},
		{"another program's, with our version number", []string{"CREATE TABLE plans (id)", "PRAGMA user_version = 1"}, "", `"plans"`},
		{"another program's, empty", []string{"PRAGMA application_id = 7"}, "", "another program"},
		{"no database", nil, strings.Repeat("This is a letter. ", 100), "not a database"},
		{"a short text", nil, "x", "not a database"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, content := filepath.Join(t.TempDir(), "letter.txt"), []byte(c.text)
			if c.statements != nil {
				path, content = foreign(t, c.statements...)
			} else if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), Options{Path: path})
			if s != nil || plan.KindOf(err) != plan.Invalid {
				t.Fatalf("open: %v, %v; want it refused as invalid", s, err)
			}
			for _, part := range []string{path, c.says, "--db"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("it is refused with %q, which does not say %q", err, part)
				}
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(content, after) {
				t.Errorf("the file was changed (%v)", err)
			}
			if _, err := os.Stat(path + ".lock"); err == nil {
				t.Error("a lock file was left beside it")
			}
		})
	}
}

func TestUnusablePathsAreErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(file, "below.sqlite")} {
		if s, err := Open(t.Context(), Options{Path: path}); err == nil {
			s.Close()
			t.Errorf("%s was opened", path)
		}
	}
}

func TestEmptyFileBecomesADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.sqlite")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	makePlan(t, open(t, Options{Path: path}), 1)
}

func TestNewDatabaseIsForItsOwnerAlone(t *testing.T) {
	s := open(t, Options{})
	makePlan(t, s, 1)
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(s.opts.Path + end)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("database%s: %v, %v; want mode 0600", end, info, err)
		}
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	ours := strconv.Itoa(one[int](t, s, "PRAGMA user_version"))
	if _, err := s.write.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Path: s.opts.Path})
	if plan.KindOf(err) != plan.Invalid || !strings.Contains(err.Error(), "newer version") || !strings.Contains(err.Error(), "schema 99") {
		t.Fatalf("open: %v; want it refused with the version", err)
	}
	if _, err := os.Stat(s.opts.Path + ".v99.bak"); err == nil {
		t.Error("a copy was made for nothing")
	}
	db, err := sqlx.Open("sqlite3", fileURL(s.opts.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version = " + ours); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Path: s.opts.Path}) // the refusal let go of everything
	if got := one[plan.PlanID](t, s, "SELECT id FROM plans"); got != p.ID {
		t.Errorf("plan %d is there, want %d", got, p.ID)
	}
}

// later returns our migrations and some more.
func later(t *testing.T, more ...string) fs.FS {
	t.Helper()
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	all := fstest.MapFS{}
	for _, name := range names {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = &fstest.MapFile{Data: text}
	}
	for i, text := range more {
		all[fmt.Sprintf("migrations/%04d_more.sql", len(names)+i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

func TestMigrationsRunOnceInOrderAndKeepACopy(t *testing.T) {
	s := open(t, Options{})
	p := makePlan(t, s, 1)
	base := one[int](t, s, "SELECT user_version FROM pragma_user_version")
	files := later(t, "CREATE TABLE extra (a); INSERT INTO extra VALUES (1)", "UPDATE extra SET a = a + 1; UPDATE plans SET title = 'new'")
	for range 2 {
		if err := s.migrate(t.Context(), files); err != nil {
			t.Fatal(err)
		}
		if got := one[int](t, s, "SELECT a FROM extra"); got != 2 {
			t.Errorf("the later migrations ran in another way: %d, want 2", got)
		}
	}
	if got := one[int](t, s, "SELECT user_version FROM pragma_user_version"); got != base+2 {
		t.Errorf("version %d, want %d", got, base+2)
	}
	copied := open(t, Options{Path: s.opts.Path + fmt.Sprintf(".v%d.bak", base)})
	if got := one[string](t, copied, "SELECT title FROM plans WHERE id = ?", p.ID); got != "plan" {
		t.Errorf("the copy has the title %q, want that from before", got)
	}
	if info, err := os.Stat(copied.opts.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("copy: %v, %v; want mode 0600", info, err)
	}
}

func TestFailedMigrationChangesNothingAndCanBeTriedAgain(t *testing.T) {
	s := open(t, Options{})
	makePlan(t, s, 1)
	before, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	broken := later(t, "CREATE TABLE extra (a); DELETE FROM plans; SELECT nonsense FROM nowhere")
	for range 2 {
		if err := s.migrate(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "_more.sql") {
			t.Fatalf("a broken migration: %v; want an error that names it", err)
		}
		if after, _ := s.Schema(t.Context()); after != before {
			t.Fatalf("something is left of it:\n%s", after)
		}
		if got := one[int](t, s, "SELECT COUNT(*) FROM plans"); got != 1 {
			t.Fatalf("%d plans are left, want 1", got)
		}
	}
	if err := s.migrate(t.Context(), later(t, "CREATE TABLE extra (a)")); err != nil {
		t.Errorf("the mended migration: %v", err)
	}
}
