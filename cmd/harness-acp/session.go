package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit"
	"github.com/clearbox-go/clearbox/plugin/toolkit/leftover"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
	"github.com/clearbox-go/clearbox/plugin/toolkit/stdio"
)

// runMark names the variable by which everything that a run started is found at its end.
const runMark = "CLEARBOX_ACP_RUN"

// errEnough ends an agent whose run is decided.
var errEnough = errors.New("the run is decided")

// session is one run: one process of the agent.
type session struct {
	setup
	h      *harness
	task   plugin.Task
	host   secrets.Host
	kit    *toolkit.Kit
	mark   string
	stderr *stdio.Tail
	peer   *peer
	giveUp context.CancelCauseFunc

	agent  initialized
	id     string
	opened opened

	mu        sync.Mutex // guards what follows
	muted     bool       // what comes is the replay of a session
	begun     bool
	said      strings.Builder // of the message that is being written
	thinking  bool            // it is a thought
	words     string          // the last whole message
	calls     map[string]*call
	terminals map[string]*terminal
	cost      *float64
	context   int64 // tokens that the context held at most
	turns     int
	answered  bool   // a call was, since the last turn began
	breach    string // what the agent did without asking
	spent     string // the limit of the run that ended it
}

func (h *harness) open(set setup, t plugin.Task, host secrets.Host) (*session, error) {
	config, err := toolkit.ForTask(t, host)
	if err != nil {
		return nil, err
	}
	kit, err := toolkit.New(config)
	if err != nil {
		return nil, err
	}
	return &session{setup: set, h: h, task: t, host: host, kit: kit, mark: rand.Text(), stderr: &stdio.Tail{},
		calls: map[string]*call{}, terminals: map[string]*terminal{}}, nil
}

// run starts the agent, plays the session and returns when the agent and all that it
// started are gone.
func (s *session) run(ctx context.Context) (plugin.Result, error) {
	work, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	s.giveUp = giveUp
	s.peer = newPeer(work, s)
	out := s.peer.lines()
	env := append(s.environment(s.task.Profile.Secret), runMark+"="+s.mark)
	p, err := s.host.Command(work, s.command, plugin.Exec{Env: env, Stdin: s.peer.in, Stdout: out, Stderr: s.stderr})
	if err != nil {
		s.peer.in.Close()
		return plugin.Result{}, err
	}
	exited := make(chan int, 1)
	go func() {
		code, _ := p.Wait() // why it was ended is known here
		out.End()
		s.peer.end()
		exited <- code
	}()
	answer, err := s.play(work)
	code := s.leave(exited)
	leftover.Kill(runMark + "=" + s.mark)
	s.close()
	if ctx.Err() != nil && err != nil {
		return plugin.Result{SessionID: s.id}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verdict(answer, err, code), nil
}

// leave brings about the end of the program and returns its exit code.
func (s *session) leave(exited <-chan int) int {
	s.peer.in.Close()
	t := time.NewTimer(s.h.farewell)
	defer t.Stop()
	var code int
	select {
	case code = <-exited:
	case <-t.C:
		s.giveUp(errEnough)
		code = <-exited
	}
	s.giveUp(errEnough)
	s.peer.asks.Wait()
	return code
}

// play is the talk with the agent, from its greeting to its answer.
func (s *session) play(ctx context.Context) (answered, error) {
	var a answered
	if err := s.greet(ctx); err != nil {
		return a, err
	}
	if err := s.openSession(ctx); err != nil {
		return a, err
	}
	s.choose(ctx)
	s.begin()
	stop := context.AfterFunc(ctx, func() { s.peer.tell("session/cancel", map[string]any{"sessionId": s.id}) })
	defer stop()
	err := s.peer.call(ctx, "session/prompt", map[string]any{"sessionId": s.id, "prompt": s.prompt()}, &a)
	return a, err
}

// hello is what this side says of itself.
func hello(files, writes, terminals bool) map[string]any {
	return map[string]any{
		"protocolVersion": protocol,
		"clientCapabilities": map[string]any{
			"fs":       map[string]any{"readTextFile": files, "writeTextFile": writes},
			"terminal": terminals,
		},
		"clientInfo": map[string]any{"name": "clearbox", "title": "Clearbox", "version": version()},
	}
}

func (s *session) greet(ctx context.Context) error {
	if err := s.peer.call(ctx, "initialize", hello(true, s.kit.Writes(), s.kit.Runs()), &s.agent); err != nil {
		return err
	}
	return s.agent.understood()
}

func (i initialized) understood() error {
	if i.Version != protocol {
		return fmt.Errorf("the agent speaks version %d of the Agent Client Protocol, and this harness version %d: use another version of the agent", i.Version, protocol)
	}
	return nil
}

// servers are the MCP servers of the session: the tools of Clearbox.
func (s *session) servers() []any {
	if s.task.MCPURL == "" || !s.tools.WantsMCP() || !s.agent.Capabilities.MCP.HTTP {
		return []any{}
	}
	return []any{map[string]any{"type": "http", "name": ownServer, "url": s.task.MCPURL, "headers": []any{}}}
}

// openSession goes on with the session of the task where there is one and the agent
// can, or opens a new one.
func (s *session) openSession(ctx context.Context) error {
	params := map[string]any{"cwd": s.task.WorkDir, "mcpServers": s.servers()}
	if id := s.task.ResumeSession; id != "" {
		err := s.resume(ctx, id, params)
		if err == nil || ctx.Err() != nil || errors.Is(err, errGone) {
			return err
		}
		s.note("the session %s cannot be gone on with (%v): a new one begins", id, err)
		delete(params, "sessionId")
	}
	var o opened
	err := s.peer.call(ctx, "session/new", params, &o)
	if e := (*rpcError)(nil); errors.As(err, &e) && e.Code == codeAuth && s.auth != "" {
		if err := s.peer.call(ctx, "authenticate", map[string]any{"methodId": s.auth}, nil); err != nil {
			return err
		}
		err = s.peer.call(ctx, "session/new", params, &o)
	}
	if err == nil && o.SessionID == "" {
		err = errors.New("the agent opened a session without an id")
	}
	if err != nil {
		return err
	}
	s.took(o, o.SessionID)
	return nil
}

// took keeps an open session.
func (s *session) took(o opened, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened, s.id = o, id
}

func (s *session) resume(ctx context.Context, id string, params map[string]any) error {
	method := "session/load"
	switch {
	case s.agent.Capabilities.Session.Resume != nil:
		method = "session/resume"
	case !s.agent.Capabilities.Load:
		return errors.New("the agent keeps no sessions")
	}
	params["sessionId"] = id
	s.mute(true) // session/load tells the whole session again
	defer s.mute(false)
	var o opened
	if err := s.peer.call(ctx, method, params, &o); err != nil {
		return err
	}
	s.took(o, id)
	return nil
}

func (s *session) mute(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muted = on
}

// choose sets the mode and the model. An agent that does not take them goes on with
// its own, which is told.
func (s *session) choose(ctx context.Context) {
	if s.mode != "" {
		if err := s.peer.call(ctx, "session/set_mode", map[string]any{"sessionId": s.id, "modeId": s.mode}, nil); err != nil {
			s.emit(plugin.Err(fmt.Sprintf("the agent did not take the mode %q: %v", s.mode, err)))
		}
	}
	model := s.task.Profile.Model
	if model == "" {
		return
	}
	err := errors.New("it offers no choice of models")
	o := s.opened
	if i := slices.IndexFunc(o.Options, func(c struct {
		ID       string `json:"id"`
		Category string `json:"category"`
	}) bool {
		return c.Category == "model" || c.ID == "model"
	}); i >= 0 {
		err = s.peer.call(ctx, "session/set_config_option", map[string]any{"sessionId": s.id, "configId": o.Options[i].ID, "value": model}, nil)
	} else if o.Models != nil {
		err = s.peer.call(ctx, "session/set_model", map[string]any{"sessionId": s.id, "modelId": model}, nil)
	}
	if err != nil {
		s.emit(plugin.Err(fmt.Sprintf("the agent did not take the model %q: %v", model, err)))
	}
}

// begin tells that the session started, and what is not as one may think.
func (s *session) begin() {
	s.mu.Lock()
	s.begun = true
	s.mu.Unlock()
	s.emit(plugin.System("session started", plugin.SessionInfo{SessionID: s.id, Model: s.task.Profile.Model, Cwd: s.task.WorkDir}))
	if s.task.MCPURL != "" && s.tools.WantsMCP() && !s.agent.Capabilities.MCP.HTTP {
		s.emit(plugin.Err("the tools of Clearbox are not there in this run: the agent takes no MCP servers over HTTP"))
	}
	if s.task.Allowed != plugin.Full {
		s.note("the capability %s holds for files and commands that the agent asks of Clearbox and for what it asks permission for", s.task.Allowed)
	}
}

// prompt is the system text and the task, a block each: the protocol has no place of
// its own for the former.
func (s *session) prompt() []any {
	var out []any
	system := []string{strings.TrimSpace(s.task.System)}
	if own := strings.TrimSpace(s.task.Profile.SystemAppend); !strings.Contains(s.task.System, own) {
		system = append(system, own)
	}
	for _, text := range []string{strings.TrimSpace(strings.Join(system, "\n\n")), s.task.Prompt} {
		if text != "" {
			out = append(out, map[string]any{"type": "text", "text": text})
		}
	}
	return out
}

func (s *session) emit(e plugin.Event) { s.host.Emit(e) }

// note tells something that is only for who looks for a fault.
func (s *session) note(format string, args ...any) {
	s.emit(plugin.Log(fmt.Sprintf(format, args...), ""))
}

// odd takes a line of the agent that is no message.
func (s *session) odd(text string) { _, _ = s.stderr.Write([]byte(text + "\n")) }

// asked serves what the agent asks of its client.
func (s *session) asked(ctx context.Context, method string, params json.RawMessage) (any, *rpcError) {
	serve, ok := map[string]func(context.Context, json.RawMessage) (any, error){
		"session/request_permission": s.permit,
		"fs/read_text_file":          s.readFile,
		"fs/write_text_file":         s.writeFile,
		"terminal/create":            s.createTerminal,
		"terminal/output":            s.terminalOutput,
		"terminal/wait_for_exit":     s.awaitTerminal,
		"terminal/kill":              s.killTerminal,
		"terminal/release":           s.releaseTerminal,
	}[method]
	if !ok {
		return nil, &rpcError{Code: codeNoMethod, Message: method + " is not known here"}
	}
	result, err := serve(ctx, params)
	if err != nil {
		return nil, &rpcError{Code: codeInvalid, Message: err.Error()}
	}
	return result, nil
}
