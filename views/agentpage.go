package views

import (
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// AgentUse is a place that names an agent.
type AgentUse struct {
	Ref, Title, URL string
	Then            string // what happens there when the agent is deleted
}

// AgentPage is the page of one agent.
type AgentPage struct {
	Seq      int64
	Card     AgentCard
	Form     *AgentForm
	Saved    bool // a moment ago
	Uses     []AgentUse
	MoreUses string // that there are more, in words
}

// NewAgentPage makes the page of the one agent in a page of agents.
func NewAgentPage(all *AgentsPage, id plan.ProfileID, form *AgentForm, uses []AgentUse) *AgentPage {
	p := &AgentPage{Seq: all.Seq, Form: form, Uses: uses}
	for i := range all.Agents {
		if all.Agents[i].ID == id {
			p.Card = all.Agents[i]
		}
	}
	if more := p.Card.uses - len(uses); more > 0 {
		p.MoreUses = "And " + plural(more, "further place", "further places") + "."
	}
	return p
}

// UseOf says what becomes of a place that names an agent, when the agent is gone.
func UseOf(at plan.Ref, title string, review bool, instead string) AgentUse {
	u := AgentUse{Ref: strconv.FormatInt(int64(at.Plan), 10), Title: title, URL: PlanURL(at.Plan)}
	switch {
	case review && instead == "":
		u.Then = "is not reviewed any more"
	case review:
		u.Then = "is reviewed by " + instead
	case at.Node != 0:
		u.Ref, u.URL = at.String(), NodeURL(at)
		u.Then = "runs on " + instead
	default:
		u.Then = "has its steps run on " + instead
	}
	return u
}

func (p *AgentPage) usesLead() string {
	return plural(p.Card.uses, "place names it. It inherits instead:", "places name it. They inherit instead:")
}
