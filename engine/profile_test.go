package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// strict is an engine whose harness "strict" has two settings and needs a key.
func strict(t *testing.T) (*engine.Engine, engine.Options) {
	o := enginetest.Options(t, map[string]enginetest.Agent{"strict": enginetest.Done, "free": enginetest.Done})
	l := o.Launcher.(*enginetest.Launcher)
	l.Infos = map[string]plugin.Info{"strict": {Slug: "strict", Name: "Strict", Features: plugin.Features{Model: true}, Settings: json.RawMessage(
		`{"type":"object","additionalProperties":false,"properties":{"turns":{"type":"integer","minimum":1},"mood":{"type":"string","enum":["good","bad"]}}}`)}}
	l.Checker = func(_ string, p plugin.Profile) plugin.Report {
		return plugin.Report{OK: p.Secret != "", Detail: "key: " + p.Secret, Credential: p.Credential}
	}
	return enginetest.Start(t, o), o
}

func TestParamsOfAProfileAreThoseOfItsHarness(t *testing.T) {
	e, _ := strict(t)
	for _, c := range []struct {
		harness, params string
		says            []string
	}{
		{"strict", `{"turns":3,"mood":"good","review_capability":"read"}`, nil},
		{"strict", `{"turns":null}`, nil},
		{"strict", `{"turns":0,"mood":"odd"}`, []string{"params.turns must be at least 1", "params.mood must be one of good, bad"}},
		{"strict", `{"trns":3}`, []string{"params.trns is no setting of this harness: it has turns, mood"}},
		{"strict", `{"review_capability":"everything"}`, []string{"params.review_capability: unknown value"}},
		{"strict", `[]`, []string{"params must be a JSON object"}},
		{"free", `{"whatever":[1]}`, nil},
		{"free", `{"password":"hunter2"}`, []string{"params must not hold password"}},
		{"claude", `{"whatever":1}`, nil}, // it was not found: nobody knows
	} {
		_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p(c.harness + " " + c.params), Harness: p(c.harness), Params: raw(c.params)})
		if (err == nil) != (c.says == nil) || err != nil && plan.KindOf(err) != plan.Invalid {
			t.Errorf("%s %s: %v", c.harness, c.params, err)
		}
		for _, want := range c.says {
			if err != nil && !strings.Contains(err.Error(), want) || err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s %s: %v, want %q", c.harness, c.params, err, want)
			}
		}
	}
}

func TestParamsAreCheckedWhenTheyOrTheHarnessChange(t *testing.T) {
	e, _ := strict(t)
	made, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("one"), Harness: p("free"), Params: raw(`{"pace":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.UpdateProfile(bg, made.ID, engine.ProfileFields{Harness: p("strict")}); err == nil || !strings.Contains(err.Error(), "params.pace is no setting") {
		t.Errorf("another harness: %v", err)
	}
	if _, err := e.UpdateProfile(bg, made.ID, engine.ProfileFields{Harness: p("strict"), Params: raw(`{"turns":2}`)}); err != nil {
		t.Errorf("another harness with its own params: %v", err)
	}
	now, err := e.Profile(bg, made.ID)
	if err != nil || now.Harness != "strict" || string(now.Params) != `{"turns":2}` {
		t.Errorf("it is %+v, %v", now, err)
	}
}

func TestADraftIsTestedWithTheKeyThatIsTyped(t *testing.T) {
	e, _ := strict(t)
	made, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("one"), Harness: p("strict"), Model: p("m"), Key: p("stored")})
	if err != nil {
		t.Fatal(err)
	}
	before := e.Subscribe(0, -1).Cursor()
	for want, f := range map[string]engine.ProfileFields{"key: stored": {}, "key: typed": {Key: p("typed")}, "key: ": {Key: p("")}} {
		if _, r, err := e.TestDraft(bg, made.ID, f); err != nil || r.Detail != want {
			t.Errorf("got %+v, %v, want %q", r, err, want)
		}
	}
	if _, r, err := e.TestDraft(bg, 0, engine.ProfileFields{Name: p("new"), Harness: p("strict"), Key: p("k")}); err != nil || r.Detail != "key: k" || r.Credential != "literal" {
		t.Errorf("a new one: %+v, %v", r, err)
	}
	if _, _, err := e.TestDraft(bg, 0, engine.ProfileFields{Name: p("new"), Harness: p("strict"), Params: raw(`{"turns":0}`)}); plan.KindOf(err) != plan.Invalid {
		t.Errorf("what cannot be saved: %v", err)
	}
	worker := plan.WithActor(bg, plan.Actor{Role: plan.Worker, Run: "r", Ref: plan.Ref{Plan: 1, Node: 1}})
	if _, _, err := e.TestDraft(worker, made.ID, engine.ProfileFields{}); plan.KindOf(err) != plan.Denied {
		t.Errorf("a worker: %v", err)
	}
	if e.Subscribe(0, -1).Cursor() != before {
		t.Error("a test changed something")
	}
}

func TestWhoUsesAProfileInheritsWhenItIsDeleted(t *testing.T) {
	e, _ := strict(t)
	for _, name := range []string{"gone", "above"} {
		if _, err := e.CreateProfile(bg, engine.ProfileFields{Name: p(name), Harness: p("free")}); err != nil {
			t.Fatal(err)
		}
	}
	submit := func(in engine.SubmitPlanIn, agent string) engine.SubmitPlanOut {
		t.Helper()
		out, err := e.SubmitPlan(bg, in)
		if err == nil {
			_, err = e.SetPlanAgent(bg, out.PlanID, engine.AgentRef(agent))
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := submit(engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Top", WorkingDirectory: t.TempDir()},
		Nodes: []engine.NodeSpec{{Key: "a", Title: "A", Agent: "gone"}, {Key: "b", Title: "B"}}}, "above")
	submit(engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Sub", ParentPlanID: out.PlanID, ParentNodeID: out.Nodes["b"]},
		Nodes: []engine.NodeSpec{{Key: "x", Title: "X", Agent: "gone"}}}, "gone")
	submit(engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Alone", WorkingDirectory: t.TempDir()}}, "gone")
	if _, err := e.SetReviewAgent(bg, out.PlanID, "gone"); err != nil {
		t.Fatal(err)
	}
	list, err := e.Profiles(bg)
	if err != nil {
		t.Fatal(err)
	}
	gone := list[len(list)-2]
	got, err := e.ProfileUses(bg, gone.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := []engine.ProfileUse{{Plan: 2, Title: "Sub", Instead: "above"}, {Plan: 3, Title: "Alone", Instead: "mock"},
		{Plan: 1, Node: 1, Title: "A", Instead: "above"}, {Plan: 2, Node: 1, Title: "X", Instead: "above"}, {Plan: 1, Title: "Top", Review: true}}
	if diff := cmp.Diff(want, got); diff != "" || gone.InUse != len(want) {
		t.Errorf("%d uses:\n%s", gone.InUse, diff)
	}
	if err := e.DeleteProfile(bg, gone.ID); err != nil {
		t.Fatal(err)
	}
	for _, u := range want {
		s, err := e.Snapshot(bg, u.Plan)
		if err != nil {
			t.Fatal(err)
		}
		switch now, _ := s.PlanDefault(u.Plan); {
		case u.Review:
			if s.Plan(u.Plan).ReviewProfile != 0 {
				t.Error("the plan still names it as its reviewer")
			}
		case u.Node != 0:
			if a := s.Agent(s.Node(plan.Ref{Plan: u.Plan, Node: u.Node})); a.Profile.Name != u.Instead {
				t.Errorf("%d.%d runs on %s, want %s", u.Plan, u.Node, a.Profile.Name, u.Instead)
			}
		case now != nil && now.Name != u.Instead:
			t.Errorf("plan %d runs on %s, want %s", u.Plan, now.Name, u.Instead)
		}
	}
	if _, err := e.ProfileUses(bg, gone.ID); plan.KindOf(err) != plan.NotFound {
		t.Errorf("uses of what is gone: %v", err)
	}
}

func TestProfilesSayWhyTheirRunsWouldFail(t *testing.T) {
	o := enginetest.Options(t, nil)
	l := o.Launcher.(*enginetest.Launcher)
	l.Infos = map[string]plugin.Info{"mock": {Slug: "mock", Features: plugin.Features{Model: true}, Settings: json.RawMessage(`{"properties":{"turns":{"type":"integer"}}}`)}}
	l.Also = []engine.HarnessFound{{Slug: "old", Refused: "protocol 0"}}
	o.Env = func(name string) string { return map[string]string{"SET": "x"}[name] }
	e := enginetest.Start(t, o)
	for _, c := range []struct {
		profile plan.Profile
		want    []string
	}{
		{plan.Profile{Harness: "mock", Model: "m", Params: []byte(`{"turns":1}`), KeyEnv: "SET"}, nil},
		{plan.Profile{Harness: "mock", Model: "m", KeyEnv: "UNSET", HasKey: true}, nil},
		{plan.Profile{Harness: "mock", Params: []byte(`{"turns":"x"}`), KeyEnv: "UNSET"}, []string{"It needs a model.",
			`params.turns must be a whole number, not "x"`, "The variable UNSET is not set where this server runs, and no key is stored."}},
		{plan.Profile{Harness: "old"}, []string{"Its harness is refused: protocol 0"}},
		{plan.Profile{Harness: "none"}, []string{"Its harness was not found: there is no program harness-none in the harness folders."}},
	} {
		if diff := cmp.Diff(c.want, e.ProfileFaults(&c.profile)); diff != "" {
			t.Errorf("%+v:\n%s", c.profile, diff)
		}
	}
}

func TestProfilesThatEveryServerHasAreNotOverwritten(t *testing.T) {
	o := enginetest.Options(t, nil)
	o.OpenAI = engine.OpenAIDefaults{BaseURL: "http://127.0.0.1:1/v1", Model: "first", KeyEnv: "A_KEY"}
	e, stop := enginetest.Run(t, o)
	list, err := e.Profiles(bg)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range list {
		names = append(names, x.Name)
	}
	if diff := cmp.Diff([]string{"claude", "mock", "openai"}, names); diff != "" {
		t.Error(diff)
	}
	if _, err := e.UpdateProfile(bg, 2, engine.ProfileFields{Description: p("mine")}); err != nil {
		t.Fatal(err)
	}
	stop()
	var log bytes.Buffer
	o.OpenAI.Model, o.Log = "second", slog.New(slog.NewTextHandler(&log, nil))
	e = enginetest.Start(t, o)
	kept, err := e.Profiles(bg)
	if err != nil || kept[1].Description != "mine" || kept[2].Model != "first" || len(kept) != 3 {
		t.Errorf("after a restart: %+v, %v", kept, err)
	}
	if text := log.String(); !strings.Contains(text, "--openai-model") || strings.Contains(text, "--openai-base-url") {
		t.Errorf("it does not say which flag has no effect: %s", text)
	}
}

func TestWhatProfilesSpentIsAddedUp(t *testing.T) {
	in, out, cost := int64(100), int64(20), 0.25
	e := enginetest.Start(t, enginetest.Options(t, map[string]enginetest.Agent{"mock": paid(&in, &out, &cost)}))
	made, err := e.SubmitPlan(bg, engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "T", WorkingDirectory: t.TempDir()},
		Nodes: []engine.NodeSpec{{Key: "a", Title: "A"}, {Key: "b", Title: "B"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.StartPlan(bg, made.PlanID, plan.Builtin); err != nil {
		t.Fatal(err)
	}
	enginetest.Until(t, e, made.PlanID, "done", enginetest.Status(plan.StatusDone))
	got, err := e.Spending(bg)
	half := 0.5
	if diff := cmp.Diff([]plan.ProfileSpend{{Profile: 2, Runs: 2, TokensIn: 200, TokensOut: 40, CostUSD: &half, Priced: 2}}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// paid is an agent whose runs use so much.
func paid(in, out *int64, cost *float64) enginetest.Agent {
	return func(context.Context, plugin.Task, plugin.Host) (plugin.Result, error) {
		return plugin.Result{Text: "done", TokensIn: in, TokensOut: out, CostUSD: cost}, nil
	}
}
