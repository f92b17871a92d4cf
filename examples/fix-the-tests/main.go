// Command fix-the-tests shows a whole plan at work: it copies a small library whose
// tests fail, posts a plan of eight steps that makes them pass to a running Clearbox,
// starts it, follows it to its end and then runs the tests itself. Two of the steps
// share a file and take turns, results are handed on, and one step is yours.
//
//	clearbox &
//	go run ./examples/fix-the-tests --agent NAME
//
// NAME is an agent profile that may edit and run commands. To see it without a model,
// let ./examples/fix-the-tests/model play one; its documentation says how.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/examples/connect"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	server  string
	agent   string
	repo    string
	dir     string
	extra   string
	steps   texts
	yes     bool
	timeout time.Duration
	poll    time.Duration
}

// texts are further texts for the descriptions of steps, by key.
type texts map[string]string

func (t texts) String() string { return "" }

func (t texts) Set(s string) error {
	key, text, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("it must be KEY=TEXT")
	}
	t[key] = text
	return nil
}

func parse(args []string, errs io.Writer) (options, error) {
	o := options{steps: texts{}}
	f := flag.NewFlagSet("fix-the-tests", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.server, "server", connect.Server(), "address of Clearbox")
	f.StringVar(&o.agent, "agent", "openai", "agent profile that works on the steps")
	f.StringVar(&o.repo, "repo", "", "the library to copy; found by itself inside the source tree of Clearbox")
	f.StringVar(&o.dir, "dir", "", "empty or missing folder to copy it to; a new temporary one when left out")
	f.StringVar(&o.extra, "extra", "", "JSON file with further texts for steps: {\"key\": \"text\"}")
	f.Var(o.steps, "step-text", "further text for one step, as KEY=TEXT; can be repeated")
	f.BoolVar(&o.yes, "yes", false, "say yes to the step that is yours")
	f.DurationVar(&o.timeout, "timeout", 15*time.Minute, "how long the plan may take")
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
	return o, o.readExtra()
}

func (o options) readExtra() error {
	if o.extra == "" {
		return nil
	}
	data, err := os.ReadFile(o.extra)
	if err != nil {
		return fmt.Errorf("read further texts: %w", err)
	}
	more := texts{}
	if err := json.Unmarshal(data, &more); err != nil {
		return fmt.Errorf("read further texts from %s: %w", o.extra, err)
	}
	for key, text := range more {
		if _, given := o.steps[key]; !given {
			o.steps[key] = text
		}
	}
	return nil
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(errs, "fix-the-tests:", err)
		return 2
	}
	if err := play(ctx, o, out); err != nil {
		fmt.Fprintln(errs, "fix-the-tests:", err)
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
	fmt.Fprintf(out, "The library is in %s, and its tests fail.\n", dir)
	p, err := loadPlan(o, dir)
	if err != nil {
		return err
	}
	c, err := connect.To(ctx, "fix-the-tests", o.server)
	if err != nil {
		return err
	}
	defer c.Close()
	f := follower{client: c, options: o, out: out}
	if err := f.follow(ctx, p); err != nil {
		return err
	}
	return test(ctx, dir, out)
}

// test runs the tests of the library, which is the proof of the plan.
func test(ctx context.Context, dir string, out io.Writer) error {
	fmt.Fprintf(out, "\n$ go test ./...\n")
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "./...")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the tests in %s still fail: %w", dir, err)
	}
	return nil
}

// plan is the arguments of submit_plan.
type plan struct {
	Title            string      `json:"title"`
	Description      string      `json:"description"`
	TestInstructions string      `json:"test_instructions"`
	WorkingDirectory string      `json:"working_directory"`
	Nodes            []node      `json:"nodes"`
	Edges            [][2]string `json:"edges"`
}

type node struct {
	Key         string   `json:"key"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Kind        string   `json:"kind,omitempty"`
	Files       []string `json:"files,omitempty"`
	ResultsFrom []string `json:"results_from,omitempty"`
	Agent       string   `json:"agent,omitempty"`
}

// loadPlan reads the plan and makes it one for this run.
func loadPlan(o options, dir string) (plan, error) {
	var p plan
	if err := json.Unmarshal(planJSON, &p); err != nil {
		return p, fmt.Errorf("read plan.json: %w", err)
	}
	p.WorkingDirectory = dir
	left := maps.Clone(o.steps)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if text := left[n.Key]; text != "" {
			n.Description += "\n\n" + text
		}
		delete(left, n.Key)
		if n.Kind != "user" {
			n.Agent = o.agent
		}
	}
	if len(left) > 0 {
		return p, fmt.Errorf("the plan has no step %s", strings.Join(slices.Sorted(maps.Keys(left)), ", "))
	}
	return p, nil
}
