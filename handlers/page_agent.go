package handlers

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// agentDraft is an agent's form as it was sent, or as it is first shown.
type agentDraft struct {
	id      plan.ProfileID    // 0: a new one
	values  map[string]string // nil: the profile as it is
	faults  map[string]string // by field
	fault   string            // beyond one field
	outcome *views.TestOutcome
	saved   bool
}

// newAgent shows the form of a new agent, from nothing or from another one.
func (p *site) newAgent(c echo.Context) error {
	values := map[string]string{"harness": c.QueryParam("harness")}
	if from := c.QueryParam("from"); from != "" {
		id, err := strconv.ParseInt(from, 10, 64)
		if err != nil {
			return plan.Errorf(plan.NotFound, "there is no agent %s", clip(strconv.Quote(from)))
		}
		like, err := p.engine.Profile(c.Request().Context(), plan.ProfileID(id))
		if err != nil {
			return err
		}
		values = views.AgentValues(like, p.engine.HarnessSettings(like.Harness))
		values["name"] = like.Name + " copy"
	}
	return p.agentAnswer(c, http.StatusOK, &agentDraft{values: values})
}

// agent shows one agent with its form.
func (p *site) agent(c echo.Context) error {
	id, err := number(c, "agent_id")
	if err != nil {
		return err
	}
	return p.agentAnswer(c, http.StatusOK, &agentDraft{id: plan.ProfileID(id), saved: c.QueryParam("saved") != ""})
}

// agentAnswer sends the page of an agent, or of a new one, with its form.
func (p *site) agentAnswer(c echo.Context, status int, d *agentDraft) error {
	ctx := c.Request().Context()
	form, err := p.agentForm(ctx, d)
	if err != nil {
		return err
	}
	if d.id == 0 {
		return p.answer(c, status, "New agent", views.NewAgentView(form, "New agent"))
	}
	all, err := p.agentsNow(ctx)
	if err != nil {
		return err
	}
	uses, err := p.engine.ProfileUses(ctx, d.id)
	if err != nil {
		return err
	}
	shown := make([]views.AgentUse, len(uses))
	for i, u := range uses {
		shown[i] = views.UseOf(plan.Ref{Plan: u.Plan, Node: u.Node}, u.Title, u.Review, u.Instead)
	}
	page := views.NewAgentPage(all, d.id, form, shown)
	page.Saved = d.saved
	return p.answer(c, status, page.Card.Name, views.AgentPageView(page))
}

// agentForm makes the form for a draft.
func (p *site) agentForm(ctx context.Context, d *agentDraft) (*views.AgentForm, error) {
	in := views.AgentFormInput{Values: d.values, Faults: d.faults, Fault: d.fault, Server: p.engine.Server(), Choices: p.choices()}
	if d.id != 0 {
		var err error
		if in.Profile, err = p.engine.Profile(ctx, d.id); err != nil {
			return nil, err
		}
	}
	if in.Values == nil {
		in.Values = views.AgentValues(in.Profile, p.engine.HarnessSettings(in.Profile.Harness))
	}
	in.Harness = chosenHarness(in.Choices, in.Values["harness"])
	in.Settings = p.engine.HarnessSettings(in.Harness.Slug)
	form := views.NewAgentForm(in)
	form.Outcome = d.outcome
	return form, nil
}

// choices are the harnesses that an agent can have, and those that were found but
// are refused, by name.
func (p *site) choices() []views.Harness {
	list := p.harnesses()
	for _, slug := range p.engine.HarnessSlugs() {
		if !slices.ContainsFunc(list, func(h views.Harness) bool { return h.Slug == slug }) {
			list = append(list, views.Harness{Slug: slug})
		}
	}
	slices.SortStableFunc(list, func(a, b views.Harness) int {
		if missing := func(h views.Harness) bool { return h.Path == "" }; missing(a) != missing(b) {
			return map[bool]int{true: 1, false: -1}[missing(a)]
		}
		return 0
	})
	return list
}

// chosenHarness is the harness of a slug; the first one where none was chosen.
func chosenHarness(list []views.Harness, slug string) views.Harness {
	slug = plan.HarnessAlias(slug)
	for _, h := range list {
		if h.Slug == slug || slug == "" && h.Refused == "" {
			return h
		}
	}
	return views.Harness{Slug: slug}
}

// agentAction does what a form of an agent was sent for: it saves it, tests it,
// or shows it for another harness.
func (p *site) agentAction(c echo.Context) error {
	d := &agentDraft{}
	var was *plan.Profile
	ctx := c.Request().Context()
	if c.Param("agent_id") != "" {
		id, err := number(c, "agent_id")
		if err != nil {
			return err
		}
		d.id = plan.ProfileID(id)
		if was, err = p.engine.Profile(ctx, d.id); err != nil {
			return err
		}
	}
	sent, err := sentFields(c)
	if err != nil {
		return err
	}
	d.values = shownAgain(sent, was, p.engine.HarnessSettings)
	in, faults := decodeAgent(sent, was, p.engine.HarnessSettings)
	switch sent["do"] {
	case "choose":
		return p.agentChosen(c, d)
	case "test":
		return p.agentTried(c, d, in, faults)
	}
	return p.agentSaved(c, d, in, faults)
}

// agentChosen shows the form for the harness that was chosen.
func (p *site) agentChosen(c echo.Context, d *agentDraft) error {
	if c.Request().Header.Get("HX-Request") == "" {
		return p.agentAnswer(c, http.StatusOK, d)
	}
	form, err := p.agentForm(c.Request().Context(), d)
	if err != nil {
		return err
	}
	return send(c, http.StatusOK, views.AgentChosenView(form))
}

// agentTried tests what the form says, without saving it.
func (p *site) agentTried(c echo.Context, d *agentDraft, in engine.ProfileFields, faults map[string]string) error {
	if len(faults) > 0 {
		return p.agentUnread(c, http.StatusBadRequest, d, in, faults)
	}
	_, r, err := p.engine.TestDraft(c.Request().Context(), d.id, in)
	if err != nil {
		return p.agentRefused(c, d, err)
	}
	d.outcome = outcomeOf(r)
	if c.Request().Header.Get("HX-Request") == "" {
		return p.agentAnswer(c, http.StatusOK, d)
	}
	form, err := p.agentForm(c.Request().Context(), d)
	if err != nil {
		return err
	}
	return send(c, http.StatusOK, views.AgentTriedView(form, d.outcome))
}

// agentSaved saves the form.
func (p *site) agentSaved(c echo.Context, d *agentDraft, in engine.ProfileFields, faults map[string]string) error {
	ctx := c.Request().Context()
	if len(faults) > 0 {
		return p.agentUnread(c, http.StatusBadRequest, d, in, faults)
	}
	if d.id == 0 {
		made, err := p.engine.CreateProfile(ctx, in)
		if err != nil {
			return p.agentRefused(c, d, err)
		}
		return goTo(c, views.AgentURL(made.ID)+"?saved=1")
	}
	if in != (engine.ProfileFields{}) {
		if _, err := p.engine.UpdateProfile(ctx, d.id, in); err != nil {
			return p.agentRefused(c, d, err)
		}
	}
	if c.Request().Header.Get("HX-Request") == "" {
		return goTo(c, views.AgentURL(d.id)+"?saved=1")
	}
	form, err := p.agentForm(ctx, &agentDraft{id: d.id})
	if err != nil {
		return err
	}
	return send(c, http.StatusOK, views.AgentSavedView(form))
}

// agentUnread tells what could not be read of a form, and all else that is wrong
// with it: people want to hear of everything at once.
func (p *site) agentUnread(c echo.Context, status int, d *agentDraft, in engine.ProfileFields, faults map[string]string) error {
	if err := p.engine.CheckDraft(c.Request().Context(), d.id, in); err != nil {
		if err := p.sortFaults(c, d, err); err != nil {
			return err
		}
	}
	if d.faults == nil {
		d.faults = map[string]string{}
	}
	maps.Copy(d.faults, faults)
	return p.agentShownAgain(c, status, d)
}

// agentRefused tells what the engine did not take, each fault at its field.
func (p *site) agentRefused(c echo.Context, d *agentDraft, err error) error {
	if err := p.sortFaults(c, d, err); err != nil {
		return err
	}
	return p.agentShownAgain(c, http.StatusBadRequest, d)
}

// sortFaults gives a draft the faults that the engine told, by field. What is no
// fault of the form is returned.
func (p *site) sortFaults(c echo.Context, d *agentDraft, err error) error {
	if kind := plan.KindOf(err); kind != plan.Invalid && kind != plan.Malformed {
		return err
	}
	form, formErr := p.agentForm(c.Request().Context(), d)
	if formErr != nil {
		return formErr
	}
	d.faults, d.fault = faultsOf(plan.MessageOf(err), form.Fields())
	return nil
}

// agentShownAgain shows a form with its faults. With scripts the page keeps what
// was typed, and gets the faults alone.
func (p *site) agentShownAgain(c echo.Context, status int, d *agentDraft) error {
	if c.Request().Header.Get("HX-Request") == "" {
		return p.agentAnswer(c, status, d)
	}
	form, err := p.agentForm(c.Request().Context(), d)
	if err != nil {
		return err
	}
	return send(c, status, views.AgentFaultsView(form))
}

// deleteAgentAction deletes an agent.
func (p *site) deleteAgentAction(c echo.Context) error {
	id, err := number(c, "agent_id")
	if err != nil {
		return err
	}
	if err := p.engine.DeleteProfile(c.Request().Context(), plan.ProfileID(id)); err != nil {
		return err
	}
	return goTo(c, views.AgentsURL)
}
