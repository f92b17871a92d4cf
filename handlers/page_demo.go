package handlers

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/labstack/echo/v4"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views"
)

// demo makes the demo plan, has it played by the agent that costs nothing, and
// leads to its page.
func (p *site) demo(c echo.Context) error {
	ctx := c.Request().Context()
	in := demoPlan()
	var err error
	if in.WorkingDirectory, err = p.demoFolder(); err != nil {
		return err
	}
	out, err := p.engine.SubmitPlan(ctx, in)
	if err != nil {
		return err
	}
	if _, err := p.engine.SetPlanAgent(ctx, out.PlanID, "mock"); err != nil {
		return err
	}
	sub := demoSubplan(out.PlanID, out.Nodes["api"])
	if _, err := p.engine.SubmitPlan(ctx, sub); err != nil {
		return err
	}
	if err := p.engine.StartPlan(ctx, out.PlanID, plan.Builtin); err != nil {
		return err
	}
	return goTo(c, views.PlanURL(out.PlanID))
}

// demoFolder makes a folder of its own for a demo, beside those that the server
// gives to plans without one: two demos may run at once.
func (p *site) demoFolder() (string, error) {
	base := filepath.Dir(p.engine.WorkDirOf(&plan.Plan{}))
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of demos: %w", err)
	}
	dir, err := os.MkdirTemp(base, "demo-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the demo: %w", err)
	}
	return dir, nil
}

// demoPlan shows what plans can be: steps side by side, files that are shared, a
// subplan and a step for a person.
func demoPlan() engine.SubmitPlanIn {
	return engine.SubmitPlanIn{
		PlanIn: engine.PlanIn{Title: "Demo: a small to-do service",
			Description: "A plan to look at. Its agents are played and change nothing."},
		Nodes: []engine.NodeSpec{
			{Key: "design", Title: "Agree on data and routes", Files: []string{"docs/design.md"},
				Description: "Write down **what a to-do is** and which routes the service has."},
			{Key: "store", Title: "Store to-dos in SQLite", Files: []string{"store.go", "store_test.go"}, ResultsFrom: []string{"design"},
				Description:        "Create, list, complete and delete. Cover each with a test.",
				AcceptanceCriteria: []string{"all tests pass", "deleting twice is no error"}},
			{Key: "api", Title: "Build the HTTP interface", ResultsFrom: []string{"design"},
				Description: "Broken down into a subplan: open it with a double click."},
			{Key: "page", Title: "Write the page", Files: []string{"web/index.html", "web/style.css"}, ResultsFrom: []string{"design"}},
			{Key: "look", Title: "Set colours and spacing", Files: []string{"web/style.css"},
				Description: "Shares a file with the page, so the two take turns."},
			{Key: "wire", Title: "Put the parts together", Files: []string{"main.go"}, ResultsFrom: []string{"store", "api"}},
			{Key: "try", Title: "Try it in a browser", Kind: "user",
				Description: "Open the page, add a to-do, reload, complete it.\n\nThen press **Mark done**; what you write goes to the last step."},
			{Key: "notes", Title: "Write the release notes", Files: []string{"CHANGELOG.md"}, ResultsFrom: []string{"wire", "try"}},
		},
		Edges: [][]string{{"design", "store"}, {"design", "api"}, {"design", "page"}, {"design", "look"}, {"store", "wire"}, {"api", "wire"},
			{"page", "try"}, {"look", "try"}, {"wire", "try"}, {"wire", "notes"}, {"try", "notes"}},
	}
}

func demoSubplan(parent plan.PlanID, node plan.NodeID) engine.SubmitPlanIn {
	return engine.SubmitPlanIn{
		PlanIn: engine.PlanIn{Title: "HTTP interface", ParentPlanID: parent, ParentNodeID: node},
		Nodes: []engine.NodeSpec{
			{Key: "routes", Title: "Routes and status codes", Files: []string{"api.go"}},
			{Key: "checks", Title: "Refuse bad input with a clear message", Files: []string{"input.go"}},
			{Key: "tests", Title: "Test every route", Files: []string{"api_test.go"}, ResultsFrom: []string{"routes"}},
		},
		Edges: [][]string{{"routes", "tests"}, {"checks", "tests"}},
	}
}
