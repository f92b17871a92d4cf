package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// The parts of an answer that are read. Compatible servers differ in nearly every
// field, so each is decoded as loosely as it can be understood.
type (
	wireAnswer struct {
		Error   json.RawMessage `json:"error"`
		Choices []wireChoice    `json:"choices"`
		Usage   *wireUsage      `json:"usage"`
	}
	wireChoice struct {
		Index   looseInt    `json:"index"`
		Delta   wireMessage `json:"delta"`
		Message wireMessage `json:"message"`
		Finish  looseText   `json:"finish_reason"`
	}
	wireMessage struct {
		Content          looseText  `json:"content"`
		ReasoningContent looseText  `json:"reasoning_content"`
		Reasoning        looseText  `json:"reasoning"`
		Refusal          looseText  `json:"refusal"`
		ToolCalls        []wireCall `json:"tool_calls"`
	}
	wireCall struct {
		Index    looseInt  `json:"index"`
		ID       looseText `json:"id"`
		Function struct {
			Name      looseText       `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	wireUsage struct {
		In  int64 `json:"prompt_tokens"`
		Out int64 `json:"completion_tokens"`
	}
)

// looseText is a text, a list of parts with texts, a number, or nothing.
type looseText string

func (t *looseText) UnmarshalJSON(raw []byte) error {
	*t = ""
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		*t = looseText(s)
		return err
	case '[':
		var parts []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(raw, &parts) != nil {
			return nil
		}
		for _, p := range parts {
			*t += looseText(p.Text)
		}
	case 'n', '{':
	default:
		*t = looseText(raw)
	}
	return nil
}

// looseInt is a number, a number written as a text, or nothing.
type looseInt struct {
	n     int
	known bool
}

func (i *looseInt) UnmarshalJSON(raw []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	*i = looseInt{n: n, known: err == nil}
	return nil
}

// argumentText returns a piece of arguments: usually a text, with some servers the
// object itself.
func argumentText(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// reply is what the model answered in one turn.
type reply struct {
	text, thinking, refusal string
	finish                  string // "" when the endpoint gave none
	calls                   []call
	usage                   *wireUsage
}

// gather builds a reply from the pieces of a stream, or from one whole message.
type gather struct {
	text, thinking, refusal strings.Builder
	finish                  string
	calls                   calls
	usage                   *wireUsage
}

// add takes one chunk.
func (g *gather) add(a wireAnswer) {
	if a.Usage != nil {
		g.usage = a.Usage // those that send it often send running totals
	}
	for _, c := range a.Choices {
		if c.Index.n != 0 {
			continue
		}
		g.message(c.Delta)
		g.message(c.Message)
		if c.Finish != "" {
			g.finish = string(c.Finish)
		}
	}
}

func (g *gather) message(m wireMessage) {
	g.text.WriteString(string(m.Content))
	g.refusal.WriteString(string(m.Refusal))
	thinking := m.ReasoningContent
	if thinking == "" { // some send both, with the same text
		thinking = m.Reasoning
	}
	g.thinking.WriteString(string(thinking))
	for _, c := range m.ToolCalls {
		g.calls.add(c.Index, string(c.ID), string(c.Function.Name), argumentText(c.Function.Arguments))
	}
}

func (g *gather) reply() *reply {
	r := &reply{text: g.text.String(), thinking: g.thinking.String(), refusal: g.refusal.String(), finish: g.finish, calls: g.calls.list(), usage: g.usage}
	if rest, ok := strings.CutPrefix(strings.TrimLeft(r.text, " \n"), "<think>"); ok {
		if thought, answer, closed := strings.Cut(rest, "</think>"); closed {
			r.thinking += strings.TrimSpace(thought)
			r.text = strings.TrimLeft(answer, "\n ")
		}
	}
	return r
}

// isObject reports whether a text is one whole JSON object.
func isObject(s string) bool {
	b := bytes.TrimSpace([]byte(s))
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}
