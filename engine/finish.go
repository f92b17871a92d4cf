package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/harness"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// maxInterruptions is how often a step may lose its agent before it fails.
const maxInterruptions = 3

// finish records how a run ended, and takes its step on: in one change.
func (e *Engine) finish(ctx context.Context, s *session, result plugin.Result, lost error) {
	var after *shot
	if s.run.Kind == plan.RunStep {
		after = e.after(ctx, s.run.ID)
	}
	var then func() // what begins once the end is stored
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		run, err := tx.Run(s.run.ID)
		if plan.KindOf(err) == plan.NotFound || err == nil && !run.Open() {
			return nil // it was ended from here
		}
		if err != nil {
			return err
		}
		f := &ending{e: e, run: run, after: after, result: result, lost: lost, cause: s.stopCause(), word: s.said()}
		if f.cause == "" && run.Stopping {
			f.cause = run.Cause
		}
		if isReview(run.Kind) {
			then = func() { e.settleIsolated(ctx, run.Ref()) }
			return e.finishReview(tx, f)
		}
		if run.Kind == plan.RunPlanner {
			then, err = e.finishPlanner(tx, f)
			return err
		}
		if f.m, f.n, err = moverAt(tx, run.Ref()); err != nil {
			return err
		}
		if err := f.record(); err != nil {
			return err
		}
		if run.Worktree != "" {
			then = func() { e.settleIsolated(ctx, run.Ref()) }
			if f.cause == causeMarkedDone { // whoever marked it waits for its work to be there
				then = func() { e.applyNow(ctx, run.Ref()) }
			}
		}
		return nil
	})
	if err != nil {
		e.log.Error("record the end of a run", "step", s.run.Ref(), "err", err)
		return
	}
	if then != nil {
		then()
	}
}

// ending is the end of one run on its way into the database.
type ending struct {
	e      *Engine
	m      *mover
	n      *plan.Node // nil when the run is no attempt at a step
	run    *plan.Run
	result plugin.Result
	lost   error
	cause  string  // why it was asked to stop
	word   *string // the result that a person gave
	after  *shot
}

func (f *ending) record() error {
	finished := f.lost == nil && !f.result.IsError
	switch {
	case f.cause != "" && !(finished && f.cause != causeStopped && f.cause != causeMarkedDone):
		return f.stopped()
	case f.lost != nil:
		return f.interrupted(f.scrubbed(f.lostText()))
	case f.result.RateLimited:
		return f.limited()
	case f.result.IsError && f.result.Transient:
		return f.interrupted(f.errorText())
	case f.result.IsError:
		return f.failed()
	}
	return f.done()
}

// close ends the run and writes its last line.
func (f *ending) close(o plan.Outcome, cause string) error {
	r := f.result
	if f.lost == nil {
		f.run.Result, f.run.CostUSD, f.run.NumTurns = &r.Text, r.CostUSD, r.NumTurns
		if f.run.TokensIn == nil {
			f.run.TokensIn, f.run.TokensOut = r.TokensIn, r.TokensOut
		}
		if r.SessionID != "" {
			f.run.SessionID = r.SessionID
		}
		if r.Model != "" {
			f.run.Model = r.Model
		}
		if f.n != nil {
			f.n.SessionID = f.run.SessionID
			f.n.CostUSD, f.n.TokensIn, f.n.TokensOut = r.CostUSD, f.run.TokensIn, f.run.TokensOut
		}
	} else {
		r = plugin.Result{IsError: true, Subtype: "error_interrupted", Errors: []string{cause}, Text: cause, SessionID: f.run.SessionID}
	}
	if f.n != nil {
		if err := f.after.keep(f.m.tx, f.m.root.ID, f.n, f.run); err != nil {
			return err
		}
	}
	if err := endRun(f.m.tx, f.m.root.ID, f.run, o, cause); err != nil {
		return err
	}
	data := plugin.ResultEvent(r).Data
	if isReview(f.run.Kind) {
		data = marked(data)
	}
	return f.m.tx.Note(f.m.root.ID, f.run.Ref(), f.run.ID, plugin.KindResult, data)
}

func (f *ending) done() error {
	if err := f.close(plan.OutcomeDone, ""); err != nil {
		return err
	}
	return f.m.finishOwn(f.n, f.result.Text, f.run)
}

func (f *ending) failed() error {
	text := f.errorText()
	if err := f.close(plan.OutcomeFailed, text); err != nil {
		return err
	}
	made, most := f.n.Attempts+1-f.n.AttemptsBefore, attemptsAllowed(f.m.root, f.n)
	if live, err := f.m.live(f.n.PlanID); err != nil {
		return err
	} else if made >= most || !live || f.n.Subplan != 0 {
		return f.m.move(f.n, plan.Broke, func(n *plan.Node) { n.Error, n.AgentDone, n.Attempts = &text, true, n.Attempts+1 })
	}
	why := fmt.Sprintf("attempt %d of %d failed: %s", made, most, clip(text, maxBrief))
	brief, err := f.m.growBrief(f.n, "A"+why[1:], true)
	if err != nil {
		return err
	}
	if err := f.m.attempt(f.n, made+1, most, "a failure"); err != nil {
		return err
	}
	if err := f.m.move(f.n, plan.TriesAgain, func(n *plan.Node) { n.Attempts, n.ReworkBrief = n.Attempts+1, brief }); err != nil {
		return err
	}
	return f.m.again(f.n, why, f.e.opts.Now().Add(f.backOff(made)))
}

// maxBrief bounds what a further attempt is told of why one failed, in bytes.
const maxBrief = 4 << 10

// clip cuts a text to at most n bytes and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}

// attemptsAllowed is how often a step may be tried without a person asking.
func attemptsAllowed(root *plan.Plan, n *plan.Node) int {
	return max(1, cmp.Or(n.MaxAttempts, root.MaxAttempts))
}

// backOff is how long a step waits after its n-th mishap.
func (f *ending) backOff(n int) time.Duration {
	wait := f.e.opts.RetryDelay
	for range min(n, 5) - 1 {
		wait *= 4
	}
	return wait
}

// errorText is why an agent says that it failed.
func (f *ending) errorText() string {
	for _, s := range f.result.Errors {
		if s != "" {
			return s
		}
	}
	if f.result.Text != "" {
		return f.result.Text
	}
	return "the agent failed without a reason"
}

// stopped records a run that was asked to stop.
func (f *ending) stopped() error {
	switch f.cause {
	case causeStalled:
		return f.lose(plan.OutcomeStalled, f.cause)
	case causeBudget:
		return f.overLimit()
	}
	if err := f.close(plan.OutcomeStopped, f.cause); err != nil {
		return err
	}
	switch f.cause {
	case causeStopped:
		return f.m.move(f.n, plan.PersonStopped, func(n *plan.Node) { n.Error, n.AgentDone = ptr(causeStopped), true })
	case causeMarkedDone:
		return f.marked()
	}
	again := plan.StartPlan
	if f.cause == causeShutdown {
		again = plan.StartServer
	}
	if err := f.m.tx.SetStartCause(f.n.Ref(), again); err != nil {
		return err
	}
	if err := f.m.move(f.n, plan.PlanStopped, nil); err != nil || f.cause != causePlanStopped {
		return err
	}
	// The plan may have been started again meanwhile, by somebody else.
	return f.m.advance(f.n.PlanID, []plan.NodeID{f.n.ID})
}

// marked records that a person has marked the step done.
func (f *ending) marked() error {
	text, err := doneText(f.m.tx, f.n, f.word)
	if err != nil {
		return err
	}
	if f.run.Worktree != "" {
		return f.m.setPhase(f.n, plan.PhaseApplying, func(n *plan.Node) { n.Result, n.Error, n.AgentDone = &text, nil, true })
	}
	if f.n.Subplan != 0 { // made by the agent meanwhile
		return f.m.conclude(f.n, text)
	}
	return f.m.move(f.n, plan.PersonDid, func(n *plan.Node) { n.Result, n.Error, n.AgentDone = &text, nil, true })
}

// overLimit fails a step whose run used more than its agent may.
func (f *ending) overLimit() error {
	text := cmp.Or(overRunLimit(f.run), f.cause)
	if err := f.close(plan.OutcomeBudget, text); err != nil {
		return err
	}
	return f.m.move(f.n, plan.Broke, func(n *plan.Node) { n.Error, n.AgentDone = &text, true })
}

// limited sends a step back until its provider's limit is over. This is no failed
// attempt. One that has handed in its subplan whole has nothing to wait for.
func (f *ending) limited() error {
	until, err := f.keepLimit()
	if err != nil {
		return err
	}
	if err := f.close(plan.OutcomeLimited, f.errorText()); err != nil {
		return err
	}
	if err := f.m.tx.SetStartCause(f.n.Ref(), plan.StartLimit); err != nil {
		return err
	}
	live, err := f.m.live(f.n.PlanID)
	if err != nil {
		return err
	}
	goesOn, err := f.m.agentGoesOn(f.n)
	if err != nil {
		return err
	}
	if !live || f.n.Blockers > 0 || f.n.Subplan != 0 && !goesOn {
		if err := f.m.move(f.n, plan.PlanStopped, nil); err != nil {
			return err
		}
		return f.m.advance(f.n.PlanID, []plan.NodeID{f.n.ID})
	}
	return f.m.move(f.n, plan.LimitReached, func(n *plan.Node) {
		n.NotBefore, n.Phase = until, plan.PhaseLimit
	})
}

// interrupted records that a step lost its agent. It is run again after a while;
// when that happens too often it fails.
func (f *ending) interrupted(why string) error { return f.lose(plan.OutcomeInterrupted, why) }

func (f *ending) lose(o plan.Outcome, why string) error {
	if err := f.close(o, why); err != nil {
		return err
	}
	times := f.n.Interruptions + 1
	if times >= maxInterruptions {
		text := fmt.Sprintf("interrupted %d times; the last time: %s", times, why)
		return f.m.move(f.n, plan.Broke, func(n *plan.Node) { n.Error, n.Interruptions, n.AgentDone = &text, times, true })
	}
	if err := f.m.tx.SetStartCause(f.n.Ref(), plan.StartLost+firstLine(why)); err != nil {
		return err
	}
	if err := f.m.move(f.n, plan.Interrupted, func(n *plan.Node) { n.Interruptions = times }); err != nil {
		return err
	}
	return f.m.again(f.n, "interrupted: "+why, f.e.opts.Now().Add(f.backOff(times)))
}

// again makes a step ready that has to be run again, from a moment on.
func (m *mover) again(n *plan.Node, why string, from time.Time) error {
	if err := m.say(n.Ref(), why); err != nil {
		return err
	}
	live, err := m.live(n.PlanID)
	if err != nil || !live || n.Blockers > 0 {
		return err
	}
	if again, err := m.agentGoesOn(n); err != nil {
		return err
	} else if n.Subplan != 0 && !again {
		return m.enter(n, plan.Entered)
	}
	return m.move(n, plan.Unblocked, func(n *plan.Node) { n.NotBefore = plan.StampOf(from) })
}

// scrubbed takes the agent's key out of a text that its process wrote. Who
// started the process does that too, but after a re-attachment does not know the
// key.
func (f *ending) scrubbed(text string) string {
	p, err := f.m.tx.Profile(f.run.Profile)
	if err != nil {
		return text // there is no profile any more, and so no key
	}
	secret, err := f.e.withSecret(f.m.tx, p)
	if err != nil || secret.Secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret.Secret, "[key removed]")
}

// lostText says in words how an agent was lost.
func (f *ending) lostText() string {
	var l *harness.Lost
	if !errors.As(f.lost, &l) {
		return f.lost.Error()
	}
	text := "the agent's process " + l.Exit
	if l.Stderr != "" {
		text += "; it said last: " + l.Stderr
	}
	return text
}
