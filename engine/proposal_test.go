package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// drafting is an engine whose agent "planner" answers from a list, the last for ever.
type drafting struct {
	*engine.Engine
	mu      sync.Mutex
	replies []string
	tasks   []plugin.Task
}

func newDrafting(t *testing.T, replies ...string) *drafting {
	t.Helper()
	d := &drafting{replies: replies}
	o := enginetest.Options(t, map[string]enginetest.Agent{"planner": d.reply, "judge": func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
		return plugin.Result{Text: pass}, nil
	}})
	d.Engine = enginetest.Start(t, o)
	for _, name := range []string{"planner", "judge"} {
		_, err := d.CreateProfile(bg, engine.ProfileFields{Name: p(name), Harness: p(name)})
		must(t, err)
	}
	return d
}

func (d *drafting) reply(_ context.Context, task plugin.Task, _ plugin.Host) (plugin.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tasks = append(d.tasks, task)
	text := d.replies[0]
	if len(d.replies) > 1 {
		d.replies = d.replies[1:]
	}
	return plugin.Result{Text: text}, nil
}

func (d *drafting) prompts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, task := range d.tasks {
		out = append(out, task.Prompt)
	}
	return out
}

func (d *drafting) from(t *testing.T, goal string) plan.PlanID {
	t.Helper()
	id, err := d.PlanFromGoal(bg, engine.FromGoalIn{Goal: goal, WorkingDirectory: t.TempDir(), Agent: "planner", Constraints: "no new dependency"})
	must(t, err)
	return id
}

func approval(want plan.Approval) func(*plan.Snapshot) bool {
	return func(s *plan.Snapshot) bool { return s.Root().Approval == want }
}

const good = "Here it is:\n```json\n" + `{"title":"Health endpoint","summary":"one handler","tech_stack":["go"],"nodes":[
 {"key":"h","title":"Handler","description":"Write it.","task_type":"implement","files":["health.go"],"acceptance_criteria":["answers 200"],"estimate_minutes":5},
 {"key":"t","title":"Test","task_type":"test","files":["health_test.go"],"acceptance_criteria":["go test passes"],"results_from":["h"]}],
 "edges":[["h","t"]],"risks":["none"],"assumptions":["port 80"]}` + "\n```"

func TestAGoalBecomesAPlanThatWaitsForApproval(t *testing.T) {
	d := newDrafting(t, good)
	id := d.from(t, "Add a health endpoint\nwith tests")
	s := enginetest.Until(t, d.Engine, id, "it waits", approval(plan.Awaiting))
	root := s.Root()
	if root.Title != "Health endpoint" || root.Revision != 1 || root.OnFailure != "skip" || root.MaxAttempts != 3 || root.ReviewPolicy != "gate" {
		t.Errorf("plan = %+v", root)
	}
	if n := s.Node(ref(id, 2)); n.TaskType != "test" || len(n.Criteria) != 1 || n.ResultsFrom[0] != 1 || n.State != plan.Pending {
		t.Errorf("step 2 = %+v", n)
	}
	g, revisions, err := d.GoalOf(bg, id)
	must(t, err)
	if g.Summary != "one handler" || g.Risks[0] != "none" || len(revisions) != 1 || revisions[0].Author != "planner" {
		t.Errorf("goal %+v, revisions %+v", g, revisions)
	}
	if task := d.tasks[0]; task.Kind != "planner" || task.Allowed != plugin.Read || task.NodeID != 0 || !strings.Contains(task.Prompt, "no new dependency") {
		t.Errorf("the planner is %s with %s", task.Kind, task.Allowed)
	}
	refused(t, d.StartPlan(bg, id, plan.Builtin), plan.Invalid, "not approved")
	refused(t, d.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 7}), plan.Conflict, "look at revision 1")
	_, err = d.SetReviewAgent(bg, id, "judge")
	must(t, err)
	must(t, d.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 1, Start: true}))
	enginetest.Until(t, d.Engine, id, "done", enginetest.Status(plan.StatusDone))
	refused(t, d.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 1}), plan.Invalid, "does not wait")
}

func TestFaultyProposalsGoBackToThePlannerTwice(t *testing.T) {
	node := func(key, more string) string {
		return `{"key":"` + key + `","title":"T","task_type":"implement","acceptance_criteria":["c"]` + more + `}`
	}
	for name, c := range map[string]struct{ reply, fault string }{
		"a cycle":          {`{"title":"x","nodes":[` + node("a", "") + `,` + node("b", "") + `],"edges":[["a","b"],["b","a"]]}`, "would create a cycle"},
		"a key twice":      {`{"title":"x","nodes":[` + node("a", "") + `,` + node("a", "") + `]}`, "duplicate node key 'a'"},
		"an unknown key":   {`{"title":"x","nodes":[` + node("a", "") + `],"edges":[["a","z"]]}`, "unknown node key 'z'"},
		"no criteria":      {`{"title":"x","nodes":[{"key":"a","title":"T"}]}`, "acceptance_criteria must not be empty"},
		"an escaping path": {`{"title":"x","nodes":[` + node("a", `,"files":["../x"]`) + `]}`, "escapes"},
		"an unknown type":  {`{"title":"x","nodes":[{"key":"a","title":"T","task_type":"magic","acceptance_criteria":["c"]}]}`, "task_type"},
		"an agent":         {`{"title":"x","nodes":[` + node("a", `,"agent":"mock"`) + `]}`, "agent is not accepted"},
		"an unknown field": {`{"title":"x","steps":[]}`, "unknown field"},
		"no steps":         {`{"title":"x","nodes":[]}`, "at least one step"},
		"prose":            {"I would begin with the handler.", "no JSON object"},
		"500 steps":        {`{"title":"x","nodes":[` + strings.TrimSuffix(strings.Repeat(node("a", "")+",", 500), ",") + `]}`, "500 steps are too many"},
		"eleven criteria":  {`{"title":"x","nodes":[{"key":"a","title":"T","acceptance_criteria":[` + strings.TrimSuffix(strings.Repeat(`"c",`, 11), ",") + `]}]}`, "11 acceptance_criteria"},
		"a negative guess": {`{"title":"x","nodes":[` + node("a", `,"estimate_minutes":-1`) + `]}`, "estimate_minutes"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDrafting(t, c.reply, c.reply, good)
			id := d.from(t, "goal")
			enginetest.Until(t, d.Engine, id, "put right at the third try", approval(plan.Awaiting))
			if all := d.prompts(); len(all) != 3 || !strings.Contains(all[1], "was refused") || !strings.Contains(all[2], c.fault) {
				t.Errorf("the planner was asked %d times, and is told:\n%s", len(all), all[len(all)-1])
			}
		})
	}
}

func TestPlanningThatFailsIsShownAndCanBeTriedAgain(t *testing.T) {
	d := newDrafting(t, "no", "no", "no", good)
	id := d.from(t, "goal")
	s := enginetest.Until(t, d.Engine, id, "it failed", approval(plan.PlanningFailed))
	if len(s.NodesOf(id)) != 0 {
		t.Error("something of the refused proposals was stored")
	}
	g, _, err := d.GoalOf(bg, id)
	must(t, err)
	if len(g.Problems) != 1 || !strings.Contains(g.Problems[0], "no JSON object") {
		t.Errorf("problems = %q", g.Problems)
	}
	refused(t, d.Revise(bg, id, "x"), plan.Invalid, "cannot be planned again now")
	must(t, d.Replan(bg, id, "begin with the handler"))
	enginetest.Until(t, d.Engine, id, "planned", approval(plan.Awaiting))
	if last := d.prompts()[3]; !strings.Contains(last, "begin with the handler") {
		t.Errorf("the guidance is missing:\n%s", last)
	}
}

func TestChangesAreAskedForAndEditsAreKept(t *testing.T) {
	d := newDrafting(t, good, strings.Replace(good, "Health endpoint", "Smaller", 1))
	id := d.from(t, "goal")
	enginetest.Until(t, d.Engine, id, "it waits", approval(plan.Awaiting))
	must(t, d.UpdateNode(bg, engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: engine.NodeFields{Description: p("Write it in main.go.")}}))
	must(t, d.UpdateNode(bg, engine.UpdateNodeIn{PlanID: id, NodeID: 1, NodeFields: engine.NodeFields{Title: p("The handler")}}))
	s := enginetest.Until(t, d.Engine, id, "revision 2", func(s *plan.Snapshot) bool { return s.Root().Revision == 2 })
	if s.Root().Approval != plan.Awaiting {
		t.Errorf("the plan is %s", s.Root().Approval)
	}
	refused(t, d.Revise(bg, id, " "), plan.Invalid, "feedback must not be empty")
	must(t, d.Revise(bg, id, "Fewer steps."))
	enginetest.Until(t, d.Engine, id, "revision 3", func(s *plan.Snapshot) bool {
		return s.Root().Revision == 3 && s.Root().Approval == plan.Awaiting
	})
	second := d.prompts()[1]
	for _, want := range []string{"Fewer steps.", "Write it in main.go.", "Round 1"} {
		if !strings.Contains(second, want) {
			t.Errorf("the planner is not told %q:\n%s", want, second)
		}
	}
	old, err := d.RevisionOf(bg, id, 1)
	must(t, err)
	var then engine.ProposalIn
	must(t, json.Unmarshal([]byte(old.Proposal), &then))
	if then.Nodes[0].Description != "Write it." || then.Nodes[0].EstimateMinutes != 5 {
		t.Errorf("revision 1 reads %+v", then.Nodes[0])
	}
	must(t, d.Reject(bg, id, "not now"))
	refused(t, d.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 3}), plan.Invalid, "rejected")
}

func TestAnEditAfterApprovalAsksAgainAndStopsNothingThatRuns(t *testing.T) {
	hold := make(chan struct{})
	o := enginetest.Options(t, map[string]enginetest.Agent{
		"mock": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if task.Title == "Step a" {
				<-hold
			}
			return enginetest.Done(ctx, task, h)
		}})
	e := enginetest.Start(t, o)
	in := spec(t, "a b:a")
	in.Approval = "required"
	id := submit(t, e, in)
	refused(t, e.StartPlan(bg, id, plan.Builtin), plan.Invalid, "not approved")
	must(t, e.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 1, Start: true}))
	enginetest.Until(t, e, id, "a runs", enginetest.State(ref(id, 1), plan.Running))
	must(t, e.UpdateNode(bg, engine.UpdateNodeIn{PlanID: id, NodeID: 2, NodeFields: engine.NodeFields{Description: p("other")}}))
	close(hold)
	s := enginetest.Until(t, e, id, "a is done", enginetest.State(ref(id, 1), plan.Done))
	if got := s.Node(ref(id, 2)).State; got != plan.Pending || s.Root().Approval != plan.Awaiting {
		t.Errorf("b is %s and the plan %s; nothing new starts before it is approved again", got, s.Root().Approval)
	}
	must(t, e.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 2}))
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
}

func TestAnObservedPlanIsClaimableOnceApproved(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options(t, nil))
	in := spec(t, "a")
	in.Approval, in.Start = "required", plan.External
	id := submit(t, e, in)
	if c, err := e.Claim(bg, "me", 0); c != nil || err != nil {
		t.Fatalf("claimed %v, %v before the approval", c, err)
	}
	must(t, e.Approve(bg, engine.ApproveIn{PlanID: id, Revision: 1}))
	if c, err := e.Claim(bg, "me", 0); err != nil || c == nil || c.PlanID != id {
		t.Errorf("claimed %v, %v", c, err)
	}
}

func TestNobodyButATrustedCallerDecides(t *testing.T) {
	d := newDrafting(t, good)
	id := d.from(t, "goal")
	enginetest.Until(t, d.Engine, id, "it waits", approval(plan.Awaiting))
	for _, role := range []plan.Role{plan.Worker, plan.Planner, plan.Nobody} {
		ctx := plan.WithActor(bg, plan.Actor{Role: role, Ref: plan.Ref{Plan: id}})
		refused(t, d.Approve(ctx, engine.ApproveIn{PlanID: id, Revision: 1}), plan.Denied, "may not")
		refused(t, d.Revise(ctx, id, "x"), plan.Denied, "may not")
		refused(t, d.Reject(ctx, id, ""), plan.Denied, "may not")
	}
	refused(t, d.Propose(bg, engine.ProposalIn{}), plan.Denied, "only the planner")
	planner := plan.WithActor(bg, plan.Actor{Role: plan.Planner, Ref: plan.Ref{Plan: id}})
	refused(t, d.Propose(planner, engine.ProposalIn{Title: "x"}), plan.Invalid, "not being planned")
}
