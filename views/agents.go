package views

import (
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// AgentsInput is what the page of agents is made from.
type AgentsInput struct {
	Profiles  []plan.Profile
	Limits    []plan.Limit // of their providers
	Server    plan.Server
	Harnesses []Harness
	Seq       int64
	Now       plan.Stamp
}

// Harness is a harness that was found, usable or refused.
type Harness struct {
	Slug, Name, Version, Path string
	Capabilities              []string // those it can enforce
	Features                  []string
	Refused                   string // why it does not serve; "" when it does
}

// AgentsPage lists the agents and the harnesses.
type AgentsPage struct {
	Seq       int64
	Agents    []AgentCard
	Harnesses []Harness
}

// AgentCard is an agent profile.
type AgentCard struct {
	ID               plan.ProfileID
	Name             string
	Description      string
	Harness          string
	Missing          bool // its harness was not found
	Model            string
	Endpoint         string
	Key              string // where its key comes from
	Capability       string
	CapabilitySource string
	Default          bool
	InUse            string
	Limits           string
	Fields           []numberField // what its runs may use
	Refused          *Refused      // nil: its provider takes work, as far as is known
}

// Refused says that an agent's provider refuses work for now.
type Refused struct {
	Until plan.Stamp // 0: that is over, and one run tries again
	Text  string     // what it said
}

// NewAgentsPage makes the page of agents.
func NewAgentsPage(in AgentsInput) *AgentsPage {
	p := &AgentsPage{Seq: in.Seq, Harnesses: in.Harnesses}
	usable := map[string]bool{}
	for _, h := range in.Harnesses {
		if h.Refused == "" {
			usable[h.Slug] = true
		}
	}
	for i := range in.Profiles {
		c := agentCard(&in.Profiles[i], in.Server, usable)
		for _, l := range in.Limits {
			if l.Profile == c.ID {
				c.Refused = &Refused{l.Until, l.Text}
				if l.Until <= in.Now {
					c.Refused.Until = 0
				}
			}
		}
		p.Agents = append(p.Agents, c)
	}
	return p
}

func agentCard(p *plan.Profile, server plan.Server, usable map[string]bool) AgentCard {
	capability, source := server.EffectiveCapability(p)
	c := AgentCard{ID: p.ID, Name: p.Name, Description: p.Description, Harness: p.Harness, Missing: !usable[p.Harness],
		Model: p.Model, Endpoint: p.BaseURL, Capability: capability, CapabilitySource: capabilitySource(source),
		Default: p.ID == server.DefaultProfile, InUse: inUse(p.InUse), Limits: limits(p), Fields: agentFields(p)}
	switch {
	case p.KeyEnv != "":
		c.Key = "from " + p.KeyEnv
	case p.HasKey:
		c.Key = "stored"
	}
	return c
}

func inUse(n int) string {
	if n == 0 {
		return "by no step or plan"
	}
	return "by " + plural(n, "step or plan", "steps and plans")
}

func limits(p *plan.Profile) string {
	var list []string
	if p.MaxParallel > 0 {
		list = append(list, plural(p.MaxParallel, "run at once", "runs at once"))
	}
	if p.MaxTokens > 0 {
		list = append(list, grouped(p.MaxTokens)+" tokens a run")
	}
	if p.MaxCostUSD > 0 {
		list = append(list, cost(&p.MaxCostUSD)+" a run")
	}
	return strings.Join(list, ", ")
}

func agentFields(p *plan.Profile) []numberField {
	id := func(field string) string { return agentField(p.ID, field) }
	return []numberField{
		{ID: id("parallel"), Name: "max_parallel", Label: "Runs at once", Value: count(int64(p.MaxParallel)), Min: "1", Step: "1", Placeholder: "no limit",
			Help: "In all plans together."},
		{ID: id("tokens"), Name: "max_tokens_per_run", Label: "Tokens of one run", Value: count(p.MaxTokens), Min: "1", Step: "1", Placeholder: "no limit",
			Help: "In and out. A run that has used so many is ended, and its step fails."},
		{ID: id("cost"), Name: "max_cost_per_run_usd", Label: "US dollars of one run", Value: decimal(p.MaxCostUSD), Min: "0", Step: "any", Placeholder: "no limit",
			Help: "The same in money, for agents that report what they cost."},
	}
}

func agentField(id plan.ProfileID, field string) string {
	return "agent-" + strconv.FormatInt(int64(id), 10) + "-" + field
}

// AgentFieldError is the id of the element that tells what is wrong with one of
// an agent's fields: parallel, tokens or cost.
func AgentFieldError(id plan.ProfileID, field string) string {
	f := numberField{ID: agentField(id, field)}
	return f.errorID()
}

// DOM is the id of the card's element.
func (c *AgentCard) DOM() string { return "agent-" + strconv.FormatInt(int64(c.ID), 10) }

func (c *AgentCard) testURL() string {
	return "/agents/" + strconv.FormatInt(int64(c.ID), 10) + "/test"
}

func (c *AgentCard) limitsURL() string {
	return "/agents/" + strconv.FormatInt(int64(c.ID), 10) + "/limits"
}

func (c *AgentCard) outcomeID() string { return "outcome-" + strconv.FormatInt(int64(c.ID), 10) }

// Pieces are the parts of the page that change.
func (p *AgentsPage) Pieces() []Piece {
	list := []Piece{{ID: "harnesses", Body: harnessList(p)}}
	for i := range p.Agents {
		list = append(list, Piece{ID: p.Agents[i].DOM(), In: "agents", Body: agentCardView(&p.Agents[i])})
	}
	return list
}

// TestOutcome is what came of testing an agent's connection.
type TestOutcome struct {
	OK     bool
	Detail string
	Facts  []Fact
}

func (h *Harness) title() string {
	if h.Name != "" && h.Name != h.Slug {
		return h.Name + " (" + h.Slug + ")"
	}
	return h.Slug
}
