package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/jmoiron/sqlx"
	sqlite "github.com/mattn/go-sqlite3"

	"github.com/clearbox-go/clearbox/engine/plan"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a database as one of ours: "Clbx".
const applicationID = 0x436c6278

// minPage is the least size in bytes of a database with something in it.
const minPage = 512

const notADatabase = "%s is not a database: name another --db"

// inspect makes sure that a file is ours, or has nothing in it. It only reads: a
// database of another program stays as it is, to its journal mode.
func inspect(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the database: %w", err)
	case info.Mode().IsRegular() && info.Size() == 0:
		return nil
	case info.Mode().IsRegular() && info.Size() < minPage: // SQLite would take it for empty
		return plan.Errorf(plan.Invalid, notADatabase, path)
	}
	db, err := sqlx.Open("sqlite3", fileURL(path)+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		return fmt.Errorf("open database %s: %w", path, err)
	}
	defer db.Close()
	var id int64
	if err := db.GetContext(ctx, &id, "PRAGMA application_id"); err != nil {
		return notOurs(path, err)
	}
	var tables []string
	const q = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
	if err := db.SelectContext(ctx, &tables, q); err != nil {
		return notOurs(path, err)
	}
	return belongs(path, id, tables)
}

// belongs says whether a database with such an id and tables is ours.
func belongs(path string, id int64, tables []string) error {
	switch {
	case id == applicationID || id == 0 && len(tables) == 0:
		return nil
	case slices.Contains(tables, "agent_profiles") && slices.Contains(tables, "node_files"):
		return plan.Errorf(plan.Invalid, "%s was written by the Python program clearbox and is not opened in place: "+
			"take its plans over with `clearbox import %s`, or name another --db", path, path)
	case len(tables) == 0:
		return plan.Errorf(plan.Invalid, "%s belongs to another program: name another --db", path)
	}
	return plan.Errorf(plan.Invalid, "%s belongs to another program (it has the table %q): name another --db", path, tables[0])
}

func notOurs(path string, err error) error {
	var e sqlite.Error
	if errors.As(err, &e) && e.Code == sqlite.ErrNotADB {
		return plan.Errorf(plan.Invalid, notADatabase, path)
	}
	return fmt.Errorf("open database %s: %w", path, err)
}

// touch makes an empty database that nobody else can read: it will hold keys.
// SQLite gives its log the same mode.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	return f.Close()
}

// migrate applies the migrations that the database does not have yet, each in a
// transaction of its own. Before one that changes existing data the file is copied.
func (s *Store) migrate(ctx context.Context, files fs.FS) error {
	var version int
	if err := s.write.GetContext(ctx, &version, "PRAGMA user_version"); err != nil {
		return fmt.Errorf("read the database version: %w", err)
	}
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	if version > len(names) {
		return plan.Errorf(plan.Invalid, "%s was written by a newer version of Clearbox (schema %d; this one knows %d): "+
			"use that version, or another --db", s.opts.Path, version, len(names))
	}
	if 0 < version && version < len(names) {
		if err := s.backUp(ctx, fmt.Sprintf("%s.v%d.bak", s.opts.Path, version)); err != nil {
			return fmt.Errorf("copy the database before its migration: %w", err)
		}
	}
	for i, name := range names[version:] {
		if err := s.apply(ctx, files, name, version+i+1); err != nil {
			return fmt.Errorf("migrate database to %s: %w", name, err)
		}
	}
	return nil
}

// backUp copies the database to path. A copy that an earlier try left there is
// replaced, since that try changed nothing.
func (s *Store) backUp(ctx context.Context, path string) error {
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := touch(part); err != nil { // VACUUM takes an empty file, and keeps its mode
		return err
	}
	if _, err := s.write.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return err
	}
	return os.Rename(part, path)
}

func (s *Store) apply(ctx context.Context, files fs.FS, name string, version int) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	tx, err := s.write.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	mark := fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version, applicationID)
	for _, q := range []string{string(text), mark} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return tx.Commit()
}
