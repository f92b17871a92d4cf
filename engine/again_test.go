package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// script plays the runs of a step in turn; what comes after it is done.
type script struct {
	mu    sync.Mutex
	turns []enginetest.Agent
	tasks []plugin.Task
}

func (s *script) play(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	s.mu.Lock()
	s.tasks = append(s.tasks, t)
	turn := enginetest.Agent(enginetest.Done)
	if len(s.turns) > 0 {
		turn, s.turns = s.turns[0], s.turns[1:]
	}
	s.mu.Unlock()
	h.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: "s-" + t.RunID}))
	return turn(ctx, t, h)
}

func ends(r plugin.Result) enginetest.Agent {
	return func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) { return r, nil }
}

func untilStopped(ctx context.Context, _ plugin.Task, _ plugin.Host) (plugin.Result, error) {
	<-ctx.Done()
	return plugin.Result{}, ctx.Err()
}

var (
	broken   = ends(plugin.Result{IsError: true, Errors: []string{"it broke\nbadly"}})
	overload = ends(plugin.Result{IsError: true, Transient: true, Errors: []string{"overloaded\n(529)"}})
	limited  = ends(plugin.Result{IsError: true, RateLimited: true, Errors: []string{"limit reached"}})
)

// Each run says why it began.
func TestRunsSayWhyTheyBegan(t *testing.T) {
	for name, c := range map[string]struct {
		turns    []enginetest.Agent
		attempts int
		do       func(*engine.Engine, plan.PlanID) error // after the first run
		want     []string
	}{
		"the first": {want: []string{"first"}},
		"after a retry": {turns: []enginetest.Agent{broken},
			do:   func(e *engine.Engine, id plan.PlanID) error { return e.RetryNode(bg, ref(id, 1)) },
			want: []string{"first", "retry by a person"}},
		"after a rework": {do: func(e *engine.Engine, id plan.PlanID) error { return e.ReworkNode(bg, ref(id, 1), "shorter") },
			want: []string{"first", "rework"}},
		"further attempts": {turns: []enginetest.Agent{broken, broken}, attempts: 3,
			want: []string{"first", "attempt 2 of 3 after a failure", "attempt 3 of 3 after a failure"}},
		"after an interruption": {turns: []enginetest.Agent{overload}, want: []string{"first", "after interruption: overloaded"}},
		"after a limit":         {turns: []enginetest.Agent{limited}, want: []string{"first", "limit over"}},
		"after a stop of the plan": {turns: []enginetest.Agent{untilStopped},
			do: func(e *engine.Engine, id plan.PlanID) error {
				return errors.Join(e.StopPlan(bg, id), e.StartPlan(bg, id, plan.Builtin))
			},
			want: []string{"first", "the plan was started again"}},
		"after a reset nothing is left": {do: func(e *engine.Engine, id plan.PlanID) error {
			return errors.Join(e.ReworkNode(bg, ref(id, 1), "x"), e.ResetPlan(bg, id), e.StartPlan(bg, id, plan.Builtin))
		}, want: []string{"first"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{turns: c.turns}
			bubble(t, s.play, nil, func(t *testing.T, e *engine.Engine) {
				in := spec(t, "a")
				in.MaxAttempts = c.attempts
				id := submit(t, e, in)
				must(t, e.StartPlan(bg, id, plan.Builtin))
				soon(t, e, id)
				if c.do != nil {
					must(t, c.do(e, id))
				}
				wantDone(t, e, id)
				runs, err := e.Runs(bg, ref(id, 1))
				must(t, err)
				var got []string
				for _, r := range runs {
					got = append(got, r.StartCause)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("why the runs began (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAClaimThatWasGivenBackSaysSo(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "a")
	in.Start = plan.External
	id := submit(t, e, in)
	for range 2 {
		c, err := e.Claim(bg, "me", 0)
		must(t, err)
		must(t, e.Release(bg, ref(id, 1), c.Run))
	}
	runs, err := e.Runs(bg, ref(id, 1))
	must(t, err)
	if runs[0].StartCause != plan.StartFirst || runs[1].StartCause != plan.StartRelease {
		t.Errorf("the claims began: %q, %q", runs[0].StartCause, runs[1].StartCause)
	}
}

// A session that was cut off is gone on with where nothing speaks against it, and the
// prompt says how things stand either way.
func TestASessionThatWasCutOffIsResumed(t *testing.T) {
	for name, c := range map[string]struct {
		first   enginetest.Agent
		change  func(*engine.Engine, plan.PlanID) error // while the step waits
		resumed bool
		goOn    bool
	}{
		"after an interruption": {first: overload, resumed: true, goOn: true},
		"after a limit":         {first: limited, resumed: true, goOn: true},
		"not with another agent": {first: limited, change: func(e *engine.Engine, id plan.PlanID) error {
			return e.UpdateNode(bg, engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: engine.NodeFields{Agent: p(engine.AgentRef("other"))}})
		}, goOn: true},
		"not after a failure": {first: broken, change: func(e *engine.Engine, id plan.PlanID) error { return e.RetryNode(bg, ref(id, 1)) }},
		"not after a rework": {first: enginetest.Done, change: func(e *engine.Engine, id plan.PlanID) error {
			return e.ReworkNode(bg, ref(id, 1), "again")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{turns: []enginetest.Agent{c.first}}
			long := func(o *engine.Options) { o.RetryDelay = time.Hour }
			bubble(t, s.play, long, func(t *testing.T, e *engine.Engine) {
				_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("other"), Harness: p("mock")})
				must(t, err)
				id := submit(t, e, spec(t, "a"))
				must(t, e.StartPlan(bg, id, plan.Builtin))
				synctest.Wait()
				if c.change != nil {
					must(t, c.change(e, id))
				}
				time.Sleep(2 * time.Hour)
				wantDone(t, e, id)
				want := ""
				if c.resumed {
					want = "s-" + s.tasks[0].RunID
				}
				if got := s.tasks[1].ResumeSession; got != want {
					t.Errorf("the second run goes on with session %q, want %q", got, want)
				}
				if got := strings.Contains(s.tasks[1].Prompt, "## GO ON"); got != c.goOn {
					t.Errorf("the prompt says that the step was cut off: %v, want %v", got, c.goOn)
				}
				if !strings.Contains(s.tasks[1].Prompt, "Step a") {
					t.Error("the prompt is not whole")
				}
			})
		})
	}
}

func TestAServerThatWasStoppedGoesOnWithItsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{turns: []enginetest.Agent{untilStopped}}
		o := enginetest.Options(t, map[string]enginetest.Agent{"mock": s.play})
		e, stop := enginetest.Run(t, o)
		id := submit(t, e, spec(t, "a"))
		must(t, e.StartPlan(bg, id, plan.Builtin))
		synctest.Wait()
		stop()
		e = enginetest.Start(t, o)
		wantDone(t, e, id)
		runs, err := e.Runs(bg, ref(id, 1))
		must(t, err)
		if runs[1].StartCause != plan.StartServer || s.tasks[1].ResumeSession != "s-"+s.tasks[0].RunID {
			t.Errorf("run 2 began for %q with session %q", runs[1].StartCause, s.tasks[1].ResumeSession)
		}
	})
}

// What failed attempts add to a step's brief ends with them; a person's stays.
func TestBriefsOfFailedAttemptsEndWithSuccess(t *testing.T) {
	s := &script{turns: []enginetest.Agent{broken, enginetest.Done, broken}}
	bubble(t, s.play, nil, func(t *testing.T, e *engine.Engine) {
		in := spec(t, "a")
		in.MaxAttempts = 2
		id := submit(t, e, in)
		must(t, e.StartPlan(bg, id, plan.Builtin))
		if n := soon(t, e, id).Node(ref(id, 1)); n.State != plan.Done || n.ReworkBrief != nil {
			t.Errorf("the step is %s with the brief %v", n.State, n.ReworkBrief)
		}
		must(t, e.ReworkNode(bg, ref(id, 1), "use tabs"))
		n := soon(t, e, id).Node(ref(id, 1))
		if n.State != plan.Done || n.ReworkBrief == nil || *n.ReworkBrief != "use tabs" {
			t.Errorf("the step is %s with the brief %v, want the person's alone", n.State, n.ReworkBrief)
		}
		for i, want := range [][]string{1: {"Attempt 1 of 2 failed: it broke"}, 3: {"use tabs", "Attempt 1 of 2 failed"}} {
			for _, w := range want {
				if !strings.Contains(s.tasks[i].Prompt, w) {
					t.Errorf("run %d is not told %q", i+1, w)
				}
			}
		}
	})
}

// A worker that is cut off leaves its step to the subplan that it made, if that is
// whole; else it goes on itself, and is told of it.
func TestAWorkerThatIsCutOffAfterItBeganASubplan(t *testing.T) {
	for name, c := range map[string]struct {
		whole bool
		steps string // that are added one by one
		by    enginetest.Agent
		was   plan.Outcome
		runs  int
	}{
		"handed in whole":               {whole: true, by: overload, was: plan.OutcomeInterrupted, runs: 1},
		"still empty":                   {by: overload, was: plan.OutcomeInterrupted, runs: 2},
		"half written":                  {steps: "x", by: overload, was: plan.OutcomeInterrupted, runs: 2},
		"handed in whole, then a limit": {whole: true, by: limited, was: plan.OutcomeLimited, runs: 1},
		"half written, then a limit":    {steps: "x", by: limited, was: plan.OutcomeLimited, runs: 2},
	} {
		t.Run(name, func(t *testing.T) {
			var e atomic.Pointer[engine.Engine]
			cutOff := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
				self := plan.WithActor(ctx, plan.Actor{Role: plan.Worker, Run: plan.RunID(task.RunID), Ref: ref(plan.PlanID(task.PlanID), int(task.NodeID))})
				in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Parts"}}
				if c.whole {
					in = spec(t, "x y:x")
				}
				in.ParentPlanID, in.ParentNodeID, in.WorkingDirectory = plan.PlanID(task.PlanID), plan.NodeID(task.NodeID), ""
				out, err := e.Load().SubmitPlan(self, in)
				if err == nil && c.steps != "" {
					_, err = e.Load().AddNode(self, engine.AddNodeIn{PlanID: out.PlanID, NodeFields: engine.NodeFields{Title: p("Part " + c.steps)}})
				}
				if err != nil {
					return plugin.Result{}, err
				}
				return c.by(ctx, task, h)
			}
			s := &script{turns: []enginetest.Agent{cutOff}}
			bubble(t, s.play, nil, func(t *testing.T, eng *engine.Engine) {
				e.Store(eng)
				id := submit(t, eng, spec(t, "big after:big"))
				must(t, eng.StartPlan(bg, id, plan.Builtin))
				wantDone(t, eng, id)
				runs, err := eng.Runs(bg, ref(id, 1))
				must(t, err)
				if len(runs) != c.runs || runs[0].Outcome != c.was {
					t.Fatalf("%d runs of the step, the first %s; want %d", len(runs), runs[0].Outcome, c.runs)
				}
				if c.runs < 2 {
					return
				}
				last, err := eng.RunOf(bg, ref(id, 1), 2)
				must(t, err)
				for _, want := range []string{"## GO ON", "## The subplan of this step", "cannot have another", c.steps} {
					if !strings.Contains(last.Prompt, want) {
						t.Errorf("the second run is not told %q:\n%s", want, last.Prompt)
					}
				}
			})
		})
	}
}

// A run keeps the agent and the limits that it was started with.
func TestARunKeepsWhatItWasStartedWith(t *testing.T) {
	s := &script{turns: []enginetest.Agent{untilStopped, untilStopped}}
	bubble(t, s.play, nil, func(t *testing.T, e *engine.Engine) {
		var ids [2]plan.ProfileID
		for i, name := range []string{"one", "two"} {
			f, err := e.CreateProfile(bg, engine.ProfileFields{Name: p(name), Harness: p("mock"), Model: p("m-" + name), Capability: p("edit"), MaxTokens: p(int64(100))})
			must(t, err)
			ids[i] = f.ID
		}
		in := spec(t, "a")
		in.Nodes[0].Agent = "one"
		id := submit(t, e, in)
		must(t, e.StartPlan(bg, id, plan.Builtin))
		synctest.Wait()
		must(t, e.UpdateNode(bg, engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: engine.NodeFields{Agent: p(engine.AgentRef("two"))}}))
		_, err := e.UpdateProfile(bg, ids[0], engine.ProfileFields{Model: p("newer"), Capability: p("read"), MaxTokens: p(int64(7))})
		must(t, err)
		view, err := e.Snapshot(bg, id)
		must(t, err)
		a := view.Agent(view.Node(ref(id, 1)))
		if a.Profile.Name != "one" || a.Profile.Model != "m-one" || a.Capability != "edit" || a.Source != plan.FromRun {
			t.Errorf("the agent at work is shown as %+v (%s, %s)", *a.Profile, a.Capability, a.Source)
		}
		runs, err := e.Runs(bg, ref(id, 1))
		must(t, err)
		if runs[0].Profile != ids[0] || runs[0].MaxTokens != 100 {
			t.Errorf("the run has agent %d and may use %d tokens", runs[0].Profile, runs[0].MaxTokens)
		}
		must(t, e.StopPlan(bg, id))
		if view, err = e.Snapshot(bg, id); err != nil || view.Agent(view.Node(ref(id, 1))).Profile.Name != "two" {
			t.Errorf("once it has ended the next agent is shown as %+v (%v)", view.Agent(view.Node(ref(id, 1))), err)
		}
	})
}
