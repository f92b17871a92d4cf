package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// session is an open run of this process: its agent, and what was asked of it.
type session struct {
	run  *plan.Run
	root plan.PlanID
	url  string        // of the run's Clearbox tools; kept with Options.Mock only
	done chan struct{} // closed when the end is recorded

	mu       sync.Mutex
	conn     plugin.Session
	cause    string  // why it was asked to stop; "" when it was not
	word     *string // the result that a person gave who marked the step done
	detached bool

	lastHeard time.Time
	asking    int  // questions that wait for a person
	stalled   bool // silent for so long that it was said

	leave  context.CancelFunc // stops following, not the agent
	giveUp context.CancelFunc // ends the start of the agent
}

func newSession(run *plan.Run, root plan.PlanID) *session {
	return &session{run: run, root: root, done: make(chan struct{})}
}

// enlist makes an open run known to those who stop runs.
func (e *Engine) enlist(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live[s.run.ID] = s
}

// say keeps the result that a person gave. It always reports true.
func (s *session) say(word *string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.word = word
	return true
}

func (s *session) said() *string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.word
}

func (e *Engine) dismiss(s *session) {
	e.mu.Lock()
	delete(e.live, s.run.ID)
	e.mu.Unlock()
	close(s.done)
}

// starting says how the start of the agent can be given up, which a stop does.
func (s *session) starting(giveUp context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveUp = giveUp
	if s.cause != "" {
		giveUp()
	}
}

// connect gives a session its agent. It reports why the run was asked to stop
// meanwhile, "" when it was not.
func (s *session) connect(conn plugin.Session, leave context.CancelFunc) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.leave = conn, leave
	if s.detached {
		leave()
	}
	return s.cause
}

// detach stops following an agent without ending it.
func (s *session) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detached = true
	if s.leave != nil {
		s.leave()
	}
}

func (s *session) stopCause() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

func (s *session) isDetached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.detached
}

// askToStop notes why a run is to end, so that a crash does not forget it, and
// asks its agent to stop. It does not wait.
func (e *Engine) askToStop(ctx context.Context, s *session, cause string) {
	s.mu.Lock()
	first := s.cause == ""
	if first || cause == causeStopped {
		s.cause = cause
	}
	conn := s.conn
	if conn == nil && s.giveUp != nil {
		s.giveUp()
	}
	s.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	err := e.store.Write(ctx, func(tx *store.Tx) error { return tx.SetStopping(s.run.ID, cause) })
	if err != nil {
		e.log.Error("note that a run stops", "step", s.run.Ref(), "err", err)
	}
	if conn == nil {
		return // it is given up, or told as soon as it is connected
	}
	if err := conn.Stop(ctx); err != nil && !errors.Is(err, plugin.ErrLost) {
		e.log.Warn("stop agent", "step", s.run.Ref(), "err", err)
	}
}

// stopRuns asks the agents of some open runs to stop and waits until their ends
// are recorded.
func (e *Engine) stopRuns(ctx context.Context, cause string, which func(*session) bool) error {
	e.mu.Lock()
	var stop []*session
	for _, s := range e.live {
		if which(s) {
			stop = append(stop, s)
		}
	}
	e.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range stop {
		all.Go(func() { e.askToStop(ctx, s, cause) })
	}
	all.Wait()
	for _, s := range stop {
		select {
		case <-s.done:
		case <-ctx.Done():
			return plan.Errorf(plan.Unavailable, "the agents are being stopped; this takes a few seconds")
		}
	}
	return nil
}

// follow takes in what an agent tells until its run ends, and records the end.
func (e *Engine) follow(ctx context.Context, s *session, conn plugin.Session, after int64) {
	inner, leave := context.WithCancel(ctx)
	defer leave()
	if s.connect(conn, leave) != "" {
		if err := conn.Stop(inner); err != nil && !errors.Is(err, plugin.ErrLost) {
			e.log.Warn("stop agent", "step", s.run.Ref(), "err", err)
		}
	}
	s.heard(e.opts.Now())
	var watch sync.WaitGroup
	watch.Go(func() { e.watchSilence(inner, s) })
	result, err := conn.Follow(inner, after, &sink{e: e, s: s})
	leave()
	watch.Wait()
	if s.isDetached() && err != nil {
		return // the next server goes on from here
	}
	e.finish(ctx, s, result, err)
	if err := conn.Close(); err != nil && !errors.Is(err, plugin.ErrLost) {
		e.log.Warn("close agent", "step", s.run.Ref(), "err", err)
	}
}
