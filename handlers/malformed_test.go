package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestTenThousandMalformedMessagesChangeNothing sends messages that each have one
// fault or more, to each MCP endpoint in turn. They are the same at each run.
func TestTenThousandMalformedMessagesChangeNothing(t *testing.T) {
	const messages = 10_000
	r, paths := endpointRig(t)
	r.plan("x y:x")
	doors := slices.Sorted(maps.Keys(paths))
	before := r.everything()
	breaker := newBreaker(2026)
	outcomes := map[string]int{}
	for i := range messages {
		at := doors[i%len(doors)]
		body, how := breaker.message(at)
		outcome := r.refusedMessage(paths[at], body)
		outcomes[outcome]++
		if outcome == "" {
			t.Fatalf("message %d (%s) was not refused at %s: %s", i, how, at, clip(string(body)))
		}
	}
	t.Log(outcomes)
	for _, kind := range []string{"HTTP", "protocol", "tool"} {
		if outcomes[kind] < messages/100 {
			t.Errorf("only %d refusals were of kind %s", outcomes[kind], kind)
		}
	}
	if after := r.everything(); !bytes.Equal(before, after) {
		t.Errorf("something was changed:\n%s\n%s", before, after)
	}
	if strings.Contains(r.log.String(), "level=ERROR") || strings.Contains(r.log.String(), "level=WARN") {
		t.Error("the log has faults of ours")
	}
	r.ok("/mcp", "list_plans", nil)
}

// refusedMessage posts a message and tells what refused it: HTTP, the protocol,
// or the tool; "" when nothing did.
func (r *rig) refusedMessage(path string, body []byte) string {
	r.t.Helper()
	w, req := newAnswerWriter(), newRequest(r.t, "POST", path, string(body))
	req.Host = "localhost"
	r.server.Handler.ServeHTTP(w, req) // without a connection, which would take most of the time
	a := answer{w.Code, w.Header(), w.Body.Bytes()}
	if a.status >= 500 {
		r.t.Fatalf("%s\nwas answered with %s", clip(string(body)), a)
	}
	if a.status != http.StatusOK {
		return "HTTP"
	}
	var got struct {
		Error  json.RawMessage
		Result struct{ IsError bool }
	}
	switch err := json.Unmarshal(a.body, &got); {
	case err == nil && got.Error != nil:
		return "protocol"
	case err == nil && got.Result.IsError:
		return "tool"
	}
	return ""
}

// breaker makes messages with faults.
type breaker struct {
	*rand.Rand
	tools map[door][]operation
}

func newBreaker(seed uint64) *breaker {
	b := &breaker{rand.New(rand.NewPCG(seed, 12)), map[door][]operation{}}
	for _, o := range table() {
		for d := full; d <= planner; d <<= 1 {
			if o.doors.mcp&d != 0 && len(o.in.fields) > 0 {
				b.tools[d] = append(b.tools[d], o)
			}
		}
	}
	return b
}

func pick[T any](b *breaker, list ...T) T { return list[b.IntN(len(list))] }

// message makes a call with one fault in it or around it, and says what that is.
func (b *breaker) message(at door) (body []byte, how string) {
	o := pick(b, b.tools[at]...)
	args := map[string]any{}
	for _, f := range o.in.fields {
		if f.name != "" && (f.required || b.IntN(2) == 0) {
			args[f.name] = b.fits(f)
		}
	}
	how = b.breakArguments(o, args)
	params := map[string]any{"name": o.name, "arguments": any(args)}
	if b.IntN(10) == 0 {
		how = "arguments that are no object"
		params["arguments"] = pick[any](b, []any{1}, "x", 7, true, [][]any{{}})
	}
	if b.IntN(20) == 0 {
		how, params["name"] = "no such tool", pick[any](b, "no_such_tool", "", strings.Repeat("x", 3000), "get_plan\x00", "Get_Plan", 7, nil, []any{})
	}
	message := map[string]any{"jsonrpc": "2.0", "id": 1 + b.IntN(1000), "method": "tools/call", "params": params}
	if b.IntN(10) == 0 {
		how = b.breakEnvelope(message)
	}
	body, err := json.Marshal(message)
	if err != nil {
		panic(err) // all of it is of our own making
	}
	if b.IntN(5) == 0 {
		body, how = b.breakText(body)
	}
	return body, how
}

// fits makes a value that a field can have.
func (b *breaker) fits(f field) any {
	switch wrongFor(f).(type) {
	case int: // where a number is wrong, text is right
		return pick(b, "x", "", "a.txt", "user", strings.Repeat("é", b.IntN(500)), "../../etc", "\u202e")
	case string:
		return pick[any](b, []any{}, []any{"a"}, []any{1}, []any{[]any{"a", "b"}}, []any{map[string]any{"key": "a", "title": "A"}})
	default:
		return pick[any](b, 1, 2, 99, -1, 0, 1<<40)
	}
}

// breakArguments puts one fault into the arguments of a tool.
func (b *breaker) breakArguments(o operation, args map[string]any) string {
	f := pick(b, bodyFieldsOf(o)...)
	switch b.IntN(4) {
	case 0:
		args[pick(b, "bogus", "Title", "plan_Id", "__proto__", "", strings.Repeat("n", 300), f.name+" ")] = b.fits(f)
		return "an unknown argument"
	case 1:
		args[f.name] = wrongFor(f)
		return f.name + " of another type"
	case 2:
		for _, f := range bodyFieldsOf(o) {
			if f.required {
				delete(args, f.name)
				return f.name + " is missing"
			}
		}
	}
	args[f.name] = pick[any](b, map[string]any{"a": map[string]any{}}, []any{map[string]any{"bogus": []any{nil}}}, []any{nil}, []any{[]any{[]any{1}}})
	if f.typ == rawType || f.sub != nil && b.IntN(2) == 0 {
		args[f.name] = []any{map[string]any{"key": 7, "title": []any{}, "bogus": 1}}
	}
	return f.name + " is something deep"
}

// bodyFieldsOf are the arguments of a tool.
func bodyFieldsOf(o operation) []field {
	var list []field
	for _, f := range o.in.fields {
		if f.name != "" {
			list = append(list, f)
		}
	}
	return list
}

// breakEnvelope spoils what is around the arguments.
func (b *breaker) breakEnvelope(m map[string]any) string {
	switch b.IntN(5) {
	case 0:
		m["method"] = pick[any](b, "tools/cal", "no/such", "", 7, nil, []any{}, "resources/read", "prompts/get")
		return "another method"
	case 1:
		m["params"] = pick[any](b, 7, "x", []any{}, true)
		return "params that are none"
	case 2:
		m["jsonrpc"] = pick[any](b, "1.0", 2, nil, "")
		return "another JSON-RPC"
	case 3:
		m["id"] = pick[any](b, []any{}, map[string]any{}, true)
		return "an id that is none"
	}
	delete(m, "method")
	return "no method"
}

// breakText spoils the JSON itself.
func (b *breaker) breakText(body []byte) ([]byte, string) {
	switch b.IntN(5) {
	case 0:
		return body[:b.IntN(len(body))], "cut off"
	case 1:
		return append(body, pick(b, "}", "x", "]", `{"a":1}`, "\x00")...), "more after it"
	case 2:
		return []byte(strings.Repeat(pick(b, "[", `{"a":`, "["), 1+b.IntN(12_000))), "deep and cut off"
	case 3:
		return bytes.Replace(body, []byte(`"params"`), []byte(pick(b, `"params`, `params"`, `"params":`, "\xff")), 1), "a broken key"
	}
	noise := make([]byte, 1+b.IntN(200))
	for i := range noise {
		noise[i] = byte(b.Uint32())
	}
	return noise, "noise"
}

// TestMalformedMessagesAreTheSameAgain: else a failure could not be looked at.
func TestMalformedMessagesAreTheSameAgain(t *testing.T) {
	var text [2]string
	for i := range text {
		b := newBreaker(1)
		for range 100 {
			body, how := b.message(full)
			text[i] += fmt.Sprintf("%s %s\n", how, body)
		}
	}
	if text[0] != text[1] {
		t.Error("two runs made different messages")
	}
}
