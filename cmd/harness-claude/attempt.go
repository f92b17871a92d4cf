package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/leftover"
	"github.com/clearbox-go/clearbox/plugin/toolkit/stdio"
)

// errEnough ends a program whose run is decided: it failed for good, or its result is
// there and it does not leave.
var errEnough = errors.New("the run is decided")

// attempt is one process of the program.
type attempt struct {
	*session
	input    *stdio.Input
	stderr   *stdio.Tail
	ctx      context.Context // of the process
	giveUp   context.CancelCauseFunc
	asks     sync.WaitGroup
	resulted chan struct{} // closed when the result is there

	mu        sync.Mutex // guards what follows; lines come on a goroutine of the pipe
	over      bool       // what still comes is passed over
	code      int        // exit code, once over
	result    *resultLine
	fault     string // the program's word for what went wrong with the model
	said      string // its sentence on that
	status    int    // of HTTP
	rejected  bool   // by a limit of the login
	resets    time.Time
	budget    string // the run's own limit that was reached
	worked    bool   // the model called a tool
	text      string // its last words
	questions map[string]context.CancelFunc
}

func newAttempt(s *session) *attempt {
	return &attempt{session: s, input: stdio.NewInput(), stderr: &stdio.Tail{}, resulted: make(chan struct{}), questions: map[string]context.CancelFunc{}}
}

// play starts the program and returns when it and all that it started are gone. An
// error means that it could not be started or that the run was stopped.
func (a *attempt) play(ctx context.Context, l launch) error {
	a.ctx, a.giveUp = context.WithCancelCause(ctx)
	defer a.giveUp(nil)
	lines := &stdio.Lines{Max: stdio.MaxLine, Each: a.line, TooLong: a.tooLong}
	if err := a.greet(); err != nil {
		return err
	}
	p, err := a.host.Command(a.ctx, l.argv, plugin.Exec{Env: l.env, Stdin: a.input, Stdout: lines, Stderr: a.stderr})
	if err != nil {
		a.input.Close()
		return err
	}
	code := a.await(p)
	a.giveUp(nil)
	a.input.Close()
	a.finish(lines, code)
	a.asks.Wait()
	leftover.Kill(runMark + "=" + a.mark)
	if a.result == nil {
		return ctx.Err()
	}
	return nil // it was done before the stop came
}

// await waits for the end of the program, and brings it about once the result is there.
func (a *attempt) await(p plugin.Proc) int {
	exited := make(chan int, 1)
	go func() {
		code, _ := p.Wait() // why it was ended is known here
		exited <- code
	}()
	select {
	case code := <-exited:
		return code
	case <-a.resulted:
	}
	a.input.Close() // nothing more is asked of it
	farewell := time.NewTimer(a.h.pace.farewell)
	defer farewell.Stop()
	select {
	case code := <-exited:
		return code
	case <-farewell.C:
		a.note("the program did not leave after its result and is ended")
		a.giveUp(errEnough)
	}
	return <-exited
}

// finish takes the last line and closes the books.
func (a *attempt) finish(lines *stdio.Lines, code int) {
	lines.End()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over, a.code = true, code
	if tail := a.stderr.String(); tail != "" {
		a.emit(plugin.Log(tail, "stderr"))
	}
}

// greet queues what the program reads first: who judges its calls, and the prompt. The
// prompt has a block of its own with another one behind it, because the last block is
// searched for commands and for files to attach.
func (a *attempt) greet() error {
	hooks := map[string]any{}
	if names := a.guard.hooked(); len(names) > 0 {
		hooks["PreToolUse"] = []any{map[string]any{"matcher": strings.Join(names, "|"), "hookCallbackIds": []string{guardID}}}
	}
	err := a.input.Send(map[string]any{
		"type": "control_request", "request_id": initializeID,
		"request": map[string]any{"subtype": "initialize", "hooks": hooks},
	})
	if err != nil {
		return err
	}
	content := []any{
		map[string]any{"type": "text", "text": a.task.Prompt},
		map[string]any{"type": "text", "text": "That is the whole task. Begin."},
	}
	return a.input.Send(map[string]any{
		"type": "user", "message": map[string]any{"role": "user", "content": content},
		"parent_tool_use_id": nil, "session_id": "", "client_composed": true,
	})
}
