package handlers

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// serious has axe-core look for what keeps people from using a page, and lists it.
// The sidebar, the same everywhere, is looked at once in either theme.
const serious = `axe.run(window.looked > 1 ? {exclude: ['#sidebar']} : document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
	.then(r => (window.looked = (window.looked ?? 0) + 1, r.violations.filter(v => ['serious', 'critical'].includes(v.impact))
	.flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ': ' + n.target.join(' ') + ' ' + n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')))))`

// accessible has axe-core look at every page, as it is drawn in both themes.
func accessible(t *testing.T, b *browser) {
	script, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	id := s.richPlan()
	s.start(id, plan.Builtin)
	s.settled(id)
	s.plan("a b:a")
	if _, err := s.engine.SubmitPlan(context.Background(), engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: "Asks first", Approval: "required", WorkingDirectory: t.TempDir()},
		Nodes: []engine.NodeSpec{{Key: "a", Title: "Write it", AcceptanceCriteria: []string{"it builds"}}}}); err != nil {
		t.Fatal(err)
	}
	p := b.tab(t, s.url)
	p.ignore("status of 404")
	look := func(path string) {
		p.visit(path)
		found, ok := p.eval(serious).([]any)
		if !ok {
			t.Fatalf("axe-core told nothing of %s", path)
		}
		if len(found) > 0 {
			t.Errorf("%s:\n%s", path, strings.Trim(fmt.Sprintln(found...), "[]"))
		}
	}
	p.open("/plans")
	p.eval("(() => {" + string(script) + "\n})()")
	pages := []string{"/inbox", "/plans", "/settings", "/agents", "/agents/new", "/connect", "/plans/1?view=graph", "/plans/1?view=list", "/plans/1?view=timeline",
		"/plans/1/nodes/6?tab=session", "/plans/1/nodes/1?tab=review", "/plans/1/nodes/9?tab=edit", "/plans/4?view=graph", "/plans/1/nodes/1/full?tab=changes", "/plans/new?by=hand"}
	for i, path := range append(pages, "/plans/1?view=graph") { // the graph in both themes
		p.dark(i%2 == 1)
		look(path)
	}
	p.size(375, 740)
	for _, path := range []string{"/plans/1?view=list", "/plans/1/nodes/9?tab=edit"} {
		look(path)
		p.fits(path)
	}
}
