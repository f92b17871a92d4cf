// Package handlers is every way in: REST, three MCP endpoints, the change stream
// and the pages. It translates between the wire and the engine and has no rules
// of its own.
package handlers

import (
	"compress/gzip"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
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

	MCPMayApprove bool // planning sessions may approve plans

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

	metrics   *metrics
	described func() ([]byte, error) // the API, encoded

	methods map[string][]string // by path, of what programs ask for
	closing context.Context     // ends when the server begins to shut down
	close   context.CancelFunc

	pace    streamPace
	readers atomic.Int64 // of the stream of changes
	sent    sentEvents
}

// New returns an HTTP server for an engine, ready to Serve. Its Shutdown ends
// open streams too; so the engine serves no stream after it.
func New(e *engine.Engine, o Options) *http.Server {
	return newServer(e, o).http()
}

func (s *server) http() *http.Server {
	h := s.listenWith(s.observe(s.guard(s.echo)))
	h.RegisterOnShutdown(func() {
		s.close()
		s.engine.CloseStreams()
	})
	return h
}

// listenWith makes an HTTP server that waits for nobody for ever.
func (s *server) listenWith(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    64 << 10,

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is for the guard too
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}

func newServer(e *engine.Engine, o Options) *server {
	s := &server{opts: o, log: o.Log, engine: e, echo: echo.New(), hosts: newHosts(o), auth: newAuth(o), pace: usualPace, metrics: newMetrics()}
	e.Hide(o.AuthToken)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.methods = map[string][]string{}
	s.closing, s.close = context.WithCancel(context.Background())
	s.ops = operations(o.URL, o.MCPMayApprove)
	s.described = s.describeOnce()
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.handleError
	s.echo.Use(s.watch, middleware.GzipWithConfig(middleware.GzipConfig{Skipper: isStream, Level: gzip.BestSpeed, MinLength: 1024}), readForm)
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
	s.mount(http.MethodGet, "/api/plans/:plan_id/export.md", s.exportMarkdown)
	s.mount(http.MethodGet, "/api/plans/:plan_id/export.html", s.exportReport)
	s.mount(http.MethodGet, "/api/plans/:plan_id/export.json", s.exportTemplate)
	s.mount(http.MethodGet, "/api/plans/:plan_id/export.yaml", s.exportTemplate)
	s.mount(http.MethodGet, "/api/plans/:plan_id/nodes/:node_id/runs/:run/patch", s.runPatch)
	s.mount(http.MethodGet, "/api/openapi.json", s.openAPI)
	s.mount(http.MethodGet, "/metrics", s.metricsPage)
	if s.engine.Mock() {
		row := debugRow()
		s.mount(row.doors.rest.method, "/api"+row.doors.rest.path, row.handler(s))
	}
	s.refuseOtherMethods()
	s.echo.Any("/mcp", echo.WrapHandler(s.mcpHandler(full, withBase(fullInstructions, s.opts.URL))))
	s.echo.Any("/mcp/observe", echo.WrapHandler(s.mcpHandler(observe, withBase(observeInstructions, s.opts.URL))))
	s.echo.Any("/mcp-agent/:token", s.runDoor(map[plan.Role]http.Handler{
		plan.Worker: s.mcpHandler(worker, workerInstructions), plan.Planner: s.mcpHandler(planner, plannerInstructions)}))
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
	return writeJSON(c, http.StatusOK, healthView{"clearbox", s.opts.Version})
}

type healthView struct {
	App     string `json:"app"`
	Version string `json:"version"`
}

type shutdownIn struct {
	OnExit string `json:"on_exit,omitempty" jsonschema:"stop (default) ends running agents; detach leaves them to the next server."`
}

type stoppingView struct {
	Stopping bool `json:"stopping"`
}

func shutdownRow() operation {
	return op("shutdown", "End the server, as Ctrl-C does; {\"on_exit\": \"detach\"} leaves running agents to the next one.",
		doors{rest: post("/shutdown")}, parseShutdown)
}

// shutdown ends the server.
func (s *server) shutdown() echo.HandlerFunc {
	row := shutdownRow()
	return func(c echo.Context) error {
		how, err := row.run(s.engine, c.Request().Context(), func(in any) error { return row.bind(c, in) })
		if err != nil {
			return err
		}
		if s.opts.Shutdown == nil {
			return plan.Errorf(plan.Unavailable, "this server cannot be ended over HTTP")
		}
		c.Response().Header().Set("Connection", "close")
		if err := writeJSON(c, http.StatusOK, stoppingView{true}); err != nil {
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

func debugRow() operation {
	return op("agent_mcp_url", "Tell where the agent of a running step has its tools, for tests; only with --mock.",
		doors{rest: get("/debug/plans/:plan_id/nodes/:node_id/agent-mcp-url")}, agentURL)
}

// agentURL tells tests where the agent of a running step has its tools.
func agentURL(e *engine.Engine, ctx context.Context, in nodeIn) (urlView, error) {
	url, err := e.AgentURLOf(ctx, in.ref())
	return urlView{orNull(&url)}, err
}
