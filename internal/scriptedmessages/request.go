package scriptedmessages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Request is what a script may depend on, and what is kept for assertions.
type Request struct {
	Header   http.Header
	Body     json.RawMessage
	Model    string
	Stream   bool
	Tools    []string // names of the tools on offer
	System   string
	Messages []Message

	Match string // of the script that answered
	Turn  int    // the turn that answered, from 0
}

// Message is one entry of the history.
type Message struct {
	Role    string
	Text    string   // its text blocks
	Results []string // its tool results, as text
	Calls   []string // names of the tools that it calls
}

// User returns all texts of the user.
func (r *Request) User() string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == "user" {
			out = append(out, m.Text)
		}
	}
	return strings.Join(out, "\n")
}

// LastResults returns the tool results since the last reply, in order.
func (r *Request) LastResults() []string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			out = nil
		}
		out = append(out, m.Results...)
	}
	return out
}

// session tells conversations apart.
func (r *Request) session() string { return r.Header.Get("X-Claude-Code-Session-Id") }

// find returns the script for the newest user text that one matches, and the number
// of replies since. A script that matches always counts from the beginning: programs
// put reminders of their own into the conversation.
func (r *Request) find(scripts []Script) (Script, int, bool) {
	replies := 0
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		if m.Role == "assistant" {
			replies++
		}
		if m.Role != "user" || m.Text == "" {
			continue
		}
		for _, s := range scripts {
			if s.Match != "" && strings.Contains(m.Text, s.Match) {
				return s, replies, true
			}
		}
	}
	for _, s := range scripts {
		if s.Match == "" {
			return s, replies, true
		}
	}
	return Script{}, 0, false
}

// The parts of a body that are read.
type (
	wireBody struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	wireBlock struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Name    string          `json:"name"`
		Content json.RawMessage `json:"content"`
	}
)

func parseRequest(body []byte) (*Request, error) {
	var w wireBody
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, fmt.Errorf("invalid request: %w", err)
	}
	r := &Request{Body: body, Model: w.Model, Stream: w.Stream}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	r.System = texts(w.System)
	for _, m := range w.Messages {
		msg := Message{Role: m.Role, Text: texts(m.Content)}
		for _, b := range blocks(m.Content) {
			switch b.Type {
			case "tool_result":
				msg.Results = append(msg.Results, texts(b.Content))
			case "tool_use":
				msg.Calls = append(msg.Calls, b.Name)
			}
		}
		r.Messages = append(r.Messages, msg)
	}
	return r, nil
}

// blocks reads a content, which is a text or a list of blocks.
func blocks(raw json.RawMessage) []wireBlock {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []wireBlock{{Type: "text", Text: text}}
	}
	var list []wireBlock
	_ = json.Unmarshal(raw, &list) // what is no list has no blocks
	return list
}

// texts joins the text blocks of a content.
func texts(raw json.RawMessage) string {
	var out []string
	for _, b := range blocks(raw) {
		if b.Type == "text" && b.Text != "" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n")
}
