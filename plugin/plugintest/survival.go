package plugintest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// reattach plays two deaths of the host: one in the middle of the run, with
// events on the way that were never acknowledged, and one before the result was
// recorded.
func (c *check) reattach(ctx context.Context) {
	p, conn, ok := c.start(ctx, c.o.Quick)
	if !ok {
		return
	}
	first, err := conn.client.Next(ctx, plugin.Request{Run: conn.run, Max: 1, Wait: 10 * time.Second})
	if err != nil {
		c.fail("read the first event: %v", err)
		return
	}
	run := conn.run
	conn.cut()
	if conn, ok = c.connect(p); !ok {
		return
	}
	conn.run = run
	var events []plugin.Event
	t, ok := c.read(ctx, conn, 0, func(e plugin.Event) { events = append(events, e) })
	if !ok {
		return
	}
	if len(first.Events) > 0 && (len(events) == 0 || string(events[0].Data) != string(first.Events[0].Data)) {
		c.fail("the second host got another first event than the first one")
	}
	conn.cut()
	if conn, ok = c.connect(p); !ok {
		return
	}
	again, err := conn.client.Next(ctx, plugin.Request{Run: run, After: t.last, Wait: time.Second})
	switch {
	case err != nil:
		c.fail("ask for the result again: %v", err)
	case !again.Done || len(again.Events) > 0:
		c.fail("the third host got %d events and a result: %t; want just the result", len(again.Events), again.Done)
	}
}

// death kills the harness. The connection must tell at once.
func (c *check) death(ctx context.Context) {
	task := c.o.Long
	if !known(task) {
		task = c.o.Quick
	}
	p, conn, ok := c.start(ctx, task)
	if !ok {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil {
		c.fail("kill the harness: %v", err)
		return
	}
	began := time.Now()
	_, err := conn.client.Attach(conn.run).Follow(ctx, 0, nowhere{})
	if !errors.Is(err, plugin.ErrLost) {
		c.fail("after the harness was killed, Follow returned %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		c.fail("its death was noticed only after %s: something else keeps the connection open", took.Round(time.Millisecond))
	}
}

// nowhere is a sink for a run that tells nothing.
type nowhere struct{}

func (nowhere) Push(context.Context, []plugin.Event) error { return nil }

func (nowhere) Answer(context.Context, plugin.Question) (plugin.Answer, error) {
	return plugin.Answer{}, nil
}

// letGo releases the run: the process must end by itself and leave nothing.
func (c *check) letGo(ctx context.Context) {
	task := c.o.Tools
	if !known(task) {
		task = c.o.Quick
	}
	p, conn, ok := c.start(ctx, task)
	if !ok {
		return
	}
	if _, ok := c.read(ctx, conn, 0, nil); !ok {
		return
	}
	if err := conn.client.Attach(conn.run).Close(); err != nil {
		c.fail("let go of the run: %v", err)
	}
	conn.cut()
	ctx, cancel := context.WithTimeout(ctx, c.o.LeaveGrace)
	defer cancel()
	if !p.exited(ctx) {
		c.fail("%s after the host let go of it, the process still runs, or something that holds its stderr", c.o.LeaveGrace)
		return
	}
	for len(c.survivors()) > 0 {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			c.fail("what it started outlives it: %s", commandLines(c.survivors()))
			return
		}
	}
}

func commandLines(pids []int) string {
	var out []string
	for _, pid := range pids {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		out = append(out, fmt.Sprintf("%d (%s)", pid, strings.TrimSpace(strings.ReplaceAll(string(b), "\x00", " "))))
	}
	return strings.Join(out, ", ")
}

// secret looks for the profile's secret wherever others can read.
func (c *check) secret(ctx context.Context) {
	secret := c.o.Profile.Secret
	if secret == "" {
		c.skip("the profile has no secret")
		return
	}
	p, conn, ok := c.start(ctx, c.o.Quick)
	if !ok {
		return
	}
	look := func(where, text string) {
		if strings.Contains(text, secret) {
			c.fail("the profile's secret is in %s", where)
		}
	}
	for _, name := range []string{"cmdline", "environ"} {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name)); err == nil {
			look("the "+name+" of the process", string(b))
		}
	}
	t, _ := c.read(ctx, conn, 0, func(e plugin.Event) { look(fmt.Sprintf("event %d (%s)", e.Seq, e.Kind), string(e.Data)) })
	look("the result", string(plugin.ResultEvent(t.result).Data))
	if r, err := conn.client.Check(ctx, c.o.Profile, false); err == nil {
		look("the report of Check", r.Detail+r.Credential+r.BaseURL)
	}
	look("stderr", p.stderr.String())
}
