package plan

import (
	"cmp"
	"slices"
)

// Snapshot is one plan tree as it was at one moment. Pages, JSON, MCP answers
// and Markdown are all built from it, so they cannot disagree. It is not safe
// for concurrent use: some answers are worked out when first asked for.
type Snapshot struct {
	Seq       int64 // the last change that it includes
	Server    Server
	Profiles  map[ProfileID]*Profile
	Questions []Question // open ones
	Holds     map[Ref]Hold
	Reviews   map[Ref]*Review // the verdicts that stand; node 0 is for a plan
	Reviewing map[Ref]*Review // those that have been asked for
	Judged    map[Ref]*Review // the last judgement on each step that has a gate
	Judging   map[Ref]*Review // those that are on their way
	TrimmedAt Stamp           // until when transcripts and diffs were removed; 0: all are there
	AtWork    map[Ref]*Run    // the open runs of built-in agents on steps

	root  *Plan
	plans map[PlanID]*branch
	ids   []PlanID // ascending

	conflicts map[Ref][]ConflictWith
}

// branch is one plan of the tree with what belongs to it.
type branch struct {
	plan  *Plan
	nodes []*Node // by number
	byID  map[NodeID]*Node
	edges []Edge
	graph *Graph
}

// Hold says why a ready node has not started.
type Hold struct {
	Phase  Phase
	By     Ref    // the node that goes first, for PhaseFiles
	Reason string // HeldRunning or HeldTurn, for PhaseFiles; HeldTrying, for PhaseLimit
	Until  Stamp  // when it may start at the earliest, for PhaseLimit and after an interruption
}

// Reasons of a hold by files, then by a limit.
const (
	HeldRunning = "running" // By is running
	HeldTurn    = "turn"    // By has a lower number and is ready too
	HeldTrying  = "trying"  // its time is up, and one run tries whether it is over
)

// NewSnapshot puts a tree together. Plans must hold the root; nodes and edges of
// plans that are not in it are left out. It keeps what it is given.
func NewSnapshot(plans []Plan, nodes []Node, edges []Edge) *Snapshot {
	s := &Snapshot{plans: make(map[PlanID]*branch, len(plans)), Profiles: map[ProfileID]*Profile{},
		Reviews: map[Ref]*Review{}, Reviewing: map[Ref]*Review{},
		Judged: map[Ref]*Review{}, Judging: map[Ref]*Review{}, AtWork: map[Ref]*Run{}}
	for i := range plans {
		p := &plans[i]
		s.plans[p.ID] = &branch{plan: p, byID: map[NodeID]*Node{}}
		s.ids = append(s.ids, p.ID)
		if p.TopLevel() {
			s.root = p
		}
	}
	slices.Sort(s.ids)
	for i := range nodes {
		if b := s.plans[nodes[i].PlanID]; b != nil {
			b.nodes = append(b.nodes, &nodes[i])
			b.byID[nodes[i].ID] = &nodes[i]
		}
	}
	for _, b := range s.plans {
		slices.SortFunc(b.nodes, func(x, y *Node) int { return cmp.Compare(x.ID, y.ID) })
	}
	for _, e := range edges {
		if b := s.plans[e.Plan]; b != nil {
			b.edges = append(b.edges, e)
		}
	}
	return s
}

// Root returns the top-level plan.
func (s *Snapshot) Root() *Plan { return s.root }

// PlanIDs returns the ids of all plans of the tree, ascending.
func (s *Snapshot) PlanIDs() []PlanID { return s.ids }

// Plan returns a plan of the tree, nil when it has none of that id.
func (s *Snapshot) Plan(id PlanID) *Plan {
	if b := s.plans[id]; b != nil {
		return b.plan
	}
	return nil
}

// NodesOf returns the nodes of one plan by number.
func (s *Snapshot) NodesOf(id PlanID) []*Node {
	if b := s.plans[id]; b != nil {
		return b.nodes
	}
	return nil
}

// EdgesOf returns the edges of one plan.
func (s *Snapshot) EdgesOf(id PlanID) []Edge {
	if b := s.plans[id]; b != nil {
		return b.edges
	}
	return nil
}

// Node returns a node of the tree, nil when there is none.
func (s *Snapshot) Node(r Ref) *Node {
	if b := s.plans[r.Plan]; b != nil {
		return b.byID[r.Node]
	}
	return nil
}

// Graph returns the order among the nodes of one plan.
func (s *Snapshot) Graph(id PlanID) *Graph {
	b := s.plans[id]
	if b == nil {
		return NewGraph(nil, nil)
	}
	if b.graph == nil {
		ids := make([]NodeID, len(b.nodes))
		for i, n := range b.nodes {
			ids[i] = n.ID
		}
		b.graph = NewGraph(ids, b.edges)
	}
	return b.graph
}

// Container returns the node whose subplan a plan is, nil for the root.
func (s *Snapshot) Container(id PlanID) *Node {
	p := s.Plan(id)
	if p == nil || p.TopLevel() {
		return nil
	}
	return s.Node(p.Parent())
}

// Ancestor is a step on the way from the root to a plan: a plan and the node of
// it that one goes through.
type Ancestor struct {
	Plan *Plan
	Node *Node
}

// Ancestors returns the way from the root down to a plan, without the plan itself.
func (s *Snapshot) Ancestors(id PlanID) []Ancestor {
	var way []Ancestor
	for n := s.Container(id); n != nil; n = s.Container(n.PlanID) {
		way = append(way, Ancestor{s.Plan(n.PlanID), n})
	}
	slices.Reverse(way)
	return way
}

// Tally counts the leaf nodes in a plan and the plans nested in it.
func (s *Snapshot) Tally(id PlanID) Tally {
	var t Tally
	for _, n := range s.NodesOf(id) {
		if n.Asking() {
			t.Asking++
		}
		if n.Subplan != 0 {
			t.add(s.Tally(n.Subplan))
			continue
		}
		t.Count(n.State, 1)
		if n.WaitingForUser() {
			t.Waiting++
		}
	}
	return t
}

func (t *Tally) add(o Tally) {
	t.Total += o.Total
	t.Pending += o.Pending
	t.Ready += o.Ready
	t.Running += o.Running
	t.Done += o.Done
	t.Failed += o.Failed
	t.Skipped += o.Skipped
	t.Waiting += o.Waiting
	t.Asking += o.Asking
}

// Status derives the state of a plan from its own nodes.
func (s *Snapshot) Status(id PlanID) Status {
	var t Tally
	byFailure := 0
	for _, n := range s.NodesOf(id) {
		t.Count(n.State, 1)
		if n.State == Skipped && n.SkippedBy == SkippedByFailure {
			byFailure++
		}
	}
	return StatusOf(t, byFailure)
}

// Walk calls f for every node of the tree in the order of refs.
func (s *Snapshot) Walk(f func(*Node)) {
	for _, id := range s.ids {
		for _, n := range s.plans[id].nodes {
			f(n)
		}
	}
}

// WalkFrom calls f for every node of a plan and of those nested in it, each node
// before what its subplan has.
func (s *Snapshot) WalkFrom(id PlanID, f func(*Node)) {
	for _, n := range s.NodesOf(id) {
		f(n)
		if n.Subplan != 0 {
			s.WalkFrom(n.Subplan, f)
		}
	}
}

// Active returns the nodes that have an agent at work now.
func (s *Snapshot) Active() []*Node {
	return s.where((*Node).Working)
}

// Waiting returns the nodes that wait for a person.
func (s *Snapshot) Waiting() []*Node {
	return s.where(func(n *Node) bool {
		return n.WaitingForUser() || n.State == Running && n.Phase == PhaseNeedsPerson
	})
}

func (s *Snapshot) where(ok func(*Node) bool) []*Node {
	var out []*Node
	s.Walk(func(n *Node) {
		if ok(n) {
			out = append(out, n)
		}
	})
	return out
}

// StartedDependants returns the direct dependants of a node that already ran or
// run now: what a rework of the node leaves as it is.
func (s *Snapshot) StartedDependants(r Ref) []NodeID {
	out := []NodeID{}
	for _, id := range s.Graph(r.Plan).Dependants(r.Node) {
		if n := s.Node(Ref{r.Plan, id}); n.State == Running || n.State == Done || n.State == Failed {
			out = append(out, id)
		}
	}
	return out
}

// Agent says which profile runs a node: while an agent works on it the one that its
// run was started with, else the one that it would be started with.
func (s *Snapshot) Agent(n *Node) Agent {
	a := s.resolve(n)
	run := s.AtWork[n.Ref()]
	if run == nil || run.ID != n.RunID || run.Profile == 0 {
		return a
	}
	if a.Profile == nil || a.Profile.ID != run.Profile {
		a.Source, a.FromPlan = FromRun, 0
	}
	was := Profile{ID: run.Profile}
	if p := s.Profiles[run.Profile]; p != nil {
		was = *p
	}
	was.Name, was.Harness, was.Model = cmp.Or(was.Name, run.AgentName), run.Harness, run.Model
	a.Profile = &was
	_, a.CapabilitySource = s.Server.EffectiveCapability(&was)
	a.Capability = run.Capability
	return a
}

// resolve finds the profile of a node's next run: its own, its plan's default, the
// nearest ancestor's default, the server's.
func (s *Snapshot) resolve(n *Node) Agent {
	a := Agent{Source: FromServerDefault, Profile: s.Profiles[s.Server.DefaultProfile]}
	if p := s.Profiles[n.Profile]; p != nil {
		a.Profile, a.Source = p, FromNode
	} else if p, from := s.PlanDefault(n.PlanID); p != nil {
		a.Profile, a.FromPlan, a.Source = p, from, FromInherited
		if from == n.PlanID {
			a.Source = FromPlan
		}
	}
	a.Capability, a.CapabilitySource = s.Server.EffectiveCapability(a.Profile)
	return a
}

// PlanDefault returns the profile that a plan or the nearest plan above it names
// as default, and which plan that is; nil when none does.
func (s *Snapshot) PlanDefault(id PlanID) (*Profile, PlanID) {
	for p := s.Plan(id); p != nil; p = s.Plan(p.ParentPlan) {
		if prof := s.Profiles[p.DefaultProfile]; prof != nil {
			return prof, p.ID
		}
	}
	return nil, 0
}
