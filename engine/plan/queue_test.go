package plan

import (
	"fmt"
	"testing"
)

// What it costs to find the next step does not depend on how many plans are started,
// are over, or wait for something.
func TestWhoIsNextIsFoundWithoutLookingAtEveryPlan(t *testing.T) {
	for name, c := range map[string]struct {
		profiles []Profile
		plan     func(*PlanFacts)
		fill     func(*stage, PlanID)
		external bool
	}{
		"finished ones":          {fill: func(s *stage, id PlanID) { s.end(fmt.Sprintf("%d.1", id), Done) }},
		"with nothing to do":     {fill: func(*stage, PlanID) {}},
		"with a step of its own": {fill: func(s *stage, id PlanID) { s.ready(fmt.Sprintf("%d.1", id)) }},
		"over budget":            {plan: func(p *PlanFacts) { p.OverBudget = true }, fill: func(s *stage, id PlanID) { s.ready(fmt.Sprintf("%d.1", id)) }},
		"not approved":           {plan: func(p *PlanFacts) { p.Approval = Awaiting }, fill: func(s *stage, id PlanID) { s.ready(fmt.Sprintf("%d.1", id)) }},
		"external ones":          {plan: func(p *PlanFacts) { p.Executor = External }, fill: func(s *stage, id PlanID) { s.ready(fmt.Sprintf("%d.1", id)) }},
		"whose agent is taken": {profiles: []Profile{{ID: 7, MaxParallel: 1}}, fill: func(s *stage, id PlanID) {
			s.set(fmt.Sprintf("%d.1", id), func(n *NodeFacts) { n.State, n.Profile = Ready, 7 })
			if id == 2 {
				s.set("2.1", func(n *NodeFacts) { n.State, n.Phase, n.AgentKind = Running, PhaseWorking, string(Builtin) })
			}
		}},
		"for claims": {external: true, plan: func(p *PlanFacts) { p.Executor = External }, fill: func(s *stage, id PlanID) { s.ready(fmt.Sprintf("%d.1", id)) }},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(plans int) int {
				s := newStage(t, Limits{}, c.profiles...)
				s.plan(1, "")
				s.ready("1.1")
				for id := PlanID(2); id < PlanID(plans+2); id++ {
					change := c.plan
					if change == nil {
						change = func(*PlanFacts) {}
					}
					s.plan(id, "", change)
					c.fill(s, id)
				}
				s.b.looked = 0
				ok := false
				if c.external {
					_, ok = s.b.Claim(0)
				} else {
					_, ok = s.b.Next()
				}
				if !ok || s.b.looked == 0 {
					t.Fatalf("nothing is given out among %d plans (looked %d times)", plans, s.b.looked)
				}
				return s.b.looked
			}
			if few, many := cost(3), cost(300); many > few {
				t.Errorf("among 3 plans the next step is found after looking %d times, among 300 after %d", few, many)
			}
		})
	}
}
