package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/internal/goldenfile"
	"github.com/clearbox-go/clearbox/internal/scriptedmodel"
	"github.com/clearbox-go/clearbox/plugin"
)

var update = flag.Bool("update", false, "write the golden files anew")

type (
	turn    = scriptedmodel.Turn
	toolUse = scriptedmodel.Call
	m       = map[string]any
)

const model = "scripted-model"

// scene is one run against one scripted model.
type scene struct {
	files  map[string]string
	turns  []turn
	loop   bool
	params m
	tools  string
	task   func(*plugin.Task)
	server func(*scriptedmodel.Server)
}

// played is what came of it.
type played struct {
	dir      string
	url      string
	events   []plugin.Event
	result   plugin.Result
	requests []*scriptedmodel.Request
	waits    []time.Duration // between attempts
}

// recorder keeps the events of a run.
type recorder struct {
	mu     sync.Mutex
	events []plugin.Event
}

func (r *recorder) Push(_ context.Context, batch []plugin.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, batch...)
	return nil
}

func (*recorder) Answer(context.Context, plugin.Question) (plugin.Answer, error) {
	return plugin.Answer{Message: "nobody is here"}, nil
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

// serve starts a scripted model for the time of the test.
func serve(t *testing.T, s *scriptedmodel.Server) string {
	t.Helper()
	r, err := s.Start("127.0.0.1:0")
	must(t, err)
	t.Cleanup(r.Close)
	return r.URL
}

func play(t *testing.T, sc scene) played {
	t.Helper()
	srv := scriptedmodel.New(scriptedmodel.Script{Name: "scene", Turns: sc.turns, Loop: sc.loop})
	if sc.server != nil {
		sc.server(srv)
	}
	url := serve(t, srv)
	dir := t.TempDir()
	for name, content := range sc.files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	task := plugin.Task{
		RunID: "run-1", WorkDir: dir, Title: "A step", Prompt: "Do the step.", System: "You are a worker.", Allowed: plugin.Full,
		Profile: plugin.Profile{Name: "test", Model: model, BaseURL: url, Tools: json.RawMessage(sc.tools)},
	}
	if sc.params != nil {
		task.Profile.Params = encoded(t, sc.params)
	}
	if sc.task != nil {
		sc.task(&task)
	}
	p := played{dir: dir, url: url}
	p.run(t, task)
	p.requests = srv.Requests()
	return p
}

func (p *played) run(t *testing.T, task plugin.Task) {
	t.Helper()
	h := newHarness()
	h.pace.farewell = 50 * time.Millisecond
	h.pace.sleep = func(ctx context.Context, d time.Duration) error {
		p.waits = append(p.waits, d)
		return ctx.Err()
	}
	rec := &recorder{}
	s := plugin.Local(h, task)
	var err error
	p.result, err = s.Follow(t.Context(), 0, rec)
	must(t, err)
	must(t, s.Close())
	p.events = rec.events
}

var varying = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`openai-[a-z2-7]{16}`), "SESSION"},
	{regexp.MustCompile(`"until": [0-9.]+`), `"until": TIME`},
	{regexp.MustCompile(`again in [0-9.]+m?s`), "again in WAIT"},
}

// transcript is the run as text: events, result, and what each request ended with.
func (p played) transcript(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, e := range p.events {
		fmt.Fprintf(&b, "%s %s\n", e.Kind, goldenfile.Indented(t, e.Data))
	}
	r := p.result
	fmt.Fprintf(&b, "result %s\n", goldenfile.Indented(t, encoded(t, m{
		"text": r.Text, "is_error": r.IsError, "errors": r.Errors, "subtype": r.Subtype, "num_turns": r.NumTurns,
		"tokens_in": r.TokensIn, "tokens_out": r.TokensOut, "cost_usd": r.CostUSD, "model": r.Model,
		"rate_limited": r.RateLimited, "transient": r.Transient,
	})))
	for i, q := range p.requests {
		fmt.Fprintf(&b, "request %d:", i+1)
		for _, msg := range q.Messages {
			fmt.Fprintf(&b, " %s", msg.Role)
			for _, c := range msg.ToolCalls {
				fmt.Fprintf(&b, "[%s %s %s]", c.ID, c.Name, c.Arguments)
			}
			if msg.ToolCallID != "" {
				fmt.Fprintf(&b, "[%s]", msg.ToolCallID)
			}
		}
		b.WriteString("\n")
	}
	return p.normal(b.String())
}

// normal replaces what differs from run to run.
func (p played) normal(s string) string {
	s = strings.ReplaceAll(s, p.dir, "DIR")
	s = strings.ReplaceAll(s, strings.TrimPrefix(strings.TrimSuffix(p.url, "/v1"), "http://"), "HOST")
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
func (p played) everything(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, e := range p.events {
		fmt.Fprintf(&b, "%s %s\n", e.Kind, e.Data)
	}
	fmt.Fprintf(&b, "%+v", p.result)
	return b.String()
}

func (p played) kinds() string {
	var out []string
	for _, e := range p.events {
		out = append(out, e.Kind)
	}
	return strings.Join(out, " ")
}

func wantIn(t *testing.T, text string, fragments ...string) {
	t.Helper()
	for _, f := range fragments {
		if !strings.Contains(text, f) {
			t.Errorf("%q does not contain %q", text, f)
		}
	}
}

func say(text string) turn { return turn{Text: text} }

func use(name string, args any) turn { return turn{Calls: []toolUse{{Name: name, Args: args}}} }
