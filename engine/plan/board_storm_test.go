package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// storm changes a model at random, as an engine would, and tells a board what
// became true.
type storm struct {
	*model
	t     *testing.T
	r     *rand.Rand
	b     *Board
	shape shape

	lastReview int64

	facts   Facts        // to be told with the change that is being made
	touched map[Ref]bool // nodes to be told
	did     map[string]int
}

// shape is what the trees of a storm look like.
type shape struct {
	name         string
	trees, depth int // at most
	size         int // nodes of a plan, about
	agents       int // at once
	external     int // of ten trees
	keys         []string
}

var shapes = []shape{
	{"one flat plan, many files in common", 1, 0, 14, 3, 0, []string{"a", "a/b", "a/b/c", "a/c", "b"}},
	{"deep subplans", 2, 5, 3, 4, 3, []string{"a", "a/b", "a/b/c", "ab", "c/d/e", "c/d", "x"}},
	{"many small plans", 7, 1, 3, 5, 3, []string{"a", "a/b", "b"}},
	{"external agents", 3, 2, 5, 1, 9, []string{"a/b", "a/c", "a/b/c", "b/x", "b/y"}},
	{"without limits", 2, 2, 6, 0, 5, []string{"a", "a/b", "a/b/c", "a/c", "ab", "b", "b/x", "b/y", "c/d/e", "c/d"}},
}

// operation is one kind of change. It reports false when there is nothing that
// it could be done to.
type operation struct {
	name   string
	weight int
	do     func(*storm) bool
}

func operations() []operation {
	return []operation{
		{"add node", 6, (*storm).addNode}, {"remove node", 3, (*storm).removeNode},
		{"add edge", 5, (*storm).addEdge}, {"remove edge", 3, (*storm).removeEdge},
		{"edit files", 6, (*storm).editFiles}, {"edit agent of node", 3, (*storm).editAgent}, {"edit kind", 2, (*storm).editKind},
		{"edit agent of plan", 2, (*storm).editPlanAgent}, {"edit limits of tree", 3, (*storm).editTree}, {"edit profiles", 2, (*storm).editProfiles},
		{"add tree", 2, (*storm).addTree}, {"delete tree", 1, (*storm).deleteTree},
		{"start", 6, (*storm).start}, {"stop", 1, (*storm).stop}, {"agent of a stopped plan ends", 3, (*storm).endStopped},
		{"add subplan", 4, (*storm).addSubplan},
		{"give out", 40, (*storm).giveOut}, {"begin", 25, (*storm).begin}, {"give back", 4, (*storm).giveBack},
		{"finish", 14, (*storm).finish}, {"fail", 4, (*storm).fail}, {"change phase", 4, (*storm).changePhase},
		{"interrupt", 2, (*storm).interrupt}, {"reach a limit", 2, (*storm).reachLimit}, {"limit is over", 2, (*storm).endLimit},
		{"retry", 6, (*storm).retry}, {"rework", 3, (*storm).rework}, {"mark done", 3, (*storm).markDone}, {"skip", 1, (*storm).skip},
		{"ask for a review", 5, (*storm).askForReview}, {"give out a review", 8, (*storm).giveOutReview}, {"review begins", 5, (*storm).beginReview},
		{"review ends", 6, (*storm).endReview}, {"review again", 1, (*storm).reviewAgain}, {"give a review back", 1, (*storm).giveReviewBack},
		{"run checks", 4, (*storm).runChecks},
		{"time", 5, (*storm).advance}, {"anything", 2, (*storm).anything},
	}
}

func newStorm(t *testing.T, sh shape, r *rand.Rand) *storm {
	s := &storm{model: newModel(Limits{MaxConcurrency: sh.agents, DefaultProfile: 9}), t: t, r: r, shape: sh,
		touched: map[Ref]bool{}, did: map[string]int{}}
	s.b = NewBoard(s.limits)
	s.editProfiles()
	s.addTree()
	s.tell()
	return s
}

// run makes n changes and compares after each.
func (s *storm) run(n int) {
	ops := operations()
	total := 0
	for _, o := range ops {
		total += o.weight
	}
	for i := 0; i < n; {
		k := s.r.IntN(total)
		at := slices.IndexFunc(ops, func(o operation) bool { k -= o.weight; return k < 0 })
		if !ops[at].do(s) {
			continue
		}
		i++
		s.did[ops[at].name]++
		s.tell()
		s.compare(ops[at].name)
		if i%25 == 0 {
			s.compareWithRebuilt()
		}
	}
}

// tell brings what follows from a change about, and tells the board all of it.
func (s *storm) tell() {
	s.settle()
	for _, p := range s.facts.Plans {
		if p.Deleted || !p.Started {
			s.forget(p.ID)
		}
	}
	refs := make([]Ref, 0, len(s.touched))
	for r := range s.touched {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, Ref.Compare)
	for _, r := range refs {
		f := NodeFacts{PlanID: r.Plan, ID: r.Node, Deleted: true}
		if p := s.nodes[r]; p != nil {
			s.assign(p)
			f = p.NodeFacts
			f.Keys = slices.Clone(f.Keys)
		}
		s.facts.Nodes = append(s.facts.Nodes, f)
	}
	for _, l := range s.facts.Limits {
		s.limited[l.Profile] = l
		if l.Until == 0 {
			delete(s.limited, l.Profile)
			delete(s.probes, l.Profile)
		}
	}
	s.b.Apply(&s.facts)
	s.facts, s.touched = Facts{}, map[Ref]bool{}
}

// forget drops what was given out of a plan that the board no longer knows.
func (s *storm) forget(id PlanID) {
	for _, p := range s.inPlan(id) {
		if p.given != "" {
			s.endProbe(prober{ref: p.Ref()})
			p.given, p.agent = "", 0
		}
	}
	s.probesGone()
}

// assign works out who is on a node that is told of, once it is.
func (s *storm) assign(p *piece) {
	s.endProbe(prober{ref: p.Ref()})
	if p.State != Ready {
		p.given = ""
	}
	if !s.holdsSlot(p) {
		p.agent = 0
		return
	}
	switch {
	case p.Agent != 0:
		p.agent = p.Agent
	case p.agent == 0 || p.given != "":
		p.agent = s.resolve(p)
	}
	s.startProbe(p.agent, prober{ref: p.Ref()})
}

func (s *storm) startProbe(id ProfileID, by prober) {
	l, limited := s.limited[id]
	if _, probing := s.probes[id]; limited && l.Until <= s.now && !probing {
		s.probes[id] = by
	}
}

func (s *storm) endProbe(by prober) {
	for id, other := range s.probes {
		if other == by {
			delete(s.probes, id)
		}
	}
}

// probesGone ends what nodes tried that are gone.
func (s *storm) probesGone() {
	for id, r := range s.probes {
		if r.review == 0 && s.nodes[r.ref] == nil {
			delete(s.probes, id)
		}
	}
}

func (s *storm) touch(p *piece) { s.touched[p.Ref()] = true }

// set gives a node a state and takes away what does not go with it.
func (s *storm) set(p *piece, to State) {
	p.State, p.Phase, p.AgentKind, p.NotBefore, p.Agent = to, PhaseNone, "", 0, 0
	s.touch(p)
}

// settle makes ready what can be, enters and ends subplans, until nothing moves.
func (s *storm) settle() {
	for moved := true; moved; {
		moved = false
		for _, p := range s.order {
			moved = s.settleNode(p) || moved
		}
	}
}

func (s *storm) settleNode(p *piece) bool {
	switch {
	case p.State == Pending && s.works(p.PlanID) && s.unblocked(p):
		s.set(p, Ready)
		if p.Subplan != 0 {
			s.set(p, Running)
			p.Phase = PhaseSubplan
		}
		return true
	case p.State == Ready && !s.unblocked(p):
		s.set(p, Pending)
		return true
	case p.State == Running && p.Phase == PhaseSubplan && s.works(p.PlanID):
		inside := s.inPlan(p.Subplan)
		if slices.ContainsFunc(inside, func(o *piece) bool { return o.State == Failed }) {
			s.set(p, Failed)
			return true
		}
		if !slices.ContainsFunc(inside, func(o *piece) bool { return !satisfied(o) }) {
			s.set(p, Done)
			return true
		}
	}
	return false
}

func satisfied(p *piece) bool { return p.State == Done || p.State == Skipped }

func (s *storm) unblocked(p *piece) bool {
	for _, e := range s.edges {
		if e.Plan == p.PlanID && e.To == p.ID && !satisfied(s.nodes[Ref{e.Plan, e.From}]) {
			return false
		}
	}
	return true
}

// compare asks both versions everything that may be asked.
func (s *storm) compare(after string) {
	for _, p := range s.order {
		r := p.Ref()
		if got, want := s.b.Held(r), s.held(p); got != want {
			s.t.Fatalf("after %q and %v: %s (%s) waits for %+v, want %+v", after, s.did, r, p.State, got, want)
		}
	}
	if got, want := s.b.NextWake(), s.wake(); got != want {
		s.t.Fatalf("after %q and %v: something wakes at %f, want %f", after, s.did, got, want)
	}
}

// compareWithRebuilt makes a board of what a database would hold, and asks it.
func (s *storm) compareWithRebuilt() {
	b := NewBoard(s.limits)
	b.SetProfiles(s.profiles())
	b.Advance(s.now)
	b.Apply(s.active())
	for _, p := range s.order {
		r := p.Ref()
		got, want := b.Held(r), s.held(p)
		if l := s.limited[s.resolve(p)]; l.Until != 0 && l.Until <= s.now && byLimits(want) && byLimits(got) {
			continue // which run tries a limit is not kept
		}
		if got != want {
			s.t.Fatalf("after %v, a board made anew: %s (%s) waits for %+v, want %+v", s.did, r, p.State, got, want)
		}
	}
}

func byLimits(h Hold) bool {
	return h.Phase == PhaseLimit || h.Phase == PhaseSlot || h.Phase == PhaseQueued
}

// active are the facts of all trees: their plans, and the nodes that are ready or
// running.
func (s *storm) active() *Facts {
	f := &Facts{}
	for id := range s.lastPlan + 1 {
		if p := s.plans[id]; p != nil {
			f.Plans = append(f.Plans, *p)
		}
	}
	for _, p := range s.sorted(func(p *piece) bool { return p.State == Ready || p.State == Running }) {
		n := p.NodeFacts
		if p.given != "" {
			n.State, n.Phase, n.AgentKind = Running, PhaseWorking, string(p.given)
		}
		if n.Agent = p.agent; !s.holdsSlot(p) {
			n.Agent = 0
		}
		f.Nodes = append(f.Nodes, n)
	}
	for _, id := range s.reviewIDs(func(*claimant) bool { return true }) {
		r := s.reviews[id].ReviewFacts
		if s.reviews[id].given {
			r.State = ReviewRunning
		}
		f.Reviews = append(f.Reviews, r)
	}
	for _, l := range s.limited {
		f.Limits = append(f.Limits, l)
	}
	return f
}

func (s *storm) profiles() []Profile {
	var all []Profile
	for id := ProfileID(1); id <= 9; id++ {
		all = append(all, Profile{ID: id, MaxParallel: s.caps[id]})
	}
	return all
}

func TestBoardInAStorm(t *testing.T) {
	seeds, changes := uint64(20), 1000 // for each shape: 100,000 in all
	if testing.Short() {
		seeds, changes = 3, 400
	}
	for i, sh := range shapes {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", sh.name, seed), func(t *testing.T) {
				t.Parallel()
				s := newStorm(t, sh, rand.New(rand.NewPCG(seed, uint64(i))))
				s.run(changes)
				s.checkNothingStays()
				if changes >= 1000 && s.did["begin"] < 20 {
					t.Errorf("only %d nodes began of %v: this tests little", s.did["begin"], s.did)
				}
			})
		}
	}
}

// checkNothingStays deletes all trees and looks what the board still remembers.
func (s *storm) checkNothingStays() {
	for len(s.roots(func(*PlanFacts) bool { return true })) > 0 {
		s.deleteTree()
		s.tell()
	}
	for s.moveReview(ReviewDone, func(*claimant) bool { return true }) {
		s.tell()
	}
	b := s.b
	left := len(b.trees) + len(b.turns) + b.claims.Len() + len(b.reviews) + b.queue.Len() + len(b.checks) + len(b.halted) + len(b.plans) + len(b.nodes) + len(b.waiters) + b.asleep.Len() + b.slots + len(b.probes)
	for _, n := range b.perAgent {
		left += n
	}
	if left != 0 {
		s.t.Errorf("after all trees are gone: %d trees, %d plans, %d nodes, %d with waiters, %d asleep, %d slots, probes %v, agents %v",
			len(b.trees), len(b.plans), len(b.nodes), len(b.waiters), b.asleep.Len(), b.slots, b.probes, b.perAgent)
	}
}
