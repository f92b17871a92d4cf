package scriptedmodel

import (
	"encoding/json"
	"fmt"
)

// reply is a turn with everything filled in, ready to be sent.
type reply struct {
	turn   Turn
	id     string
	model  string
	text   string
	calls  []wireCall
	finish string
}

type wireCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type object = map[string]any

func newReply(t Turn, r *Request) (*reply, error) {
	text, err := fillText(t.Text, r)
	if err != nil {
		return nil, err
	}
	out := &reply{turn: t, id: fmt.Sprintf("chatcmpl-%s-%d", r.Script, r.Turn), model: r.Model, text: text, finish: t.Finish}
	for i, c := range t.Calls {
		a, err := c.arguments(r)
		if err != nil {
			return nil, err
		}
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", r.Turn+1, i+1)
		}
		out.calls = append(out.calls, wireCall{ID: id, Type: "function", Function: wireFunction{Name: c.Name, Arguments: a}})
	}
	switch {
	case out.finish != "":
	case len(out.calls) > 0:
		out.finish = "tool_calls"
	default:
		out.finish = "stop"
	}
	return out, nil
}

func (r *reply) usage() object {
	u := Usage{In: 10, Out: 5}
	if r.turn.Usage != nil {
		u = *r.turn.Usage
	}
	return object{"prompt_tokens": u.In, "completion_tokens": u.Out, "total_tokens": u.In + u.Out}
}

// whole is the answer to a request that asked for no stream.
func (r *reply) whole() object {
	message := object{"role": "assistant", "content": r.text}
	if r.turn.Thinking != "" {
		message["reasoning_content"] = r.turn.Thinking
	}
	if r.turn.Refusal != "" {
		message["refusal"] = r.turn.Refusal
	}
	if len(r.calls) > 0 {
		message["tool_calls"] = r.calls
	}
	out := object{"id": r.id, "object": "chat.completion", "created": 0, "model": r.model,
		"choices": []any{object{"index": 0, "message": message, "finish_reason": r.finish}}}
	if !r.turn.NoUsage {
		out["usage"] = r.usage()
	}
	return out
}

// chunks are the data of the stream, in order. Tool calls come in fragments, those
// of parallel calls in turns.
func (r *reply) chunks(size int, wantUsage bool) []string {
	if r.turn.Chunks != nil {
		return r.turn.Chunks
	}
	deltas := []object{{"role": "assistant", "content": ""}}
	for _, p := range pieces(r.turn.Thinking, size) {
		deltas = append(deltas, object{"reasoning_content": p})
	}
	for _, p := range pieces(r.text, size) {
		deltas = append(deltas, object{"content": p})
	}
	if r.turn.Refusal != "" {
		deltas = append(deltas, object{"refusal": r.turn.Refusal})
	}
	for _, c := range r.fragments(size) {
		deltas = append(deltas, object{"tool_calls": []wireCall{c}})
	}
	var out []string
	for _, d := range deltas {
		out = append(out, r.chunk([]any{object{"index": 0, "delta": d, "finish_reason": nil}}, nil))
	}
	out = append(out, r.chunk([]any{object{"index": 0, "delta": object{}, "finish_reason": r.finish}}, nil))
	if wantUsage && !r.turn.NoUsage {
		out = append(out, r.chunk([]any{}, r.usage()))
	}
	return out
}

func (r *reply) chunk(choices []any, usage object) string {
	c := object{"id": r.id, "object": "chat.completion.chunk", "created": 0, "model": r.model, "choices": choices}
	if usage != nil {
		c["usage"] = usage
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return `{"error":{"message":"the scripted reply is not JSON"}}`
	}
	return string(raw)
}

func (r *reply) fragments(size int) []wireCall {
	var out []wireCall
	rest := make([][]string, len(r.calls))
	for i, c := range r.calls {
		rest[i] = pieces(c.Function.Arguments, size)
		c.Index, c.Function.Arguments = &i, ""
		out = append(out, c)
	}
	for more := true; more; {
		more = false
		for i := range rest {
			if len(rest[i]) > 0 {
				out = append(out, wireCall{Index: &i, Function: wireFunction{Arguments: rest[i][0]}})
				rest[i], more = rest[i][1:], true
			}
		}
	}
	return out
}

// pieces cuts a text into parts of size characters.
func pieces(s string, size int) []string {
	var out []string
	for runes := []rune(s); len(runes) > 0; runes = runes[min(size, len(runes)):] {
		out = append(out, string(runes[:min(size, len(runes))]))
	}
	return out
}
