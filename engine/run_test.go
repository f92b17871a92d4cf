package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

func TestSubplanRunsWhenItsStepIsReached(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := submit(t, e, spec(t, "a big:a after:big"))
	sub := spec(t, "x y:x")
	sub.WorkingDirectory, sub.ParentPlanID, sub.ParentNodeID = "", id, 2
	inner := submit(t, e, sub)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	c := s.Node(ref(id, 2))
	if c.Subplan != inner || c.RunID != "" {
		t.Errorf("the container has subplan %d and run %q, want %d and none of its own", c.Subplan, c.RunID, inner)
	}
	if c.Result == nil || !strings.Contains(*c.Result, "did Step y") || strings.Contains(*c.Result, "did Step x") {
		t.Errorf("the container's result is that of the last steps inside: %v", c.Result)
	}
	if s.Node(ref(inner, 1)).StartedAt < s.Node(ref(id, 1)).FinishedAt {
		t.Error("the subplan started before its step was reached")
	}
	if got := s.Tally(id).Total; got != 4 {
		t.Errorf("%d leaves, want 4", got)
	}
}

func TestFailureInsideASubplan(t *testing.T) {
	var fail atomic.Bool
	fail.Store(true)
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if task.Title == "Step x" && fail.Load() {
				return plugin.Result{}, errors.New("no")
			}
			return enginetest.Done(ctx, task, h)
		}}))
	id := submit(t, e, spec(t, "big after:big"))
	sub := spec(t, "x y:x")
	sub.WorkingDirectory, sub.ParentPlanID, sub.ParentNodeID = "", id, 1
	inner := submit(t, e, sub)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "the container fails", enginetest.State(ref(id, 1), plan.Failed))
	fail.Store(false)
	for name, r := range map[string]plan.Ref{"inside": ref(inner, 1)} {
		t.Run(name, func(t *testing.T) {
			must(t, e.RetryNode(context.Background(), r))
			enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
		})
	}
}

func TestRetryOfAContainerRetriesWhatFailedInside(t *testing.T) {
	var fail atomic.Bool
	fail.Store(true)
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if fail.Load() {
				return plugin.Result{}, errors.New("no")
			}
			return enginetest.Done(ctx, task, h)
		}}))
	id := submit(t, e, spec(t, "big"))
	sub := spec(t, "x y")
	sub.WorkingDirectory, sub.ParentPlanID, sub.ParentNodeID = "", id, 1
	submit(t, e, sub)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "all failed", func(s *plan.Snapshot) bool { return s.Tally(id).Failed == 2 })
	fail.Store(false)
	must(t, e.RetryNode(context.Background(), ref(id, 1)))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestStopPlanSendsStepsBack(t *testing.T) {
	e, g := gated(t, func(o *engine.Options) { o.MaxConcurrency = 1 })
	id := submit(t, e, spec(t, "a b"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "one runs", running(1))
	must(t, e.StopPlan(context.Background(), id))
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	if got := states(s); got != fmt.Sprintf("%d.1 pending, %d.2 pending", id, id) {
		t.Errorf("after stop: %s", got)
	}
	runs, err := e.Runs(context.Background(), ref(id, 1))
	must(t, err)
	if len(runs) != 1 || runs[0].Outcome != plan.OutcomeStopped {
		t.Errorf("runs = %+v", runs)
	}
	close(g.open)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestStopNodeFailsIt(t *testing.T) {
	e, _ := gated(t, nil)
	id := submit(t, e, spec(t, "a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "it runs", running(1))
	must(t, e.StopNode(context.Background(), ref(id, 1)))
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	if n := s.Node(ref(id, 1)); n.State != plan.Failed || n.Error == nil || *n.Error != "stopped by user" {
		t.Errorf("after stop: %s, error %v", n.State, n.Error)
	}
	if err := e.StopNode(context.Background(), ref(id, 1)); plan.KindOf(err) != plan.Invalid {
		t.Errorf("stop of a failed step: %v, want invalid", err)
	}
}

func TestMarkDoneEndsTheAgent(t *testing.T) {
	e, g := gated(t, nil)
	id := submit(t, e, spec(t, "a b:a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "it runs", running(1))
	must(t, e.MarkDone(context.Background(), ref(id, 1), nil))
	s := enginetest.Until(t, e, id, "b runs", enginetest.State(ref(id, 2), plan.Running))
	if got := *s.Node(ref(id, 1)).Result; !strings.HasPrefix(got, "working on Step a") && got == "" {
		t.Errorf("result = %q", got)
	}
	close(g.open)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestResetForgetsWhatRunsDid(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := submit(t, e, spec(t, "a b:a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	must(t, e.ResetPlan(context.Background(), id))
	s, err := e.Snapshot(context.Background(), id)
	must(t, err)
	if got := states(s); got != fmt.Sprintf("%d.1 pending, %d.2 pending", id, id) {
		t.Errorf("after reset: %s", got)
	}
	events, err := e.Events(context.Background(), ref(id, 1), 0, 100)
	must(t, err)
	if len(events) != 0 || s.Node(ref(id, 1)).Result != nil {
		t.Errorf("after reset there are %d events and result %v", len(events), s.Node(ref(id, 1)).Result)
	}
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "done again", enginetest.Status(plan.StatusDone))
}

func TestClaimGivesEachStepOnce(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "")
	for i := range 64 {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprint("Step ", i), Files: []string{fmt.Sprintf("f%d", i/2)}})
	}
	id := submit(t, e, in)
	if got, err := e.Claim(context.Background(), "x", 0); got != nil || err != nil {
		t.Fatalf("claim before the start: %v, %v", got, err)
	}
	must(t, e.StartPlan(context.Background(), id, plan.External))
	var given sync.Map
	var all sync.WaitGroup
	var count atomic.Int32
	for i := range 16 {
		all.Go(func() {
			for {
				c, err := e.Claim(context.Background(), fmt.Sprint("agent ", i), 0)
				if err != nil {
					t.Errorf("claim: %v", err)
					return
				}
				if c == nil {
					if count.Load() == 64 {
						return
					}
					continue
				}
				if _, twice := given.LoadOrStore(c.NodeID, i); twice {
					t.Errorf("step %d was given twice", c.NodeID)
				}
				if err := e.Complete(context.Background(), engine.CompleteIn{Ref: ref(c.PlanID, int(c.NodeID)), Run: c.Run, Result: "ok"}); err != nil {
					t.Errorf("complete: %v", err)
				}
				count.Add(1)
			}
		})
	}
	all.Wait()
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestTwoStartsAreOneRun(t *testing.T) {
	e, g := gated(t, nil)
	id := submit(t, e, spec(t, "a"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { must(t, e.StartPlan(context.Background(), id, plan.Builtin)) })
	}
	all.Wait()
	close(g.open)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	runs, err := e.Runs(context.Background(), ref(id, 1))
	must(t, err)
	if len(runs) != 1 {
		t.Errorf("%d runs, want 1", len(runs))
	}
}

func TestSubmitListsEveryFault(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: " ", WorkingDirectory: "relative", OnFailure: "explode"},
		Nodes: []engine.NodeSpec{
			{Key: "a", Title: "A", Files: []string{"../out"}},
			{Key: "a", Title: "A again"},
			{Key: "b", Title: "", Kind: "robot"},
			{Key: "c", Title: "C", Agent: "nobody", ResultsFrom: []string{"d"}},
			{Key: "d", Title: "D", TaskType: "magic", AcceptanceCriteria: []string{" "}},
		},
		Edges: [][]string{{"a", "nope"}, {"a", "a"}, {"b", "d"}, {"d", "b"}, {"a"}}}
	_, err := e.SubmitPlan(context.Background(), in)
	if plan.KindOf(err) != plan.Invalid {
		t.Fatalf("error = %v, want invalid", err)
	}
	for _, want := range []string{"nothing was created", "title must not be empty", "absolute path", "on_failure",
		"escapes", "duplicate node key 'a'", `node "b": title`, `unknown kind "robot"`, "unknown agent profile 'nobody'",
		"results_from names ['d']", "task_type", "acceptance_criteria", "unknown node key 'nope'", "self-loops",
		"would create a cycle: b → d → b", "edges[4]"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%s", want, err)
		}
	}
	if list, err := e.Overviews(context.Background()); err != nil || len(list) != 0 {
		t.Errorf("plans after a refused one: %v, %v", list, err)
	}
}

func TestPlansInOneFolder(t *testing.T) {
	e, g := gated(t, nil)
	in := spec(t, "a")
	first := submit(t, e, in)
	second := in
	second.WorkingDirectory = filepath.Join(in.WorkingDirectory, "inner")
	must(t, os.Mkdir(second.WorkingDirectory, 0o755))
	other := submit(t, e, second)
	must(t, e.StartPlan(context.Background(), first, plan.Builtin))
	err := e.StartPlan(context.Background(), other, plan.Builtin)
	if plan.KindOf(err) != plan.Invalid || !strings.Contains(err.Error(), fmt.Sprintf("plan %d", first)) {
		t.Errorf("start in a folder in use: %v", err)
	}
	second.Start = plan.External
	if _, err := e.SubmitPlan(context.Background(), second); !strings.Contains(fmt.Sprint(err), "nothing was created") {
		t.Errorf("submit and start in a folder in use: %v", err)
	}
	close(g.open)
	enginetest.Until(t, e, first, "done", enginetest.Status(plan.StatusDone))
	must(t, e.StartPlan(context.Background(), other, plan.Builtin))
}

func TestEditsOfARunningPlan(t *testing.T) {
	e, g := gated(t, nil)
	id := submit(t, e, spec(t, "a b:a"))
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	enginetest.Until(t, e, id, "a runs", running(1))
	ctx := context.Background()
	r, err := e.AddNode(ctx, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("Step c")}})
	must(t, err)
	enginetest.Until(t, e, id, "the new step runs", running(2))
	for what, err := range map[string]error{
		"an edge into a running step": e.AddEdge(ctx, engine.EdgeIn{PlanID: id, From: 2, To: 1}),
		"a self-loop":                 e.AddEdge(ctx, engine.EdgeIn{PlanID: id, From: 2, To: 2}),
		"removing a running step":     e.RemoveNode(ctx, ref(id, 1)),
		"files of a running step":     e.UpdateNode(ctx, engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: engine.NodeFields{Files: &[]string{"x"}}}),
	} {
		if plan.KindOf(err) != plan.Invalid {
			t.Errorf("%s: %v, want invalid", what, err)
		}
	}
	must(t, e.AddEdge(ctx, engine.EdgeIn{PlanID: id, From: r.Node, To: 2}))
	must(t, e.RemoveEdge(ctx, engine.EdgeIn{PlanID: id, From: 1, To: 2}))
	close(g.open)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestCycleIsNamed(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	id := submit(t, e, spec(t, "a b:a c:b"))
	err := e.AddEdge(context.Background(), engine.EdgeIn{PlanID: id, From: 3, To: 1})
	if !strings.Contains(fmt.Sprint(err), "would create a cycle: 1 → 2 → 3 → 1") {
		t.Errorf("error = %v", err)
	}
}

func TestMisconfiguredAgentFailsTheStepAtOnce(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "a")
	in.Nodes[0].Agent = "claude" // there is no such harness among those of the test
	id := submit(t, e, in)
	must(t, e.StartPlan(context.Background(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "failed", enginetest.Status(plan.StatusFailed))
	if got := *s.Node(ref(id, 1)).Error; !strings.Contains(got, "harness-claude") {
		t.Errorf("error = %q, want what to install", got)
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
