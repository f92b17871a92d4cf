package handlers

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// agents shows agent profiles and harnesses.
func (p *site) agents(c echo.Context) error {
	page, err := p.agentsNow(c.Request().Context())
	if err != nil {
		return err
	}
	return p.answer(c, http.StatusOK, "Agents", views.AgentsView(page))
}

func (p *site) agentsNow(ctx context.Context) (*views.AgentsPage, error) {
	seq := p.engine.Subscribe(0, -1).Cursor()
	list, err := p.engine.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := p.engine.Limits(ctx)
	if err != nil {
		return nil, err
	}
	in := views.AgentsInput{Profiles: list, Limits: limits, Server: p.engine.Server(), Seq: seq, Now: plan.StampOf(time.Now())}
	for _, f := range p.engine.Harnesses() {
		in.Harnesses = append(in.Harnesses, harnessShown(f))
	}
	return views.NewAgentsPage(in), nil
}

func harnessShown(f engine.HarnessFound) views.Harness {
	h := views.Harness{Slug: f.Slug, Name: f.Info.Name, Version: f.Info.Version, Path: f.Path, Refused: f.Refused}
	for _, c := range f.Info.Capabilities {
		h.Capabilities = append(h.Capabilities, string(c))
	}
	has := f.Info.Features
	for _, feature := range []struct {
		on   bool
		word string
	}{{has.Ask, "asks permission"}, {has.MCP, "Clearbox tools"}, {has.Cost, "reports cost"}} {
		if feature.on {
			h.Features = append(h.Features, feature.word)
		}
	}
	return h
}

// agentLimitsAction stores what the runs of an agent may use.
func (p *site) agentLimitsAction(c echo.Context) error {
	id, err := number(c, "agent_id")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	list, err := p.engine.Profiles(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(p plan.Profile) bool { return p.ID == plan.ProfileID(id) })
	if i < 0 {
		return plan.Errorf(plan.NotFound, "there is no agent %d", id)
	}
	was, f, in := &list[i], &form{c: c}, engine.ProfileFields{}
	place := func(field string) string { return views.AgentFieldError(was.ID, field) }
	changed(&in.MaxParallel, was.MaxParallel, int(f.number("max_parallel", place("parallel"), int64(was.MaxParallel))))
	changed(&in.MaxTokens, was.MaxTokens, f.number("max_tokens_per_run", place("tokens"), was.MaxTokens))
	changed(&in.MaxCostUSD, was.MaxCostUSD, f.amount("max_cost_per_run_usd", place("cost"), was.MaxCostUSD))
	if f.err != nil || in == (engine.ProfileFields{}) {
		return f.err
	}
	_, err = p.engine.UpdateProfile(ctx, was.ID, in)
	return err
}

// testAgentAction tests an agent's connection and says the outcome in words.
func (p *site) testAgentAction(c echo.Context) error {
	id, err := number(c, "agent_id")
	if err != nil {
		return err
	}
	_, r, err := p.engine.TestProfile(c.Request().Context(), plan.ProfileID(id))
	if err != nil {
		return err
	}
	return send(c, http.StatusOK, views.TestOutcomeView(outcomeOf(r)))
}

func outcomeOf(r engine.Report) *views.TestOutcome {
	o := &views.TestOutcome{OK: r.OK, Detail: r.Detail}
	add := func(name, value string) {
		if value != "" {
			o.Facts = append(o.Facts, views.Fact{Name: name, Value: value})
		}
	}
	if !r.OK {
		add("Look at", r.Field)
	}
	add("Endpoint", r.BaseURL)
	add("Key", keyWords(r.Credential))
	if r.ModelListed != nil && !*r.ModelListed {
		add("Model", "the endpoint does not list it")
	}
	add("Offers", strings.Join(r.ModelsSample, ", "))
	return o
}

// keyWords says where a key came from.
func keyWords(credential string) string {
	switch name, isEnv := strings.CutPrefix(credential, "env:"); {
	case isEnv:
		return "from " + name
	case credential == "literal":
		return "the stored one"
	case credential == "none":
		return "none"
	}
	return credential
}
