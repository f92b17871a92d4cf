package handlers

import (
	"context"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// agentUsesView says where an agent profile is named.
type agentUsesView struct {
	Total int            `json:"total"` // of many only the first are listed
	Uses  []agentUseView `json:"uses"`
}

type agentUseView struct {
	PlanID  plan.PlanID  `json:"plan_id"`
	NodeID  *plan.NodeID `json:"node_id"` // null: the plan itself
	Title   string       `json:"title"`
	As      string       `json:"as"`      // agent or review_agent
	Instead *string      `json:"instead"` // who is inherited there when the profile is deleted
}

func listAgentUses(e *engine.Engine, ctx context.Context, in profileIn) (agentUsesView, error) {
	p, err := e.Profile(ctx, in.ID)
	if err != nil {
		return agentUsesView{}, err
	}
	list, err := e.ProfileUses(ctx, in.ID)
	out := agentUsesView{Total: p.InUse, Uses: make([]agentUseView, len(list))}
	for i := range list {
		u := &list[i]
		as := "agent"
		if u.Review {
			as = "review_agent"
		}
		out.Uses[i] = agentUseView{u.Plan, orNull(&u.Node), u.Title, as, orNull(&u.Instead)}
	}
	return out, err
}

// agentSpendView is what the runs of an agent profile have used, as far as they
// told.
type agentSpendView struct {
	AgentID    plan.ProfileID `json:"agent_id"`
	Name       *string        `json:"name"` // null: the profile was deleted
	Runs       int            `json:"runs"`
	TokensIn   int64          `json:"tokens_in"`
	TokensOut  int64          `json:"tokens_out"`
	CostUSD    *float64       `json:"cost_usd"`    // null: not known of any run
	PricedRuns int            `json:"priced_runs"` // whose cost is known
}

func listAgentSpend(e *engine.Engine, ctx context.Context, _ none) ([]agentSpendView, error) {
	list, err := e.Spending(ctx)
	if err != nil {
		return nil, err
	}
	profiles, err := e.Profiles(ctx)
	names := map[plan.ProfileID]*string{}
	for i := range profiles {
		names[profiles[i].ID] = &profiles[i].Name
	}
	out := make([]agentSpendView, len(list))
	for i, s := range list {
		out[i] = agentSpendView{s.Profile, names[s.Profile], s.Runs, s.TokensIn, s.TokensOut, s.CostUSD, s.Priced}
	}
	return out, err
}

// testAgent tests a profile as it is, or with the changes that are given.
func testAgent(e *engine.Engine, ctx context.Context, in updateAgentIn) (reportView, error) {
	test := func() (*plan.Profile, engine.Report, error) { return e.TestProfile(ctx, in.ID) }
	if in.ProfileFields != (engine.ProfileFields{}) {
		test = func() (*plan.Profile, engine.Report, error) { return e.TestDraft(ctx, in.ID, in.ProfileFields) }
	}
	p, report, err := test()
	if err != nil {
		return reportView{}, err
	}
	return reportViewOf(e.Server(), p, report), nil
}

// testDraft tests a profile that does not exist yet.
func testDraft(e *engine.Engine, ctx context.Context, in createAgentIn) (reportView, error) {
	return testAgent(e, ctx, updateAgentIn{ProfileFields: in.fields()})
}
