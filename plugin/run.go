package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"
)

// lateAfter is how long Emit still waits for room once a run was told to stop:
// a stop must not be held up by a host that reads no more.
const lateAfter = 2 * time.Second

// What ended a run's context, beside the host letting go.
var (
	errStopped = errors.New("the run was stopped")
	errWall    = errors.New("the run reached its time limit")
)

// run is one run of a harness, from its start until the process ends. It runs on
// without a host.
type run struct {
	task     Task
	journal  *journal
	commands *commands
	ctx      context.Context
	cancel   context.CancelCauseFunc
	stopping sync.Once
	late     chan struct{} // closed when Emit must not wait any more
	done     chan struct{} // closed when the result is there

	mu    sync.Mutex // guards tally
	tally tally
}

// newRun starts t. The run goes on until its harness returns; done tells.
func newRun(h Harness, t Task) *run {
	if t.LimitWrites && t.Writable == nil {
		t.Writable = []string{} // gob made nil of it
	}
	t.LimitWrites = t.LimitWrites || t.Writable != nil
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &run{
		task: t, journal: newJournal(), ctx: ctx, cancel: cancel,
		late: make(chan struct{}), done: make(chan struct{}),
	}
	r.commands = newCommands(ctx, t)
	go r.play(h)
	return r
}

// checkTask names the field that makes a task impossible to run.
func checkTask(t Task) error {
	switch {
	case t.RunID == "":
		return &Error{KindInvalid, "task: RunID is empty"}
	case !filepath.IsAbs(t.WorkDir):
		return &Error{KindInvalid, fmt.Sprintf("task: WorkDir %q is not an absolute path", t.WorkDir)}
	}
	return nil
}

func (r *run) play(h Harness) {
	defer close(r.done)
	began := time.Now()
	ctx, stop := r.ctx, context.CancelFunc(func() {})
	if wall := r.task.Limits.Wall; wall > 0 {
		ctx, stop = context.WithTimeoutCause(ctx, wall, fmt.Errorf("%w of %s", errWall, wall))
	}
	defer stop()
	var res Result
	err := checkTask(r.task)
	if err == nil {
		res, err = call(ctx, h, r)
	}
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, ctx.Err()) || err == nil && empty(res)) {
		err = cause // says more than "context canceled", or than nothing
	}
	r.cancel(nil)
	r.commands.end()
	r.mu.Lock()
	res = r.tally.complete(res, err, time.Since(began))
	r.mu.Unlock()
	r.journal.finish(res)
}

// call runs the harness's code. A panic costs the run, not the process, and so
// does runtime.Goexit, which looks like a panic with nothing to recover. The
// stack goes to stderr only.
func call(ctx context.Context, h Harness, r *run) (res Result, err error) {
	ended := make(chan struct{})
	go func() {
		returned := false
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				fmt.Fprintf(os.Stderr, "panic in Run: %v\n%s", p, debug.Stack())
				res, err = Result{}, fmt.Errorf("%w: %v", errPanic, p)
			} else if !returned {
				res, err = Result{}, fmt.Errorf("%w: Run ended without returning", errPanic)
			}
		}()
		res, err = h.Run(ctx, r.task, host{r})
		returned = true
	}()
	<-ended
	return res, err
}

// empty says that a harness returned nothing, as one does that just gives up
// when its context ends.
func empty(r Result) bool {
	return r.Text == "" && r.Subtype == "" && len(r.Errors) == 0 && !r.IsError && !r.RateLimited && !r.Transient
}

// stop asks the run to end.
func (r *run) stop() {
	r.stopping.Do(func() {
		r.cancel(errStopped)
		time.AfterFunc(lateAfter, func() { close(r.late) })
	})
}

// release lets go of the run: it is stopped and nothing of it is kept.
func (r *run) release() {
	r.stop()
	r.journal.release()
}
