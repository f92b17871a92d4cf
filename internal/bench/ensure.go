package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// ensureScenario measures clearbox ensure, as hooks of sessions run it: when it
// has to start a server whose files the system has in its cache, and when one
// answers.
func ensureScenario() *scenario {
	starts := &figure{text: "clearbox ensure that starts a server, warm, p95", unit: "ms", sense: below, bar: 300}
	finds := &figure{text: "clearbox ensure that finds one, p95", unit: "ms"}
	return &scenario{name: "ensure", figures: []*figure{starts, finds}, run: func(ctx context.Context, r *round) error {
		port, err := freePort()
		if err != nil {
			return err
		}
		run := func(words ...string) (time.Duration, error) { return r.command(ctx, append(words, "--port", port)...) }
		flags := []string{"ensure", "--mock", "--db", filepath.Join(r.dir, "clearbox.sqlite")}
		defer run("stop")
		var started, found []float64
		for i := range r.sizes.starts + 1 {
			took, err := run(flags...)
			if err != nil {
				return err
			}
			again, err := run(flags...)
			if err != nil {
				return err
			}
			if _, err := run("stop"); err != nil {
				return err
			}
			if i > 0 { // the first one made the database
				started, found = append(started, millis(took)), append(found, millis(again))
			}
		}
		r.add(starts, percentile(started, 95))
		r.add(finds, percentile(found, 95))
		return nil
	}}
}

// command runs a command of clearbox to its end and returns how long it took.
func (r *round) command(ctx context.Context, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, "clearbox"), args...)
	cmd.Env = append(environment(), "XDG_DATA_HOME="+r.dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, errors.Join(fmt.Errorf("clearbox %s: %s", args[0], out.String()), err)
	}
	return time.Since(began), nil
}

// freePort returns a port that nobody listens on now.
func freePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer ln.Close()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port), nil
}
