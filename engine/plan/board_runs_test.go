package plan

// What happens to nodes as they run.

// giveOut compares who is given out next.
func (s *storm) giveOut() bool {
	within := PlanID(0)
	if s.r.IntN(2) == 0 && s.lastPlan > 0 {
		within = 1 + PlanID(s.r.IntN(int(s.lastPlan)))
	}
	by, want, got := Builtin, Ref{}, Ref{}
	if s.r.IntN(10) < max(1, s.shape.external) {
		by = External
		want, _ = s.claim(within)
		got, _ = s.b.Claim(within)
	} else {
		want, _ = s.next()
		got, _ = s.b.Next()
	}
	if got != want {
		s.t.Fatalf("after %v, given out to %s within %d: %s, want %s", s.did, by, within, got, want)
	}
	if want.IsZero() {
		return false
	}
	p := s.nodes[want]
	p.given, p.agent = by, s.resolve(p)
	if by == Builtin {
		s.startProbe(p.agent, prober{ref: p.Ref()})
	}
	return true
}

// begin commits that a node runs which was given out.
func (s *storm) begin() bool {
	p := s.any(func(p *piece) bool { return p.given != "" })
	if p == nil {
		return false
	}
	by := p.given
	s.set(p, Running)
	p.Phase, p.AgentKind = PhaseWorking, string(by)
	if by == Builtin && s.r.IntN(2) == 0 {
		p.Agent = ProfileID(1 + s.r.IntN(4)) // as was decided before somebody edited it
	}
	return true
}

func (s *storm) giveBack() bool {
	p := s.any(func(p *piece) bool { return p.given != "" })
	if p == nil {
		return false
	}
	s.endProbe(prober{ref: p.Ref()})
	p.given, p.agent, p.Phase = "", 0, PhaseNone
	s.b.Return(p.Ref())
	return true
}

func (s *storm) finish() bool {
	p := s.any(func(p *piece) bool { return p.State == Running && p.Phase != PhaseSubplan && s.started(p) })
	switch {
	case p == nil:
		return false
	case p.Subplan != 0:
		p.Phase = PhaseSubplan
		s.touch(p)
	default:
		s.set(p, Done)
	}
	return true
}

func (s *storm) fail() bool {
	p := s.any(func(p *piece) bool { return p.State == Running && p.Phase != PhaseSubplan })
	if p != nil {
		s.set(p, Failed)
	}
	return p != nil
}

func (s *storm) changePhase() bool {
	p := s.any(func(p *piece) bool { return p.State == Running && p.Phase != PhaseSubplan && s.started(p) })
	if p == nil {
		return false
	}
	p.Phase = []Phase{PhaseWorking, PhaseChecking, PhaseReviewing, PhaseNeedsPerson, PhaseApplying}[s.r.IntN(5)]
	s.touch(p)
	return true
}

func (s *storm) interrupt() bool {
	p := s.any(func(p *piece) bool { return working(p) && p.Subplan == 0 && s.works(p.PlanID) && s.unblocked(p) })
	if p == nil {
		return false
	}
	s.set(p, Ready)
	p.NotBefore = s.now + Stamp(s.r.IntN(4))
	return true
}

func (s *storm) reachLimit() bool {
	p := s.any(func(p *piece) bool {
		return working(p) && p.AgentKind == string(Builtin) && p.Subplan == 0 && s.works(p.PlanID) && s.unblocked(p)
	})
	if p == nil {
		return false
	}
	l := Limit{Profile: p.agent, Until: s.now + 1 + Stamp(s.r.IntN(4))}
	s.set(p, Ready)
	p.Phase, p.NotBefore = PhaseLimit, l.Until
	s.facts.Limits = append(s.facts.Limits, l)
	return true
}

func (s *storm) endLimit() bool {
	var over []ProfileID
	for id := range ProfileID(10) {
		if l, ok := s.limited[id]; ok && l.Until <= s.now {
			over = append(over, id)
		}
	}
	id, ok := pick(s, over)
	if ok {
		s.facts.Limits = append(s.facts.Limits, Limit{Profile: id})
	}
	return ok
}

// reopen makes the containers above a plan work through their subplans again.
func (s *storm) reopen(id PlanID) {
	for s.plans[id].ParentPlan != 0 {
		c := s.container(id)
		if c.State == Failed || c.State == Done {
			s.set(c, Running)
			c.Phase = PhaseSubplan
		}
		id = c.PlanID
	}
}

func (s *storm) retry() bool {
	p := s.any(func(p *piece) bool { return p.State == Failed && p.Subplan == 0 && s.started(p) })
	if p != nil {
		s.set(p, Pending)
		s.reopen(p.PlanID)
	}
	return p != nil
}

func (s *storm) rework() bool {
	p := s.any(func(p *piece) bool { return satisfied(p) && p.Subplan == 0 && s.started(p) })
	if p != nil {
		s.set(p, Pending)
		s.reopen(p.PlanID)
	}
	return p != nil
}

func (s *storm) markDone() bool {
	p := s.any(func(p *piece) bool { return p.Subplan == 0 && p.State != Running && p.State != Done })
	if p != nil {
		s.set(p, Done)
	}
	return p != nil
}

func (s *storm) skip() bool {
	p := s.any(open)
	if p != nil {
		s.set(p, Skipped)
	}
	return p != nil
}

func (s *storm) advance() bool {
	s.now += Stamp(s.r.IntN(3))
	s.b.Advance(s.now)
	return true
}

// anything gives a node a state out of turn.
func (s *storm) anything() bool {
	p := s.any(func(p *piece) bool { return p.Subplan == 0 && s.works(p.PlanID) && s.unblocked(p) })
	if p == nil {
		return false
	}
	s.set(p, States[s.r.IntN(len(States))])
	if p.State == Running {
		p.Phase, p.AgentKind = PhaseWorking, string(s.root(p).Executor)
	}
	return true
}
