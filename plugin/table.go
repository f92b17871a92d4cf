package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// next gives what the run has to tell.
func (r *run) next(ctx context.Context, a ask) (batch, error) { return r.journal.next(ctx, a) }

// table holds the runs of a process: usually one.
type table struct {
	idle *idle // told when a run begins and ends

	mu       sync.Mutex // guards what follows
	runs     map[string]*run
	stopped  map[string]bool // stops that came before their start
	watchers sync.WaitGroup
}

func newTable(i *idle) *table {
	return &table{idle: i, runs: map[string]*run{}, stopped: map[string]bool{}}
}

func (t *table) start(h Harness, task Task) error {
	if err := checkTask(task); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs[task.RunID] != nil {
		return nil
	}
	r := newRun(h, task)
	t.runs[task.RunID] = r
	if t.stopped[task.RunID] {
		r.stop()
	}
	t.idle.enter()
	t.watchers.Go(func() {
		<-r.done
		t.idle.leave()
	})
	return nil
}

func (t *table) get(id string) (*run, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.runs[id]; r != nil {
		return r, nil
	}
	return nil, &Error{KindNotFound, fmt.Sprintf("this harness process has no run %q", id)}
}

func (t *table) stop(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.runs[id]; r != nil {
		r.stop()
		return
	}
	t.stopped[id] = true
}

func (t *table) release(id string) error {
	r, err := t.get(id)
	if err != nil {
		return err
	}
	r.release()
	for _, other := range t.all() {
		if !other.journal.isReleased() {
			return nil
		}
	}
	t.idle.hurry()
	return nil
}

// all returns the runs at this moment.
func (t *table) all() []*run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.runs))
}

// stopAll asks every run to end and returns a channel that is closed when all
// have.
func (t *table) stopAll() <-chan struct{} {
	for _, r := range t.all() {
		r.stop()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.watchers.Wait()
	}()
	return done
}

// killAll ends the programs of every run without asking.
func (t *table) killAll() {
	for _, r := range t.all() {
		r.commands.kill()
	}
}
