package plugin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestEventsHaveEveryKeyOfTheirKind(t *testing.T) {
	for _, tt := range []struct {
		name  string
		event Event
		kind  string
		want  string
	}{
		{"system", System("session started", SessionInfo{"s1", "m", "/w"}), KindSystem,
			`{"text":"session started","session_id":"s1","model":"m","cwd":"/w"}`},
		{"system that knows little", System("session started", SessionInfo{}), KindSystem,
			`{"text":"session started","session_id":null,"model":null,"cwd":null}`},
		{"text", Text("<b> & ü", ""), KindText, `{"text":"<b> & ü","parent_tool_use_id":null}`},
		{"text of a sub-agent", Text("x", "t1"), KindText, `{"text":"x","parent_tool_use_id":"t1"}`},
		{"thinking", Thinking("x", ""), KindThinking, `{"text":"x","parent_tool_use_id":null}`},
		{"tool use", ToolUse("t1", "Bash", json.RawMessage(`{"command":"ls"}`), ""), KindToolUse,
			`{"id":"t1","name":"Bash","input":{"command":"ls"},"parent_tool_use_id":null}`},
		{"tool use without input", ToolUse("t1", "Bash", nil, ""), KindToolUse,
			`{"id":"t1","name":"Bash","input":{},"parent_tool_use_id":null}`},
		{"tool use with input that is no object", ToolUse("t1", "Bash", json.RawMessage(`{"command": "l`), ""), KindToolUse,
			`{"id":"t1","name":"Bash","input":{"_raw_arguments":"{\"command\": \"l"},"parent_tool_use_id":null}`},
		{"tool result", ToolResult("t1", "ok", false, ""), KindToolResult,
			`{"tool_use_id":"t1","content":"ok","is_error":false,"parent_tool_use_id":null}`},
		{"error", Err("oh"), KindError, `{"text":"oh"}`},
		{"usage", Usage(10, 2), KindUsage, `{"tokens_in":10,"tokens_out":2}`},
		{"usage below zero", Usage(-1, -2), KindUsage, `{"tokens_in":0,"tokens_out":0}`},
		{"log", Log("line", "stderr"), KindLog, `{"text":"line","stream":"stderr"}`},
		{"log of nowhere", Log("line", ""), KindLog, `{"text":"line","stream":null}`},
		{"rate limit", RateLimited("wait", time.Unix(1700000000, 500e6)), KindRateLimited, `{"text":"wait","until":1700000000.5}`},
		{"rate limit of unknown length", RateLimited("wait", time.Time{}), KindRateLimited, `{"text":"wait","until":null}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.event.Kind != tt.kind {
				t.Errorf("kind: got %s, want %s", tt.event.Kind, tt.kind)
			}
			if diff := cmp.Diff(tt.want, string(tt.event.Data)); diff != "" {
				t.Error(diff)
			}
			got, ok := checked(tt.event)
			if !ok || string(got.Data) != string(tt.event.Data) || got.Kind != tt.kind {
				t.Errorf("a constructor's event must pass unchanged, got %s %s", got.Kind, got.Data)
			}
			if got.At.IsZero() {
				t.Error("an emitted event must have a time")
			}
		})
	}
}

func TestToolResultsAreCutWithTheNumberLeftOut(t *testing.T) {
	for _, tt := range []struct {
		name, content, want string
	}{
		{"6,000 characters stay", strings.Repeat("ü", 6000), strings.Repeat("ü", 6000)},
		{"one more is cut", strings.Repeat("ü", 6001), strings.Repeat("ü", 6000) + "\n… (1 characters left out)"},
		{"a million", strings.Repeat("x", 1e6), strings.Repeat("x", 6000) + "\n… (994000 characters left out)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := ToolResult("t1", tt.content, false, "")
			_, got, _, err := DecodeToolResult(e)
			if err != nil || got != tt.want {
				t.Errorf("got %d characters ending in %q, %v", utf8.RuneCountInString(got), got[max(0, len(got)-40):], err)
			}
			again, _ := checked(e)
			if string(again.Data) != string(e.Data) {
				t.Error("an event that was cut must not be cut again")
			}
		})
	}
	raw := Event{Kind: KindToolResult, Data: encode(map[string]any{"tool_use_id": "t", "content": strings.Repeat("x", 7000), "is_error": true})}
	e, _ := checked(raw)
	if _, content, isErr, err := DecodeToolResult(e); err != nil || !isErr || !strings.HasSuffix(content, "(1000 characters left out)") {
		t.Errorf("a content that no constructor cut must be cut too: %v, ends in %q", err, content[len(content)-40:])
	}
}

func TestBlankTextsAreDropped(t *testing.T) {
	for _, e := range []Event{Text("", ""), Text(" \n\t", ""), Thinking("\u00a0", "t1"), Log("", "stderr")} {
		if got, ok := checked(e); ok {
			t.Errorf("%s %s must be dropped, got %s", e.Kind, e.Data, got.Data)
		}
	}
}

func TestEventsAreRepairedOrExplained(t *testing.T) {
	for _, tt := range []struct {
		name, kind, data   string
		wantKind, wantData string
	}{
		{"missing optional keys become null", KindText, `{"text":"a"}`, KindText, `{"parent_tool_use_id":null,"text":"a"}`},
		{"further keys pass", KindText, `{"text":"a","parent_tool_use_id":null,"x":[1.50]}`, KindText, `{"text":"a","parent_tool_use_id":null,"x":[1.50]}`},
		{"NUL is replaced", KindText, `{"text":"a\u0000b","parent_tool_use_id":null}`, KindText, `{"parent_tool_use_id":null,"text":"a�b"}`},
		{"half a character is replaced", KindText, `{"text":"a\ud800b","parent_tool_use_id":null}`, KindText, `{"parent_tool_use_id":null,"text":"a�b"}`},
		{"bad bytes are replaced", KindText, "{\"text\":\"a\xffb\",\"parent_tool_use_id\":null}", KindText, `{"parent_tool_use_id":null,"text":"a�b"}`},
		{"big numbers keep their digits", KindToolUse, `{"id":"1","name":"n","input":{"n":12345678901234567890,"s":"\u00e9"}}`, KindToolUse,
			`{"id":"1","input":{"n":12345678901234567890,"s":"é"},"name":"n","parent_tool_use_id":null}`},
		{"missing text", KindText, `{}`, KindLog, `{"text":"malformed event: a text event needs the field text","stream":null}`},
		{"wrong type", KindToolUse, `{"id":"1","name":"n","input":[]}`, KindLog, `{"text":"malformed event: field input of a tool_use event must be of type object","stream":null}`},
		{"null for what is needed", KindText, `{"text":null}`, KindLog, `{"text":"malformed event: field text of a text event must be of type text","stream":null}`},
		{"fraction of a token", KindUsage, `{"tokens_in":1.5,"tokens_out":1}`, KindLog, `{"text":"malformed event: field tokens_in of a usage event must be of type integer","stream":null}`},
		{"no object", KindText, `"a"`, KindLog, `{"text":"malformed event: the data of a text event must be a JSON object","stream":null}`},
		{"no JSON", KindText, `{`, KindLog, `{"text":"malformed event: the data of a text event must be a JSON object","stream":null}`},
		{"nothing", KindText, ``, KindLog, `{"text":"malformed event: the data of a text event must be a JSON object","stream":null}`},
		{"a result of its own", KindResult, `{"text":"a"}`, KindLog, `{"text":"malformed event: kind \"result\" is not one that a harness may emit","stream":null}`},
		{"unknown kind", "zzz", `{}`, KindLog, `{"text":"malformed event: kind \"zzz\" is not one that a harness may emit","stream":null}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := checked(Event{Kind: tt.kind, Data: json.RawMessage(tt.data)})
			if !ok {
				t.Fatal("dropped")
			}
			if diff := cmp.Diff(tt.wantKind+" "+tt.wantData, got.Kind+" "+string(got.Data)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEventsAreAtMostOneMiB(t *testing.T) {
	big := strings.Repeat("é\u0001", 150_000)
	wide := map[string]any{} // of parts that are too short to be cut
	for i := range 9_000 {
		wide[fmt.Sprintf("%060d", i)] = strings.Repeat("v", 60)
	}
	for _, tt := range []struct {
		name  string
		event Event
		mark  string
	}{
		{"text", Text(big, ""), "characters left out)"},
		{"text that fits but not as JSON", Text(strings.Repeat("\u0001", 180_000), ""), "characters left out)"},
		{"input with a long text", ToolUse("t1", "Write", encode(map[string]string{"content": big, "path": "a.txt"}), ""), `"path":"a.txt"`},
		{"input with many parts", ToolUse("t1", "Write", encode(wide), ""), "_left_out"},
		{"keys that nobody knows", Event{Kind: KindText, Data: encode(map[string]any{"text": "hello", "x": wide})}, `"text":"hello"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := checked(tt.event)
			if !ok || len(got.Data) > MaxEventSize {
				t.Fatalf("kept %t with %d bytes", ok, len(got.Data))
			}
			if got.Kind != tt.event.Kind || !json.Valid(got.Data) || !strings.Contains(string(got.Data), tt.mark) {
				t.Errorf("%s without %q: %.200s…", got.Kind, tt.mark, got.Data)
			}
		})
	}
}

func TestDecodingTellsWhatIsWrong(t *testing.T) {
	if _, _, err := DecodeUsage(Event{Seq: 3, Kind: KindText}); err == nil || !strings.Contains(err.Error(), `event 3 as usage: it is of kind "text"`) {
		t.Errorf("got %v", err)
	}
	if _, err := DecodeText(Event{Seq: 4, Kind: KindUsage, Data: Usage(1, 1).Data}); err == nil || !strings.Contains(err.Error(), "event 4: it has no text") {
		t.Errorf("got %v", err)
	}
	until := time.Unix(1700000000, 250e6)
	if got, err := DecodeRateLimited(RateLimited("x", until)); err != nil || !got.Equal(until) {
		t.Errorf("got %v %v", got, err)
	}
	s := SessionInfo{"a", "b", "c"}
	if got, err := DecodeSystem(System("x", s)); err != nil || got != s {
		t.Errorf("got %v %v", got, err)
	}
	if id, name, input, err := DecodeToolUse(ToolUse("i", "n", json.RawMessage(`{"a":1}`), "")); id != "i" || name != "n" || string(input) != `{"a":1}` || err != nil {
		t.Errorf("got %s %s %s %v", id, name, input, err)
	}
}

func FuzzChecked(f *testing.F) {
	for kind := range shapes {
		f.Add(kind, []byte(`{"text":"a\u0000\ud800","id":"","name":"n","input":{"a":[{"b":"\u0000"}]},"tool_use_id":"t","content":"c","is_error":true,"tokens_in":1,"tokens_out":2}`))
	}
	f.Add("text", []byte("{\"text\":\"\xff\"}"))
	f.Add("text", []byte(`{"text":"a","text":null}`))
	f.Add("usage", []byte(`{"tokens_in":1e400,"tokens_out":-0}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		e, ok := checked(Event{Kind: kind, Data: data})
		if !ok {
			return
		}
		if len(e.Data) > MaxEventSize || !utf8.Valid(e.Data) || strings.Contains(string(e.Data), "\x00") {
			t.Fatalf("%s event of %d bytes is not clean: %.300q", e.Kind, len(e.Data), e.Data)
		}
		var fields map[string]any
		if err := json.Unmarshal(e.Data, &fields); err != nil {
			t.Fatalf("not an object: %v", err)
		}
		mapStrings(fields, func(s string) string {
			if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
				t.Fatalf("unclean text %q", s)
			}
			return s
		})
		for _, field := range shapes[e.Kind] {
			if _, ok := fields[field.name]; !ok {
				t.Fatalf("%s event without %s: %s", e.Kind, field.name, e.Data)
			}
		}
		again, ok := checked(e)
		if !ok || string(again.Data) != string(e.Data) {
			t.Fatalf("checking twice changes the event:\n%.300s\n%.300s", e.Data, again.Data)
		}
	})
}
