package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tidwall/btree"
)

// Board is what the scheduler knows of the started plan trees: who is ready, who
// holds which files, whose turn it is. It is told committed facts and answers
// who starts next; the cost of both does not grow with the size of a plan. It
// has no clock and no disk and is not safe for concurrent use.
//
// A ready node is free when no running node holds one of its files and no lower
// ready node waits for one. A node that is not free is remembered with one
// witness of that, and is looked at again only when its witness leaves.
type Board struct {
	limits   Limits
	caps     map[ProfileID]int // max_parallel of profiles that have one
	trees    map[PlanID]*tree
	plans    map[PlanID]*boardPlan
	nodes    map[Ref]*entry
	waiters  map[Ref]map[Ref]bool // witness → those who wait for it
	asleep   btree.Map[wakeup, Ref]
	now      Stamp
	slots    int               // in use, over all trees
	perAgent map[ProfileID]int // of them, by profile
	limited  map[ProfileID]Stamp
	probes   map[ProfileID]prober

	limitTimes map[ProfileID]*period
	reviews    map[int64]*boardReview
	checks     map[int64]bool         // that are due
	queue      btree.Map[int64, bool] // reviews that wait, the oldest first

	turns  map[ProfileID]*btree.Map[PlanID, bool] // trees that have a step for a profile and may start it
	claims btree.Map[uint64, bool]                // steps that external agents may claim
	last   PlanID                                 // the tree that had the last turn
	halted map[PlanID]bool                        // stopped trees that may have no agent left
	looked int                                    // queues and trees that were looked at, for tests of what that costs
}

// Limits are the server's own.
type Limits struct {
	MaxConcurrency int
	DefaultProfile ProfileID // runs nodes that no profile was chosen for
}

type tree struct {
	facts PlanFacts
	index fileIndex
	free  map[ProfileID]*btree.Map[uint64, bool] // by resolved profile
	slots int
	nodes int // that the board knows of it
	door  door

	overTimes period
}

type boardPlan struct {
	facts PlanFacts
	live  bool // its ready nodes may start: every container above it works through its subplan
	nodes map[Ref]bool
	kids  map[PlanID]bool
}

// entry is a ready or running node.
type entry struct {
	facts   NodeFacts
	profile ProfileID // resolved; fixed while it runs
	agent   ProfileID // that was put on it; fixed while it runs
	taken   bool      // given out, not yet committed as running

	waits   bool // in the index as ready
	free    bool // in the index and in its tree as free
	holds   bool // in the index as running
	slot    bool // counted in slots
	sleeps  bool
	witness Ref
	waited  waiting
}

// wakeup packs a moment and a node into an ordered key.
type wakeup = string

// NewBoard returns a board that knows no plans.
func NewBoard(l Limits) *Board {
	return &Board{
		limits: l, caps: map[ProfileID]int{}, trees: map[PlanID]*tree{}, plans: map[PlanID]*boardPlan{},
		nodes: map[Ref]*entry{}, waiters: map[Ref]map[Ref]bool{}, perAgent: map[ProfileID]int{},
		limited: map[ProfileID]Stamp{}, probes: map[ProfileID]prober{}, limitTimes: map[ProfileID]*period{},
		reviews: map[int64]*boardReview{}, checks: map[int64]bool{},
		turns: map[ProfileID]*btree.Map[PlanID, bool]{}, halted: map[PlanID]bool{},
	}
}

// SetProfiles tells the board the limits of all profiles.
func (b *Board) SetProfiles(all []Profile) {
	clear(b.caps)
	for _, p := range all {
		if p.MaxParallel > 0 {
			b.caps[p.ID] = p.MaxParallel
		}
	}
}

// Apply tells the board what a committed change made true. Facts that it knows
// already change nothing.
func (b *Board) Apply(f *Facts) {
	if f == nil {
		return
	}
	for i := range f.Plans {
		b.applyPlan(f.Plans[i])
	}
	for i := range f.Nodes {
		b.applyNode(f.Nodes[i])
	}
	for _, l := range f.Limits {
		b.applyLimit(l)
	}
	for _, r := range f.Reviews {
		b.applyReview(r)
	}
	b.forgetHalted()
}

func (b *Board) applyPlan(f PlanFacts) {
	old := b.plans[f.ID]
	if f.Deleted {
		if old != nil {
			b.dropPlan(old)
		}
		return
	}
	if f.ID == f.Root {
		b.applyRoot(f)
	}
	switch {
	case b.trees[f.Root] == nil: // it is not started
	case old == nil:
		p := &boardPlan{facts: f, nodes: map[Ref]bool{}, kids: map[PlanID]bool{}}
		b.plans[f.ID] = p
		if up := b.plans[f.ParentPlan]; up != nil {
			up.kids[f.ID] = true
		}
		p.live = b.isLive(p)
	default:
		moved := old.facts.Profile != f.Profile
		old.facts = f
		if moved {
			b.rebucket(f.ID)
		}
		b.relive(f.ID)
	}
}

// applyRoot takes what holds for a whole tree.
func (b *Board) applyRoot(f PlanFacts) {
	t := b.trees[f.ID]
	if t == nil {
		t = &tree{free: map[ProfileID]*btree.Map[uint64, bool]{}}
		b.trees[f.ID] = t
	}
	t.facts = f
	t.overTimes.set(f.OverBudget, b.now)
	if !f.Started {
		b.halt(f.ID)
	}
	b.setDoor(t)
}

// dropPlan forgets a plan and everything in it.
func (b *Board) dropPlan(p *boardPlan) {
	for kid := range maps.Clone(p.kids) {
		b.dropPlan(b.plans[kid])
	}
	for r := range maps.Clone(p.nodes) {
		b.remove(b.nodes[r])
	}
	if up := b.plans[p.facts.ParentPlan]; up != nil {
		delete(up.kids, p.facts.ID)
	}
	delete(b.plans, p.facts.ID)
	if p.facts.ID == p.facts.Root {
		b.trees[p.facts.ID].facts.Started = false
		b.setDoor(b.trees[p.facts.ID])
		delete(b.trees, p.facts.ID)
	}
}

// isLive reports whether the ready nodes of a plan may start.
func (b *Board) isLive(p *boardPlan) bool {
	if p.facts.ParentPlan == 0 {
		return b.trees[p.facts.Root].facts.Started
	}
	up := b.plans[p.facts.ParentPlan]
	c := b.nodes[Ref{p.facts.ParentPlan, p.facts.ParentNode}]
	return up != nil && up.live && c != nil && c.facts.State == Running && c.facts.Phase == PhaseSubplan
}

// relive works out anew whether a plan and those nested in it are live.
func (b *Board) relive(id PlanID) {
	p := b.plans[id]
	if p == nil || p.live == b.isLive(p) {
		return
	}
	p.live = !p.live
	for _, r := range slices.SortedFunc(maps.Keys(p.nodes), Ref.Compare) {
		b.replace(b.nodes[r], b.nodes[r].facts)
	}
	for kid := range p.kids {
		b.relive(kid)
	}
}

// rebucket sorts the free nodes of a plan and of those nested in it anew, after
// the default profile of the plan changed.
func (b *Board) rebucket(id PlanID) {
	p := b.plans[id]
	for r := range p.nodes {
		if e := b.nodes[r]; e.free {
			b.unfree(e)
			b.setFree(e)
		}
	}
	for kid := range p.kids {
		b.rebucket(kid)
	}
}

func (b *Board) applyNode(f NodeFacts) {
	r := f.Ref()
	e := b.nodes[r]
	gone := f.Deleted || !b.knows(f)
	switch {
	case gone && e == nil:
	case gone:
		b.remove(e)
	case e != nil && e.taken && f.State == Ready:
		// It was given out a moment ago and edited meanwhile: it stays given out.
		f.State, f.Phase, f.AgentKind = Running, PhaseWorking, e.facts.AgentKind
		b.replace(e, f)
	case e != nil:
		e.taken = false
		b.replace(e, f)
	default:
		e = &entry{facts: f}
		b.nodes[r] = e
		b.plans[f.PlanID].nodes[r] = true
		b.treeOf(e).nodes++
		b.enter(e)
	}
	if f.Subplan != 0 {
		b.relive(f.Subplan)
	}
}

// replace gives an entry new facts and lets those who waited for it know.
func (b *Board) replace(e *entry, f NodeFacts) {
	waited, held := e.waits, e.holds
	sameKeys := slices.Equal(e.facts.Keys, f.Keys)
	b.leave(e)
	if f.State == Ready && e.facts.State != Ready && !e.taken {
		e.waited = waiting{}
	}
	e.facts = f
	b.enter(e)
	// A waiting node that goes on waiting or starts to run still holds back all
	// whom it held back; one that ran and waits now does so only for higher ones.
	still := sameKeys && (e.holds || e.waits && !held)
	if (waited || held) && !still {
		b.wakeWaiters(f.Ref())
	}
}

func (b *Board) remove(e *entry) {
	r := e.facts.Ref()
	b.leave(e)
	if t := b.treeOf(e); !t.facts.Started {
		b.halted[t.facts.ID] = true
	}
	b.treeOf(e).nodes--
	delete(b.nodes, r)
	delete(b.plans[r.Plan].nodes, r)
	b.wakeWaiters(r)
}

func (b *Board) treeOf(e *entry) *tree { return b.trees[b.plans[e.facts.PlanID].facts.Root] }

// enter puts an entry where its facts say.
func (b *Board) enter(e *entry) {
	if e.facts.Kind == KindUser {
		return
	}
	if e.facts.State == Running {
		b.enterRunning(e)
		return
	}
	e.agent = 0
	switch {
	case e.facts.NotBefore > b.now:
		e.sleeps = true
		e.waited.note(cmp.Or(e.facts.Phase, PhaseQueued), b.now)
		b.asleep.Set(wakeupAt(e.facts), e.facts.Ref())
	case b.plans[e.facts.PlanID].live:
		t := b.treeOf(e)
		e.waits = true
		t.index.add(e.facts.Ref(), e.facts.Keys, roleReady, 1)
		b.displace(t, e)
		b.settle(e)
	}
}

func (b *Board) enterRunning(e *entry) {
	t := b.treeOf(e)
	if e.facts.Phase.HoldsSlot() && e.facts.AgentKind == string(Builtin) {
		switch {
		case e.facts.Agent != 0:
			e.agent = e.facts.Agent
		case e.agent == 0 || e.taken:
			e.agent = b.resolve(e.facts)
		}
		e.slot, e.profile = true, e.agent
		b.slots++
		b.perAgent[e.profile]++
		t.slots++
		b.setDoor(t)
		b.probe(e.profile, prober{ref: e.facts.Ref()})
	}
	if e.facts.Phase.HoldsFiles() {
		e.holds = true
		t.index.add(e.facts.Ref(), e.facts.Keys, roleRunning, 1)
		b.displace(t, e)
	}
}

// leave takes an entry out of everything that enter put it into.
func (b *Board) leave(e *entry) {
	r := e.facts.Ref()
	if e.free {
		b.unfree(e)
	}
	if e.waits {
		b.treeOf(e).index.add(r, e.facts.Keys, roleReady, -1)
	}
	if e.holds {
		b.treeOf(e).index.add(r, e.facts.Keys, roleRunning, -1)
	}
	if e.slot {
		b.slots--
		b.perAgent[e.profile]--
		b.treeOf(e).slots--
		b.setDoor(b.treeOf(e))
		b.endProbe(e.profile, prober{ref: e.facts.Ref()})
	}
	if e.sleeps {
		b.asleep.Delete(wakeupAt(e.facts))
	}
	b.unwitness(e)
	e.waits, e.holds, e.slot, e.sleeps = false, false, false, false
}

// resolve finds the profile that runs a node.
func (b *Board) resolve(f NodeFacts) ProfileID {
	if f.Profile != 0 {
		return f.Profile
	}
	for p := b.plans[f.PlanID]; p != nil; p = b.plans[p.facts.ParentPlan] {
		if p.facts.Profile != 0 {
			return p.facts.Profile
		}
	}
	return b.limits.DefaultProfile
}
