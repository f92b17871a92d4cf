package engine_test

import (
	"context"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// A worker that may only read must not get a command run by way of a check.
func TestAWorkerSetsNoCommandsAndNoIsolation(t *testing.T) {
	var errs []error
	var e *engine.Engine
	ready := make(chan struct{})
	e = enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			<-ready
			if task.Title == "x" { // a step of the subplan, which begins when its worker is done
				return enginetest.Done(ctx, task, h)
			}
			own := plan.Ref{Plan: plan.PlanID(task.PlanID), Node: plan.NodeID(task.NodeID)}
			as := plan.WithActor(ctx, plan.Actor{Role: plan.Worker, Run: plan.RunID(task.RunID), Ref: own})
			in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "sub", ParentPlanID: own.Plan, ParentNodeID: own.Node}}
			in.Nodes = []engine.NodeSpec{{Key: "x", Title: "x", CheckCommand: "touch /tmp/owned"}}
			_, err := e.SubmitPlan(as, in)
			errs = append(errs, err)
			in.Nodes[0].CheckCommand = ""
			out, err := e.SubmitPlan(as, in)
			if err != nil {
				return plugin.Result{}, err
			}
			_, err = e.AddNode(as, engine.AddNodeIn{PlanID: out.PlanID, NodeFields: engine.NodeFields{Title: p("y"), CheckCommand: p("id")}})
			errs = append(errs, err)
			errs = append(errs, e.UpdateNode(as, engine.UpdateNodeIn{PlanID: out.PlanID, NodeID: 1, NodeFields: engine.NodeFields{Isolation: p("none")}}))
			return plugin.Result{Text: "split"}, nil
		}}))
	close(ready)
	id := submit(t, e, spec(t, "a"))
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "its own session is over", func(s *plan.Snapshot) bool { return s.Node(ref(id, 1)).AgentDone })
	if len(errs) != 3 {
		t.Fatalf("%d answers, want three", len(errs))
	}
	for _, err := range errs {
		refused(t, err, plan.Invalid, "check_command and isolation are not accepted")
	}
}
