package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/clearbox-go/clearbox/engine/internal/prompt"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// runReview runs one review that the board gave out, from launch to verdict.
func (e *Engine) runReview(ctx context.Context, id int64) {
	ctx = context.WithoutCancel(ctx)
	a, err := e.assignReview(ctx, id)
	if err != nil {
		e.cannotReview(ctx, id, err)
		return
	}
	s := newSession(&a.run, a.root.ID)
	e.enlist(s)
	defer e.dismiss(s)
	if err := e.beginReview(ctx, id, a); err != nil {
		if plan.KindOf(err) != plan.NotFound {
			e.log.Error("start review", "of", a.run.Ref(), "err", err)
			e.pause(e.opts.RetryDelay) // a disk that is full stays so for a while
		}
		e.desk.giveReviewBack(id) // if it is still there
		return
	}
	e.launch(ctx, s, a)
}

// assignReview works out who reviews, and what they are told.
func (e *Engine) assignReview(ctx context.Context, id int64) (*assignment, error) {
	a := &assignment{}
	dir := ""
	var p *plan.Profile
	var r *plan.Review
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		if r, err = tx.Review(id); err != nil {
			return err
		}
		if p, err = tx.Profile(r.Profile); err != nil {
			return plan.Errorf(plan.Unavailable, "the review agent was deleted: name another one")
		}
		if a.task.Profile, err = e.withSecret(tx, p); err != nil {
			return err
		}
		if a.root, err = tx.RootPlan(r.PlanID); err != nil {
			return err
		}
		if dir, err = e.judgedIn(tx, r, a.root); err != nil {
			return err
		}
		a.run.Prompt, err = reviewPrompt(tx, r, dir)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := e.canRun(a.root, p); err != nil {
		return nil, err
	}
	kind := plan.RunReview
	switch {
	case r.Kind == plan.KindJudge:
		kind = plan.RunJudge
	case r.NodeID == 0:
		kind = plan.RunPlanReview
	}
	e.cast(a, kind, r.Ref(), plan.Agent{Profile: p, Capability: plan.ReviewCapability(p), CapabilitySource: plan.FromDefault})
	a.task.WorkDir = dir
	port, _ := e.address()
	in := prompt.ReviewerInput{TestInstructions: a.root.TestInstructions, Port: port, OfPlan: r.NodeID == 0, Append: p.SystemAppend}
	if a.run.System = prompt.Reviewer(in); kind == plan.RunJudge {
		a.run.System = prompt.JudgeSystem(in)
	}
	a.task.Title, a.task.System = "Review of "+r.Ref().String(), a.run.System
	return a, nil
}

// judgedIn returns the folder that a reviewer looks at: the step's worktree while
// its work is not brought back.
func (e *Engine) judgedIn(tx *store.Tx, r *plan.Review, root *plan.Plan) (string, error) {
	dir := workDir(e.opts.WorkDir, root)
	if r.Kind != plan.KindJudge || e.shadow == nil {
		return dir, nil
	}
	run, err := tx.Run(r.JudgedRun)
	if err != nil || run.Worktree == "" {
		return dir, err
	}
	w, err := e.shadow.OpenWorktree(run.Worktree)
	return w.Dir, err
}

func reviewPrompt(tx *store.Tx, r *plan.Review, dir string) (string, error) {
	if r.NodeID == 0 {
		return planReviewPrompt(tx, r.PlanID)
	}
	in := prompt.ReviewInput{}
	var err error
	if in.Node, err = tx.Node(r.Ref()); err != nil {
		return "", err
	}
	if in.Root, err = tx.RootPlan(r.PlanID); err != nil {
		return "", err
	}
	diffs, err := tx.Diffs(in.Node.RunID)
	for _, d := range diffs {
		shown := prompt.Diff{Changed: prompt.Changed{Path: d.Path, How: string(d.Kind), Added: d.Added, Removed: d.Removed}, Text: d.Diff}
		if d.Declared {
			in.Diffs = append(in.Diffs, shown)
		} else {
			in.Undeclared = append(in.Undeclared, shown)
		}
	}
	if r.Kind == plan.KindJudge {
		return prompt.Judge(judgeInput(in, r, dir)), err
	}
	return prompt.Review(in), err
}

func planReviewPrompt(tx *store.Tx, id plan.PlanID) (string, error) {
	s, err := tx.Snapshot(id)
	if err != nil {
		return "", err
	}
	in := prompt.PlanReviewInput{Plan: s.Plan(id)}
	s.WalkFrom(id, func(n *plan.Node) {
		in.Steps = append(in.Steps, prompt.ReviewedStep{Node: n, Review: s.Reviews[n.Ref()]})
	})
	return prompt.PlanReview(in), nil
}

// beginReview records that a reviewer is at work.
func (e *Engine) beginReview(ctx context.Context, id int64, a *assignment) error {
	return e.store.Write(ctx, func(tx *store.Tx) error {
		r, err := tx.Review(id)
		if err != nil {
			return err
		}
		m, err := newMover(tx, r.PlanID)
		if err != nil {
			return err
		}
		if a.run.StartCause, err = reviewCause(tx, r, a.run.Kind); err != nil {
			return err
		}
		if err := tx.InsertRun(&a.run); err != nil {
			return err
		}
		a.task.Attempt = a.run.Number
		r.State, r.RunID, r.AgentName = plan.ReviewRunning, a.run.ID, a.run.AgentName
		if err := tx.UpdateReview(r); err != nil {
			return err
		}
		word := "review"
		if r.Kind == plan.KindJudge {
			word = "judged"
		}
		text := fmt.Sprintf("%s by %s (%s)", word, a.agent.Name, a.agent.Harness)
		if err := tx.Note(m.root.ID, r.Ref(), a.run.ID, plan.EventSystem, reviewData{text, a.agent, true}); err != nil {
			return err
		}
		return m.recordReview(r)
	})
}

type reviewData struct {
	Text   string    `json:"text"`
	Agent  agentData `json:"agent"`
	Review bool      `json:"review"`
}

// cannotReview records that no verdict could be formed, and why.
func (e *Engine) cannotReview(ctx context.Context, id int64, why error) {
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		r, err := tx.Review(id)
		if err != nil {
			return err
		}
		m, err := newMover(tx, r.PlanID)
		if err != nil {
			return err
		}
		return m.judged(r, plan.VerdictError, plan.MessageOf(why))
	})
	if err != nil && plan.KindOf(err) != plan.NotFound {
		e.log.Error("give up review", "review", id, "err", err)
		e.pause(e.opts.RetryDelay)
	}
	e.desk.giveReviewBack(id) // if it is still there
}

// judged ends a review without a reviewer's reply.
func (m *mover) judged(r *plan.Review, v plan.Verdict, summary string) error {
	r.Verdict, r.Summary, r.Findings = v, summary, nil
	return m.keepVerdict(r)
}

// keepVerdict stores the end of a review and does what follows from it.
func (m *mover) keepVerdict(r *plan.Review) error {
	r.State, r.CreatedAt = plan.ReviewDone, m.tx.Now()
	if r.Kind == plan.KindJudge {
		return m.gateError(r)
	}
	if err := m.tx.DropReviews(r.Ref(), r.Kind); err != nil {
		return err
	}
	if err := m.tx.UpdateReview(r); err != nil {
		return err
	}
	if err := m.recordReview(r); err != nil {
		return err
	}
	return m.reviewWhole()
}

// finishReview records how the run of a reviewer ended.
func (e *Engine) finishReview(tx *store.Tx, f *ending) error {
	m, err := newMover(tx, f.run.PlanID)
	if err != nil {
		return err
	}
	f.m = m
	r, err := tx.ReviewByRun(f.run.ID)
	if plan.KindOf(err) == plan.NotFound {
		return f.close(plan.OutcomeStopped, causeReplaced)
	}
	if err != nil {
		return err
	}
	again := func(o plan.Outcome, why string) error {
		r.State, r.RunID = plan.ReviewQueued, ""
		return errors.Join(f.close(o, why), tx.UpdateReview(r), m.recordReview(r))
	}
	switch {
	case f.cause == causeShutdown:
		return again(plan.OutcomeStopped, f.cause)
	case f.cause == causeBudget:
		return errors.Join(f.close(plan.OutcomeBudget, f.cause), m.judged(r, plan.VerdictError, f.cause))
	case f.cause != "" && f.cause != causeStalled:
		return errors.Join(f.close(plan.OutcomeStopped, f.cause), m.judged(r, plan.VerdictError, f.cause))
	case f.lost == nil && f.result.RateLimited:
		if _, err := f.keepLimit(); err != nil {
			return err
		}
		return again(plan.OutcomeLimited, f.errorText())
	case f.lost != nil || f.result.Transient || f.cause == causeStalled:
		return f.reviewerLost(r, again)
	case f.result.IsError:
		return errors.Join(f.close(plan.OutcomeFailed, f.errorText()), m.judged(r, plan.VerdictError, f.errorText()))
	}
	if err := f.close(plan.OutcomeDone, ""); err != nil {
		return err
	}
	r.TokensIn, r.TokensOut = f.run.TokensIn, f.run.TokensOut
	if r.Kind == plan.KindJudge {
		return m.judge(r, f.result.Text)
	}
	r.SetVerdict(f.result.Text)
	return m.keepVerdict(r)
}

// reviewerLost runs a review again whose agent was lost, a few times.
func (f *ending) reviewerLost(r *plan.Review, again func(plan.Outcome, string) error) error {
	o, why := plan.OutcomeInterrupted, f.cause
	switch {
	case f.cause == causeStalled:
		o = plan.OutcomeStalled
	case f.lost != nil:
		why = f.scrubbed(f.lostText())
	default:
		why = f.errorText()
	}
	if r.Tries++; r.Tries < maxInterruptions {
		return again(o, why)
	}
	return errors.Join(f.close(o, why), f.m.judged(r, plan.VerdictError, fmt.Sprintf("the reviewer was lost %d times; the last time: %s", r.Tries, why)))
}

// marked puts the mark of a review into an event's data, which is an object.
func marked(data []byte) []byte {
	if len(data) < 2 || data[0] != '{' {
		return data
	}
	out := append([]byte(`{"review":true`), ',')
	if len(data) == 2 {
		out = out[:len(out)-1]
	}
	return append(out, data[1:]...)
}
