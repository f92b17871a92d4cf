package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// operation is one row of the table: something that clients may ask for, and the
// doors that lead to it.
type operation struct {
	name, doc string
	doors     doors
	in        *shape
	out       reflect.Type // what it answers
	run       func(e *engine.Engine, ctx context.Context, fill func(any) error) (any, error)
}

// doors say where an operation can be asked for.
type doors struct {
	rest route
	mcp  door
}

// door is a set of MCP endpoints.
type door uint8

const (
	full    door = 1 << iota // a planning session, trusted like the user
	observe                  // a session that tracks its own work
	worker                   // a built-in worker, within its own node
	planner                  // the planner of one plan, which it reads and proposes
)

// String names one endpoint.
func (d door) String() string {
	switch d {
	case full:
		return "mcp"
	case observe:
		return "observe"
	case planner:
		return "planner"
	}
	return "worker"
}

// route is a REST route under /api.
type route struct {
	method, path string
	strict       bool // one of our own: unknown fields are refused
	nulls        bool // null clears a field
}

func get(path string) route    { return route{method: http.MethodGet, path: path} }
func post(path string) route   { return route{method: http.MethodPost, path: path} }
func put(path string) route    { return route{method: http.MethodPut, path: path} }
func patch(path string) route  { return route{method: http.MethodPatch, path: path, nulls: true} }
func remove(path string) route { return route{method: http.MethodDelete, path: path} }

// ours marks a route that older clients do not know: it refuses unknown fields.
func (r route) ours() route {
	r.strict = true
	return r
}

// nullable marks a route where null means "not set", as it does for PATCH.
func (r route) nullable() route {
	r.nulls = true
	return r
}

// op makes a row from a function of the engine. What a client may send is told
// by the tags of In, see shapeOf.
func op[In, Out any](name, doc string, d doors, fn func(*engine.Engine, context.Context, In) (Out, error)) operation {
	return operation{name: name, doc: doc, doors: d, in: shapeOf(reflect.TypeFor[In]()), out: reflect.TypeFor[Out](),
		run: func(e *engine.Engine, ctx context.Context, fill func(any) error) (any, error) {
			var in In
			if err := fill(&in); err != nil {
				return nil, err
			}
			return fn(e, ctx, in)
		}}
}

// toolText is implemented by answers that MCP clients get as a line of text.
type toolText interface{ toolText() string }

// handler makes the REST handler of a row.
func (o *operation) handler(s *server) echo.HandlerFunc {
	return func(c echo.Context) error {
		out, err := o.run(s.engine, c.Request().Context(), func(in any) error { return o.bind(c, in) })
		if err != nil {
			return err
		}
		return writeJSON(c, http.StatusOK, out)
	}
}

// bind reads the body, then the query, then the path: what stands in the path
// cannot be changed by the rest.
func (o *operation) bind(c echo.Context, in any) error {
	v := reflect.ValueOf(in).Elem()
	d := &decoder{what: "the body", strict: o.doors.rest.strict, nulls: o.doors.rest.nulls, urls: true}
	r := c.Request()
	if r.Method != http.MethodGet && r.Method != http.MethodDelete {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return readError(err)
		}
		if len(bytes.TrimSpace(body)) == 0 {
			body = []byte("{}")
		}
		d.object(body, o.in, v, "")
	}
	query := r.URL.Query()
	for i := range o.in.fields {
		f := &o.in.fields[i]
		if f.query != "" && query.Has(f.query) {
			d.text(query.Get(f.query), v.FieldByIndex(f.index), f.query)
		}
		if f.param != "" {
			d.text(unescaped(c, f.param), v.FieldByIndex(f.index), f.param)
		}
	}
	return d.err("the request was refused; nothing was changed:")
}

// text reads a value from a URL.
func (d *decoder) text(s string, v reflect.Value, name string) {
	if v.Kind() == reflect.String {
		v.SetString(s)
		return
	}
	d.plain([]byte(s), v, name)
}

// unescaped returns a path parameter; echo leaves it as it was sent when the
// path has escapes.
func unescaped(c echo.Context, name string) string {
	p := c.Param(name)
	if c.Request().URL.RawPath != "" {
		if q, err := url.PathUnescape(p); err == nil {
			return q
		}
	}
	return p
}

// numberIn reads a whole number of the path of a route that has no row.
func numberIn(c echo.Context, name string) (int64, error) {
	text := unescaped(c, name)
	n, ok := wholeNumber(text)
	if !ok {
		return 0, plan.Errorf(plan.Malformed, "%s must be a whole number, not %s", name, describe([]byte(text), nil))
	}
	return n, nil
}

// switchIn reads a switch of the query of such a route, which is on unless it says
// otherwise.
func switchIn(c echo.Context, name string) (on bool, err error) {
	text := c.QueryParam(name)
	if text == "" {
		return true, nil
	}
	if on, err = strconv.ParseBool(strings.ToLower(text)); err != nil {
		return false, plan.Errorf(plan.Malformed, "%s must be true or false, not %s", name, clip(strconv.Quote(text)))
	}
	return on, nil
}

// readError is what a client is told when its body did not arrive.
func readError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	return plan.Errorf(plan.Malformed, "the body could not be read to its end")
}

// writeJSON answers with a value.
func writeJSON(c echo.Context, status int, v any) error {
	b, err := marshal(v)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	return c.Blob(status, "application/json", b)
}

// encoded is implemented by answers that can be encoded faster by hand.
type encoded interface{ encode() ([]byte, error) }

// marshal encodes without the escapes that only JSON inside HTML needs.
func marshal(v any) ([]byte, error) {
	if v, ok := v.(encoded); ok {
		return v.encode()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// addTool offers a row as a tool of an MCP server.
func (o *operation) addTool(to *mcp.Server, s *server) {
	to.AddTool(&mcp.Tool{Name: o.name, Description: o.doc, InputSchema: o.in.schema(), Annotations: hintsOf(o.name)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			out, err := o.run(s.engine, ctx, func(in any) error { return o.arguments(req.Params.Arguments, in) })
			if err != nil {
				return toolError(s.problemOf(err, visitOf(ctx).id).text), nil
			}
			return toolResult(out)
		})
}

// hintsOf tells clients what a tool does to plans, so that they ask their users
// only where something is lost: its name begins with a verb that says so.
func hintsOf(name string) *mcp.ToolAnnotations {
	verb, _, _ := strings.Cut(name, "_")
	reads := slices.Contains([]string{"get", "list", "export"}, verb)
	loses := slices.Contains([]string{"update", "set", "remove", "reset", "rework", "reject"}, verb)
	hints := &mcp.ToolAnnotations{ReadOnlyHint: reads, OpenWorldHint: new(bool)}
	if !reads {
		hints.DestructiveHint = &loses
	}
	return hints
}

// arguments reads the arguments of a tool call.
func (o *operation) arguments(raw json.RawMessage, in any) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	d := &decoder{what: "arguments", strict: true}
	d.object(raw, o.in, reflect.ValueOf(in).Elem(), "")
	return d.err(o.name + " was refused; nothing was created or changed:")
}

// toolResult wraps what is no object under "result", as MCP clients expect, and
// gives it as text too.
func toolResult(out any) (*mcp.CallToolResult, error) {
	if t, ok := out.(toolText); ok {
		out = t.toolText()
	}
	b, err := marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	text := string(b)
	if s, ok := out.(string); ok {
		text = s
	}
	if b[0] != '{' {
		b = append(append([]byte(`{"result":`), b...), '}')
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: json.RawMessage(b)}, nil
}

func toolError(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
