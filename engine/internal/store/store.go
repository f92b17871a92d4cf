// Package store keeps plans, runs and events in SQLite. It is the only place
// with SQL. There is one writer, which commits the work of all who wait at once,
// and a pool of readers. Rules are not decided here, with one exception: the
// comparison that turns a lost race into a conflict.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	sqlite "github.com/mattn/go-sqlite3"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const readers = 4

// Options configure a store.
type Options struct {
	Path string
	Now  func() time.Time // nil: the system clock

	// Published is called with what was recorded, after each commit and in the
	// order of commits, before the writers hear of it. It must be quick and must
	// not write.
	Published func([]plan.Change)

	// Crash, when set, is asked before each commit; true makes the store act as
	// if the process had died there. For tests of recovery.
	Crash func() bool
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	opts  Options
	lock  *lock
	write *sqlx.DB
	read  *sqlx.DB

	jobs    chan *job
	closing chan struct{}
	close   sync.Once
	done    chan struct{} // the writer has ended
	seq     int64         // last one given out; owned by the writer
}

// Open opens or creates a database and brings it up to date. It is Unavailable
// when another server has it open, and Invalid when it is of a newer version or
// not one of Clearbox.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Published == nil {
		o.Published = func([]plan.Change) {}
	}
	if err := inspect(ctx, o.Path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	l, err := acquire(o.Path+".lock", o.Now())
	if err != nil {
		return nil, err
	}
	s := &Store{opts: o, lock: l, jobs: make(chan *job, 256), closing: make(chan struct{}), done: make(chan struct{})}
	defer func() {
		if err != nil {
			s.shut()
		}
	}()
	if err = touch(o.Path); err != nil {
		return nil, err
	}
	if s.write, err = connect(o.Path, "_txlock=immediate", 1); err != nil {
		return nil, err
	}
	if err = s.migrate(ctx, migrations); err != nil {
		return nil, err
	}
	if s.read, err = connect(o.Path, "_query_only=on", readers); err != nil {
		return nil, err
	}
	if err = s.write.GetContext(ctx, &s.seq, lastSeq); err != nil {
		return nil, fmt.Errorf("read the last sequence number: %w", err)
	}
	go s.writer()
	return s, nil
}

// AUTOINCREMENT remembers the largest number ever used, also of rows that are gone.
const lastSeq = `SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name IN ('events', 'changes')`

// connect opens one pool. Pragmas are in the DSN, so that each connection has them.
func connect(path, extra string, conns int) (*sqlx.DB, error) {
	dsn := fileURL(path) +
		"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000&_foreign_keys=on" +
		"&_cache_size=-16000&_stmt_cache_size=128&_mutex=no&" + extra
	db := sqlx.NewDb(sql.OpenDB(connector{dsn}), "sqlite3")
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	if err := db.Ping(); err != nil {
		db.Close()
		return nil, notOurs(path, err)
	}
	return db, nil
}

// connector opens connections with the settings that the DSN has no words for.
type connector struct{ dsn string }

// Savepoints keep the pages that they may have to restore in memory, not in a
// file; readers map the database, since every commit empties their caches. The log
// is folded into the database after 16 MB of it: the writer waits for that.
const tuning = `PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 268435456; PRAGMA wal_autocheckpoint = 4000`

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.dsn) }

func (c connector) Driver() driver.Driver {
	return &sqlite.SQLiteDriver{ConnectHook: func(conn *sqlite.SQLiteConn) error {
		_, err := conn.Exec(tuning, nil)
		return err
	}}
}

func fileURL(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

// Close waits for the writer, folds the log into the database and lets go of it.
func (s *Store) Close() (err error) {
	s.close.Do(func() {
		close(s.closing)
		<-s.done
		_, err = s.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
		s.shut()
	})
	return err
}

func (s *Store) shut() {
	if s.read != nil {
		s.read.Close()
	}
	if s.write != nil {
		s.write.Close()
	}
	s.lock.release()
}

// Read runs fn on one consistent moment of the database. It sees nothing that is
// not committed.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error {
	c, err := take(ctx, s.read)
	if err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	defer c.Close()
	if err := c.do("BEGIN"); err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	defer c.do("ROLLBACK")
	return fn(&Tx{conn: c, ctx: ctx, now: plan.StampOf(s.opts.Now())})
}

// Schema returns the definition of the database as one text, sorted by name.
func (s *Store) Schema(ctx context.Context) (string, error) {
	var parts []string
	const q = `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
		ORDER BY tbl_name, type <> 'table', type, name`
	if err := s.read.SelectContext(ctx, &parts, q); err != nil {
		return "", fmt.Errorf("read the schema: %w", err)
	}
	return strings.Join(parts, ";\n\n") + ";\n", nil
}
