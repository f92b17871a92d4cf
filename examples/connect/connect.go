// Package connect connects the example programs to a running Clearbox, as a
// planning model does: over MCP, and over REST for what models may not do.
package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is where Clearbox is when nothing else is said: on the port that
// CLEARBOX_PORT names.
func Server() string {
	port := os.Getenv("CLEARBOX_PORT")
	if port == "" {
		port = "8765"
	}
	return "http://127.0.0.1:" + port
}

// Client calls the tools and the routes of one Clearbox.
type Client struct {
	session *mcp.ClientSession
	server  string
	http    http.Client
}

// To connects to a server. name is what the server gets to know of the caller.
func To(ctx context.Context, name, server string) (*Client, error) {
	c := &Client{server: strings.TrimRight(server, "/")}
	if token := os.Getenv("CLEARBOX_AUTH_TOKEN"); token != "" {
		c.http.Transport = bearer(token)
	}
	t := &mcp.StreamableClientTransport{Endpoint: c.server + "/mcp", DisableStandaloneSSE: true, HTTPClient: &c.http}
	var err error
	if c.session, err = mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(ctx, t, nil); err != nil {
		return nil, fmt.Errorf("connect to Clearbox at %s (is it running?): %w", server, err)
	}
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() { _ = c.session.Close() }

// bearer sends a token with each request, for a Clearbox that wants one.
type bearer string

func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(q)
}

// Call calls a tool and reads its answer into out, which may be nil. A refused
// call is an error with the tool's own sentence.
func (c *Client) Call(ctx context.Context, tool string, args, out any) error {
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err
	}
	if res.IsError {
		return errors.New(textOf(res))
	}
	if out == nil {
		return nil
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", tool, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", tool, err)
	}
	return nil
}

func textOf(res *mcp.CallToolResult) string {
	var out []string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, "\n")
}

// Post sends in to a REST route, such as /api/agents, and reads the answer into
// out, which may be nil.
func (c *Client) Post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		var said struct{ Detail string }
		_ = json.NewDecoder(res.Body).Decode(&said)
		return fmt.Errorf("POST %s: %d %s", path, res.StatusCode, said.Detail)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}
