// Package handlers is every way in: REST, three MCP endpoints, the change stream
// and the pages. It translates between the wire and the engine and has no rules
// of its own.
package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Options configure the HTTP surface.
type Options struct {
	Version string
	URL     string // where people reach the server, e.g. "http://127.0.0.1:8765"; in the links given to models

	Host         string   // what the server is bound to
	Port         int      // the port that it listens on
	AllowedHosts []string // further names in Host and Origin, with a port of their own or without
	AuthToken    string   // what clients must present; "" : nothing

	// Shutdown is called, once the answer is on its way, when a client asks the
	// server to end. It must not wait for that.
	Shutdown func(engine.OnExit)

	Log *slog.Logger // nil: silent
}

// server is the HTTP surface of one engine.
type server struct {
	opts   Options
	log    *slog.Logger
	engine *engine.Engine
	echo   *echo.Echo
	ops    []operation
	hosts  hosts
	auth   *auth // nil: no token is needed

	methods map[string][]string // by path under /api
	closing context.Context     // ends when the server begins to shut down
	close   context.CancelFunc

	pace streamPace
}

// New returns an HTTP server for an engine, ready to Serve. Its Shutdown ends
// open streams too; so the engine serves no stream after it.
func New(e *engine.Engine, o Options) *http.Server {
	return newServer(e, o).http()
}

func (s *server) http() *http.Server {
	h := &http.Server{
		Handler:           s.guard(s.echo),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	h.RegisterOnShutdown(func() {
		s.close()
		s.engine.CloseStreams()
	})
	return h
}

func newServer(e *engine.Engine, o Options) *server {
	s := &server{opts: o, log: o.Log, engine: e, echo: echo.New(), hosts: newHosts(o), auth: newAuth(o), pace: usualPace}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.methods = map[string][]string{}
	s.closing, s.close = context.WithCancel(context.Background())
	s.ops = operations(o.URL)
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.handleError
	s.echo.Use(s.watch, middleware.GzipWithConfig(middleware.GzipConfig{Skipper: isStream, Level: 5, MinLength: 1024}))
	s.routes()
	return s
}

// isStream reports whether a request asks for something that must leave as it is
// written: event streams, and MCP, which some clients read as one.
func isStream(c echo.Context) bool {
	r := c.Request()
	return r.URL.Path == "/api/stream" || r.URL.Path == "/live" || strings.Contains(r.Header.Get(echo.HeaderAccept), "text/event-stream")
}

// routes mounts everything.
func (s *server) routes() {
	for i := range s.ops {
		if o := &s.ops[i]; o.doors.rest.path != "" {
			s.mount(o.doors.rest.method, "/api"+o.doors.rest.path, o.handler(s))
		}
	}
	s.mount(http.MethodGet, "/api/health", s.health)
	s.mount(http.MethodPost, "/api/shutdown", s.shutdown())
	s.mount(http.MethodGet, "/api/stream", s.stream)
	if s.engine.Mock() {
		row := op("agent_mcp_url", "", doors{rest: get("/debug")}, agentURL)
		s.mount(http.MethodGet, "/api/debug/plans/:plan_id/nodes/:node_id/agent-mcp-url", row.handler(s))
	}
	s.refuseOtherMethods()
	s.echo.Any("/mcp", echo.WrapHandler(s.mcpHandler(full, withBase(fullInstructions, s.opts.URL))))
	s.echo.Any("/mcp/observe", echo.WrapHandler(s.mcpHandler(observe, withBase(observeInstructions, s.opts.URL))))
	s.echo.Any("/mcp-agent/:token", s.workerDoor(s.mcpHandler(worker, workerInstructions)))
	s.login()
	s.pages()
}

// mount adds a route; what can be read can be asked for with HEAD too.
func (s *server) mount(method, path string, h echo.HandlerFunc) {
	methods := []string{method}
	if method == http.MethodGet && path != "/api/stream" {
		methods = append(methods, http.MethodHead)
	}
	for _, m := range methods {
		s.echo.Add(m, path, h)
		s.methods[path] = append(s.methods[path], m)
	}
}

// refuseOtherMethods answers 405 where a path is known and its method is not.
// The router would do so by itself, were there no page for paths that are not
// known.
func (s *server) refuseOtherMethods() {
	for path, known := range s.methods {
		allow := strings.Join(known, ", ")
		for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if slices.Contains(known, m) {
				continue
			}
			s.echo.Add(m, path, func(c echo.Context) error {
				c.Response().Header().Set("Allow", allow)
				return echo.ErrMethodNotAllowed
			})
		}
	}
}

// health tells that a Clearbox answers here, to anyone.
func (s *server) health(c echo.Context) error {
	return writeJSON(c, http.StatusOK, struct {
		App     string `json:"app"`
		Version string `json:"version"`
	}{"clearbox", s.opts.Version})
}

type shutdownIn struct {
	OnExit string `json:"on_exit,omitempty" jsonschema:"stop (default) ends running agents; detach leaves them to the next server."`
}

// shutdown ends the server, as Ctrl-C does.
func (s *server) shutdown() echo.HandlerFunc {
	row := op("shutdown", "", doors{rest: post("/shutdown")}, parseShutdown)
	return func(c echo.Context) error {
		how, err := row.run(s.engine, c.Request().Context(), func(in any) error { return row.bind(c, in) })
		if err != nil {
			return err
		}
		if s.opts.Shutdown == nil {
			return plan.Errorf(plan.Unavailable, "this server cannot be ended over HTTP")
		}
		c.Response().Header().Set("Connection", "close")
		if err := writeJSON(c, http.StatusOK, struct {
			Stopping bool `json:"stopping"`
		}{true}); err != nil {
			return err
		}
		c.Response().Flush()
		s.opts.Shutdown(how.(engine.OnExit))
		return nil
	}
}

func parseShutdown(_ *engine.Engine, _ context.Context, in shutdownIn) (engine.OnExit, error) {
	switch how := engine.OnExit(in.OnExit); how {
	case "":
		return engine.ExitStop, nil
	case engine.ExitStop, engine.ExitDetach:
		return how, nil
	}
	return "", plan.Errorf(plan.Invalid, "on_exit: unknown value %q; it is stop or detach", clip(in.OnExit))
}

type urlView struct {
	URL *string `json:"url"`
}

// agentURL tells tests where the agent of a running step has its tools.
func agentURL(e *engine.Engine, ctx context.Context, in nodeIn) (urlView, error) {
	url, err := e.AgentURLOf(ctx, in.ref())
	return urlView{orNull(&url)}, err
}
