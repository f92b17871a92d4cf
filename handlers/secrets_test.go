package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

func TestPlantedKeyIsInNoAnswer(t *testing.T) {
	const key = "sk-planted-7f3a9c"
	got := make(chan string, 1)
	r := newRigWith(t, rigOptions{agents: map[string]enginetest.Agent{
		"openai": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			got <- task.Profile.Secret
			return enginetest.Done(ctx, task, h)
		}}})
	r.want(200, "POST", "/api/agents", `{"name":"gpt","harness":"openai","model":"m","api_key":"`+key+`"}`)
	dir := t.TempDir()
	r.want(200, "POST", "/api/plans", fmt.Sprintf(`{"title":"T","working_directory":%q,"nodes":[{"key":"a","title":"A","agent":"gpt"}]}`, dir))
	r.want(200, "POST", "/api/plans/1/start", nil)
	enginetest.Until(t, r.engine, 1, "done", enginetest.Status(plan.StatusDone))
	if <-got != key {
		t.Fatal("the agent did not get the key: the test shows nothing")
	}
	r.ok("/mcp", "list_agents", nil)
	for _, path := range []string{"/api/agents", "/api/plans", "/api/plans/1", "/api/plans/1/nodes/1", "/api/plans/1/nodes/1/context", "/api/plans/1/nodes/1/runs",
		"/api/plans/1/nodes/1/runs/1", "/api/plans/1/nodes/1/runs/1/events", "/api/harnesses", "/api/questions"} {
		a := r.do("GET", path, nil)
		if a.status != 200 || strings.Contains(string(a.body), key) || strings.Contains(string(a.body), `"api_key":`) {
			t.Errorf("%s: %s", path, a)
		}
	}
	for tool, args := range map[string]any{"list_agents": nil, "get_plan": map[string]any{"plan_id": 1}, "list_plans": nil} {
		if got := r.call("/mcp", tool, args); strings.Contains(got.text, key) || strings.Contains(got.text, `"api_key":`) {
			t.Errorf("%s: %s", tool, got.text)
		}
	}
	// Refusals repeat what was sent, but not this.
	for _, body := range []string{`{"name":"gpt","harness":"openai","api_key":"` + key + `"}`, `{"harness":"openai","api_key":"` + key + `"}`} {
		if a := r.do("POST", "/api/agents", body); a.status < 400 || strings.Contains(string(a.body), key) {
			t.Errorf("refused: %s", a)
		}
	}
	if strings.Contains(r.log.String(), key) {
		t.Error("the key is in the log")
	}
}

// TestWrongTypesOfSecretsAreNotRepeated: a message names what was sent instead
// of a value, but never what was sent as a key.
func TestWrongTypesOfSecretsAreNotRepeated(t *testing.T) {
	r := newRig(t)
	a := r.do("PATCH", "/api/agents/2", `{"api_key": 83749203847, "max_parallel": "x"}`)
	if strings.Contains(string(a.body), "83749203847") || !strings.Contains(string(a.body), "api_key must be a string") {
		t.Errorf("got %s", a)
	}
}

func TestInternalErrorsStayInTheLog(t *testing.T) {
	r := newRig(t)
	s := newServer(r.engine, Options{Log: nil})
	log := &logBuffer{}
	s.log = testLog(log)
	for name, fail := range map[string]echo.HandlerFunc{
		"an error":           func(echo.Context) error { return fmt.Errorf("read row: %w", errors.New("disk /secret/place is full")) },
		"an internal error":  func(echo.Context) error { return plan.Errorf(plan.Internal, "secret place") },
		"an error of echo's": func(echo.Context) error { return echo.NewHTTPError(500, "secret place") },
		"a panic":            func(echo.Context) error { panic("secret place") },
	} {
		s.echo.GET("/api/test/"+strings.ReplaceAll(name, " ", ""), fail)
		a := serveOnce(t, s, "GET", "/api/test/"+strings.ReplaceAll(name, " ", ""))
		if a.status != 500 || strings.Contains(string(a.body), "secret") || strings.Contains(string(a.body), "goroutine") {
			t.Errorf("%s: %s", name, a)
		}
		id := strings.TrimSuffix(strings.Fields(a.detail(t))[len(strings.Fields(a.detail(t)))-1], ".")
		if !strings.Contains(log.String(), "request="+id) || !strings.Contains(log.String(), "secret") {
			t.Errorf("%s: the log does not have request %s:\n%s", name, id, log)
		}
	}
}

func TestPanicsOfToolsAreRefusedCalls(t *testing.T) {
	r := newRig(t)
	s := newServer(r.engine, Options{})
	log := &logBuffer{}
	s.log = testLog(log)
	s.ops = []operation{op("get_nothing", "Fails.", doors{mcp: full}, func(*engine.Engine, context.Context, none) (string, error) { panic("secret place") })}
	s.echo.Any("/test", echo.WrapHandler(s.mcpHandler(full, "")))
	a := serveOnce(t, s, "POST", "/test", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_nothing"}}`)
	if !strings.Contains(string(a.body), `"isError":true`) || strings.Contains(string(a.body), "secret") || !strings.Contains(log.String(), "secret place") {
		t.Errorf("got %s, log %s", a, log)
	}
}

// TestAbandonedCallsAreCancelled: a tool ends when its client hangs up, with the
// older protocol too, and when the server ends.
func TestAbandonedCallsAreCancelled(t *testing.T) {
	r := newRig(t)
	ctx, hangUp := context.WithCancel(context.Background())
	for name, end := range map[string]func(*server){"the client hangs up": func(*server) { hangUp() }, "the server ends": func(s *server) { s.close() }} {
		t.Run(name, func(t *testing.T) {
			s := newServer(r.engine, Options{})
			begun, ended, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
			s.ops = []operation{op("get_late", "Waits.", doors{mcp: full}, func(_ *engine.Engine, ctx context.Context, _ none) (string, error) {
				close(begun)
				<-ctx.Done()
				close(ended)
				return "", ctx.Err()
			})}
			req := newRequest(t, "POST", "/test", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_late"}}`)
			if strings.Contains(name, "client") {
				req = req.WithContext(ctx)
			}
			go func() {
				defer close(answered)
				s.mcpHandler(full, "").ServeHTTP(discard{http.Header{}}, req)
			}()
			<-begun
			end(s)
			<-ended
			<-answered
		})
	}
}

// discard is a response that nobody reads.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
