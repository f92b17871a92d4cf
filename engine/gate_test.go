package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// court is an engine whose judge answers from a list, the last for ever.
type court struct {
	*engine.Engine
	mu      sync.Mutex
	replies []string
	tasks   []plugin.Task // of the judge
}

func newCourt(t *testing.T, replies ...string) *court {
	t.Helper()
	c := &court{replies: replies}
	o := enginetest.Options(t, map[string]enginetest.Agent{"judge": c.reply})
	c.Engine = enginetest.Start(t, o)
	_, err := c.CreateProfile(bg, engine.ProfileFields{Name: p("judge"), Harness: p("judge")})
	must(t, err)
	return c
}

func (c *court) reply(_ context.Context, task plugin.Task, _ plugin.Host) (plugin.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if task.Kind == string(plan.RunPlanReview) {
		return plugin.Result{Text: "VERDICT: ok"}, nil
	}
	c.tasks = append(c.tasks, task)
	text := c.replies[0]
	if len(c.replies) > 1 {
		c.replies = c.replies[1:]
	}
	return plugin.Result{Text: text}, nil
}

// gated submits and starts a plan with gates, judged by the court.
func (c *court) gated(t *testing.T, in engine.SubmitPlanIn) plan.PlanID {
	t.Helper()
	in.ReviewPolicy = "gate"
	id := submit(t, c.Engine, in)
	_, err := c.SetReviewAgent(bg, id, "judge")
	must(t, err)
	must(t, c.StartPlan(bg, id, plan.Builtin))
	return id
}

const (
	pass = `{"criteria":[{"number":1,"verdict":"met","evidence":"seen"}],"verdict":"pass","reason":"fine"}`
	fail = `{"criteria":[{"number":1,"verdict":"unmet","evidence":"a.go:7"}],"verdict":"fail","reason":"a nil map"}`
)

func TestAStepThatPassesItsGateLetsOthersStart(t *testing.T) {
	c := newCourt(t, pass)
	id := c.gated(t, spec(t, "a b:a"))
	s := enginetest.Until(t, c.Engine, id, "done", enginetest.Status(plan.StatusDone))
	j := s.Judged[ref(id, 1)]
	if j == nil || j.Verdict != plan.VerdictOK || len(j.Criteria) != 1 || j.Criteria[0].Evidence != "seen" {
		t.Errorf("judgement = %+v", j)
	}
	if n := s.Node(ref(id, 1)); n.Attempts != 1 || *n.Result != "did Step a" {
		t.Errorf("%d attempts, result %q", n.Attempts, *n.Result)
	}
	if task := c.tasks[0]; task.Kind != "judge" || task.Allowed != plugin.Run || task.MCPURL != "" {
		t.Errorf("the judge is %s with %s and tools %q", task.Kind, task.Allowed, task.MCPURL)
	}
}

func TestAStepThatDoesNotPassIsTriedAgainWithWhatIsMissing(t *testing.T) {
	c := newCourt(t, fail, fail, pass)
	in := spec(t, "a b:a")
	in.MaxAttempts = 3
	in.Nodes[0].AcceptanceCriteria = []string{"no panics"}
	id := c.gated(t, in)
	s := enginetest.Until(t, c.Engine, id, "done", enginetest.Status(plan.StatusDone))
	if n := s.Node(ref(id, 1)); n.Attempts != 3 {
		t.Errorf("%d attempts, want 3", n.Attempts)
	}
	runs, err := c.Runs(bg, ref(id, 1))
	must(t, err)
	if len(runs) != 6 {
		t.Fatalf("%d runs, want three attempts and three judges", len(runs))
	}
	third, err := c.RunOf(bg, ref(id, 1), 5)
	must(t, err)
	for _, want := range []string{"REWORK", "a nil map", "unmet: no panics (a.go:7)"} {
		if !strings.Contains(third.Prompt, want) {
			t.Errorf("the third attempt is not told %q:\n%s", want, third.Prompt)
		}
	}
	all, err := c.Judgements(bg, ref(id, 1))
	must(t, err)
	if len(all) != 3 || all[0].Verdict != plan.VerdictConcerns || all[2].Verdict != plan.VerdictOK {
		t.Errorf("judgements = %+v, want all three kept", all)
	}
}

func TestAStepThatNeverPassesFails(t *testing.T) {
	c := newCourt(t, fail)
	in := spec(t, "a b:a c")
	in.MaxAttempts, in.OnFailure = 2, "skip"
	id := c.gated(t, in)
	s := enginetest.Until(t, c.Engine, id, "over", func(s *plan.Snapshot) bool {
		return s.Node(ref(id, 1)).State == plan.Failed && s.Node(ref(id, 2)).State == plan.Skipped && s.Node(ref(id, 3)).State == plan.Failed
	})
	if text := *s.Node(ref(id, 1)).Error; !strings.Contains(text, "did not pass its gate in 2 of 2 attempts") || !strings.Contains(text, "a nil map") {
		t.Errorf("error = %q", text)
	}
	must(t, c.RetryNode(bg, ref(id, 1)))
	enginetest.Until(t, c.Engine, id, "two more attempts", func(s *plan.Snapshot) bool {
		n := s.Node(ref(id, 1))
		return n.State == plan.Failed && n.Attempts == 4
	})
}

func TestAJudgeWithoutSenseIsAskedOnceMoreThenAPersonDecides(t *testing.T) {
	for name, decide := range map[string]func(*court, plan.Ref) error{
		"accept":      func(c *court, r plan.Ref) error { return c.Accept(bg, r, "looks right") },
		"mark done":   func(c *court, r plan.Ref) error { return c.MarkDone(bg, r, nil) },
		"judge again": func(c *court, r plan.Ref) error { return c.JudgeAgain(bg, r) },
		"rework":      func(c *court, r plan.Ref) error { return c.ReworkNode(bg, r, "once more") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(t, "I like it.", "Really.", pass)
			id := c.gated(t, spec(t, "a b:a"))
			r := ref(id, 1)
			s := enginetest.Until(t, c.Engine, id, "it waits for a person", func(s *plan.Snapshot) bool {
				return s.Node(r).Phase == plan.PhaseNeedsPerson
			})
			if j := s.Judged[r]; j.Verdict != plan.VerdictError || s.Node(r).Attempts != 0 {
				t.Errorf("judgement %+v, %d attempts", j, s.Node(r).Attempts)
			}
			if !strings.Contains(c.tasks[1].Prompt, "no JSON object") {
				t.Error("the judge is not told what was wrong with its reply")
			}
			must(t, decide(c, r))
			enginetest.Until(t, c.Engine, id, "done", enginetest.Status(plan.StatusDone))
		})
	}
	c := newCourt(t, pass)
	id := c.gated(t, spec(t, "a"))
	enginetest.Until(t, c.Engine, id, "done", enginetest.Status(plan.StatusDone))
	refused(t, c.Accept(bg, ref(id, 1), ""), plan.Invalid, "does not wait")
}

func TestACheckCommandThatFailsCannotBeOverruled(t *testing.T) {
	c := newCourt(t, pass, pass, fail, pass)
	in := spec(t, "a")
	in.MaxAttempts, in.CheckCommand = 2, "test -e ok || { echo no ok; exit 9; }"
	id := c.gated(t, in)
	s := enginetest.Until(t, c.Engine, id, "a person decides", func(s *plan.Snapshot) bool { return s.Node(ref(id, 1)).Phase == plan.PhaseNeedsPerson })
	if j := s.Judged[ref(id, 1)]; *j.CheckExit != 9 || !strings.Contains(j.CheckText, "no ok") {
		t.Errorf("judgement = %+v", j)
	}
	must(t, c.JudgeAgain(bg, ref(id, 1)))
	enginetest.Until(t, c.Engine, id, "the second attempt ran", func(s *plan.Snapshot) bool { return len(c.seen()) >= 4 })
	third := c.seen()[2]
	if !strings.Contains(third.Prompt, "exit code 9") {
		t.Errorf("the judge does not see the check:\n%s", third.Prompt)
	}
	must(t, os.WriteFile(filepath.Join(in.WorkingDirectory, "ok"), nil, 0o644))
	s = enginetest.Until(t, c.Engine, id, "a person or nobody", func(s *plan.Snapshot) bool {
		n := s.Node(ref(id, 1))
		return n.State == plan.Done || n.Phase == plan.PhaseNeedsPerson
	})
	if s.Node(ref(id, 1)).State != plan.Done {
		must(t, c.JudgeAgain(bg, ref(id, 1)))
		enginetest.Until(t, c.Engine, id, "done", enginetest.Status(plan.StatusDone))
	}
	var briefed bool
	runs, err := c.Runs(bg, ref(id, 1))
	must(t, err)
	for _, r := range runs {
		if full, err := c.RunOf(bg, ref(id, 1), r.Number); err == nil && r.Kind == plan.RunStep && strings.Contains(full.Prompt, "no ok") {
			briefed = true
		}
	}
	if !briefed {
		t.Error("the second attempt was not told what the check printed")
	}
}

func (c *court) seen() []plugin.Task {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]plugin.Task(nil), c.tasks...)
}

func TestStoppingAPlanAtAGate(t *testing.T) {
	for _, in := range []string{"check", "judge"} {
		t.Run(in, func(t *testing.T) {
			started := make(chan struct{}, 9)
			o := enginetest.Options(t, map[string]enginetest.Agent{"judge": func(ctx context.Context, _ plugin.Task, _ plugin.Host) (plugin.Result, error) {
				started <- struct{}{}
				<-ctx.Done()
				return plugin.Result{}, ctx.Err()
			}})
			e := enginetest.Start(t, o)
			_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("judge"), Harness: p("judge")})
			must(t, err)
			s := spec(t, "a")
			s.ReviewPolicy = "gate"
			phase := plan.PhaseReviewing
			if in == "check" {
				s.CheckCommand, phase = "sleep 600", plan.PhaseChecking
			}
			id := submit(t, e, s)
			_, err = e.SetReviewAgent(bg, id, "judge")
			must(t, err)
			must(t, e.StartPlan(bg, id, plan.Builtin))
			enginetest.Until(t, e, id, "it is at its gate", func(s *plan.Snapshot) bool { return s.Node(ref(id, 1)).Phase == phase })
			if in == "judge" {
				<-started
			}
			must(t, e.StopPlan(bg, id))
			snap, err := e.Snapshot(bg, id)
			must(t, err)
			if n := snap.Node(ref(id, 1)); n.State != plan.Pending || len(snap.Judging) != 0 {
				t.Errorf("after the stop the step is %s, and judged: %v", n.State, snap.Judging)
			}
		})
	}
}

func TestAGateSurvivesARestart(t *testing.T) {
	var mu sync.Mutex
	judged := 0
	o := enginetest.Options(t, map[string]enginetest.Agent{"judge": func(ctx context.Context, _ plugin.Task, h plugin.Host) (plugin.Result, error) {
		mu.Lock()
		judged++
		first := judged == 1
		mu.Unlock()
		h.Emit(plugin.Text("looking", ""))
		if first {
			<-ctx.Done()
			return plugin.Result{}, ctx.Err()
		}
		return plugin.Result{Text: pass}, nil
	}})
	e, stop := enginetest.Run(t, o)
	_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("judge"), Harness: p("judge")})
	must(t, err)
	in := spec(t, "a")
	in.ReviewPolicy, in.CheckCommand = "gate", "true"
	id := submit(t, e, in)
	_, err = e.SetReviewAgent(bg, id, "judge")
	must(t, err)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "it is judged", func(s *plan.Snapshot) bool {
		mu.Lock()
		defer mu.Unlock()
		return judged == 1 && s.Judging[ref(id, 1)] != nil
	})
	stop()
	e = enginetest.Start(t, o)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	runs, err := e.Runs(bg, ref(id, 1))
	must(t, err)
	var kinds []string
	for _, r := range runs {
		kinds = append(kinds, fmt.Sprintf("%s %s", r.Kind, r.Outcome))
	}
	if got := strings.Join(kinds, ", "); got != "step done, judge stopped, judge done" {
		t.Errorf("runs: %s; a restart repeats only the judge", got)
	}
}
