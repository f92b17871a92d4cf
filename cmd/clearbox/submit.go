package main

import (
	"context"
	"encoding/json"
	"fmt"
)

const submitText = `
The file holds one plan in YAML or JSON; - reads standard input. All or nothing:
when something is wrong, nothing is created, and every fault is named with its
line. The plan waits to be started unless --start or --watch says otherwise.

Without working_directory the plan works in the current folder; a relative one
begins at the file. The fields are those of POST /api/plans:

  title: Mend the parser
  description: What every step's agent has to know.
  nodes:
    - key: fix
      title: Fix the parser
      description: Make the tests in parser_test.go pass.
      files: [parser.go]
    - key: look
      kind: user
      title: Look at the change
    - key: docs
      title: Describe the change in README.md
      files: [README.md]
      results_from: [fix]
  edges:
    - [fix, look]
    - [look, docs]

examples:
  clearbox plan submit plan.yaml
  clearbox plan submit plan.yaml --dir ~/src/parser --start --watch
  make-plan | clearbox plan submit - --json | jq .plan_id`

// submission is what submit is told.
type submission struct {
	dir, executor        string
	start, watch, asJSON bool
}

// submitCommand posts a plan.
func submitCommand(s *streams, f *flags) action {
	var o submission
	f.add("",
		option{"start", "", "start the plan at once", truth(&o.start)},
		option{"watch", "", "start it and follow it, as \"clearbox plan watch\" does", truth(&o.watch)},
		executorFlag(&o.executor),
		option{"dir", "", "`folder` that the plan works in, instead of what the file says", text(&o.dir, "")},
		option{"json", "", "print the server's answer", truth(&o.asJSON)})
	r := remoteFlags(f)
	return func(ctx context.Context, args []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		p, err := readPlanFile(s.in, args[0])
		if err != nil {
			return err
		}
		if err := p.setFolder(o.dir); err != nil {
			return err
		}
		return o.post(ctx, s, c, p)
	}
}

// post posts a plan that was read, and does what follows.
func (o submission) post(ctx context.Context, s *streams, c *client, p *planFile) error {
	var answer json.RawMessage
	if err := c.post(ctx, "/api/plans", p.Body, &answer); err != nil {
		return p.explain(err)
	}
	var made struct {
		PlanID int `json:"plan_id"`
		Nodes  map[string]int
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	o.start = o.start || o.watch || o.executor != ""
	if o.asJSON {
		if err := printJSON(s.out, answer); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(s.out, "Plan %d with %s: %s/plans/%d\n", made.PlanID, count(len(made.Nodes), "step"), c.base, made.PlanID)
	}
	if !o.start {
		if !o.asJSON {
			fmt.Fprintf(s.out, "It waits: \"clearbox plan start %d\" starts it.\n", made.PlanID)
		}
		return nil
	}
	if err := c.start(ctx, made.PlanID, o.executor); err != nil {
		return fmt.Errorf("plan %d is there, but it could not be started: %w", made.PlanID, err)
	}
	if !o.watch {
		return nil
	}
	return watch(ctx, s, c, watchOptions{plan: made.PlanID, asJSON: o.asJSON, patience: usualPatience})
}
