package plan

import "maps"

// An agent counts until its run has ended, though its plan was stopped before: it
// still uses its provider, and this machine. So a stopped tree stays on the board
// with those of its nodes that an agent is on.

// knows reports whether the board keeps a node with these facts.
func (b *Board) knows(f NodeFacts) bool {
	p := b.plans[f.PlanID]
	if p == nil || f.State != Ready && f.State != Running {
		return false
	}
	return b.trees[p.facts.Root].facts.Started || f.usesSlot()
}

// usesSlot reports whether a built-in agent works on a node.
func (n *NodeFacts) usesSlot() bool {
	return n.Kind != KindUser && n.State == Running && n.Phase.HoldsSlot() && n.AgentKind == string(Builtin)
}

// halt takes away all of a stopped plan, and of those nested in it, that no agent
// works on. What was given out and is not committed cannot begin any more.
func (b *Board) halt(id PlanID) {
	p := b.plans[id]
	if p == nil {
		b.halted[id] = true
		return
	}
	p.live = false
	for r := range maps.Clone(p.nodes) {
		if e := b.nodes[r]; e.taken || !e.facts.usesSlot() {
			b.remove(e)
		}
	}
	for kid := range p.kids {
		b.halt(kid)
	}
	b.halted[p.facts.Root] = true
}

// forgetHalted drops the stopped trees whose last agent has ended.
func (b *Board) forgetHalted() {
	for id := range b.halted {
		if t := b.trees[id]; t != nil && !t.facts.Started && t.nodes == 0 {
			b.dropPlan(b.plans[id])
		}
	}
	clear(b.halted)
}
