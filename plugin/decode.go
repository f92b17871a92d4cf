package plugin

import (
	"encoding/json"
	"fmt"
	"time"
)

// DecodeText returns the text of a system, text, thinking, error, log or
// rate_limited event. An event without one is an error.
func DecodeText(e Event) (string, error) {
	var d struct {
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return "", fmt.Errorf("decode %s event %d: %w", e.Kind, e.Seq, err)
	}
	if d.Text == nil {
		return "", fmt.Errorf("decode %s event %d: it has no text", e.Kind, e.Seq)
	}
	return *d.Text, nil
}

// DecodeSystem returns what a system event says of the session.
func DecodeSystem(e Event) (SessionInfo, error) {
	d, err := decode[systemData](e, KindSystem)
	return SessionInfo{value(d.SessionID), value(d.Model), value(d.Cwd)}, err
}

// DecodeUsage returns the tokens of a usage event.
func DecodeUsage(e Event) (in, out int64, err error) {
	d, err := decode[usageData](e, KindUsage)
	return d.TokensIn, d.TokensOut, err
}

// DecodeToolUse returns id, name and input of a tool_use event.
func DecodeToolUse(e Event) (id, name string, input json.RawMessage, err error) {
	d, err := decode[toolUseData](e, KindToolUse)
	return d.ID, d.Name, d.Input, err
}

// DecodeToolResult returns the parts of a tool_result event; id is that of the
// tool use it answers.
func DecodeToolResult(e Event) (id, content string, isErr bool, err error) {
	d, err := decode[toolResultData](e, KindToolResult)
	return d.ToolUseID, d.Content, d.IsError, err
}

// DecodeRateLimited returns until when the limit holds, zero when not known.
func DecodeRateLimited(e Event) (until time.Time, err error) {
	d, err := decode[rateLimitedData](e, KindRateLimited)
	if err == nil && d.Until != nil {
		until = time.UnixMilli(int64(*d.Until * 1000))
	}
	return until, err
}

func decode[T any](e Event, kind string) (T, error) {
	var d T
	if e.Kind != kind {
		return d, fmt.Errorf("decode event %d as %s: it is of kind %q", e.Seq, kind, e.Kind)
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return d, fmt.Errorf("decode %s event %d: %w", kind, e.Seq, err)
	}
	return d, nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
