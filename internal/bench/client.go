package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// client talks to one server: REST, and MCP as single requests, which a server
// without sessions answers.
type client struct {
	base string
	http http.RoundTripper
}

func newClient(base string) *client {
	return &client{base, &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true, IdleConnTimeout: time.Minute}}
}

// get reads an answer into out, which may be nil.
func (c *client) get(ctx context.Context, path string, out any) error {
	answer, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return read(answer, "GET "+path, out)
}

// post sends in as JSON and reads the answer into out; both may be nil.
func (c *client) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode a request: %w", err)
	}
	answer, err := c.send(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	return read(answer, "POST "+path, out)
}

// read decodes an answer, unless nobody wants it.
func read(answer []byte, to string, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", to, err)
	}
	return nil
}

// send sends a body as it is and returns the answer as it came.
func (c *client) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		q.Header.Set("Accept", "application/json")
	}
	return c.do(q)
}

// fetch reads a page and throws it away; compressed, as browsers ask for it, or
// not. It returns the bytes that came.
func (c *client) fetch(ctx context.Context, path string, compressed bool) (int, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return 0, fmt.Errorf("GET %s: %w", path, err)
	}
	if compressed {
		q.Header.Set("Accept-Encoding", "gzip")
	}
	b, err := c.do(q)
	return len(b), err
}

func (c *client) do(q *http.Request) ([]byte, error) {
	res, err := c.http.RoundTrip(q)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", q.Method, q.URL.Path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", q.Method, q.URL.Path, err)
	}
	if res.StatusCode/100 != 2 {
		return nil, &statusError{res.StatusCode, fmt.Sprintf("%s %s: %s: %.300s", q.Method, q.URL.Path, res.Status, b)}
	}
	return b, nil
}

// statusError is an answer that is no success.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

// isNotFound reports whether an answer was that there is no such thing.
func isNotFound(err error) bool {
	var s *statusError
	return errors.As(err, &s) && s.code == http.StatusNotFound
}

// toolCall encodes a call of an MCP tool.
func toolCall(tool string, args any) ([]byte, error) {
	type params struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	}
	b, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", 1, "tools/call", params{tool, args}})
	if err != nil {
		return nil, fmt.Errorf("encode a call of %s: %w", tool, err)
	}
	return b, nil
}

// toolAnswer is what an MCP server answers to a call.
type toolAnswer struct {
	Result struct {
		IsError           bool            `json:"isError"`
		Content           []toolText      `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type toolText struct {
	Text string `json:"text"`
}

// tool calls a tool and reads its structured answer into out, which may be nil.
func (c *client) tool(ctx context.Context, tool string, args, out any) error {
	call, err := toolCall(tool, args)
	if err != nil {
		return err
	}
	return c.toolRaw(ctx, call, out)
}

// toolRaw makes a call that is encoded already.
func (c *client) toolRaw(ctx context.Context, call []byte, out any) error {
	b, err := c.send(ctx, http.MethodPost, "/mcp", call)
	if err != nil {
		return err
	}
	var a toolAnswer
	if err := json.Unmarshal(b, &a); err != nil {
		return fmt.Errorf("read the answer of a tool: %w: %.300s", err, b)
	}
	switch {
	case a.Error != nil:
		return fmt.Errorf("the server refused a call: %s", a.Error.Message)
	case a.Result.IsError || len(a.Result.Content) == 0:
		return fmt.Errorf("a tool refused a call: %.300s", b)
	}
	return read(a.Result.StructuredContent, "a tool", out)
}
