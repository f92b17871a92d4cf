package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin/toolkit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	connectTime = 15 * time.Second
	maxRemote   = 48_000 // bytes of a result that the model is shown
)

// remote is the tools that Clearbox gives to the agent of a run, over MCP. It is used
// by one goroutine.
type remote struct {
	address string
	session *mcp.ClientSession
	broken  bool // a call did not get through: connect anew before the next
	tools   []*mcp.Tool
}

// connectRemote opens the connection and lists the tools.
func connectRemote(ctx context.Context, address string) (*remote, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	r := &remote{address: address}
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	for t, err := range r.session.Tools(ctx, nil) {
		if err != nil {
			r.close()
			return nil, fmt.Errorf("list the tools of Clearbox: %w", err)
		}
		r.tools = append(r.tools, t)
	}
	return r, nil
}

func (r *remote) connect(ctx context.Context) error {
	c := mcp.NewClient(&mcp.Implementation{Name: "clearbox-harness-openai", Version: version()}, nil)
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: r.address, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return fmt.Errorf("connect to the tools of Clearbox: %w", err)
	}
	r.session, r.broken = session, false
	return nil
}

func (r *remote) close() {
	if r != nil {
		_ = r.session.Close() // the run is over; nobody is left to be told
	}
}

// defs lists the tools that the profile leaves on offer, with their prefix.
func (r *remote) defs(choice toolkit.Selection) []toolDef {
	if r == nil {
		return nil
	}
	var out []toolDef
	for _, t := range r.tools {
		name := toolkit.RemotePrefix + t.Name
		schema, err := json.Marshal(t.InputSchema)
		if err != nil || !choice.Offers(name) {
			continue
		}
		out = append(out, toolDef{Type: "function", Function: toolSpec{Name: name, Description: t.Description, Parameters: schema}})
	}
	return out
}

// call runs a tool by its name with prefix. Clearbox may be restarted while a run goes
// on: a call that does not get through is left to the model to repeat, since it may
// have been carried out, but the next one finds a new connection.
func (r *remote) call(ctx context.Context, name string, arguments json.RawMessage) (text string, isErr bool) {
	if r.broken {
		_ = r.session.Close() // it is of no use any more
		if err := r.connect(ctx); err != nil {
			return err.Error(), true
		}
	}
	res, err := r.session.CallTool(ctx, &mcp.CallToolParams{Name: strings.TrimPrefix(name, toolkit.RemotePrefix), Arguments: arguments})
	if err != nil {
		r.broken = true
		return err.Error(), true
	}
	var parts []string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		raw, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return fmt.Sprintf("read the answer of %s: %v", name, err), true
		}
		parts = append(parts, string(raw))
	}
	return shorten(strings.Join(parts, "\n")), res.IsError
}

func shorten(s string) string {
	if len(s) <= maxRemote {
		return s
	}
	return strings.ToValidUTF8(s[:maxRemote], "") + fmt.Sprintf("\n[cut: %d bytes more]", len(s)-maxRemote)
}
