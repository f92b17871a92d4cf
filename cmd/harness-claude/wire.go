package main

import (
	"encoding/json"
	"strings"
)

// The lines that the program prints, as far as they are read. Unknown types come with
// every release and are passed over.
type (
	head struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
	}

	// initLine begins a turn; only the first one of a session is told.
	initLine struct {
		SessionID string `json:"session_id"`
		Model     string `json:"model"`
		Cwd       string `json:"cwd"`
		Servers   []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
		} `json:"mcp_servers"`
	}

	// messageLine is a part of what the model says (assistant), or what is said to it
	// (user).
	messageLine struct {
		Parent    string `json:"parent_tool_use_id"`
		Error     string `json:"error"` // the text is the program's own, about this fault
		Synthetic bool   `json:"isSynthetic"`
		Message   struct {
			Model   string          `json:"model"`
			Content json.RawMessage `json:"content"` // a text or blocks
		} `json:"message"`
	}

	block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"is_error"`
	}

	// streamLine is an event of the model's stream; read for its counts of tokens.
	streamLine struct {
		Parent string `json:"parent_tool_use_id"`
		Event  struct {
			Type    string `json:"type"`
			Message struct {
				Usage *usage `json:"usage"`
			} `json:"message"`
			Usage *usage `json:"usage"`
		} `json:"event"`
	}

	noticeLine struct {
		Content string `json:"content"`
	}

	retryLine struct {
		Attempt int     `json:"attempt"`
		Max     int     `json:"max_retries"`
		DelayMS float64 `json:"retry_delay_ms"`
		Status  int     `json:"error_status"` // null for a broken connection
		Error   string  `json:"error"`
	}

	limitLine struct {
		Info struct {
			Status      string  `json:"status"`
			ResetsAt    float64 `json:"resetsAt"` // Unix time
			Kind        string  `json:"rateLimitType"`
			Utilization float64 `json:"utilization"`
		} `json:"rate_limit_info"`
	}

	resultLine struct {
		Subtype    string                `json:"subtype"`
		IsError    bool                  `json:"is_error"`
		Result     string                `json:"result"`
		Errors     []string              `json:"errors"`
		Status     int                   `json:"api_error_status"`
		StopReason string                `json:"stop_reason"`
		Terminal   string                `json:"terminal_reason"`
		NumTurns   int                   `json:"num_turns"`
		DurationMS int64                 `json:"duration_ms"`
		SessionID  string                `json:"session_id"`
		Cost       *float64              `json:"total_cost_usd"`
		Models     map[string]modelUsage `json:"modelUsage"`
		Since      map[string]modelUsage `json:"model_usage_since_last_result"` // nil in older versions
	}

	modelUsage struct {
		In         int64   `json:"inputTokens"`
		Out        int64   `json:"outputTokens"`
		CacheRead  int64   `json:"cacheReadInputTokens"`
		CacheWrite int64   `json:"cacheCreationInputTokens"`
		Cost       float64 `json:"costUSD"`
		Basis      string  `json:"costBasis"`
	}

	controlLine struct {
		ID      string `json:"request_id"`
		Request struct {
			Subtype     string          `json:"subtype"`
			Callback    string          `json:"callback_id"`
			Tool        string          `json:"tool_name"`
			Input       json.RawMessage `json:"input"`
			Description string          `json:"description"`
			Reason      string          `json:"decision_reason"`
		} `json:"request"`
		Response struct {
			Subtype string `json:"subtype"`
			ID      string `json:"request_id"`
			Error   string `json:"error"`
		} `json:"response"`
	}
)

// usage counts the tokens of one message. Pointers, since the end of a message does
// not repeat everything.
type usage struct {
	In         *int64 `json:"input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	Out        *int64 `json:"output_tokens"`
}

// blocks reads a content, which is a text or a list of blocks. What is neither has none.
func blocks(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	out := make([]block, 0, len(list))
	for _, one := range list {
		var b block
		if json.Unmarshal(one, &b) == nil {
			out = append(out, b)
		}
	}
	return out
}

// flat makes one text of what a tool answered.
func flat(raw json.RawMessage) string {
	var parts []string
	for _, b := range blocks(raw) {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "image", "document":
			parts = append(parts, "["+b.Type+"]")
		case "tool_reference":
		default:
			parts = append(parts, "["+b.Type+"]")
		}
	}
	return strings.Join(parts, "\n")
}
