package plan

// A provider's limit holds back every run of its profile until the moment that
// the provider named. Then one run goes first and tries, and the others follow
// when it has shown that work is taken again: a limit that is not over costs one
// refused run instead of one for each waiting step.

func (b *Board) applyLimit(l Limit) {
	if b.limitTimes[l.Profile] == nil {
		b.limitTimes[l.Profile] = &period{}
	}
	b.limitTimes[l.Profile].set(l.Until != 0, b.now)
	if l.Until == 0 {
		delete(b.limited, l.Profile)
		delete(b.probes, l.Profile)
		return
	}
	b.limited[l.Profile] = l.Until
}

// prober is the run that tries whether a limit is over: of a step, or of a review.
type prober struct {
	ref    Ref
	review int64
}

// probe notes that a run that has just started tries whether a limit is over.
func (b *Board) probe(p ProfileID, by prober) {
	until, limited := b.limited[p]
	if _, probing := b.probes[p]; limited && until <= b.now && !probing {
		b.probes[p] = by
	}
}

func (b *Board) endProbe(p ProfileID, by prober) {
	if b.probes[p] == by {
		delete(b.probes, p)
	}
}

// limitHolds reports whether a limit keeps runs of a profile from starting, and
// until when it was said to last.
func (b *Board) limitHolds(p ProfileID) (until Stamp, holds bool) {
	until, limited := b.limited[p]
	if !limited {
		return 0, false
	}
	_, probing := b.probes[p]
	return until, until > b.now || probing
}

// LimitOver reports whether a profile has a limit whose time is up: a sign of
// life from one of its runs ends it.
func (b *Board) LimitOver(p ProfileID, now Stamp) bool {
	until, limited := b.limited[p]
	return limited && until <= now
}

// nextLimit returns when the next limit's time is up, 0 when there is none.
func (b *Board) nextLimit() Stamp {
	var next Stamp
	for _, until := range b.limited {
		if until > b.now && (next == 0 || until < next) {
			next = until
		}
	}
	return next
}
