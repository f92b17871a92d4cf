package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// player plays one run.
type player struct {
	task    plugin.Task
	host    plugin.Host
	speed   float64
	session string
	calls   int     // tool calls so far
	cost    float64 // what the result will say
}

// script plays directives until one of them ends the run.
func (p *player) script(ctx context.Context, script []directive) (plugin.Result, error) {
	for _, d := range script {
		if err := ctx.Err(); err != nil {
			return plugin.Result{}, err
		}
		if d.attempt != 0 && d.attempt != max(p.task.Attempt, 1) {
			continue
		}
		res, ended, err := p.play(ctx, d)
		if ended || err != nil {
			return res, err
		}
	}
	return p.done(fmt.Sprintf("Done: %s", p.task.Title)), nil
}

// play plays one directive. ended says that it ends the run.
func (p *player) play(ctx context.Context, d directive) (res plugin.Result, ended bool, err error) {
	switch d.verb {
	case "result":
		return p.done(d.text), true, nil
	case "fail":
		res = p.done(or(d.text, "Failed, as the script says."))
		res.IsError, res.Errors = true, []string{res.Text}
		return res, true, nil
	case "overload":
		res = p.done(or(d.text, "The provider is overloaded, as the script says."))
		res.Transient, res.Errors = true, []string{res.Text}
		return res, true, nil
	case "limit":
		return p.limited(d), true, nil
	case "hang":
		forever()
	case "sleep":
		err = p.wait(ctx, d.wait)
	case "sleep!":
		err = pause(ctx, d.wait)
	case "ask":
		err = p.ask(ctx, d.text)
	default:
		err = p.act(ctx, d)
	}
	return plugin.Result{}, false, err
}

// act plays a directive that neither ends the run nor waits.
func (p *player) act(ctx context.Context, d directive) error {
	emit := p.host.Emit
	switch d.verb {
	case "text":
		emit(plugin.Text(d.text, ""))
	case "thinking":
		emit(plugin.Thinking(d.text, ""))
	case "system":
		emit(plugin.System(d.text, plugin.SessionInfo{SessionID: p.session}))
	case "error":
		emit(plugin.Err(d.text))
	case "log":
		emit(plugin.Log(d.text, ""))
	case "usage":
		emit(plugin.Usage(d.n, d.m))
	case "cost":
		p.cost = d.usd
	case "flood":
		for i := int64(1); i <= d.n && ctx.Err() == nil; i++ {
			emit(plugin.Text(fmt.Sprintf("flood %d of %d", i, d.n), ""))
		}
	case "big":
		emit(plugin.Text(strings.Repeat("x", int(d.n)), ""))
	case "tool", "mcp", "write", "append", "read", "run":
		return p.tool(ctx, d)
	default:
		return p.misbehave(ctx, d)
	}
	return nil
}

// misbehave plays what a good harness never does.
func (p *player) misbehave(ctx context.Context, d directive) error {
	switch d.verb {
	case "stderr":
		fmt.Fprintln(os.Stderr, d.text)
	case "line":
		line := strings.Repeat("x", int(d.n))
		fmt.Println(line)
		fmt.Fprintln(os.Stderr, line)
	case "die":
		os.Exit(int(d.n))
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		forever()
	case "panic":
		panic(or(d.text, "as the script says"))
	case "spawn":
		proc, err := p.host.Command(ctx, []string{"sleep", fmt.Sprint(d.n)}, plugin.Exec{})
		if err != nil {
			return err
		}
		p.host.Emit(plugin.Log(fmt.Sprintf("spawned pid %d", proc.Pid()), ""))
	case "orphan":
		pid, err := orphan(int(d.n))
		if err != nil {
			return err
		}
		p.host.Emit(plugin.Log(fmt.Sprintf("orphan pid %d", pid), ""))
	default:
		return fmt.Errorf("line %d: the directive %s cannot be played", d.line, d.verb)
	}
	return nil
}

func (p *player) ask(ctx context.Context, text string) error {
	a, err := p.host.Ask(ctx, plugin.Question{Tool: "mock", Text: text})
	if err != nil {
		return err
	}
	answer := "allowed"
	if !a.Allow {
		answer = "refused"
	}
	if a.Message != "" {
		answer += ": " + a.Message
	}
	p.host.Emit(plugin.Text("answer: "+answer, ""))
	return nil
}

func (p *player) limited(d directive) plugin.Result {
	until := d.until
	if d.wait > 0 {
		until = time.Now().Add(d.wait)
	}
	res := p.done("The provider's limit is reached, as the script says.")
	res.RateLimited, res.Until, res.Errors = true, until, []string{res.Text}
	p.host.Emit(plugin.RateLimited(res.Text, until))
	return res
}

// done is a good result.
func (p *player) done(text string) plugin.Result {
	cost := p.cost
	return plugin.Result{Text: text, CostUSD: &cost, SessionID: p.session, Model: modelOf(p.task)}
}

// wait waits for d divided by the speed.
func (p *player) wait(ctx context.Context, d time.Duration) error {
	return pause(ctx, time.Duration(min(float64(d)/p.speed, float64(maxWait))))
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// refusal is why a tool call is not carried out; it does not end the run.
type refusal struct{ error }

func refuse(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

func isRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}
