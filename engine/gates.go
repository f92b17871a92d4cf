package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/prompt"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// hasGate reports whether a step is judged before what depends on it may start.
func (m *mover) hasGate(n *plan.Node) bool {
	return m.root.ReviewPolicy == plan.PolicyGate && n.Kind == plan.KindAgent && n.Subplan == 0 && n.RunID != ""
}

// atGate holds a step whose agent is done until it has been judged: first its
// check command runs, then a judge looks.
//
// The plan's review agent judges; where there is none the profile that did the
// work does, in a session of its own.
func (m *mover) atGate(n *plan.Node, result string, did plan.ProfileID) error {
	judge, err := reviewerOf(m.tx, n.PlanID)
	if err != nil {
		return err
	}
	r := &plan.Review{Kind: plan.KindJudge, PlanID: n.PlanID, NodeID: n.ID, JudgedRun: n.RunID, Profile: cmp.Or(judge, did)}
	phase := plan.PhaseReviewing
	if checkCommand(m.root, n) != "" {
		r.State, phase = plan.ReviewCheck, plan.PhaseChecking
	}
	if err := m.setPhase(n, phase, func(n *plan.Node) { n.Result, n.AgentDone = &result, true }); err != nil {
		return err
	}
	return m.askForReview(r)
}

func checkCommand(root *plan.Plan, n *plan.Node) string {
	return cmp.Or(n.CheckCommand, root.CheckCommand)
}

// judgeInput is what a judge is shown beyond what a reviewer is.
func judgeInput(in prompt.ReviewInput, r *plan.Review, dir string) prompt.JudgeInput {
	out := prompt.JudgeInput{ReviewInput: in, Fault: r.Fault, Check: checkOf(in.Root, in.Node, r)}
	for _, f := range in.Node.Files {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Key))); errors.Is(err, os.ErrNotExist) {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil {
				out.Missing = append(out.Missing, f.Path)
			}
		}
	}
	return out
}

func checkOf(root *plan.Plan, n *plan.Node, r *plan.Review) *prompt.Check {
	if r.CheckExit == nil {
		return nil
	}
	return &prompt.Check{Command: checkCommand(root, n), Exit: *r.CheckExit, Output: r.CheckText}
}

// judge takes a judge's reply. One that cannot be used is asked for once more.
func (m *mover) judge(r *plan.Review, reply string) error {
	n, err := m.tx.Node(r.Ref())
	if err != nil {
		return err
	}
	j, fault := plan.ParseJudgement(reply, len(prompt.CriteriaOf(n)))
	if fault == nil && j.Passed && r.CheckExit != nil && *r.CheckExit != 0 {
		fault = fmt.Errorf("the verdict is pass, and the check command failed")
	}
	if fault != nil {
		r.Asked++
		if r.Fault = fault.Error(); r.Asked < 2 {
			r.State, r.RunID = plan.ReviewQueued, ""
			return errors.Join(m.tx.UpdateReview(r), m.recordReview(r))
		}
		r.Verdict, r.Summary = plan.VerdictError, "the judge's replies could not be used: "+r.Fault
		return m.gateError(r)
	}
	r.Verdict, r.Summary, r.Criteria = plan.VerdictConcerns, j.Reason, j.Criteria
	if j.Passed {
		r.Verdict = plan.VerdictOK
	}
	if err := m.endJudgement(r); err != nil {
		return err
	}
	if n.State != plan.Running || n.RunID != r.JudgedRun {
		return nil // it was stopped or marked done meanwhile
	}
	if j.Passed {
		return m.passed(n)
	}
	return m.notPassed(n, r, prompt.GateBrief(n, j, checkOf(m.root, n, r)))
}

// passed ends a step whose work was accepted; one that was isolated is brought back
// first.
func (m *mover) passed(n *plan.Node) error {
	run, err := m.tx.Run(n.RunID)
	if err != nil {
		return err
	}
	if run.Worktree != "" {
		return m.setPhase(n, plan.PhaseApplying, nil)
	}
	return m.conclude(n, deref(n.Result))
}

// endJudgement stores a verdict. Those on earlier attempts are kept.
func (m *mover) endJudgement(r *plan.Review) error {
	r.State, r.CreatedAt = plan.ReviewDone, m.tx.Now()
	return errors.Join(m.tx.DropReviews(r.Ref(), plan.KindJudge), m.tx.UpdateReview(r), m.recordReview(r))
}

// notPassed tries a step again that did not pass its gate, or fails it.
func (m *mover) notPassed(n *plan.Node, r *plan.Review, found string) error {
	made := n.Attempts + 1 - n.AttemptsBefore
	if most := attemptsAllowed(m.root, n); made >= most {
		text := fmt.Sprintf("it did not pass its gate in %d of %d attempts. %s", made, most, found)
		return m.move(n, plan.Broke, func(n *plan.Node) { n.Error, n.Attempts = &text, n.Attempts+1 })
	}
	brief, err := m.growBrief(n, found, false)
	if err != nil {
		return err
	}
	after := "its gate did not pass"
	if r.CheckExit != nil && *r.CheckExit != 0 {
		after = "check failed"
	}
	if err := m.attempt(n, made+1, attemptsAllowed(m.root, n), after); err != nil {
		return err
	}
	if err := m.move(n, plan.TriesAgain, func(n *plan.Node) { n.Attempts, n.ReworkBrief = n.Attempts+1, brief }); err != nil {
		return err
	}
	return m.again(n, fmt.Sprintf("attempt %d did not pass its gate: it is tried again", made), m.tx.Now().Time())
}

// gateError leaves a step whose judge came to no verdict to a person: its work is
// kept, and no attempt is used.
func (m *mover) gateError(r *plan.Review) error {
	if err := m.endJudgement(r); err != nil {
		return err
	}
	n, err := m.tx.Node(r.Ref())
	if err != nil || n.State != plan.Running || n.RunID != r.JudgedRun {
		return err
	}
	if err := m.setPhase(n, plan.PhaseNeedsPerson, nil); err != nil {
		return err
	}
	if err := m.tell(NoticeWaiting, WaitsVerdict, n, r.Summary); err != nil {
		return err
	}
	return m.say(n.Ref(), "waiting for you: no verdict could be formed ("+r.Summary+"); accept the work, have it judged again, or rework it")
}

// Accept lets a step pass whose judge came to no verdict, in a person's name.
func (e *Engine) Accept(ctx context.Context, r plan.Ref, note string) error {
	defer e.settleIsolated(ctx, r)
	return e.onNode(ctx, r, note, func(m *mover, n *plan.Node) error {
		if err := needsPerson(n); err != nil {
			return err
		}
		text := "accepted by a person"
		if note = strings.TrimSpace(note); note != "" {
			text += ": " + note
		}
		if err := m.say(r, text); err != nil {
			return err
		}
		return m.passed(n)
	})
}

// JudgeAgain has a step judged once more whose judge came to no verdict.
func (e *Engine) JudgeAgain(ctx context.Context, r plan.Ref) error {
	return e.onNode(ctx, r, "", func(m *mover, n *plan.Node) error {
		if err := needsPerson(n); err != nil {
			return err
		}
		run, err := m.tx.Run(n.RunID)
		if err != nil {
			return err
		}
		return m.atGate(n, deref(n.Result), cmp.Or(run.Profile, e.server.DefaultProfile))
	})
}

func needsPerson(n *plan.Node) error {
	if n.State != plan.Running || n.Phase != plan.PhaseNeedsPerson {
		return plan.Errorf(plan.Invalid, "step %s does not wait for a person's verdict", n.Ref())
	}
	return nil
}

// Judgements returns what judges found of all attempts at a node, the first first.
func (e *Engine) Judgements(ctx context.Context, r plan.Ref) ([]plan.Review, error) {
	var list []plan.Review
	err := e.store.Read(ctx, func(tx *store.Tx) (err error) {
		if _, err := tx.Node(r); err != nil {
			return err
		}
		list, err = tx.Judgements(r)
		return err
	})
	return list, err
}
