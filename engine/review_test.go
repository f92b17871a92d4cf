package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// reviewing is an engine whose agent "critic" answers reviews with reply.
func reviewing(t *testing.T, reply func(plugin.Task) (plugin.Result, error)) (*engine.Engine, *enginetest.Launcher) {
	t.Helper()
	l := &enginetest.Launcher{Agents: map[string]enginetest.Agent{
		"critic": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			h.Emit(plugin.Text("looking", ""))
			h.Emit(plugin.Usage(10, 5))
			return reply(task)
		}}}
	o := enginetest.Options(t, nil)
	o.Launcher = l
	e := enginetest.Start(t, o)
	_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("critic"), Harness: p("critic")})
	must(t, err)
	return e, l
}

func says(text string) func(plugin.Task) (plugin.Result, error) {
	return func(plugin.Task) (plugin.Result, error) { return plugin.Result{Text: text}, nil }
}

func TestAReviewJudgesAFinishedStep(t *testing.T) {
	e, l := reviewing(t, says("VERDICT: concerns\nSUMMARY: it leaks\nFINDINGS:\n- cache.go:3"))
	id := finished(t, e, spec(t, "a"))
	r, err := e.Review(bg, ref(id, 1), "critic")
	must(t, err)
	if r.Verdict != plan.VerdictConcerns || r.Summary != "it leaks" || *r.Findings != "- cache.go:3" || r.AgentName != "critic" || *r.TokensIn != 10 {
		t.Errorf("review = %+v", r)
	}
	task := l.Started()[1]
	if task.Kind != "review" || task.Allowed != plugin.Run || task.MCPURL != "" || !strings.Contains(task.System, "VERDICT:") {
		t.Errorf("the reviewer's task: kind %s, may %s, tools %q", task.Kind, task.Allowed, task.MCPURL)
	}
	s, err := e.Snapshot(bg, id)
	must(t, err)
	if got := s.Reviews[ref(id, 1)]; got == nil || got.Summary != "it leaks" || len(s.Reviewing) != 0 {
		t.Errorf("the snapshot has %+v, and on their way %v", got, s.Reviewing)
	}
	if n := s.Node(ref(id, 1)); n.State != plan.Done || *n.Result != "did Step a" || n.TokensIn != nil {
		t.Errorf("the review changed its step: %+v", n)
	}
	events, err := e.Events(bg, ref(id, 1), 0, 100)
	must(t, err)
	marked := 0
	for _, ev := range events {
		if strings.Contains(string(ev.Data), `"review":true`) {
			marked++
		}
	}
	if marked != 3 { // who reviews, what it says, its result
		t.Errorf("%d entries of the transcript are marked as the review's, want 3", marked)
	}
	must(t, e.ReworkNode(bg, ref(id, 1), ""))
	text, err := e.Context(bg, ref(id, 1))
	must(t, err)
	if !strings.Contains(text, "REWORK") || !strings.Contains(text, "it leaks") || !strings.Contains(text, "cache.go:3") {
		t.Errorf("the rework is not told what the review found:\n%s", text)
	}
	s = enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	if len(s.Reviews) != 0 {
		t.Errorf("a step that ran again keeps its old review: %+v", s.Reviews)
	}
}

func TestReviewsAreRefusedWhereNothingCanBeJudged(t *testing.T) {
	e, _ := reviewing(t, says("VERDICT: ok"))
	id := submit(t, e, spec(t, "a"))
	_, err := e.Review(bg, ref(id, 1), "critic")
	refused(t, err, plan.Invalid, "only a finished step")
	_, err = e.Review(bg, plan.Ref{Plan: id}, "")
	refused(t, err, plan.Invalid, "no review agent")
	_, err = e.Review(bg, plan.Ref{Plan: id}, "nobody")
	refused(t, err, plan.Invalid, "unknown agent profile")
	_, err = e.Review(bg, ref(id, 7), "critic")
	refused(t, err, plan.NotFound, "no step 7")
}

func TestAReviewWithoutAVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		reply func(plugin.Task) (plugin.Result, error)
		want  string
	}{
		"no verdict": {says("I do not know."), "I do not know."},
		"nothing":    {says(""), "looking"}, // its last words stand for the result
		"an error":   {func(plugin.Task) (plugin.Result, error) { return plugin.Result{}, errors.New("no key") }, "no key"},
		"lost three times": {func(plugin.Task) (plugin.Result, error) {
			return plugin.Result{IsError: true, Transient: true, Errors: []string{"overload"}}, nil
		}, "lost 3 times"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := reviewing(t, c.reply)
			id := finished(t, e, spec(t, "a"))
			r, err := e.Review(bg, ref(id, 1), "critic")
			must(t, err)
			if r.Verdict != plan.VerdictError || !strings.Contains(r.Summary, c.want) || r.Findings != nil {
				t.Errorf("review = %+v, want the verdict error with %q", r, c.want)
			}
		})
	}
}

func TestAPlanThatIsOverIsReviewedByItself(t *testing.T) {
	e, l := reviewing(t, says("VERDICT: ok\nSUMMARY: reached"))
	id := submit(t, e, spec(t, "a b:a"))
	_, err := e.SetReviewAgent(bg, id, "critic")
	must(t, err)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	whole := plan.Ref{Plan: id}
	s := enginetest.Until(t, e, id, "reviewed", func(s *plan.Snapshot) bool { return s.Reviews[whole] != nil })
	if r := s.Reviews[whole]; r.Verdict != plan.VerdictOK || r.Summary != "reached" || len(s.Reviews) != 1 {
		t.Errorf("reviews = %+v; steps that changed nothing are not reviewed", s.Reviews)
	}
	if task := l.Started()[2]; task.Kind != "plan_review" || task.NodeID != 0 || !strings.Contains(task.Prompt, "did Step b") {
		t.Errorf("the reviewer's task is %s of node %d:\n%s", task.Kind, task.NodeID, task.Prompt)
	}
	_, err = e.AddNode(bg, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("more")}})
	must(t, err)
	enginetest.Until(t, e, id, "reviewed anew", func(s *plan.Snapshot) bool {
		return s.Reviews[whole] != nil && s.Reviews[whole].ID > 1 && s.Status(id) == plan.StatusDone
	})
}

func TestANewReviewReplacesTheOneThatRuns(t *testing.T) {
	var calls atomic.Int32
	block := make(chan struct{})
	e, _ := reviewing(t, func(plugin.Task) (plugin.Result, error) {
		if calls.Add(1) == 1 {
			<-block
		}
		return plugin.Result{Text: "VERDICT: ok\nSUMMARY: second"}, nil
	})
	t.Cleanup(func() { close(block) })
	id := finished(t, e, spec(t, "a"))
	first := make(chan error, 1)
	go func() {
		_, err := e.Review(bg, ref(id, 1), "critic")
		first <- err
	}()
	enginetest.Until(t, e, id, "the first runs", func(s *plan.Snapshot) bool {
		r := s.Reviewing[ref(id, 1)]
		return r != nil && r.State == plan.ReviewRunning && calls.Load() == 1
	})
	r, err := e.Review(bg, ref(id, 1), "critic")
	must(t, err)
	if r.Summary != "second" {
		t.Errorf("review = %+v", r)
	}
	refused(t, <-first, plan.Conflict, "given up")
}

func TestStoppingAPlanGivesUpItsReviews(t *testing.T) {
	l := &enginetest.Launcher{Agents: map[string]enginetest.Agent{
		"critic": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			<-ctx.Done()
			return plugin.Result{}, ctx.Err()
		}}}
	o := enginetest.Options(t, nil)
	o.Launcher = l
	e := enginetest.Start(t, o)
	_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("critic"), Harness: p("critic")})
	must(t, err)
	id := submit(t, e, spec(t, "a"))
	_, err = e.SetReviewAgent(bg, id, "critic")
	must(t, err)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "it is reviewed", func(s *plan.Snapshot) bool {
		r := s.Reviewing[plan.Ref{Plan: id}]
		return r != nil && r.State == plan.ReviewRunning && len(l.Started()) == 2
	})
	must(t, e.StopPlan(bg, id))
	s, err := e.Snapshot(bg, id)
	must(t, err)
	if len(s.Reviewing) != 0 || len(s.Reviews) != 0 {
		t.Errorf("after the stop: %v, %v", s.Reviewing, s.Reviews)
	}
	runs, err := e.Runs(bg, plan.Ref{Plan: id})
	must(t, err)
	if len(runs) != 1 || runs[0].Outcome != plan.OutcomeStopped {
		t.Errorf("runs = %+v, want one that was stopped", runs)
	}
}

// A review that waits goes with the step that it is of: nobody tries to begin it again
// and again.
func TestAWaitingReviewGoesWithItsStep(t *testing.T) {
	e, _ := reviewing(t, func(plugin.Task) (plugin.Result, error) {
		return plugin.Result{IsError: true, RateLimited: true, Until: time.Now().Add(time.Hour), Errors: []string{"limit reached"}}, nil
	})
	id := submit(t, e, spec(t, "box b"))
	sub := inside(t, e, ref(id, 1), spec(t, "x y"))
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	must(t, errors.Join(e.StopPlan(bg, id), e.ReworkNode(bg, ref(sub, 2), "again"))) // so that the box waits
	ctx, leave := context.WithCancel(bg)
	asked := make(chan error, 1)
	go func() {
		_, err := e.Review(ctx, ref(sub, 1), "critic")
		asked <- err
	}()
	enginetest.Eventually(t, "the review waits for the limit", func() bool {
		runs, err := e.Runs(bg, ref(sub, 1))
		return err == nil && len(runs) == 2 && runs[1].Outcome == plan.OutcomeLimited
	})
	leave()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("who has left is told %v", err)
	}
	must(t, e.RemoveNode(bg, ref(id, 1)))
	if e.ReviewDueIn(2 * time.Hour) {
		t.Error("the review is to begin, and its step is gone")
	}
}
