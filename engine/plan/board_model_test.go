package plan

import (
	"cmp"
	"maps"
	"slices"
)

// model is the slow version of a board and of what stands behind it: the plans,
// nodes and edges of all trees in plain lists, and what was given out. Whatever
// is asked is worked out anew from all of it.
type model struct {
	limits  Limits
	caps    map[ProfileID]int
	limited map[ProfileID]Limit
	probes  map[ProfileID]prober // path of history: which run tries whether a limit is over
	reviews map[int64]*claimant
	plans   map[PlanID]*PlanFacts
	nodes   map[Ref]*piece
	order   []*piece // the same, by number
	edges   []Edge
	now     Stamp
	last    PlanID // the tree that had the last turn

	lastPlan PlanID
	lastNode map[PlanID]NodeID
}

// piece is a node with what the board alone knows of it.
type piece struct {
	NodeFacts
	top   *PlanFacts // of its tree
	given Executor   // who it was given out to, while that is not committed
	agent ProfileID  // that works on it, fixed when it was put on it
}

func newModel(limits Limits) *model {
	return &model{
		limits: limits, caps: map[ProfileID]int{}, limited: map[ProfileID]Limit{}, probes: map[ProfileID]prober{},
		reviews: map[int64]*claimant{}, plans: map[PlanID]*PlanFacts{}, nodes: map[Ref]*piece{}, lastNode: map[PlanID]NodeID{},
	}
}

// add puts a node in its place.
func (m *model) add(p *piece) {
	at, _ := slices.BinarySearchFunc(m.order, p, func(a, b *piece) int { return a.Ref().Compare(b.Ref()) })
	m.order = slices.Insert(m.order, at, p)
	m.nodes[p.Ref()] = p
}

// sorted returns the nodes that are to be kept, by number.
func (m *model) sorted(keep func(*piece) bool) []*piece {
	var out []*piece
	for _, p := range m.order {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out
}

// inPlan returns the nodes of one plan, by number. The list must not be changed.
func (m *model) inPlan(id PlanID) []*piece {
	at := func(id PlanID) int {
		i, _ := slices.BinarySearchFunc(m.order, id, func(p *piece, id PlanID) int { return cmp.Compare(p.PlanID, id) })
		return i
	}
	return m.order[at(id):at(id+1)]
}

func (m *model) root(p *piece) *PlanFacts { return p.top }

func (m *model) container(id PlanID) *piece {
	f := m.plans[id]
	return m.nodes[Ref{f.ParentPlan, f.ParentNode}]
}

// tree returns the plans of a tree, or of a part of one, ascending.
func (m *model) tree(top PlanID) []PlanID {
	ids := []PlanID{top}
	for i := 0; i < len(ids); i++ {
		for _, p := range m.inPlan(ids[i]) {
			if p.Subplan != 0 {
				ids = append(ids, p.Subplan)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// works reports whether every container above a plan works through its subplan,
// in a started tree.
func (m *model) works(id PlanID) bool {
	for ; m.plans[id].ParentPlan != 0; id = m.plans[id].ParentPlan {
		if c := m.container(id); c == nil || c.State != Running || c.Phase != PhaseSubplan {
			return false
		}
	}
	return m.plans[id].Started
}

func (m *model) resolve(p *piece) ProfileID {
	id := p.Profile
	for at := p.PlanID; id == 0 && at != 0; at = m.plans[at].ParentPlan {
		id = m.plans[at].Profile
	}
	return cmp.Or(id, m.limits.DefaultProfile)
}

// waits reports whether a ready node takes part in the queue for files.
func (m *model) waits(p *piece) bool {
	return p.State == Ready && p.given == "" && p.Kind == KindAgent && p.NotBefore <= m.now && m.works(p.PlanID)
}

func (m *model) holdsFiles(p *piece) bool {
	return p.Kind == KindAgent && m.root(p).Started && (p.given != "" || p.State == Running && p.Phase.HoldsFiles())
}

func (m *model) holdsSlot(p *piece) bool {
	return p.Kind == KindAgent &&
		(p.given == Builtin || p.State == Running && p.Phase.HoldsSlot() && p.AgentKind == string(Builtin))
}

func (m *model) conflict(a, b *piece) bool {
	if a == b || a.top != b.top {
		return false
	}
	return slices.ContainsFunc(a.Keys, func(x string) bool {
		return slices.ContainsFunc(b.Keys, func(y string) bool { return KeysConflict(x, y) })
	})
}

// heldByFiles names the lowest node that runs on p's files, else the lowest that
// goes before it.
func (m *model) heldByFiles(p *piece) (Hold, bool) {
	var running, turn Ref
	for _, o := range m.order {
		if !m.conflict(p, o) {
			continue
		}
		r := o.Ref()
		if m.holdsFiles(o) && (running.IsZero() || r.Compare(running) < 0) {
			running = r
		}
		if r.Compare(p.Ref()) < 0 && m.waits(o) && (turn.IsZero() || r.Compare(turn) < 0) {
			turn = r
		}
	}
	switch {
	case !running.IsZero():
		return Hold{Phase: PhaseFiles, By: running, Reason: HeldRunning}, true
	case !turn.IsZero():
		return Hold{Phase: PhaseFiles, By: turn, Reason: HeldTurn}, true
	}
	return Hold{}, false
}

// held says why a ready node has not started.
func (m *model) held(p *piece) Hold {
	switch {
	case p.State != Ready || p.given != "" || !m.root(p).Started:
		return Hold{}
	case p.Kind == KindUser:
		return Hold{Phase: PhasePerson}
	case p.NotBefore > m.now && p.Phase == PhaseLimit:
		return Hold{Phase: PhaseLimit, Until: p.NotBefore}
	case p.NotBefore > m.now:
		return Hold{Phase: PhaseQueued, Until: p.NotBefore}
	case !m.works(p.PlanID):
		return Hold{Phase: PhaseQueued}
	}
	if h, ok := m.heldByFiles(p); ok {
		return h
	}
	switch root := m.root(p); {
	case root.OverBudget:
		return Hold{Phase: PhaseBudget}
	case root.Executor == External:
		return Hold{Phase: PhaseQueued}
	case m.limitHolds(m.resolve(p)) && m.limited[m.resolve(p)].Until <= m.now:
		return Hold{Phase: PhaseLimit, Reason: HeldTrying}
	case m.limitHolds(m.resolve(p)):
		return Hold{Phase: PhaseLimit, Until: m.limited[m.resolve(p)].Until}
	case !m.hasSlot(p):
		return Hold{Phase: PhaseSlot}
	}
	return Hold{Phase: PhaseQueued}
}

func (m *model) limitHolds(id ProfileID) bool {
	l, limited := m.limited[id]
	_, probing := m.probes[id]
	return limited && (l.Until > m.now || probing)
}

// used counts the agents at work: all, those of a tree, and those of one profile.
func (m *model) used(root *PlanFacts, id ProfileID) (all, tree, agent int) {
	for _, o := range m.order {
		if !m.holdsSlot(o) {
			continue
		}
		all++
		if m.root(o) == root {
			tree++
		}
		if o.agent == id {
			agent++
		}
	}
	for _, r := range m.reviews {
		if r.holdsSlot() {
			all++
			if r.Profile == id {
				agent++
			}
		}
	}
	return all, tree, agent
}

func below(n, limit int) bool { return limit == 0 || n < limit }

func (m *model) hasSlot(p *piece) bool {
	id := m.resolve(p)
	all, tree, agent := m.used(m.root(p), id)
	return below(all, m.limits.MaxConcurrency) && below(tree, m.root(p).MaxParallel) && below(agent, m.caps[id])
}

// free reports whether nothing but limits keeps a node from starting.
func (m *model) free(p *piece, by Executor) bool {
	if !m.waits(p) || m.root(p).Executor != by || !m.root(p).Approval.MayStart() || m.root(p).OverBudget {
		return false
	}
	_, held := m.heldByFiles(p)
	return !held
}

// next is the node that a built-in agent should start now.
func (m *model) next() (Ref, bool) {
	lowest := map[PlanID]Ref{}
	for _, p := range m.sorted(func(p *piece) bool { return p.State == Ready }) {
		root := m.root(p).ID
		if _, ok := lowest[root]; !ok && m.free(p, Builtin) && m.hasSlot(p) && !m.limitHolds(m.resolve(p)) {
			lowest[root] = p.Ref()
		}
	}
	if len(lowest) == 0 {
		return Ref{}, false
	}
	roots := slices.Sorted(maps.Keys(lowest))
	turn := roots[0]
	if i, _ := slices.BinarySearch(roots, m.last+1); i < len(roots) {
		turn = roots[i]
	}
	m.last = turn
	return lowest[turn], true
}

// claim is the node that an external agent should get.
func (m *model) claim(within PlanID) (Ref, bool) {
	for _, p := range m.sorted(func(p *piece) bool { return m.free(p, External) }) {
		for at := p.PlanID; ; at = m.plans[at].ParentPlan {
			if within == 0 || at == within {
				return p.Ref(), true
			}
			if at == 0 {
				break
			}
		}
	}
	return Ref{}, false
}

// wake is when the next sleeping node wakes or the next limit's time is up.
func (m *model) wake() Stamp {
	var next Stamp
	for _, p := range m.order {
		if p.State == Ready && p.given == "" && p.Kind == KindAgent && p.NotBefore > m.now && m.root(p).Started && (next == 0 || p.NotBefore < next) {
			next = p.NotBefore
		}
	}
	for _, l := range m.limited {
		if l.Until > m.now && (next == 0 || l.Until < next) {
			next = l.Until
		}
	}
	return next
}
