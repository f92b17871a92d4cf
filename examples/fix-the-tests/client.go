package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type object = map[string]any

// client calls the tools of Clearbox over MCP, as a planning model does.
type client struct{ session *mcp.ClientSession }

func connect(ctx context.Context, server string) (*client, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "fix-the-tests", Version: "1"}, nil)
	t := &mcp.StreamableClientTransport{Endpoint: server + "/mcp", DisableStandaloneSSE: true}
	if token := os.Getenv("CLEARBOX_AUTH_TOKEN"); token != "" {
		t.HTTPClient = &http.Client{Transport: bearer(token)}
	}
	session, err := c.Connect(ctx, t, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to Clearbox at %s (is it running?): %w", server, err)
	}
	return &client{session}, nil
}

func (c *client) close() { _ = c.session.Close() }

// bearer sends a token with each request, for a Clearbox that wants one.
type bearer string

func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(q)
}

// call calls a tool and reads its answer into out, which may be nil.
func (c *client) call(ctx context.Context, tool string, args, out any) error {
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err
	}
	if res.IsError {
		return errors.New(text(res))
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

func text(res *mcp.CallToolResult) string {
	var out []string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, "\n")
}
