package store

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// past is what the transcript of a step, or of a plan (node 0), tells of the
// agents that were at work on it. That program had no runs; ours are found again
// by the lines with which it began and ended them.
type past struct {
	node *oldNode // nil for a plan
	held *oldEvent

	running  bool    // it says so
	step     *oldRun // at work
	review   *oldRun // at work
	last     *oldRun // of its own agents
	reviewed *oldRun // the last review
	runs     int
	attempts int // that ended by their own result
}

// oldData are the fields of an entry that tell of runs.
type oldData struct {
	Text      string     `json:"text"`
	Review    bool       `json:"review"`
	To        plan.State `json:"to"`
	SessionID *string    `json:"session_id"`
	Model     *string    `json:"model"`
	IsError   bool       `json:"is_error"`
	NumTurns  int        `json:"num_turns"`
	CostUSD   *float64   `json:"cost_usd"`
	TokensIn  *int64     `json:"tokens_in"`
	TokensOut *int64     `json:"tokens_out"`
	Errors    []string   `json:"errors"`
	Agent     *struct {
		Name       string `json:"name"`
		Harness    string `json:"harness"`
		Model      string `json:"model"`
		Profile    *int64 `json:"profile_id"`
		Capability string `json:"capability"`
	} `json:"agent"`
}

// Kinds of entries that tell how a run goes.
const (
	oldResult = "result"
	oldError  = "error"
)

// takeEvents adds all transcripts, in their order, and the runs that they tell
// of. Their numbers stay when none of them was given out here.
func (k *takeover) takeEvents() error {
	first, shift, lost := true, int64(0), 0
	err := eachOld(k, "transcript", k.from.table("events", "id"), func(e *oldEvent) error {
		r := plan.Ref{Plan: plan.PlanID(e.PlanID) + k.shift, Node: plan.NodeID(e.NodeID)}
		p := k.pastOf(r)
		if p == nil {
			lost++
			return nil
		}
		if first && e.ID <= *k.t.seq {
			shift = *k.t.seq
		}
		first = false
		e.ID += shift
		*k.t.seq = max(*k.t.seq, e.ID)
		k.out.Events++
		return k.takeEvent(r, p, e)
	})
	if err != nil {
		return err
	}
	k.out.leftOut(lost, "transcript entries")
	return k.endPast()
}

// pastOf returns the past of a step or, for node 0, of a plan; nil when there is
// no such one.
func (k *takeover) pastOf(r plan.Ref) *past {
	if r.Node == 0 && k.past[r] == nil && k.trees[r.Plan] != nil {
		k.past[r] = &past{}
	}
	return k.past[r]
}

// takeEvent adds one entry. The line that a step is at work is held back until
// the next one tells who is: it belongs to that run.
func (k *takeover) takeEvent(r plan.Ref, p *past, e *oldEvent) error {
	d := readOld(e)
	switch {
	case d.Review:
		return k.reviewEvent(r, p, e, d)
	case e.Kind == plan.EventStatus:
		return k.statusEvent(r, p, e, d)
	}
	if err := k.beginStep(r, p, e, d); err != nil {
		return err
	}
	if err := k.release(r, p); err != nil {
		return err
	}
	if p.step == nil {
		return k.insertEvent(r, "", e)
	}
	p.step.hear(e, d)
	run := p.step
	if run.expanded {
		if err := k.endRun(p, run, plan.OutcomeDone, ""); err != nil {
			return err
		}
		p.step = nil
	}
	return k.insertEvent(r, run.ID, e)
}

// readOld reads the data of an entry. What is no JSON becomes JSON: nothing else
// can be looked through later.
func readOld(e *oldEvent) *oldData {
	e.Kind, e.Data = cleaned(e.Kind), cleaned(e.Data)
	d := &oldData{}
	if !json.Valid([]byte(e.Data)) {
		b, err := json.Marshal(importText{e.Data})
		if err != nil {
			b = []byte("{}")
		}
		e.Data = string(b)
	}
	// A field of another type than expected leaves the others readable.
	_ = json.Unmarshal([]byte(e.Data), d)
	d.Text = cleaned(d.Text)
	d.SessionID, d.Model = cleanedOr(d.SessionID), cleanedOr(d.Model)
	if a := d.Agent; a != nil {
		a.Name, a.Harness, a.Model, a.Capability = cleaned(a.Name), cleaned(a.Harness), cleaned(a.Model), cleaned(a.Capability)
	}
	return d
}

// statusEvent takes a change of the step's state: with it a run begins or ends.
func (k *takeover) statusEvent(r plan.Ref, p *past, e *oldEvent, d *oldData) error {
	if err := k.release(r, p); err != nil {
		return err
	}
	p.running = d.To == plan.Running
	if p.running {
		p.held = e
		return nil
	}
	if p.step == nil {
		return k.insertEvent(r, "", e)
	}
	run := p.step
	p.step = nil
	outcome, cause := run.outcome(d.To)
	run.FinishedAt = e.TS
	if err := k.endRun(p, run, outcome, cause); err != nil {
		return err
	}
	return k.insertEvent(r, run.ID, e)
}

// release adds the entry that was held back.
func (k *takeover) release(r plan.Ref, p *past) error {
	if p.held == nil {
		return nil
	}
	e, run := p.held, plan.RunID("")
	p.held = nil
	if p.step != nil {
		run = p.step.ID
	}
	return k.insertEvent(r, run, e)
}

// beginStep begins a run where an entry says that an agent goes to work, or is at
// work without having been announced.
func (k *takeover) beginStep(r plan.Ref, p *past, e *oldEvent, d *oldData) error {
	if p.step != nil || p.node == nil || !p.running {
		return nil
	}
	run := &oldRun{}
	external, claimed := strings.CutPrefix(d.Text, "claimed by external agent ")
	switch {
	case e.Kind == plan.EventSystem && claimed:
		run.Kind, run.AgentName = plan.RunExternal, strings.Trim(external, "'")
	case e.Kind == plan.EventSystem && d.Agent != nil:
		run.Kind, run.AgentName, run.Harness, run.Model = plan.RunStep, d.Agent.Name, plan.HarnessAlias(d.Agent.Harness), d.Agent.Model
		run.Profile, run.Capability = k.profile(d.Agent.Profile), d.Agent.Capability
	case e.Kind == plan.EventSystem && strings.HasPrefix(d.Text, "agent: "):
		run.Kind, run.AgentName = plan.RunStep, announced(d.Text)
	case e.Kind == plan.EventSystem || p.node.AgentKind == nil || p.runs > 0:
		return nil
	default:
		run.Kind, run.AgentName = plan.RunStep, textOf(p.node.AgentName)
		if *p.node.AgentKind == string(plan.External) {
			run.Kind = plan.RunExternal
		}
	}
	if run.Profile == 0 && run.Kind == plan.RunStep {
		run.Profile = k.agents[run.AgentName]
	}
	at := e.TS
	if p.held != nil {
		at = p.held.TS
	}
	k.beginRun(r, p, run, at)
	p.step, p.last = run, run
	return nil
}

// reviewEvent takes an entry of a reviewer's session.
func (k *takeover) reviewEvent(r plan.Ref, p *past, e *oldEvent, d *oldData) error {
	if starts := e.Kind == plan.EventSystem && d.SessionID == nil; starts || p.review == nil {
		if err := k.endReview(p, plan.OutcomeStopped, "the review was given up"); err != nil {
			return err
		}
		run := &oldRun{}
		run.Kind, run.AgentName = plan.RunReview, announced(d.Text)
		if r.Node == 0 {
			run.Kind = plan.RunPlanReview
		}
		run.Profile = k.agents[run.AgentName]
		k.beginRun(r, p, run, e.TS)
		p.review, p.reviewed = run, run
	}
	run := p.review
	run.hear(e, d)
	if e.Kind == oldResult {
		outcome, cause := run.outcome("")
		if err := k.endReview(p, outcome, cause); err != nil {
			return err
		}
	}
	return k.insertEvent(r, run.ID, e)
}

func (k *takeover) endReview(p *past, o plan.Outcome, cause string) error {
	if p.review == nil {
		return nil
	}
	run := p.review
	p.review = nil
	return k.endRun(p, run, o, cause)
}

// announced reads the agent's name from "agent: NAME (harness / model)".
func announced(text string) string {
	_, name, ok := strings.Cut(text, "agent: ")
	if !ok {
		return ""
	}
	if at := strings.LastIndex(name, " ("); at > 0 {
		name = name[:at]
	}
	return name
}

func (k *takeover) insertEvent(r plan.Ref, run plan.RunID, e *oldEvent) error {
	_, err := k.t.exec("append an event", insertEvent, e.ID, r.Plan, r.Node, run, 0, e.TS, e.Kind, e.Data)
	return err
}

// endPast ends what the transcripts left open.
func (k *takeover) endPast() error {
	refs := slices.SortedFunc(maps.Keys(k.past), plan.Ref.Compare)
	for _, r := range refs {
		p := k.past[r]
		if err := k.release(r, p); err != nil {
			return err
		}
		if err := k.endReview(p, plan.OutcomeInterrupted, "taken over while it ran"); err != nil {
			return err
		}
		if p.step != nil {
			if err := k.endOpen(p); err != nil {
				return err
			}
		}
		if p.node == nil {
			continue
		}
		if err := k.endLast(p); err != nil {
			return err
		}
	}
	return nil
}

// endOpen ends a run whose end no entry tells.
func (k *takeover) endOpen(p *past) error {
	run := p.step
	p.step = nil
	if p.node.Status == plan.Running && !run.ended {
		return k.endRun(p, run, plan.OutcomeInterrupted, "taken over while it ran")
	}
	outcome, cause := run.outcome(p.node.Status)
	return k.endRun(p, run, outcome, cause)
}
