package scriptedmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Request is what a script may depend on, and what is kept for assertions.
type Request struct {
	Path   string
	Header http.Header
	Body   json.RawMessage

	Model    string
	Stream   bool
	Messages []Message
	Tools    []string // names of the tools on offer
	// AsksUsage tells that the stream is to end with a count of tokens.
	AsksUsage bool

	Script string // the script that answered; "" when none did
	Turn   int    // the turn that answered, from 0

	fields map[string]json.RawMessage
}

// Message is one entry of the history, its content as text.
type Message struct {
	Role       string
	Content    string
	ToolCalls  []HistoryCall
	ToolCallID string
	NoContent  bool // content was null or left out
}

// HistoryCall is a tool call in the history.
type HistoryCall struct {
	ID        string
	Name      string
	Arguments string
}

// Param returns a field of the body as it was sent; nil when it was not.
func (r *Request) Param(name string) json.RawMessage { return r.fields[name] }

// System and User return all texts of that role.
func (r *Request) System() string { return r.said("system") }

// User returns all texts of the user.
func (r *Request) User() string { return r.said("user") }

func (r *Request) said(role string) string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == role {
			out = append(out, m.Content)
		}
	}
	return strings.Join(out, "\n")
}

// Results returns the tool results, the newest first.
func (r *Request) Results() []string {
	var out []string
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := r.Messages[i]; m.Role == "tool" {
			out = append(out, m.Content)
		}
	}
	return out
}

// LastResults returns the tool results since the last reply, in order.
func (r *Request) LastResults() []string {
	var out []string
	for _, m := range r.Messages {
		switch m.Role {
		case "assistant":
			out = nil
		case "tool":
			out = append(out, m.Content)
		}
	}
	return out
}

func (r *Request) replies() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// The parts of a body that are read.
type (
	wireBody struct {
		Model         string        `json:"model"`
		Stream        bool          `json:"stream"`
		Messages      []wireMessage `json:"messages"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	wireMessage struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
)

func parseRequest(body []byte) (*Request, error) {
	var w wireBody
	r := &Request{Body: body}
	if err := json.Unmarshal(body, &r.fields); err != nil {
		return nil, fmt.Errorf("could not parse the JSON body of the request: %w", err)
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, fmt.Errorf("invalid request: %w", err)
	}
	r.Model, r.Stream, r.AsksUsage = w.Model, w.Stream, w.StreamOptions.IncludeUsage
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	for _, m := range w.Messages {
		msg, err := m.read()
		if err != nil {
			return nil, err
		}
		r.Messages = append(r.Messages, msg)
	}
	return r, r.check()
}

func (w wireMessage) read() (Message, error) {
	m := Message{Role: w.Role, ToolCallID: w.ToolCallID}
	var err error
	m.Content, m.NoContent, err = flat(w.Content)
	for _, c := range w.ToolCalls {
		if c.Type != "function" {
			return m, fmt.Errorf("messages: the type of tool call %q is %q, not function", c.ID, c.Type)
		}
		m.ToolCalls = append(m.ToolCalls, HistoryCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return m, err
}

// flat makes a text of a content, which is a text, a list of parts or nothing.
func flat(raw json.RawMessage) (text string, none bool, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", true, nil
	}
	if json.Unmarshal(raw, &text) == nil {
		return text, false, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", false, fmt.Errorf("messages: content is neither a text nor a list of parts: %w", err)
	}
	for _, p := range parts {
		text += p.Text
	}
	return text, false, nil
}

// check refuses what strict servers refuse: a history whose tool calls and results
// do not fit together, ids that repeat, arguments that are not JSON.
func (r *Request) check() error {
	if len(r.Messages) == 0 {
		return errors.New("messages: at least one is needed")
	}
	open, used := map[string]bool{}, map[string]bool{}
	for i, m := range r.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("messages[%d]: %d tool calls before it have no result", i, len(open))
		}
		switch m.Role {
		case "system", "user":
		case "assistant":
			for _, c := range m.ToolCalls {
				if c.ID == "" || used[c.ID] {
					return fmt.Errorf("messages[%d]: the tool call id %q is empty or repeats", i, c.ID)
				}
				if !json.Valid([]byte(c.Arguments)) {
					return fmt.Errorf("messages[%d]: the arguments of %s are not JSON: %s", i, c.Name, c.Arguments)
				}
				open[c.ID], used[c.ID] = true, true
			}
		case "tool":
			if !open[m.ToolCallID] {
				return fmt.Errorf("messages[%d]: no tool call has the id %q", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		default:
			return fmt.Errorf("messages[%d]: unknown role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: %d tool calls have no result", len(open))
	}
	return nil
}
