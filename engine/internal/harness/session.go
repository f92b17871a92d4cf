package harness

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

const (
	// askFor is how long a run may take to end by itself after it was asked to,
	// before the signals come.
	askFor = 200 * time.Millisecond

	releaseWithin = time.Second
	leaveWithin   = 2 * time.Second // of a harness whose run is over

	// silentFor is how long a harness may be out of reach before it is taken for
	// hung rather than ended: its supervisor reports an end within this.
	silentFor = 1500 * time.Millisecond
)

// Session is one run in a process of its own: what Launch and Reattach return.
// It is safe for concurrent use; one Follow at a time makes sense.
type Session struct {
	m     *Manager
	p     *process
	inner plugin.Session

	over     chan struct{} // closed when Follow has returned the result
	overOnce sync.Once
	stopOnce sync.Once
	closing  sync.Once
	closeErr error
}

func (m *Manager) newSession(p *process, inner plugin.Session) *Session {
	return &Session{m: m, p: p, inner: inner, over: make(chan struct{})}
}

// Follow implements [plugin.Session]. When the harness is gone it returns a
// [*Lost]; by then all of its descendants are gone too. A harness that hangs, or
// closed its connection, is killed. After [Manager.Detach] it returns
// [ErrDetached].
func (s *Session) Follow(ctx context.Context, after int64, sink plugin.Sink) (plugin.Result, error) {
	res, err := s.inner.Follow(ctx, after, sink)
	switch {
	case err == nil:
		s.overOnce.Do(func() { close(s.over) })
		return res, nil
	case ctx.Err() != nil:
		return plugin.Result{}, err
	case s.p.isDetached():
		return plugin.Result{}, ErrDetached
	case !errors.Is(err, plugin.ErrLost):
		return plugin.Result{}, err
	}
	return plugin.Result{}, s.lost()
}

// lost waits for the end of a harness that is out of reach, or makes it.
func (s *Session) lost() error {
	hung := !s.p.wait(silentFor)
	if hung {
		s.p.kill()
	}
	if s.p.isDetached() {
		return ErrDetached
	}
	l := s.p.ending().lost()
	if hung {
		l.Exit = "did not answer any more, and was ended: " + l.Exit
	}
	return l
}

// Stop implements [plugin.Session]: it returns at once, and the run ends within
// about 4 s. The harness is asked, then its whole tree gets SIGTERM, and after
// 4 s SIGKILL. Follow returns the result if the harness still gives one, else a
// [*Lost].
func (s *Session) Stop(context.Context) error {
	if s.p.isDetached() {
		return ErrDetached
	}
	var err error
	s.stopOnce.Do(func() { err = s.m.spawn(s.bringToEnd) })
	return err
}

// bringToEnd goes down the ladder until the run is over.
func (s *Session) bringToEnd() {
	ctx, cancel := context.WithTimeout(context.Background(), askFor)
	defer cancel()
	_ = s.inner.Stop(ctx) // one that does not listen is told otherwise
	select {
	case <-s.over:
		return
	case <-s.p.link.gone:
		return
	case <-ctx.Done():
	}
	s.p.link.stop(stopTerm)
	last := time.NewTimer(killAfter + endWithin)
	defer last.Stop()
	select {
	case <-s.over:
	case <-s.p.link.gone:
	case <-last.C:
		s.p.kill()
	}
}

// Close implements [plugin.Session]. It ends the process if it has not ended
// yet, waits until all of its descendants are gone, and removes the run folder.
// After a result that takes some milliseconds, in the middle of a run up to
// about 4 s. After [Manager.Detach] it does nothing.
func (s *Session) Close() error {
	s.closing.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Session) close() error {
	if s.p.isDetached() {
		return nil
	}
	s.release()
	s.p.disconnect()
	if s.isOver() {
		s.p.wait(leaveWithin)
	} else if !s.p.wait(askFor) {
		s.p.link.stop(stopTerm)
		s.p.wait(killAfter + time.Second)
	}
	return s.m.discard(s.p)
}

// release tells the harness that nobody will come back, which stops the run and
// lets the process end.
func (s *Session) release() {
	released := make(chan struct{})
	err := s.m.spawn(func() {
		defer close(released)
		_ = s.inner.Close() // ends at the latest when we disconnect
	})
	if err != nil {
		return
	}
	t := time.NewTimer(releaseWithin)
	defer t.Stop()
	select {
	case <-released:
	case <-s.p.link.gone:
	case <-t.C:
	}
}

func (s *Session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}
