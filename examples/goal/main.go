// Command goal shows how a goal becomes a plan that a person approves: it copies a
// small service, asks a running Clearbox for a plan that adds a health endpoint with
// tests, waits until somebody approves it in the browser, follows the steps to their
// end and then runs the tests of the service itself.
//
//	clearbox &
//	go run ./examples/goal --agent NAME
//
// NAME is an agent profile that may edit and run commands. To see it without a model,
// run examples/goal/demo.sh: there a scripted model plans, works and judges. One of
// its steps passes its gate at the third attempt only, and one never does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

const goal = "Add a health endpoint with tests to this small Go service.\n\nGET /health says that the service is up and how many notes it holds."

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	server, agent, repo, dir string
	yes                      bool
	timeout, poll            time.Duration
}

func parse(args []string, errs io.Writer) (options, error) {
	port := os.Getenv("CLEARBOX_PORT")
	if port == "" {
		port = "8765"
	}
	var o options
	f := flag.NewFlagSet("goal", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.server, "server", "http://127.0.0.1:"+port, "address of Clearbox")
	f.StringVar(&o.agent, "agent", "openai", "agent profile that plans, works and judges")
	f.StringVar(&o.repo, "repo", "", "the service to copy; found by itself inside the source tree of Clearbox")
	f.StringVar(&o.dir, "dir", "", "empty or missing folder to copy it to; a new temporary one when left out")
	f.BoolVar(&o.yes, "yes", false, "approve the plan without looking at it")
	f.DurationVar(&o.timeout, "timeout", time.Hour, "how long it may take, with the wait for you")
	f.DurationVar(&o.poll, "poll", 500*time.Millisecond, "how often to look at the plan")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.poll <= 0 {
		return o, errors.New("--poll must be more than nothing")
	}
	o.server = strings.TrimRight(o.server, "/")
	return o, nil
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(errs, "goal:", err)
		return 2
	}
	if err := play(ctx, o, out); err != nil {
		fmt.Fprintln(errs, "goal:", err)
		return 1
	}
	return 0
}

func play(ctx context.Context, o options, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	dir, err := prepare(ctx, o.repo, o.dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The service is in %s.\n", dir)
	f := follower{options: o, out: out, seen: map[int64]string{}}
	if err := f.ask(ctx, dir); err != nil {
		return err
	}
	if err := f.follow(ctx); err != nil {
		return err
	}
	return test(ctx, dir, out)
}

// test runs the tests of the service, which are the proof.
func test(ctx context.Context, dir string, out io.Writer) error {
	fmt.Fprintf(out, "\n$ go test -v ./...\n")
	cmd := exec.CommandContext(ctx, "go", "test", "-v", "-count=1", "./...")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the tests in %s fail: %w", dir, err)
	}
	return nil
}
