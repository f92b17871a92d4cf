package scriptedmessages

import (
	"encoding/json"
	"fmt"
)

type object = map[string]any

const pieceSize = 2000 // characters of a text in one event

// reply is a turn ready to be sent.
type reply struct {
	id, model string
	content   []object
	stop      string
	usage     Usage
}

func newReply(t Turn, r *Request, n int) (*reply, error) {
	out := &reply{id: fmt.Sprintf("msg_%04d", n), model: r.Model, stop: t.Stop, usage: Usage{In: 10, Out: 5}}
	if t.Usage != nil {
		out.usage = *t.Usage
	}
	if t.Thinking != "" {
		out.content = append(out.content, object{"type": "thinking", "thinking": t.Thinking, "signature": "c2lnbmVk"})
	}
	if t.Text != "" {
		out.content = append(out.content, object{"type": "text", "text": t.Text})
	}
	for i, c := range t.Calls {
		input, err := json.Marshal(c.Input)
		if err != nil {
			return nil, fmt.Errorf("encode the input of %s: %w", c.Name, err)
		}
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("toolu_%04d_%d", n, i+1)
		}
		out.content = append(out.content, object{"type": "tool_use", "id": id, "name": c.Name, "input": json.RawMessage(input)})
	}
	switch {
	case out.stop != "":
	case len(t.Calls) > 0:
		out.stop = "tool_use"
	default:
		out.stop = "end_turn"
	}
	return out, nil
}

// message is the whole reply.
func (r *reply) message() object {
	return object{"id": r.id, "type": "message", "role": "assistant", "model": r.model, "content": r.content,
		"stop_reason": r.stop, "stop_sequence": nil, "usage": r.usage}
}

// events are those of the stream, in order.
func (r *reply) events() []object {
	first := r.message()
	first["content"], first["stop_reason"] = []object{}, nil
	begun := r.usage
	begun.Out = 1 // as the API does: the count comes with the end
	first["usage"] = begun
	out := []object{{"type": "message_start", "message": first}}
	for i, b := range r.content {
		empty, deltas := fragments(b)
		out = append(out, object{"type": "content_block_start", "index": i, "content_block": empty})
		for _, d := range deltas {
			out = append(out, object{"type": "content_block_delta", "index": i, "delta": d})
		}
		out = append(out, object{"type": "content_block_stop", "index": i})
	}
	return append(out,
		object{"type": "message_delta", "delta": object{"stop_reason": r.stop, "stop_sequence": nil}, "usage": r.usage},
		object{"type": "message_stop"})
}

// fragments are a block without its content, and the content in pieces.
func fragments(b object) (empty object, deltas []object) {
	switch b["type"] {
	case "thinking":
		for _, p := range pieces(b["thinking"].(string)) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": p})
		}
		deltas = append(deltas, object{"type": "signature_delta", "signature": b["signature"]})
		return object{"type": "thinking", "thinking": "", "signature": ""}, deltas
	case "text":
		for _, p := range pieces(b["text"].(string)) {
			deltas = append(deltas, object{"type": "text_delta", "text": p})
		}
		return object{"type": "text", "text": ""}, deltas
	}
	for _, p := range pieces(string(b["input"].(json.RawMessage))) {
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
	}
	return object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}}, deltas
}

func pieces(s string) []string {
	var out []string
	for runes := []rune(s); len(runes) > 0; runes = runes[min(pieceSize, len(runes)):] {
		out = append(out, string(runes[:min(pieceSize, len(runes))]))
	}
	return out
}
