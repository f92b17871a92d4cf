package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/plugintest"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
)

// replayed runs a trick or a recording in the place of the program.
func replayed(t *testing.T, name string, sc scene) *played {
	t.Helper()
	sc.program = usePlayer(t)
	own := sc.task
	sc.task = func(task *plugin.Task) {
		if own != nil {
			own(task)
		}
		task.Prompt = "recording:" + name
	}
	return play(t, sc)
}

// The harness passes the suite for harnesses as a process of its own, with recordings
// in the place of the program.
func TestAsAProcess(t *testing.T) {
	program, env := player(t)
	params := m{"path": program, "ask": true}
	task := func(name string) plugin.Task {
		return plugin.Task{Prompt: "recording:" + name, Allowed: plugin.Read}
	}
	quick := task("2.1.197/hello")
	quick.Title = "hello"
	plugintest.Run(t, os.Args[0], plugintest.Options{
		Env:     append(env, asHarness+"=1", "XDG_STATE_HOME="+t.TempDir()),
		Profile: plugin.Profile{Name: "test", BaseURL: "http://127.0.0.1:9", Secret: "sk-of-the-process", Credential: "literal", Params: encoded(t, params)},
		Quick:   quick,
		Long:    task("long"),
		Tools:   task("2.1.197/tools"),
		Big:     task("big"),
		Ask:     task("2.1.197/ask"),
	})
}

func TestProgramsThatBehaveBadly(t *testing.T) {
	tests := []struct {
		name      string
		want      string
		isErr     bool
		transient bool
	}{
		{"stays", "done", false, false},
		{"settled", "settled", false, false},
		{"garbage", "still here", false, false},
		{"killed", "the claude program was ended by signal 9", true, true},
		{"exits", "exit code 1 and no result; it said: error: unknown option '--tools'", true, false},
		{"none-such", "exit code 2 and no result", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := replayed(t, tt.name, scene{farewell: 1})
			if p.result.IsError != tt.isErr || p.result.Transient != tt.transient {
				t.Errorf("result %+v", p.result)
			}
			wantIn(t, p.result.Text, tt.want)
			for _, e := range p.events {
				if err := plugin.CheckEvent(e); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestWhatBadProgramsPrintIsTold(t *testing.T) {
	p := replayed(t, "big", scene{})
	if p.result.IsError || p.result.Text != "swallowed" {
		t.Errorf("result %+v", p.result)
	}
	out := p.everything()
	wantIn(t, out, "a line of 104857600 bytes was left out", "characters left out", " the end of stderr")
	if len(out) > 200_000 {
		t.Errorf("%d bytes are told", len(out))
	}
	out = replayed(t, "garbage", scene{}).everything()
	wantIn(t, out, "Welcome!", "was not understood", "which nobody made")
	out = replayed(t, "stays", scene{farewell: 1}).everything()
	wantIn(t, out, "did not leave after its result")
}

// A program that never reads its input holds up nobody, however long the prompt is.
func TestAPromptThatNobodyReads(t *testing.T) {
	t.Setenv(deaf, "1")
	p := play(t, scene{program: usePlayer(t), task: func(t *plugin.Task) { t.Prompt = strings.Repeat("word ", 1<<20) }})
	if p.result.IsError || p.result.Text != "heard nothing" {
		t.Errorf("result %+v", p.result)
	}
}

// A profile or a machine with which nothing can run fails in words that say what to do.
func TestRunsThatCannotBegin(t *testing.T) {
	tests := map[string]struct {
		sc      scene
		version string
		want    string
	}{
		"no program":  {scene{program: "/nowhere/claude"}, "", "params.path: /nowhere/claude is not a program"},
		"old program": {scene{}, "2.1.0 (Claude Code)", "claude 2.1.0 is too old: 2.1.100 or newer is needed"},
		"bad params":  {scene{params: m{"max_turns": -1}}, "", `the agent profile "test" cannot run: params.max_turns must be at least 1`},
		"no folder":   {scene{task: func(t *plugin.Task) { t.WorkDir = "/nowhere/at/all" }}, "", "open working directory"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			program := usePlayer(t)
			t.Setenv(playedVersion, tt.version)
			if tt.sc.program == "" {
				tt.sc.program = program
			}
			p := play(t, tt.sc)
			if !p.result.IsError || p.result.Transient || len(p.events) > 0 {
				t.Errorf("result %+v after %d events", p.result, len(p.events))
			}
			wantIn(t, p.result.Text, tt.want)
		})
	}
}

func TestASecretIsNotCutInHalf(t *testing.T) {
	p := replayed(t, "tattles", scene{})
	wantNotIn(t, p.everything(), apiKey[:8])
	wantIn(t, p.result.Text, "told "+secrets.Mark)
}

func TestASecondResultReplacesTheFirst(t *testing.T) {
	p := replayed(t, "twice", scene{})
	r := p.result
	if r.IsError || r.Text != "second" || *r.TokensIn != 14 || *r.TokensOut != 6 || *r.CostUSD != 0.5 {
		t.Errorf("result %+v", r)
	}
	wantIn(t, p.everything(), "a sub-agent failed: API Error: below")
}

// Versions differ in what they tell of one and the same fault.
func TestFailuresAreToldApart(t *testing.T) {
	for _, tt := range []struct {
		f    failure
		want string
	}{
		{failure{kind: "rate_limit"}, "limited"},
		{failure{status: 429}, "limited"},
		{failure{rejected: true}, "limited"},
		{failure{said: "Claude AI usage limit reached|1796126400"}, "limited"},
		{failure{said: "You've hit your Opus limit · resets 3pm"}, "limited"},
		{failure{said: "Not logged in · Please run /login"}, "login"},
		{failure{status: 529}, "overloaded passing"},
		{failure{kind: "server_error", said: "API Error: Repeated 529 Overloaded errors."}, "overloaded passing"},
		{failure{kind: "server_error", said: "the context limit reached its end"}, "passing"},
		{failure{status: 503}, "passing"},
		{failure{status: 400, kind: "invalid_request", said: "limit reached"}, ""},
		{failure{}, ""},
	} {
		var got []string
		for word, is := range map[string]bool{"limited": tt.f.limited(), "login": tt.f.notLoggedIn(), "overloaded": tt.f.overloaded(), "passing": tt.f.passing()} {
			if is {
				got = append(got, word)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: %q, want %q", tt.f, got, tt.want)
		}
	}
}
