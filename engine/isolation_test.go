package engine_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// repository makes a git repository with one committed file of ten lines.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "c.txt"), []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), 0o644))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// replacing is an agent that changes one line of c.txt: that of its step's title.
func replacing(barrier func(task plugin.Task)) enginetest.Agent {
	return func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		path := filepath.Join(task.WorkDir, "c.txt")
		text, err := os.ReadFile(path)
		if err != nil {
			return plugin.Result{}, err
		}
		line := strings.TrimPrefix(task.Title, "Step ")
		from, to, _ := strings.Cut(line, ">")
		if barrier != nil {
			barrier(task)
		}
		text = []byte(strings.Replace(string(text), "\n"+from+"\n", "\n"+to+"\n", 1))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return plugin.Result{}, err
		}
		return plugin.Result{Text: task.WorkDir}, nil
	}
}

func isolated(t *testing.T, text string) engine.SubmitPlanIn {
	t.Helper()
	in := spec(t, text)
	in.WorkingDirectory, in.IsolateSteps = repository(t), true
	return in
}

func TestIsolatedStepsWorkInCopiesAndAreBroughtBack(t *testing.T) {
	var both sync.WaitGroup // both have read the file before either writes
	both.Add(2)
	e := watching(t, replacing(func(plugin.Task) {
		both.Done()
		both.Wait()
	}))
	in := isolated(t, "2>two 9>nine")
	id := finished(t, e, in)
	text, err := os.ReadFile(filepath.Join(in.WorkingDirectory, "c.txt"))
	must(t, err)
	if got := string(text); !strings.Contains(got, "two\n") || !strings.Contains(got, "nine\n") {
		t.Errorf("the file is\n%s", got)
	}
	s, err := e.Snapshot(bg, id)
	must(t, err)
	for n := 1; n <= 2; n++ {
		node := s.Node(ref(id, n))
		if dir := *node.Result; dir == in.WorkingDirectory {
			t.Errorf("step %d did not work in a copy", n)
		} else {
			enginetest.Eventually(t, "the copy "+dir+" is gone", func() bool { return !exists(dir) })
		}
		if node.UndeclaredShared {
			t.Errorf("step %d: nobody else can have changed its copy", n)
		}
		files, err := e.Diffs(bg, ref(id, n))
		must(t, err)
		if len(files) != 1 || files[0].Added != 1 || files[0].Removed != 1 {
			t.Errorf("step %d changed %v", n, paths(files))
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

func TestAnIsolatedStepThatContradictsAnotherFails(t *testing.T) {
	in := isolated(t, "2>two 2>zwei")
	release := make(chan struct{})
	started := make(chan struct{}, 2)
	e := watching(t, replacing(func(plugin.Task) {
		started <- struct{}{}
		<-release
	}))
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	<-started
	<-started
	close(release)
	s := enginetest.Until(t, e, id, "one done, one failed", func(s *plan.Snapshot) bool {
		tally := s.Tally(id)
		return tally.Done == 1 && tally.Failed == 1
	})
	for n := 1; n <= 2; n++ {
		node := s.Node(ref(id, n))
		if node.State != plan.Failed {
			continue
		}
		text := *node.Error
		if !strings.Contains(text, "c.txt") || !strings.Contains(text, "Nothing was applied") {
			t.Errorf("error = %q", text)
		}
		if len(node.Undeclared) != 1 || node.Undeclared[0] != "c.txt" {
			t.Errorf("undeclared = %v", node.Undeclared)
		}
	}
}

func TestAFailedIsolatedStepAppliesNothing(t *testing.T) {
	work := replacing(nil)
	e := watching(t, func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if _, err := work(ctx, task, h); err != nil {
			return plugin.Result{}, err
		}
		return plugin.Result{}, errors.New("no")
	})
	in := isolated(t, "2>two")
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "failed", enginetest.Status(plan.StatusFailed))
	if text, err := os.ReadFile(filepath.Join(in.WorkingDirectory, "c.txt")); err != nil || strings.Contains(string(text), "two") {
		t.Errorf("something was applied (%v):\n%s", err, text)
	}
}

func TestIsolationNeedsARepository(t *testing.T) {
	e := watching(t, enginetest.Done)
	in := spec(t, "a")
	in.IsolateSteps = true
	_, err := e.SubmitPlan(bg, in)
	refused(t, err, plan.Invalid, "git repository")
	in.IsolateSteps = false
	id := submit(t, e, in)
	refused(t, e.UpdatePlan(bg, engine.UpdatePlanIn{PlanID: id, IsolateSteps: p(true)}), plan.Invalid, "git repository")
	refused(t, e.UpdatePlan(bg, engine.UpdatePlanIn{PlanID: id, Isolation: p("sandbox")}), plan.Invalid, "no sandbox")
}

func TestAGateLooksAtTheCopyAndAppliesWhatPasses(t *testing.T) {
	var judgedIn atomic.Value
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": replacing(nil),
		"judge": func(_ context.Context, task plugin.Task, _ plugin.Host) (plugin.Result, error) {
			if task.Kind == "judge" {
				judgedIn.Store(task.WorkDir)
			}
			return plugin.Result{Text: pass}, nil
		}})
	o.NoSnapshots = false
	e := enginetest.Start(t, o)
	_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("judge"), Harness: p("judge")})
	must(t, err)
	in := isolated(t, "2>two")
	in.ReviewPolicy, in.CheckCommand = "gate", "grep -q two c.txt"
	id := submit(t, e, in)
	_, err = e.SetReviewAgent(bg, id, "judge")
	must(t, err)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	s := enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	if *s.Judged[ref(id, 1)].CheckExit != 0 || judgedIn.Load() != *s.Node(ref(id, 1)).Result {
		t.Errorf("the check ended with %d; the judge looked at %s", *s.Judged[ref(id, 1)].CheckExit, judgedIn.Load())
	}
	if text, err := os.ReadFile(filepath.Join(in.WorkingDirectory, "c.txt")); err != nil || !strings.Contains(string(text), "two") {
		t.Errorf("what passed was not applied (%v):\n%s", err, text)
	}
}
