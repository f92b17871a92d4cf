package handlers

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// runView is one session of an agent on a node.
type runView struct {
	PlanID     plan.PlanID     `json:"plan_id"`
	NodeID     plan.NodeID     `json:"node_id"`
	Run        int             `json:"run"`
	Kind       plan.RunKind    `json:"kind"`
	Outcome    *plan.Outcome   `json:"outcome"`     // null while it is open
	Cause      *string         `json:"cause"`       // of its outcome
	StartCause *string         `json:"start_cause"` // why it began
	AgentName  string          `json:"agent_name"`
	ProfileID  *plan.ProfileID `json:"profile_id"`
	Harness    *string         `json:"harness"`
	Model      *string         `json:"model"`
	Capability *string         `json:"capability"`
	SessionID  *string         `json:"session_id"`
	Isolation  *string         `json:"isolation"`
	BaseTree   *string         `json:"base_tree"`    // the snapshot that its changes are measured against
	Writers    []nodeRef       `json:"base_writers"` // steps that were writing when the copy that it works in was made
	Result     *string         `json:"result"`
	TokensIn   *int64          `json:"tokens_in"`
	TokensOut  *int64          `json:"tokens_out"`
	CostUSD    *float64        `json:"cost_usd"`
	NumTurns   int             `json:"num_turns"`
	StartedAt  plan.Stamp      `json:"started_at"`
	FinishedAt plan.Stamp      `json:"finished_at"`
}

// nodeRef names a step.
type nodeRef struct {
	PlanID plan.PlanID `json:"plan_id"`
	NodeID plan.NodeID `json:"node_id"`
}

func nodeRefs(refs []plan.Ref) []nodeRef {
	list := make([]nodeRef, len(refs))
	for i, r := range refs {
		list[i] = nodeRef{r.Plan, r.Node}
	}
	return list
}

func runViewOf(r *plan.Run) runView {
	return runView{r.PlanID, r.NodeID, r.Number, r.Kind, orNull(&r.Outcome), orNull(&r.Cause), orNull(&r.StartCause), r.AgentName, orNull(&r.Profile),
		orNull(&r.Harness), orNull(&r.Model), orNull(&r.Capability), orNull(&r.SessionID), orNull(&r.Isolation), orNull(&r.BaseTree), nodeRefs(r.BaseWriters), r.Result,
		r.TokensIn, r.TokensOut, r.CostUSD, r.NumTurns, r.StartedAt, r.FinishedAt}
}

// runPage is one run with the exact texts that its agent got.
type runPage struct {
	runView
	Prompt string `json:"prompt"`
	System string `json:"system"`
}

// transcript is part of what happened.
type transcript struct {
	Events []plan.Event
	More   bool // there are further ones in the direction that was asked for
}

func (t transcript) encode() ([]byte, error) { return t.appendTo([]byte("{}")), nil }

// appendTo adds the keys events and more to an encoded object.
func (t transcript) appendTo(b []byte) []byte {
	size := len(b) + 64
	for i := range t.Events {
		size += len(t.Events[i].Data) + 128
	}
	b = append(make([]byte, 0, size), bytes.TrimSuffix(b, []byte("}"))...)
	if len(b) > 1 {
		b = append(b, ',')
	}
	b = append(b, `"events":[`...)
	for i := range t.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEvent(b, &t.Events[i])
	}
	b = append(b, `],"more":`...)
	return append(strconv.AppendBool(b, t.More), '}')
}

// questionView is what an agent asks of a person.
type questionView struct {
	ID        string          `json:"id"` // what the answer is posted to
	PlanID    plan.PlanID     `json:"plan_id"`
	NodeID    plan.NodeID     `json:"node_id"`
	Tool      string          `json:"tool"`
	Text      string          `json:"text"`
	Input     json.RawMessage `json:"input"`
	AskedAt   plan.Stamp      `json:"asked_at"`
	Until     plan.Stamp      `json:"until"`
	Answer    *string         `json:"answer"`
	Message   *string         `json:"message"`
	Delivered bool            `json:"delivered"` // the agent has the answer, or will have at once
}

func questionViewOf(q *plan.Question) questionView {
	return questionView{ID: string(q.RunID) + "." + q.ID, PlanID: q.PlanID, NodeID: q.NodeID, Tool: q.Tool, Text: q.Text,
		Input: q.Input, AskedAt: q.AskedAt, Until: q.Until, Answer: orNull(&q.Answer), Message: orNull(&q.Message)}
}
