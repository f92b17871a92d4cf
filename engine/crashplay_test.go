package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// lines is how much each agent says.
const lines = 4

// plans are what is wanted, by title.
func plans(t *testing.T) []engine.SubmitPlanIn {
	builtin := spec(t, "first limited:first flaky:first person:flaky big:first last:limited,person,big stopper")
	builtin.Nodes[3].Kind = "user"
	builtin.Nodes[0].Files, builtin.Nodes[6].Files = []string{"src"}, []string{"src/x"}
	builtin.Nodes[5].ResultsFrom = []string{"first", "person", "big"}
	outside := spec(t, "a b:a c")
	outside.Nodes[1].ResultsFrom = []string{"a"}
	skipping := spec(t, "bad dep:bad further:dep free")
	skipping.OnFailure = "skip"
	all := []engine.SubmitPlanIn{builtin, outside, skipping}
	for i, name := range []string{"built in", "outside", "skipping"} {
		all[i].Title = name
	}
	return all
}

// play is every agent.
func (w *world) play(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
	w.mu.Lock()
	w.tries[t.Title]++
	try := w.tries[t.Title]
	w.mu.Unlock()
	h.Emit(plugin.System("session started", plugin.SessionInfo{SessionID: "s-" + t.RunID}))
	for i := range lines {
		h.Emit(plugin.Text(fmt.Sprintf("line %d of %s", i+1, t.Title), ""))
		if i%2 == 0 {
			h.Emit(plugin.Usage(1, 1))
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return plugin.Result{}, ctx.Err()
		}
	}
	switch t.Title {
	case "Step limited":
		if try == 1 {
			return plugin.Result{IsError: true, RateLimited: true, Until: time.Now().Add(time.Hour), Errors: []string{"limit"}}, nil
		}
	case "Step flaky":
		if try == 1 {
			return plugin.Result{}, errors.New("not this time")
		}
	case "Step bad":
		return plugin.Result{}, errors.New("never")
	case "Step stopper":
		for !w.wasStopped() {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
				return plugin.Result{}, ctx.Err()
			}
		}
	case "Step big":
		if err := w.expand(ctx, t); err != nil {
			return plugin.Result{}, err
		}
	}
	return plugin.Result{Text: "did " + t.Title + heard(t.Prompt)}, nil
}

// heard is what an agent was told of the work of others.
func heard(prompt string) string {
	out := ""
	for _, s := range []string{"did Step first", "approved", "did Step big", "did Step y", "did Step x", "a is done"} {
		if strings.Contains(prompt, "\n"+s) {
			out += ", knowing " + s
		}
	}
	return out
}

func (w *world) wasStopped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped
}

// expand gives an agent's own step a subplan, as soon as an engine takes it.
func (w *world) expand(ctx context.Context, t plugin.Task) error {
	in := spec(w.t, "x y:x")
	in.Title, in.WorkingDirectory = "parts", ""
	in.Nodes[1].ResultsFrom = []string{"x"}
	in.ParentPlanID, in.ParentNodeID = plan.PlanID(t.PlanID), plan.NodeID(t.NodeID)
	self := plan.Actor{Role: plan.Worker, Run: plan.RunID(t.RunID), Ref: plan.Ref{Plan: in.ParentPlanID, Node: in.ParentNodeID}}
	for ctx.Err() == nil {
		if e := w.engine.Load(); e != nil {
			_, err := e.SubmitPlan(plan.WithActor(ctx, self), in)
			if err == nil || strings.Contains(err.Error(), "has a subplan already") {
				return nil
			}
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// act does the next thing that somebody wants done. It reports whether there was one.
func (w *world) act(e *engine.Engine, m *engine.Moment) bool {
	ctx := context.Background()
	for _, in := range w.want {
		tree := planTitled(m, in.Title)
		if tree == nil {
			w.ask("submit "+in.Title, func() error {
				_, err := e.SubmitPlan(ctx, in)
				return err
			})
			return true
		}
		if !tree.Root().Started {
			by := plan.Builtin
			if in.Title == "outside" {
				by = plan.External
			}
			w.ask("start "+in.Title, func() error { return e.StartPlan(ctx, tree.Root().ID, by) })
			return true
		}
	}
	return w.helpAgents(ctx, e, planTitled(m, "built in")) || w.workOutside(ctx, e, planTitled(m, "outside"))
}

// helpAgents does what a person does about the plan that is built in.
func (w *world) helpAgents(ctx context.Context, e *engine.Engine, s *plan.Snapshot) bool {
	id := s.Root().ID
	switch {
	case s.Node(ref(id, 4)).WaitingForUser():
		w.ask("mark done", func() error { return e.MarkDone(ctx, ref(id, 4), p("approved")) })
	case s.Node(ref(id, 3)).State == plan.Failed:
		w.ask("retry", func() error { return e.RetryNode(ctx, ref(id, 3)) })
	case s.Node(ref(id, 7)).State == plan.Running && !w.wasStopped():
		ok := w.ask("stop", func() error { return e.StopPlan(ctx, id) })
		w.mu.Lock()
		w.stopped = ok
		w.mu.Unlock()
	default:
		return false
	}
	return true
}

// workOutside is the external agent: it claims, reports and completes.
func (w *world) workOutside(ctx context.Context, e *engine.Engine, s *plan.Snapshot) bool {
	for _, n := range s.NodesOf(s.Root().ID) {
		line := "line on " + n.Ref().String()
		switch {
		case n.State == plan.Running && n.Title == "Step c" && !w.failed:
			w.failed = w.ask("fail", func() error { return e.FailClaimed(ctx, n.Ref(), 0, "cannot") })
		case n.State == plan.Failed:
			w.ask("retry", func() error { return e.RetryNode(ctx, n.Ref()) })
		case n.State == plan.Running && w.told[line] < 2:
			if w.ask("report", func() error { return e.Report(ctx, n.Ref(), line, "") }) {
				w.told[line]++
			}
		case n.State == plan.Running:
			w.ask("complete", func() error {
				return e.Complete(ctx, engine.CompleteIn{Ref: n.Ref(), Result: strings.TrimPrefix(n.Title, "Step ") + " is done"})
			})
		case n.State == plan.Ready:
			w.ask("claim", func() error {
				c, err := e.Claim(ctx, "outsider", 0)
				if err == nil && c == nil {
					err = fmt.Errorf("step %s is ready and cannot be claimed", n.Ref())
				}
				return err
			})
		default:
			continue
		}
		return true
	}
	return false
}

// ask asks the engine for something and reports whether it has agreed. It may
// fail only by the engine's death, which whoever asks sees as silence.
func (w *world) ask(what string, do func() error) bool {
	answer := make(chan error, 1)
	go func() { answer <- do() }()
	select {
	case err := <-answer:
		if err != nil && !w.crashed.Load() {
			w.t.Errorf("%s: %v", what, err)
		}
		return err == nil
	case <-w.died:
		return false
	}
}

func planTitled(m *engine.Moment, title string) *plan.Snapshot {
	for _, s := range m.Trees {
		if s.Root().Title == title {
			return s
		}
	}
	return nil
}

// over reports whether all plans are where they should get to.
func (w *world) over(m *engine.Moment) bool {
	skipping := planTitled(m, "skipping")
	t := skipping.Tally(skipping.Root().ID)
	return enginetest.Status(plan.StatusDone)(planTitled(m, "built in")) && enginetest.Status(plan.StatusDone)(planTitled(m, "outside")) &&
		t.Failed == 1 && t.Skipped == 2 && t.Done == 1
}
