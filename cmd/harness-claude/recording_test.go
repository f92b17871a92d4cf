package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
)

// Streams of the real program are kept in testdata/streams, in a folder for each
// version, so that most of what is done with them is tested without it. Record those
// of another version with
//
//	CLEARBOX_TEST_CLAUDE=… go test -run TestRecordings -record -update
var record = flag.Bool("record", false, "record the streams of the real program anew")

const streams = "testdata/streams"

type call1 = scriptedmessages.Call

// recordings are the scenes that are recorded, and played again.
func recordings() map[string]scene {
	cut := 3
	limit := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	return map[string]scene{
		"hello": {scripts: one(turn{Thinking: "They want one word.", Text: "ready"})},
		"tools": {
			files: map[string]string{"a.txt": "alpha\n", "long.txt": strings.Repeat("a long line of text\n", 600)},
			task:  func(t *plugin.Task) { t.Allowed = plugin.Edit },
			scripts: []script{{Turns: []turn{
				{Thinking: "First I look.", Text: "Looking.", Calls: []call1{{Name: "Read", Input: m{"file_path": "a.txt"}}, {Name: "Read", Input: m{"file_path": "none.txt"}}}},
				{Calls: []call1{{Name: "Edit", Input: m{"file_path": "a.txt", "old_string": "alpha", "new_string": "omega"}}}, Usage: &scriptedmessages.Usage{In: 3, CacheRead: 1000, CacheWrite: 200, Out: 40}},
				use("Read", m{"file_path": "long.txt"}),
				use("Bash", m{"command": "ls"}),
				use("Write", m{"file_path": "/etc/no", "content": "x"}),
				say1("I changed a.txt."),
			}}},
		},
		"ask": {
			params: m{"ask": true}, task: func(t *plugin.Task) { t.Allowed = plugin.Read },
			scripts: []script{{Turns: []turn{
				use("Bash", m{"command": "echo yes", "description": "say yes"}),
				use("Write", m{"file_path": "no.txt", "content": "x"}),
				say1("Asked twice."),
			}}},
			answer: func(_ context.Context, q plugin.Question) (plugin.Answer, error) {
				return plugin.Answer{Allow: q.Tool == "Bash", Message: "not that file"}, nil
			},
		},
		"sub-agent": {scripts: []script{
			{Match: "the sub job", Turns: []turn{use("Bash", m{"command": "echo from-below", "description": "say"}), say1("Sub done.")}},
			{Turns: []turn{use("Agent", m{"description": "sub", "subagent_type": "general-purpose", "prompt": "Do the sub job"}), say1("All done.")}},
		}},
		"odd-calls": {scripts: []script{{Turns: []turn{
			{Calls: []call1{{ID: "same", Name: "Bash", Input: m{"command": "echo a"}}, {ID: "same", Name: "Bash", Input: m{"command": "echo b"}}}},
			{Calls: []call1{{Name: "Bash", Input: m{"cmd": 42}}, {Name: "NoSuchTool", Input: m{}}}},
			say1("Went on."),
		}}}},
		"empty": {scripts: one(turn{})},
		"retried": {scripts: []script{{Turns: []turn{
			{Status: 529, Kind: "overloaded_error", Message: "Overloaded", Times: 1, Text: "After one."},
		}}}},
		"overloaded":   {scripts: one(turn{Status: 529, Kind: "overloaded_error", Message: "Overloaded"})},
		"server-fault": {scripts: one(turn{Status: 503, Body: "<html><h1>503</h1></html>"})},
		"cut":          {scripts: one(turn{Text: "never whole", CutAfter: &cut})},
		"wrong-key":    {scripts: one(say1("x")), server: func(s *scriptedmessages.Server) { s.Key = "another" }},
		"no-model":     {scripts: one(turn{Status: 404, Kind: "not_found_error", Message: "model: gone"}), task: func(t *plugin.Task) { t.Profile.Model = "claude-gone-1" }},
		"too-long":     {scripts: one(turn{Status: 400, Kind: "invalid_request_error", Message: "prompt is too long: 250000 tokens > 200000 maximum"})},
		"refusal":      {scripts: one(turn{Text: "I cannot", Stop: "refusal"})},
		"no-credit":    {scripts: one(turn{Status: 400, Kind: "invalid_request_error", Message: "Your credit balance is too low to access the Anthropic API."})},
		"rate-limit":   {scripts: one(turn{Status: 429, Kind: "rate_limit_error", Message: "slow down", Headers: headers(m{"Retry-After": "7200"})})},
		"max-turns":    {scripts: []script{{Loop: true, Turns: []turn{use("Bash", m{"command": "true"})}}}, params: m{"max_turns": 2}},
		"max-budget": {
			scripts: []script{{Loop: true, Turns: []turn{{Calls: []call1{{Name: "Bash", Input: m{"command": "true"}}}, Usage: &scriptedmessages.Usage{In: 900_000, Out: 90_000}}}}},
			params:  m{"max_budget_usd": 1.5},
		},
		"login-limit": {
			scripts: one(turn{Status: 429, Kind: "rate_limit_error", Message: "no more", Headers: headers(m{
				"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": limit.Unix(),
				"anthropic-ratelimit-unified-representative-claim": "five_hour", "Retry-After": "5400",
			})}),
			task:   func(t *plugin.Task) { t.Profile.Secret = "sk-ant-oat01-of-the-test" },
			server: func(s *scriptedmessages.Server) { s.Key = "sk-ant-oat01-of-the-test" },
		},
		"no-login":   {scripts: one(say1("x")), task: func(t *plugin.Task) { t.Profile.Secret, t.Profile.BaseURL = "", "" }},
		"no-session": {scripts: one(say1("x")), task: func(t *plugin.Task) { t.ResumeSession = "11111111-2222-4333-8444-555555555555" }},
	}
}

// recordingTime is when the played runs take place.
var recordingTime = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

func TestRecordings(t *testing.T) {
	if *record {
		recordAll(t)
	}
	versions, err := os.ReadDir(streams)
	must(t, err)
	for _, v := range versions {
		for name, sc := range recordings() {
			t.Run(v.Name()+"/"+name, func(t *testing.T) { playRecording(t, v.Name(), name, sc) })
		}
	}
}

func playRecording(t *testing.T, version, name string, sc scene) {
	heard := filepath.Join(t.TempDir(), "heard")
	must(t, os.WriteFile(heard, nil, 0o600))
	t.Setenv(heardIn, heard)
	sc.program, sc.now = usePlayer(t), recordingTime
	own := sc.task
	sc.task = func(task *plugin.Task) {
		if own != nil {
			own(task)
		}
		task.Prompt = "recording:" + version + "/" + name
	}
	p := play(t, sc)
	told, err := os.ReadFile(heard)
	must(t, err)
	golden(t, filepath.Join("streams", version, name), p.transcript(t)+"the program heard\n"+p.normal(string(told)))
}

// recordAll runs every scene with the real program between this binary and itself.
func recordAll(t *testing.T) {
	real := claude(t)
	version, bad := programVersion(t.Context(), real)
	if bad != nil {
		t.Fatal(bad)
	}
	folder, err := filepath.Abs(filepath.Join(streams, version))
	must(t, err)
	must(t, os.MkdirAll(folder, 0o755))
	for name, sc := range recordings() {
		file := filepath.Join(folder, name+".jsonl")
		t.Run("record "+name, func(t *testing.T) {
			_ = os.Remove(file)
			t.Setenv(asRecorder, real)
			t.Setenv(recordTo, file)
			sc.program = os.Args[0]
			play(t, sc)
		})
	}
}
