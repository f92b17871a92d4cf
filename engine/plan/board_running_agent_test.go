package plan

import "testing"

// A running node counts against the limit of the agent that it was started with,
// whatever it or its plan is given meanwhile: that applies to its next start.
func TestRunningNodeCountsForTheAgentThatItWasStartedWith(t *testing.T) {
	for name, edit := range map[string]func(*PlanFacts, *NodeFacts){
		"its own agent is changed":             func(_ *PlanFacts, n *NodeFacts) { n.Profile = 2 },
		"the plan's is, and something is told": func(p *PlanFacts, _ *NodeFacts) { p.Profile = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBoard(Limits{MaxConcurrency: 9, DefaultProfile: 1})
			b.SetProfiles([]Profile{{ID: 1, MaxParallel: 1}, {ID: 2, MaxParallel: 1}})
			p := PlanFacts{ID: 1, Root: 1, Started: true, Executor: Builtin}
			one := NodeFacts{PlanID: 1, ID: 1, State: Ready, Kind: KindAgent}
			b.Apply(&Facts{Plans: []PlanFacts{p}, Nodes: []NodeFacts{one, {PlanID: 1, ID: 2, State: Ready, Kind: KindAgent, Profile: 1}}})
			if r, _ := b.Next(); r != one.Ref() {
				t.Fatalf("first is %s", r)
			}
			one.State, one.Phase, one.AgentKind = Running, PhaseWorking, string(Builtin)
			b.Apply(&Facts{Nodes: []NodeFacts{one}})
			edit(&p, &one)
			b.Apply(&Facts{Plans: []PlanFacts{p}})
			b.Apply(&Facts{Nodes: []NodeFacts{one}}) // as after any edit of it
			if r, ok := b.Next(); ok {
				t.Errorf("%s starts although agent 1, of which one may run at once, is at work", r)
			}
		})
	}
}
