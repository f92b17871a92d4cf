package enginetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/clearbox-go/clearbox/plugin"
)

// Yard is where agents work that outlive an engine, as processes do: engines
// whose launchers share one find each other's agents again.
type Yard struct {
	mu sync.Mutex
	at map[string]plugin.Session // by run
}

// NewYard returns a yard with nobody in it.
func NewYard() *Yard { return &Yard{at: map[string]plugin.Session{}} }

func (y *Yard) enter(run string, s plugin.Session) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.at[run] = s
}

func (y *Yard) find(run string) (plugin.Session, bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	s, ok := y.at[run]
	return s, ok
}

// end ends the agents that are not to be kept.
func (y *Yard) end(keep func(run string) bool) error {
	y.mu.Lock()
	var list []plugin.Session
	for run, s := range y.at {
		if !keep(run) {
			list = append(list, s)
			delete(y.at, run)
		}
	}
	y.mu.Unlock()
	var errs []error
	for _, s := range list {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Clear ends all agents, and returns when they have ended.
func (y *Yard) Clear() error { return y.end(func(string) bool { return false }) }

// Mortal is a launcher of one life of an engine.
type Mortal struct {
	Launcher
	yard *Yard
	dead atomic.Bool
}

// NewMortal returns a launcher whose agents work in a yard.
func NewMortal(y *Yard, agents map[string]Agent) *Mortal {
	return &Mortal{Launcher: Launcher{Agents: agents}, yard: y}
}

// Die ends this life without a word: nothing that its engine still does has any
// effect on its agents. They work on until the yard is cleared.
func (m *Mortal) Die() { m.dead.Store(true) }

// Launch starts a run: first the agent, then its address is kept, as with a process.
func (m *Mortal) Launch(_ context.Context, slug string, t plugin.Task, saved func([]byte) error) (plugin.Session, error) {
	a, ok := m.agent(slug)
	if !ok || m.dead.Load() {
		return nil, plugin.ErrLost
	}
	s := plugin.Local(harness{slug, a}, t)
	m.yard.enter(t.RunID, s)
	if err := saved([]byte(t.RunID)); err != nil {
		return nil, err // the next engine sweeps it away
	}
	return &distant{s, m, t.RunID}, nil
}

// Reattach finds an agent that an earlier engine has started.
func (m *Mortal) Reattach(_ context.Context, attach []byte) (plugin.Session, error) {
	s, ok := m.yard.find(string(attach))
	if !ok {
		return nil, plugin.ErrLost
	}
	return &distant{s, m, string(attach)}, nil
}

// Sweep ends the agents that nobody comes back to.
func (m *Mortal) Sweep(_ context.Context, keep func(string) bool) error {
	if m.dead.Load() {
		return nil
	}
	return m.yard.end(keep)
}

// distant is an agent as one engine sees it.
type distant struct {
	plugin.Session
	m   *Mortal
	run string
}

func (d *distant) Stop(ctx context.Context) error {
	if d.m.dead.Load() {
		return plugin.ErrLost
	}
	return d.Session.Stop(ctx)
}

func (d *distant) Close() error {
	if d.m.dead.Load() {
		return nil
	}
	return d.m.yard.end(func(run string) bool { return run != d.run })
}
