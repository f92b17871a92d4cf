package plugin

import (
	"bytes"
	"encoding/json"
	"time"
)

// SessionInfo is what a system event says about the agent's session. Empty
// fields become null.
type SessionInfo struct {
	SessionID string
	Model     string
	Cwd       string
}

// The data of each kind. Every key is always present; null means none.
type (
	systemData struct {
		Text      string  `json:"text"`
		SessionID *string `json:"session_id"`
		Model     *string `json:"model"`
		Cwd       *string `json:"cwd"`
	}
	textData struct {
		Text   string  `json:"text"`
		Parent *string `json:"parent_tool_use_id"`
	}
	toolUseData struct {
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Input  json.RawMessage `json:"input"`
		Parent *string         `json:"parent_tool_use_id"`
	}
	toolResultData struct {
		ToolUseID string  `json:"tool_use_id"`
		Content   string  `json:"content"`
		IsError   bool    `json:"is_error"`
		Parent    *string `json:"parent_tool_use_id"`
	}
	errorData struct {
		Text string `json:"text"`
	}
	usageData struct {
		TokensIn  int64 `json:"tokens_in"`
		TokensOut int64 `json:"tokens_out"`
	}
	logData struct {
		Text   string  `json:"text"`
		Stream *string `json:"stream"`
	}
	rateLimitedData struct {
		Text  string   `json:"text"`
		Until *float64 `json:"until"`
	}
)

// System says something about the session. The first event of a run is
// System("session started", …) with what is known of it.
func System(text string, s SessionInfo) Event {
	return event(KindSystem, systemData{clean(text), known(s.SessionID), known(s.Model), known(s.Cwd)})
}

// Text is what the agent says. parent is the tool use of the sub-agent that
// says it, "" for the agent itself. A blank text is dropped by Emit.
func Text(text, parent string) Event {
	return event(KindText, textData{clean(text), known(parent)})
}

// Thinking is what the agent thinks; parent and blank texts as in [Text].
func Thinking(text, parent string) Event {
	return event(KindThinking, textData{clean(text), known(parent)})
}

// ToolUse is the call of a tool. id must be unique in the run. input is a JSON
// object; anything else, as models sometimes send it, is kept as text under the
// key _raw_arguments.
func ToolUse(id, name string, input json.RawMessage, parent string) Event {
	return event(KindToolUse, toolUseData{clean(id), clean(name), object(input), known(parent)})
}

// ToolResult is what a tool answered. content is cut at [MaxToolResult]
// characters, with the number of those left out.
func ToolResult(id, content string, isErr bool, parent string) Event {
	content = cutRunes(clean(content), MaxToolResult)
	return event(KindToolResult, toolResultData{clean(id), content, isErr, known(parent)})
}

// Err is a fault that does not end the run. A fatal one is returned by Run.
func Err(text string) Event {
	return event(KindError, errorData{clean(text)})
}

// Usage counts the tokens of one turn; cache reads and writes count as in.
func Usage(in, out int64) Event {
	return event(KindUsage, usageData{max(in, 0), max(out, 0)})
}

// Log is a line for whoever looks for a fault. stream says where it came from,
// e.g. "stderr", or is "".
func Log(text, stream string) Event {
	return event(KindLog, logData{clean(text), known(stream)})
}

// RateLimited says that the provider's limit was reached, and until when; the
// zero time means not known. It crosses as Unix seconds. A run that cannot go on
// also sets [Result.RateLimited].
func RateLimited(text string, until time.Time) Event {
	d := rateLimitedData{Text: clean(text)}
	if !until.IsZero() {
		seconds := float64(until.UnixMilli()) / 1000
		d.Until = &seconds
	}
	return event(KindRateLimited, d)
}

func event(kind string, data any) Event {
	return Event{Kind: kind, Data: encode(data)}
}

// encode writes JSON without the HTML escapes that would triple the size of
// source code. Its callers pass only values that JSON can hold.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage(`{}`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// known makes null of an empty string.
func known(s string) *string {
	if s == "" {
		return nil
	}
	s = clean(s)
	return &s
}

// object returns raw when it is a JSON object, else an object that holds it.
func object(raw json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(raw)
	switch {
	case len(trimmed) == 0 || string(trimmed) == "null":
		return json.RawMessage(`{}`)
	case trimmed[0] == '{' && json.Valid(trimmed):
		return trimmed
	}
	return encode(map[string]string{"_raw_arguments": clean(string(raw))})
}
