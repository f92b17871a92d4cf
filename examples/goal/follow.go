package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

type object = map[string]any

// view is what is read of a plan.
type view struct {
	Status string     `json:"status"`
	Plan   planView   `json:"plan"`
	Nodes  []nodeView `json:"nodes"`
}

type planView struct {
	Approval string `json:"approval"`
	Revision int64  `json:"revision"`
}

type nodeView struct {
	ID       int64  `json:"node_id"`
	Title    string `json:"title"`
	Status   string `json:"status"`
	Attempts int    `json:"attempts"`
	Error    string `json:"error"`
}

// follower has a goal planned and tells what becomes of it.
type follower struct {
	options
	out  io.Writer
	plan int64
	seen map[int64]string // what was told of each step
	told string           // of the approval
}

// ask asks for the plan. That its steps are tested, and work in copies of the
// service, is for the person to say, not for the planner.
func (f *follower) ask(ctx context.Context, dir string) error {
	var made struct {
		PlanID int64 `json:"plan_id"`
	}
	in := object{"goal": goal, "working_directory": dir, "agent": f.agent, "constraints": "No new dependency."}
	if err := f.call(ctx, http.MethodPost, "/plans/from-goal", in, &made); err != nil {
		return fmt.Errorf("ask for a plan: %w", err)
	}
	f.plan = made.PlanID
	set := object{"check_command": "go test ./...", "isolation": "worktree"}
	if err := f.call(ctx, http.MethodPatch, f.path(""), set, nil); err != nil {
		return fmt.Errorf("set the check command of plan %d: %w", f.plan, err)
	}
	if err := f.call(ctx, http.MethodPut, f.path("/agent"), object{"agent": f.agent}, nil); err != nil {
		return fmt.Errorf("set the agent of plan %d: %w", f.plan, err)
	}
	fmt.Fprintf(f.out, "Plan %d is being made. Watch it at %s/plans/%d\n\n", f.plan, f.server, f.plan)
	return nil
}

func (f *follower) path(rest string) string { return fmt.Sprintf("/plans/%d%s", f.plan, rest) }

// follow returns when the plan is over. That a step failed is no error: what does
// not pass its gate is not let through.
func (f *follower) follow(ctx context.Context) error {
	tick := time.NewTicker(f.poll)
	defer tick.Stop()
	for {
		var v view
		if err := f.call(ctx, http.MethodGet, f.path(""), nil, &v); err != nil {
			return fmt.Errorf("read plan %d: %w", f.plan, err)
		}
		if over, err := f.tell(ctx, v); over || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("plan %d is not over: %w", f.plan, ctx.Err())
		}
	}
}

// tell says what is new, and whether the plan is over.
func (f *follower) tell(ctx context.Context, v view) (over bool, err error) {
	if state := fmt.Sprintf("%s %d", v.Plan.Approval, v.Plan.Revision); state != f.told {
		f.told = state
		if err := f.decided(ctx, v); err != nil {
			return true, err
		}
	}
	working := false // a plan counts as failed as soon as a step has, while others go on
	for _, n := range v.Nodes {
		working = working || n.Status == "pending" || n.Status == "ready" || n.Status == "running"
		state := n.Status
		if n.Attempts > 0 {
			state = fmt.Sprintf("%s, attempt %d", n.Status, n.Attempts)
		}
		if f.seen[n.ID] == state {
			continue
		}
		f.seen[n.ID] = state
		if n.Status != "pending" && n.Status != "ready" {
			fmt.Fprintf(f.out, "%d.%d %-18s %s%s\n", f.plan, n.ID, state, n.Title, because(n.Error))
		}
	}
	if over = !working && (v.Status == "done" || v.Status == "failed"); over {
		fmt.Fprintf(f.out, "\nPlan %d is %s.\n", f.plan, v.Status)
	}
	return over, nil
}

func because(text string) string {
	if text == "" {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	return ": " + line
}

// decided says where the plan stands with whoever approves it.
func (f *follower) decided(ctx context.Context, v view) error {
	switch v.Plan.Approval {
	case "awaiting":
		fmt.Fprintf(f.out, "Revision %d with %d steps waits for you: look at it in the browser, change what you like, and approve it.\n", v.Plan.Revision, len(v.Nodes))
		if !f.yes {
			return nil
		}
		if err := f.call(ctx, http.MethodPost, f.path("/approve"), object{"revision": v.Plan.Revision, "start": true}, nil); err != nil {
			return fmt.Errorf("approve plan %d: %w", f.plan, err)
		}
	case "approved":
		fmt.Fprintf(f.out, "Revision %d is approved.\n\n", v.Plan.Revision)
	case "planning_failed":
		return fmt.Errorf("plan %d could not be made: %s; see %s/plans/%d", f.plan, f.problems(ctx), f.server, f.plan)
	case "rejected":
		return fmt.Errorf("plan %d was rejected", f.plan)
	}
	return nil
}

// problems says why planning failed.
func (f *follower) problems(ctx context.Context) string {
	var list struct {
		Goal struct {
			Problems []string `json:"problems"`
		} `json:"goal"`
	}
	if err := f.call(ctx, http.MethodGet, f.path("/revisions"), nil, &list); err != nil {
		return err.Error()
	}
	return strings.Join(list.Goal.Problems, "; ")
}

// call calls a route of Clearbox and reads its answer into out, which may be nil.
func (f *follower) call(ctx context.Context, method, path string, in, out any) error {
	body := []byte(nil)
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	q, err := http.NewRequestWithContext(ctx, method, f.server+"/api"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("CLEARBOX_AUTH_TOKEN"); token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return fmt.Errorf("reach Clearbox at %s (is it running?): %w", f.server, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		return fmt.Errorf("%s %s answered %d: %s", method, path, res.StatusCode, bytes.TrimSpace(text))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
