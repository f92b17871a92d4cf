package store

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// oldRun is a run that a transcript tells of.
type oldRun struct {
	plan.Run
	isError  bool   // its result says so
	ended    bool   // its result is there
	expanded bool   // it ended, and the subplan that it made goes on
	lastLine string // of that program's own
}

// hear takes what an entry tells of the run.
func (r *oldRun) hear(e *oldEvent, d *oldData) {
	r.FinishedAt = e.TS
	switch e.Kind {
	case plan.EventSystem:
		if d.SessionID != nil {
			r.SessionID = *d.SessionID
		}
		if d.Model != nil && *d.Model != "" {
			r.Model = *d.Model
		}
		r.lastLine = d.Text
		r.expanded = r.ended && strings.HasPrefix(d.Text, "agent finished; now executing the subplan")
	case oldResult:
		r.ended, r.isError = true, d.IsError
		text := d.Text
		if d.IsError && len(d.Errors) > 0 {
			text = cleaned(strings.Join(d.Errors, "; "))
		}
		r.Result, r.CostUSD, r.NumTurns = &text, d.CostUSD, max(d.NumTurns, 0)
		r.TokensIn, r.TokensOut = d.TokensIn, d.TokensOut
		if d.SessionID != nil {
			r.SessionID = *d.SessionID
		}
	case oldError:
		text := d.Text
		r.ended, r.isError, r.Result = true, true, &text
	}
}

// outcome says how the run ended, from the state that its step took with it.
func (r *oldRun) outcome(to plan.State) (plan.Outcome, string) {
	switch {
	case strings.HasPrefix(r.lastLine, "marked done by user"):
		return plan.OutcomeStopped, "marked done by a person"
	case to == plan.Failed && r.lastLine == "stopped by user":
		return plan.OutcomeStopped, r.lastLine
	case to == plan.Pending && strings.Contains(r.lastLine, "interrupted"):
		return plan.OutcomeInterrupted, "its server was started anew"
	case to == plan.Pending:
		return plan.OutcomeStopped, "the plan was stopped"
	case to == plan.Done || to != plan.Failed && !r.isError:
		return plan.OutcomeDone, ""
	case r.Result != nil:
		return plan.OutcomeFailed, *r.Result
	}
	return plan.OutcomeFailed, ""
}

// beginRun gives a run its number and name.
func (k *takeover) beginRun(r plan.Ref, p *past, run *oldRun, at plan.Stamp) {
	p.runs++
	b := make([]byte, 12)
	rand.Read(b) // never fails
	run.ID, run.PlanID, run.NodeID, run.Number = plan.RunID(hex.EncodeToString(b)), r.Plan, r.Node, p.runs
	run.StartedAt, run.FinishedAt = at, at
	k.out.Runs++
}

const insertOldRun = `INSERT INTO runs (id, plan_id, node_id, number, kind, outcome, cause, profile_id, agent_name, harness, model,
	capability, session_id, tokens_in, tokens_out, cost_usd, num_turns, result, started_at, finished_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const insertOldSpend = `INSERT INTO spend (root_id, plan_id, node_id, run_id, kind, profile_id, tokens_in, tokens_out, cost_usd, ts)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// endRun adds a run that is over, and what it used to the ledger.
func (k *takeover) endRun(p *past, run *oldRun, o plan.Outcome, cause string) error {
	run.Outcome, run.Cause = o, cause
	own := run.Kind == plan.RunStep || run.Kind == plan.RunExternal
	if own && (o == plan.OutcomeDone || o == plan.OutcomeFailed) {
		p.attempts++
	}
	r := &run.Run
	if _, err := k.t.exec("insert a run", insertOldRun, r.ID, r.PlanID, r.NodeID, r.Number, r.Kind, r.Outcome, r.Cause, r.Profile,
		r.AgentName, r.Harness, r.Model, r.Capability, r.SessionID, r.TokensIn, r.TokensOut, r.CostUSD, r.NumTurns, r.Result,
		r.StartedAt, r.FinishedAt); err != nil {
		return err
	}
	return k.spent(r)
}

// spent enters what a run used into the ledger, if that is known.
func (k *takeover) spent(r *plan.Run) error {
	if r.TokensIn == nil && r.TokensOut == nil && r.CostUSD == nil {
		return nil
	}
	_, err := k.t.exec("enter what a run spent", insertOldSpend, k.root(r.PlanID), r.PlanID, r.NodeID, r.ID, r.Kind, r.Profile,
		oldNumber(r.TokensIn), oldNumber(r.TokensOut), r.CostUSD, r.FinishedAt)
	return err
}

const lastRunTokens = `UPDATE runs SET tokens_in = ?, tokens_out = ? WHERE id = ?`

// endLast makes a step's last run agree with the step: that one alone has the
// tokens of a run that was cut short. A step whose transcript is gone gets a run
// for what its agent left.
func (k *takeover) endLast(p *past) error {
	n := p.node
	if p.last == nil {
		return k.rebuildRun(p)
	}
	run := p.last
	if run.Kind == plan.RunExternal || run.TokensIn != nil || n.TokensIn == nil && n.TokensOut == nil {
		return nil
	}
	run.TokensIn, run.TokensOut = n.TokensIn, n.TokensOut
	if _, err := k.t.exec("set the tokens of a run", lastRunTokens, run.TokensIn, run.TokensOut, run.ID); err != nil {
		return err
	}
	if run.CostUSD != nil {
		return nil // it is in the ledger
	}
	return k.spent(&run.Run)
}

// rebuildRun makes the run of a step of which only the end is known.
func (k *takeover) rebuildRun(p *past) error {
	n := p.node
	if n.AgentKind == nil || n.StartedAt == nil || n.Status != plan.Done && n.Status != plan.Failed {
		return nil
	}
	run := &oldRun{}
	run.Kind, run.AgentName, run.SessionID = plan.RunStep, textOf(n.AgentName), textOf(n.SessionID)
	if *n.AgentKind == string(plan.External) {
		run.Kind = plan.RunExternal
	} else {
		run.Profile = k.agents[run.AgentName]
	}
	run.Result, run.TokensIn, run.TokensOut = n.now.Result, n.TokensIn, n.TokensOut
	k.beginRun(n.now.Ref(), p, run, oldMoment(n.StartedAt))
	run.FinishedAt = oldMoment(n.FinishedAt)
	p.last = run
	outcome, cause := run.outcome(n.Status)
	if n.Status == plan.Failed {
		cause = textOf(n.Error)
	}
	return k.endRun(p, run, outcome, cause)
}
