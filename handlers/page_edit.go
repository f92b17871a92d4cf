package handlers

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// editPlaces say where on the form of a step the faults of its fields are told.
var editPlaces = []fieldPlace{{"title", "edit-title-error"}, {"description", "edit-description-error"},
	{"acceptance_criteria", "edit-criteria-error"}, {"files", "edit-files-error"}, {"kind", "edit-kind-error"}, {"agent", "edit-agent-error"},
	{"task_type", "edit-type-error"}, {"isolation", "edit-isolation-error"}, {"max_attempts", "edit-attempts-error"},
	{"estimate_minutes", "edit-estimate-error"}, {"check_command", "edit-check-error"}}

// step reads a step with its plan.
func (p *site) step(ctx context.Context, r plan.Ref) (*plan.Snapshot, *plan.Node, error) {
	s, err := p.engine.Snapshot(ctx, r.Plan)
	if err != nil {
		return nil, nil, err
	}
	n := s.Node(r)
	if n == nil {
		return nil, nil, noStep(r)
	}
	return s, n, nil
}

func noStep(r plan.Ref) error {
	return plan.Errorf(plan.NotFound, "plan %d has no step %d", r.Plan, r.Node)
}

// editAction stores what has changed in the form of a step. What somebody else has
// changed since it was opened is not overwritten.
func (p *site) editAction(c echo.Context, r plan.Ref) error {
	ctx := c.Request().Context()
	s, n, err := p.step(ctx, r)
	if err != nil {
		return err
	}
	if seen := c.FormValue("seen"); seen != views.Seen(n) {
		return plan.Errorf(plan.Conflict, "the step was changed since you opened it, so nothing was saved. Open it again and look.")
	}
	f := &form{c: c}
	in := readEdit(f, s, n)
	if f.err != nil || in == (engine.NodeFields{}) {
		return f.err
	}
	return atEditField(p.engine.UpdateNode(ctx, engine.UpdateNodeIn{PlanID: r.Plan, NodeID: r.Node, NodeFields: in}))
}

// atEditField puts the fault of a field to its place. Those of files name the path
// first.
func atEditField(err error) error {
	placed := atField(err, editPlaces)
	if placed == err && plan.KindOf(err) == plan.Invalid && strings.Contains(plan.MessageOf(err), "path") {
		return &fieldError{"edit-files-error", err}
	}
	return placed
}

// readEdit reads the fields of a step that differ from what it has.
func readEdit(f *form, s *plan.Snapshot, n *plan.Node) engine.NodeFields {
	var in engine.NodeFields
	for _, field := range []struct {
		name string
		to   **string
		was  string
	}{{"title", &in.Title, n.Title}, {"description", &in.Description, n.Description}, {"kind", &in.Kind, string(n.Kind)},
		{"task_type", &in.TaskType, n.TaskType}, {"isolation", &in.Isolation, n.Isolation}, {"check_command", &in.CheckCommand, n.CheckCommand}} {
		if text, sent := f.text(field.name); sent && text != strings.TrimSpace(field.was) {
			*field.to = &text
		}
	}
	had := ""
	if own := s.Profiles[n.Profile]; own != nil {
		had = own.Name
	}
	if agent, sent := f.text("agent"); sent && agent != had {
		ref := engine.AgentRef(agent)
		in.Agent = &ref
	}
	changed(&in.MaxAttempts, n.MaxAttempts, int(f.number("max_attempts", "edit-attempts-error", int64(n.MaxAttempts))))
	changed(&in.EstimateMinutes, n.EstimateMinutes, f.amount("estimate_minutes", "edit-estimate-error", n.EstimateMinutes))
	f.list("acceptance_criteria", n.Criteria, &in.AcceptanceCriteria)
	files := make([]string, len(n.Files))
	for i, file := range n.Files {
		files[i] = file.Path
	}
	f.list("files", files, &in.Files)
	return in
}

// list reads a field of several texts, of which empty ones are left out.
func (f *form) list(name string, was []string, to **[]string) {
	all, _ := f.c.FormParams() // text has reported what is wrong with it
	if !all.Has(name) {
		return
	}
	is := []string{}
	for _, text := range all[name] {
		if text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")); text != "" {
			is = append(is, text)
		}
	}
	if !slices.Equal(is, was) {
		*to = &is
	}
}

// addStepAction begins a step and leads to its form.
func (p *site) addStepAction(c echo.Context, id plan.PlanID) error {
	title := strings.TrimSpace(c.FormValue("title"))
	in := engine.AddNodeIn{PlanID: id, NodeFields: engine.NodeFields{Title: &title}}
	if after := strings.TrimSpace(c.FormValue("after")); after != "" {
		n, err := stepNumber(after)
		if err != nil {
			return &fieldError{"add-after-error", err}
		}
		in.After = []plan.NodeID{n}
	}
	r, err := p.engine.AddNode(c.Request().Context(), in)
	if err != nil {
		return atField(err, []fieldPlace{{"title", "add-title-error"}})
	}
	return goTo(c, views.Place{Plan: id, Tab: views.TabEdit}.Node(r))
}

// stepNumber reads the number of a step, as 3 or as 1.3.
func stepNumber(text string) (plan.NodeID, error) {
	text = strings.TrimSpace(text)
	if _, after, ok := strings.Cut(text, "."); ok {
		text = after
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, plan.Errorf(plan.Invalid, "this must be the number of a step of this plan")
	}
	return plan.NodeID(n), nil
}

func (p *site) removeStepAction(c echo.Context, r plan.Ref) error {
	if err := p.engine.RemoveNode(c.Request().Context(), r); err != nil {
		return err
	}
	return goTo(c, views.PlanURL(r.Plan))
}

// orderAction has a step wait for another, or another for it.
func (p *site) orderAction(c echo.Context, r plan.Ref) error {
	side := c.FormValue("side")
	if side != "before" {
		side = "after"
	}
	other, err := stepNumber(c.FormValue("step"))
	if err != nil {
		return &fieldError{"order-" + side + "-error", err}
	}
	in := engine.EdgeIn{PlanID: r.Plan, From: other, To: r.Node}
	if side == "before" {
		in.From, in.To = r.Node, other
	}
	if err := p.engine.AddEdge(c.Request().Context(), in); err != nil {
		return &fieldError{"order-" + side + "-error", err}
	}
	return nil
}

func (p *site) unorderAction(c echo.Context, r plan.Ref) error {
	from, err := stepNumber(c.FormValue("from"))
	if err != nil {
		return err
	}
	to, err := stepNumber(c.FormValue("to"))
	if err != nil {
		return err
	}
	return p.engine.RemoveEdge(c.Request().Context(), engine.EdgeIn{PlanID: r.Plan, From: from, To: to})
}

// resultsAction hands the result of another step on to this one, or no more.
func (p *site) resultsAction(c echo.Context, r plan.Ref) error {
	from, err := stepNumber(c.FormValue("from"))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	_, n, err := p.step(ctx, r)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(n.ResultsFrom), func(id plan.NodeID) bool { return id == from })
	if c.FormValue("on") == "true" {
		list = append(list, from)
	}
	return p.engine.UpdateNode(ctx, engine.UpdateNodeIn{PlanID: r.Plan, NodeID: r.Node, NodeFields: engine.NodeFields{ResultsFrom: &list}})
}

// subplanWords stores what the settings say of a subplan.
func (p *site) subplanWords(f *form, here, root *plan.Plan) error {
	in := engine.UpdatePlanIn{PlanID: here.ID}
	planWords(f, here, root, &in)
	if f.err != nil || in == (engine.UpdatePlanIn{PlanID: here.ID}) {
		return f.err
	}
	return atField(p.engine.UpdatePlan(f.c.Request().Context(), in), []fieldPlace{{"title", "set-title-error"}, {"description", "set-description-error"}})
}

// planWords reads what the settings say of the plan itself.
func planWords(f *form, p, root *plan.Plan, in *engine.UpdatePlanIn) {
	for _, field := range []struct {
		name string
		to   **string
		was  string
		root bool
	}{{"title", &in.Title, p.Title, false}, {"description", &in.Description, p.Description, false},
		{"review_policy", &in.ReviewPolicy, root.ReviewPolicy, true}, {"isolation", &in.Isolation, root.Isolation, true},
		{"check_command", &in.CheckCommand, root.CheckCommand, true}} {
		text, sent := f.text(field.name)
		if sent && (p.TopLevel() || !field.root) && text != strings.TrimSpace(field.was) {
			*field.to = &text
		}
	}
}
