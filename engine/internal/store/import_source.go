package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sys/unix"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Original is a private copy of a database of the Python program. The file
// itself is only read, byte by byte: SQLite would leave files beside it.
type Original struct {
	path    string
	size    int64
	db      *sqlx.DB
	columns map[string][]string // by table
}

// OpenOriginal copies a database of the Python program into a folder, with what
// its log holds; the folder is the caller's to remove. It is Invalid when the file is no such
// database or of a newer version than is known, and Unavailable when a program
// has it open or writes it.
func OpenOriginal(ctx context.Context, path, dir string) (_ *Original, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	if err := looksImportable(path); err != nil {
		return nil, err
	}
	o, to := &Original{path: path}, filepath.Join(dir, "original.db")
	if o.size, err = copyDatabase(ctx, path, to); err != nil {
		return nil, err
	}
	if o.db, err = sqlx.Open("sqlite3", fileURL(to)+"?mode=rw"); err != nil {
		return nil, fmt.Errorf("open the copy of %s: %w", path, err)
	}
	if err = o.check(ctx); err != nil {
		o.db.Close()
		return nil, err
	}
	return o, nil
}

// Close closes the copy.
func (o *Original) Close() error { return o.db.Close() }

// header is what the first bytes of a database say.
const (
	magic       = "SQLite format 3\x00"
	headerSize  = 100
	application = 68 // where the application id is
)

// looksImportable refuses at once what is no database, what is ours, and what is
// in use.
func looksImportable(path string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return plan.Errorf(plan.Invalid, "there is no file %s", path)
	case err != nil:
		return fmt.Errorf("open the database to import: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return fmt.Errorf("look at the database to import: %w", err)
	case !info.Mode().IsRegular():
		return plan.Errorf(plan.Invalid, "%s is not a file: name the database itself, usually clearbox.db", path)
	case info.Size() == 0:
		return plan.Errorf(plan.Invalid, "%s is empty: there is nothing to import", path)
	}
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(f, header); err != nil || string(header[:len(magic)]) != magic {
		return plan.Errorf(plan.Invalid, "%s is not a database", path)
	}
	if binary.BigEndian.Uint32(header[application:]) == applicationID {
		return oursAlready(path)
	}
	return inUse(f, path)
}

func oursAlready(path string) error {
	return plan.Errorf(plan.Invalid, "%s is a database of this program, not of the Python program clearbox: "+
		"there is nothing to convert; open it with `clearbox serve --db %s`", path, path)
}

// The bytes that SQLite locks. Whoever has a database with a log open holds one
// of them all the time.
const lockStart, lockLength = 0x40000000, 512

// inUse refuses a database that a program has open. Where locks cannot be asked
// for, nobody is taken to have it; a copy that changes meanwhile is still noticed.
func inUse(f *os.File, path string) error {
	want := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: lockStart, Len: lockLength}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &want); err != nil || want.Type == unix.F_UNLCK {
		return nil
	}
	who := "a program"
	if want.Pid > 0 {
		who = fmt.Sprintf("process %d", want.Pid)
	}
	return plan.Errorf(plan.Unavailable, "%s is in use by %s, probably the Python program clearbox: "+
		"stop that first, so that nothing it does is missing here", path, who)
}

// A database is up to three files: it, its log, and what undoes a change that
// was cut short.
var databaseFiles = []string{"", "-wal", "-journal"}

// copyDatabase copies the files of a database and returns their size. When one of
// them changes meanwhile it is Unavailable.
func copyDatabase(ctx context.Context, from, to string) (size int64, err error) {
	before, err := marksOf(from)
	if err != nil {
		return 0, err
	}
	for _, end := range databaseFiles {
		n, err := copyFile(ctx, from+end, to+end)
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && end != "") {
			return 0, fmt.Errorf("copy the database to import: %w", err)
		}
		size += n
	}
	after, err := marksOf(from)
	if err == nil && after != before {
		err = plan.Errorf(plan.Unavailable, "%s changed while it was being copied: stop the program that writes it, then try again", from)
	}
	return size, err
}

// marks tell whether the files of a database changed.
type marks [3]struct {
	size int64
	at   time.Time
}

func marksOf(path string) (m marks, err error) {
	for i, end := range databaseFiles {
		info, err := os.Stat(path + end)
		switch {
		case errors.Is(err, fs.ErrNotExist) && end != "":
		case err != nil:
			return m, fmt.Errorf("look at the database to import: %w", err)
		default:
			m[i].size, m[i].at = info.Size(), info.ModTime()
		}
	}
	return m, nil
}

func copyFile(ctx context.Context, from, to string) (int64, error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, &whileWanted{ctx, in})
	return n, errors.Join(err, out.Close())
}

// whileWanted ends a copy when its context does.
type whileWanted struct {
	ctx context.Context
	r   io.Reader
}

func (w *whileWanted) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}
