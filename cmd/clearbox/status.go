package main

import (
	"context"
	"fmt"
	"strconv"
)

const statusText = `
Shows the server, the plans that are under way, the steps that agents work on and
what waits for you. With no server it ends with exit code 1.

examples:
  clearbox status
  clearbox status --json | jq '.waiting | length'`

// overall is what is under way on a server.
type overall struct {
	Server    serverInfo    `json:"server"`
	Plans     []planSummary `json:"plans"`
	Active    []stepRef     `json:"active"`
	Waiting   []stepRef     `json:"waiting"`
	Questions []question    `json:"questions"`
	count     int           // of all plans
}

type serverInfo struct {
	URL     string `json:"url"`
	Version string `json:"version"`
}

type planSummary struct {
	ID       int    `json:"id"`
	Title    string `json:"title"`
	Status   string `json:"status"`
	Started  bool   `json:"started"`
	Done     int    `json:"done"`
	Total    int    `json:"total"`
	progress tally
}

// statusCommand shows what is under way.
func statusCommand(s *streams, f *flags) action {
	var asJSON bool
	f.add("", option{"json", "", "print JSON", truth(&asJSON)})
	r := remoteFlags(f)
	return func(ctx context.Context, _ []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		all, err := survey(ctx, c)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(s.out, all)
		}
		printStatus(s, all)
		return nil
	}
}

// survey asks a server what is under way.
func survey(ctx context.Context, c *client) (*overall, error) {
	all := &overall{Server: serverInfo{URL: c.base}, Plans: []planSummary{}, Active: []stepRef{}, Waiting: []stepRef{}, Questions: []question{}}
	if err := c.get(ctx, "/api/health", &all.Server); err != nil {
		return nil, err
	}
	list, err := c.plans(ctx)
	if err != nil {
		return nil, err
	}
	all.count = len(list)
	for _, p := range list {
		if !p.Started || p.Status == "done" {
			continue
		}
		all.Plans = append(all.Plans, planSummary{p.ID, p.Title, p.Status, p.Started, p.Progress.Done + p.Progress.Skipped, p.Progress.Total, p.Progress})
		if p.Progress.Running+p.Progress.Waiting == 0 {
			continue
		}
		v, err := c.plan(ctx, p.ID)
		if refused(err, 404) {
			continue // deleted just now
		} else if err != nil {
			return nil, err
		}
		all.Active, all.Waiting = append(all.Active, v.Active...), append(all.Waiting, v.Waiting...)
	}
	asked, err := c.questions(ctx)
	all.Questions = append(all.Questions, asked...)
	return all, err
}

func printStatus(s *streams, all *overall) {
	fmt.Fprintf(s.out, "Clearbox %s at %s/\n", all.Server.Version, all.Server.URL)
	if len(all.Plans) == 0 {
		fmt.Fprintf(s.out, "No plan is under way; there are %d in all.\n", all.count)
	} else {
		fmt.Fprintln(s.out, "\nplans under way:")
		var rows [][]string
		for _, p := range all.Plans {
			rows = append(rows, []string{" ", strconv.Itoa(p.ID), p.Status, p.progress.doneOf(), plain(p.Title)})
		}
		printTable(s.out, []column{{}, {right: true}, {}, {right: true}, {}}, rows)
	}
	printSteps(s, "at work:", all.Active, func(r stepRef) string { return r.AgentName })
	printSteps(s, "waiting for you:", all.Waiting, func(r stepRef) string { return "clearbox plan done " + r.address() })
	printQuestions(s, all.Questions)
}

func printSteps(s *streams, title string, steps []stepRef, last func(stepRef) string) {
	if len(steps) == 0 {
		return
	}
	fmt.Fprintf(s.out, "\n%s\n", title)
	var rows [][]string
	for _, r := range steps {
		rows = append(rows, []string{" ", r.address(), plain(r.Title), plain(last(r))})
	}
	printTable(s.out, []column{{}, {}, {most: 60}, {}}, rows)
}

func printQuestions(s *streams, asked []question) {
	if len(asked) == 0 {
		return
	}
	fmt.Fprintln(s.out, "\nasked of you:")
	for _, q := range asked {
		fmt.Fprintf(s.out, "  %s  %s\n      clearbox answer %s allow|deny\n", q.address(), q.says(), q.address())
	}
}
