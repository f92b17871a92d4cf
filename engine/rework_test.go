package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

var bg = context.Background()

// finished starts a plan and waits until it is done.
func finished(t *testing.T, e *engine.Engine, in engine.SubmitPlanIn) plan.PlanID {
	t.Helper()
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	return id
}

func refused(t *testing.T, err error, kind plan.ErrorKind, words string) {
	t.Helper()
	if plan.KindOf(err) != kind || !strings.Contains(plan.MessageOf(err), words) {
		t.Errorf("got %v; want it refused as %v with %q", err, kind, words)
	}
}

func TestReworkRunsAFinishedStepAgainWithABrief(t *testing.T) {
	launcher := &enginetest.Launcher{}
	o := enginetest.Options(t, nil)
	o.Launcher = launcher
	e := enginetest.Start(t, o)
	id := finished(t, e, spec(t, "a b:a"))
	must(t, e.ReworkNode(bg, ref(id, 1), "  use the other parser\n"))
	text, err := e.Context(bg, ref(id, 1))
	must(t, err)
	if !strings.Contains(text, "REWORK") || !strings.Contains(text, "use the other parser") {
		t.Errorf("the prompt lacks the brief:\n%s", text)
	}
	s := enginetest.Until(t, e, id, "done again", func(s *plan.Snapshot) bool {
		return s.Status(id) == plan.StatusDone && len(launcher.Started()) == 3
	})
	n := s.Node(ref(id, 1))
	if n.ReworkBrief == nil || *n.ReworkBrief != "use the other parser" || n.Attempts != 2 {
		t.Errorf("brief %v, attempts %d; want the brief kept and 2 attempts", n.ReworkBrief, n.Attempts)
	}
	if s.Root().FinishedAt == 0 {
		t.Error("the plan is not noted as over")
	}
	runs, err := e.Runs(bg, ref(id, 1))
	must(t, err)
	if len(runs) != 2 || runs[1].Number != 2 || runs[1].Outcome != plan.OutcomeDone {
		t.Errorf("runs = %+v, want two that are done", runs)
	}
}

func TestReworkIsRefused(t *testing.T) {
	hold := make(chan struct{})
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if task.Title == "Step b" {
				<-hold
			}
			return enginetest.Done(ctx, task, h)
		}}))
	id := submit(t, e, spec(t, "a b:a c:b"))
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "b runs", enginetest.State(ref(id, 2), plan.Running))
	refused(t, e.ReworkNode(bg, ref(id, 1), " "), plan.Invalid, "no review")
	refused(t, e.ReworkNode(bg, ref(id, 2), "x"), plan.Invalid, "running")
	refused(t, e.ReworkNode(bg, ref(id, 3), "x"), plan.Invalid, "only a finished step")
	refused(t, e.ReworkNode(bg, ref(id, 9), "x"), plan.NotFound, "no step 9")
	refused(t, e.ReworkNode(bg, ref(id, 1), "a\x00b"), plan.Invalid, "NUL")
	close(hold)
}

func TestReworkLeavesDependantsAndReopensContainers(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := submit(t, e, spec(t, "a b:a"))
	in := spec(t, "x y:x")
	in.WorkingDirectory, in.ParentPlanID, in.ParentNodeID = "", id, 1
	sub := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	refused(t, e.ReworkNode(bg, ref(id, 1), "x"), plan.Invalid, "subplan")
	before, err := e.Runs(bg, ref(id, 2))
	must(t, err)
	must(t, e.ReworkNode(bg, ref(sub, 1), "again"))
	enginetest.Until(t, e, id, "done again", func(s *plan.Snapshot) bool {
		return s.Status(id) == plan.StatusDone && s.Node(ref(sub, 1)).Attempts == 2
	})
	for _, r := range []plan.Ref{ref(id, 2), ref(sub, 2)} {
		if after, err := e.Runs(bg, r); err != nil || len(after) != len(before) {
			t.Errorf("step %s ran %d times, want it left alone (%v)", r, len(after), err)
		}
	}
}

func TestReworkInAFolderThatAnotherPlanHasTaken(t *testing.T) {
	release := make(chan struct{})
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if task.Title == "Step slow" {
				<-release
			}
			return enginetest.Done(ctx, task, h)
		}}))
	defer close(release)
	first := spec(t, "a b")
	id := finished(t, e, first)
	second := spec(t, "slow")
	second.WorkingDirectory = first.WorkingDirectory
	other := submit(t, e, second)
	must(t, e.StartPlan(bg, other, plan.Builtin))
	refused(t, e.ReworkNode(bg, ref(id, 1), "x"), plan.Invalid, "same folder")
	if _, err := e.AddNode(bg, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("more")}}); err == nil {
		t.Error("a step was added to a finished plan whose folder another one works in")
	}
}

func TestSkippedByAPersonSatisfiesDependants(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "a you:a b:you")
	in.Nodes[1].Kind = "user"
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "it waits", enginetest.State(ref(id, 2), plan.Ready))
	must(t, e.SkipNode(bg, ref(id, 2), "not needed"))
	s := enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	if n := s.Node(ref(id, 2)); n.State != plan.Skipped || n.SkippedBy != plan.SkippedByPerson || n.SkipNote != "not needed" {
		t.Errorf("step 2 is %s by %q: %q", n.State, n.SkippedBy, n.SkipNote)
	}
	refused(t, e.SkipNode(bg, ref(id, 1), ""), plan.Invalid, "not started")

	must(t, e.UnskipNode(bg, ref(id, 2)))
	s = enginetest.Until(t, e, id, "it waits again", enginetest.State(ref(id, 2), plan.Ready))
	if s.Node(ref(id, 3)).State != plan.Done || s.Status(id) != plan.StatusRunning || s.Root().FinishedAt != 0 {
		t.Errorf("after it was brought back: %s, plan %s", states(s), s.Status(id))
	}
	refused(t, e.UnskipNode(bg, ref(id, 2)), plan.Invalid, "not skipped")
}

func TestSkippedByFailureIsBroughtBackByRetryOrRework(t *testing.T) {
	for _, by := range []string{"retry", "rework"} {
		t.Run(by, func(t *testing.T) {
			var fail atomic.Bool
			fail.Store(true)
			e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
				"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
					if fail.Load() && task.Title == "Step a" {
						return plugin.Result{}, errors.New("no")
					}
					return enginetest.Done(ctx, task, h)
				}}))
			in := spec(t, "a b:a c:b")
			in.OnFailure = "skip"
			id := submit(t, e, in)
			must(t, e.StartPlan(bg, id, plan.Builtin))
			enginetest.Until(t, e, id, "c skipped", enginetest.State(ref(id, 3), plan.Skipped))
			refused(t, e.UnskipNode(bg, ref(id, 2)), plan.Invalid, "because step 1 failed")
			refused(t, e.ReworkNode(bg, ref(id, 2), "x"), plan.Invalid, "skipped")
			fail.Store(false)
			if by == "retry" {
				must(t, e.RetryNode(bg, ref(id, 1)))
			} else {
				must(t, e.ReworkNode(bg, ref(id, 1), "another way"))
			}
			enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
		})
	}
}

func TestAFailedStepIsTriedAsOftenAsThePlanAllows(t *testing.T) {
	launcher := &enginetest.Launcher{Agents: map[string]enginetest.Agent{
		"mock": func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
			return plugin.Result{}, errors.New("the tests are red")
		}}}
	o := enginetest.Options(t, nil)
	o.Launcher = launcher
	e := enginetest.Start(t, o)
	in := spec(t, "a b")
	in.MaxAttempts, in.Nodes[1].MaxAttempts = 3, 2
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	both := func(s *plan.Snapshot) bool {
		return s.Node(ref(id, 1)).State == plan.Failed && s.Node(ref(id, 2)).State == plan.Failed
	}
	s := enginetest.Until(t, e, id, "both failed", both)
	if a, b := s.Node(ref(id, 1)), s.Node(ref(id, 2)); a.Attempts != 3 || b.Attempts != 2 || a.Interruptions != 0 {
		t.Errorf("%d and %d attempts, want 3 by the plan and 2 by the step", a.Attempts, b.Attempts)
	}
	last := launcher.Started()[4]
	if !strings.Contains(last.Prompt, "failed: the tests are red") {
		t.Errorf("a further attempt is not told why the last one failed:\n%s", last.Prompt)
	}
	must(t, e.RetryNode(bg, ref(id, 1)))
	enginetest.Until(t, e, id, "three more attempts", func(s *plan.Snapshot) bool { return s.Node(ref(id, 1)).Attempts == 6 && both(s) })
}
