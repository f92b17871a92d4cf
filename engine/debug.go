package engine

import (
	"context"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Mock reports whether this engine plays agents, and may tell tests more than a
// real one.
func (e *Engine) Mock() bool { return e.opts.Mock }

// AgentURLOf returns where the agent that works on a node has its Clearbox
// tools; "" when none works on it, it has no tools, or another process started
// it. Only an engine with Options.Mock remembers it, for tests.
func (e *Engine) AgentURLOf(ctx context.Context, r plan.Ref) (string, error) {
	var n *plan.Node
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.Node(r)
		return err
	})
	if err != nil || !n.Working() {
		return "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.live[n.RunID]; s != nil && s.stopCause() == "" {
		return s.url, nil
	}
	return "", nil
}

// Attached reports whether this process has a run's agent at hand: what is said
// to it arrives now and not only once it is found again.
func (e *Engine) Attached(id plan.RunID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.live[id]
	return ok
}
