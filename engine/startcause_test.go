package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// causes lists why the runs of a kind on a node began.
func causes(t *testing.T, e *engine.Engine, r plan.Ref, kind plan.RunKind) []string {
	t.Helper()
	runs, err := e.Runs(bg, r)
	must(t, err)
	var out []string
	for _, run := range runs {
		if run.Kind == kind {
			out = append(out, run.StartCause)
		}
	}
	return out
}

// inTurn plays one agent after the other; the last goes on for ever.
func inTurn(turns ...enginetest.Agent) enginetest.Agent {
	var mu sync.Mutex
	return func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		mu.Lock()
		turn := turns[0]
		if len(turns) > 1 {
			turns = turns[1:]
		}
		mu.Unlock()
		return turn(ctx, task, h)
	}
}

func replies(text string) enginetest.Agent { return ends(plugin.Result{Text: text}) }

// Runs that judge or plan say why they began, as those of steps do.
func TestJudgesAndPlannersSayWhyTheyBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := enginetest.Options(t, map[string]enginetest.Agent{
			"judge":   inTurn(replies("I like it."), replies("So I do."), overload, replies(pass)),
			"critic":  inTurn(limited, replies("VERDICT: ok")),
			"planner": inTurn(replies("{}"), replies(good), overload, replies(good)),
		})
		e := enginetest.Start(t, o)
		for _, name := range []string{"judge", "critic", "planner"} {
			_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p(name), Harness: p(name)})
			must(t, err)
		}
		in := spec(t, "a")
		in.ReviewPolicy = "gate"
		id := submit(t, e, in)
		_, err := e.SetReviewAgent(bg, id, "judge")
		must(t, err)
		must(t, e.StartPlan(bg, id, plan.Builtin))
		soon(t, e, id)
		must(t, e.JudgeAgain(bg, ref(id, 1)))
		soon(t, e, id)
		_, err = e.Review(bg, ref(id, 1), "critic")
		must(t, err)
		planned, err := e.PlanFromGoal(bg, engine.FromGoalIn{Goal: "Add it", WorkingDirectory: t.TempDir(), Agent: "planner"})
		must(t, err)
		soon(t, e, planned)
		must(t, e.Revise(bg, planned, "shorter"))
		soon(t, e, planned)

		for _, c := range []struct {
			r    plan.Ref
			kind plan.RunKind
			want string
		}{
			{ref(id, 1), plan.RunJudge, plan.StartToJudge + "|" + plan.StartRefused + "…|" + plan.StartAsked + "|" + plan.StartLost + "overloaded"},
			{ref(id, 1), plan.RunReview, plan.StartAsked + "|" + plan.StartLimit},
			{ref(id, 0), plan.RunPlanReview, plan.StartPlanDone},
			{ref(planned, 0), plan.RunPlanner, plan.StartGoal + "|" + plan.StartRefused + "…|" + plan.StartRevise + "|" + plan.StartLost + "overloaded"},
		} {
			got := causes(t, e, c.r, c.kind)
			for i, cause := range got {
				if strings.HasPrefix(cause, plan.StartRefused) && len(cause) > len(plan.StartRefused) {
					got[i] = plan.StartRefused + "…"
				}
			}
			if diff := cmp.Diff(strings.Split(c.want, "|"), got); diff != "" {
				t.Errorf("why the runs of %s (%s) began (-want +got):\n%s", c.r, c.kind, diff)
			}
		}
	})
}
