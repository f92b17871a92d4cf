// Command mixed-agents builds a plan that two agents share: a cheap one does the
// mechanical work, a strong one what needs judgement. The plan looks at a
// repository and changes nothing.
//
//	clearbox &
//	go run ./examples/mixed-agents --repo ~/src/project --cheap local --strong claude --start
//
// Without a model, for nothing: clearbox --mock, and --mock here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/clearbox-go/clearbox/examples/connect"
)

type object = map[string]any

// options are what the command line says.
type options struct {
	server, repo, cheap, strong string
	mock, start                 bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run builds the plan and returns an exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	o := options{}
	f := flag.NewFlagSet("mixed-agents", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.server, "server", connect.Server(), "address of Clearbox")
	f.StringVar(&o.repo, "repo", ".", "the `folder` to look at")
	f.StringVar(&o.cheap, "cheap", "", "agent `profile` for the mechanical steps (default: openai)")
	f.StringVar(&o.strong, "strong", "", "agent `profile` for the steps that need judgement (default: claude)")
	f.BoolVar(&o.mock, "mock", false, "make two mock agents and use those: no model, no cost")
	f.BoolVar(&o.start, "start", false, "start the plan at once")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if err := build(ctx, o, out); err != nil {
		fmt.Fprintln(errs, "mixed-agents:", err)
		return 1
	}
	return 0
}

func build(ctx context.Context, o options, out io.Writer) error {
	repo, err := filepath.Abs(o.repo)
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	c, err := connect.To(ctx, "mixed-agents", o.server)
	if err != nil {
		return err
	}
	defer c.Close()
	p := &planner{Client: c, ctx: ctx}
	if err := p.cast(&o, out); err != nil {
		return err
	}
	p.build(repo, o)
	if o.start {
		p.do("start_plan", object{"plan_id": p.plan}, nil)
	}
	if p.err != nil {
		return p.err
	}
	fmt.Fprintf(out, "Plan %d: %s/plans/%d\n", p.plan, o.server, p.plan)
	return nil
}

// planner builds a plan step by step, as a model does that thinks while it goes.
// After an error it does nothing more.
type planner struct {
	*connect.Client
	ctx  context.Context
	plan int
	err  error
}

func (p *planner) do(tool string, args object, out any) {
	if p.err == nil {
		if p.err = p.Call(p.ctx, tool, args, out); p.err != nil {
			p.err = fmt.Errorf("%s: %w", tool, p.err)
		}
	}
}

// profile is an agent as list_agents shows it.
type profile struct {
	ID      int
	Name    string
	Harness string
}

// cast finds the two agents, or makes them where mock ones are wanted, and tests
// the cheap one.
func (p *planner) cast(o *options, out io.Writer) error {
	var known struct{ Result []profile }
	if p.do("list_agents", object{}, &known); p.err != nil {
		return p.err
	}
	byName := map[string]profile{}
	for _, a := range known.Result {
		byName[a.Name] = a
	}
	for _, role := range []struct {
		name         *string
		usual, mocks string
	}{{&o.cheap, "openai", "mock-cheap"}, {&o.strong, "claude", "mock-strong"}} {
		if *role.name == "" {
			*role.name = role.usual
			if o.mock {
				*role.name = role.mocks
			}
		}
		a, ok := byName[*role.name]
		if !ok && !o.mock {
			return fmt.Errorf("there is no agent %q: name another with --cheap and --strong, make it on the agents page, or use --mock", *role.name)
		}
		if !ok {
			if err := p.Post(p.ctx, "/api/agents", object{"name": *role.name, "harness": "mock", "max_parallel": 1}, &a); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%s runs on %s\n", a.Name, a.Harness)
		byName[*role.name] = a
	}
	var report struct {
		OK     bool
		Detail string
	}
	if err := p.Post(p.ctx, fmt.Sprintf("/api/agents/%d/test", byName[o.cheap].ID), object{}, &report); err != nil {
		return err
	}
	if !report.OK {
		return fmt.Errorf("agent %q does not work: %s", o.cheap, report.Detail)
	}
	return nil
}

// build makes the plan. A step's agent is its own, else the plan's: the three ways
// to choose one are all here.
func (p *planner) build(repo string, o options) {
	var made struct{ Result int }
	p.do("create_plan", object{"title": "Look at " + filepath.Base(repo), "working_directory": repo,
		"description": "Assess the architecture of this repository. Nothing is changed: look only, and say what you found."}, &made)
	p.plan = made.Result
	p.do("set_plan_agent", object{"plan_id": p.plan, "agent": o.cheap}, nil) // for all steps that name none
	files := p.step(object{"title": "List the packages", "description": "List the folders with source code, and for each in one line what it is for."})
	tests := p.step(object{"title": "List the tests", "description": "List the test files, what each covers, and how the tests are run."})
	assess := p.step(object{"title": "Assess the architecture", "agent": o.strong, // this one from the start
		"description":  "From the two inventories and the sources: how do the parts depend on each other, and what is not tested?",
		"results_from": []int{files, tests}})
	review := p.step(object{"title": "Review the assessment", "description": "Is every claim of the assessment right? Check it in the sources.",
		"results_from": []int{assess}})
	p.do("update_node", object{"plan_id": p.plan, "node_id": review, "agent": o.strong}, nil) // this one later
	for _, edge := range [][2]int{{files, assess}, {tests, assess}, {assess, review}} {
		p.do("add_edge", object{"plan_id": p.plan, "from_node_id": edge[0], "to_node_id": edge[1]}, nil)
	}
}

func (p *planner) step(args object) int {
	args["plan_id"] = p.plan
	var made struct{ Result [2]int }
	p.do("add_node", args, &made)
	return made.Result[1]
}
