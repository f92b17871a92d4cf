package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/clearbox-go/clearbox/plugin"
)

func (s *session) readFile(_ context.Context, raw json.RawMessage) (any, error) {
	var p struct {
		Path        string
		Line, Limit int
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("read a file: %w", err)
	}
	text, err := s.kit.ReadText(p.Path, p.Line, p.Limit)
	if err != nil {
		return nil, err
	}
	return map[string]any{"content": text}, nil
}

func (s *session) writeFile(_ context.Context, raw json.RawMessage) (any, error) {
	var p struct{ Path, Content string }
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("write a file: %w", err)
	}
	if err := s.kit.WriteText(p.Path, p.Content); err != nil {
		s.note("refused: write %s (%v)", p.Path, err)
		return nil, err
	}
	return map[string]any{}, nil
}

const (
	mostOutput   = 1 << 20 // bytes of a terminal that are kept
	mostTerminal = 64      // at once
)

// terminal is a command of the agent that runs here. Its output is the end of it.
type terminal struct {
	proc plugin.Proc
	done chan struct{}
	code int // once done is closed

	mu   sync.Mutex // guards what follows
	b    []byte
	most int
	cut  bool
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if len(p) > t.most {
		p, t.cut = p[len(p)-t.most:], true
	}
	t.b = append(t.b, p...)
	if over := len(t.b) - t.most; over > 0 {
		t.b, t.cut = append(t.b[:0], t.b[over:]...), true
	}
	return n, nil
}

func (t *terminal) text() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.b), "\uFFFD"), t.cut
}

// status is how the command ended, nil while it runs.
func (t *terminal) status() any {
	select {
	case <-t.done:
	default:
		return nil
	}
	if t.code > 128 && t.code < 128+65 {
		return map[string]any{"exitCode": nil, "signal": fmt.Sprint(t.code - 128)}
	}
	return map[string]any{"exitCode": t.code, "signal": nil}
}

func (s *session) createTerminal(ctx context.Context, raw json.RawMessage) (any, error) {
	var p struct {
		Command string
		Args    []string
		Cwd     string
		Env     []struct{ Name, Value string }
		Limit   *int `json:"outputByteLimit"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("start a command: %w", err)
	}
	if !s.kit.Runs() {
		s.note("refused: the command %s (commands are beyond this agent's capability)", p.Command)
		return nil, errors.New("commands are beyond this agent's capability")
	}
	dir, err := s.kit.Dir(p.Cwd)
	if err != nil {
		return nil, err
	}
	argv := append([]string{p.Command}, p.Args...)
	if len(p.Args) == 0 && strings.ContainsAny(p.Command, " \t\n|&;<>()$`") { // a line for a shell
		argv = []string{"sh", "-c", p.Command}
	}
	t := &terminal{done: make(chan struct{}), most: mostOutput}
	if p.Limit != nil {
		t.most = min(max(*p.Limit, 1), mostOutput)
	}
	x := plugin.Exec{Dir: dir, Stdout: t, Stderr: t}
	for _, v := range p.Env {
		x.Env = append(x.Env, v.Name+"="+v.Value)
	}
	return s.startTerminal(ctx, argv, x, t)
}

func (s *session) startTerminal(ctx context.Context, argv []string, x plugin.Exec, t *terminal) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.terminals) >= mostTerminal {
		return nil, fmt.Errorf("there are %d terminals: release some", mostTerminal)
	}
	var err error
	if t.proc, err = s.host.Command(ctx, argv, x); err != nil {
		return nil, err
	}
	id := "terminal-" + rand.Text()
	s.terminals[id] = t
	go func() { // until the command ends, at the latest with the run
		t.code, _ = t.proc.Wait()
		close(t.done)
	}()
	return map[string]any{"terminalId": id}, nil
}

func (s *session) terminal(raw json.RawMessage) (string, *terminal, error) {
	var p struct {
		ID string `json:"terminalId"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return "", nil, fmt.Errorf("find the terminal: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.terminals[p.ID]
	if t == nil {
		return p.ID, nil, fmt.Errorf("there is no terminal %q", p.ID)
	}
	return p.ID, t, nil
}

func (s *session) terminalOutput(_ context.Context, raw json.RawMessage) (any, error) {
	_, t, err := s.terminal(raw)
	if err != nil {
		return nil, err
	}
	status := t.status() // before the text: what it printed last is in that
	text, cut := t.text()
	return map[string]any{"output": s.host.Scrub.Text(text), "truncated": cut, "exitStatus": status}, nil
}

func (s *session) awaitTerminal(ctx context.Context, raw json.RawMessage) (any, error) {
	_, t, err := s.terminal(raw)
	if err != nil {
		return nil, err
	}
	select {
	case <-t.done:
		return t.status(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *session) killTerminal(_ context.Context, raw json.RawMessage) (any, error) {
	_, t, err := s.terminal(raw)
	if err != nil {
		return nil, err
	}
	t.proc.Kill()
	return map[string]any{}, nil
}

func (s *session) releaseTerminal(_ context.Context, raw json.RawMessage) (any, error) {
	id, t, err := s.terminal(raw)
	if err != nil {
		return nil, err
	}
	t.proc.Kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.terminals, id)
	return map[string]any{}, nil
}
