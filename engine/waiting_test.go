package engine_test

import (
	"context"
	"fmt"
	"strings"
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

// limiting is an agent that is refused as long as refuse is true.
func limiting(refuse *atomic.Bool, until func() time.Time) enginetest.Agent {
	return func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if refuse.Load() {
			return plugin.Result{IsError: true, RateLimited: true, Until: until(), Errors: []string{"limit reached"}}, nil
		}
		h.Emit(plugin.Text("working", ""))
		return enginetest.Done(ctx, task, h)
	}
}

func TestALimitIsWaitedOutWithOneTryAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refuse atomic.Bool
		refuse.Store(true)
		began := time.Now()
		launcher := &enginetest.Launcher{Agents: map[string]enginetest.Agent{
			"mock": limiting(&refuse, func() time.Time { return time.Now().Add(time.Hour) })}}
		o := enginetest.Options(t, nil)
		o.Launcher, o.MaxConcurrency = launcher, 1
		e := enginetest.Start(t, o)
		id := submit(t, e, spec(t, "a b c"))
		must(t, e.StartPlan(bg, id, plan.Builtin))
		time.Sleep(150 * time.Minute) // tried at once, after one hour and after two
		if n := len(launcher.Started()); n != 3 {
			t.Errorf("%d runs were started, want one at a time: 3", n)
		}
		s := enginetest.Until(t, e, id, "all wait", func(*plan.Snapshot) bool { return true })
		for n := 1; n <= 3; n++ {
			if h := s.Holds[ref(id, n)]; h.Phase != plan.PhaseLimit || h.Until.Time().Sub(began).Round(time.Minute) != 3*time.Hour {
				t.Errorf("step %d is held by %+v, want the limit until 3 h after the start", n, h)
			}
		}
		limits, err := e.Limits(bg)
		if err != nil || len(limits) != 1 || limits[0].Times != 3 || limits[0].Text != "limit reached" {
			t.Errorf("limits = %+v (%v)", limits, err)
		}
		refuse.Store(false)
		time.Sleep(31 * time.Minute)
		s = enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
		if n := s.Node(ref(id, 1)); n.Attempts != 1 || n.Interruptions != 0 {
			t.Errorf("%d attempts, %d interruptions: waiting for a limit counts in neither", n.Attempts, n.Interruptions)
		}
		if limits, _ := e.Limits(bg); len(limits) != 0 {
			t.Errorf("the limit is still there: %+v", limits)
		}
	})
}

func TestALimitWithoutATimeIsAskedForLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refuse atomic.Bool
		refuse.Store(true)
		launcher := &enginetest.Launcher{Agents: map[string]enginetest.Agent{
			"mock": limiting(&refuse, func() time.Time { return time.Time{} })}}
		o := enginetest.Options(t, nil)
		o.Launcher = launcher
		e := enginetest.Start(t, o)
		id := submit(t, e, spec(t, "a"))
		must(t, e.StartPlan(bg, id, plan.Builtin))
		time.Sleep(32 * time.Minute) // after 0, 1, 3, 7, 15 and 31 minutes
		if n := len(launcher.Started()); n != 6 {
			t.Errorf("%d tries in 32 minutes, want 6", n)
		}
		must(t, e.StopPlan(bg, id))
	})
}

func TestALimitSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refuse atomic.Bool
		refuse.Store(true)
		launcher := &enginetest.Launcher{Agents: map[string]enginetest.Agent{
			"mock": limiting(&refuse, func() time.Time { return time.Now().Add(time.Hour) })}}
		o := enginetest.Options(t, nil)
		o.Launcher, o.MaxConcurrency = launcher, 1
		e, stop := enginetest.Run(t, o)
		id := submit(t, e, spec(t, "a b"))
		must(t, e.StartPlan(bg, id, plan.Builtin))
		time.Sleep(time.Minute)
		stop()
		refuse.Store(false)
		e = enginetest.Start(t, o)
		time.Sleep(50 * time.Minute)
		if n := len(launcher.Started()); n != 1 {
			t.Errorf("%d runs before the limit was over, want 1", n)
		}
		time.Sleep(10 * time.Minute)
		enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	})
}

// spending is an agent that uses tokens, in and out together.
func spending(tokens int64) enginetest.Agent {
	return func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		h.Emit(plugin.Usage(tokens-1, 1))
		return enginetest.Done(ctx, task, h)
	}
}

func TestNothingNewStartsOnceTheBudgetOfTokensIsUsedUp(t *testing.T) {
	launcher := &enginetest.Launcher{Agents: map[string]enginetest.Agent{"mock": spending(600)}}
	o := enginetest.Options(t, nil)
	o.Launcher = launcher
	e := enginetest.Start(t, o)
	in := spec(t, "a b:a c:b")
	in.MaxTokens = 1000
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	s := enginetest.Until(t, e, id, "c waits", func(s *plan.Snapshot) bool {
		return s.Holds[ref(id, 3)].Phase == plan.PhaseBudget
	})
	if got := s.Root(); got.Tokens != 1200 || !strings.Contains(got.OverBudget(), "1000 tokens is used up (1200 so far)") || got.Uncosted != 2 {
		t.Errorf("spent %+v: %q", got.Spent, got.OverBudget())
	}
	must(t, e.UpdatePlan(bg, engine.UpdatePlanIn{PlanID: id, MaxTokens: p(int64(5000))}))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	must(t, e.ResetPlan(bg, id))
	if s, err := e.Snapshot(bg, id); err != nil || s.Root().Tokens != 1800 {
		t.Errorf("a reset has cleared the ledger: %+v (%v)", s.Root().Spent, err)
	}
}

func TestABudgetOfMoneyRefusesAgentsWithoutPrices(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "a")
	in.MaxCostUSD = 5
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	s := enginetest.Until(t, e, id, "failed", enginetest.Status(plan.StatusFailed))
	if text := *s.Node(ref(id, 1)).Error; !strings.Contains(text, "nobody knows what this agent costs") {
		t.Errorf("error = %q", text)
	}
}

func TestARunThatUsesMoreThanItsAgentMayIsEnded(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			h.Emit(plugin.Usage(900, 200))
			<-ctx.Done()
			return plugin.Result{}, ctx.Err()
		}}))
	all, err := e.Profiles(bg)
	must(t, err)
	for _, a := range all {
		if a.Name == "mock" {
			_, err := e.UpdateProfile(bg, a.ID, engine.ProfileFields{MaxTokens: p(int64(1000))})
			must(t, err)
		}
	}
	id := submit(t, e, spec(t, "a"))
	must(t, e.StartPlan(bg, id, plan.Builtin))
	s := enginetest.Until(t, e, id, "failed", enginetest.Status(plan.StatusFailed))
	if text := *s.Node(ref(id, 1)).Error; !strings.Contains(text, `used 1100 tokens; agent "mock" may use 1000`) {
		t.Errorf("error = %q", text)
	}
	if runs, err := e.Runs(bg, ref(id, 1)); err != nil || runs[0].Outcome != plan.OutcomeBudget {
		t.Errorf("runs = %+v (%v), want the outcome budget", runs, err)
	}
}

// silent is an agent that says nothing for a while.
func silent(d time.Duration) enginetest.Agent {
	return func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return plugin.Result{}, ctx.Err()
		}
		h.Emit(plugin.Text("here I am", ""))
		time.Sleep(time.Minute)
		return enginetest.Done(ctx, task, h)
	}
}

func TestASilentAgentIsShownAsStalledAndLeftToWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{"mock": silent(20 * time.Minute)}))
		id := submit(t, e, spec(t, "a"))
		must(t, e.StartPlan(bg, id, plan.Builtin))
		stalled := func() bool {
			s, err := e.Snapshot(bg, id)
			must(t, err)
			return s.Node(ref(id, 1)).StalledAt != 0
		}
		time.Sleep(14 * time.Minute)
		if stalled() {
			t.Error("stalled after 14 minutes")
		}
		time.Sleep(2 * time.Minute)
		if !stalled() {
			t.Error("not stalled after 16 minutes")
		}
		time.Sleep(4*time.Minute + 30*time.Second)
		if stalled() {
			t.Error("still stalled after it spoke")
		}
		enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	})
}

func TestAPlansPatienceEndsASilentAgentAndRunsTheStepAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{"mock": silent(time.Hour)}))
		in := spec(t, "a")
		in.StallAfter = 60
		id := submit(t, e, in)
		must(t, e.StartPlan(bg, id, plan.Builtin))
		time.Sleep(2 * time.Hour)
		s := enginetest.Until(t, e, id, "failed", enginetest.Status(plan.StatusFailed))
		n := s.Node(ref(id, 1))
		if n.Interruptions != 3 || n.Attempts != 0 || !strings.Contains(*n.Error, "no sign of life") {
			t.Errorf("%d interruptions, %d attempts, error %q", n.Interruptions, n.Attempts, *n.Error)
		}
		if runs, err := e.Runs(bg, ref(id, 1)); err != nil || len(runs) != 3 || runs[0].Outcome != plan.OutcomeStalled {
			t.Errorf("runs = %+v (%v), want three that stalled", runs, err)
		}
	})
}

func TestAnAgentThatWaitsForAPersonIsNotStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
			"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
				_, err := h.Ask(ctx, plugin.Question{Text: "may I?", Timeout: time.Hour})
				return plugin.Result{Text: "asked"}, err
			}}))
		in := spec(t, "a")
		in.StallAfter = 60
		id := submit(t, e, in)
		must(t, e.StartPlan(bg, id, plan.Builtin))
		time.Sleep(2 * time.Hour)
		s := enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
		if n := s.Node(ref(id, 1)); n.Interruptions != 0 {
			t.Errorf("it was interrupted %d times", n.Interruptions)
		}
	})
}

func TestWhatAStepWaitedForIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refuse atomic.Bool
		refuse.Store(true)
		work := limiting(&refuse, func() time.Time { return time.Now().Add(time.Hour) })
		o := enginetest.Options(t, map[string]enginetest.Agent{
			"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
				time.Sleep(10 * time.Minute)
				return work(ctx, task, h)
			}})
		o.MaxConcurrency = 1
		e := enginetest.Start(t, o)
		in := spec(t, "a b c you")
		in.Nodes[0].Files, in.Nodes[1].Files = []string{"x"}, []string{"x"}
		in.Nodes[3].Kind = "user"
		id := submit(t, e, in)
		must(t, e.StartPlan(bg, id, plan.Builtin))
		time.Sleep(20 * time.Minute) // a was refused after ten minutes
		refuse.Store(false)
		time.Sleep(time.Hour)
		time.Sleep(5 * time.Minute)
		time.Sleep(30 * time.Minute)
		must(t, e.MarkDone(bg, ref(id, 4), nil))
		enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
		var got []string
		all, err := e.Phases(bg, plan.Ref{Plan: id})
		must(t, err)
		for _, s := range all {
			got = append(got, fmt.Sprintf("%d %s %s %.0f min", s.NodeID, s.State, s.Phase, float64(s.Until-s.Since)/60))
		}
		want := []string{
			"1 running working 10 min", "1 ready limit 60 min", "1 running working 10 min",
			"2 ready files 10 min", "2 ready limit 60 min", "2 ready files 10 min", "2 running working 10 min",
			"3 ready slot 10 min", "3 ready limit 70 min", "3 ready slot 10 min", "3 running working 10 min",
			"4 ready person 115 min",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("phases (-want +got):\n%s", diff)
		}
	})
}
