package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// family is a tree: plan 1 with nodes 1 to 4; node 1.2 holds plan 4, node 4.1
// holds plan 7; 1.3 holds plan 9, which is empty.
func family() ([]Plan, []Node, []Edge) {
	plans := []Plan{{ID: 7, Root: 1, ParentPlan: 4, ParentNode: 1}, {ID: 1, Root: 1, Title: "root"},
		{ID: 9, Root: 1, ParentPlan: 1, ParentNode: 3}, {ID: 4, Root: 1, ParentPlan: 1, ParentNode: 2}}
	nodes := []Node{
		{PlanID: 1, ID: 4, State: Pending}, {PlanID: 1, ID: 1, State: Done}, {PlanID: 1, ID: 2, State: Running, Subplan: 4},
		{PlanID: 1, ID: 3, State: Done, Subplan: 9},
		{PlanID: 4, ID: 2, State: Ready, Kind: KindUser}, {PlanID: 4, ID: 1, State: Running, Subplan: 7},
		{PlanID: 7, ID: 1, State: Failed}, {PlanID: 7, ID: 2, State: Skipped, SkippedBy: SkippedByFailure},
		{PlanID: 7, ID: 3, State: Running, AgentKind: "builtin"},
		{PlanID: 99, ID: 1}, // of no plan here
	}
	edges := []Edge{{1, 1, 2}, {1, 1, 3}, {1, 3, 4}, {7, 1, 2}, {99, 1, 1}}
	return plans, nodes, edges
}

func refs(nodes []*Node) []string {
	out := []string{}
	for _, n := range nodes {
		out = append(out, n.Ref().String())
	}
	return out
}

func TestSnapshotPutsATreeTogether(t *testing.T) {
	s := NewSnapshot(family())
	if s.Root() == nil || s.Root().ID != 1 {
		t.Fatalf("root is %+v, want plan 1", s.Root())
	}
	var walked []*Node
	s.Walk(func(n *Node) { walked = append(walked, n) })
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"plans, ascending", s.PlanIDs(), []PlanID{1, 4, 7, 9}},
		{"nodes by number", refs(s.NodesOf(1)), []string{"1.1", "1.2", "1.3", "1.4"}},
		{"nodes of an unknown plan", refs(s.NodesOf(99)), []string{}},
		{"edges", s.EdgesOf(1), []Edge{{1, 1, 2}, {1, 1, 3}, {1, 3, 4}}},
		{"edges of an unknown plan", s.EdgesOf(99), []Edge(nil)},
		{"all in order", refs(walked), []string{"1.1", "1.2", "1.3", "1.4", "4.1", "4.2", "7.1", "7.2", "7.3"}},
		{"agents at work", refs(s.Active()), []string{"7.3"}},
		{"waiting for a person", refs(s.Waiting()), []string{"4.2"}},
		{"graph of a plan", s.Graph(1).Order(), []NodeID{1, 2, 3, 4}},
		{"graph of an unknown plan", s.Graph(99).Order(), []NodeID{}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if s.Plan(99) != nil || s.Node(Ref{1, 99}) != nil || s.Node(Ref{99, 1}) != nil {
		t.Error("a plan or node is found that is not in the tree")
	}
}

func TestAncestorsLeadFromTheRootDown(t *testing.T) {
	s := NewSnapshot(family())
	for id, want := range map[PlanID][]string{1: nil, 4: {"1.2"}, 7: {"1.2", "4.1"}, 99: nil} {
		var got []string
		for _, a := range s.Ancestors(id) {
			if a.Plan.ID != a.Node.PlanID {
				t.Errorf("node %s is named with plan %d", a.Node.Ref(), a.Plan.ID)
			}
			got = append(got, a.Node.Ref().String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("plan %d (-want +got):\n%s", id, diff)
		}
	}
	if c := s.Container(7); c == nil || c.Ref() != (Ref{4, 1}) || s.Container(1) != nil {
		t.Errorf("plan 7 is contained in %v, plan 1 in %v", c, s.Container(1))
	}
}

func TestTallyCountsTheLeavesOfATree(t *testing.T) {
	s := NewSnapshot(family())
	for id, want := range map[PlanID]Tally{
		1: {Total: 6, Pending: 1, Ready: 1, Running: 1, Done: 1, Failed: 1, Skipped: 1, Waiting: 1},
		4: {Total: 4, Ready: 1, Running: 1, Failed: 1, Skipped: 1, Waiting: 1},
		7: {Total: 3, Running: 1, Failed: 1, Skipped: 1},
		9: {},
	} {
		if diff := cmp.Diff(want, s.Tally(id)); diff != "" {
			t.Errorf("plan %d (-want +got):\n%s", id, diff)
		}
	}
	for id, want := range map[PlanID]Status{1: StatusRunning, 4: StatusRunning, 7: StatusFailed, 9: StatusEmpty} {
		if got := s.Status(id); got != want {
			t.Errorf("plan %d is %s, want %s", id, got, want)
		}
	}
}

func TestStartedDependants(t *testing.T) {
	nodes := []Node{{PlanID: 1, ID: 1, State: Done}}
	var edges []Edge
	for i, st := range States {
		nodes = append(nodes, Node{PlanID: 1, ID: NodeID(i + 2), State: st})
		edges = append(edges, Edge{1, 1, NodeID(i + 2)})
	}
	nodes = append(nodes, Node{PlanID: 1, ID: 20, State: Done}) // a dependant of a dependant
	s := NewSnapshot([]Plan{{ID: 1, Root: 1}}, nodes, append(edges, Edge{1, 5, 20}))
	if diff := cmp.Diff([]NodeID{4, 5, 6}, s.StartedDependants(Ref{1, 1})); diff != "" {
		t.Errorf("running, done and failed ones (-want +got):\n%s", diff)
	}
	if got := s.StartedDependants(Ref{1, 20}); got == nil || len(got) != 0 {
		t.Errorf("without dependants: %#v, want an empty list that is not nil", got)
	}
}

func TestAgentIsResolvedUpTheChain(t *testing.T) {
	const own, inPlan, above, top, fallback, gone = 11, 12, 13, 14, 15, 99
	for _, c := range []struct {
		name                 string
		node, p7, p4, p1, by ProfileID
		want                 Agent
	}{
		{"its own", own, inPlan, above, top, fallback, Agent{Profile: &Profile{ID: own}, Source: FromNode}},
		{"its plan's", 0, inPlan, above, top, fallback, Agent{Profile: &Profile{ID: inPlan}, Source: FromPlan, FromPlan: 7}},
		{"the nearest above", 0, 0, above, top, fallback, Agent{Profile: &Profile{ID: above}, Source: FromInherited, FromPlan: 4}},
		{"the root's", 0, 0, 0, top, fallback, Agent{Profile: &Profile{ID: top}, Source: FromInherited, FromPlan: 1}},
		{"the server's", 0, 0, 0, 0, fallback, Agent{Profile: &Profile{ID: fallback}, Source: FromServerDefault}},
		{"none at all", 0, 0, 0, 0, 0, Agent{Source: FromServerDefault}},
		{"a deleted one is passed over", gone, gone, above, 0, fallback, Agent{Profile: &Profile{ID: above}, Source: FromInherited, FromPlan: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSnapshot(family())
			for _, id := range []ProfileID{own, inPlan, above, top, fallback} {
				s.Profiles[id] = &Profile{ID: id}
			}
			s.Server = Server{DefaultProfile: c.by, DefaultCapability: "full"}
			s.Plan(7).DefaultProfile, s.Plan(4).DefaultProfile, s.Plan(1).DefaultProfile = c.p7, c.p4, c.p1
			n := s.Node(Ref{7, 3})
			n.Profile = c.node
			c.want.Capability, c.want.CapabilitySource = "full", FromDefault
			if diff := cmp.Diff(c.want, s.Agent(n), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanDefaultNamesThePlanItComesFrom(t *testing.T) {
	s := NewSnapshot(family())
	s.Profiles[5] = &Profile{ID: 5}
	s.Plan(4).DefaultProfile = 5
	for id, want := range map[PlanID]PlanID{1: 0, 4: 4, 7: 4, 9: 0, 99: 0} {
		p, from := s.PlanDefault(id)
		if from != want || (p != nil) != (want != 0) {
			t.Errorf("default of plan %d: %+v from plan %d, want from plan %d", id, p, from, want)
		}
	}
}
