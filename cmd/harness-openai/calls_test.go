package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// assemble feeds the pieces of a stream to a gather. Each is a delta.
func assemble(t *testing.T, deltas ...string) *reply {
	t.Helper()
	var g gather
	for _, d := range deltas {
		var a wireAnswer
		must(t, json.Unmarshal([]byte(`{"choices":[{"index":0,"delta":`+d+`,"finish_reason":null}]}`), &a))
		g.add(a)
	}
	return g.reply()
}

// piece is a delta with one piece of a tool call.
func piece(fields string) string { return `{"tool_calls":[{` + fields + `}]}` }

func TestToolCallsArePutTogether(t *testing.T) {
	both := []call{{"c1", "read", `{"a":1}`}, {"c2", "write", `{"b":2}`}}
	twice := []call{{"c1", "read", `{"a":1}`}, {"c2", "read", `{"b":2}`}}
	tests := []struct {
		name   string
		deltas []string
		want   []call
	}{
		{"by index", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":""}`), piece(`"index":0,"function":{"arguments":"{\"a\":"}`), piece(`"index":0,"function":{"arguments":"1}"}`),
			piece(`"index":1,"id":"c2","function":{"name":"write","arguments":"{\"b\":2}"}`)}, both},
		{"fragments in turns", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":"{\"a\""}`), piece(`"index":1,"id":"c2","function":{"name":"write","arguments":"{\"b\""}`),
			piece(`"index":0,"function":{"arguments":":1}"}`), piece(`"index":1,"function":{"arguments":":2}"}`)}, both},
		{"two in one chunk", []string{
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"a\":1}"}},{"index":1,"id":"c2","function":{"name":"write","arguments":"{\"b\":2}"}}]}`}, both},
		{"indexes with gaps", []string{
			piece(`"index":3,"id":"c1","function":{"name":"read","arguments":"{\"a\":1}"}`), piece(`"index":7,"id":"c2","function":{"name":"write","arguments":"{\"b\":2}"}`)}, both},
		{"indexes as text", []string{
			piece(`"index":"0","id":"c1","function":{"name":"read","arguments":"{\"a\""}`), piece(`"index":"1","id":"c2","function":{"name":"write","arguments":"{\"b\":2}"}`), piece(`"index":"0","function":{"arguments":":1}"}`)}, both},
		{"every index is 0, whole calls", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":"{\"a\":1}"}`), piece(`"index":0,"id":"c2","function":{"name":"write","arguments":"{\"b\":2}"}`)}, both},
		{"every index is 0, one tool twice", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":"{\"a\":1}"}`), piece(`"index":0,"id":"c2","function":{"name":"read","arguments":"{\"b\":2}"}`)}, twice},
		{"every index is 0, no ids", []string{
			piece(`"index":0,"function":{"name":"read","arguments":"{\"a\":1}"}`), piece(`"index":0,"function":{"name":"read","arguments":"{\"b\":2}"}`)},
			[]call{{"", "read", `{"a":1}`}, {"", "read", `{"b":2}`}}},
		{"every index is 0, fragments by id", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":"{\"a\":1}"}`), piece(`"index":0,"id":"c2","function":{"name":"write","arguments":"{\"b\""}`), piece(`"index":0,"id":"c2","function":{"arguments":":2}"}`)}, both},
		{"no index, ids", []string{
			piece(`"id":"c1","function":{"name":"read","arguments":"{\"a\""}`), piece(`"function":{"arguments":":1}"}`), piece(`"id":"c2","function":{"name":"write","arguments":"{\"b\":2}"}`)}, both},
		{"no index, ids on every piece, in turns", []string{
			piece(`"id":"c1","function":{"name":"read","arguments":"{\"a\""}`), piece(`"id":"c2","function":{"name":"write","arguments":"{\"b\""}`),
			piece(`"id":"c1","function":{"arguments":":1}"}`), piece(`"id":"c2","function":{"arguments":":2}"}`)}, both},
		{"no index, one tool twice, in turns", []string{
			piece(`"id":"c1","function":{"name":"read","arguments":"{\"a\""}`), piece(`"id":"c2","function":{"name":"read","arguments":"{\"b\""}`),
			piece(`"id":"c1","function":{"arguments":":1}"}`), piece(`"id":"c2","function":{"arguments":":2}"}`)}, twice},
		{"an index that wanders", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":"{\"a\""}`), piece(`"index":5,"id":"c1","function":{"arguments":":1}"}`)}, both[:1]},
		{"no index, no ids, no arguments", []string{
			piece(`"function":{"name":"read","arguments":""}`), piece(`"function":{"name":"write","arguments":"{\"b\":2}"}`)},
			[]call{{"", "read", ""}, {"", "write", `{"b":2}`}}},
		{"no index, no ids", []string{
			piece(`"function":{"name":"read","arguments":"{\"a\""}`), piece(`"function":{"arguments":":1}"}`), piece(`"function":{"name":"write","arguments":"{\"b\":2}"}`)},
			[]call{{"", "read", `{"a":1}`}, {"", "write", `{"b":2}`}}},
		{"empty ids", []string{
			piece(`"index":0,"id":"","function":{"name":"read","arguments":"{\"a\":1}"}`), piece(`"index":1,"id":"","function":{"name":"write","arguments":"{\"b\":2}"}`)},
			[]call{{"", "read", `{"a":1}`}, {"", "write", `{"b":2}`}}},
		{"one id for two calls", []string{
			piece(`"index":0,"id":"c","function":{"name":"read","arguments":"{\"a\":1}"}`), piece(`"index":1,"id":"c","function":{"name":"write","arguments":"{\"b\":2}"}`)},
			[]call{{"c", "read", `{"a":1}`}, {"c", "write", `{"b":2}`}}},
		{"a new id on every fragment", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":""}`), piece(`"index":0,"id":"x","function":{"arguments":"{\"a\":"}`), piece(`"index":0,"id":"y","function":{"arguments":"1}"}`),
			piece(`"index":1,"id":"c2","function":{"name":"write","arguments":"{\"b\":2}"}`)}, both},
		{"a new id and the name on every fragment", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":""}`), piece(`"index":0,"id":"x","function":{"name":"read","arguments":"{\"a\":"}`), piece(`"index":0,"id":"y","function":{"name":"read","arguments":"1}"}`)}, both[:1]},
		{"the name on every fragment", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":""}`), piece(`"index":0,"function":{"name":"read","arguments":"{\"a\":"}`), piece(`"index":0,"function":{"name":"read","arguments":"1}"}`)}, both[:1]},
		{"an empty name on every fragment", []string{
			piece(`"index":0,"id":"c1","function":{"name":"read","arguments":"{\"a\":"}`), piece(`"index":0,"id":null,"function":{"name":"","arguments":"1}"}`)}, both[:1]},
		{"arguments before the name", []string{
			piece(`"index":0,"function":{"arguments":"{\"a\""}`), piece(`"index":0,"id":"c1","function":{"name":"read","arguments":":1}"}`)}, both[:1]},
		{"arguments as an object", []string{piece(`"index":0,"id":"c1","function":{"name":"read","arguments":{"a":1}}`)}, both[:1]},
		{"no arguments", []string{piece(`"index":0,"id":"c1","function":{"name":"read"}`), piece(`"index":1,"id":"c2","function":{"name":"write","arguments":null}`)},
			[]call{{"c1", "read", ""}, {"c2", "write", ""}}},
		{"no arguments, no index", []string{piece(`"id":"c1","function":{"name":"read","arguments":""}`), piece(`"id":"c2","function":{"name":"read","arguments":""}`)},
			[]call{{"c1", "read", ""}, {"c2", "read", ""}}},
		{"a number as id", []string{piece(`"index":0,"id":17,"function":{"name":"read","arguments":"{\"a\":1}"}`)}, []call{{"17", "read", `{"a":1}`}}},
		{"tool_calls is null", []string{`{"content":"x","tool_calls":null}`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, assemble(t, tt.deltas...).calls, cmp.AllowUnexported(call{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextAndThinkingArePutTogether(t *testing.T) {
	type parts struct{ Text, Thinking, Refusal string }
	tests := []struct {
		name   string
		deltas []string
		want   parts
	}{
		{"content", []string{`{"role":"assistant","content":""}`, `{"content":"a "}`, `{"content":null}`, `{"content":"b"}`}, parts{Text: "a b"}},
		{"content as parts", []string{`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`}, parts{Text: "ab"}},
		{"reasoning_content", []string{`{"reasoning_content":"hm"}`, `{"content":"a"}`}, parts{Text: "a", Thinking: "hm"}},
		{"reasoning", []string{`{"reasoning":"hm","content":null}`, `{"content":"a"}`}, parts{Text: "a", Thinking: "hm"}},
		{"both at once", []string{`{"reasoning":"hm","reasoning_content":"hm"}`}, parts{Thinking: "hm"}},
		{"tags", []string{`{"content":"<think>\nh"}`, `{"content":"m</think>\n\na"}`}, parts{Text: "a", Thinking: "hm"}},
		{"tags that are never closed", []string{`{"content":"<think>a"}`}, parts{Text: "<think>a"}},
		{"tags in the middle are text", []string{`{"content":"see <think>x</think>"}`}, parts{Text: "see <think>x</think>"}},
		{"refusal", []string{`{"refusal":"I will"}`, `{"refusal":" not"}`}, parts{Refusal: "I will not"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := assemble(t, tt.deltas...)
			if diff := cmp.Diff(tt.want, parts{r.text, r.thinking, r.refusal}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheLastCountOfTokensWins(t *testing.T) {
	var g gather
	for _, chunk := range []string{
		`{"usage":{"prompt_tokens":5,"completion_tokens":1},"choices":[{"delta":{"content":"a"}}]}`,
		`{"usage":{"prompt_tokens":5,"completion_tokens":7},"choices":[]}`,
		`{"usage":null}`,
	} {
		var a wireAnswer
		must(t, json.Unmarshal([]byte(chunk), &a))
		g.add(a)
	}
	if u := g.reply().usage; u == nil || *u != (wireUsage{In: 5, Out: 7}) {
		t.Errorf("usage %+v", u)
	}
}

func TestOtherChoicesAreNotMixedIn(t *testing.T) {
	var a wireAnswer
	must(t, json.Unmarshal([]byte(`{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"},{"index":1,"message":{"content":"b"},"finish_reason":"length"}]}`), &a))
	var g gather
	g.add(a)
	if r := g.reply(); r.text != "a" || r.finish != "stop" {
		t.Errorf("reply %+v", r)
	}
}

func TestArgumentsAreAnObject(t *testing.T) {
	for args, want := range map[string]string{
		``: `{}`, ` `: `{}`, `null`: `{}`, `{"a":1}`: `{"a":1}`, ` {"a":1}` + "\n": `{"a":1}`, `"{\"a\":1}"`: `{"a":1}`,
		`{"a":`: "", `[1]`: "", `"a"`: "", `7`: "", `{} {}`: "",
	} {
		got, err := call{name: "x", args: args}.input()
		switch {
		case want == "" && (err == nil || !strings.Contains(err.Error(), "invalid JSON")):
			t.Errorf("%q: got %s, error %v", args, got, err)
		case want != "" && string(got) != want:
			t.Errorf("%q: got %s, error %v; want %s", args, got, err, want)
		}
	}
}

// Whole calls with distinct ids come out as they went in, however they are cut and
// however often index, id and name are said.
func FuzzCalls(f *testing.F) {
	f.Add(`{"a":1}`, `{"b":"x y"}`, 3, true, true)
	f.Fuzz(func(t *testing.T, one, two string, size int, index, repeat bool) {
		if !isObject(one) || !isObject(two) || size < 1 {
			return
		}
		var c calls
		want := []call{{"id1", "read", one}, {"id2", "write", two}}
		for n, w := range want {
			i := looseInt{n: n, known: index}
			c.add(i, w.id, w.name, "")
			for rest := w.args; rest != ""; {
				cut := min(size, len(rest))
				id := ""
				if repeat {
					id = w.id
				}
				c.add(i, id, "", rest[:cut])
				rest = rest[cut:]
			}
		}
		if diff := cmp.Diff(want, c.list(), cmp.AllowUnexported(call{})); diff != "" {
			t.Error(diff)
		}
	})
}

func readEvents(s string, size int) (out []string, err error) {
	in := &events{r: bufio.NewReaderSize(strings.NewReader(s), size)}
	for {
		data, err := in.next()
		if err != nil {
			return out, err
		}
		out = append(out, string(data))
	}
}

func TestServerSentEvents(t *testing.T) {
	long := strings.Repeat("x", 50_000)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"plain", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"no space", "data:a\n\n", []string{"a"}},
		{"two spaces", "data:  a\n\n", []string{" a"}},
		{"comments", ": hello\n\n:\n\ndata: a\n: more\n\n", []string{"a"}},
		{"event and id lines", "event: message\nid: 1\ndata: a\n\n", []string{"a"}},
		{"several lines", "data: a\ndata: b\n\n", []string{"a\nb"}},
		{"no blank line at the end", "data: a\n\ndata: b", []string{"a", "b"}},
		{"blank lines", "\n\n\ndata: a\n\n\n\n", []string{"a"}},
		{"empty data", "data:\n\ndata: a\n\n", []string{"", "a"}},
		{"longer than the buffer", "data: " + long + "\n\n", []string{long}},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readEvents(tt.in, 16)
			if !errors.Is(err, io.EOF) {
				t.Errorf("ended with %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := readEvents("data: "+strings.Repeat("x", maxEvent+100_000), 4096); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("an endless line ended with %v", err)
	}
	if _, err := readEvents(strings.Repeat("data: "+long+"\n", maxEvent/len(long)+1), 4096); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("an endless event ended with %v", err)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("data: a\r\n\r\n:x\ndata:b\ndata: c")
	f.Fuzz(func(t *testing.T, s string) {
		small, err1 := readEvents(s, 16)
		large, err2 := readEvents(s, 1<<16)
		if diff := cmp.Diff(small, large); diff != "" || !errors.Is(err1, io.EOF) || !errors.Is(err2, io.EOF) {
			t.Errorf("buffers of two sizes differ (%v, %v): %s", err1, err2, diff)
		}
	})
}
