package handlers

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// httpContext is the key under which a tool finds the context of the HTTP
// request that called it: the SDK runs tools under one of its own.
type httpContext struct{}

// mcpHandler returns the handler of one endpoint: a stateless MCP server with
// the tools of its door.
func (s *server) mcpHandler(at door, instructions string) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "clearbox", Title: "Clearbox", Version: s.opts.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	var names []string
	for i := range s.ops {
		if o := &s.ops[i]; o.doors.mcp&at != 0 {
			o.addTool(server, s)
			names = append(names, o.name)
		}
	}
	slices.Sort(names)
	server.AddReceivingMiddleware(s.shield(at, names))
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true,
			MaxRequestBodyBytes: bodyLimit, PropagateRequestCancellation: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.closing, cancel)()
		h.ServeHTTP(w, r.WithContext(context.WithValue(ctx, httpContext{}, ctx)))
	})
}

// shield stands before every method of a server. It turns a panic into an error,
// which would otherwise end the process; ends a tool whose client has hung up;
// answers a call of a tool that is not there like any other refused call; and
// counts calls.
func (s *server) shield(at door, tools []string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			if outer, ok := ctx.Value(httpContext{}).(context.Context); ok {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				defer cancel()
				defer context.AfterFunc(outer, cancel)()
			}
			call, isCall := req.(*mcp.CallToolRequest)
			defer func() {
				if p := recover(); p != nil {
					res, err = s.panicked(visitOf(ctx).id, p, call)
				}
				if isCall && slices.Contains(tools, call.Params.Name) {
					s.metrics.toolCalled(at.String(), call.Params.Name, callOutcome(res, err))
				}
			}()
			if isCall && !slices.Contains(tools, call.Params.Name) {
				return refusedCall(call, fmt.Sprintf("there is no tool %q here; there are %s", clip(call.Params.Name),
					strings.Join(tools, ", ")))
			}
			return next(ctx, method, req)
		}
	}
}

// refusedCall answers a call in place of its tool. From this version of the
// protocol on an answer has to say that it is complete. The SDK adds that to
// those of its tools, and reads it: it has no other way to set it.
func refusedCall(call *mcp.CallToolRequest, text string) (mcp.Result, error) {
	const since = "2026-07-28"
	if p := call.Session.InitializeParams(); p != nil && p.ProtocolVersion < since {
		return toolError(text), nil
	}
	b, err := marshal(map[string]any{"resultType": "complete", "isError": true,
		"content": []map[string]string{{"type": "text", "text": text}}})
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	res := &mcp.CallToolResult{}
	if err := res.UnmarshalJSON(b); err != nil {
		return nil, fmt.Errorf("make an answer: %w", err)
	}
	return res, nil
}

// callOutcome tells how a tool call went, in a word.
func callOutcome(res mcp.Result, err error) string {
	switch got, ok := res.(*mcp.CallToolResult); {
	case err != nil || !ok:
		return toolBroke
	case got.IsError:
		return toolRefused
	}
	return toolOK
}

// panicked logs a panic and makes the answer to the call that it happened in.
func (s *server) panicked(id string, p any, call *mcp.CallToolRequest) (mcp.Result, error) {
	s.log.Error("tool panicked", "request", id, "panic", p, "stack", string(debug.Stack()))
	text := "internal error; the server's log has it as request " + id
	if call != nil {
		return refusedCall(call, text)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
}

// runDoor lets the agent of one run in, by the token in its path, to the tools of
// its role. Tokens that stand for no open run get a 404 before any MCP.
func (s *server) runDoor(doors map[plan.Role]http.Handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		actor, err := s.engine.ActorOf(r.Context(), c.Param("token"))
		h := doors[actor.Role]
		switch {
		case err == nil && h != nil:
			h.ServeHTTP(c.Response(), r.WithContext(plan.WithActor(r.Context(), actor)))
			return nil
		case err == nil || plan.KindOf(err) == plan.NotFound:
			return plan.Errorf(plan.NotFound, "Not Found")
		}
		return err
	}
}
