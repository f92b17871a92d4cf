package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/internal/prompt"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// startPlanner has a plan planned, in the background. why says what for.
func (e *Engine) startPlanner(ctx context.Context, id plan.PlanID, why string) {
	e.spawn(func() { e.runPlanner(context.WithoutCancel(ctx), id, why) })
}

// runPlanner runs one session of the planner of a plan.
func (e *Engine) runPlanner(ctx context.Context, id plan.PlanID, why string) {
	if e.awaitScan(ctx) != nil {
		return // the server ends; the next one goes on
	}
	a, err := e.assignPlanner(ctx, id)
	if err == nil {
		s := newSession(&a.run, id)
		a.run.StartCause = why
		e.enlist(s)
		defer e.dismiss(s)
		if err = e.beginPlanner(ctx, a); err == nil {
			e.launch(ctx, s, a)
			return
		}
	}
	if plan.KindOf(err) == plan.NotFound || plan.KindOf(err) == plan.Conflict {
		return // it was deleted or decided meanwhile
	}
	err = e.store.Write(ctx, func(tx *store.Tx) error { return planningFailed(tx, id, plan.MessageOf(err)) })
	if err != nil {
		e.log.Error("give up planning", "plan", id, "err", err)
	}
}

// assignPlanner works out who plans, and what they are told.
func (e *Engine) assignPlanner(ctx context.Context, id plan.PlanID) (*assignment, error) {
	a := &assignment{}
	var p *plan.Profile
	var in prompt.PlannerInput
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		if a.root, err = tx.Plan(id); err != nil {
			return err
		}
		g, err := tx.Goal(id)
		if err != nil || g == nil {
			return errors.Join(err, plan.Errorf(plan.NotFound, "plan %d has no goal", id))
		}
		if p, err = tx.Profile(g.Planner); err != nil {
			return plan.Errorf(plan.Unavailable, "the agent that plans was deleted: make a new plan from the goal with another one")
		}
		if a.task.Profile, err = e.withSecret(tx, p); err != nil {
			return err
		}
		in, err = plannerInput(tx, g)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := e.canRun(a.root, p); err != nil {
		return nil, err
	}
	_, url := e.address()
	in.MaxNodes, in.Tools = e.opts.PlannerMaxNodes, url != nil && !e.opts.NoAgentMCP && e.offersTools(p.Harness)
	a.run.Prompt = prompt.Planner(in)
	e.cast(a, plan.RunPlanner, plan.Ref{Plan: id}, plan.Agent{Profile: p, Capability: "read", CapabilitySource: plan.FromDefault})
	if in.Tools {
		var token string
		token, a.run.TokenHash = newToken()
		a.run.TokenRole, a.task.MCPURL = plan.Planner, url(token)
	}
	a.run.System = prompt.PlannerSystem(in)
	a.task.Title, a.task.System = "Plan: "+a.root.Title, a.run.System
	return a, nil
}

// offersTools reports whether agents of a harness can call our tools.
func (e *Engine) offersTools(slug string) bool {
	for _, f := range e.launcher.Found() {
		if f.Slug == slug {
			return f.Info.Features.MCP
		}
	}
	return false
}

// plannerInput gathers what a planner has to know: the plan as people left it, and
// everything that they asked for.
func plannerInput(tx *store.Tx, g *plan.Goal) (prompt.PlannerInput, error) {
	in := prompt.PlannerInput{Goal: g.Text, Constraints: g.Constraints, Problems: g.Problems}
	all, err := tx.Revisions(g.PlanID)
	if err != nil {
		return in, err
	}
	for _, r := range all {
		if r.Feedback != "" {
			in.Feedback = append(in.Feedback, r.Feedback)
		}
	}
	if g.Feedback != "" {
		in.Feedback = append(in.Feedback, g.Feedback)
	}
	if len(all) == 0 {
		return in, nil
	}
	last, err := tx.Revision(g.PlanID, all[len(all)-1].Number)
	if err != nil {
		return in, err
	}
	var stood ProposalIn
	if err := json.Unmarshal([]byte(last.Proposal), &stood); err != nil {
		return in, fmt.Errorf("read revision %d of plan %d: %w", last.Number, g.PlanID, err)
	}
	pretty, err := json.MarshalIndent(forPlanner(stood), "", " ")
	in.Proposal = string(pretty)
	return in, err
}

// beginPlanner records that a planner is at work.
func (e *Engine) beginPlanner(ctx context.Context, a *assignment) error {
	return e.store.Write(ctx, func(tx *store.Tx) error {
		p, err := tx.Plan(a.run.PlanID)
		if err != nil {
			return err
		}
		if p.Approval != plan.Planning {
			return plan.Errorf(plan.Conflict, "plan %d is no longer being planned", p.ID)
		}
		if err := noPlannerOf(tx, p.ID); err != nil {
			return err
		}
		if err := tx.InsertRun(&a.run); err != nil {
			return err
		}
		a.task.Attempt = a.run.Number
		if err := tx.Note(p.ID, a.run.Ref(), a.run.ID, plan.EventSystem, startData{
			Text: fmt.Sprintf("planned by %s (%s)", a.agent.Name, a.agent.Harness), Agent: a.agent}); err != nil {
			return err
		}
		return recordPlan(tx, p.ID, false)
	})
}

// noPlannerOf refuses a second planner of a plan: one that was asked for while the
// server starts is found again among those that it has to go on with.
func noPlannerOf(tx *store.Tx, id plan.PlanID) error {
	runs, err := tx.Runs(plan.Ref{Plan: id})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(runs, func(r plan.Run) bool { return r.Kind == plan.RunPlanner && r.Open() }) {
		return plan.Errorf(plan.Conflict, "plan %d is being planned already", id)
	}
	return nil
}

// finishPlanner records how a planner's session ended. Where that was not with a
// plan, then has it go on.
func (e *Engine) finishPlanner(tx *store.Tx, f *ending) (then func(), err error) {
	if f.m, err = newMover(tx, f.run.PlanID); err != nil {
		return nil, err
	}
	id, planning := f.run.PlanID, f.m.root.Approval == plan.Planning
	switch {
	case f.cause != "" && f.cause != causeStalled:
		return nil, f.close(plan.OutcomeStopped, f.cause) // after a shutdown the next server begins anew
	case !planning && f.lost == nil:
		return nil, f.close(plan.OutcomeDone, "")
	case f.lost == nil && f.result.RateLimited:
		until, err := f.keepLimit()
		if err != nil {
			return nil, err
		}
		return func() { e.planLater(id, until.Time().Sub(e.opts.Now()), plan.StartLimit) }, f.close(plan.OutcomeLimited, f.errorText())
	case f.lost != nil || f.result.Transient || f.cause == causeStalled:
		return e.plannerLost(tx, f, planning)
	case f.result.IsError:
		return nil, errors.Join(f.close(plan.OutcomeFailed, f.errorText()), planningFailed(tx, id, f.errorText()))
	}
	if err := f.close(plan.OutcomeDone, ""); err != nil {
		return nil, err
	}
	return e.takeReply(tx, id, f.result.Text)
}

// plannerLost has a plan planned again whose planner was lost, a few times.
func (e *Engine) plannerLost(tx *store.Tx, f *ending, planning bool) (then func(), err error) {
	why := f.cause
	if f.lost != nil {
		why = f.scrubbed(f.lostText())
	} else if why == "" {
		why = f.errorText()
	}
	if err := f.close(plan.OutcomeInterrupted, why); err != nil || !planning {
		return nil, err
	}
	runs, err := tx.Runs(f.run.Ref())
	if err != nil {
		return nil, err
	}
	lost := 0
	for i := len(runs) - 1; i >= 0 && runs[i].Outcome == plan.OutcomeInterrupted; i-- {
		lost++
	}
	if lost >= maxInterruptions {
		return nil, planningFailed(tx, f.run.PlanID, fmt.Sprintf("the planner was lost %d times; the last time: %s", lost, why))
	}
	return func() { e.planLater(f.run.PlanID, f.backOff(lost), cutOffBy(f.run)) }, nil
}

// planLater plans again after a while.
func (e *Engine) planLater(id plan.PlanID, wait time.Duration, why string) {
	e.spawn(func() {
		if e.pause(wait) {
			e.runPlanner(context.Background(), id, why)
		}
	})
}

// pause waits, unless the engine ends meanwhile.
func (e *Engine) pause(d time.Duration) bool {
	select {
	case <-time.After(max(d, 0)):
		return true
	case <-e.ending:
		return false
	}
}

// takeReply takes the plan from a planner's last message, where it did not hand one
// in by its tool. Faults go back to it, at most maxRepairs times.
func (e *Engine) takeReply(tx *store.Tx, id plan.PlanID, reply string) (then func(), err error) {
	in, err := parseProposal(reply)
	if err == nil {
		err = e.propose(tx, id, in)
	}
	if err == nil || plan.KindOf(err) == plan.Internal {
		return nil, err
	}
	g, gone := tx.Goal(id)
	if gone != nil {
		return nil, gone
	}
	g.Problems, g.Rounds = problemsOf(err), g.Rounds+1
	if err := tx.SaveGoal(g); err != nil {
		return nil, err
	}
	if g.Rounds > maxRepairs {
		return nil, planningFailed(tx, id, g.Problems...)
	}
	again := func() { e.planLater(id, 0, plan.StartRefused+firstLine(g.Problems[0])) }
	return again, tx.Note(id, plan.Ref{Plan: id}, "", plan.EventSystem, textData{"the proposal was refused and goes back to the planner: " + plan.MessageOf(err)})
}

// parseProposal reads the last JSON object of a reply.
func parseProposal(reply string) (ProposalIn, error) {
	var in ProposalIn
	object := plan.LastObject(reply)
	if object == "" {
		return in, plan.Errorf(plan.Invalid, "no plan was handed in: the reply has no JSON object")
	}
	d := json.NewDecoder(strings.NewReader(object))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, plan.Errorf(plan.Invalid, "the plan does not parse: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return in, nil
}

// problemsOf takes the list of a refusal apart.
func problemsOf(err error) []string {
	var out []string
	for line := range strings.SplitSeq(plan.MessageOf(err), "\n") {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			out = append(out, item)
		}
	}
	if out == nil {
		out = []string{plan.MessageOf(err)}
	}
	return out
}

// planningFailed leaves a plan to a person, with what went wrong.
func planningFailed(tx *store.Tx, id plan.PlanID, problems ...string) error {
	p, err := tx.Plan(id)
	if err != nil || p.Approval != plan.Planning {
		return err
	}
	g, err := tx.Goal(id)
	if err != nil {
		return err
	}
	g.Problems = problems
	if err := tx.SaveGoal(g); err != nil {
		return err
	}
	m := &mover{tx: tx, root: p}
	if err := m.say(plan.Ref{Plan: id}, "planning failed: "+strings.Join(problems, "; ")); err != nil {
		return err
	}
	if err := m.tell(NoticeWaiting, WaitsPlanning, nil, strings.Join(problems, "; ")); err != nil {
		return err
	}
	return m.setApproval(plan.PlanningFailed)
}

// resumePlanning goes on with plans whose planner an earlier process had begun and
// that nobody works on now.
func (e *Engine) resumePlanning(ctx context.Context, open []plan.Run) error {
	var ids []plan.PlanID
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		ids, err = tx.PlanningPlans()
		return err
	})
	busy := map[plan.PlanID]bool{}
	for _, r := range open {
		busy[r.PlanID] = busy[r.PlanID] || r.Kind == plan.RunPlanner
	}
	for _, id := range ids {
		if !busy[id] {
			e.startPlanner(ctx, id, plan.StartServer)
		}
	}
	return err
}
