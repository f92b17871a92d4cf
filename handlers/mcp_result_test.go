package handlers

import (
	"context"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
)

// meta is what each call of the newest protocol carries.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

// TestRefusedCallsAreComplete: what is answered in place of a tool looks like the
// answer of one, in the newest protocol and in those before.
func TestRefusedCallsAreComplete(t *testing.T) {
	s := newServer(newRig(t).engine, Options{})
	s.log = testLog(&logBuffer{})
	s.ops = []operation{
		op("get_nothing", "Fails.", doors{mcp: full}, func(*engine.Engine, context.Context, none) (string, error) { panic("on purpose") }),
		op("get_plan", "Reads a plan.", doors{mcp: full}, getPlan),
	}
	s.echo.Any("/test", echo.WrapHandler(s.mcpHandler(full, "")))
	for _, name := range []string{"no_such_tool", "get_nothing", "get_plan"} {
		call := func(extra, version string) string {
			req := newRequest(t, "POST", "/test", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{}`+extra+`}}`)
			req.Header.Set("MCP-Protocol-Version", version)
			req.Header.Set("Mcp-Method", "tools/call")
			req.Header.Set("Mcp-Name", name)
			w := newAnswerWriter()
			s.echo.ServeHTTP(w, req)
			if w.Code != 200 || !strings.Contains(w.Body.String(), `"isError":true`) {
				t.Errorf("%s in %s: %d %s", name, version, w.Code, w.Body)
			}
			return w.Body.String()
		}
		if got := call(","+meta, "2026-07-28"); !strings.Contains(got, `"resultType":"complete"`) {
			t.Errorf("%s does not say that it is complete: %s", name, got)
		}
		if got := call("", "2025-11-25"); strings.Contains(got, "resultType") {
			t.Errorf("%s says to an older client: %s", name, got)
		}
	}
}
