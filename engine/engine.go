// Package engine owns every rule of how plans come about and run. Doors (MCP,
// REST, pages, the command line) translate to its operations; none of them
// decides anything. Operations may be called from many goroutines at once; each
// is one change of the database, all or nothing, durable when it returns.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/harness"
	"github.com/clearbox-go/clearbox/engine/internal/shadow"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// Options configure an engine.
type Options struct {
	DB      string // path of the database
	DataDir string // runs, harnesses; default: the folder of the database
	WorkDir string // for plans without a working directory

	Mock              bool    // the default agent is mock, and debug routes exist
	MockSpeed         float64 // factor for harness-mock; 0 means 1
	MaxConcurrency    int     // agents at once, over all plans; 0 means 3
	AgentProfile      string  // the default agent's name; "" : claude, or mock with Mock
	DefaultCapability string  // of workers whose profile names none; "" means full
	NoAgentMCP        bool    // built-in workers get no Clearbox tools
	NoSnapshots       bool    // nothing is known of what steps change
	Isolation         string  // none or worktree: the least that steps get
	PlannerAgent      string  // who makes plans from goals; "": the default agent
	PlannerMaxNodes   int     // steps that a plan from a goal may have; 0 means 40
	MaxNodes          int     // per plan; 0 means 50,000

	HarnessDirs []string
	Supervisor  []string // argv of this binary in the role of [Role]
	PassEnv     []string // names of variables that harnesses get beyond the usual
	OrphanAfter time.Duration
	Env         func(name string) string // of the server, for keys; nil: os.Getenv

	OpenAI OpenAIDefaults
	Claude ClaudeDefaults

	Log *slog.Logger
	Now func() time.Time

	// RetryDelay is how long an interrupted step waits before it is run again;
	// each further interruption waits four times as long. 0 means 2 s.
	RetryDelay time.Duration

	// WebhookDelay is how long a webhook that did not take a notice is left alone;
	// it grows with each further attempt. 0 means 10 s.
	WebhookDelay time.Duration

	Launcher Launcher    // starts sessions; nil: processes. For tests.
	crash    func() bool // see store.Options
}

// OpenAIDefaults fill the profile "openai" when it is made for the first time.
type OpenAIDefaults struct{ BaseURL, Model, KeyEnv string }

// ClaudeDefaults apply to profiles of the claude harness that leave them empty.
type ClaudeDefaults struct {
	Model, PermissionMode string
	MaxTurns              int
}

// Launcher starts sessions. Two exist: processes, and the in-memory one of tests.
type Launcher interface {
	Launch(ctx context.Context, slug string, t plugin.Task, saved func(attach []byte) error) (plugin.Session, error)
	Reattach(ctx context.Context, attach []byte) (plugin.Session, error)
	Check(ctx context.Context, slug string, p plugin.Profile, connect bool) (plugin.Report, error)
	Scan(ctx context.Context) []harness.Found
	Found() []harness.Found
	Sweep(ctx context.Context, keep func(run string) bool) error
	Detach()
	Kill()
	Close()
}

// Engine runs plans. Make one with Open.
type Engine struct {
	opts     Options
	log      *slog.Logger
	store    *store.Store
	launcher Launcher
	hub      *hub
	desk     *desk
	courier  *courier
	server   plan.Server
	shadow   *shadow.Repo // nil with NoSnapshots
	noGit    sync.Once

	mu       sync.Mutex
	agentURL func(token string) string // set once the server listens
	port     int
	baseURL  string
	hidden   []string // words that no export may have
	live     map[plan.RunID]*session
	checks   map[int64]*runningCheck // by judgement
	stopping bool                    // no new runs
	ending   chan struct{}           // closed when no new runs may begin
	looked   chan struct{}           // closed when harnesses were looked for
	runs     sync.WaitGroup
}

// Open opens the database, brings it up to date and rebuilds what is known of
// started plans. Nothing runs until Run is called.
func Open(ctx context.Context, o Options) (*Engine, error) {
	o = withDefaults(o)
	e := &Engine{opts: o, log: o.Log, hub: newHub(), live: map[plan.RunID]*session{},
		checks: map[int64]*runningCheck{}, ending: make(chan struct{}), looked: make(chan struct{})}
	e.courier = newCourier(e)
	s, err := store.Open(ctx, store.Options{Path: o.DB, Now: o.Now, Published: e.published, Crash: o.crash})
	if err != nil {
		return nil, err
	}
	e.store, e.hub.store = s, s
	if err := e.prepare(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if !o.NoSnapshots {
		if e.shadow, err = shadow.Open(o.DataDir, shadow.Options{}); err != nil {
			s.Close()
			return nil, err
		}
	}
	if e.launcher = o.Launcher; e.launcher == nil {
		e.launcher = harness.New(harness.Options{Dirs: o.HarnessDirs, DataDir: o.DataDir, Supervisor: o.Supervisor,
			PassEnv: o.PassEnv, OrphanAfter: o.OrphanAfter, Log: o.Log})
	}
	return e, nil
}

func withDefaults(o Options) Options {
	if o.DataDir == "" {
		o.DataDir = filepath.Dir(o.DB)
	}
	if o.WorkDir == "" {
		o.WorkDir = filepath.Join(o.DataDir, "workspace")
	}
	if o.MaxConcurrency == 0 {
		o.MaxConcurrency = 3
	}
	if o.DefaultCapability == "" {
		o.DefaultCapability = "full"
	}
	if o.MaxNodes == 0 {
		o.MaxNodes = 50_000
	}
	if o.PlannerMaxNodes == 0 {
		o.PlannerMaxNodes = plannerMaxNodes
	}
	if o.RetryDelay == 0 {
		o.RetryDelay = 2 * time.Second
	}
	if o.WebhookDelay == 0 {
		o.WebhookDelay = usualDeliveryDelay
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// prepare makes sure of the profiles, settles what an earlier process left and
// fills the board.
func (e *Engine) prepare(ctx context.Context) error {
	if err := plan.Choice("default capability", e.opts.DefaultCapability, plan.Capabilities); err != nil {
		return err
	}
	if err := e.ensureProfiles(ctx); err != nil {
		return err
	}
	var err error
	if e.server, err = e.serverDefaults(ctx); err != nil {
		return err
	}
	if err := e.hub.start(ctx); err != nil {
		return err
	}
	e.desk = newDesk(plan.NewBoard(plan.Limits{MaxConcurrency: e.opts.MaxConcurrency,
		DefaultProfile: e.server.DefaultProfile}))
	return e.loadBoard(ctx)
}

// published hears of every commit, in order.
func (e *Engine) published(changes []plan.Change) {
	if e.desk != nil { // nil while Open prepares
		e.desk.apply(changes)
	}
	e.hub.publish(changes)
	e.courier.heard(changes)
}

// SetAddress tells the engine where its server listens: its port, and how the
// scoped endpoint of a run's token is reached. Runs that start before have no
// Clearbox tools.
func (e *Engine) SetAddress(port int, agentURL func(token string) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.port, e.agentURL = port, agentURL
}

// SetPublicURL tells the engine where people reach its server, for links that
// leave it.
func (e *Engine) SetPublicURL(base string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.baseURL = base
}

func (e *Engine) publicURL() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.baseURL
}

func (e *Engine) address() (int, func(string) string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.port, e.agentURL
}

// Run runs started plans until ctx ends. It returns when nothing of it is at
// work any more; what to do with running agents is for Shutdown to say, which
// has to be called before ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.recoverRuns(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("recover runs: %w", err)
	}
	e.runs.Go(func() { e.prune(ctx) })
	e.runs.Go(func() { e.courier.run(ctx) })
	e.schedule(ctx)
	e.runs.Wait()
	return nil
}

// OnExit says what happens to running agents when the server ends.
type OnExit string

// The ways to leave.
const (
	ExitStop   OnExit = "stop"   // they are ended, their steps go back to pending
	ExitDetach OnExit = "detach" // they work on; the next server finds them again
)

// Shutdown lets no run begin any more and stops or detaches those that are open.
// It returns when that is done or ctx ends.
func (e *Engine) Shutdown(ctx context.Context, how OnExit) error {
	e.mu.Lock()
	if !e.stopping {
		close(e.ending)
	}
	e.stopping = true
	open := make([]*session, 0, len(e.live))
	for _, s := range e.live {
		open = append(open, s)
	}
	e.mu.Unlock()
	if how == ExitDetach {
		for _, s := range open { // first: who follows one must not take it for lost
			s.detach()
		}
		e.launcher.Detach()
	} else {
		for _, s := range open {
			e.askToStop(ctx, s, causeShutdown)
		}
	}
	for _, s := range open {
		select {
		case <-s.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Kill has the agents killed that this server has not let go of, without waiting
// for it or recording it: for a server that has to end at once. The next one
// settles their runs.
func (e *Engine) Kill() { e.launcher.Kill() }

// CloseStreams ends all subscriptions. An HTTP server needs it to end while
// streams are open.
func (e *Engine) CloseStreams() { e.hub.close() }

// Close lets go of harness processes and of the database. Run must have returned.
func (e *Engine) Close() error {
	e.hub.close()
	e.launcher.Close()
	var err error
	if e.shadow != nil {
		err = e.shadow.Close()
	}
	return errors.Join(err, e.store.Close())
}

// prune forgets old changes once in a while; streams that ask for older ones are
// told to start over.
func (e *Engine) prune(ctx context.Context) {
	const keepFor, keep, every = 7 * 24 * time.Hour, 200_000, 30 * time.Minute
	for {
		before := plan.StampOf(e.opts.Now().Add(-keepFor))
		err := e.store.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.PruneChanges(before, keep)
			return err
		})
		if err != nil && ctx.Err() == nil {
			e.log.Error("prune changes", "err", err)
		}
		e.retain(ctx)
		e.dropPatches(ctx)
		e.pruneSnapshots(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}
