// Package enginetest makes engines for tests: real in everything but the agents,
// which are functions of the test, run in this process.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// Agent plays one run.
type Agent func(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error)

// Done is an agent that says it is done.
func Done(_ context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	h.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: "s-" + t.RunID}))
	return plugin.Result{Text: "did " + t.Title}, nil
}

// Launcher runs every agent of a harness in this process. The zero value knows
// the harness "mock", played by Done.
type Launcher struct {
	Agents map[string]Agent // by harness slug

	Infos   map[string]plugin.Info                            // what harnesses say of themselves, by slug; those without say little
	Also    []engine.HarnessFound                             // further harnesses, such as refused ones
	Checker func(slug string, p plugin.Profile) plugin.Report // nil: every profile is good

	mu      sync.Mutex
	started []plugin.Task
}

// Started returns the tasks of all runs so far.
func (l *Launcher) Started() []plugin.Task {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]plugin.Task(nil), l.started...)
}

func (l *Launcher) agent(slug string) (Agent, bool) {
	if a, ok := l.Agents[slug]; ok {
		return a, true
	}
	return Done, slug == "mock"
}

// Launch starts a run.
func (l *Launcher) Launch(_ context.Context, slug string, t plugin.Task, saved func([]byte) error) (plugin.Session, error) {
	a, ok := l.agent(slug)
	if !ok {
		return nil, fmt.Errorf("no harness %q", slug)
	}
	l.mu.Lock()
	l.started = append(l.started, t)
	l.mu.Unlock()
	if err := saved([]byte(t.RunID)); err != nil {
		return nil, err
	}
	return plugin.Local(harness{slug, a}, t), nil
}

// Reattach finds nothing: agents of this process end with it.
func (l *Launcher) Reattach(context.Context, []byte) (plugin.Session, error) {
	return nil, plugin.ErrLost
}

// Check finds every profile good, unless the test says otherwise.
func (l *Launcher) Check(_ context.Context, slug string, p plugin.Profile, _ bool) (plugin.Report, error) {
	if l.Checker != nil {
		return l.Checker(slug, p), nil
	}
	return plugin.Report{OK: true, Detail: "ready", Credential: "none"}, nil
}

// Scan returns the harnesses.
func (l *Launcher) Scan(context.Context) []engine.HarnessFound { return l.Found() }

// Found returns the harnesses.
func (l *Launcher) Found() []engine.HarnessFound {
	found := []engine.HarnessFound{{Slug: "mock", Path: "in this process", Info: l.info("mock")}}
	for slug := range l.Agents {
		if slug != "mock" {
			found = append(found, engine.HarnessFound{Slug: slug, Path: "in this process", Info: l.info(slug)})
		}
	}
	return append(found, l.Also...)
}

func (l *Launcher) info(slug string) plugin.Info {
	if i, ok := l.Infos[slug]; ok {
		return i
	}
	return info(slug)
}

// Sweep has nothing to sweep.
func (l *Launcher) Sweep(context.Context, func(string) bool) error { return nil }

// Detach has nothing to let go of.
func (l *Launcher) Detach() {}

// Kill has nothing to kill.
func (l *Launcher) Kill() {}

// Close has nothing to close.
func (l *Launcher) Close() {}

func info(slug string) plugin.Info {
	return plugin.Info{Slug: slug, Name: slug, Version: "test", Features: plugin.Features{Resume: true}}
}

type harness struct {
	slug string
	run  Agent
}

func (h harness) Info(context.Context) (plugin.Info, error) { return info(h.slug), nil }

func (h harness) Check(context.Context, plugin.Profile, bool) (plugin.Report, error) {
	return plugin.Report{OK: true}, nil
}

func (h harness) Run(ctx context.Context, t plugin.Task, host plugin.Host) (plugin.Result, error) {
	return h.run(ctx, t, host)
}

// empty is the file of a database that has its tables and nothing in them. It is
// made once: a test that copies it is spared the migrations.
var empty = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "clearbox-empty-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "clearbox.sqlite")
	s, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Options returns options for an engine with agents of this process, in a
// temporary folder.
func Options(tb testing.TB, agents map[string]Agent) engine.Options {
	tb.Helper()
	db := filepath.Join(tb.TempDir(), "clearbox.sqlite")
	file, err := empty()
	if err == nil {
		err = os.WriteFile(db, file, 0o600)
	}
	if err != nil {
		tb.Fatalf("make an empty database: %v", err)
	}
	return engine.Options{
		DB: db, Mock: true, Launcher: &Launcher{Agents: agents},
		RetryDelay: time.Millisecond, NoSnapshots: true, Env: func(string) string { return "" },
	}
}

// Start opens an engine and runs it until the test ends.
func Start(tb testing.TB, o engine.Options) *engine.Engine {
	tb.Helper()
	e, stop := Run(tb, o)
	tb.Cleanup(stop)
	return e
}

// Run opens an engine and runs it until stop is called.
func Run(tb testing.TB, o engine.Options) (e *engine.Engine, stop func()) {
	tb.Helper()
	e, err := engine.Open(context.Background(), o)
	if err != nil {
		tb.Fatalf("open engine: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	return e, func() {
		tb.Helper()
		if err := e.Shutdown(context.Background(), engine.ExitStop); err != nil {
			tb.Errorf("shut down: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("run: %v", err)
		}
		if err := e.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	}
}

// Until waits until a plan's tree satisfies a condition, at each change of it.
func Until(tb testing.TB, e *engine.Engine, id plan.PlanID, what string, ok func(*plan.Snapshot) bool) *plan.Snapshot {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	sub := e.Subscribe(0, -1)
	for {
		s, err := e.Snapshot(ctx, id)
		if err != nil {
			tb.Fatalf("read plan %d: %v", id, err)
		}
		if ok(s) {
			return s
		}
		if _, err := sub.Next(ctx); err != nil {
			s.Walk(func(n *plan.Node) { tb.Logf("%s %s %s %v", n.Ref(), n.State, n.Phase, n.Error) })
			tb.Fatalf("plan %d never came to: %s (%v)", id, what, err)
		}
	}
}

// Status is a condition for Until.
func Status(want plan.Status) func(*plan.Snapshot) bool {
	return func(s *plan.Snapshot) bool { return s.Status(s.Root().ID) == want }
}

// State is a condition for Until.
func State(r plan.Ref, want plan.State) func(*plan.Snapshot) bool {
	return func(s *plan.Snapshot) bool { n := s.Node(r); return n != nil && n.State == want }
}

// Eventually waits for what no change of a plan tells of.
func Eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("it never came to: %s", what)
		}
	}
}
