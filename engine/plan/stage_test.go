package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stage is a board and the facts it was told, for tests that read like the spec.
type stage struct {
	t     *testing.T
	b     *Board
	nodes map[string]*NodeFacts
}

func newStage(t *testing.T, l Limits, profiles ...Profile) *stage {
	s := &stage{t: t, b: NewBoard(l), nodes: map[string]*NodeFacts{}}
	s.b.SetProfiles(profiles)
	return s
}

// plan starts a plan; with a parent it is that node's subplan, and the node works
// through it.
func (s *stage) plan(id PlanID, parent string, change ...func(*PlanFacts)) {
	s.t.Helper()
	f := PlanFacts{ID: id, Root: id, Started: true, Executor: Builtin}
	if parent != "" {
		r := s.ref(parent)
		up := s.b.plans[r.Plan].facts
		f.Root, f.ParentPlan, f.ParentNode, f.Executor = up.Root, r.Plan, r.Node, up.Executor
	}
	for _, c := range change {
		c(&f)
	}
	s.b.Apply(&Facts{Plans: []PlanFacts{f}})
	if parent != "" {
		s.set(parent, func(n *NodeFacts) { n.State, n.Phase, n.Subplan = Running, PhaseSubplan, id })
	}
}

func (s *stage) ref(name string) Ref {
	r, err := ParseRef(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// ready makes a node ready, with files.
func (s *stage) ready(name string, files ...string) {
	s.set(name, func(n *NodeFacts) { n.State, n.Phase, n.AgentKind, n.Keys = Ready, PhaseNone, "", files })
}

func (s *stage) set(name string, change func(*NodeFacts)) {
	n := s.nodes[name]
	if n == nil {
		r := s.ref(name)
		n = &NodeFacts{PlanID: r.Plan, ID: r.Node, State: Ready, Kind: KindAgent}
		s.nodes[name] = n
	}
	change(n)
	s.b.Apply(&Facts{Nodes: []NodeFacts{*n}})
}

func (s *stage) end(name string, as State) {
	s.set(name, func(n *NodeFacts) { n.State, n.Phase, n.AgentKind = as, PhaseNone, "" })
}

// start gives out all that may start and commits it.
func (s *stage) start() []string {
	out := []string{}
	for r, ok := s.b.Next(); ok; r, ok = s.b.Next() {
		s.set(r.String(), func(n *NodeFacts) { n.State, n.Phase, n.AgentKind = Running, PhaseWorking, string(Builtin) })
		out = append(out, r.String())
	}
	return out
}

// drain starts and finishes until nothing more starts, and returns the order.
func (s *stage) drain() []string {
	var order []string
	for now := s.start(); len(now) > 0; now = s.start() {
		for _, name := range now {
			s.end(name, Done)
		}
		order = append(order, now...)
	}
	return order
}

func (s *stage) wantStart(what string, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), s.start()); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (s *stage) wantHeld(name string, want Hold) {
	s.t.Helper()
	if got := s.b.Held(s.ref(name)); got != want {
		s.t.Errorf("%s is held by %+v, want %+v", name, got, want)
	}
}
