package plan

import (
	"cmp"
	"slices"
	"strings"
)

// ConflictWith names a node that shares files with another and could run at the
// same time.
type ConflictWith struct {
	Ref   Ref
	Files []string // the shared paths, the narrower of each pair
}

// maxConflicts bounds the list of one node, so that a plan in which everything
// touches one file can still be read. The lowest numbers are kept.
const maxConflicts = 100

// Conflicts returns the nodes that share a file with r and are not ordered
// before or after it by dependencies, over the whole tree, by ref. A node and
// those inside its own subplan are ordered; user nodes are never listed.
func (s *Snapshot) Conflicts(r Ref) []ConflictWith {
	if s.conflicts == nil {
		s.findConflicts()
	}
	return s.conflicts[r]
}

// claim is one declared path of one node. Sort is the key with its separator
// replaced by a byte that sorts before all others, so that a folder comes right
// before everything in it.
type claim struct {
	sort string
	node *Node
}

func (s *Snapshot) findConflicts() {
	var claims []claim
	s.Walk(func(n *Node) {
		if n.Kind == KindUser {
			return
		}
		for _, f := range n.Files {
			claims = append(claims, claim{strings.ReplaceAll(f.Key, "/", "\x00"), n})
		}
	})
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(strings.Compare(a.sort, b.sort), a.node.Ref().Compare(b.node.Ref()))
	})
	found := map[Ref]map[Ref]bool{}
	var open []claim // the claims that hold the current one: equal to it, or folders above
	for _, c := range claims {
		for len(open) > 0 && !holds(open[len(open)-1].sort, c.sort) {
			open = open[:len(open)-1]
		}
		s.matchClaim(found, open, c)
		open = append(open, c)
	}
	s.listConflicts(found)
}

// holds reports whether a claim of the key a covers key b, both in sort form.
func holds(a, b string) bool {
	return strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == 0)
}

func (s *Snapshot) matchClaim(found map[Ref]map[Ref]bool, open []claim, c claim) {
	me := c.node.Ref()
	for _, o := range open {
		them := o.node.Ref()
		if len(found[me]) >= maxConflicts {
			return
		}
		if them == me || found[me][them] || s.ordered(o.node, c.node) {
			continue
		}
		mark(found, me, them)
		if len(found[them]) < maxConflicts {
			mark(found, them, me)
		}
	}
}

func mark(found map[Ref]map[Ref]bool, a, b Ref) {
	if found[a] == nil {
		found[a] = map[Ref]bool{}
	}
	found[a][b] = true
}

func (s *Snapshot) listConflicts(found map[Ref]map[Ref]bool) {
	s.conflicts = make(map[Ref][]ConflictWith, len(found))
	for me, others := range found {
		list := make([]ConflictWith, 0, len(others))
		for them := range others {
			list = append(list, ConflictWith{them, SharedFiles(s.Node(me).Files, s.Node(them).Files)})
		}
		slices.SortFunc(list, func(a, b ConflictWith) int { return a.Ref.Compare(b.Ref) })
		s.conflicts[me] = list
	}
}

// ordered reports whether two nodes can never run at the same time: one comes
// before the other in the plan where their ways meet, or one holds the other.
func (s *Snapshot) ordered(a, b *Node) bool {
	if a.PlanID == b.PlanID {
		g := s.Graph(a.PlanID)
		return g.Reaches(a.ID, b.ID) || g.Reaches(b.ID, a.ID)
	}
	wayA, wayB := s.wayTo(a), s.wayTo(b)
	for i := range min(len(wayA), len(wayB)) {
		if wayA[i].PlanID != wayB[i].PlanID {
			return false
		}
		if x, y := wayA[i].ID, wayB[i].ID; x != y {
			g := s.Graph(wayA[i].PlanID)
			return g.Reaches(x, y) || g.Reaches(y, x)
		}
	}
	return true // one is on the way to the other
}

// wayTo returns the nodes from the root plan down to n, n included.
func (s *Snapshot) wayTo(n *Node) []*Node {
	var way []*Node
	for ; n != nil; n = s.Container(n.PlanID) {
		way = append(way, n)
	}
	slices.Reverse(way)
	return way
}
