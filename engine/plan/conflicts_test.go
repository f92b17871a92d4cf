package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// treeWith builds a snapshot from nodes written as "plan.node" with their files.
// Plan 4 is the subplan of 1.2, plan 5 that of 1.3, plan 7 that of 4.1.
func treeWith(t *testing.T, files map[string][]string, edges ...Edge) *Snapshot {
	t.Helper()
	plans := []Plan{{ID: 1, Root: 1}, {ID: 4, Root: 1, ParentPlan: 1, ParentNode: 2},
		{ID: 5, Root: 1, ParentPlan: 1, ParentNode: 3}, {ID: 7, Root: 1, ParentPlan: 4, ParentNode: 1}}
	at := map[Ref]*Node{}
	for _, p := range []Ref{{1, 2}, {1, 3}, {4, 1}} {
		at[p] = &Node{PlanID: p.Plan, ID: p.Node, Kind: KindAgent}
	}
	for name, paths := range files {
		r, err := ParseRef(name)
		if err != nil {
			t.Fatal(err)
		}
		at[r] = &Node{PlanID: r.Plan, ID: r.Node, Kind: KindAgent, Files: parse(t, paths...)}
	}
	at[Ref{1, 2}].Subplan, at[Ref{1, 3}].Subplan, at[Ref{4, 1}].Subplan = 4, 5, 7
	var nodes []Node
	for _, n := range at {
		nodes = append(nodes, *n)
	}
	return NewSnapshot(plans, nodes, edges)
}

func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string][]string
		edges []Edge
		user  []Ref
		of    Ref
		want  []ConflictWith
	}{
		{"none without files", map[string][]string{"1.1": nil, "1.4": {"a"}}, nil, nil, Ref{1, 1}, nil},
		{"one file, by number", map[string][]string{"1.1": {"A.py"}, "1.5": {"a.PY"}, "1.4": {"a.py"}}, nil, nil, Ref{1, 1},
			[]ConflictWith{{Ref{1, 4}, []string{"A.py"}}, {Ref{1, 5}, []string{"A.py"}}}},
		{"a folder and what is in it", map[string][]string{"1.1": {"src"}, "1.4": {"Src/a.py", "src/b.py"}, "1.5": {"srcfoo"}}, nil, nil, Ref{1, 1},
			[]ConflictWith{{Ref{1, 4}, []string{"Src/a.py", "src/b.py"}}}},
		{"folders keep to their segments", map[string][]string{"1.1": {"a", "a-b/x", "a/b"}, "1.4": {"a-b"}, "1.5": {"a/b/c"}}, nil, nil, Ref{1, 4},
			[]ConflictWith{{Ref{1, 1}, []string{"a-b/x"}}}},
		{"not those before or after it", map[string][]string{"1.1": {"x"}, "1.4": {"x"}, "1.5": {"x"}, "1.6": {"x"}},
			edgesOf(1, 4, 4, 5), nil, Ref{1, 4}, []ConflictWith{{Ref{1, 6}, []string{"x"}}}},
		{"not user steps", map[string][]string{"1.1": {"x"}, "1.4": {"x"}, "1.5": {"x"}}, nil, []Ref{{1, 4}}, Ref{1, 1},
			[]ConflictWith{{Ref{1, 5}, []string{"x"}}}},
		{"a user step has none", map[string][]string{"1.1": {"x"}, "1.4": {"x"}}, nil, []Ref{{1, 4}}, Ref{1, 4}, nil},
		{"across subplans", map[string][]string{"1.1": {"x"}, "7.1": {"x"}, "5.1": {"x"}}, nil, nil, Ref{7, 1},
			[]ConflictWith{{Ref{1, 1}, []string{"x"}}, {Ref{5, 1}, []string{"x"}}}},
		{"not a node and those inside its own subplan", map[string][]string{"1.2": {"x"}, "4.1": {"x"}, "7.1": {"x"}, "5.1": {"x"}}, nil, nil, Ref{4, 1},
			[]ConflictWith{{Ref{5, 1}, []string{"x"}}}},
		{"not across subplans whose containers are ordered", map[string][]string{"7.1": {"x"}, "5.1": {"x"}, "1.1": {"x"}},
			edgesOf(2, 3), nil, Ref{7, 1}, []ConflictWith{{Ref{1, 1}, []string{"x"}}}},
		{"ordered inside a subplan", map[string][]string{"7.1": {"x"}, "4.2": {"x"}, "4.3": {"x"}},
			[]Edge{{4, 1, 2}}, nil, Ref{7, 1}, []ConflictWith{{Ref{4, 3}, []string{"x"}}}},
		{"a node after a container comes after all in it", map[string][]string{"7.1": {"x"}, "1.4": {"x"}}, edgesOf(2, 4), nil, Ref{1, 4}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := treeWith(t, c.files, c.edges...)
			for _, r := range c.user {
				s.Node(r).Kind = KindUser
			}
			if diff := cmp.Diff(c.want, s.Conflicts(c.of), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("conflicts of %s (-want +got):\n%s", c.of, diff)
			}
		})
	}
}

func TestConflictsAgainstBruteForce(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		files := map[string][]string{}
		for _, p := range []int{1, 4, 5, 7} {
			for n := 1; n <= 5; n++ {
				files[fmt.Sprintf("%d.%d", p, n)] = randomKeys(r)
			}
		}
		var edges []Edge
		for range r.IntN(8) {
			a, b := NodeID(1+r.IntN(5)), NodeID(1+r.IntN(5))
			if a < b {
				edges = append(edges, Edge{[]PlanID{1, 4, 5, 7}[r.IntN(4)], a, b})
			}
		}
		s := treeWith(t, files, edges...)
		s.Walk(func(n *Node) {
			if n.Subplan == 0 && r.IntN(8) == 0 {
				n.Kind = KindUser
			}
		})
		s.Walk(func(n *Node) {
			if diff := cmp.Diff(slowConflicts(s, n), s.Conflicts(n.Ref()), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, conflicts of %s (-slow +got):\n%s", seed, n.Ref(), diff)
			}
		})
	}
}

func slowConflicts(s *Snapshot, n *Node) []ConflictWith {
	var out []ConflictWith
	s.Walk(func(o *Node) {
		shared := SharedFiles(n.Files, o.Files)
		if o == n || n.Kind == KindUser || o.Kind == KindUser || len(shared) == 0 || comesFirst(s, n, o) || comesFirst(s, o, n) {
			return
		}
		out = append(out, ConflictWith{o.Ref(), shared})
	})
	return out
}

// comesFirst reports whether a must be over before b begins, or holds b.
func comesFirst(s *Snapshot, a, b *Node) bool {
	for n := b; n != nil; n = s.Container(n.PlanID) {
		if n == a {
			return true
		}
		for m := a; m != nil; m = s.Container(m.PlanID) {
			if m.PlanID == n.PlanID && m != n && s.Graph(m.PlanID).walk(indexIn(s, m), indexIn(s, n)) {
				return true
			}
		}
	}
	return false
}

func indexIn(s *Snapshot, n *Node) int { return slices.Index(s.NodesOf(n.PlanID), n) }

func TestLongListsOfConflictsKeepTheLowest(t *testing.T) {
	var nodes []Node
	for i := range 150 {
		nodes = append(nodes, Node{PlanID: 1, ID: NodeID(i + 1), Kind: KindAgent, Files: []File{{"x", "x"}}})
	}
	s := NewSnapshot([]Plan{{ID: 1, Root: 1}}, nodes, nil)
	for _, c := range []struct{ of, first, last NodeID }{{1, 2, 101}, {50, 1, 101}, {150, 1, 100}} {
		list := s.Conflicts(Ref{1, c.of})
		if len(list) != maxConflicts || list[0].Ref.Node != c.first || list[len(list)-1].Ref.Node != c.last {
			t.Errorf("node %d: %d conflicts from %s to %s; want 100 from 1.%d to 1.%d", c.of, len(list),
				list[0].Ref, list[len(list)-1].Ref, c.first, c.last)
		}
	}
}
