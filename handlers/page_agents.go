package handlers

import (
	"context"
	"fmt"
	"net/http"
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
	spend, err := p.engine.Spending(ctx)
	if err != nil {
		return nil, err
	}
	in := views.AgentsInput{Profiles: list, Limits: limits, Spend: spend, Server: p.engine.Server(), Harnesses: p.harnesses(), Seq: seq, Now: plan.StampOf(time.Now()),
		Faults: map[plan.ProfileID][]string{}}
	for i := range list {
		in.Faults[list[i].ID] = p.engine.ProfileFaults(&list[i])
	}
	return views.NewAgentsPage(in), nil
}

// harnesses are those that were found, usable or refused.
func (p *site) harnesses() []views.Harness {
	var list []views.Harness
	for _, f := range p.engine.Harnesses() {
		list = append(list, harnessShown(f))
	}
	return list
}

func harnessShown(f engine.HarnessFound) views.Harness {
	h := views.Harness{Slug: f.Slug, Name: f.Info.Name, Version: f.Info.Version, Path: f.Path, Refused: f.Refused, NeedsModel: f.Info.Features.Model}
	if f.Refused == "" {
		h.Protocol = fmt.Sprintf("protocol %d", engine.HarnessProtocol)
	}
	for _, c := range f.Info.Capabilities {
		h.Capabilities = append(h.Capabilities, string(c))
	}
	has := f.Info.Features
	for _, feature := range []struct {
		on   bool
		word string
	}{{has.Ask, "asks permission"}, {has.MCP, "Clearbox tools"}, {has.Resume, "resumes sessions"}, {has.Usage, "reports tokens"}, {has.Cost, "reports cost"}} {
		if feature.on {
			h.Features = append(h.Features, feature.word)
		}
	}
	return h
}

// rescanAction looks for harnesses again; the list of them is drawn anew.
func (p *site) rescanAction(c echo.Context) error {
	_, err := p.engine.RescanHarnesses(c.Request().Context())
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
	if c.Request().Header.Get("HX-Request") == "" {
		return p.agentAnswer(c, http.StatusOK, &agentDraft{id: plan.ProfileID(id), outcome: outcomeOf(r)})
	}
	return send(c, http.StatusOK, views.TestOutcomeView(outcomeOf(r)))
}

func outcomeOf(r engine.Report) *views.TestOutcome {
	o := &views.TestOutcome{OK: r.OK, Detail: r.Detail, Models: r.ModelsSample}
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
