package handlers

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/views"
)

// maxFolders is how many working directories are suggested.
const maxFolders = 12

// newPlan shows the forms with which plans are begun.
func (p *site) newPlan(c echo.Context) error {
	page, err := p.newPlanPage(c.Request().Context())
	if err != nil {
		return err
	}
	page.ByHand, page.ByFile = c.QueryParam("by") == "hand", c.QueryParam("by") == "file"
	return p.answer(c, http.StatusOK, page.Title(), views.BeginView(page))
}

func (p *site) newPlanPage(ctx context.Context) (*views.BeginPage, error) {
	page := &views.BeginPage{}
	agents, err := p.engine.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	for i := range agents {
		page.Agents = append(page.Agents, agents[i].Name)
	}
	slices.Sort(page.Agents)
	all, err := p.engine.Overviews(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		dir := all[i].Plan.WorkDir
		if dir != "" && len(page.Folders) < maxFolders && !slices.Contains(page.Folders, dir) {
			page.Folders = append(page.Folders, dir)
		}
	}
	return page, nil
}

// fromGoalAction has a plan made from a goal, and leads to it.
func (p *site) fromGoalAction(c echo.Context) error {
	id, err := p.engine.PlanFromGoal(c.Request().Context(), engine.FromGoalIn{Goal: longText(c, "goal"),
		WorkingDirectory: strings.TrimSpace(c.FormValue("working_directory")), Constraints: longText(c, "constraints"),
		Agent: engine.AgentRef(c.FormValue("agent"))})
	if err != nil {
		return atField(err, []fieldPlace{{"working_directory", "new-dir-error"}, {"goal", "new-goal-error"},
			{"constraints", "new-constraints-error"}, {"agent", "new-agent-error"}})
	}
	return goTo(c, views.PlanURL(id))
}

// byHandAction makes an empty plan and leads to it.
func (p *site) byHandAction(c echo.Context) error {
	out, err := p.engine.SubmitPlan(c.Request().Context(), engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: strings.TrimSpace(c.FormValue("title")),
		WorkingDirectory: strings.TrimSpace(c.FormValue("working_directory")), Description: strings.TrimSpace(longText(c, "description"))}})
	if err != nil {
		return atField(err, []fieldPlace{{"working_directory", "new-dir-error"}, {"title", "new-title-error"}, {"description", "new-description-error"}})
	}
	return goTo(c, views.PlanURL(out.PlanID))
}
