package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// wantAsking compares how many steps of a plan wait for a person, as listed and as
// counted.
func wantAsking(t *testing.T, e *engine.Engine, id plan.PlanID, want int) {
	t.Helper()
	list, err := e.Overviews(bg)
	must(t, err)
	s, err := e.Snapshot(bg, id)
	must(t, err)
	if diff := cmp.Diff(s.Tally(id), list[0].Tally); diff != "" {
		t.Errorf("counts of the plan (-snapshot +list):\n%s", diff)
	}
	if got := list[0].Tally.Asking; got != want {
		t.Errorf("%d running steps wait for a person, want %d", got, want)
	}
}

func TestStepsWithoutAVerdictAreCountedAsWaitingForAPerson(t *testing.T) {
	c := newCourt(t, "I like it.")
	id := c.gated(t, spec(t, "a b:a"))
	enginetest.Until(t, c.Engine, id, "it waits for a person", func(s *plan.Snapshot) bool {
		return s.Node(ref(id, 1)).Phase == plan.PhaseNeedsPerson
	})
	wantAsking(t, c.Engine, id, 1)
	must(t, c.MarkDone(bg, ref(id, 1), nil))
	wantAsking(t, c.Engine, id, 0)
}

func TestSilentAgentsAreCountedAsWaitingForAPerson(t *testing.T) {
	silent := func(ctx context.Context, _ plugin.Task, h plugin.Host) (plugin.Result, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
			h.Emit(plugin.Text("awake", ""))
			<-ctx.Done()
		}
		return plugin.Result{}, ctx.Err()
	}
	bubble(t, silent, nil, func(t *testing.T, e *engine.Engine) {
		id := submit(t, e, spec(t, "a"))
		must(t, e.StartPlan(bg, id, plan.Builtin))
		wantAsking(t, e, id, 0)
		soon(t, e, id)
		soon(t, e, id)
		wantAsking(t, e, id, 1)
		time.Sleep(45 * time.Minute)
		wantAsking(t, e, id, 0)
	})
}

// A person's brief goes to every attempt; what a gate found only to the next.
func TestWhatAGateFoundIsAddedToAPersonsBrief(t *testing.T) {
	c := newCourt(t, pass, fail, fail, pass)
	in := spec(t, "a")
	in.MaxAttempts = 3
	id := c.gated(t, in)
	enginetest.Until(t, c.Engine, id, "done", enginetest.Status(plan.StatusDone))
	must(t, c.ReworkNode(bg, ref(id, 1), "use tabs"))
	s := enginetest.Until(t, c.Engine, id, "done again", func(s *plan.Snapshot) bool {
		return s.Node(ref(id, 1)).Attempts == 4 && s.Status(id) == plan.StatusDone
	})
	if brief := s.Node(ref(id, 1)).ReworkBrief; brief == nil || *brief != "use tabs" {
		t.Errorf("the brief that stays is %v, want the person's", brief)
	}
	runs, err := c.Runs(bg, ref(id, 1))
	must(t, err)
	last, err := c.RunOf(bg, ref(id, 1), len(runs)-1) // the last is its judge's
	must(t, err)
	if last.StartCause != "attempt 3 of 3 after its gate did not pass" {
		t.Errorf("the last attempt began for %q", last.StartCause)
	}
	if strings.Count(last.Prompt, "use tabs") != 1 || strings.Count(last.Prompt, "a nil map") != 1 {
		t.Errorf("the last attempt's prompt:\n%s", last.Prompt)
	}
}

// What the server's flags and variables say reaches the agents of claude profiles.
func TestClaudeAgentsGetTheServersDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		fields      engine.ProfileFields
		params      string
		key, source string
	}{
		"none of its own":     {engine.ProfileFields{}, `{"max_turns":7}`, "", "none"},
		"a limit of its own":  {engine.ProfileFields{Params: raw(`{"max_turns":3,"effort":"low"}`)}, `{"max_turns":3,"effort":"low"}`, "", "none"},
		"other settings":      {engine.ProfileFields{Params: raw(`{"effort":"low"}`)}, `{"effort":"low","max_turns":7}`, "", "none"},
		"a key that it names": {engine.ProfileFields{KeyEnv: p("ANTHROPIC_API_KEY")}, `{"max_turns":7}`, "sk-server", "env:ANTHROPIC_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &enginetest.Launcher{Agents: map[string]enginetest.Agent{"claude": enginetest.Done}}
			o := enginetest.Options(t, nil)
			o.Launcher, o.Claude.MaxTurns = l, 7
			o.Env = func(name string) string { return map[string]string{"ANTHROPIC_API_KEY": "sk-server"}[name] }
			e := enginetest.Start(t, o)
			c.fields.Name, c.fields.Harness = p("c"), p("claude")
			_, err := e.CreateProfile(bg, c.fields)
			must(t, err)
			in := spec(t, "a")
			in.Nodes[0].Agent, in.Start = "c", plan.Builtin
			id := submit(t, e, in)
			enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
			got := l.Started()[0].Profile
			if string(got.Params) != c.params || got.Secret != c.key || got.Credential != c.source {
				t.Errorf("the agent gets %s, key %q from %s; want %s, %q from %s", got.Params, got.Secret, got.Credential, c.params, c.key, c.source)
			}
		})
	}
}

func raw(text string) *json.RawMessage {
	r := json.RawMessage(text)
	return &r
}
