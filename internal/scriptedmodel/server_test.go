package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, s *Server) string {
	t.Helper()
	r, err := s.Start("127.0.0.1:0")
	must(t, err)
	t.Cleanup(r.Close)
	return r.URL
}

// post sends a body and returns the status and what came back, broken off or not.
func post(t *testing.T, url string, body object) (int, string, error) {
	t.Helper()
	raw, err := json.Marshal(body)
	must(t, err)
	resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(raw))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func user(text string) object { return object{"role": "user", "content": text} }

func called(id string) object {
	return object{"role": "assistant", "content": "", "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "f", "arguments": "{}"}}}}
}

func result(id, text string) object {
	return object{"role": "tool", "tool_call_id": id, "content": text}
}

// text asks without stream and returns the content of the reply.
func text(t *testing.T, url string, messages ...object) string {
	t.Helper()
	status, body, err := post(t, url, object{"model": "m", "messages": messages})
	must(t, err)
	if status != http.StatusOK {
		return body
	}
	var out struct {
		Choices []struct{ Message struct{ Content string } }
	}
	must(t, json.Unmarshal([]byte(body), &out))
	return out.Choices[0].Message.Content
}

func TestTheScriptIsChosenByWhatTheUserSays(t *testing.T) {
	url := start(t, New(
		Script{Name: "one", Match: "step one", Turns: []Turn{{Text: "first"}}},
		Script{Name: "odd", When: func(r *Request) bool { return r.Model == "odd" }, Turns: []Turn{{Text: "odd"}}},
		Script{Name: "two", Match: "step two", Turns: []Turn{{Text: "second"}}},
	))
	for said, want := range map[string]string{"do step one now": "first", "do step two": "second", "step one and step two": "first"} {
		if got := text(t, url, user(said)); got != want {
			t.Errorf("%s: got %s, want %s", said, got, want)
		}
	}
	if got := text(t, url, user("step three")); !strings.Contains(got, "no script matches") {
		t.Errorf("got %s", got)
	}
	if got := text(t, url, object{"role": "system", "content": "step one"}, user("x")); !strings.Contains(got, "no script matches") {
		t.Errorf("the system text counted: %s", got)
	}
}

func TestTheTurnIsTheNumberOfReplies(t *testing.T) {
	url := start(t, New(
		Script{Match: "loop", Turns: []Turn{{Text: "a"}, {Text: "b"}}, Loop: true},
		Script{Name: "once", Turns: []Turn{{Text: "a"}, {Text: "b"}}},
	))
	said := object{"role": "assistant", "content": "said"}
	if got := text(t, url, user("x"), said, user("y")); got != "b" {
		t.Errorf("second turn: %s", got)
	}
	if got := text(t, url, user("loop"), said, user("y"), said, user("z")); got != "b" {
		t.Errorf("looped turn: %s", got)
	}
	if got := text(t, url, user("x"), said, user("y"), said, user("z")); !strings.Contains(got, `"once\" has only 2 turns`) {
		t.Errorf("past the end: %s", got)
	}
}

func TestManyConversationsAtOnce(t *testing.T) {
	s := New(Script{Turns: []Turn{{Make: func(r *Request) Turn { return Turn{Text: r.User()} }}}})
	url := start(t, s)
	var all sync.WaitGroup
	for _, name := range strings.Split("abcdefghij", "") {
		all.Go(func() {
			if got := text(t, url, user(name)); got != name {
				t.Errorf("%s got %s", name, got)
			}
		})
	}
	all.Wait()
	if n := len(s.Requests()); n != 10 {
		t.Errorf("%d requests are kept", n)
	}
}

func TestTemplatesReadTheToolResults(t *testing.T) {
	url := start(t, New(Script{Turns: []Turn{
		{Text: "{{result 0}}"},
		{Text: "{{result 0}}, {{result 1}}", Calls: []Call{{Name: "f", Args: object{"n": []any{`{{match "n=(\\d+)"}}`, `{{match "m=\\d+"}}`}, "plain": 1}}}},
		{Text: `{{match "nothing like it"}}`},
	}}))
	history := []object{user("x"), called("1"), result("1", "n=7 m=8"), called("2"), result("2", "n=9")}
	_, body, err := post(t, url, object{"model": "m", "messages": history[:3]})
	must(t, err)
	if !strings.Contains(body, "there is no tool result 1") {
		t.Errorf("got %s", body)
	}
	s := New(Script{Turns: []Turn{{}, {}, {Text: "{{result 0}}, {{result 1}}", Calls: []Call{{Name: "f", Args: object{"n": []any{`{{match "n=(\\d+)"}}`, `{{match "m=\\d+"}}`}, "plain": 1}}}}}})
	_, body, err = post(t, start(t, s), object{"model": "m", "messages": history})
	must(t, err)
	for _, want := range []string{`"content":"n=9, n=7 m=8"`, `"arguments":"{\"n\":[\"9\",\"m=8\"],\"plain\":1}"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	if got := text(t, url, user("x")); !strings.Contains(got, "there is no tool result 0") {
		t.Errorf("got %s", got)
	}
}

func TestExpectLooksAtTheNewestResults(t *testing.T) {
	url := start(t, New(Script{Name: "s", Turns: []Turn{{}, {}, {Text: "good", Expect: "^ok$"}}}))
	if got := text(t, url, user("x"), called("1"), result("1", "bad"), called("2"), result("2", "ok")); got != "good" {
		t.Errorf("got %s", got)
	}
	if got := text(t, url, user("x"), called("1"), result("1", "ok"), called("2"), result("2", "bad")); !strings.Contains(got, "do not match ^ok$: bad") {
		t.Errorf("got %s", got)
	}
}

func TestStreamsCarryTheSameAsAWholeReply(t *testing.T) {
	s := New(Script{Turns: []Turn{{Text: "Grüße an alle hier", Thinking: "hm hm hm hm hm", Refusal: "no",
		Calls: []Call{{Name: "f", Args: object{"a": "one long argument"}}, {ID: "mine", Name: "g", Raw: `{"b": tru`}}}}})
	s.ChunkSize = 3
	url := start(t, s)
	_, body, err := post(t, url, object{"model": "m", "stream": true, "stream_options": object{"include_usage": true}, "messages": []object{user("x")}})
	must(t, err)
	got, usage := "", 0
	args := map[int]string{}
	var order []int
	for _, line := range strings.Split(body, "\n\n") {
		data := strings.TrimPrefix(line, "data: ")
		if data == "[DONE]" || data == "" {
			continue
		}
		var c struct {
			Choices []struct {
				Delta struct {
					Content, ReasoningContent, Refusal string
					Reasoning                          string     `json:"reasoning_content"`
					ToolCalls                          []wireCall `json:"tool_calls"`
				}
				Finish *string `json:"finish_reason"`
			}
			Usage *struct {
				Total int `json:"total_tokens"`
			}
		}
		must(t, json.Unmarshal([]byte(data), &c))
		if c.Usage != nil {
			usage += c.Usage.Total
		}
		for _, ch := range c.Choices {
			got += ch.Delta.Reasoning + ch.Delta.Content + ch.Delta.Refusal
			for _, call := range ch.Delta.ToolCalls {
				args[*call.Index] += call.ID + call.Function.Name + call.Function.Arguments
				order = append(order, *call.Index)
			}
			if ch.Finish != nil {
				got += "/" + *ch.Finish
			}
		}
	}
	if got != "hm hm hm hm hmGrüße an alle hierno/tool_calls" || usage != 15 {
		t.Errorf("got %q, usage %d", got, usage)
	}
	if diff := cmp.Diff(map[int]string{0: `call_1_1f{"a":"one long argument"}`, 1: `mineg{"b": tru`}, args); diff != "" {
		t.Error(diff)
	}
	if order[2] != 0 || order[3] != 1 || order[4] != 0 {
		t.Errorf("the fragments of parallel calls do not take turns: %v", order)
	}
	if !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("the stream ends with %q", body[len(body)-20:])
	}
}

func TestFaultsPassByAsOftenAsTheyShould(t *testing.T) {
	cut := 2
	url := start(t, New(
		Script{Match: "status", Turns: []Turn{{Status: 503, Headers: map[string]string{"Retry-After": "1"}, Body: "Loading", Times: 2, Text: "up"}}},
		Script{Match: "cut", Turns: []Turn{{CutAfter: &cut, Times: 1, Text: "a long enough text to cut"}}},
		Script{Match: "ever", Turns: []Turn{{Status: 500}}},
	))
	for _, who := range []string{"status a", "status b"} {
		for i, want := range []int{503, 503, 200, 200} {
			if status, _, _ := post(t, url, object{"model": "m", "messages": []object{user(who)}}); status != want {
				t.Errorf("%s, request %d: %d, want %d", who, i+1, status, want)
			}
		}
	}
	ask := object{"model": "m", "stream": true, "messages": []object{user("cut")}}
	if _, body, err := post(t, url, ask); err == nil || strings.Count(body, "data:") != 2 {
		t.Errorf("the first answer was not cut: %v %s", err, body)
	}
	if _, body, err := post(t, url, ask); err != nil || !strings.Contains(body, "[DONE]") {
		t.Errorf("the second answer: %v %s", err, body)
	}
	for range 3 {
		if status, _, _ := post(t, url, object{"model": "m", "messages": []object{user("ever")}}); status != 500 {
			t.Errorf("got %d", status)
		}
	}
}

func TestHistoriesThatStrictServersRefuse(t *testing.T) {
	url := start(t, New(Script{Turns: []Turn{{Text: "ok"}}, Loop: true}))
	for name, messages := range map[string][]object{
		"no messages":      {},
		"unknown role":     {{"role": "god", "content": "x"}},
		"missing result":   {user("x"), called("1"), user("y")},
		"open call":        {user("x"), called("1")},
		"unknown id":       {user("x"), called("1"), result("2", "y")},
		"result too often": {user("x"), called("1"), result("1", "y"), result("1", "z")},
		"repeated id":      {user("x"), called("1"), result("1", "y"), called("1"), result("1", "z")},
		"bad arguments": {user("x"), {"role": "assistant", "content": "", "tool_calls": []object{{"id": "1", "type": "function", "function": object{"name": "f", "arguments": "{"}}}},
			result("1", "y")},
		"no type": {user("x"), {"role": "assistant", "content": "", "tool_calls": []object{{"id": "1", "function": object{"name": "f", "arguments": "{}"}}}}, result("1", "y")},
	} {
		if status, body, _ := post(t, url, object{"model": "m", "messages": messages}); status != http.StatusBadRequest || !strings.Contains(body, "messages") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	parts := object{"role": "user", "content": []object{{"type": "text", "text": "x"}}}
	if got := text(t, url, parts, called("1"), result("1", "y")); got != "ok" {
		t.Errorf("a good history: %s", got)
	}
}

func TestKeysPathsAndModels(t *testing.T) {
	s := New(Script{Turns: []Turn{{Text: "ok"}}})
	s.Key, s.Models, s.Reject = "sk-right", []string{"a", "b"}, []string{"seed"}
	url := start(t, s)
	get := func(method, path, key, body string) (int, string) {
		q, err := http.NewRequest(method, strings.TrimSuffix(url, "/v1")+path, strings.NewReader(body))
		must(t, err)
		q.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(q)
		must(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp.StatusCode, string(data)
	}
	for _, tt := range []struct {
		method, path, key, body string
		status                  int
		want                    string
	}{
		{"GET", "/v1/models", "sk-right", "", 200, `"id":"b"`},
		{"GET", "/v1/models", "sk-wrong", "", 401, "Incorrect API key provided: sk-wrong"},
		{"POST", "/chat/completions", "sk-right", "{}", 404, "Invalid URL (POST /chat/completions)"},
		{"POST", "/v1/chat/completions", "sk-right", "{", 400, "could not parse"},
		{"POST", "/v1/chat/completions", "sk-right", `{"seed":1,"messages":[{"role":"user","content":"x"}]}`, 400, "Unknown parameter: 'seed'"},
	} {
		if status, body := get(tt.method, tt.path, tt.key, tt.body); status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, status, body)
		}
	}
}

func TestScriptsAsJSON(t *testing.T) {
	scripts, err := Load(strings.NewReader(`[{"name":"a","match":"x","turns":[{"calls":[{"name":"f","args":{"a":1}}],"expect":"ok"},{"text":"done"}]}]`))
	must(t, err)
	want := []Script{{Name: "a", Match: "x", Turns: []Turn{{Calls: []Call{{Name: "f", Args: map[string]any{"a": 1.0}}}, Expect: "ok"}, {Text: "done"}}}}
	if diff := cmp.Diff(want, scripts, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".When" || p.Last().String() == ".Make" }, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
	for raw, want := range map[string]string{
		`[{"name":"a","turns":[]}]`:               "script 1 (a): it has no turns",
		`[{"name":"a","turns":[{"txt":"x"}]}]`:    "txt",
		`[{"name":"a","turns":[{"expect":"("}]}]`: "turn 1: expect",
		`[{"name":"a","turns":[{"calls":[{}]}]}]`: "a call has no name",
		`{"name":"a"}`:                               "read scripts",
		`[{"name":"a","match":1,"turns":[{}]}]`:      "match",
		`[{"name":"a","turns":[{"delay_ms":"1s"}]}]`: "delay_ms",
	} {
		if _, err := Load(strings.NewReader(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", raw, err, want)
		}
	}
}
