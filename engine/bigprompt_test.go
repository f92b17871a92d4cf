package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// hostile is a description of two megabytes that begins like a flag, and holds
// what a shell, a line reader or a template would spoil.
var hostile = "--help -rf /\n" + strings.Repeat("-n 'single' \"double\" `tick` ``` $HOME {{.}} % \\ \r\n\tünïcödé 😀 \u2028\ufeff", 2<<20/60) + "\n- end"

// beginning is a part of it: what a result may hold is bounded.
func beginning(n int) string { return strings.ToValidUTF8(hostile[:n], "") }

func TestLargeHostileTextsArriveWhole(t *testing.T) {
	var got plugin.Task
	play := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		got = task
		h.Emit(plugin.Text("- said", ""))
		return plugin.Result{Text: "-x " + beginning(300_000)}, nil
	}
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{"mock": play}))
	in := spec(t, "a b:a")
	in.Description, in.TestInstructions = "-goal\n"+hostile, "-run all"
	in.Nodes[0].Title, in.Nodes[0].Description = "-rf --no-preserve-root", hostile
	in.Nodes[0].AcceptanceCriteria = []string{"-c " + beginning(5000)}
	in.Nodes[0].Files = []string{"-f.go"}
	id := submit(t, e, in)
	must(t, e.StartPlan(t.Context(), id, plan.Builtin))
	s := enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	runs, err := e.Runs(t.Context(), ref(id, 1))
	must(t, err)
	run, err := e.RunOf(t.Context(), ref(id, 1), runs[0].Number)
	must(t, err)
	text, err := e.Context(t.Context(), ref(id, 1))
	must(t, err)
	for _, want := range []string{"-goal\n" + hostile, hostile, "-rf --no-preserve-root", "1. -c " + beginning(5000), "\n- -f.go\n"} {
		if !strings.Contains(run.Prompt, want) {
			t.Errorf("the kept prompt does not hold %.40q… as it was given", want)
		}
	}
	if text != run.Prompt {
		t.Error("what is shown is not what the agent got")
	}
	if got.Title != "Step b" || !strings.Contains(got.System, "-run all") { // the last one
		t.Errorf("the last task is %q", got.Title)
	}
	if n := s.Node(ref(id, 1)); n.Description != hostile || n.Result == nil || *n.Result != "-x "+beginning(300_000) {
		t.Error("description or result are not as they were given")
	}
}

func TestAgentGetsTheWholePrompt(t *testing.T) {
	var prompt string
	play := func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		prompt = task.Prompt
		return enginetest.Done(ctx, task, h)
	}
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{"mock": play}))
	in := spec(t, "a")
	in.Nodes[0].Description = hostile
	id := submit(t, e, in)
	must(t, e.StartPlan(t.Context(), id, plan.Builtin))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	run, err := e.RunOf(t.Context(), ref(id, 1), 1)
	must(t, err)
	if prompt != run.Prompt || !strings.Contains(prompt, hostile) {
		t.Errorf("the agent got %d bytes, kept are %d", len(prompt), len(run.Prompt))
	}
}

func TestClaimGetsTheWholePrompt(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "a b:a")
	in.Nodes[0].Description, in.Nodes[1].ResultsFrom = hostile, []string{"a"}
	id := submit(t, e, in)
	must(t, e.StartPlan(t.Context(), id, plan.External))
	c, err := e.Claim(t.Context(), "-agent", id)
	must(t, err)
	if c.Description != hostile || !strings.Contains(c.Context, hostile) {
		t.Error("the claim does not hold the description as it was given")
	}
	must(t, e.Complete(t.Context(), engine.CompleteIn{Ref: ref(id, 1), Run: c.Run, Result: "-e " + beginning(9000)}))
	c, err = e.Claim(t.Context(), "-agent", id)
	must(t, err)
	if !strings.Contains(c.Context, "-e "+beginning(9000)) {
		t.Error("the second claim does not hold the result as it was given")
	}
}
