package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// writing is an agent that writes files: path to content.
func writing(files map[string]string) enginetest.Agent {
	return func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		for path, text := range files {
			if err := os.WriteFile(filepath.Join(task.WorkDir, path), []byte(text), 0o644); err != nil {
				return plugin.Result{}, err
			}
		}
		return enginetest.Done(ctx, task, h)
	}
}

// watching is an engine that takes snapshots.
func watching(t *testing.T, a enginetest.Agent) *engine.Engine {
	t.Helper()
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": a})
	o.NoSnapshots = false
	return enginetest.Start(t, o)
}

func paths(files []plan.FileDiff) []string {
	out := []string{}
	for _, f := range files {
		what := f.Path + " " + string(f.Kind)
		if !f.Declared {
			what += " undeclared"
		}
		out = append(out, what)
	}
	return out
}

func TestWhatAStepChangedIsKept(t *testing.T) {
	e := watching(t, writing(map[string]string{"a.txt": "new\n", "other.txt": "x\n"}))
	in := spec(t, "a b:a")
	in.Nodes[0].Files = []string{"a.txt"}
	in.Nodes[1].ResultsFrom = []string{"a"}
	must(t, os.WriteFile(filepath.Join(in.WorkingDirectory, "a.txt"), []byte("old\n"), 0o644))
	id := finished(t, e, in)
	files, err := e.Diffs(bg, ref(id, 1))
	must(t, err)
	if diff := cmp.Diff([]string{"a.txt changed", "other.txt added undeclared"}, paths(files)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if !strings.Contains(files[0].Diff, "-old\n+new") {
		t.Errorf("the diff is\n%s", files[0].Diff)
	}
	s, err := e.Snapshot(bg, id)
	must(t, err)
	n := s.Node(ref(id, 1))
	if diff := cmp.Diff([]string{"other.txt"}, n.Undeclared); diff != "" || n.UndeclaredShared {
		t.Errorf("undeclared (-want +got), shared %v:\n%s", n.UndeclaredShared, diff)
	}
	runs, err := e.Runs(bg, ref(id, 1))
	must(t, err)
	if r := runs[0]; r.BaseTree == "" || r.EndTree == "" || r.BaseTree == r.EndTree || r.BaseTook <= 0 || r.EndTook <= 0 {
		t.Errorf("the run's snapshots: %q in %v s, %q in %v s", r.BaseTree, r.BaseTook, r.EndTree, r.EndTook)
	}
	text, err := e.Context(bg, ref(id, 2))
	must(t, err)
	if !strings.Contains(text, "a.txt (changed, +1 −1)") {
		t.Errorf("the result that is handed on does not name what changed:\n%s", text)
	}
	md, err := e.Export(bg, id, true)
	must(t, err)
	if !strings.Contains(md, "<summary>a.txt (+1 −1)</summary>") || !strings.Contains(md, "declared files (1): `other.txt`") {
		t.Errorf("the export lacks the changes:\n%s", md)
	}
}

func TestClaimedStepsAreWatchedToo(t *testing.T) {
	e := watching(t, enginetest.Done)
	in := spec(t, "a b")
	in.Nodes[0].Files, in.Nodes[1].Files, in.Start = []string{"src/"}, []string{"b.txt"}, plan.External
	id := submit(t, e, in)
	write := func(path, text string) {
		path = filepath.Join(in.WorkingDirectory, path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	first, err := e.Claim(bg, "me", 0)
	must(t, err)
	second, err := e.Claim(bg, "you", 0)
	must(t, err)
	write("src/a.go", "package a\n")
	write("b.txt", "b\n")
	must(t, e.Complete(bg, engine.CompleteIn{Ref: ref(id, int(first.NodeID)), Result: "did"}))
	must(t, e.FailClaimed(bg, ref(id, int(second.NodeID)), 0, "no"))
	for n, want := range map[int][]string{1: {"b.txt added undeclared", "src/a.go added"}, 2: {"b.txt added", "src/a.go added undeclared"}} {
		files, err := e.Diffs(bg, ref(id, n))
		must(t, err)
		if diff := cmp.Diff(want, paths(files)); diff != "" {
			t.Errorf("changes of step %d (-want +got):\n%s", n, diff)
		}
		s, err := e.Snapshot(bg, id)
		must(t, err)
		if !s.Node(ref(id, n)).UndeclaredShared {
			t.Errorf("step %d: another one ran meanwhile, and that is not said", n)
		}
	}
}

func TestAReviewerSeesWhatAStepChanged(t *testing.T) {
	l := &enginetest.Launcher{Agents: map[string]enginetest.Agent{"mock": writing(map[string]string{"a.txt": "new\n"}),
		"critic": func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
			return plugin.Result{Text: "VERDICT: ok\nSUMMARY: fine"}, nil
		}}}
	o := enginetest.Options(t, nil)
	o.Launcher, o.NoSnapshots = l, false
	e := enginetest.Start(t, o)
	_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("critic"), Harness: p("critic")})
	must(t, err)
	in := spec(t, "a")
	in.Nodes[0].Files = []string{"a.txt"}
	id := submit(t, e, in)
	_, err = e.SetReviewAgent(bg, id, "critic")
	must(t, err)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "step and plan are reviewed", func(s *plan.Snapshot) bool { return len(s.Reviews) == 2 })
	tasks := l.Started()
	if len(tasks) != 3 || tasks[1].Kind != "review" || tasks[2].Kind != "plan_review" {
		t.Fatalf("%d runs: want the step, its review, then the plan's", len(tasks))
	}
	if !strings.Contains(tasks[1].Prompt, "+new") || !strings.Contains(tasks[2].Prompt, "Its review: ok. fine") {
		t.Errorf("the prompts lack the diff or the step's review:\n%s\n%s", tasks[1].Prompt, tasks[2].Prompt)
	}
}
