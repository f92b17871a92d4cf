// Package harness finds, starts, watches, ends and re-attaches harness
// processes.
//
// Each process runs under a supervisor of its own: the hidden role [Supervise]
// of the same binary. The supervisor outlives this server, so a restart kills no
// run, and it leaves nothing of a run behind: on Linux it ends every descendant
// of a harness, those that fled into a session of their own included. Elsewhere
// it ends the harness's process group, and what leaves that group can escape.
//
// The server talks to a harness over go-plugin's net/rpc through a unix socket
// in a private folder, and to its supervisor through a second one.
package harness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const (
	defaultOrphanAfter  = 12 * time.Hour
	defaultStartTimeout = 10 * time.Second
)

// Options of a [Manager].
type Options struct {
	Dirs         []string      // where to look for harnesses; the first that has one wins
	DataDir      string        // run folders go to DataDir/runs
	Supervisor   []string      // how to start the role: program and first arguments
	PassEnv      []string      // names of further variables that harnesses get
	OrphanAfter  time.Duration // how long a run goes on without a server; 0 means 12 h
	StartTimeout time.Duration // until the handshake; 0 means 10 s
	Log          *slog.Logger  // nil discards
}

// Manager owns the harness processes of one server. It is safe for concurrent
// use.
type Manager struct {
	o    Options
	log  *slog.Logger
	runs string // absolute folder of the run folders

	mu       sync.Mutex // guards what follows
	found    []Found
	answers  map[string]answer   // what harnesses said of themselves, by path
	live     map[string]*process // by run folder; nil while it is started
	detached bool
	workers  sync.WaitGroup
}

// New returns a manager. It starts nothing and touches no file.
func New(o Options) *Manager {
	if o.OrphanAfter == 0 {
		o.OrphanAfter = defaultOrphanAfter
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = defaultStartTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	runs := filepath.Join(o.DataDir, "runs")
	if abs, err := filepath.Abs(runs); err == nil {
		runs = abs
	}
	return &Manager{
		o: o, log: o.Log, runs: runs,
		answers: map[string]answer{}, live: map[string]*process{},
	}
}

// Detach lets go of all processes without ending them, for a server that will
// come back or has a successor. Their Follow returns [ErrDetached], and so does
// whatever is asked of the manager from then on.
func (m *Manager) Detach() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.detached {
		return
	}
	m.detached = true
	for _, p := range m.live {
		if p != nil {
			p.detach()
		}
	}
}

// Kill has all processes killed with everything they started, and does not wait
// for it: their supervisors do it, even when this server ends at once. Those that
// it let go of live on.
func (m *Manager) Kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.live {
		if p != nil {
			p.link.stop(stopKill)
		}
	}
}

// Close lets go of what is left, as [Manager.Detach] does, and waits for the
// manager's goroutines. Runs that shall end have to be closed before.
func (m *Manager) Close() {
	m.Detach()
	m.workers.Wait()
}

// reserve makes the folder of a process and holds it against Sweep.
func (m *Manager) reserve(ctx context.Context, id string) (folder, error) {
	dir := filepath.Join(m.runs, id)
	m.mu.Lock()
	_, taken := m.live[dir]
	switch {
	case m.detached:
		m.mu.Unlock()
		return folder{}, ErrDetached
	case taken:
		m.mu.Unlock()
		return folder{}, plan.Errorf(plan.Conflict, "run %s has a process already", id)
	}
	m.live[dir] = nil
	m.mu.Unlock()
	err := m.clear(ctx, dir) // of a server that crashed before it had written the run down
	if err == nil {
		var f folder
		if f, err = makeFolder(dir); err == nil {
			return f, nil
		}
	}
	m.forget(dir)
	return folder{}, fmt.Errorf("make the folder of run %s: %w", id, err)
}

// hold enters a process. After Detach it is let go of at once.
func (m *Manager) hold(p *process) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.detached:
		p.detach()
		return ErrDetached
	case m.live[p.folder.dir] != nil:
		return plan.Errorf(plan.Conflict, "the run of folder %s is followed already", filepath.Base(p.folder.dir))
	}
	m.live[p.folder.dir] = p
	return nil
}

func (m *Manager) forget(dir string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, dir)
}

// spawn runs f as a goroutine that Close waits for.
func (m *Manager) spawn(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.detached {
		return ErrDetached // Close may be waiting already
	}
	m.workers.Go(f)
	return nil
}

// Sweep ends and removes what earlier servers left in the folder of runs, but
// for the runs that keep names and those that this manager holds. It goes on
// after an error and returns all of them.
func (m *Manager) Sweep(ctx context.Context, keep func(runID string) bool) error {
	entries, err := os.ReadDir(m.runs)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep run folders: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		dir := filepath.Join(m.runs, e.Name())
		if !e.IsDir() || keep(e.Name()) || !m.reserveForSweep(dir) {
			continue
		}
		if err := m.clear(ctx, dir); err != nil {
			errs = append(errs, fmt.Errorf("sweep run folder %s: %w", e.Name(), err))
		}
		m.forget(dir)
	}
	return errors.Join(errs...)
}

func (m *Manager) reserveForSweep(dir string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.live[dir]; taken || m.detached {
		return false
	}
	m.live[dir] = nil
	return true
}

// clear ends what may still run in a folder that nobody holds, and removes it.
func (m *Manager) clear(ctx context.Context, dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	f := openFolder(dir)
	if l, err := dialLink(ctx, f.supervisorSocket(), procID{}); err == nil {
		l.end(ctx, stopKill)
	}
	killStrays(dir, procID{})
	return f.remove()
}
