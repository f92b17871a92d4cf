package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// copying is an engine with one isolated step whose agent writes its line and then
// works until it is stopped; a further run of the step ends at once.
type copying struct {
	*engine.Engine
	opts engine.Options
	stop func()
	id   plan.PlanID
	real string // the file in the project
	copy string // that in the copy
}

func newCopying(t *testing.T) *copying {
	written := make(chan string, 1)
	work := replacing(nil)
	c := &copying{opts: enginetest.Options(t, map[string]enginetest.Agent{"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if task.Attempt > 1 {
			return enginetest.Done(ctx, task, h)
		}
		if r, err := work(ctx, task, h); err != nil {
			return r, err
		}
		written <- filepath.Join(task.WorkDir, "c.txt")
		return untilStopped(ctx, task, h)
	}})}
	c.opts.NoSnapshots = false
	c.Engine, c.stop = enginetest.Run(t, c.opts)
	in := isolated(t, "2>two")
	c.id, c.real = submit(t, c.Engine, in), filepath.Join(in.WorkingDirectory, "c.txt")
	must(t, c.StartPlan(bg, c.id, plan.Builtin))
	c.copy = <-written
	return c
}

func holds(path, text string) bool {
	b, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(b), text)
}

// What an isolated step has done is not lost when it is cut off: the next run goes on
// in the same copy, and is told so.
func TestAnIsolatedStepThatIsCutOffGoesOnInItsCopy(t *testing.T) {
	for name, cutOff := range map[string]func(*testing.T, *copying){
		"by the end of the server": func(t *testing.T, c *copying) {
			c.stop()
			c.Engine = enginetest.Start(t, c.opts)
		},
		"by a stop of the plan": func(t *testing.T, c *copying) {
			t.Cleanup(c.stop)
			must(t, errors.Join(c.StopPlan(bg, c.id), c.StartPlan(bg, c.id, plan.Builtin)))
		},
		"by both": func(t *testing.T, c *copying) {
			must(t, c.StopPlan(bg, c.id))
			c.stop()
			c.Engine = enginetest.Start(t, c.opts)
			must(t, c.StartPlan(bg, c.id, plan.Builtin))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCopying(t)
			cutOff(t, c)
			enginetest.Until(t, c.Engine, c.id, "done", enginetest.Status(plan.StatusDone))
			if !holds(c.real, "two\n") {
				t.Error("what the first run did is not in the folder")
			}
			run, err := c.RunOf(bg, ref(c.id, 1), 2)
			must(t, err)
			if !strings.Contains(run.Prompt, "## GO ON") || !strings.Contains(run.Prompt, "What it did so far is in the") {
				t.Errorf("the second run is told\n%s", run.Prompt)
			}
			enginetest.Eventually(t, "the copy is gone", func() bool { return !exists(c.copy) })
		})
	}
}

// Who claims a step works in the folder, and must not look there for what is in a copy.
func TestWhoClaimsAnIsolatedStepIsToldThatItsWorkIsNotThere(t *testing.T) {
	c := newCopying(t)
	t.Cleanup(c.stop)
	must(t, errors.Join(c.StopPlan(bg, c.id), c.StartPlan(bg, c.id, plan.External)))
	claim, err := c.Claim(bg, "me", c.id)
	must(t, err)
	if !strings.Contains(claim.Context, "Its changes were not kept") {
		t.Errorf("who claims it is told\n%s", claim.Context)
	}
}

// The copy of a stopped step goes with what may go on in it.
func TestTheCopyOfAStoppedStepGoesWithIt(t *testing.T) {
	for name, do := range map[string]func(*copying) error{
		"reset":    func(c *copying) error { return c.ResetPlan(bg, c.id) },
		"deleted":  func(c *copying) error { return c.DeletePlan(bg, c.id) },
		"removed":  func(c *copying) error { return c.RemoveNode(bg, ref(c.id, 1)) },
		"skipped":  func(c *copying) error { return c.SkipNode(bg, ref(c.id, 1), "") },
		"finished": func(c *copying) error { return c.MarkDone(bg, ref(c.id, 1), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCopying(t)
			t.Cleanup(c.stop)
			must(t, c.StopPlan(bg, c.id))
			if !holds(c.copy, "two\n") {
				t.Fatal("the copy went with the stop")
			}
			must(t, do(c))
			if exists(c.copy) {
				t.Error("the copy is still there")
			}
			if got, want := holds(c.real, "two\n"), name == "finished"; got != want {
				t.Errorf("the work is in the folder: %v, want %v", got, want)
			}
		})
	}
}

// A person who marks a step done that is at work has what it did in the folder then,
// or is told why not.
func TestAnIsolatedStepThatIsMarkedDoneIsBroughtBack(t *testing.T) {
	c := newCopying(t)
	t.Cleanup(c.stop)
	must(t, c.MarkDone(bg, ref(c.id, 1), p("enough")))
	s, err := c.Snapshot(bg, c.id)
	must(t, err)
	if n := s.Node(ref(c.id, 1)); n.State != plan.Done || *n.Result != "enough" || !holds(c.real, "two\n") {
		t.Errorf("the step is %s; its work is in the folder: %v", n.State, holds(c.real, "two\n"))
	}
	if exists(c.copy) {
		t.Error("its copy is still there")
	}

	c = newCopying(t)
	t.Cleanup(c.stop)
	must(t, os.WriteFile(c.real, []byte("all\nelse\n"), 0o644))
	refused(t, c.MarkDone(bg, ref(c.id, 1), nil), plan.Conflict, "Nothing was applied")
	if s, err = c.Snapshot(bg, c.id); err != nil || s.Node(ref(c.id, 1)).State != plan.Failed {
		t.Errorf("the step is %s (%v)", s.Node(ref(c.id, 1)).State, err)
	}
}

// What a worker did itself is there for the steps that it split its own into.
func TestTheWorkOfAnIsolatedWorkerIsBroughtBackBeforeItsSubplan(t *testing.T) {
	var e atomic.Pointer[engine.Engine]
	work := replacing(nil)
	e.Store(watching(t, func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if task.PlanID == 1 {
			in := spec(t, "3>three")
			in.WorkingDirectory, in.ParentPlanID, in.ParentNodeID = "", 1, 1
			self := plan.Actor{Role: plan.Worker, Run: plan.RunID(task.RunID), Ref: ref(1, 1)}
			if _, err := e.Load().SubmitPlan(plan.WithActor(ctx, self), in); err != nil {
				return plugin.Result{}, err
			}
		} else if !holds(filepath.Join(task.WorkDir, "c.txt"), "two\n") {
			return plugin.Result{}, errors.New("the worker's own work is not there")
		}
		return work(ctx, task, h)
	}))
	in := isolated(t, "2>two")
	id := submit(t, e.Load(), in)
	must(t, e.Load().StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e.Load(), id, "over", func(s *plan.Snapshot) bool {
		return s.Status(id) == plan.StatusDone || s.Status(id) == plan.StatusFailed
	})
	if file := filepath.Join(in.WorkingDirectory, "c.txt"); !holds(file, "two\nthree\n") && !holds(file, "three\n") || !holds(file, "two\n") {
		text, err := os.ReadFile(file)
		t.Errorf("the file is (%v)\n%s", err, text)
	}
}

// A check does not outlive the plan that it belongs to.
func TestAStoppedPlanEndsItsChecks(t *testing.T) {
	c := newCourt(t, pass)
	in := spec(t, "a")
	began := filepath.Join(in.WorkingDirectory, "began")
	in.CheckCommand = "touch began; sleep 20; touch lived"
	id := c.gated(t, in)
	enginetest.Eventually(t, "the check runs", func() bool { return exists(began) })
	must(t, c.StopPlan(bg, id))
	s, err := c.Snapshot(bg, id)
	must(t, err)
	if n := s.Node(ref(id, 1)); n.State != plan.Pending || c.ChecksAtWork() != 0 {
		t.Errorf("the step is %s, and %d checks are at work", n.State, c.ChecksAtWork())
	}
}
