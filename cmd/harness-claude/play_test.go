package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/internal/goldenfile"
	"github.com/clearbox-go/clearbox/internal/scriptedmessages"
	"github.com/clearbox-go/clearbox/plugin"
)

var update = flag.Bool("update", false, "write the golden files anew")

type (
	script = scriptedmessages.Script
	turn   = scriptedmessages.Turn
	m      = map[string]any
)

var say1, use = scriptedmessages.Say, scriptedmessages.Use

const apiKey = "sk-ant-api03-of-the-test"

// claude is the real program, named by CLEARBOX_TEST_CLAUDE or found on PATH. Without
// it the test is skipped.
func claude(t *testing.T) string {
	t.Helper()
	name := os.Getenv("CLEARBOX_TEST_CLAUDE")
	if name == "" {
		name = "claude"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("the claude program is not here: npm install -g @anthropic-ai/claude-code, or set CLEARBOX_TEST_CLAUDE to its path")
	}
	return path
}

// scene is one run.
type scene struct {
	files    map[string]string
	links    map[string]string // name → target
	scripts  []script
	params   m
	tools    string
	task     func(*plugin.Task)
	server   func(*scriptedmessages.Server)
	answer   func(context.Context, plugin.Question) (plugin.Answer, error)
	started  func(dir string, s plugin.Session) // runs beside the run
	during   func(plugin.Session, plugin.Event)
	asked    func(plugin.Session)
	env      map[string]string
	program  string // "" is the real one
	now      time.Time
	farewell time.Duration
}

// played is what came of it.
type played struct {
	dir, state, url string
	events          []plugin.Event
	asked           []plugin.Question
	answered        []string
	result          plugin.Result
	requests        []*scriptedmessages.Request
}

// recorder keeps what a run tells.
type recorder struct {
	scene   scene
	session plugin.Session

	mu       sync.Mutex
	events   []plugin.Event
	asked    []plugin.Question
	answered []string
}

func (r *recorder) Push(_ context.Context, batch []plugin.Event) error {
	for _, e := range batch {
		r.mu.Lock()
		r.events = append(r.events, e)
		r.mu.Unlock()
		if r.scene.during != nil {
			r.scene.during(r.session, e)
		}
	}
	return nil
}

func (r *recorder) Answer(ctx context.Context, q plugin.Question) (plugin.Answer, error) {
	r.mu.Lock()
	r.asked = append(r.asked, q)
	r.mu.Unlock()
	if r.scene.asked != nil {
		r.scene.asked(r.session)
		<-ctx.Done()
		return plugin.Answer{}, ctx.Err()
	}
	if r.scene.answer == nil {
		return plugin.Answer{}, fmt.Errorf("nobody is here")
	}
	return r.scene.answer(ctx, q)
}

func (r *recorder) Answered(_ context.Context, q plugin.Question, a plugin.Answer, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = append(r.answered, fmt.Sprintf("%s allow=%t taken=%t", q.Tool, a.Allow, taken))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return raw
}

// serve starts a scripted API for the time of the test.
func serve(t *testing.T, s *scriptedmessages.Server) string {
	t.Helper()
	r, err := s.Start("127.0.0.1:0")
	must(t, err)
	t.Cleanup(r.Close)
	return r.URL
}

// play runs a scene in this process.
func play(t *testing.T, sc scene) *played {
	t.Helper()
	if sc.program == "" {
		sc.program = claude(t)
	}
	srv := scriptedmessages.New(sc.scripts...)
	srv.Key = apiKey
	if sc.server != nil {
		sc.server(srv)
	}
	if sc.env["HOME"] == "" {
		t.Setenv("HOME", t.TempDir()) // the shell reads its user's profile from there
	}
	p := &played{dir: t.TempDir(), state: t.TempDir(), url: serve(t, srv)}
	p.write(t, sc.files)
	for name, target := range sc.links {
		must(t, os.Symlink(target, filepath.Join(p.dir, name)))
	}
	p.run(t, sc, p.newTask(t, sc))
	p.requests = srv.Requests()
	return p
}

func (p *played) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, content := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o644))
	}
}

func (p *played) newTask(t *testing.T, sc scene) plugin.Task {
	params := m{"path": sc.program, "max_retries": 1}
	for k, v := range sc.params {
		params[k] = v
	}
	task := plugin.Task{
		RunID: "run-1", WorkDir: p.dir, RunDir: t.TempDir(), Title: "A step", Prompt: "Do the step.", System: "You are a worker.", Allowed: plugin.Full,
		Profile: plugin.Profile{Name: "test", BaseURL: p.url, Secret: apiKey, Credential: "literal", Tools: json.RawMessage(sc.tools), Params: encoded(t, params)},
	}
	if sc.task != nil {
		sc.task(&task)
	}
	return task
}

// harness is the harness with a home of the test's own.
func (p *played) harness(sc scene) *harness {
	h := newHarness()
	h.getenv = func(name string) string {
		if v, ok := sc.env[name]; ok {
			return v
		}
		switch name {
		case "XDG_STATE_HOME":
			return p.state
		case "ANTHROPIC_API_KEY":
			return ""
		}
		return os.Getenv(name)
	}
	if sc.farewell > 0 {
		h.pace.farewell = sc.farewell
	}
	if !sc.now.IsZero() {
		h.pace.now = func() time.Time { return sc.now }
	}
	return h
}

func (p *played) run(t *testing.T, sc scene, task plugin.Task) {
	t.Helper()
	rec := &recorder{scene: sc}
	rec.session = plugin.Local(p.harness(sc), task)
	var beside sync.WaitGroup
	if sc.started != nil {
		beside.Go(func() { sc.started(p.dir, rec.session) })
	}
	var err error
	p.result, err = rec.session.Follow(t.Context(), 0, rec)
	beside.Wait()
	must(t, err)
	must(t, rec.session.Close())
	p.events, p.asked, p.answered = rec.events, rec.asked, rec.answered
	if left, err := os.ReadDir(task.RunDir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left in the run's folder (%v)", len(left), err)
	}
}

var varying = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`), "SESSION"},
	{regexp.MustCompile(`"duration_ms": \d+`), `"duration_ms": N`},
	{regexp.MustCompile(`again in [0-9.]+m?s`), "again in WAIT"},
}

// transcript is the run as text.
func (p *played) transcript(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, e := range p.events {
		fmt.Fprintf(&b, "%s %s\n", e.Kind, goldenfile.Indented(t, e.Data))
	}
	for _, a := range p.answered {
		fmt.Fprintf(&b, "asked %s\n", a)
	}
	r := p.result
	fmt.Fprintf(&b, "result %s\n", goldenfile.Indented(t, encoded(t, m{
		"text": r.Text, "is_error": r.IsError, "errors": r.Errors, "subtype": r.Subtype, "num_turns": r.NumTurns,
		"tokens_in": r.TokensIn, "tokens_out": r.TokensOut, "cost_usd": r.CostUSD, "model": r.Model, "session_id": r.SessionID,
		"rate_limited": r.RateLimited, "transient": r.Transient, "until": untilText(r.Until.UTC()),
	})))
	return p.normal(b.String())
}

// normal replaces what differs from run to run.
func (p *played) normal(s string) string {
	s = strings.ReplaceAll(s, p.dir, "DIR")
	s = strings.ReplaceAll(s, strings.TrimPrefix(p.url, "http://"), "HOST")
	for _, v := range varying {
		s = v.re.ReplaceAllString(s, v.with)
	}
	return s
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenfile.Check(t, filepath.Join("testdata", name+".golden"), got, *update)
}

// everything is all that left the harness, as one text.
func (p *played) everything() string {
	var b strings.Builder
	for _, e := range p.events {
		fmt.Fprintf(&b, "%s %s\n", e.Kind, e.Data)
	}
	fmt.Fprintf(&b, "%+v", p.result)
	return b.String()
}

// results are the tool results in order.
func (p *played) results() []string {
	var out []string
	for _, e := range p.events {
		if e.Kind == plugin.KindToolResult {
			_, content, isErr, _ := plugin.DecodeToolResult(e)
			if isErr {
				content = "ERROR " + content
			}
			out = append(out, content)
		}
	}
	return out
}

func (p *played) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(p.dir, name))
	return err == nil
}

func wantIn(t *testing.T, text string, fragments ...string) {
	t.Helper()
	for _, f := range fragments {
		if !strings.Contains(text, f) {
			t.Errorf("%q does not contain %q", text, f)
		}
	}
}

func wantNotIn(t *testing.T, text, fragment string) {
	t.Helper()
	if strings.Contains(text, fragment) {
		t.Errorf("%q contains %q", text, fragment)
	}
}

// until polls; only for what real processes do.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}
