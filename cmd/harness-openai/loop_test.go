package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
)

// Each scene is kept as a golden transcript in testdata.
var scenes = map[string]scene{
	"answer": {turns: []turn{{Text: "All is well.", Thinking: "Let me see."}}},
	"tools": {
		files: map[string]string{"a.txt": "one\ntwo\n"},
		turns: []turn{
			{Text: "I look first.", Calls: []toolUse{{Name: "read_file", Args: m{"path": "a.txt"}}}},
			{Calls: []toolUse{{Name: "edit_file", Args: m{"path": "a.txt", "old_string": "two", "new_string": "three"}}}, Expect: `2\ttwo`},
			{Text: "Changed {{match \"edited (\\\\S+):\"}}.", Expect: "edited a.txt"},
		},
	},
	"two calls at once": {
		turns: []turn{
			{Calls: []toolUse{{Name: "write_file", Args: m{"path": "a.txt", "content": "first"}}, {Name: "bash", Args: m{"command": "cat a.txt"}}}},
			{Text: "Both ran.", Expect: `first\n\[exit code 0\]`},
		},
	},
	"without stream": {
		params: m{"stream": false},
		turns:  []turn{use("list_dir", m{}), say("Empty.")},
	},
	"bad JSON arguments": {
		turns: []turn{
			{Calls: []toolUse{{Name: "write_file", Raw: `{"path": "a.txt", "content": `}}},
			{Text: "I give up.", Expect: "invalid JSON"},
		},
	},
	"arguments that are no object": {
		turns: []turn{{Calls: []toolUse{{Name: "bash", Raw: `["ls"]`}}}, say("Well.")},
	},
	"unknown tool and bad arguments": {
		turns: []turn{
			{Calls: []toolUse{{Name: "delete_everything", Args: m{}}, {Name: "read_file", Args: m{"file": "x"}}}},
			{Text: "I see.", Expect: `unknown argument "file"`},
		},
	},
	"max turns": {
		params: m{"max_turns": 2}, loop: true,
		turns: []turn{use("list_dir", m{})},
	},
	"empty answer once": {
		turns: []turn{use("list_dir", m{}), {}, say("Here is what I did.")},
	},
	"empty answer twice after work": {
		turns: []turn{{Text: "I look.", Calls: []toolUse{{Name: "list_dir", Args: m{}}}}, {}, {}},
	},
	"nothing but empty answers": {turns: []turn{{}, {Text: " \n"}}},
	"answer cut at its limit":   {turns: []turn{{Text: "The answer is", Finish: "length"}}},
	"limit used up by thinking": {turns: []turn{{Thinking: "Hm, hm, hm", Finish: "length"}}},
	"call cut at its limit": {
		turns: []turn{{Calls: []toolUse{{Name: "write_file", Raw: `{"path": "a.txt", "content": "long`}}, Finish: "length"}, say("Shorter, then.")},
	},
	"content filter": {turns: []turn{{Finish: "content_filter"}}},
	"refusal":        {turns: []turn{{Refusal: "I cannot help with that."}}},
	"calls with finish reason stop": {
		turns: []turn{{Calls: []toolUse{{Name: "list_dir", Args: m{}}}, Finish: "stop"}, say("Done.")},
	},
	"repeated ids": {
		turns: []turn{
			{Calls: []toolUse{{ID: "same", Name: "list_dir", Args: m{}}}},
			{Calls: []toolUse{{ID: "same", Name: "list_dir", Args: m{}}}},
			say("Done."),
		},
	},
	"no usage": {turns: []turn{{Text: "Done.", NoUsage: true}}},
	"prices": {
		params: m{"input_price_per_mtok": 3, "output_price_per_mtok": 15},
		turns:  []turn{{Text: "Done.", Usage: &scriptedmodel.Usage{In: 1_000_000, Out: 200_000}}},
	},
	"budget of tokens": {
		task:  func(t *plugin.Task) { t.Limits.MaxTokens = 20 },
		turns: []turn{use("list_dir", m{}), use("list_dir", m{}), say("never said")},
	},
	"no tools": {
		tools: `{"preset":"none","mcp":false}`,
		turns: []turn{say("Only words.")},
	},
	"rate limit that stays": {
		loop:  true,
		turns: []turn{{Status: 429, Headers: map[string]string{"Retry-After": "1"}, Body: `{"error":{"message":"Rate limit reached","type":"rate_limit_error","code":"rate_limit_exceeded"}}`}},
	},
	"rate limit once": {
		turns: []turn{{Status: 429, Times: 1, Body: `{"error":{"message":"slow down"}}`, Text: "After the limit."}},
	},
}

func TestTranscripts(t *testing.T) {
	for name, sc := range scenes {
		t.Run(name, func(t *testing.T) {
			golden(t, strings.ReplaceAll(name, " ", "-"), play(t, sc).transcript(t))
		})
	}
}

func TestNothingIsWrittenByACallWithBadJSON(t *testing.T) {
	p := play(t, scenes["bad JSON arguments"])
	if names, err := os.ReadDir(p.dir); err != nil || len(names) > 0 {
		t.Errorf("the folder has %v, error %v", names, err)
	}
}

func TestToolsDoWhatTheySay(t *testing.T) {
	p := play(t, scenes["tools"])
	data, err := os.ReadFile(filepath.Join(p.dir, "a.txt"))
	if err != nil || string(data) != "one\nthree\n" {
		t.Errorf("a.txt is %q, error %v", data, err)
	}
}

func TestSystemTextHasEveryPart(t *testing.T) {
	p := play(t, scene{
		turns: []turn{say("ok")},
		task:  func(t *plugin.Task) { t.Profile.SystemAppend = "Write British English." },
	})
	q := p.requests[0]
	wantIn(t, q.System(), "You work on your own", "You are a worker.", "Write British English.", "working directory: "+p.dir)
	if q.User() != "Do the step." {
		t.Errorf("the prompt arrived as %q", q.User())
	}
}

func TestWhatIsOfferedFollowsTheCapability(t *testing.T) {
	for allowed, want := range map[plugin.Capability]string{
		plugin.Read: "read_file list_dir glob grep",
		plugin.Run:  "read_file list_dir glob grep bash",
		plugin.Edit: "read_file write_file edit_file list_dir glob grep",
		plugin.Full: "read_file write_file edit_file list_dir glob grep bash",
	} {
		p := play(t, scene{turns: []turn{say("ok")}, tools: `{"preset":"all"}`, task: func(t *plugin.Task) { t.Allowed = allowed }})
		if got := strings.Join(p.requests[0].Tools, " "); got != want {
			t.Errorf("%s: offered %s, want %s", allowed, got, want)
		}
	}
}

func TestToolsThatAreNotOfferedDoNotRun(t *testing.T) {
	p := play(t, scene{
		turns: []turn{use("bash", m{"command": "touch x"}), say("ok")},
		task:  func(t *plugin.Task) { t.Allowed = plugin.Edit },
	})
	wantIn(t, p.everything(t), `there is no tool \"bash\"`)
	if _, err := os.Stat(filepath.Join(p.dir, "x")); err == nil {
		t.Error("the command ran")
	}
}

func TestParamsReachTheEndpoint(t *testing.T) {
	p := play(t, scene{
		turns: []turn{say("ok")},
		params: m{"temperature": 0, "top_p": 0.5, "max_tokens": 100, "reasoning_effort": "low", "seed": 7, "parallel_tool_calls": false,
			"extra_body": m{"top_k": 3, "provider": m{"order": []string{"x"}}}, "review_capability": "read"},
	})
	q := p.requests[0]
	for name, want := range map[string]string{
		"temperature": "0", "top_p": "0.5", "max_tokens": "100", "reasoning_effort": `"low"`, "seed": "7", "parallel_tool_calls": "false",
		"top_k": "3", "provider": `{"order":["x"]}`, "stream": "true", "stream_options": `{"include_usage":true}`, "model": `"scripted-model"`,
		"max_turns": "", "review_capability": "",
	} {
		if got := string(q.Param(name)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	bare := play(t, scene{turns: []turn{say("ok")}, params: m{"temperature": nil}}).requests[0]
	for _, name := range []string{"temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "parallel_tool_calls", "reasoning_effort"} {
		if bare.Param(name) != nil {
			t.Errorf("%s was sent though it is not set", name)
		}
	}
}

func TestFieldsThatTheEndpointDoesNotKnowAreLeftOut(t *testing.T) {
	for name, sc := range map[string]scene{
		"stream_options":      {},
		"parallel_tool_calls": {params: m{"parallel_tool_calls": true}},
		"max_tokens":          {params: m{"max_tokens": 9}},
	} {
		t.Run(name, func(t *testing.T) {
			sc.turns = []turn{use("list_dir", m{}), say("ok")}
			sc.server = func(s *scriptedmodel.Server) { s.Reject = []string{name} }
			p := play(t, sc)
			if p.result.IsError || len(p.requests) != 3 {
				t.Fatalf("%d requests, result %+v", len(p.requests), p.result)
			}
			for _, q := range p.requests[1:] {
				if q.Param(name) != nil {
					t.Errorf("%s was sent again", name)
				}
			}
			if other := p.requests[1].Param("max_completion_tokens"); name == "max_tokens" && string(other) != "9" {
				t.Errorf("max_completion_tokens is %s", other)
			}
		})
	}
}

func TestALimitThatIsTooLargeIsNotTakenForAnUnknownField(t *testing.T) {
	p := play(t, scene{params: m{"max_tokens": 9}, turns: []turn{{Status: 400, Body: `{"error":{"message":"max_tokens is too large: 9"}}`}}})
	if len(p.requests) != 1 {
		t.Errorf("%d requests", len(p.requests))
	}
	wantIn(t, p.result.Text, "max_tokens is too large")
}

func TestAStopEndsTheRun(t *testing.T) {
	srv := scriptedmodel.New(scriptedmodel.Script{Name: "slow", Turns: []turn{{Text: "too late", DelayMS: 60_000}}})
	url := serve(t, srv)
	s := plugin.Local(newHarness(), plugin.Task{
		RunID: "run-1", WorkDir: t.TempDir(), Prompt: "x", Allowed: plugin.Read,
		Profile: plugin.Profile{Model: model, BaseURL: url},
	})
	defer s.Close()
	must(t, s.Stop(t.Context()))
	res, err := s.Follow(t.Context(), 0, &recorder{})
	must(t, err)
	if !res.IsError || res.Subtype != plugin.SubtypeStopped {
		t.Errorf("result %+v", res)
	}
}

func TestAProfileThatCannotRunSaysWhatToSet(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*plugin.Task)
		want   string
	}{
		"model":      {func(t *plugin.Task) { t.Profile.Model = "" }, "no model is set"},
		"params":     {func(t *plugin.Task) { t.Profile.Params = json.RawMessage(`{"temprature":1}`) }, `"temprature"`},
		"tools":      {func(t *plugin.Task) { t.Profile.Tools = json.RawMessage(`{"deny":["bsh"]}`) }, `tools.deny names "bsh"`},
		"base_url":   {func(t *plugin.Task) { t.Profile.BaseURL = "ftp://x" }, "base_url must begin with http"},
		"key":        {func(t *plugin.Task) { t.Profile.BaseURL, t.Profile.KeyEnv = "", "SOME_KEY" }, "SOME_KEY"},
		"capability": {func(t *plugin.Task) { t.Allowed = "" }, "capability"},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, scene{turns: []turn{say("never")}, task: tt.change})
			if !p.result.IsError || len(p.requests) > 0 {
				t.Errorf("%d requests, result %+v", len(p.requests), p.result)
			}
			wantIn(t, p.result.Text, tt.want)
		})
	}
}
