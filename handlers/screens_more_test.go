package handlers

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// layered makes a plan of n steps, each after one of the layer before.
func (s *stage) layered(title string, n, wide int) plan.PlanID {
	s.t.Helper()
	in := engine.SubmitPlanIn{PlanIn: engine.PlanIn{Title: title, WorkingDirectory: s.t.TempDir()}}
	for i := range n {
		in.Nodes = append(in.Nodes, engine.NodeSpec{Key: fmt.Sprint(i), Title: fmt.Sprintf("Step %d of a large plan with a title", i)})
		if i >= wide {
			in.Edges = append(in.Edges, []string{fmt.Sprint(i - wide), fmt.Sprint(i)})
		}
	}
	out, err := s.engine.SubmitPlan(context.Background(), in)
	if err != nil {
		s.t.Fatal(err)
	}
	return out.PlanID
}

// someDone starts a plan for an outside agent and does its first steps.
func (s *stage) someDone(id plan.PlanID, n int) {
	s.t.Helper()
	s.start(id, plan.External)
	for i := range n {
		if err := s.engine.MarkDone(context.Background(), plan.Ref{Plan: id, Node: plan.NodeID(i + 1)}, nil); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestLargeScreens takes pictures of what is told about time and of what waits,
// and of plans that are large.
func TestLargeScreens(t *testing.T) {
	if os.Getenv("CLEARBOX_SCREENS") == "" {
		t.Skip("CLEARBOX_SCREENS names no folder for pictures")
	}
	only := regexp.MustCompile(os.Getenv("CLEARBOX_SCREENS_ONLY"))
	b := openBrowser(t)
	s := newStage(t)
	done := s.plan("a b:a c:a d:b e:d")
	s.start(done, plan.Builtin)
	enginetest.Until(t, s.engine, done, "done", enginetest.Status(plan.StatusDone))
	rich := s.richPlan()
	s.start(rich, plan.Builtin)
	s.settled(rich)
	s.someDone(s.layered("Three hundred steps", 300, 10), 25)
	s.someDone(s.layered("Two thousand steps", 2000, 40), 50)
	p := b.tab(t, s.url)
	for _, size := range screenSizes() {
		p.size(size.w, size.h)
		for _, dark := range []bool{false, true} {
			p.dark(dark)
			for page, path := range map[string]string{
				"timeline": "/plans/2?view=timeline", "timeline-open": "/plans/2/nodes/3?view=timeline", "timeline-done": "/plans/1?view=timeline",
				"timeline-300": "/plans/4?view=timeline", "timeline-2000": "/plans/5?view=timeline", "graph-300": "/plans/4?view=graph",
				"graph-2000": "/plans/5?view=graph", "list-2000": "/plans/5?view=list", "list-failed": "/plans/2?view=list&show=failed",
				"inbox": "/inbox", "server": "/settings", "plans-sorted": "/plans?sort=title", "list-rich": "/plans/2?view=list",
				"session-tools": "/plans/2/nodes/6?tab=session", "full-tools": "/plans/2/nodes/6/full?tab=session",
			} {
				if name := page + "-" + size.name(dark); only.MatchString(name) {
					p.open(path)
					p.until("the connection is up", `document.querySelector('#lost').hidden`)
					p.shoot(name)
				}
			}
		}
	}
}
