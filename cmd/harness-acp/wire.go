package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// protocol is the version of ACP that is spoken here.
const protocol = 1

// Codes of JSON-RPC and of ACP.
const (
	codeNoMethod = -32601
	codeInvalid  = -32602
	codeInternal = -32603
	codeAuth     = -32000
)

// rpcError is a refusal by the other side, or by this one.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string {
	var d struct{ Details, Message string }
	_ = json.Unmarshal(e.Data, &d) // whatever else it is adds nothing
	more := strings.TrimSpace(d.Details + d.Message)
	if more == "" || strings.Contains(e.Message, more) {
		return e.Message
	}
	return fmt.Sprintf("%s: %s", e.Message, more)
}

type (
	method struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	initialized struct {
		Version      int `json:"protocolVersion"`
		Capabilities struct {
			Load bool `json:"loadSession"`
			MCP  struct {
				HTTP bool `json:"http"`
			} `json:"mcpCapabilities"`
			Session struct {
				Resume *struct{} `json:"resume"`
			} `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
		Methods []method `json:"authMethods"`
		Agent   *struct {
			Name    string `json:"name"`
			Title   string `json:"title"`
			Version string `json:"version"`
		} `json:"agentInfo"`
	}
	opened struct {
		SessionID string `json:"sessionId"`
		Modes     *struct {
			Available []struct {
				ID string `json:"id"`
			} `json:"availableModes"`
		} `json:"modes"`
		Options []struct {
			ID       string `json:"id"`
			Category string `json:"category"`
		} `json:"configOptions"`
		Models *struct { // of agents from before configOptions
			Current string `json:"currentModelId"`
		} `json:"models"`
	}
	answered struct {
		StopReason string `json:"stopReason"`
		Usage      *struct {
			In      int64 `json:"inputTokens"`
			Out     int64 `json:"outputTokens"`
			Read    int64 `json:"cachedReadTokens"`
			Written int64 `json:"cachedWriteTokens"`
		} `json:"usage"`
	}
	content struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		URI      string `json:"uri"`
		Resource *struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		} `json:"resource"`
	}
	// shown is one piece of what a tool call shows.
	shown struct {
		Type       string  `json:"type"`
		Content    content `json:"content"`
		Path       string  `json:"path"`
		OldText    string  `json:"oldText"`
		NewText    string  `json:"newText"`
		TerminalID string  `json:"terminalId"`
	}
	toolCall struct {
		ID        string          `json:"toolCallId"`
		Title     string          `json:"title"`
		Name      string          `json:"name"`
		Kind      string          `json:"kind"`
		Status    string          `json:"status"`
		Input     json.RawMessage `json:"rawInput"`
		Output    json.RawMessage `json:"rawOutput"`
		Content   []shown         `json:"content"`
		Locations []struct {
			Path string `json:"path"`
		} `json:"locations"`
	}
	updated struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	option struct {
		ID   string `json:"optionId"`
		Kind string `json:"kind"`
	}
	permission struct {
		Call    toolCall `json:"toolCall"`
		Options []option `json:"options"`
	}
)

// flat is content as text.
func (c content) flat() string {
	switch {
	case c.Type == "text":
		return c.Text
	case c.Resource != nil:
		return c.Resource.Text
	case c.URI != "":
		return c.URI
	case c.Type == "":
		return ""
	}
	return "[" + c.Type + "]"
}
