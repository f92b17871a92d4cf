package handlers

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// actions mounts what the buttons of pages do. Each calls the operation that REST
// and MCP call too; what changes comes over the stream.
func (p *site) actions() {
	for path, do := range map[string]func(echo.Context) error{
		"/demo":                                   p.demo,
		"/agents/:agent_id/test":                  p.testAgentAction,
		"/agents/:agent_id/delete":                p.deleteAgentAction,
		"/agents/:agent_id":                       p.agentAction,
		"/agents/new":                             p.agentAction,
		"/agents/rescan":                          p.rescanAction,
		"/plans/new/goal":                         p.fromGoalAction,
		"/plans/new/hand":                         p.byHandAction,
		"/plans/new/file":                         p.fromFileAction,
		"/plans/:plan_id/approve":                 p.onPlan(p.approveAction),
		"/plans/:plan_id/revise":                  p.onPlan(p.reviseAction),
		"/plans/:plan_id/replan":                  p.onPlan(p.replanAction),
		"/plans/:plan_id/reject":                  p.onPlan(p.rejectAction),
		"/plans/:plan_id/start":                   p.onPlan(p.startAction),
		"/plans/:plan_id/stop":                    p.onPlan(p.stopAction),
		"/plans/:plan_id/retry-failed":            p.onPlan(p.retryFailedAction),
		"/plans/:plan_id/reset":                   p.onPlan(p.resetAction),
		"/plans/:plan_id/delete":                  p.onPlan(p.deleteAction),
		"/plans/:plan_id/settings":                p.onPlan(p.settingsAction),
		"/plans/:plan_id/review":                  p.onPlan(p.reviewPlanAction),
		"/plans/:plan_id/steps":                   p.onPlan(p.addStepAction),
		"/plans/:plan_id/nodes/:node_id/edit":     p.onNode(p.editAction),
		"/plans/:plan_id/nodes/:node_id/remove":   p.onNode(p.removeStepAction),
		"/plans/:plan_id/nodes/:node_id/order":    p.onNode(p.orderAction),
		"/plans/:plan_id/nodes/:node_id/unorder":  p.onNode(p.unorderAction),
		"/plans/:plan_id/nodes/:node_id/results":  p.onNode(p.resultsAction),
		"/plans/:plan_id/nodes/:node_id/review":   p.onNode(p.reviewAction),
		"/plans/:plan_id/nodes/:node_id/accept":   p.onNode(p.acceptAction),
		"/plans/:plan_id/nodes/:node_id/judge":    p.onNode(p.judgeAction),
		"/plans/:plan_id/nodes/:node_id/complete": p.onNode(p.completeAction),
		"/plans/:plan_id/nodes/:node_id/retry":    p.onNode(p.retryAction),
		"/plans/:plan_id/nodes/:node_id/stop":     p.onNode(p.stopNodeAction),
		"/plans/:plan_id/nodes/:node_id/answer":   p.onNode(p.answerAction),
		"/plans/:plan_id/nodes/:node_id/rework":   p.onNode(p.reworkAction),
		"/plans/:plan_id/nodes/:node_id/follow":   p.onNode(p.followUpAction),
		"/plans/:plan_id/nodes/:node_id/skip":     p.onNode(p.skipAction),
		"/plans/:plan_id/nodes/:node_id/unskip":   p.onNode(p.unskipAction),
	} {
		p.echo.POST(path, p.action(do))
	}
	for path, do := range p.serverActions() {
		p.echo.POST(path, p.action(do))
	}
}

// fieldError is an error that belongs to one field of a form.
type fieldError struct {
	field string // id of the element for it
	err   error
}

func (e *fieldError) Error() string { return e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

// action answers what was asked for with nothing, or with what is wrong: at the
// field or form where there is one, else in the corner of the page. Browsers
// without scripts go back to where they were.
func (p *site) action(do echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := do(c)
		if c.Response().Committed {
			return err
		}
		scripted := c.Request().Header.Get("HX-Request") != ""
		if err == nil {
			if scripted {
				return c.NoContent(http.StatusNoContent)
			}
			return c.Redirect(http.StatusSeeOther, backOf(c))
		}
		said := p.problemOf(err, requestID(c))
		if !scripted {
			return p.answer(c, said.status, "That did not work", views.ProblemView("That did not work", said.text))
		}
		var field *fieldError
		if errors.As(err, &field) {
			c.Response().Header().Set("HX-Retarget", "#"+field.field)
			return send(c, said.status, views.FieldError(said.text))
		}
		if strings.HasPrefix(c.Request().Header.Get("HX-Target"), "p#") {
			return send(c, said.status, views.FieldError(said.text))
		}
		c.Response().Header().Set("HX-Retarget", "#toasts")
		c.Response().Header().Set("HX-Reswap", "beforeend")
		return send(c, said.status, views.Toast(said.text))
	}
}

// backOf is the page of ours that an action was asked for on.
func backOf(c echo.Context) string {
	if strings.HasPrefix(c.Path(), views.ServerURL) {
		return views.ServerURL
	}
	if strings.HasPrefix(c.Path(), views.AgentsURL) {
		return views.AgentsURL
	}
	id, err := number(c, "plan_id")
	if err != nil {
		return "/"
	}
	if node, err := number(c, "node_id"); err == nil {
		return views.NodeURL(plan.Ref{Plan: plan.PlanID(id), Node: plan.NodeID(node)})
	}
	return views.PlanURL(plan.PlanID(id))
}

// goTo leads the browser to another page.
func goTo(c echo.Context, path string) error {
	if c.Request().Header.Get("HX-Request") != "" {
		c.Response().Header().Set("HX-Redirect", path)
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, path)
}

func (p *site) onPlan(do func(echo.Context, plan.PlanID) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := number(c, "plan_id")
		if err != nil {
			return err
		}
		return do(c, plan.PlanID(id))
	}
}

func (p *site) onNode(do func(echo.Context, plan.Ref) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, err := refOf(c)
		if err != nil {
			return err
		}
		return do(c, r)
	}
}

func (p *site) startAction(c echo.Context, id plan.PlanID) error {
	by, err := plan.ParseExecutor(c.FormValue("executor"))
	if err != nil {
		return err
	}
	return p.engine.StartPlan(c.Request().Context(), id, by)
}

func (p *site) stopAction(c echo.Context, id plan.PlanID) error {
	return p.engine.StopPlan(c.Request().Context(), id)
}

func (p *site) retryFailedAction(c echo.Context, id plan.PlanID) error {
	_, err := p.engine.RetryFailed(c.Request().Context(), id)
	return err
}

func (p *site) resetAction(c echo.Context, id plan.PlanID) error {
	return p.engine.ResetPlan(c.Request().Context(), id)
}

func (p *site) deleteAction(c echo.Context, id plan.PlanID) error {
	if err := p.engine.DeletePlan(c.Request().Context(), id); err != nil {
		return err
	}
	return goTo(c, "/plans")
}

func (p *site) completeAction(c echo.Context, r plan.Ref) error {
	var result *string
	if text := longText(c, "result"); strings.TrimSpace(text) != "" {
		result = &text
	}
	return p.engine.MarkDone(c.Request().Context(), r, result)
}

// longText reads a field of several lines, as people mean their ends.
func longText(c echo.Context, name string) string {
	return strings.ReplaceAll(c.FormValue(name), "\r\n", "\n")
}

func (p *site) reworkAction(c echo.Context, r plan.Ref) error {
	return p.engine.ReworkNode(c.Request().Context(), r, longText(c, "instructions"))
}

func (p *site) skipAction(c echo.Context, r plan.Ref) error {
	return p.engine.SkipNode(c.Request().Context(), r, strings.TrimSpace(longText(c, "note")))
}

func (p *site) unskipAction(c echo.Context, r plan.Ref) error {
	return p.engine.UnskipNode(c.Request().Context(), r)
}

func (p *site) retryAction(c echo.Context, r plan.Ref) error {
	return p.engine.RetryNode(c.Request().Context(), r)
}

func (p *site) stopNodeAction(c echo.Context, r plan.Ref) error {
	return p.engine.StopNode(c.Request().Context(), r)
}

// answerAction answers the question of a step's agent.
func (p *site) answerAction(c echo.Context, r plan.Ref) error {
	ctx := c.Request().Context()
	open, err := p.engine.Questions(ctx)
	if err != nil {
		return err
	}
	for _, q := range open {
		if q.PlanID == r.Plan && q.NodeID == r.Node && q.ID == c.FormValue("question") {
			return p.answerOf(c, &q)
		}
	}
	return plan.Errorf(plan.Conflict, "this question is no longer open: someone answered it, or its run has ended")
}

// answerOf gives an answer and says whether the agent got it.
func (p *site) answerOf(c echo.Context, q *plan.Question) error {
	if _, err := p.engine.AnswerQuestion(c.Request().Context(), q.RunID, q.ID, c.FormValue("answer"), ""); err != nil {
		return err
	}
	if c.Request().Header.Get("HX-Request") == "" {
		return nil
	}
	r := plan.Ref{Plan: q.PlanID, Node: q.NodeID}
	return send(c, http.StatusOK, views.Notice(views.AnswerWords(r, q.Tool, c.FormValue("answer") == "allow", p.engine.Attached(q.RunID))))
}
