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
	Spend     []plan.ProfileSpend
	Faults    map[plan.ProfileID][]string // why its runs would fail
	Seq       int64
	Now       plan.Stamp
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
	uses             int
	Limits           string
	Spent            string   // by its runs so far, as far as is known
	Faults           []string // why its runs would fail
	Refused          *Refused // nil: its provider takes work, as far as is known
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
		for i := range in.Spend {
			if in.Spend[i].Profile == c.ID {
				c.Spent = spent(&in.Spend[i])
			}
		}
		c.Faults = in.Faults[c.ID]
		p.Agents = append(p.Agents, c)
	}
	return p
}

func agentCard(p *plan.Profile, server plan.Server, usable map[string]bool) AgentCard {
	capability, source := server.EffectiveCapability(p)
	c := AgentCard{ID: p.ID, Name: p.Name, Description: p.Description, Harness: p.Harness, Missing: !usable[p.Harness],
		Model: p.Model, Endpoint: p.BaseURL, Capability: capability, CapabilitySource: capabilitySource(source),
		Default: p.ID == server.DefaultProfile, InUse: inUse(p.InUse), uses: p.InUse, Limits: limits(p)}
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

// spent says what an agent's runs have used. Cost that is known of some only is
// said to be at least so much.
func spent(s *plan.ProfileSpend) string {
	text := plural(s.Runs, "run", "runs") + ", " + grouped(s.TokensIn+s.TokensOut) + " tokens"
	switch {
	case s.CostUSD == nil:
	case s.Priced < s.Runs:
		text += ", at least " + cost(s.CostUSD)
	default:
		text += ", " + cost(s.CostUSD)
	}
	return text
}

// DOM is the id of the card's element.
func (c *AgentCard) DOM() string { return "agent-" + strconv.FormatInt(int64(c.ID), 10) }

func (c *AgentCard) testURL() string { return AgentURL(c.ID) + "/test" }
func (c *AgentCard) copyURL() string {
	return NewAgentURL + "?from=" + strconv.FormatInt(int64(c.ID), 10)
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
	Models []string // that its endpoint offers
}
