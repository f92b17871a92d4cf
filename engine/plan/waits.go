package plan

// Wait is a stretch of time that a ready node spent waiting for one thing.
type Wait struct {
	Phase Phase
	Since Stamp
}

// waiting is what the board remembers of how a node has waited since it became
// ready: in memory alone, since only the split is lost with it.
type waiting struct {
	past  []Wait
	phase Phase
}

// note begins a stretch, unless the node waits for the same thing already.
func (w *waiting) note(p Phase, now Stamp) {
	if w.phase == p {
		return
	}
	w.phase = p
	if n := len(w.past); n > 0 && w.past[n-1].Since == now {
		w.past[n-1].Phase = p // nobody waits for no time
		return
	}
	w.past = append(w.past, Wait{p, now})
}

// period is when something was last in the way of many nodes at once.
type period struct {
	from, until Stamp
	open        bool
}

func (p *period) set(on bool, now Stamp) {
	switch {
	case on && !p.open:
		*p = period{from: now, open: true}
	case !on && p.open:
		p.open, p.until = false, now
	}
}

// split returns the part of a stretch that lies within the period.
func (p *period) within(since, now Stamp) (from, until Stamp, ok bool) {
	until = p.until
	if p.open {
		until = now
	}
	from, until = max(since, p.from), min(until, now)
	return from, until, from < until
}

// Waits returns how a node that was given out a moment ago had waited, the
// earliest first.
func (b *Board) Waits(r Ref) []Wait {
	e := b.nodes[r]
	if e == nil {
		return nil
	}
	var out []Wait
	for i, w := range e.waited.past {
		until := b.now
		if i+1 < len(e.waited.past) {
			until = e.waited.past[i+1].Since
		}
		if w.Phase != PhaseSlot {
			out = append(out, w)
			continue
		}
		out = append(out, b.whySlot(e, w.Since, until)...)
	}
	return out
}

// whySlot says what a node that was free waited for: its provider's limit, the
// budget of its plan, else a slot.
func (b *Board) whySlot(e *entry, since, until Stamp) []Wait {
	out := []Wait{{PhaseSlot, since}}
	cut := func(p Phase, from, to Stamp) {
		if from == since {
			out = nil
		}
		out = append(out, Wait{p, from})
		if to < until {
			out = append(out, Wait{PhaseSlot, to})
		}
	}
	if p := b.limitTimes[e.profile]; p != nil {
		if from, to, ok := p.within(since, until); ok {
			cut(PhaseLimit, from, to)
			return out
		}
	}
	if from, to, ok := b.treeOf(e).overTimes.within(since, until); ok {
		cut(PhaseBudget, from, to)
	}
	return out
}
