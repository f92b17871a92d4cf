package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// spec writes a plan in a line: "a b:a c:a,b" is three steps, b after a, c after both.
func spec(t *testing.T, text string) engine.SubmitPlanIn {
	t.Helper()
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Plan of " + t.Name(), WorkingDirectory: t.TempDir()}}
	for _, word := range strings.Fields(text) {
		key, after, _ := strings.Cut(word, ":")
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: key, Title: "Step " + key})
		for _, from := range strings.FieldsFunc(after, func(r rune) bool { return r == ',' }) {
			in.Edges = append(in.Edges, []string{from, key})
		}
	}
	return in
}

func submit(t *testing.T, e *engine.Engine, in engine.SubmitPlanIn) plan.PlanID {
	t.Helper()
	out, err := e.SubmitPlan(context.Background(), in)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	return out.PlanID
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func states(s *plan.Snapshot) string {
	var out []string
	s.Walk(func(n *plan.Node) { out = append(out, fmt.Sprintf("%s %s", n.Ref(), n.State)) })
	return strings.Join(out, ", ")
}

func ref(p plan.PlanID, n int) plan.Ref { return plan.Ref{Plan: p, Node: plan.NodeID(n)} }

func TestPlanRunsInOrder(t *testing.T) {
	var mu sync.Mutex
	var order []string
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			mu.Lock()
			order = append(order, task.Title)
			mu.Unlock()
			return enginetest.Done(ctx, task, h)
		}}))
	in := spec(t, "a b:a c:b d:c")
	in.Nodes[3].ResultsFrom = []string{"a"}
	id := submit(t, e, in)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	if diff := cmp.Diff([]string{"Step a", "Step b", "Step c", "Step d"}, order); diff != "" {
		t.Errorf("order of runs:\n%s", diff)
	}
	n := s.Node(ref(id, 4))
	if n.Result == nil || *n.Result != "did Step d" {
		t.Errorf("result = %v", n.Result)
	}
	text, err := e.Context(context.Background(), ref(id, 4))
	must(t, err)
	if !strings.Contains(text, "did Step a") || strings.Contains(text, "did Step b") {
		t.Errorf("the prompt has the requested result and no other:\n%s", text)
	}
	for i := 1; i < 4; i++ {
		if s.Node(ref(id, i)).FinishedAt > s.Node(ref(id, i+1)).StartedAt {
			t.Errorf("step %d started before step %d was done", i+1, i)
		}
	}
	if s.Root().FinishedAt == 0 {
		t.Error("the plan has no end")
	}
}

// gate is an agent that waits until the test lets it go on.
type gate struct {
	mu      sync.Mutex
	running int
	most    int // that ran at once
	open    chan struct{}
}

func (g *gate) count(delta int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running += delta
	g.most = max(g.most, g.running)
}

func (g *gate) agent(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	g.count(1)
	defer g.count(-1)
	h.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: "s"}))
	h.Emit(plugin.Text("working on "+t.Title, ""))
	select {
	case <-g.open:
		return plugin.Result{Text: "did " + t.Title}, nil
	case <-ctx.Done():
		return plugin.Result{}, ctx.Err()
	}
}

func gated(t *testing.T, change func(*engine.Options)) (*engine.Engine, *gate) {
	g := &gate{open: make(chan struct{})}
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": g.agent})
	if change != nil {
		change(&o)
	}
	return enginetest.Start(t, o), g
}

// running is true when so many agents have begun to talk.
func running(want int) func(*plan.Snapshot) bool {
	return func(s *plan.Snapshot) bool {
		talking := slices.DeleteFunc(s.Active(), func(n *plan.Node) bool { return n.SessionID == "" })
		return len(talking) == want
	}
}

func TestLimitsOnAgentsAtOnce(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		e, g := gated(t, func(o *engine.Options) { o.MaxConcurrency = 2 })
		id := submit(t, e, spec(t, "a b c d"))
		must(t, e.StartPlan(context.Background(), id, plan.Builtin))
		s := enginetest.Until(t, e, id, "two run", running(2))
		if got := s.Holds[ref(id, 3)].Phase; got != plan.PhaseSlot {
			t.Errorf("step 3 waits for %q, want a slot", got)
		}
		close(g.open)
		enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
		if g.most != 2 {
			t.Errorf("%d agents ran at once, want 2", g.most)
		}
	})
	t.Run("plan", func(t *testing.T) {
		e, g := gated(t, nil)
		in := spec(t, "a b c")
		in.MaxParallel = 1
		id := submit(t, e, in)
		must(t, e.StartPlan(context.Background(), id, plan.Builtin))
		enginetest.Until(t, e, id, "one runs", running(1))
		close(g.open)
		enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
		if g.most != 1 {
			t.Errorf("%d agents ran at once, want 1", g.most)
		}
	})
	t.Run("profile", func(t *testing.T) {
		e, g := gated(t, nil)
		_, err := e.CreateProfile(context.Background(), engine.ProfileFields{Name: p("slow"), Harness: p("mock"), MaxParallel: p(1)})
		must(t, err)
		in := spec(t, "a b c")
		in.Nodes[0].Agent, in.Nodes[1].Agent = "slow", "slow"
		id := submit(t, e, in)
		must(t, e.StartPlan(context.Background(), id, plan.Builtin))
		s := enginetest.Until(t, e, id, "two run", running(2))
		if s.Node(ref(id, 2)).State != plan.Ready {
			t.Errorf("both steps of a profile with max_parallel 1 run: %s", states(s))
		}
		close(g.open)
		enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	})
}

func p[T any](v T) *T { return &v }

func TestStepsThatShareFilesTakeTurns(t *testing.T) {
	e, g := gated(t, nil)
	in := spec(t, "a b c")
	in.Nodes[0].Files, in.Nodes[1].Files, in.Nodes[2].Files = []string{"src/"}, []string{"SRC/x.go"}, []string{"docs"}
	id := submit(t, e, in)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "two run", running(2))
	want := plan.Hold{Phase: plan.PhaseFiles, By: ref(id, 1), Reason: plan.HeldRunning}
	if got := s.Holds[ref(id, 2)]; got != want {
		t.Errorf("step 2 waits for %+v, want %+v", got, want)
	}
	close(g.open)
	s = enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	if s.Node(ref(id, 1)).FinishedAt > s.Node(ref(id, 2)).StartedAt {
		t.Error("two steps that share a file ran at once")
	}
}

func TestFailureHoldsDependantsUntilRetry(t *testing.T) {
	var fail atomic.Bool
	fail.Store(true)
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if task.Title == "Step a" && fail.Load() {
				return plugin.Result{}, errors.New("no such luck")
			}
			return enginetest.Done(ctx, task, h)
		}}))
	id := submit(t, e, spec(t, "a b:a c"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "a failed, c done", func(s *plan.Snapshot) bool {
		return s.Node(ref(id, 1)).State == plan.Failed && s.Node(ref(id, 3)).State == plan.Done
	})
	if got := s.Node(ref(id, 2)).State; got != plan.Pending {
		t.Errorf("the dependant is %s, want pending", got)
	}
	if got := *s.Node(ref(id, 1)).Error; got != "no such luck" {
		t.Errorf("error = %q", got)
	}
	fail.Store(false)
	must(t, e.RetryNode(context.Background(), ref(id, 1)))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	runs, err := e.Runs(context.Background(), ref(id, 1))
	must(t, err)
	if len(runs) != 2 || runs[0].Outcome != plan.OutcomeFailed || runs[1].Outcome != plan.OutcomeDone {
		t.Errorf("runs = %+v, want one failed and one done", runs)
	}
	if err := e.RetryNode(context.Background(), ref(id, 1)); plan.KindOf(err) != plan.Invalid {
		t.Errorf("retry of a done step: %v, want invalid", err)
	}
}

func TestFailurePolicySkip(t *testing.T) {
	var fail atomic.Bool
	fail.Store(true)
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if task.Title == "Step a" && fail.Load() {
				return plugin.Result{}, errors.New("no")
			}
			return enginetest.Done(ctx, task, h)
		}}))
	in := spec(t, "a b:a c:b d")
	in.OnFailure = "skip"
	id := submit(t, e, in)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "b and c skipped", func(s *plan.Snapshot) bool {
		return s.Node(ref(id, 3)).State == plan.Skipped && s.Node(ref(id, 4)).State == plan.Done
	})
	if n := s.Node(ref(id, 3)); n.SkippedBy != plan.SkippedByFailure || n.SkippedCause != 1 {
		t.Errorf("step 3 was skipped by %q because of %d", n.SkippedBy, n.SkippedCause)
	}
	if got := s.Status(id); got != plan.StatusFailed {
		t.Errorf("the plan is %s, want failed", got)
	}
	fail.Store(false)
	must(t, e.RetryNode(context.Background(), ref(id, 1)))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestUserStepWaitsForAPerson(t *testing.T) {
	launcher := enginetest.Options(t, nil)
	e := enginetest.Start(t, launcher)
	in := spec(t, "a you:a b:you")
	in.Nodes[1].Kind = "user"
	in.Nodes[2].ResultsFrom = []string{"you"}
	id := submit(t, e, in)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "it waits", enginetest.State(ref(id, 2), plan.Ready))
	if w := s.Waiting(); len(w) != 1 || w[0].Ref() != ref(id, 2) {
		t.Errorf("waiting = %v", w)
	}
	if got := s.Tally(id).Waiting; got != 1 {
		t.Errorf("tally counts %d waiting, want 1", got)
	}
	must(t, e.MarkDone(context.Background(), ref(id, 2), p("merged as !7")))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	text, err := e.Context(context.Background(), ref(id, 3))
	must(t, err)
	if !strings.Contains(text, "merged as !7") {
		t.Errorf("the person's result is not in the prompt:\n%s", text)
	}
	if err := e.MarkDone(context.Background(), ref(id, 2), nil); plan.KindOf(err) != plan.Invalid {
		t.Errorf("mark a done step done: %v, want invalid", err)
	}
}

func TestInterruptedStepIsRunAgainThreeTimesAtMost(t *testing.T) {
	var runs atomic.Int32
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			runs.Add(1)
			return plugin.Result{IsError: true, Transient: true, Errors: []string{"overloaded"}}, nil
		}}))
	id := submit(t, e, spec(t, "a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "failed", enginetest.Status(plan.StatusFailed))
	n := s.Node(ref(id, 1))
	if runs.Load() != 3 || n.Interruptions != 3 || n.Attempts != 0 {
		t.Errorf("%d runs, %d interruptions, %d attempts; want 3, 3, 0", runs.Load(), n.Interruptions, n.Attempts)
	}
	if !strings.Contains(*n.Error, "overloaded") {
		t.Errorf("error = %q", *n.Error)
	}
}

func TestQuestionIsAnsweredByAPerson(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			a, err := h.Ask(ctx, plugin.Question{Tool: "Bash", Text: "may I?"})
			return plugin.Result{Text: fmt.Sprint(a.Allow, " ", a.Message)}, err
		}}))
	id := submit(t, e, spec(t, "a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "it asks", func(s *plan.Snapshot) bool { return len(s.Questions) == 1 })
	q := s.Questions[0]
	_, err := e.AnswerQuestion(context.Background(), q.RunID, q.ID, "allow", "go on")
	must(t, err)
	if _, err := e.AnswerQuestion(context.Background(), q.RunID, q.ID, "deny", ""); plan.KindOf(err) != plan.Conflict {
		t.Errorf("second answer: %v, want conflict", err)
	}
	s = enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	if got := *s.Node(ref(id, 1)).Result; got != "true go on" {
		t.Errorf("result = %q", got)
	}
}

func TestSubscriberMissesNothing(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	sub := e.Subscribe(0, 0)
	id := submit(t, e, spec(t, "a b:a c:b"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	collect := func(sub *engine.Subscription) (seqs []int64) {
		for sub.Cursor() < s.Seq {
			changes, err := sub.Next(context.Background())
			must(t, err)
			for _, c := range changes {
				seqs = append(seqs, c.Seq)
			}
		}
		return seqs
	}
	live := collect(sub)
	if !slices.IsSorted(live) {
		t.Error("changes are out of order")
	}
	if diff := cmp.Diff(live, collect(e.Subscribe(0, 0))); diff != "" {
		t.Errorf("a second reader sees something else:\n%s", diff)
	}
}
