package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/plugin"
)

func TestScenesKeepTheirTime(t *testing.T) {
	for _, speed := range []float64{0.02, 1, 50} {
		t.Run(fmt.Sprint("speed ", speed), func(t *testing.T) {
			for i := range 60 {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					rec, _ := played(t, plugin.Task{RunID: fmt.Sprint(i), Title: "a step", Kind: "step", Speed: speed})
					took := time.Since(began).Seconds() * speed
					if took < 2.7 || took > 15 {
						t.Errorf("run %d took %.1f s at speed 1, want 2.7 to 15", i, took)
					}
					if e := rec.events[0]; e.Kind != plugin.KindSystem || e.At.After(began) {
						t.Errorf("run %d began with %s after %s", i, e.Kind, e.At.Sub(began))
					}
					if first := rec.events[1].At.Sub(began); first.Seconds() < 0.55/speed {
						t.Errorf("run %d waited only %s first", i, first)
					}
				})
			}
		})
	}
}

func TestScenesArePlausibleAndAlwaysTheSame(t *testing.T) {
	tools := map[int]int{}
	for i := range 40 {
		task := plugin.Task{RunID: fmt.Sprint("r", i), Title: "Add a flag", Kind: "step", Speed: 1e9}
		rec, res := played(t, task)
		said := rec.said()
		again, _ := played(t, task)
		if diff := cmp.Diff(said, again.said()); diff != "" {
			t.Fatalf("run %d differs from itself: %s", i, diff)
		}
		calls, results := 0, 0
		for _, e := range rec.events {
			switch e.Kind {
			case plugin.KindToolUse:
				calls++
			case plugin.KindToolResult:
				results++
			}
		}
		tools[calls]++
		if calls != results || said[0] != "system session started" || !strings.HasPrefix(said[1], "thinking ") || !strings.Contains(said[2], "“Add a flag”") {
			t.Errorf("run %d: %d calls, %d results, %q", i, calls, results, said[:3])
		}
		if res.IsError || !strings.Contains(res.Text, "“Add a flag”") || res.CostUSD == nil || *res.CostUSD != 0 ||
			*res.TokensIn == 0 || *res.TokensOut == 0 || res.NumTurns != calls+1 || res.SessionID == "" || res.Model != "mock" {
			t.Errorf("run %d: %+v", i, res)
		}
	}
	if len(tools) != 3 || tools[0] > 0 || tools[4] > 0 {
		t.Errorf("numbers of tool calls: %v, want 1, 2 and 3", tools)
	}
}

func TestReviewersGiveNoVerdict(t *testing.T) {
	for _, kind := range []string{"review", "plan_review", "judge"} {
		for i := range 10 {
			rec, res := played(t, plugin.Task{RunID: fmt.Sprint(i), Title: "Add a flag", Kind: kind, Speed: 1e9, Allowed: plugin.Run, Prompt: "```mock\nfail\n```"})
			if all := strings.Join(rec.said(), "\n") + res.Text; strings.Contains(strings.ToUpper(all), "VERDICT") || res.IsError || res.Text == "" || strings.Contains(all, "Edit") {
				t.Errorf("%s: %s", kind, all)
			}
		}
	}
}

func TestAPlannerEndsWithAPlan(t *testing.T) {
	_, res := played(t, plugin.Task{Title: "a \"quoted\" goal", Kind: "planner", Speed: 1e9})
	_, block, _ := strings.Cut(res.Text, "```json\n")
	var plan struct {
		Title string
		Nodes []struct {
			Key                 string
			Acceptance_criteria []string
		}
		Edges [][]string
	}
	if err := json.Unmarshal([]byte(strings.TrimSuffix(block, "\n```")), &plan); err != nil {
		t.Fatalf("%v in %s", err, block)
	}
	if plan.Title != `a "quoted" goal` || len(plan.Nodes) != 3 || len(plan.Edges) != 2 || len(plan.Nodes[0].Acceptance_criteria) == 0 {
		t.Errorf("got %+v", plan)
	}
}

func TestDirectivesArePlayed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script string
		want   []string
		result plugin.Result
	}{
		{"words", "thinking a\ntext b\nsystem c\nerror d\nlog e", []string{"thinking a", "text b", "system c", "error d", "log e"}, plugin.Result{Text: "Done: a step"}},
		{"tools", `tool Read {"p":"x"} => content` + "\n" + `tool Bash =! exit 1`,
			[]string{`tool_use mock-1 Read {"p":"x"}`, "tool_result mock-1 false content", "tool_use mock-2 Bash {}", "tool_result mock-2 true exit 1"}, plugin.Result{Text: "Done: a step"}},
		{"usage and cost", "usage 10 2\nusage 20 3\ncost 0.5\nresult ok", []string{"usage 10 2", "usage 20 3"},
			plugin.Result{Text: "ok", TokensIn: new(int64(30)), TokensOut: new(int64(5)), CostUSD: new(0.5), NumTurns: 2}},
		{"questions", "ask may I?\nask this never", []string{"text answer: allowed: may I?", "text answer: refused: this never"}, plugin.Result{Text: "Done: a step"}},
		{"flood", "flood 3", []string{"text flood 1 of 3", "text flood 2 of 3", "text flood 3 of 3"}, plugin.Result{Text: "Done: a step"}},
		{"nothing after an ending", "result \"a\\nb\"\ntext never", nil, plugin.Result{Text: "a\nb"}},
		{"failure", "fail no luck", nil, plugin.Result{Text: "no luck", IsError: true, Errors: []string{"no luck"}, Subtype: "error"}},
		{"overload", "overload busy", nil, plugin.Result{Text: "busy", IsError: true, Errors: []string{"busy"}, Transient: true, Subtype: "error"}},
		{"limit", "limit 2030-01-02T15:04:05Z", []string{"rate_limited The provider's limit is reached, as the script says."},
			plugin.Result{Text: "The provider's limit is reached, as the script says.", IsError: true, Errors: []string{"The provider's limit is reached, as the script says."},
				RateLimited: true, Until: time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC), Subtype: "error"}},
		{"panic", "panic oh", nil, plugin.Result{Text: "the harness panicked: oh", IsError: true, Errors: []string{"the harness panicked: oh"}, Subtype: "error_panic"}},
		{"a bad line", "text a\nsleep soon", nil, plugin.Result{IsError: true, Subtype: "error",
			Text:   `mock block: line 2: sleep: a duration such as 500ms or 2s must follow, at most 720h0m0s, not "soon"`,
			Errors: []string{`mock block: line 2: sleep: a duration such as 500ms or 2s must follow, at most 720h0m0s, not "soon"`}}},
		{"another attempt", "@1 fail first\n@2 text second", []string{"text second"}, plugin.Result{Text: "Done: a step"}},
		{"no tools of Clearbox", "mcp get_plan", []string{"tool_use mock-1 mcp__clearbox__get_plan {}", "tool_result mock-1 true this run has no tools of Clearbox"}, plugin.Result{Text: "Done: a step"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			task := scripted(tt.script)
			task.Attempt = 1
			if tt.name == "another attempt" {
				task.Attempt = 2
			}
			rec, res := played(t, task)
			if diff := cmp.Diff(append([]string{"system session started"}, tt.want...), rec.said()); diff != "" {
				t.Error(diff)
			}
			want := tt.result
			want.SessionID, want.Model, want.DurationMS = sessionID(plugin.Task{RunID: "run-1", Title: "a step"}), "mock", res.DurationMS
			if want.Errors == nil {
				want.Errors = []string{}
			}
			if !want.IsError {
				want.Subtype = "success"
			}
			if want.CostUSD == nil && want.Subtype != "error_panic" && !strings.HasPrefix(want.Text, "mock block") {
				want.CostUSD = new(0.0)
			}
			if diff := cmp.Diff(want, res); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSleepsAreDividedByTheSpeed(t *testing.T) {
	for _, tt := range []struct {
		script string
		server float64
		params string
		want   time.Duration
	}{
		{"sleep 10s", 0, "", 10 * time.Second},
		{"sleep 10s", 4, "", 2500 * time.Millisecond},
		{"sleep 10s", 4, `{"speed":0.5}`, 20 * time.Second},
		{"sleep! 10s", 4, `{"speed":0.5}`, 10 * time.Second},
		{"limit 30s", 4, "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			task := scripted(tt.script)
			task.Speed, task.Profile.Params = tt.server, json.RawMessage(tt.params)
			began := time.Now()
			_, res := played(t, task)
			if got := time.Since(began); got != tt.want {
				t.Errorf("%s at %g, %s: took %s, want %s", tt.script, tt.server, tt.params, got, tt.want)
			}
			if res.RateLimited && !res.Until.Equal(began.Add(30*time.Second)) {
				t.Errorf("limited until %s", res.Until)
			}
		})
	}
}

func TestAStopEndsASleepButNotAHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, script := range []string{"sleep 10h", "hang\ntext woken"} {
			task := scripted(script)
			task.RunID, task.WorkDir = "r", "/"
			s := plugin.Local(mock{}, task)
			synctest.Wait()
			began := time.Now()
			s.Stop(t.Context())
			res, err := s.Follow(t.Context(), 0, &recorder{})
			took := time.Since(began)
			if err != nil || res.Subtype != plugin.SubtypeStopped || (script == "sleep 10h") != (took == 0) {
				t.Errorf("%q: %+v after %s, %v", script, res, took, err)
			}
			s.Close()
		}
	})
}

func TestParamsAndBlocks(t *testing.T) {
	check := func(params string) plugin.Report {
		r, err := mock{}.Check(context.Background(), plugin.Profile{Params: json.RawMessage(params)}, true)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for params, want := range map[string]string{
		"":                            "",
		`{}`:                          "",
		`{"speed":50}`:                "",
		`{"review_capability":"run"}`: "",
		`{"script":"text a"}`:         "",
		`{"speed":0}`:                 "params.speed must be greater than 0, not 0",
		`{"speed":"fast"}`:            "params: speed must be a number and script a text",
		`["a"]`:                       "params: speed must be a number and script a text",
		`{"script":"dance"}`:          `params.script: line 1: "dance" is no directive`,
	} {
		r := check(params)
		if r.OK != (want == "") || !strings.HasPrefix(r.Detail, want) || r.OK == (r.Field != "") {
			t.Errorf("%s: got %+v, want %q", params, r, want)
		}
		rec, res := played(t, plugin.Task{Title: "x", Speed: 1e9, Profile: plugin.Profile{Params: json.RawMessage(params)}})
		if res.IsError != (want != "") || !strings.HasPrefix(res.Text, want) || rec.said()[0] != "system session started" {
			t.Errorf("run with %s: %+v", params, res)
		}
	}
	task := scripted("result from the block")
	task.Profile.Params = json.RawMessage(`{"script":"result from the profile"}`)
	if _, res := played(t, task); res.Text != "from the block" {
		t.Errorf("the step's own script must win, got %q", res.Text)
	}
	task.Prompt = "no block"
	if _, res := played(t, task); res.Text != "from the profile" {
		t.Errorf("got %q", res.Text)
	}
}

func TestFilesAndCommandsAreReal(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	task := scripted("write a/b.txt \"one\\n\"\nappend a/b.txt two\nread a/b.txt\nread none.txt\n" +
		"run cat a/b.txt; echo >&2 oops; exit 3\nrun pwd\nwrite ../x y\nwrite out/x y\nwrite /etc/x y")
	task.WorkDir = dir
	rec, _ := played(t, task)
	var results []string
	for _, s := range rec.said() {
		if s, ok := strings.CutPrefix(s, "tool_result "); ok {
			results = append(results, s)
		}
	}
	want := []string{
		"mock-1 false Wrote 4 bytes to a/b.txt.",
		"mock-2 false Wrote 3 bytes to a/b.txt.",
		"mock-3 false one\ntwo",
		"mock-4 true open the file: openat none.txt: no such file or directory",
		"mock-5 true exit code 3\none\ntwooops\n",
		"mock-6 false " + dir + "\n",
		"mock-7 true make the folder: mkdirat ..: path escapes from parent",
		"mock-8 true make the folder: mkdirat out: path escapes from parent",
		"mock-9 true make the folder: mkdirat /etc: path escapes from parent",
	}
	for i := range want {
		if i >= 6 { // the exact words are the system's
			want[i], results[i] = want[i][:12], results[i][:12]
		}
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Error(diff)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a/b.txt")); err != nil || string(b) != "one\ntwo" {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestCapabilitiesAreKept(t *testing.T) {
	for _, tt := range []struct {
		allowed    plugin.Capability
		taskType   string
		writable   []string
		write, run bool
	}{
		{"", "", nil, true, true},
		{plugin.Read, "", nil, false, false},
		{plugin.Run, "", nil, false, true},
		{plugin.Edit, "", nil, true, false},
		{plugin.Full, "", nil, true, true},
		{plugin.Full, "", []string{}, false, true},
		{plugin.Full, "", []string{"src/a"}, true, true},
		{plugin.Full, "", []string{"src"}, true, true},
		{plugin.Full, "", []string{"sr", "src/a/b"}, false, true},
		{plugin.Full, "design", nil, false, false},
		{plugin.Full, "implement", nil, true, true},
		{plugin.Full, "review", nil, false, true},
		{plugin.Full, "test", nil, true, true},
	} {
		task := scripted("write src/a x\nrun true")
		task.WorkDir, task.Allowed, task.TaskType, task.Writable = t.TempDir(), tt.allowed, tt.taskType, tt.writable
		rec, res := played(t, task)
		said := rec.said()
		wrote, ran := strings.Contains(said[2], "false Wrote"), strings.HasPrefix(said[4], "tool_result mock-2 false")
		if wrote != tt.write || ran != tt.run || res.IsError {
			t.Errorf("%+v: wrote %t, ran %t: %q", tt, wrote, ran, said)
		}
	}
}

func TestToolsOfClearboxAreCalled(t *testing.T) {
	var stream bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || req.Method != "tools/call" {
			t.Errorf("got %+v, %v", req, err)
		}
		reply := map[string]string{
			"good":  `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"got ` + strings.ReplaceAll(string(req.Params.Arguments), `"`, `'`) + `"}]}}`,
			"bad":   `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"not yours"}],"isError":true}}`,
			"none":  `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown tool"}}`,
			"trash": `<html>`,
		}[req.Params.Name]
		if reply == "" {
			http.Error(w, "gone", http.StatusNotFound)
		} else if stream {
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", reply)
		} else {
			fmt.Fprint(w, reply)
		}
	}))
	defer srv.Close()
	for _, stream = range []bool{false, true} {
		task := scripted("mcp good {\"a\":1}\nmcp bad\nmcp none\nmcp trash\nmcp missing")
		task.MCPURL = srv.URL + "/mcp-agent/secret-token"
		rec, res := played(t, task)
		said := strings.Join(rec.said(), "\n")
		for _, want := range []string{"false got {'a':1}", "true not yours", "true unknown tool", "true call trash: the reply is no JSON-RPC", "true call missing: HTTP status 404: gone"} {
			if !strings.Contains(said, want) {
				t.Errorf("stream %t: no %q in %s", stream, want, said)
			}
		}
		if strings.Contains(said+res.Text, "secret-token") {
			t.Errorf("the token is in %s", said)
		}
	}
	task := scripted("mcp good")
	task.MCPURL = "http://127.0.0.1:1/mcp-agent/secret-token"
	rec, _ := played(t, task)
	if said := strings.Join(rec.said(), "\n"); !strings.Contains(said, "true call good: ") || strings.Contains(said, "secret-token") {
		t.Errorf("got %s", said)
	}
}

func TestASessionCanBeResumed(t *testing.T) {
	task := scripted("result ok")
	task.ResumeSession = "s-before"
	if _, res := played(t, task); res.SessionID != "s-before" {
		t.Errorf("got %q", res.SessionID)
	}
	if a, b := sessionID(plugin.Task{RunID: "1"}), sessionID(plugin.Task{RunID: "2"}); a == b || len(a) != 36 {
		t.Errorf("got %s and %s", a, b)
	}
}
