package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// startPlanCommand starts a plan.
func startPlanCommand(s *streams, f *flags) action {
	var by string
	f.add("", executorFlag(&by))
	return onPlan(f, func(ctx context.Context, c *client, id int, _ []string) error {
		if err := c.start(ctx, id, by); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Started plan %d: %s/plans/%d\n", id, c.base, id)
		return nil
	})
}

func executorFlag(to *string) option {
	return option{"executor", "", "`who` runs the steps: builtin (agents of the server) or external (they are claimed over MCP) (default builtin)", text(to, "")}
}

func (c *client) start(ctx context.Context, id int, executor string) error {
	body := map[string]string{}
	if executor != "" {
		body["executor"] = executor
	}
	return c.post(ctx, planPath(id)+"/start", body, nil)
}

// stopPlanCommand stops a plan or one step.
func stopPlanCommand(s *streams, f *flags) action {
	return onPlanOrStep(f, func(ctx context.Context, c *client, id, node int) error {
		if node > 0 {
			if err := c.post(ctx, stepPath(id, node)+"/stop", nil, nil); err != nil {
				return err
			}
			fmt.Fprintf(s.out, "Stopped step %s: it is failed now, and can be retried\n", address(id, node))
			return nil
		}
		if err := c.post(ctx, planPath(id)+"/stop", nil, nil); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Stopped plan %d: \"clearbox plan start %d\" goes on with it\n", id, id)
		return nil
	})
}

// retryCommand runs failed steps again.
func retryCommand(s *streams, f *flags) action {
	return onPlanOrStep(f, func(ctx context.Context, c *client, id, node int) error {
		if node > 0 {
			if err := c.post(ctx, stepPath(id, node)+"/retry", nil, nil); err != nil {
				return err
			}
			fmt.Fprintf(s.out, "Retrying step %s\n", address(id, node))
			return nil
		}
		var done struct{ Count int }
		if err := c.post(ctx, planPath(id)+"/retry-failed", nil, &done); err != nil {
			return err
		}
		if done.Count == 0 {
			fmt.Fprintf(s.out, "No step of plan %d has failed\n", id)
			return nil
		}
		fmt.Fprintf(s.out, "Retrying %s of plan %d\n", count(done.Count, "failed step"), id)
		return nil
	})
}

// onPlan makes an action of one that is told a plan, and what else was given.
func onPlan(f *flags, do func(ctx context.Context, c *client, id int, rest []string) error) action {
	r := remoteFlags(f)
	return func(ctx context.Context, args []string) error {
		id, err := planID(args[0])
		if err != nil {
			return err
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		return do(ctx, c, id, args[1:])
	}
}

// onPlanOrStep makes an action of one that is told a plan, or a step with a node
// above 0.
func onPlanOrStep(f *flags, do func(ctx context.Context, c *client, id, node int) error) action {
	r := remoteFlags(f)
	return func(ctx context.Context, args []string) error {
		id, node, err := planOrStep(args[0])
		if err != nil {
			return err
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		return do(ctx, c, id, node)
	}
}

// doneCommand marks a step done, as the person does who did it.
func doneCommand(s *streams, f *flags) action {
	var result string
	f.add("", option{"result", "", "`text` that later steps may read, such as a link; - reads it from standard input", text(&result, "")})
	return onPlanOrStep(f, func(ctx context.Context, c *client, id, node int) error {
		if node == 0 {
			return wrongUse("plan done needs a step, such as %d.2", id)
		}
		body := map[string]string{}
		if f.given["result"] {
			text, err := orInput(s.in, "the result", result)
			if err != nil {
				return err
			}
			body["result"] = text
		}
		if err := c.post(ctx, stepPath(id, node)+"/complete", body, nil); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Step %s is done\n", address(id, node))
		return nil
	})
}

// deleteCommand removes a plan, when that is confirmed.
func deleteCommand(s *streams, f *flags) action {
	var yes bool
	f.add("", option{"yes", "", "do not ask", truth(&yes)})
	return onPlan(f, func(ctx context.Context, c *client, id int, _ []string) error {
		v, err := c.plan(ctx, id)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("plan %d, %q, with %s and all that they did", id, plain(v.Plan.Title), count(v.Progress.Total, "step"))
		if !yes {
			if _, ok := terminalOf(s.in); !ok {
				return wrongUse("there is no terminal to ask on: give --yes")
			}
			if err := confirm(s, "Delete "+what+"?", "nothing was deleted"); err != nil {
				return err
			}
		}
		if err := c.call(ctx, request{"DELETE", planPath(id), nil}, nil); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Deleted %s\n", what)
		return nil
	})
}

// terminalOf returns the terminal that input comes from; ok is false where nobody
// can be asked.
func terminalOf(in io.Reader) (f *os.File, ok bool) {
	f, ok = in.(*os.File)
	return f, ok && isTerminal(f)
}

// confirm asks on the terminal; no is the error when the answer is not yes.
func confirm(s *streams, question, no string) error {
	fmt.Fprintf(s.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(s.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read your answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New(no)
}

// count is a number with what is counted.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
