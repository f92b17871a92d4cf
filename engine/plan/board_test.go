package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is the slow version of a board: plain lists, everything worked out anew
// at each question.
type world struct {
	limits Limits
	caps   map[ProfileID]int
	plans  map[PlanID]*PlanFacts
	nodes  map[Ref]*NodeFacts
	now    Stamp
	last   PlanID
}

func (w *world) live(p PlanID) bool {
	f := w.plans[p]
	if f == nil {
		return false
	}
	if f.ParentPlan == 0 {
		return f.Started
	}
	c := w.nodes[Ref{f.ParentPlan, f.ParentNode}]
	return c != nil && c.State == Running && c.Phase == PhaseSubplan && w.live(f.ParentPlan)
}

func (w *world) waits(n *NodeFacts) bool {
	return n.State == Ready && n.Kind == KindAgent && n.NotBefore <= w.now && w.live(n.PlanID)
}

func (w *world) conflict(a, b *NodeFacts) bool {
	if w.plans[a.PlanID].Root != w.plans[b.PlanID].Root || a == b {
		return false
	}
	for _, x := range a.Keys {
		for _, y := range b.Keys {
			if KeysConflict(x, y) {
				return true
			}
		}
	}
	return false
}

func (w *world) sorted() []*NodeFacts {
	var out []*NodeFacts
	for _, n := range w.nodes {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *NodeFacts) int { return a.Ref().Compare(b.Ref()) })
	return out
}

func (w *world) held(n *NodeFacts) Hold {
	switch {
	case n.Kind == KindUser:
		return Hold{Phase: PhasePerson}
	case n.NotBefore > w.now && n.Phase == PhaseLimit:
		return Hold{Phase: PhaseLimit, Until: n.NotBefore}
	case n.NotBefore > w.now:
		return Hold{Phase: PhaseQueued, Until: n.NotBefore}
	case !w.live(n.PlanID):
		return Hold{Phase: PhaseQueued}
	}
	for _, o := range w.sorted() {
		if o.State == Running && o.Kind == KindAgent && o.Phase.HoldsFiles() && w.conflict(n, o) {
			return Hold{Phase: PhaseFiles, By: o.Ref(), Reason: HeldRunning}
		}
	}
	for _, o := range w.sorted() {
		if o.Ref().Compare(n.Ref()) < 0 && w.waits(o) && w.conflict(n, o) {
			return Hold{Phase: PhaseFiles, By: o.Ref(), Reason: HeldTurn}
		}
	}
	if w.plans[w.plans[n.PlanID].Root].Executor == Builtin && !w.hasSlot(n) {
		return Hold{Phase: PhaseSlot}
	}
	return Hold{Phase: PhaseQueued}
}

func (w *world) profile(n *NodeFacts) ProfileID {
	if n.Profile != 0 {
		return n.Profile
	}
	for p := w.plans[n.PlanID]; p != nil; p = w.plans[p.ParentPlan] {
		if p.Profile != 0 {
			return p.Profile
		}
	}
	return w.limits.DefaultProfile
}

func (w *world) hasSlot(n *NodeFacts) bool {
	root := w.plans[w.plans[n.PlanID].Root]
	total, tree, agent := 0, 0, 0
	for _, o := range w.nodes {
		if o.State != Running || !o.Phase.HoldsSlot() || o.AgentKind != string(Builtin) {
			continue
		}
		total++
		if w.plans[o.PlanID].Root == root.ID {
			tree++
		}
		if w.profile(o) == w.profile(n) {
			agent++
		}
	}
	limit := w.caps[w.profile(n)]
	return total < w.limits.MaxConcurrency && (root.MaxParallel == 0 || tree < root.MaxParallel) &&
		(limit == 0 || agent < limit)
}

func (w *world) free(n *NodeFacts) bool {
	h := w.held(n)
	return w.waits(n) && h.Phase != PhaseFiles
}

func (w *world) next() (Ref, bool) {
	byRoot := map[PlanID]Ref{}
	var roots []PlanID
	for _, n := range w.sorted() {
		root := w.plans[n.PlanID].Root
		if _, ok := byRoot[root]; !ok && n.State == Ready && w.free(n) && w.hasSlot(n) &&
			w.plans[root].Executor == Builtin && w.plans[root].Approval.MayStart() {
			byRoot[root] = n.Ref()
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	for _, id := range roots {
		if id > w.last {
			w.last = id
			return byRoot[id], true
		}
	}
	if len(roots) == 0 {
		return Ref{}, false
	}
	w.last = roots[0]
	return byRoot[roots[0]], true
}

func (w *world) claim(within PlanID) (Ref, bool) {
	for _, n := range w.sorted() {
		inside := within == 0
		for p := w.plans[n.PlanID]; p != nil; p = w.plans[p.ParentPlan] {
			inside = inside || p.ID == within
		}
		root := w.plans[w.plans[n.PlanID].Root]
		if inside && n.State == Ready && w.free(n) && root.Executor == External && root.Approval.MayStart() {
			return n.Ref(), true
		}
	}
	return Ref{}, false
}

func randomKeys(r *rand.Rand) []string {
	pool := []string{"a", "a/b", "a/b/c", "a/c", "ab", "b", "b/x", "b/y", "c/d/e", "c/d", "readme.md"}
	var keys []string
	for range r.IntN(4) {
		k := pool[r.IntN(len(pool))]
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// newWorld makes trees with nested plans and a board that knows the same.
func newWorld(r *rand.Rand) (*world, *Board) {
	w := &world{
		limits: Limits{MaxConcurrency: 1 + r.IntN(6), DefaultProfile: 9},
		caps:   map[ProfileID]int{1: 1, 2: 2}, plans: map[PlanID]*PlanFacts{}, nodes: map[Ref]*NodeFacts{},
	}
	b := NewBoard(w.limits)
	b.SetProfiles([]Profile{{ID: 1, MaxParallel: 1}, {ID: 2, MaxParallel: 2}, {ID: 9}})
	var next PlanID
	for range 1 + r.IntN(3) {
		next++
		root := PlanFacts{ID: next, Root: next, Started: true, Executor: Builtin, MaxParallel: r.IntN(4)}
		if r.IntN(3) == 0 {
			root.Executor = External
		}
		w.plans[root.ID] = &root
		for i := range 1 + r.IntN(3) {
			next++
			up := root.ID
			if i > 0 {
				up = next - 1
			}
			p := root
			p.ID, p.ParentPlan, p.ParentNode = next, up, 1
			p.Profile = ProfileID(r.IntN(3))
			w.plans[p.ID] = &p
		}
	}
	for id := PlanID(1); id <= next; id++ {
		b.Apply(&Facts{Plans: []PlanFacts{*w.plans[id]}})
		for n := NodeID(1); n <= 6; n++ {
			f := NodeFacts{PlanID: id, ID: n, State: Pending, Kind: KindAgent, Keys: randomKeys(r), Profile: ProfileID(r.IntN(4))}
			if r.IntN(8) == 0 {
				f.Kind = KindUser
			}
			w.nodes[f.Ref()] = &f
		}
	}
	for id := PlanID(1); id <= next; id++ {
		if p := w.plans[id]; p.ParentPlan != 0 {
			c := w.nodes[Ref{p.ParentPlan, p.ParentNode}]
			c.Subplan, c.Kind = id, KindAgent
		}
	}
	return w, b
}

func (w *world) tell(b *Board, n *NodeFacts) {
	f := *n
	f.Keys = slices.Clone(f.Keys)
	b.Apply(&Facts{Nodes: []NodeFacts{f}})
}

// change makes one random committed change in both.
func (w *world) change(r *rand.Rand, b *Board) {
	all := w.sorted()
	n := all[r.IntN(len(all))]
	switch r.IntN(12) {
	case 0:
		w.now += Stamp(r.IntN(3))
		b.Advance(w.now)
		return
	case 1:
		if w.anyRunning() {
			return // the profile of what runs is fixed; the slow version works it out anew
		}
		p := w.plans[PlanID(1+r.IntN(len(w.plans)))]
		p.Profile = ProfileID(r.IntN(4))
		b.Apply(&Facts{Plans: []PlanFacts{*p}})
		return
	case 2:
		if n.State != Running {
			n.Keys = randomKeys(r)
		}
	case 3:
		if n.State == Ready {
			n.NotBefore = w.now + Stamp(r.IntN(4))
		}
	default:
		w.step(r, n)
	}
	w.tell(b, n)
}

func (w *world) anyRunning() bool {
	for _, n := range w.nodes {
		if n.State == Running && n.Phase.HoldsSlot() {
			return true
		}
	}
	return false
}

// step moves a node to another state.
func (w *world) step(r *rand.Rand, n *NodeFacts) {
	to := States[r.IntN(len(States))]
	n.State, n.Phase, n.AgentKind = to, PhaseNone, ""
	if to == Ready {
		n.NotBefore = 0
	}
	if to == Running {
		if n.Kind == KindUser {
			n.State = Done
			return
		}
		phases := []Phase{PhaseWorking, PhaseChecking, PhaseNeedsPerson}
		n.Phase, n.AgentKind = phases[r.IntN(3)], string(w.plans[w.plans[n.PlanID].Root].Executor)
		if n.Subplan != 0 && r.IntN(4) > 0 {
			n.Phase, n.AgentKind = PhaseSubplan, ""
		}
	}
}

func (w *world) compare(t *testing.T, b *Board) {
	t.Helper()
	for _, n := range w.sorted() {
		if n.State != Ready {
			continue
		}
		if diff := cmp.Diff(w.held(n), b.Held(n.Ref())); diff != "" {
			t.Fatalf("hold of %s (-slow +board):\n%s", n.Ref(), diff)
		}
	}
}

func TestBoardEqualsItsSlowVersion(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			w, b := newWorld(r)
			for range 600 {
				w.change(r, b)
				w.compare(t, b)
				if r.IntN(3) == 0 {
					w.giveOut(t, r, b)
				}
			}
		})
	}
}

// giveOut compares who is given out next, and commits or returns it.
func (w *world) giveOut(t *testing.T, r *rand.Rand, b *Board) {
	t.Helper()
	within := PlanID(r.IntN(len(w.plans) + 1))
	external := r.IntN(2) == 0
	var want, got Ref
	if external {
		want, _ = w.claim(within)
		got, _ = b.Claim(within)
	} else {
		want, _ = w.next()
		got, _ = b.Next()
	}
	if got != want {
		t.Fatalf("given out (external %v, within %d): got %s, want %s", external, within, got, want)
	}
	if want.IsZero() {
		return
	}
	n := w.nodes[want]
	if r.IntN(4) == 0 {
		b.Return(want)
		w.compare(t, b)
		return
	}
	n.State, n.Phase, n.AgentKind = Running, PhaseWorking, string(w.plans[w.plans[n.PlanID].Root].Executor)
	w.compare(t, b) // a node that was given out counts as running at once
	w.tell(b, n)
	w.compare(t, b)
}
