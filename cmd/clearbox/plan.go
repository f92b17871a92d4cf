package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// listCommand lists the plans of a server.
func listCommand(s *streams, f *flags) action {
	return listing(s, f, "/api/plans", func(ctx context.Context, c *client) error {
		list, err := c.plans(ctx)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			fmt.Fprintln(s.out, `There is no plan yet. "clearbox plan submit FILE" posts one.`)
			return nil
		}
		var rows [][]string
		for _, p := range list {
			rows = append(rows, []string{strconv.Itoa(p.ID), p.state(), p.Progress.doneOf(), moment(p.CreatedAt).Local().Format("2006-01-02 15:04"),
				plain(p.Title), plain(p.WorkingDirectory)})
		}
		printTable(s.out, []column{{"PLAN", 0, true}, {title: "STATUS"}, {"DONE", 0, true}, {title: "CREATED"}, {title: "TITLE", most: 60}, {title: "FOLDER"}}, rows)
		return nil
	})
}

// state is a plan's status, and what else keeps it where it is.
func (p *planBrief) state() string {
	switch {
	case p.Approval == "awaiting":
		return "to approve"
	case p.Progress.Waiting+p.Progress.Asking > 0 && p.Started:
		return waitsForYou
	case p.Status == "running" && !p.Started:
		return "stopped"
	}
	return p.Status
}

// listing makes an action that shows what the server lists at a path; with --json
// it prints the answer instead.
func listing(s *streams, f *flags, path string, show func(context.Context, *client) error) action {
	var asJSON bool
	f.add("", option{"json", "", "print the server's answer", truth(&asJSON)})
	r := remoteFlags(f)
	return func(ctx context.Context, _ []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		if asJSON {
			return pass(ctx, s, c, path)
		}
		return show(ctx, c)
	}
}

// pass prints what the server answers, as it is.
func pass(ctx context.Context, s *streams, c *client, path string) error {
	var b []byte
	if err := c.get(ctx, path, &b); err != nil {
		return err
	}
	var v json.RawMessage
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("read the answer of %s: %w", c.base, err)
	}
	return printJSON(s.out, v)
}

// showCommand shows a plan with its steps, or one step.
func showCommand(s *streams, f *flags) action {
	var asJSON bool
	f.add("", option{"json", "", "print the server's answer", truth(&asJSON)})
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
		switch {
		case asJSON && node > 0:
			return pass(ctx, s, c, stepPath(id, node))
		case asJSON:
			return pass(ctx, s, c, planPath(id))
		case node > 0:
			return showStep(ctx, s, c, stepKey{id, node})
		}
		v, err := c.plan(ctx, id)
		if err != nil {
			return err
		}
		showPlan(s, c, v)
		return nil
	}
}

func showPlan(s *streams, c *client, v *planPage) {
	fmt.Fprintf(s.out, "Plan %d: %s\n", v.Plan.ID, plain(v.Plan.Title))
	printFields(s, [][2]string{
		{"status", v.Status + started(v)},
		{"steps", v.Progress.words()},
		{"folder", plain(v.WorkingDirectory)},
		{"page", c.base + "/plans/" + strconv.Itoa(v.Plan.ID)},
	})
	if len(v.Nodes) == 0 {
		return
	}
	fmt.Fprintln(s.out)
	var rows [][]string
	now := time.Now()
	for i := range v.Nodes {
		n := &v.Nodes[i]
		took := ""
		if d := n.took(now); d > 0 {
			took = spanText(d)
		}
		rows = append(rows, []string{glyphOf(n), n.address(), plain(n.Title), n.state(), plain(n.agent()), took})
	}
	printTable(s.out, []column{{}, {}, {most: 70}, {}, {}, {right: true}}, rows)
}

func started(v *planPage) string {
	switch {
	case v.Plan.Approval == "awaiting":
		return ", waits for approval"
	case v.Root.Started:
		return ", started (" + v.Root.Executor + ")"
	}
	return ", not started"
}

// state is a step's status with what it waits for or how far its subplan is.
func (v *stepView) state() string {
	switch w := v.waits(); {
	case w != "":
		return w
	case v.Progress != nil:
		return v.Status + " " + v.Progress.doneOf() + " in plan " + strconv.Itoa(v.SubplanID)
	}
	return v.Status
}

// glyphOf is a step's state as one sign.
func glyphOf(v *stepView) string {
	if v.WaitingForUser {
		return "?"
	}
	return glyphs[v.Status]
}

var glyphs = map[string]string{"pending": "·", "ready": "○", "running": "●", "done": "✓", "failed": "✗", "skipped": "–"}

func showStep(ctx context.Context, s *streams, c *client, at stepKey) error {
	var page struct {
		Node         stepView
		Predecessors []int
	}
	if err := c.get(ctx, stepPath(at.plan, at.node)+"?after=9007199254740991", &page); err != nil { // without its transcript
		return err
	}
	n := &page.Node
	needs := make([]string, len(page.Predecessors))
	for i, p := range page.Predecessors {
		needs[i] = address(at.plan, p)
	}
	took := ""
	if d := n.took(time.Now()); d > 0 {
		took = spanText(d)
	}
	fmt.Fprintf(s.out, "Step %s: %s\n", n.address(), plain(n.Title))
	printFields(s, [][2]string{
		{"status", n.state()}, {"agent", plain(n.agent())}, {"time", took}, {"needs", strings.Join(needs, ", ")},
		{"files", plain(strings.Join(n.Files, "  "))}, {"page", fmt.Sprintf("%s/plans/%d/nodes/%d", c.base, at.plan, at.node)},
	})
	for _, part := range [][2]string{{"task", n.Description}, {"result", n.Result}, {"error", n.Error}} {
		if part[1] != "" {
			fmt.Fprintf(s.out, "\n%s:\n%s\n", part[0], indent(plainText(part[1])))
		}
	}
	return nil
}

// printFields prints names and values under each other; empty ones are left out.
func printFields(s *streams, fields [][2]string) {
	for _, f := range slices.DeleteFunc(fields, func(f [2]string) bool { return f[1] == "" }) {
		fmt.Fprintf(s.out, "  %-8s %s\n", f[0], f[1])
	}
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}
