package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/examples/connect"
)

type object = map[string]any

// view is what is read of get_plan's answer.
type view struct {
	PlanID int64      `json:"plan_id"`
	Status string     `json:"status"`
	Nodes  []nodeView `json:"nodes"`
}

type nodeView struct {
	ID      int64  `json:"node_id"`
	Title   string `json:"title"`
	Status  string `json:"status"`
	Waiting bool   `json:"waiting_for_user"`
	Result  string `json:"result"`
	Error   string `json:"error"`
}

// follower posts a plan, starts it and tells what happens to it.
type follower struct {
	options
	client *connect.Client
	out    io.Writer

	seen  map[int64]string // status of each node as it was told
	asked map[int64]bool   // user steps that were pointed out
}

// follow returns when the plan is done. A plan that failed is an error.
func (f *follower) follow(ctx context.Context, p plan) error {
	var posted struct {
		PlanID int64            `json:"plan_id"`
		Nodes  map[string]int64 `json:"nodes"`
	}
	if err := f.client.Call(ctx, "submit_plan", p, &posted); err != nil {
		return fmt.Errorf("post the plan: %w", err)
	}
	if err := f.client.Call(ctx, "start_plan", object{"plan_id": posted.PlanID}, nil); err != nil {
		return fmt.Errorf("start plan %d: %w", posted.PlanID, err)
	}
	fmt.Fprintf(f.out, "Plan %d is running. Watch it at %s\n\n", posted.PlanID, f.link(posted.PlanID))
	f.seen, f.asked = map[int64]string{}, map[int64]bool{}
	tick := time.NewTicker(f.poll)
	defer tick.Stop()
	for {
		var v view
		if err := f.client.Call(ctx, "get_plan", object{"plan_id": posted.PlanID}, &v); err != nil {
			return fmt.Errorf("read plan %d: %w", posted.PlanID, err)
		}
		if over, err := f.tell(ctx, v); over || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("plan %d is not done: %w", posted.PlanID, ctx.Err())
		}
	}
}

func (f *follower) link(plan int64) string { return fmt.Sprintf("%s/plans/%d", f.server, plan) }

// tell says what is new, and whether the plan is over.
func (f *follower) tell(ctx context.Context, v view) (over bool, err error) {
	for _, n := range v.Nodes {
		if f.seen[n.ID] != n.Status {
			f.seen[n.ID] = n.Status
			f.change(v.PlanID, n)
		}
		if n.Waiting && !f.asked[n.ID] {
			f.asked[n.ID] = true
			if err := f.ask(ctx, v.PlanID, n); err != nil {
				return true, err
			}
		}
	}
	switch v.Status {
	case "done":
		fmt.Fprintf(f.out, "\nPlan %d is done.\n", v.PlanID)
		return true, nil
	case "failed":
		return true, fmt.Errorf("plan %d failed: %s", v.PlanID, failures(v))
	}
	return false, nil
}

func (f *follower) change(plan int64, n nodeView) {
	switch n.Status {
	case "pending", "ready":
	case "done":
		fmt.Fprintf(f.out, "%d.%d %-8s %s: %s\n", plan, n.ID, n.Status, n.Title, firstLine(n.Result))
	default:
		fmt.Fprintf(f.out, "%d.%d %-8s %s\n", plan, n.ID, n.Status, n.Title)
	}
}

// ask points out a step that a person has to do, or does it.
func (f *follower) ask(ctx context.Context, plan int64, n nodeView) error {
	if !f.yes {
		fmt.Fprintf(f.out, "\nStep %d.%d is yours: %s.\nOpen %s, click the step, read what the others changed, and click \"Mark done\".\n\n", plan, n.ID, n.Title, f.link(plan))
		return nil
	}
	fmt.Fprintf(f.out, "%d.%d          %s: yes (as --yes says)\n", plan, n.ID, n.Title)
	args := object{"plan_id": plan, "node_id": n.ID, "result": "Yes, the changes are right."}
	if err := f.client.Call(ctx, "complete_node", args, nil); err != nil {
		return fmt.Errorf("complete step %d.%d: %w", plan, n.ID, err)
	}
	return nil
}

func failures(v view) string {
	var out []string
	for _, n := range v.Nodes {
		if n.Status == "failed" {
			out = append(out, fmt.Sprintf("step %d.%d (%s): %s", v.PlanID, n.ID, n.Title, n.Error))
		}
	}
	return strings.Join(out, "; ")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
