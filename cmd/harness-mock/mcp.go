package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const maxMCPReply = 8 << 20

// callMCP calls a tool of Clearbox, in the stateless form of the protocol: one
// request, no session. The URL holds the run's token and is kept out of errors.
func callMCP(ctx context.Context, address, tool string, input json.RawMessage) (string, error) {
	if address == "" {
		return "", refuse("this run has no tools of Clearbox")
	}
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": input},
	})
	if err != nil {
		return "", fmt.Errorf("call %s: %w", tool, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("call %s: the MCP address is malformed", tool)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return "", refuse("call %s: %w", tool, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxMCPReply))
	if err != nil {
		return "", refuse("call %s: %w", tool, err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", refuse("call %s: HTTP status %d: %.300s", tool, resp.StatusCode, b)
	}
	return mcpText(tool, b)
}

// mcpText takes the text out of a reply, which may come as an event stream.
func mcpText(tool string, reply []byte) (string, error) {
	for line := range bytes.Lines(reply) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			reply = data
		}
	}
	var r struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			IsError bool `json:"isError"`
		} `json:"result"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply, &r); err != nil {
		return "", refuse("call %s: the reply is no JSON-RPC: %w", tool, err)
	}
	if r.Error != nil {
		return "", refuse("%s", r.Error.Message)
	}
	var texts []string
	for _, c := range r.Result.Content {
		texts = append(texts, c.Text)
	}
	text := strings.Join(texts, "\n")
	if r.Result.IsError {
		return "", refuse("%s", text)
	}
	return text, nil
}
