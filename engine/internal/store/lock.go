package store

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// lock keeps a second server away from a database. The kernel lets go of it when
// the process ends, however it ends.
type lock struct{ file *os.File }

// holder is who has the lock, as written into the lock file.
type holder struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// acquire takes the lock or says who has it, as Unavailable.
func acquire(path string, now time.Time) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		var h holder
		if json.NewDecoder(f).Decode(&h) != nil {
			return nil, plan.Errorf(plan.Unavailable, "another Clearbox has this database open (lock file %s)", path)
		}
		return nil, plan.Errorf(plan.Unavailable, "another Clearbox has this database open: process %d, since %s; "+
			"stop that one, or give this one another --db", h.PID, h.Since.Format("2006-01-02 15:04:05"))
	}
	b, err := json.Marshal(holder{PID: os.Getpid(), Since: now})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("write the lock file: %w", err)
	}
	return &lock{f}, nil
}

// release lets go of the lock. The file stays: removing it would let two servers
// lock two files of one name.
func (l *lock) release() {
	if l == nil {
		return
	}
	// A program that is just being started has a copy of the file for a moment, and
	// would hold the lock with it: closing alone does not let go.
	_ = unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	l.file.Close()
}
