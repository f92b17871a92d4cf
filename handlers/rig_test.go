package handlers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// rig is a server on a real port, over a real engine with agents of the test.
type rig struct {
	t      testing.TB
	engine *engine.Engine
	url    string
	port   int
	server *http.Server
	log    *logBuffer
}

type rigOptions struct {
	agents map[string]enginetest.Agent
	http   Options
	pace   streamPace

	snapshots bool
	launcher  func(*enginetest.Launcher) // sets up what the harnesses say
}

func newRig(t testing.TB) *rig { return newRigWith(t, rigOptions{}) }

func newRigWith(t testing.TB, o rigOptions) *rig {
	t.Helper()
	r := &rig{t: t, log: &logBuffer{}}
	eo := enginetest.Options(t, o.agents)
	eo.NoSnapshots = !o.snapshots
	if o.launcher != nil {
		o.launcher(eo.Launcher.(*enginetest.Launcher))
	}
	eo.Log = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r.engine = enginetest.Start(t, eo)
	r.serve(o, eo.Log)
	return r
}

// serve starts the HTTP server; it ends before the engine does.
func (r *rig) serve(o rigOptions, log *slog.Logger) {
	r.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.port = ln.Addr().(*net.TCPAddr).Port
	r.url = fmt.Sprintf("http://127.0.0.1:%d", r.port)
	o.http.Port, o.http.Host, o.http.Log, o.http.Version, o.http.URL = r.port, "127.0.0.1", log, "test", r.url
	s := newServer(r.engine, o.http)
	if o.pace != (streamPace{}) {
		s.pace = o.pace
	}
	r.server = s.http()
	r.engine.SetAddress(r.port, func(token string) string { return r.url + "/mcp-agent/" + token })
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.server.Serve(ln); err != http.ErrServerClosed {
			r.t.Errorf("serve: %v", err)
		}
	}()
	r.t.Cleanup(func() {
		if err := r.server.Shutdown(context.Background()); err != nil {
			r.t.Errorf("shut down: %v", err)
		}
		<-done
	})
}

// logBuffer collects a log from many goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// json decodes the answer.
func (a answer) json(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("decode %s: %v", a, err)
	}
	return v
}

// detail is the text of a refused request.
func (a answer) detail(t testing.TB) string {
	t.Helper()
	s, _ := a.json(t)["detail"].(string)
	return s
}

// do sends a request. A header is "Name: value"; body is sent as it is when it
// is a string, else as JSON.
func (r *rig) do(method, path string, body any, headers ...string) answer {
	r.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	case io.Reader:
		in = b
	default:
		enc, err := json.Marshal(b)
		if err != nil {
			r.t.Fatal(err)
		}
		in = bytes.NewReader(enc)
	}
	req, err := http.NewRequest(method, r.url+path, in)
	if err != nil {
		r.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	return r.send(req)
}

// noRedirects answers with what the server said.
var noRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (r *rig) send(req *http.Request) answer {
	r.t.Helper()
	res, err := noRedirects.Do(req)
	if err != nil {
		r.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		line, err := bufio.NewReader(res.Body).ReadBytes('\n')
		if err != nil {
			r.t.Fatalf("read a stream: %v", err)
		}
		return answer{res.StatusCode, res.Header, line}
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatalf("read %s: %v", req.URL, err)
	}
	return answer{res.StatusCode, res.Header, b}
}

// want sends a request that has to get a status, and returns its JSON.
func (r *rig) want(status int, method, path string, body any) map[string]any {
	r.t.Helper()
	a := r.do(method, path, body)
	if a.status != status {
		r.t.Fatalf("%s %s: got %s, want %d", method, path, a, status)
	}
	if !bytes.HasPrefix(a.body, []byte("{")) {
		return nil
	}
	return a.json(r.t)
}

// rpc sends one MCP message and returns the answer.
func (r *rig) rpc(path, method string, params any) map[string]any {
	r.t.Helper()
	a := r.do("POST", path, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
		"Accept: application/json, text/event-stream")
	if a.status != http.StatusOK {
		r.t.Fatalf("%s at %s: %s", method, path, a)
	}
	return a.json(r.t)
}

// tool is the outcome of a tool call.
type tool struct {
	isError bool
	text    string
	value   any
}

// call calls a tool and returns what it answered.
func (r *rig) call(path, name string, args any) tool {
	r.t.Helper()
	got := r.rpc(path, "tools/call", map[string]any{"name": name, "arguments": args})
	res, ok := got["result"].(map[string]any)
	if !ok {
		r.t.Fatalf("call %s: a protocol error: %v", name, got["error"])
	}
	out := tool{value: res["structuredContent"]}
	out.isError, _ = res["isError"].(bool)
	for _, c := range res["content"].([]any) {
		text, _ := c.(map[string]any)["text"].(string)
		out.text += text
	}
	if m, ok := out.value.(map[string]any); ok && len(m) == 1 {
		if inner, ok := m["result"]; ok {
			out.value = inner
		}
	}
	return out
}

// ok calls a tool that has to succeed and returns its value.
func (r *rig) ok(path, name string, args any) any {
	r.t.Helper()
	got := r.call(path, name, args)
	if got.isError {
		r.t.Fatalf("%s %v was refused: %s", name, args, got.text)
	}
	return got.value
}

// refused calls a tool that has to fail and returns why.
func (r *rig) refused(path, name string, args any) string {
	r.t.Helper()
	got := r.call(path, name, args)
	if !got.isError {
		r.t.Fatalf("%s %v was not refused: %s", name, args, got.text)
	}
	return got.text
}

// plan makes a plan from a line: "a b:a" is two steps, b after a.
func (r *rig) plan(text string) plan.PlanID {
	r.t.Helper()
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Plan", WorkingDirectory: r.t.TempDir()}}
	for _, word := range strings.Fields(text) {
		key, after, _ := strings.Cut(word, ":")
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: key, Title: "Step " + key, Files: []string{key + ".txt"}})
		if after != "" {
			in.Edges = append(in.Edges, []string{after, key})
		}
	}
	out, err := r.engine.SubmitPlan(context.Background(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out.PlanID
}

// start starts a plan.
func (r *rig) start(id plan.PlanID, by plan.Executor) {
	r.t.Helper()
	if err := r.engine.StartPlan(context.Background(), id, by); err != nil {
		r.t.Fatal(err)
	}
}

// waiting is an agent that says where its tools are and works until it is
// stopped or let go.
func waiting(urls chan<- string, letGo <-chan struct{}) enginetest.Agent {
	return func(ctx context.Context, t plugin.Task, h plugin.Host) (plugin.Result, error) {
		urls <- t.MCPURL
		select {
		case <-letGo:
			return plugin.Result{Text: "did " + t.Title}, nil
		case <-ctx.Done():
			return plugin.Result{IsError: true, Text: "stopped"}, nil
		}
	}
}

// workerRig has a plan of two steps whose first one an agent is busy with, and
// returns the path of the agent's endpoint.
func workerRig(t testing.TB) (r *rig, id plan.PlanID, path string) {
	t.Helper()
	r, id, urls := busyRig(t, rigOptions{})
	return r, id, strings.TrimPrefix(<-urls, r.url)
}

// busyRig is a server whose agents are busy, and tell of their endpoints.
func busyRig(t testing.TB, o rigOptions) (r *rig, id plan.PlanID, urls chan string) {
	t.Helper()
	urls, letGo := make(chan string, 1), make(chan struct{})
	o.agents = map[string]enginetest.Agent{"mock": waiting(urls, letGo)}
	r = newRigWith(t, o)
	t.Cleanup(func() { close(letGo) })
	id = r.plan("a b")
	in := engine.UpdatePlanIn{PlanID: id, MaxParallel: ptr(1)}
	if err := r.engine.UpdatePlan(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	r.start(id, plan.Builtin)
	return r, id, urls
}

// endpointRig has an MCP endpoint of every kind, by its door, with all tools that
// there are: planning sessions may approve.
func endpointRig(t testing.TB) (r *rig, paths map[door]string) {
	t.Helper()
	r, _, urls := busyRig(t, rigOptions{http: Options{MCPMayApprove: true}, launcher: func(l *enginetest.Launcher) {
		l.Infos = map[string]plugin.Info{"mock": {Slug: "mock", Name: "mock", Version: "test", Features: plugin.Features{MCP: true}}}
	}})
	paths = map[door]string{full: "/mcp", observe: "/mcp/observe", worker: strings.TrimPrefix(<-urls, r.url)}
	if _, err := r.engine.PlanFromGoal(context.Background(), engine.FromGoalIn{Goal: "Some goal", WorkingDirectory: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	paths[planner] = strings.TrimPrefix(<-urls, r.url)
	return r, paths
}

// table has everything that clients may ask for, of whatever server.
func table() []operation { return operations("", true) }

func ptr[T any](v T) *T { return &v }

// patience bounds what a test waits for that has to come.
const patience = time.Minute

func testLog(to *logBuffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func newRequest(t testing.TB, method, path string, body ...string) *http.Request {
	t.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(strings.Join(body, "")))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return req
}

// serveOnce sends a request to a server that has no port.
func serveOnce(t testing.TB, s *server, method, path string, body ...string) answer {
	t.Helper()
	w := httptest.NewRecorder()
	s.echo.ServeHTTP(w, newRequest(t, method, path, body...))
	return answer{w.Code, w.Header(), w.Body.Bytes()}
}
