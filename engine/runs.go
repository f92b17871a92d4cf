package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Why runs end before their time. The texts are shown.
const (
	causeStopped     = "stopped by user"
	causePlanStopped = "the plan was stopped"
	causeMarkedDone  = "marked done by a person"
	causeShutdown    = "the server was stopped"
	causeStalled     = "its agent gave no sign of life"
	causeBudget      = "the agent's limit per run is used up"
	causeReplaced    = "another review was asked for, or nobody needs this one any more"
)

// newRunID makes a name for a run that will never come again. Names grow with
// time, so that the indexes over them grow at one end: each place in the middle
// would be a further page to write with each commit.
func newRunID() plan.RunID {
	return plan.RunID(fmt.Sprintf("%012x%s", time.Now().UnixMilli(), randomHex(6)))
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// newToken makes the bearer token of a run and what is stored of it.
func newToken() (token string, hash []byte) {
	b := make([]byte, 32)
	rand.Read(b)
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, hashToken(token)
}

func hashToken(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

// ActorOf returns whom a run's token stands for; NotFound when no open run has
// it. Comparing hashes leaks nothing about tokens that exist.
func (e *Engine) ActorOf(ctx context.Context, token string) (plan.Actor, error) {
	var a plan.Actor
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		run, err := tx.RunByToken(hashToken(token))
		if err != nil {
			return err
		}
		a = plan.Actor{Role: run.TokenRole, Run: run.ID, Ref: run.Ref()}
		return nil
	})
	return a, err
}

// endRun closes a run with all that belongs to it.
func endRun(tx *store.Tx, root plan.PlanID, run *plan.Run, o plan.Outcome, cause string) error {
	run.Outcome, run.Cause = o, cause
	if err := tx.EndRun(run); err != nil {
		return err
	}
	if run.Kind != plan.RunExternal { // nobody asks through those
		closed, err := tx.CloseQuestions(run.ID, "the run has ended")
		if err != nil {
			return err
		}
		if closed > 0 {
			if err := tx.Record(plan.Change{Root: root, Plan: run.PlanID, Node: run.NodeID, Kind: plan.ChangeQuestion}); err != nil {
				return err
			}
		}
	}
	return spend(tx, root, run)
}

// Runs returns the runs of a node, the first first.
func (e *Engine) Runs(ctx context.Context, r plan.Ref) ([]plan.Run, error) {
	var list []plan.Run
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if r.Node != 0 {
			if _, err := tx.Node(r); err != nil {
				return err
			}
		}
		if list, err = tx.Runs(r); err != nil {
			return err
		}
		for i := range list {
			if err := addBaseWriters(tx, &list[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// addBaseWriters notes who was writing when the copy of an isolated run was made.
func addBaseWriters(tx *store.Tx, run *plan.Run) error {
	if run.Worktree == "" {
		return nil
	}
	root, err := tx.RootOf(run.PlanID)
	if err == nil {
		run.BaseWriters, err = tx.BaseWriters(root, run.Worktree)
	}
	return err
}

// RunOf returns one run of a node with its prompt.
func (e *Engine) RunOf(ctx context.Context, r plan.Ref, number int) (*plan.Run, error) {
	var run *plan.Run
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if run, err = tx.RunByNumber(r, number); err != nil {
			return err
		}
		return addBaseWriters(tx, run)
	})
	return run, err
}

// Events returns part of a node's transcript: what comes after an event id, the
// oldest first, at most limit. The node must exist.
func (e *Engine) Events(ctx context.Context, r plan.Ref, after int64, limit int) ([]plan.Event, error) {
	var list []plan.Event
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.NodeEvents(r, after, limit)
		return err
	})
	return list, err
}

// EventsBefore returns the newest entries of a node's transcript before an event
// id (0: the end), the oldest of them first, at most limit.
func (e *Engine) EventsBefore(ctx context.Context, r plan.Ref, before int64, limit int) ([]plan.Event, error) {
	var list []plan.Event
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.NodeEventsBefore(r, before, limit)
		return err
	})
	return list, err
}

// RunEvents returns part of what one run of a node told, at most limit entries,
// the oldest first: those after an event id, or (after 0) the newest before one.
// Before 0 means the end.
func (e *Engine) RunEvents(ctx context.Context, run *plan.Run, after, before int64, limit int) ([]plan.Event, error) {
	var list []plan.Event
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if after > 0 {
			list, err = tx.RunEvents(run, after, before, limit)
		} else {
			list, err = tx.RunEventsBefore(run, before, limit)
		}
		return err
	})
	return list, err
}
