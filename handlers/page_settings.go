package handlers

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// form reads the fields of a form. The first that cannot be read is its err, at
// its own place on the page.
type form struct {
	c   echo.Context
	err error
}

// number reads a field that may be empty, which means none. A field that was not
// sent is as it was. faults names the element that tells what is wrong.
func (f *form) number(name, faults string, was int64) int64 {
	text, sent := f.text(name)
	if !sent || text == "" {
		return keep(sent, was)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		f.fault(faults, "this must be a whole number of at least 1, or empty")
	}
	return n
}

// amount does the same for what need not be whole.
func (f *form) amount(name, faults string, was float64) float64 {
	text, sent := f.text(name)
	if !sent || text == "" {
		return keep(sent, was)
	}
	n, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err != nil || !(n > 0) || math.IsInf(n, 0) {
		f.fault(faults, "this must be a number above 0, or empty")
	}
	return n
}

// keep returns the value of a field without one: none if it was emptied.
func keep[T int64 | float64](emptied bool, was T) T {
	if emptied {
		return 0
	}
	return was
}

func (f *form) text(name string) (text string, sent bool) {
	all, err := f.c.FormParams()
	if err != nil && f.err == nil {
		f.err = plan.Errorf(plan.Malformed, "the form could not be read")
	}
	return strings.TrimSpace(strings.ReplaceAll(all.Get(name), "\r\n", "\n")), all.Has(name)
}

func (f *form) fault(at, text string) {
	if f.err == nil {
		f.err = &fieldError{at, plan.Errorf(plan.Invalid, "%s", text)}
	}
}

// changed gives an update what a field has become, and nothing where it is as it
// was.
func changed[T comparable](to **T, was, is T) {
	if was != is {
		*to = &is
	}
}

// settingsAction stores what has changed in the settings dialog.
func (p *site) settingsAction(c echo.Context, id plan.PlanID) error {
	ctx := c.Request().Context()
	s, err := p.engine.Snapshot(ctx, id)
	if err != nil {
		return err
	}
	f := &form{c: c}
	if here := s.Plan(id); here.TopLevel() {
		if err := p.rootSettings(f, here); err != nil {
			return err
		}
	} else if err := p.subplanWords(f, here, s.Root()); err != nil {
		return err
	}
	had := ""
	if own := s.Profiles[s.Plan(id).DefaultProfile]; own != nil {
		had = own.Name
	}
	if agent, sent := f.text("agent"); sent && agent != had {
		if _, err := p.engine.SetPlanAgent(ctx, id, engine.AgentRef(agent)); err != nil {
			return &fieldError{"set-agent-error", err}
		}
	}
	if err := p.reviewer(f, s, id); err != nil {
		return err
	}
	return f.err
}

func (p *site) rootSettings(f *form, root *plan.Plan) error {
	ctx := f.c.Request().Context()
	in := engine.UpdatePlanIn{PlanID: root.ID}
	readSettings(f, root, &in)
	planWords(f, root, root, &in)
	if f.err != nil {
		return f.err
	}
	if dir, sent := f.text("working_directory"); sent && root.FirstStart == 0 && dir != p.engine.WorkDirOf(root) {
		if err := p.engine.SetWorkdir(ctx, root.ID, dir); err != nil {
			return &fieldError{"set-dir-error", err}
		}
	}
	if in == (engine.UpdatePlanIn{PlanID: root.ID}) {
		return nil
	}
	return atField(p.engine.UpdatePlan(ctx, in), []fieldPlace{
		{"title", "set-title-error"}, {"description", "set-description-error"}, {"review_policy", "set-policy-error"}, {"isolation", "set-isolation-error"},
		{"check_command", "set-check-error"}, {"test_instructions", "set-tests-error"}, {"max_parallel", "set-parallel-error"}, {"max_attempts", "set-attempts-error"},
		{"on_failure", "set-failure-error"}, {"max_tokens", "set-tokens-error"}, {"max_cost_usd", "set-cost-error"},
		{"stall_after", "set-stall-error"}})
}

func readSettings(f *form, root *plan.Plan, in *engine.UpdatePlanIn) {
	if tests, sent := f.text("test_instructions"); sent {
		changed(&in.TestInstructions, root.TestInstructions, tests)
	}
	if policy, sent := f.text("on_failure"); sent {
		changed(&in.OnFailure, root.OnFailure, policy)
	}
	changed(&in.MaxParallel, root.MaxParallel, int(f.number("max_parallel", "set-parallel-error", int64(root.MaxParallel))))
	changed(&in.MaxAttempts, root.MaxAttempts, int(f.number("max_attempts", "set-attempts-error", int64(root.MaxAttempts))))
	changed(&in.MaxTokens, root.MaxTokens, f.number("max_tokens", "set-tokens-error", root.MaxTokens))
	changed(&in.MaxCostUSD, root.MaxCostUSD, f.amount("max_cost_usd", "set-cost-error", root.MaxCostUSD))
	minutes := f.amount("stall_minutes", "set-stall-error", float64(root.StallAfter)/60)
	changed(&in.StallAfter, root.StallAfter, int64(math.Round(minutes*60)))
}

// fieldPlace says where on a page the faults of a field are told.
type fieldPlace struct{ name, at string }

// atField puts an error that names a field to its place, in words for who is
// looking at the field. Another error stays as it is.
func atField(err error, places []fieldPlace) error {
	if plan.KindOf(err) != plan.Invalid {
		return err
	}
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.name
	}
	for line := range strings.Lines(plan.MessageOf(err)) {
		if name, rule := faultField(line, names); name != "" {
			return &fieldError{places[slices.Index(names, name)].at, plan.Errorf(plan.Invalid, "%s", rule)}
		}
	}
	return err
}
