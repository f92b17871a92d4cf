package plan

import (
	"maps"
	"slices"
)

// The changes of a storm to what is planned. Each is what one operation of an
// engine does, without what follows from it.

func pick[T any](s *storm, list []T) (T, bool) {
	if len(list) == 0 {
		var none T
		return none, false
	}
	return list[s.r.IntN(len(list))], true
}

// any returns a node that fits.
func (s *storm) any(fits func(*piece) bool) *piece {
	p, _ := pick(s, s.sorted(fits))
	return p
}

func (s *storm) roots(fits func(*PlanFacts) bool) []*PlanFacts {
	var out []*PlanFacts
	for id := range s.lastPlan + 1 {
		if p := s.plans[id]; p != nil && p.ParentPlan == 0 && fits(p) {
			out = append(out, p)
		}
	}
	return out
}

func open(p *piece) bool { return p.State == Pending || p.State == Ready }

func working(p *piece) bool { return p.State == Running && p.Phase == PhaseWorking }

func (s *storm) started(p *piece) bool { return s.root(p).Started }

func (s *storm) randomKeys() []string {
	var keys []string
	for range s.r.IntN(4) {
		keys = append(keys, s.shape.keys[s.r.IntN(len(s.shape.keys))])
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (s *storm) newNode(id PlanID) *piece {
	s.lastNode[id]++
	p := &piece{top: s.plans[s.plans[id].Root], NodeFacts: NodeFacts{PlanID: id, ID: s.lastNode[id], State: Pending, Kind: KindAgent, Keys: s.randomKeys(),
		Profile: ProfileID(s.r.IntN(5))}}
	if s.r.IntN(8) == 0 {
		p.Kind = KindUser
	}
	s.add(p)
	for _, o := range s.inPlan(id) {
		if o != p && s.r.IntN(6) == 0 {
			s.edges = append(s.edges, Edge{id, o.ID, p.ID})
		}
	}
	s.touch(p)
	return p
}

func (s *storm) addNode() bool {
	var plans []PlanID
	for id := range s.lastPlan + 1 {
		if f := s.plans[id]; f != nil && len(s.inPlan(id)) < 2*s.shape.size && (f.ParentPlan == 0 || !satisfied(s.container(id))) {
			plans = append(plans, id)
		}
	}
	id, ok := pick(s, plans)
	if ok {
		s.newNode(id)
	}
	return ok
}

func (s *storm) removeNode() bool {
	p := s.any(func(p *piece) bool { return open(p) && len(s.inPlan(p.PlanID)) > s.shape.size })
	if p == nil {
		return false
	}
	if p.Subplan != 0 {
		s.facts.Plans = append(s.facts.Plans, PlanFacts{ID: p.Subplan, Root: s.root(p).ID, Deleted: true})
		s.removePlans(s.tree(p.Subplan))
	}
	s.endProbe(prober{ref: p.Ref()})
	s.touch(p)
	s.removeNodes(func(r Ref) bool { return r == p.Ref() })
	return true
}

func (s *storm) removePlans(ids []PlanID) {
	s.removeNodes(func(r Ref) bool { return slices.Contains(ids, r.Plan) })
	for _, id := range ids {
		delete(s.plans, id)
	}
	s.probesGone()
}

func (s *storm) removeNodes(which func(Ref) bool) {
	s.order = slices.DeleteFunc(s.order, func(p *piece) bool { return which(p.Ref()) })
	maps.DeleteFunc(s.nodes, func(r Ref, _ *piece) bool { return which(r) })
	s.edges = slices.DeleteFunc(s.edges, func(e Edge) bool { return which(Ref{e.Plan, e.From}) || which(Ref{e.Plan, e.To}) })
}

func (s *storm) addEdge() bool {
	to := s.any(open)
	if to == nil {
		return false
	}
	from, ok := pick(s, s.sorted(func(p *piece) bool { return p.PlanID == to.PlanID && p.ID < to.ID }))
	if ok && !slices.Contains(s.edges, Edge{to.PlanID, from.ID, to.ID}) {
		s.edges = append(s.edges, Edge{to.PlanID, from.ID, to.ID})
	}
	return ok
}

func (s *storm) removeEdge() bool {
	if len(s.edges) == 0 {
		return false
	}
	at := s.r.IntN(len(s.edges))
	s.edges = slices.Delete(s.edges, at, at+1)
	return true
}

func (s *storm) editFiles() bool {
	p := s.any(open)
	if p == nil {
		return false
	}
	p.Keys = s.randomKeys()
	s.touch(p)
	return true
}

func (s *storm) editAgent() bool {
	p := s.any(func(*piece) bool { return true })
	if p == nil {
		return false
	}
	p.Profile = ProfileID(s.r.IntN(5))
	s.touch(p)
	return true
}

func (s *storm) editKind() bool {
	p := s.any(func(p *piece) bool { return open(p) && p.Subplan == 0 && p.given == "" })
	if p == nil {
		return false
	}
	if p.Kind == KindUser {
		p.Kind = KindAgent
	} else {
		p.Kind = KindUser
	}
	s.touch(p)
	return true
}

func (s *storm) editPlanAgent() bool {
	var all []*PlanFacts
	for id := range s.lastPlan + 1 {
		if p := s.plans[id]; p != nil {
			all = append(all, p)
		}
	}
	p, ok := pick(s, all)
	if ok {
		p.Profile = ProfileID(s.r.IntN(5))
		s.facts.Plans = append(s.facts.Plans, *p)
	}
	return ok
}

// editTree changes what holds for a whole tree.
func (s *storm) editTree() bool {
	root, ok := pick(s, s.roots(func(*PlanFacts) bool { return true }))
	if !ok {
		return false
	}
	maxParallel, over, approval := s.r.IntN(4), s.r.IntN(6) == 0, []Approval{NoApproval, Approved, "", Awaiting}[s.r.IntN(4)]
	for _, id := range s.tree(root.ID) {
		s.plans[id].MaxParallel, s.plans[id].OverBudget, s.plans[id].Approval = maxParallel, over, approval
	}
	s.facts.Plans = append(s.facts.Plans, *root)
	return true
}

func (s *storm) editProfiles() bool {
	for id := ProfileID(1); id <= 9; id++ {
		s.caps[id] = s.r.IntN(4)
	}
	s.b.SetProfiles(s.profiles())
	return true
}

func (s *storm) addTree() bool {
	if len(s.roots(func(*PlanFacts) bool { return true })) >= s.shape.trees {
		return false
	}
	s.lastPlan++
	id := s.lastPlan
	s.plans[id] = &PlanFacts{ID: id, Root: id}
	for range s.shape.size {
		s.newNode(id)
	}
	return true
}

func (s *storm) deleteTree() bool {
	root, ok := pick(s, s.roots(func(*PlanFacts) bool { return true }))
	if !ok {
		return false
	}
	s.facts.Plans = append(s.facts.Plans, PlanFacts{ID: root.ID, Root: root.ID, Deleted: true})
	s.removePlans(s.tree(root.ID))
	return true
}

func (s *storm) start() bool {
	root, ok := pick(s, s.roots(func(p *PlanFacts) bool { return !p.Started }))
	if !ok || s.any(func(p *piece) bool { return s.root(p) == root && p.State == Running && p.AgentKind == string(Builtin) }) != nil {
		return false
	}
	by := Builtin
	if s.r.IntN(10) < s.shape.external {
		by = External
	}
	for _, id := range s.tree(root.ID) {
		s.plans[id].Started, s.plans[id].Executor = true, by
		s.facts.Plans = append(s.facts.Plans, *s.plans[id])
	}
	for _, p := range s.sorted(func(p *piece) bool { return s.root(p) == root && (p.State == Ready || p.State == Running) }) {
		s.touch(p)
	}
	return true
}

func (s *storm) stop() bool {
	root, ok := pick(s, s.roots(func(p *PlanFacts) bool { return p.Started }))
	if !ok {
		return false
	}
	for _, id := range s.tree(root.ID) {
		s.plans[id].Started = false
		s.forget(id)
	}
	s.facts.Plans = append(s.facts.Plans, *root)
	for _, p := range s.sorted(func(p *piece) bool { return s.root(p) == root }) {
		if p.State == Ready || p.State == Running && p.Phase == PhaseSubplan {
			s.set(p, Pending)
		}
	}
	return true
}

func (s *storm) endStopped() bool {
	p := s.any(func(p *piece) bool { return p.State == Running && !s.started(p) && p.AgentKind != "" })
	if p != nil {
		s.set(p, Pending)
	}
	return p != nil
}

func (s *storm) addSubplan() bool {
	p := s.any(func(p *piece) bool {
		depth := 1
		for id := p.PlanID; s.plans[id].ParentPlan != 0; id = s.plans[id].ParentPlan {
			depth++
		}
		return depth <= s.shape.depth && p.Kind == KindAgent && p.Subplan == 0 && (open(p) || working(p))
	})
	if p == nil {
		return false
	}
	s.lastPlan++
	f := *s.root(p)
	f.ID, f.ParentPlan, f.ParentNode, f.Profile = s.lastPlan, p.PlanID, p.ID, ProfileID(s.r.IntN(5))
	s.plans[f.ID], p.Subplan = &f, f.ID
	s.facts.Plans = append(s.facts.Plans, f)
	if p.State == Ready {
		s.set(p, Running)
		p.Phase = PhaseSubplan
	}
	s.touch(p)
	for range s.r.IntN(s.shape.size + 1) {
		s.newNode(f.ID)
	}
	return true
}
