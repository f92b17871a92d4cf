package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/internal/goldenfile"
	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/plugintest"
)

// Roles that the test binary plays.
const (
	asHarness = "TEST_AS_HARNESS"
	asAgent   = "TEST_AS_AGENT" // its value is the variant
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asHarness) != "":
		main()
		return
	case os.Getenv(asAgent) != "":
		os.Exit(agentMain(os.Getenv(asAgent)))
	}
	os.Exit(m.Run())
}

type m = map[string]any

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// profile is one with the scripted agent.
func profile(t *testing.T, variant string, more m) plugin.Profile {
	t.Helper()
	params := m{"command": []string{os.Args[0]}, "env": m{asAgent: variant, "GREETING": "hi"}}
	for k, v := range more {
		params[k] = v
	}
	return plugin.Profile{Name: "test", Secret: "sk-of-the-test", Credential: "literal", Params: encoded(t, params)}
}

// play runs a prompt in a folder with the file a.txt.
func play(t *testing.T, task plugin.Task, answer func(plugin.Question) plugin.Answer) (plugintest.Played, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	task.WorkDir = dir
	if task.Profile.Name == "" {
		task.Profile = profile(t, "plain", nil)
	}
	return plugintest.Play(t, &harness{farewell: 5 * time.Second}, task, answer), dir
}

// playIn runs a task whose folder is there.
func playIn(t *testing.T, task plugin.Task) plugintest.Played {
	t.Helper()
	return plugintest.Play(t, &harness{farewell: 5 * time.Second}, task, nil)
}

func wantIn(t *testing.T, text string, fragments ...string) {
	t.Helper()
	for _, f := range fragments {
		if !strings.Contains(text, f) {
			t.Errorf("%q does not contain %q", text, f)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenfile.Check(t, filepath.Join("testdata", name+".golden"), got, *update)
}

func TestSessionsAreTold(t *testing.T) {
	const tools = "http://127.0.0.1:1/mcp/run/a-token-of-the-run"
	tests := map[string]plugin.Task{
		"hello":        {Prompt: "hello", System: "You are a worker."},
		"work-full":    {Prompt: "work", MCPURL: tools},
		"work-read":    {Prompt: "work", MCPURL: tools, Allowed: plugin.Read},
		"work-run":     {Prompt: "work", Allowed: plugin.Run},
		"work-edit":    {Prompt: "work", Allowed: plugin.Edit},
		"work-limited": {Prompt: "work", Writable: []string{"docs"}, LimitWrites: true},
		"diff":         {Prompt: "diff"},
		"no-http":      {Prompt: "hello", MCPURL: tools, Profile: profile(t, "forgetful", nil)},
		"resumed":      {Prompt: "hello", ResumeSession: agentSession},
		"not-resumed":  {Prompt: "hello", ResumeSession: "gone"},
		"no-such-model": {Prompt: "hello", Profile: func() plugin.Profile {
			p := profile(t, "plain", m{"mode": "none-such"})
			p.Model = "none-such"
			return p
		}()},
		"cut":     {Prompt: "cut"},
		"die":     {Prompt: "die"},
		"limited": {Prompt: "limited"},
	}
	for name, task := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, dir := play(t, task, nil)
			for _, e := range p.Events {
				if err := plugin.CheckEvent(e); err != nil {
					t.Error(err)
				}
			}
			golden(t, name, strings.NewReplacer(dir, "DIR", filepath.Dir(dir), "PARENT", os.Args[0], "AGENT").Replace(p.Transcript()))
		})
	}
}

func TestEndingsAreToldApart(t *testing.T) {
	for prompt, want := range map[string]struct {
		subtype, text      string
		transient, limited bool
	}{
		"turns": {subtypeMaxTurns, "its own limit of turns", false, false}, "refuse": {subtypeRefused, "the model refused", false, false},
		"nothing": {plugin.SubtypeError, "an empty answer", false, false}, "killed": {plugin.SubtypeError, "ended by signal 9", true, false},
		"overload": {plugin.SubtypeError, "529 overloaded", true, false}, "limited": {plugin.SubtypeError, "limit is reached", false, true},
		"logged-in": {subtypeLogin, "params.auth_method to one of its ways: api-key (Use a key)", false, false},
	} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			p, _ := play(t, plugin.Task{Prompt: prompt}, nil)
			if r := p.Result; !r.IsError || r.Subtype != want.subtype || r.Transient != want.transient || r.RateLimited != want.limited {
				t.Errorf("result %+v", r)
			}
			wantIn(t, p.Result.Text, want.text)
		})
	}
}

func TestAPersonMayAllowWhatIsBeyond(t *testing.T) {
	p, _ := play(t, plugin.Task{Prompt: "work", Allowed: plugin.Read, Profile: profile(t, "plain", m{"ask": true})},
		func(q plugin.Question) plugin.Answer { return plugin.Answer{Allow: q.Tool == "Execute"} })
	if len(p.Asked) != 4 { // edit, execute, fetch, and a tool of a server that is not there
		t.Errorf("asked %+v", p.Asked)
	}
	wantIn(t, p.Transcript(), "edit no", "run yes", "fetch no", "report no", "terminal ERROR commands are beyond")
}

func TestWhatIsDoneWithoutAskingEndsTheRun(t *testing.T) {
	p, _ := play(t, plugin.Task{Prompt: "sneak", Allowed: plugin.Edit}, nil)
	if p.Result.Subtype != subtypeBeyond || !p.Result.IsError {
		t.Errorf("result %+v", p.Result)
	}
	wantIn(t, p.Result.Text, "without asking: rm -rf /")
}

func TestARunThatSpentItsLimitAndGoesOnIsEnded(t *testing.T) {
	limits := plugin.Limits{MaxCostUSD: 0.25}
	p, _ := play(t, plugin.Task{Prompt: "dear", Limits: limits}, nil)
	if r := p.Result; !r.IsError || r.Subtype != subtypeBudget {
		t.Errorf("result %+v", r)
	}
	wantIn(t, p.Result.Text, "limit of $0.25 is reached ($0.25 spent)")
	p, _ = play(t, plugin.Task{Prompt: "dear", Limits: plugin.Limits{MaxTokens: 10}}, nil)
	wantIn(t, p.Result.Text, "limit of 10 tokens is reached (the agent's context alone holds 10)")
	if p, _ := play(t, plugin.Task{Prompt: "hello", Limits: limits}, nil); p.Result.IsError {
		t.Errorf("an answer that was left: %+v", p.Result)
	}
}

func TestTheKeyGoesOnlyWhereItIsSentTo(t *testing.T) {
	p, _ := play(t, plugin.Task{Prompt: "env"}, nil)
	wantIn(t, p.Result.Text+"|", "GREETING=hi KEY=|")
	p, _ = play(t, plugin.Task{Prompt: "env", Profile: profile(t, "plain", m{"key_var": "AGENT_KEY"})}, nil)
	wantIn(t, p.Result.Text, "KEY=[secret]")
}

func TestAgentsThatCannotServe(t *testing.T) {
	for variant, want := range map[string]string{
		"tomorrow": "speaks version 2 of the Agent Client Protocol", "locked": "the agent is not logged in", "silent": "exit code 3 in the middle of the session; it said: usage: something else",
	} {
		p, _ := play(t, plugin.Task{Prompt: "hello", Profile: profile(t, variant, nil)}, nil)
		if !p.Result.IsError {
			t.Errorf("%s: result %+v", variant, p.Result)
		}
		wantIn(t, p.Result.Text, want)
	}
}

func TestProfilesAreChecked(t *testing.T) {
	bad := func(params string) plugin.Profile { return plugin.Profile{Params: json.RawMessage(params)} }
	for _, tt := range []struct {
		p         plugin.Profile
		connect   bool
		ok        bool
		field     string
		fragments []string
	}{
		{profile(t, "plain", nil), false, true, "", []string{"key is not given to it"}},
		{profile(t, "plain", m{"key_var": "K"}), true, true, "", []string{"It is scripted 1.2; ways to log in: api-key."}},
		{profile(t, "forgetful", nil), true, true, "", []string{"does without the tools of Clearbox"}},
		{profile(t, "silent", nil), true, false, "params.command", []string{"does not answer as an agent", "usage: something else"}},
		{profile(t, "tomorrow", nil), true, false, "params.command", []string{"version 2"}},
		{bad(``), false, false, "params.command", []string{"is not set"}},
		{bad(`{"command":["none-such-program"]}`), false, false, "params.command", []string{"not found on the PATH"}},
		{bad(`{"command":["sh"],"env":{"A":1}}`), false, false, "params.env", []string{"must be a text"}},
		{bad(`{"command":["sh"],"env":{"A B":""}}`), false, false, "params.env", []string{"letters, digits and _"}},
		{bad(`{"command":["sh"],"key_var":"A=B"}`), false, false, "params.key_var", []string{"name of a variable"}},
	} {
		r, err := newHarness().Check(t.Context(), tt.p, tt.connect)
		if err != nil || r.OK != tt.ok || r.Field != tt.field {
			t.Errorf("%s: %+v, %v", tt.p.Params, r, err)
		}
		wantIn(t, r.Detail, tt.fragments...)
		if strings.Contains(r.Detail, "sk-of-the-test") {
			t.Errorf("the key is in %q", r.Detail)
		}
	}
}

func TestDiffsShowWhatChanged(t *testing.T) {
	for _, tt := range []struct{ old, now, want string }{
		{"", "a\n", "changed f\n+a\n"}, {"a\nb\nc\n", "a\nc\n", "changed f\n-b\n"}, {"a", "a", "changed f\n"}, {"x\ny", "x\nz", "changed f\n-y\n+z\n"},
	} {
		if got := diff(shown{Path: "f", OldText: tt.old, NewText: tt.now}); got != tt.want {
			t.Errorf("%q → %q: %q, want %q", tt.old, tt.now, got, tt.want)
		}
	}
}

// The harness passes the suite for harnesses as a process of its own.
func TestAsAProcess(t *testing.T) {
	plugintest.Run(t, os.Args[0], plugintest.Options{
		Env:     []string{asHarness + "=1"},
		Profile: profile(t, "plain", m{"env": m{asHarness: "", asAgent: "plain"}, "ask": true}),
		Quick:   plugin.Task{Prompt: "hello"},
		Long:    plugin.Task{Prompt: "long"},
		Tools:   plugin.Task{Prompt: "work"},
		Big:     plugin.Task{Prompt: "big"},
	})
}

func FuzzMessages(f *testing.F) {
	for _, line := range []string{`{"id":1,"result":{}}`, `{"method":"session/update","params":{"sessionId":"","update":{"sessionUpdate":"tool_call","toolCallId":"a","content":[{"type":"diff"}]}}}`, `{"id":"x","method":"fs/read_text_file","params":{}}`, `[]`, `{`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h := newHarness()
		s, err := h.open(setup{}, plugin.Task{WorkDir: t.TempDir(), Allowed: plugin.Read}, hushed())
		if err != nil {
			t.Fatal(err)
		}
		defer s.kit.Close()
		s.giveUp = func(error) {}
		s.peer = newPeer(t.Context(), s)
		out := s.peer.lines()
		_, _ = out.Write([]byte(line))
		out.End()
		s.peer.asks.Wait()
		s.close()
	})
}
