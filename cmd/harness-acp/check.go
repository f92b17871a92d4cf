package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
	"github.com/clearbox-go/clearbox/plugin/toolkit/secrets"
	"github.com/clearbox-go/clearbox/plugin/toolkit/stdio"
)

const greetTime = 30 * time.Second // the largest agents take ten to start

// Check implements [plugin.Harness]. With connect it starts the agent and greets it,
// which asks no model.
func (h *harness) Check(ctx context.Context, p plugin.Profile, connect bool) (plugin.Report, error) {
	scrub := secrets.New(p.Secret)
	r := plugin.Report{Credential: p.Credential}
	set, bad := readProfile(p)
	if bad == nil {
		bad = set.find()
	}
	switch {
	case bad != nil:
		r.Field, r.Detail = bad.Field, scrub.Text(bad.Text)
		return r, nil
	case p.Secret != "" && set.keyVar == "":
		r.Detail = fmt.Sprintf("%s is there. The profile's key is not given to it: params.key_var is empty. ", set.command[0])
	default:
		r.Detail = fmt.Sprintf("%s is there. ", set.command[0])
	}
	r.OK = true
	if connect {
		told, err := set.tryOut(ctx, p.Secret)
		reached := err == nil
		r.Reachable, r.OK = &reached, reached
		if err != nil {
			r.Field, told = "params.command", err.Error()
		}
		r.Detail += told
	}
	r.Detail = strings.TrimSpace(scrub.Text(r.Detail))
	return r, nil
}

// tryOut starts the agent up to its greeting and says what it told of itself.
func (s setup) tryOut(ctx context.Context, secret string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	stderr := &stdio.Tail{}
	p := newPeer(ctx, mute{stderr})
	out := p.lines()
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Env = append(os.Environ(), s.environment(secret)...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, stderr, time.Second
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", fmt.Errorf("it could not be started: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 32<<10)
		for {
			n, err := p.in.Read(buf)
			if err != nil {
				break
			}
			if _, err := in.Write(buf[:n]); err != nil {
				break
			}
		}
		in.Close()
	}()
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // what it told counts
		out.End()
		p.end()
	}()
	var i initialized
	err = p.call(ctx, "initialize", hello(false, false, false), &i)
	p.in.Close()
	cancel()
	<-exited
	<-ended
	p.asks.Wait()
	switch {
	case errors.Is(err, errGone), errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("it does not answer as an agent of the Agent Client Protocol does (%v): %s", err, strings.Join(strings.Fields(stderr.String()), " "))
	case err != nil:
		return "", err
	}
	return i.described(), i.understood()
}

// described is what an agent told of itself, in sentences.
func (i initialized) described() string {
	text := "It answers as an agent"
	if i.Agent != nil {
		text = fmt.Sprintf("It is %s %s", either(i.Agent.Title, i.Agent.Name), i.Agent.Version)
	}
	if !i.Capabilities.MCP.HTTP {
		text += "; it takes no MCP servers over HTTP, so it does without the tools of Clearbox"
	}
	var ways []string
	for _, m := range i.Methods {
		ways = append(ways, m.ID)
	}
	if len(ways) > 0 {
		text += "; ways to log in: " + strings.Join(ways, ", ")
	}
	return text + "."
}

// mute is a client that serves nothing.
type mute struct{ out *stdio.Tail }

func (mute) told(string, json.RawMessage) {}

func (mute) asked(_ context.Context, method string, _ json.RawMessage) (any, *rpcError) {
	return nil, &rpcError{Code: codeNoMethod, Message: method + " is not known here"}
}

func (m mute) odd(text string) { _, _ = m.out.Write([]byte(text + "\n")) }
