package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const fromGoalText = `
A planner, an agent of the server, looks at the folder and proposes a plan. Nothing
of it runs before a person has approved it; look at it on its page, or with
"clearbox plan show". GOAL is one argument, in quotes; - reads it from standard
input. With --wait the command ends when there is a proposal (exit code 0), or when
planning has failed (1).

examples:
  clearbox plan from-goal "Add a health endpoint, with tests" --wait
  clearbox plan from-goal - --dir ~/src/parser --constraints "no new dependency" < goal.md
  clearbox plan approve 3 --start`

const approveText = `
You approve what you have looked at: the command shows the plan and asks. Where
there is no terminal to ask on, name the revision that you looked at with
--revision; if the plan has been changed since, nothing is approved.

examples:
  clearbox plan approve 3
  clearbox plan approve 3 --start
  clearbox plan approve 3 --revision 2 --start --watch`

const reviseText = `
The planner makes the plan anew with what you say, knowing all that was said
before. FEEDBACK is one argument, in quotes; - reads it from standard input.

examples:
  clearbox plan revise 3 "one step for each endpoint, and tests first" --wait`

const rejectText = `
Ends the planning of a plan; nothing of it runs. It stays to be read, and can be
planned again from its page.

examples:
  clearbox plan reject 3
  clearbox plan reject 3 --reason "we buy this instead"`

// goalFlags are what from-goal is told.
type goalFlags struct {
	dir, constraints, agent string
	wait, asJSON            bool
}

// fromGoalCommand has a plan made from a goal.
func fromGoalCommand(s *streams, f *flags) action {
	var o goalFlags
	f.add("",
		option{"dir", "", "`folder` that the plan is about (default: this one)", text(&o.dir, "")},
		option{"constraints", "", "`text` that says what the plan must respect", text(&o.constraints, "")},
		option{"agent", "", "`name` of the agent that plans, instead of the server's", text(&o.agent, "")},
		waitFlag(&o.wait),
		option{"json", "", "print the server's answer", truth(&o.asJSON)})
	r := remoteFlags(f)
	return func(ctx context.Context, args []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		goal, err := argument(s.in, "GOAL", args[0])
		if err != nil {
			return err
		}
		dir, err := filepath.Abs(o.dir)
		if err != nil {
			return fmt.Errorf("find the folder: %w", err)
		}
		body := map[string]any{"goal": goal, "working_directory": dir, "constraints": o.constraints}
		if o.agent != "" {
			body["agent"] = o.agent
		}
		var made struct {
			PlanID int `json:"plan_id"`
		}
		if err := c.post(ctx, "/api/plans/from-goal", body, &made); err != nil {
			return err
		}
		if o.asJSON {
			err = printJSON(s.out, map[string]int{"plan_id": made.PlanID})
		} else {
			_, err = fmt.Fprintf(s.out, "Plan %d is being planned: %s/plans/%d\n", made.PlanID, c.base, made.PlanID)
		}
		if err != nil || !o.wait {
			return err
		}
		return o.proposed(ctx, s, c, made.PlanID)
	}
}

func waitFlag(to *bool) option {
	return option{"wait", "", "end when there is a proposal, and show it", truth(to)}
}

// argument returns an argument, or with - what is on standard input; there has to
// be something.
func argument(in io.Reader, name, given string) (string, error) {
	given, err := orInput(in, name, given)
	if err == nil && given == "" {
		err = wrongUse("%s is empty", name)
	}
	return given, err
}

// orInput returns a text, or with - what is on standard input.
func orInput(in io.Reader, name, given string) (string, error) {
	if given == "-" {
		b, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
		given = string(b)
	}
	return strings.TrimSpace(given), nil
}

// planningPause is how often a server is asked whether its planner is done.
const planningPause = 300 * time.Millisecond

// proposed waits until a plan is no longer being planned, and shows what came out.
func (o *goalFlags) proposed(ctx context.Context, s *streams, c *client, id int) error {
	for {
		v, err := c.plan(ctx, id)
		if err != nil {
			return err
		}
		if v.Plan.Approval != "planning" {
			return o.showProposed(ctx, s, c, v)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(planningPause):
		}
	}
}

func (o *goalFlags) showProposed(ctx context.Context, s *streams, c *client, v *planPage) error {
	if v.Plan.Approval == "planning_failed" {
		return planningFault(ctx, c, v.Plan.ID)
	}
	if o.asJSON {
		return nil
	}
	showPlan(s, c, v)
	if v.Plan.Approval == "awaiting" {
		fmt.Fprintf(s.out, "\n\"clearbox plan approve %d --start\" has it run, \"clearbox plan revise %d FEEDBACK\" has it changed.\n", v.Plan.ID, v.Plan.ID)
	}
	return nil
}

// planningFault says why planning failed.
func planningFault(ctx context.Context, c *client, id int) error {
	var page struct {
		Goal *struct{ Problems []string }
	}
	if err := c.get(ctx, planPath(id)+"/revisions", &page); err != nil {
		return err
	}
	why := "the planner gave no reason"
	if page.Goal != nil && len(page.Goal.Problems) > 0 {
		why = strings.Join(page.Goal.Problems, "; ")
	}
	return fmt.Errorf("planning plan %d failed: %s", id, plain(why))
}

// approveCommand approves a plan that was looked at.
func approveCommand(s *streams, f *flags) action {
	var revision int
	var start, follow bool
	f.add("",
		option{"revision", "", "`number` of the revision that you looked at; then it does not ask", number(&revision, 0)},
		option{"start", "", "start the plan too", truth(&start)},
		option{"watch", "", "start it and follow it, as \"clearbox plan watch\" does", truth(&follow)})
	return onPlan(f, func(ctx context.Context, c *client, id int, _ []string) (err error) {
		if f.given["revision"] && revision < 1 {
			return wrongUse("--revision: %d is no revision; the first is 1", revision)
		}
		if revision == 0 {
			if revision, err = lookedAt(ctx, s, c, id); err != nil {
				return err
			}
		}
		start = start || follow
		if err := c.post(ctx, planPath(id)+"/approve", map[string]any{"revision": revision, "start": start}, nil); err != nil {
			return err
		}
		next := fmt.Sprintf("\"clearbox plan start %d\" starts it", id)
		if start {
			next = "it is started: " + c.base + "/plans/" + strconv.Itoa(id)
		}
		fmt.Fprintf(s.out, "Approved revision %d of plan %d; %s\n", revision, id, next)
		if !follow {
			return nil
		}
		return watch(ctx, s, c, watchOptions{plan: id, patience: usualPatience})
	})
}

// lookedAt shows a plan that waits for approval, asks whether it is approved, and
// returns the revision that was shown.
func lookedAt(ctx context.Context, s *streams, c *client, id int) (int, error) {
	v, err := c.plan(ctx, id)
	if err != nil {
		return 0, err
	}
	if v.Plan.Approval != "awaiting" {
		return v.Plan.Revision, nil // the server says what is wrong
	}
	if _, ok := terminalOf(s.in); !ok {
		return 0, wrongUse("there is no terminal to ask on: look at the plan (\"clearbox plan show %d\") and give --revision %d", id, v.Plan.Revision)
	}
	showPlan(s, c, v)
	fmt.Fprintln(s.err)
	return v.Plan.Revision, confirm(s, fmt.Sprintf("Approve revision %d?", v.Plan.Revision), "nothing was approved")
}

// reviseCommand has the planner change its plan.
func reviseCommand(s *streams, f *flags) action {
	var o goalFlags
	f.add("", waitFlag(&o.wait))
	return onPlan(f, func(ctx context.Context, c *client, id int, rest []string) error {
		feedback, err := argument(s.in, "FEEDBACK", rest[0])
		if err != nil {
			return err
		}
		if err := c.post(ctx, planPath(id)+"/revise", map[string]string{"feedback": feedback}, nil); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Plan %d goes back to its planner\n", id)
		if !o.wait {
			return nil
		}
		return o.proposed(ctx, s, c, id)
	})
}

// rejectCommand rejects a plan that waits for approval.
func rejectCommand(s *streams, f *flags) action {
	var reason string
	f.add("", option{"reason", "", "`text` that says why; it is kept with the revision", text(&reason, "")})
	return onPlan(f, func(ctx context.Context, c *client, id int, _ []string) error {
		if err := c.post(ctx, planPath(id)+"/reject", map[string]string{"reason": reason}, nil); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "Rejected plan %d\n", id)
		return nil
	})
}
