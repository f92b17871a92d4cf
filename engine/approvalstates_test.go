package engine_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// planning returns options with an agent "planner" that answers reply, or hangs
// while it is asked for the first time.
func planning(t *testing.T, reply string, hang bool) engine.Options {
	t.Helper()
	var asked atomic.Int32
	o := enginetest.Options(t, map[string]enginetest.Agent{"planner": func(ctx context.Context, _ plugin.Task, _ plugin.Host) (plugin.Result, error) {
		if asked.Add(1) == 1 && hang {
			<-ctx.Done()
			return plugin.Result{}, ctx.Err()
		}
		return plugin.Result{Text: reply}, nil
	}})
	o.PlannerAgent = "planner"
	return o
}

func asks(t *testing.T, e *engine.Engine) plan.PlanID {
	t.Helper()
	_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("planner"), Harness: p("planner")})
	must(t, err)
	id, err := e.PlanFromGoal(bg, engine.FromGoalIn{Goal: "goal", WorkingDirectory: t.TempDir()})
	must(t, err)
	return id
}

func TestARestartFindsEachStateOfApprovalAsItWas(t *testing.T) {
	for _, c := range []struct {
		name, reply string
		hang        bool
		reach       func(*testing.T, *engine.Engine, plan.PlanID)
		want        plan.Approval
	}{
		{"planning goes on", good, true, nil, plan.Awaiting},
		{"planning failed", "no", false, until(plan.PlanningFailed), plan.PlanningFailed},
		{"awaiting", good, false, until(plan.Awaiting), plan.Awaiting},
		{"approved, not started", good, false, func(t *testing.T, e *engine.Engine, id plan.PlanID) {
			until(plan.Awaiting)(t, e, id)
			must(t, e.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 1}))
		}, plan.Approved},
		{"rejected", good, false, func(t *testing.T, e *engine.Engine, id plan.PlanID) {
			until(plan.Awaiting)(t, e, id)
			must(t, e.Reject(bg, id, "no"))
		}, plan.Rejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := planning(t, c.reply, c.hang)
			e, stop := enginetest.Run(t, o)
			id := asks(t, e)
			if c.reach == nil {
				enginetest.Until(t, e, id, "the planner is at work", func(*plan.Snapshot) bool {
					runs, err := e.Runs(bg, plan.Ref{Plan: id})
					return err == nil && len(runs) == 1
				})
			} else {
				c.reach(t, e, id)
			}
			stop()
			e = enginetest.Start(t, o)
			s := enginetest.Until(t, e, id, string(c.want), approval(c.want))
			for _, n := range s.NodesOf(id) {
				if n.State != plan.Pending {
					t.Errorf("step %d is %s", n.ID, n.State)
				}
			}
			err := e.StartPlan(bg, id, plan.Builtin)
			if c.want == plan.Approved {
				must(t, err)
				return
			}
			refused(t, err, plan.Invalid, "approved")
		})
	}
}

func until(want plan.Approval) func(*testing.T, *engine.Engine, plan.PlanID) {
	return func(t *testing.T, e *engine.Engine, id plan.PlanID) {
		t.Helper()
		enginetest.Until(t, e, id, string(want), approval(want))
	}
}

func TestARestartDuringACheckRepeatsOnlyTheCheck(t *testing.T) {
	t.Parallel()
	o := enginetest.Options(t, map[string]enginetest.Agent{"judge": func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
		return plugin.Result{Text: pass}, nil
	}})
	e, stop := enginetest.Run(t, o)
	_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("judge"), Harness: p("judge")})
	must(t, err)
	in := spec(t, "a")
	in.ReviewPolicy, in.CheckCommand = "gate", "echo x >> count; test -e go || { echo begun > begun; sleep 600; }"
	begun := filepath.Join(in.WorkingDirectory, "begun")
	if out, err := exec.Command("mkfifo", begun).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	id := submit(t, e, in)
	_, err = e.SetReviewAgent(bg, id, "judge")
	must(t, err)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	if _, err := os.ReadFile(begun); err != nil { // waits for the check to write
		t.Fatal(err)
	}
	stop()
	must(t, os.WriteFile(filepath.Join(in.WorkingDirectory, "go"), nil, 0o644))
	e = enginetest.Start(t, o)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	runs, err := e.Runs(bg, ref(id, 1))
	must(t, err)
	var kinds []string
	for _, r := range runs {
		kinds = append(kinds, fmt.Sprintf("%s %s", r.Kind, r.Outcome))
	}
	checks, err := os.ReadFile(filepath.Join(in.WorkingDirectory, "count"))
	must(t, err)
	if got := strings.Join(kinds, ", "); got != "step done, judge done" || string(checks) != "x\nx\n" {
		t.Errorf("runs: %s; checks: %q", got, checks)
	}
}

func TestACrashInApproveLeavesNothingOfIt(t *testing.T) {
	t.Parallel()
	var crash atomic.Bool
	o := engine.WithCrash(planning(t, good, false), crash.Load)
	e := enginetest.Start(t, o)
	id := asks(t, e)
	until(plan.Awaiting)(t, e, id)
	crash.Store(true)
	if err := e.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 1, Start: true}); err == nil {
		t.Fatal("it was approved without being stored")
	}
	crash.Store(false)
	s, err := e.Snapshot(bg, id)
	must(t, err)
	_, revisions, err := e.GoalOf(bg, id)
	must(t, err)
	if root := s.Root(); root.Approval != plan.Awaiting || root.Started || s.Node(ref(id, 1)).State != plan.Pending || revisions[0].Decided != "" {
		t.Errorf("something of it was kept: %s, started %t, revision %q", root.Approval, root.Started, revisions[0].Decided)
	}
	must(t, e.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 1}))
}

func TestAPlannerAtWorkIsStopped(t *testing.T) {
	t.Parallel()
	o := planning(t, good, true)
	e := enginetest.Start(t, o)
	id := asks(t, e)
	enginetest.Until(t, e, id, "the planner is at work", func(*plan.Snapshot) bool {
		runs, err := e.Runs(bg, plan.Ref{Plan: id})
		return err == nil && len(runs) == 1
	})
	must(t, e.StopPlan(bg, id))
	until(plan.PlanningFailed)(t, e, id)
	g, _, err := e.GoalOf(bg, id)
	must(t, err)
	runs, err := e.Runs(bg, plan.Ref{Plan: id})
	must(t, err)
	if !strings.Contains(g.Problems[0], "stopped by a person") || runs[0].Outcome != plan.OutcomeStopped {
		t.Errorf("problems %q, run %s", g.Problems, runs[0].Outcome)
	}
	must(t, e.Replan(bg, id, ""))
	until(plan.Awaiting)(t, e, id)
}

func TestWhatPeopleSetOnAStepStaysThroughRevisions(t *testing.T) {
	t.Parallel()
	const again = `{"title":"Health endpoint","nodes":[
 {"key":"1","title":"Handler","description":"Write it well.","task_type":"implement","files":["health.go"],"acceptance_criteria":["answers 200"]},
 {"key":"2","title":"Another","acceptance_criteria":["c"]}]}`
	d := newDrafting(t, good, again)
	id := d.from(t, "goal")
	until(plan.Awaiting)(t, d.Engine, id)
	must(t, d.UpdateNode(bg, engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: engine.NodeFields{Agent: p(engine.AgentRef("judge")), CheckCommand: p("true")}}))
	must(t, d.UpdateNode(bg, engine.UpdateNodeIn{PlanID: id, NodeID: 2, NodeFields: engine.NodeFields{CheckCommand: p("false")}}))
	must(t, d.Revise(bg, id, "better"))
	s := enginetest.Until(t, d.Engine, id, "the next revision", func(s *plan.Snapshot) bool {
		return s.Root().Approval == plan.Awaiting && s.Root().Revision == 4
	})
	first, second := s.Node(ref(id, 1)), s.Node(ref(id, 2))
	if first.CheckCommand != "true" || first.Profile == 0 || first.Description != "Write it well." || second.CheckCommand != "" {
		t.Errorf("the steps are %+v and %+v", first, second)
	}
	if last := d.prompts()[1]; strings.Contains(last, "check_command") || strings.Contains(last, `"judge"`) {
		t.Errorf("the planner is shown what it may not set:\n%s", last)
	}
}

func TestAWorkerChangesNeitherAnApprovedPlanNorItsOwnCriteria(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "a b:a")
	in.Approval = "required"
	in.Nodes[0].AcceptanceCriteria = []string{"it is so"}
	id := submit(t, e, in)
	as := plan.WithActor(bg, plan.Actor{Role: plan.Worker, Ref: ref(id, 1)})
	criteria := engine.NodeFields{AcceptanceCriteria: &[]string{"anything"}}
	for _, approved := range []bool{false, true} {
		for what, err := range map[string]error{
			"its own criteria":  e.UpdateNode(as, engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: criteria}),
			"another step":      e.UpdateNode(as, engine.UpdateNodeIn{PlanID: id, NodeID: 2, NodeFields: criteria}),
			"an edge":           e.RemoveEdge(as, engine.EdgeIn{PlanID: id, From: 1, To: 2}),
			"a removal":         e.RemoveNode(as, ref(id, 2)),
			"the plan":          e.UpdatePlan(as, engine.UpdatePlanIn{PlanID: id, CheckCommand: p("true")}),
			"approval":          e.Approve(as, engine.ApproveIn{PlanID: id, Revision: 1}),
			"a verdict":         e.Accept(as, ref(id, 1), ""),
			"another judgement": e.JudgeAgain(as, ref(id, 1)),
			"an addition beside": func() error {
				_, err := e.AddNode(as, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("x")}})
				return err
			}(),
		} {
			if plan.KindOf(err) != plan.Denied {
				t.Errorf("approved %t, %s: %v", approved, what, err)
			}
		}
		if !approved {
			must(t, e.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 1}))
		}
	}
	s, err := e.Snapshot(bg, id)
	must(t, err)
	if s.Root().Revision != 1 || s.Node(ref(id, 1)).Criteria[0] != "it is so" {
		t.Error("something was changed")
	}
}

func TestAStepIsAddedInItsOrder(t *testing.T) {
	t.Parallel()
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": func(ctx context.Context, _ plugin.Task, _ plugin.Host) (plugin.Result, error) {
		<-ctx.Done()
		return plugin.Result{}, ctx.Err()
	}})
	e := enginetest.Start(t, o)
	id := submit(t, e, spec(t, "a"))
	must(t, e.StartPlan(bg, id, plan.Builtin))
	enginetest.Until(t, e, id, "a runs", enginetest.State(ref(id, 1), plan.Running))
	r, err := e.AddNode(bg, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("after a"), EstimateMinutes: p(3.0)}, After: []plan.NodeID{1}})
	must(t, err)
	s, err := e.Snapshot(bg, id)
	must(t, err)
	if n := s.Node(r); n.State != plan.Pending || n.EstimateMinutes != 3 {
		t.Errorf("it is %s", n.State)
	}
	_, err = e.AddNode(bg, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("x"), EstimateMinutes: p(-1.0)}})
	refused(t, err, plan.Invalid, "estimate_minutes")
	_, err = e.AddNode(bg, engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: p("x")}, After: []plan.NodeID{9}})
	refused(t, err, plan.NotFound, "9")
	if s, err = e.Snapshot(bg, id); err != nil || len(s.NodesOf(id)) != 2 {
		t.Errorf("half of a step was kept (%v)", err)
	}
}

func TestATypedStepInACopyBringsBackOnlyWhatItDeclared(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"implement": true, "test": true, "integrate": true, "configure": true, "review": false} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := watching(t, func(_ context.Context, task plugin.Task, _ plugin.Host) (plugin.Result, error) {
				for _, name := range []string{"c.txt", "stray.txt"} { // as a shell can
					if err := os.WriteFile(filepath.Join(task.WorkDir, name), []byte("changed\n"), 0o644); err != nil {
						return plugin.Result{}, err
					}
				}
				return plugin.Result{Text: "did it"}, nil
			})
			in := isolated(t, "2>two")
			in.Nodes[0].TaskType = kind
			if kind == "review" {
				in.Nodes[0].Files = nil
			} else {
				in.Nodes[0].Files = []string{"c.txt"}
			}
			id := finished(t, e, in)
			s, err := e.Snapshot(bg, id)
			must(t, err)
			text, err := os.ReadFile(filepath.Join(in.WorkingDirectory, "c.txt"))
			must(t, err)
			if got := string(text) == "changed\n"; got != want {
				t.Errorf("the declared file was brought back: %t", got)
			}
			if exists(filepath.Join(in.WorkingDirectory, "stray.txt")) || !strings.Contains(strings.Join(s.Node(ref(id, 1)).Undeclared, " "), "stray.txt") {
				t.Errorf("undeclared: %q", s.Node(ref(id, 1)).Undeclared)
			}
		})
	}
}
