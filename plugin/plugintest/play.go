package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/clearbox-go/clearbox/plugin"
)

// Played is what came of one run.
type Played struct {
	Events []plugin.Event
	Asked  []plugin.Question
	Result plugin.Result
}

// Play runs t with a harness in this process to its end and returns what it told.
// answer stands for the person who is asked; without one everything is refused.
// WorkDir, RunDir and RunID are filled in when empty.
func Play(tb testing.TB, h plugin.Harness, t plugin.Task, answer func(plugin.Question) plugin.Answer) Played {
	tb.Helper()
	t.RunID = or(t.RunID, "run-1")
	t.WorkDir, t.RunDir = or(t.WorkDir, tb.TempDir()), or(t.RunDir, tb.TempDir())
	if t.Allowed == "" {
		t.Allowed = plugin.Full
	}
	r := &recorder{answer: answer}
	s := plugin.Local(h, t)
	var err error
	r.played.Result, err = s.Follow(tb.Context(), 0, r)
	if err != nil {
		tb.Fatalf("follow the run: %v", err)
	}
	if err := s.Close(); err != nil {
		tb.Errorf("close the run: %v", err)
	}
	return r.played
}

func or(s, standard string) string {
	if s == "" {
		return standard
	}
	return s
}

// recorder keeps what a run tells.
type recorder struct {
	answer func(plugin.Question) plugin.Answer

	mu     sync.Mutex
	played Played
}

func (r *recorder) Push(_ context.Context, batch []plugin.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.played.Events = append(r.played.Events, batch...)
	return nil
}

func (r *recorder) Answer(_ context.Context, q plugin.Question) (plugin.Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.played.Asked = append(r.played.Asked, q)
	if r.answer == nil {
		return plugin.Answer{Message: "nobody is here"}, nil
	}
	return r.answer(q), nil
}

// Transcript is a run as text, for golden files: each event by its kind with its data
// indented, then the result without what differs from run to run.
func (p Played) Transcript() string {
	var b strings.Builder
	for _, e := range p.Events {
		fmt.Fprintf(&b, "%s %s\n", e.Kind, pretty(e.Data))
	}
	for _, q := range p.Asked {
		fmt.Fprintf(&b, "asked %s: %s\n", q.Tool, q.Text)
	}
	r := p.Result
	raw, err := json.Marshal(map[string]any{
		"text": r.Text, "is_error": r.IsError, "errors": r.Errors, "subtype": r.Subtype, "num_turns": r.NumTurns,
		"tokens_in": r.TokensIn, "tokens_out": r.TokensOut, "cost_usd": r.CostUSD, "model": r.Model,
		"rate_limited": r.RateLimited, "transient": r.Transient,
	})
	if err != nil {
		raw = json.RawMessage(fmt.Sprintf("%q", err.Error()))
	}
	fmt.Fprintf(&b, "result %s\n", pretty(raw))
	return b.String()
}

func pretty(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimSpace(b.String())
}
