package main

import (
	"context"
	"fmt"
	"net/url"
	"time"
)

// questionsCommand lists what agents ask.
func questionsCommand(s *streams, f *flags) action {
	return listing(s, f, "/api/questions", func(ctx context.Context, c *client) error {
		asked, err := c.questions(ctx)
		if err != nil {
			return err
		}
		if len(asked) == 0 {
			fmt.Fprintln(s.out, "No agent asks anything.")
			return nil
		}
		var rows [][]string
		for i := range asked {
			q := &asked[i]
			rows = append(rows, []string{q.address(), plain(q.Tool), spanText(time.Since(moment(q.AskedAt))), q.ID, q.says()})
		}
		printTable(s.out, []column{{title: "STEP"}, {title: "TOOL", most: 20}, {"WAITS", 0, true}, {title: "QUESTION"}, {title: "TEXT"}}, rows)
		return nil
	})
}

// answerCommand answers what an agent asks.
func answerCommand(s *streams, f *flags) action {
	var message string
	f.add("", option{"message", "", "`text` for the agent, such as why not", text(&message, "")})
	r := remoteFlags(f)
	return func(ctx context.Context, args []string) error {
		answer := args[1]
		if answer != "allow" && answer != "deny" {
			return wrongUse("%q is no answer: it is allow or deny", answer)
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		q, err := c.question(ctx, args[0])
		if err != nil {
			return err
		}
		var told struct{ Delivered bool }
		if err := c.post(ctx, "/api/questions/"+url.PathEscape(q.ID), map[string]string{"answer": answer, "message": message}, &told); err != nil {
			return err
		}
		if !told.Delivered {
			fmt.Fprintf(s.out, "Noted: %s. The agent of step %s gets it when the server has found it again\n", answer, q.address())
			return nil
		}
		fmt.Fprintf(s.out, "Told the agent of step %s: %s\n", q.address(), answer)
		return nil
	}
}

// question finds an open question by its own name or by its step.
func (c *client) question(ctx context.Context, name string) (*question, error) {
	asked, err := c.questions(ctx)
	if err != nil {
		return nil, err
	}
	var found []question
	for _, q := range asked {
		if q.ID == name {
			return &q, nil
		}
		if q.address() == name {
			found = append(found, q)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("there is no open question %q: \"clearbox questions\" lists them", name)
	case 1:
		return &found[0], nil
	}
	return nil, fmt.Errorf("step %s asks %d things: name one of them as \"clearbox questions\" lists them", name, len(found))
}
