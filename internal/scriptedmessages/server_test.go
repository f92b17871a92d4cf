package scriptedmessages

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func start(t *testing.T, s *Server) string {
	t.Helper()
	r, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r.URL
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, fmt.Sprintf("%s [%v]", out, err)
	}
	return resp.StatusCode, string(out)
}

func user(texts ...string) string {
	var list []object
	for _, s := range texts {
		role := "user"
		if rest, ok := strings.CutPrefix(s, "assistant:"); ok {
			role, s = "assistant", rest
		}
		list = append(list, object{"role": role, "content": s})
	}
	raw, _ := json.Marshal(object{"model": "m", "messages": list})
	return string(raw)
}

func TestTheNewestMatchingPromptChoosesScriptAndTurn(t *testing.T) {
	url := start(t, New(
		Script{Match: "one", Turns: []Turn{Say("1a"), Say("1b")}},
		Script{Match: "two", Turns: []Turn{Say("2a")}, Loop: true},
	))
	tests := []struct{ body, want string }{
		{user("one"), "1a"},
		{user("one", "assistant:x", "go on"), "1b"},
		{user("one", "assistant:x", "go on", "assistant:y", "more"), "only 2 turns"},
		{user("one", "assistant:x", "two"), "2a"},
		{user("two", "assistant:x", "more", "assistant:x", "more"), "2a"},
		{user("three"), "no script matches"},
	}
	for _, tt := range tests {
		if _, got := post(t, url, tt.body); !strings.Contains(got, tt.want) {
			t.Errorf("%s\ngot %s, want %q", tt.body, got, tt.want)
		}
	}
}

func TestAScriptForEverythingCountsFromTheBeginning(t *testing.T) {
	url := start(t, New(Script{Turns: []Turn{Say("a"), Say("b"), Say("c")}}, Script{Match: "other", Turns: []Turn{Say("x")}}))
	for body, want := range map[string]string{user("one"): "a", user("one", "assistant:x", "a reminder"): "b", user("one", "assistant:x", "a reminder", "assistant:y", "and more"): "c", user("one", "assistant:x", "other"): "x"} {
		if _, got := post(t, url, body); !strings.Contains(got, `"text":"`+want) {
			t.Errorf("%s\ngot %s, want %q", body, got, want)
		}
	}
}

func TestTextsInToolResultsChooseNothing(t *testing.T) {
	url := start(t, New(Script{Match: "one", Turns: []Turn{Say("1a"), Say("1b")}}, Script{Match: "two", Turns: []Turn{Say("2a")}}))
	body := `{"messages":[{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"two"}]}]}]}`
	if _, got := post(t, url, body); !strings.Contains(got, "1b") {
		t.Errorf("got %s", got)
	}
}

func TestAStreamHasTheEventsOfTheAPI(t *testing.T) {
	s := New(Script{Turns: []Turn{{Thinking: "hm", Text: "hello", Calls: []Call{{ID: "t1", Name: "Read", Input: object{"file_path": "a"}}}, Usage: &Usage{In: 7, Out: 3}}}})
	_, got := post(t, start(t, s), `{"model":"m","stream":true,"tools":[{"name":"Read"}],"system":[{"type":"text","text":"be good"}],"messages":[{"role":"user","content":"x"}]}`)
	var kinds []string
	for sc := bufio.NewScanner(strings.NewReader(got)); sc.Scan(); {
		if kind, ok := strings.CutPrefix(sc.Text(), "event: "); ok {
			kinds = append(kinds, kind)
		}
	}
	want := strings.Fields("message_start content_block_start content_block_delta content_block_delta content_block_stop " +
		"content_block_start content_block_delta content_block_stop content_block_start content_block_delta content_block_stop message_delta message_stop")
	if d := cmp.Diff(want, kinds); d != "" {
		t.Error(d)
	}
	for _, part := range []string{`"output_tokens":1`, `"output_tokens":3`, `"stop_reason":"tool_use"`, `"partial_json":"{\"file_path\":\"a\"}"`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in %s", part, got)
		}
	}
	q := s.Requests()[0]
	if q.System != "be good" || !cmp.Equal(q.Tools, []string{"Read"}) || q.User() != "x" {
		t.Errorf("request %+v", q)
	}
}

func TestFaults(t *testing.T) {
	after := 2
	s := New(
		Script{Match: "busy", Turns: []Turn{{Status: 529, Kind: "overloaded_error", Message: "busy", Times: 1, Text: "now"}}},
		Script{Match: "cut", Turns: []Turn{{Text: "words", CutAfter: &after}}},
		Script{Match: "html", Turns: []Turn{{Status: 503, Body: "<h1>no</h1>"}}},
	)
	url := start(t, s)
	if status, got := post(t, url, user("busy")); status != 529 || !strings.Contains(got, "overloaded_error") {
		t.Errorf("got %d %s", status, got)
	}
	if _, got := post(t, url, user("busy")); !strings.Contains(got, "now") {
		t.Errorf("the second time: %s", got)
	}
	if status, got := post(t, url, user("html")); status != 503 || got != "<h1>no</h1>" {
		t.Errorf("got %d %s", status, got)
	}
	resp, err := http.Post(url+"/v1/messages", "", strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"cut"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if out, err := io.ReadAll(resp.Body); err == nil || strings.Contains(string(out), "message_stop") {
		t.Errorf("the stream was not cut: %s", out)
	}
}

func TestOnlyTheKeyIsLetIn(t *testing.T) {
	s := New(Script{Turns: []Turn{Say("in")}})
	s.Key = "right"
	url := start(t, s)
	for header, want := range map[string]int{"X-Api-Key: right": 200, "Authorization: Bearer right": 200, "X-Api-Key: wrong": 401, "X-None: x": 401} {
		q, _ := http.NewRequest(http.MethodGet, url+"/v1/models", nil)
		name, value, _ := strings.Cut(header, ": ")
		q.Header.Set(name, value)
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", header, resp.StatusCode, want)
		}
	}
}
