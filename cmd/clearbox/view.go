package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What the commands read of the server's answers.

// tally counts the steps of a plan by state.
type tally struct {
	Total, Pending, Ready, Running, Done, Failed, Skipped, Waiting, Asking int
}

// planBrief is a plan in the list of plans.
type planBrief struct {
	ID               int
	Title            string
	Started          bool
	Executor         string
	Status           string
	Approval         string
	Progress         tally
	CreatedAt        float64 `json:"created_at"`
	WorkingDirectory string  `json:"working_directory"`
}

// planPage is one plan with its steps.
type planPage struct {
	Plan struct {
		ID          int
		Title       string
		Description string
		Approval    string
		Revision    int
		CreatedAt   float64 `json:"created_at"`
		StartedAt   float64 `json:"started_at"`
		FinishedAt  float64 `json:"finished_at"`
	}
	WorkingDirectory string `json:"working_directory"`
	Root             struct {
		ID       int
		Started  bool
		Executor string
	}
	Status   string
	Progress tally
	Active   []stepRef
	Waiting  []stepRef
	Nodes    []stepView
	Edges    [][2]int
}

// stepRef names a step that is at work or waits for a person.
type stepRef struct {
	PlanID    int    `json:"plan_id"`
	NodeID    int    `json:"node_id"`
	Title     string `json:"title"`
	AgentName string `json:"agent_name,omitempty"`
}

func (r stepRef) address() string { return address(r.PlanID, r.NodeID) }

// stepView is one step.
type stepView struct {
	PlanID         int `json:"plan_id"`
	NodeID         int `json:"node_id"`
	Title          string
	Description    string
	Status         string
	Phase          string
	PhaseSince     float64 `json:"phase_since"`
	Kind           string
	WaitingForUser bool   `json:"waiting_for_user"`
	AgentName      string `json:"agent_name"`
	Agent          *struct{ Name, Harness, Model string }
	SubplanID      int `json:"subplan_id"`
	Progress       *tally
	Files          []string
	BlockedBy      *struct {
		PlanID int `json:"plan_id"`
		NodeID int `json:"node_id"`
		Reason string
	} `json:"blocked_by"`
	Hold       *struct{ Reason string }
	Result     string
	Error      string
	NotBefore  float64 `json:"not_before"`
	StartedAt  float64 `json:"started_at"`
	FinishedAt float64 `json:"finished_at"`
}

func (v *stepView) address() string { return address(v.PlanID, v.NodeID) }

func address(plan, node int) string { return strconv.Itoa(plan) + "." + strconv.Itoa(node) }

// agent is who does the step, or would.
func (v *stepView) agent() string {
	switch {
	case v.Kind == "user":
		return "you"
	case v.AgentName != "":
		return v.AgentName
	case v.Agent != nil && v.SubplanID == 0:
		return v.Agent.Name
	}
	return ""
}

// took is how long the step was, or is, at work.
func (v *stepView) took(now time.Time) time.Duration {
	switch {
	case v.StartedAt == 0:
		return 0
	case v.FinishedAt > v.StartedAt:
		return duration(v.FinishedAt - v.StartedAt)
	case v.Status == "running":
		return max(0, now.Sub(moment(v.StartedAt)))
	}
	return 0
}

func moment(unix float64) time.Time { return time.UnixMicro(int64(unix * 1e6)) }

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// spanText writes a time span as people say it.
func spanText(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

const waitsForYou = "waits for you"

// waits says what a step waits for that has not started, "" when for others.
func (v *stepView) waits() string {
	switch {
	case v.Status != "ready":
		return ""
	case v.WaitingForUser:
		return waitsForYou
	case v.BlockedBy != nil:
		return "waits for the files of " + address(v.BlockedBy.PlanID, v.BlockedBy.NodeID)
	case v.Phase == "limit" && v.Hold != nil && v.Hold.Reason == "trying":
		return "waits for the limit: one run tries again"
	case v.Phase == "limit" && v.NotBefore > 0:
		return "waits for the limit, until " + moment(v.NotBefore).Local().Format("15:04")
	case v.Phase == "slot":
		return "waits for a free agent"
	case v.Phase == "budget":
		return "waits: the budget is used up"
	}
	return ""
}

// doneOf says how far a plan is.
func (t tally) doneOf() string {
	return fmt.Sprintf("%d/%d", t.Done+t.Skipped, t.Total)
}

// words says what the steps of a plan are at.
func (t tally) words() string {
	var out []string
	for _, part := range []struct {
		n    int
		what string
	}{{t.Running, "running"}, {t.Waiting + t.Asking, "waiting for you"}, {t.Failed, "failed"}, {t.Ready - t.Waiting, "ready"},
		{t.Pending, "pending"}, {t.Done, "done"}, {t.Skipped, "skipped"}} {
		if part.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(out, ", ")
}

// question is what an agent asks of a person.
type question struct {
	ID      string  `json:"id"`
	PlanID  int     `json:"plan_id"`
	NodeID  int     `json:"node_id"`
	Tool    string  `json:"tool"`
	Text    string  `json:"text"`
	AskedAt float64 `json:"asked_at"`
	Until   float64 `json:"until"`
}

func (q *question) address() string { return address(q.PlanID, q.NodeID) }

// says is what the question is, in one line.
func (q *question) says() string {
	text := plain(q.Text)
	if text == "" {
		return "may it use " + plain(q.Tool) + "?"
	}
	return text
}

func (c *client) plans(ctx context.Context) ([]planBrief, error) {
	var list []planBrief
	return list, c.get(ctx, "/api/plans", &list)
}

func (c *client) plan(ctx context.Context, id int) (*planPage, error) {
	var v planPage
	return &v, c.get(ctx, planPath(id), &v)
}

func (c *client) questions(ctx context.Context) ([]question, error) {
	var list []question
	return list, c.get(ctx, "/api/questions", &list)
}

func planPath(id int) string { return "/api/plans/" + strconv.Itoa(id) }

func stepPath(plan, node int) string {
	return planPath(plan) + "/nodes/" + strconv.Itoa(node)
}

// planID reads the number of a plan.
func planID(arg string) (int, error) {
	id, err := strconv.Atoi(strings.TrimPrefix(arg, "#"))
	if err != nil || id < 1 {
		return 0, wrongUse("%q is not the number of a plan; \"clearbox plan list\" shows them", arg)
	}
	return id, nil
}

// planOrStep reads a plan's number, or a step's address such as 3.2; node is 0
// for a whole plan.
func planOrStep(arg string) (id, node int, err error) {
	a, b, isStep := strings.Cut(arg, ".")
	if id, err = planID(a); err != nil || !isStep {
		return id, 0, err
	}
	if node, err = strconv.Atoi(b); err != nil || node < 1 {
		return 0, 0, wrongUse("%q is not the address of a step, such as 3.2 for step 2 of plan 3", arg)
	}
	return id, node, nil
}
