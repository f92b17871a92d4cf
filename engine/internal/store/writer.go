package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// ErrClosed is returned by Write after Close.
var ErrClosed = errors.New("the store is closed")

// errCrashed stands for the death of the process in tests of recovery.
var errCrashed = errors.New("the store stopped here")

// maxGroup bounds the jobs of one transaction, so that the first of them does
// not wait for too many others.
const maxGroup = 128

// job is one call of Write.
type job struct {
	ctx     context.Context
	fn      func(*Tx) error
	err     error
	changes []plan.Change
	done    chan struct{}
}

// Write runs fn in a transaction: all or nothing, and durable when it returns.
// What fn recorded is published after the commit and before Write returns.
//
// Callers that wait at the same time share one transaction and one flush to
// disk. Each has a savepoint of its own, so that one that fails undoes only its
// own work. fn runs on the writer's goroutine: it must not call Write, and
// should be short.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	j := &job{ctx: ctx, fn: fn, done: make(chan struct{})}
	select {
	case <-s.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case s.jobs <- j:
	}
	select {
	case <-j.done:
		return j.err
	case <-s.done:
		// The writer has ended; it answered all it took, but this one may have
		// come too late.
		select {
		case <-j.done:
			return j.err
		default:
			return ErrClosed
		}
	}
}

func (s *Store) writer() {
	defer close(s.done)
	for {
		select {
		case j := <-s.jobs:
			// Those whom the last commit woke often have a next change at hand: let
			// them join this one.
			runtime.Gosched()
			s.commitGroup(s.group(j))
		case <-s.closing:
			for {
				select {
				case j := <-s.jobs:
					s.commitGroup(s.group(j))
				default:
					return
				}
			}
		}
	}
}

// group takes what waits already, without waiting for more.
func (s *Store) group(first *job) []*job {
	jobs := []*job{first}
	for len(jobs) < maxGroup {
		select {
		case j := <-s.jobs:
			jobs = append(jobs, j)
		default:
			return jobs
		}
	}
	return jobs
}

// commitGroup runs all jobs in one transaction and tells each how it went.
func (s *Store) commitGroup(jobs []*job) {
	err := s.runGroup(jobs)
	if err == nil {
		s.commits.add(len(jobs))
	}
	var published []plan.Change
	for _, j := range jobs {
		if err != nil && j.err == nil {
			j.err = err
		}
		if j.err == nil {
			published = append(published, j.changes...)
		}
	}
	if len(published) > 0 {
		s.opts.Published(published)
	}
	for _, j := range jobs {
		close(j.done)
	}
}

// runGroup returns an error when the transaction as a whole failed; a job's own
// failure is in the job.
func (s *Store) runGroup(jobs []*job) error {
	c, err := take(context.Background(), s.write)
	if err != nil {
		return fmt.Errorf("begin to write: %w", err)
	}
	defer c.Close()
	if err := c.do("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin to write: %w", err)
	}
	committed := false
	defer func() {
		if !committed {
			c.do("ROLLBACK")
		}
	}()
	now := plan.StampOf(s.opts.Now())
	for _, j := range jobs {
		if j.err = j.ctx.Err(); j.err != nil {
			continue
		}
		if err := s.runJob(c, j, now); err != nil {
			return err
		}
	}
	if s.opts.Crash != nil && s.opts.Crash() {
		return errCrashed
	}
	if err := c.do("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	return nil
}

func (s *Store) runJob(c *conn, j *job, now plan.Stamp) error {
	if err := c.do("SAVEPOINT job"); err != nil {
		return fmt.Errorf("set a savepoint: %w", err)
	}
	// The caller may go away while its job runs: the shared transaction must not
	// be cut by that.
	t := &Tx{conn: c, ctx: context.WithoutCancel(j.ctx), now: now, seq: &s.seq}
	if j.err = call(j.fn, t); j.err != nil {
		if err := c.do("ROLLBACK TO job"); err != nil {
			return fmt.Errorf("undo a failed change: %w", err)
		}
	}
	if err := c.do("RELEASE job"); err != nil {
		return fmt.Errorf("release a savepoint: %w", err)
	}
	if j.changes = t.changes; t.told && len(j.changes) > 0 {
		j.changes[len(j.changes)-1].Notices = true
	}
	return nil
}

// call turns a panic in one job into its error: the other jobs of the group are
// other people's.
func call(fn func(*Tx) error, t *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a database change: %v\n%s", p, debug.Stack())
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	return t.flush()
}
