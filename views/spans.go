package views

import (
	"cmp"
	"math"
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Stretch is a time that a step spent in one state and phase, and has left.
type Stretch struct {
	Node         plan.Ref
	State        plan.State
	Phase        plan.Phase
	Since, Until plan.Stamp
}

// The kinds of spans. Waits are named for what was waited for.
const (
	spanDepends = "depends"
	spanFiles   = "files"
	spanSlot    = "slot"
	spanLimit   = "limit"
	spanBudget  = "budget"
	spanPerson  = "person"
	spanWork    = "work"  // a run
	spanCheck   = "check" // checks, reviews, applying
	spanSub     = "sub"   // the steps of its subplan
)

// timeSpan is a time of one step that the timeline shows as one bar.
type timeSpan struct {
	kind     string
	from, to plan.Stamp
	open     bool      // it goes on; to is not known
	run      *plan.Run // of work and reviews
}

func (t *timeSpan) waits() bool {
	return t.kind != spanWork && t.kind != spanCheck && t.kind != spanSub
}

// times is what the spans of steps are worked out from.
type times struct {
	*scene
	stretches map[plan.Ref][]Stretch
	runs      map[plan.Ref][]*plan.Run
}

func newTimes(s *scene, stretches []Stretch, runs []plan.Run) *times {
	t := &times{scene: s, stretches: map[plan.Ref][]Stretch{}, runs: map[plan.Ref][]*plan.Run{}}
	for _, x := range stretches {
		t.stretches[x.Node] = append(t.stretches[x.Node], x)
	}
	for i := range runs {
		r := &runs[i]
		t.runs[r.Ref()] = append(t.runs[r.Ref()], r)
	}
	return t
}

// spans returns the times of a step in order.
func (t *times) spans(n *plan.Node) []timeSpan {
	var list []timeSpan
	last := plan.Stamp(0)
	for _, x := range t.stretches[n.Ref()] {
		last = x.Since
		if kind := t.kindOf(n, x.State, x.Phase); kind != "" {
			list = append(list, timeSpan{kind: kind, from: x.Since, to: x.Until})
		}
	}
	for _, r := range t.runs[n.Ref()] {
		list = append(list, runSpans(r)...)
	}
	if n.PhaseSince > last { // else what it is in now was left a moment after it was read
		if kind := t.kindNow(n); kind != "" {
			list = append(list, timeSpan{kind: kind, from: n.PhaseSince, open: true})
		}
	}
	list = append(list, t.depends(n)...)
	slices.SortStableFunc(list, func(a, b timeSpan) int { return cmp.Compare(a.from, b.from) })
	return joinedSpans(list)
}

func runSpans(r *plan.Run) []timeSpan {
	kind := spanWork
	switch r.Kind {
	case plan.RunStep, plan.RunExternal:
	case plan.RunReview:
		kind = spanCheck
	default: // a judge's time is a phase of the step
		return nil
	}
	return []timeSpan{{kind: kind, from: r.StartedAt, to: r.FinishedAt, open: r.Open(), run: r}}
}

// kindOf says what a stretch is shown as, "" for those that runs tell of.
func (t *times) kindOf(n *plan.Node, s plan.State, p plan.Phase) string {
	switch s {
	case plan.Ready:
		return readyKind(n, p)
	case plan.Running:
		switch p {
		case plan.PhaseSubplan:
			return spanSub
		case plan.PhaseNeedsPerson:
			return spanPerson
		case plan.PhaseChecking, plan.PhaseReviewing, plan.PhaseApplying:
			return spanCheck
		}
	}
	return ""
}

func readyKind(n *plan.Node, p plan.Phase) string {
	switch {
	case n.Kind == plan.KindUser || p == plan.PhasePerson:
		return spanPerson
	case p == plan.PhaseFiles:
		return spanFiles
	case p == plan.PhaseLimit:
		return spanLimit
	case p == plan.PhaseBudget:
		return spanBudget
	}
	return spanSlot
}

// kindNow says what a step is in now. What a ready one waits for is known to
// whoever schedules it.
func (t *times) kindNow(n *plan.Node) string {
	if n.State == plan.Ready {
		return readyKind(n, t.hold(n).Phase)
	}
	return t.kindOf(n, n.State, n.Phase)
}

// depends is the time in which a step's prerequisites were not done: from when
// it could have begun at the earliest to when it was ready.
func (t *times) depends(n *plan.Node) []timeSpan {
	begun := max(t.Root().FirstStart, n.CreatedAt)
	if t.Root().FirstStart == 0 || len(t.Graph(n.PlanID).Prerequisites(n.ID)) == 0 {
		return nil
	}
	if x := t.stretches[n.Ref()]; len(x) > 0 {
		return closedSpan(spanDepends, begun, x[0].Since)
	}
	switch {
	case n.State == plan.Pending && t.Root().Started:
		return []timeSpan{{kind: spanDepends, from: begun, open: true}}
	case n.State == plan.Ready, n.State == plan.Running:
		return closedSpan(spanDepends, begun, n.PhaseSince)
	case n.StartedAt != 0:
		return closedSpan(spanDepends, begun, n.StartedAt)
	}
	return nil
}

func closedSpan(kind string, from, to plan.Stamp) []timeSpan {
	if to <= from {
		return nil
	}
	return []timeSpan{{kind: kind, from: from, to: to}}
}

// joinedSpans makes one of spans that follow each other and are of one kind, and
// leaves out what was too short to be waited for.
func joinedSpans(list []timeSpan) []timeSpan {
	const briefly, gap = 0.05, 0.02
	var out []timeSpan
	for _, s := range list {
		if !s.open && s.run == nil && s.to-s.from < briefly {
			continue
		}
		if n := len(out) - 1; n >= 0 && s.run == nil && out[n].run == nil && out[n].kind == s.kind && !out[n].open && s.from-out[n].to < gap {
			out[n].to, out[n].open = max(out[n].to, s.to), s.open
			continue
		}
		out = append(out, s)
	}
	return out
}

// scale is the axis of time: how much of it is shown.
type scale struct {
	from plan.Stamp
	span float64 // seconds
}

// newScale makes an axis from the first moment of some spans to the last, or to
// some time after now while any goes on: so that it stays as it is for a while.
func newScale(rows [][]timeSpan, now plan.Stamp) scale {
	first, last, open := plan.Stamp(math.Inf(1)), plan.Stamp(0), false
	for _, spans := range rows {
		for _, s := range spans {
			first, last, open = min(first, s.from), max(last, s.to, s.from), open || s.open
		}
	}
	if last == 0 {
		return scale{now, 60}
	}
	if !open {
		return scale{first, max(1, float64(last-first))}
	}
	span := 10.0
	for span < 1.04*float64(max(now, last)-first) {
		span *= 1.25
	}
	return scale{first, span}
}

// at returns where a moment is on the axis, in hundredths of its length.
func (s scale) at(t plan.Stamp) float64 {
	return min(100, max(0, 100*float64(t-s.from)/s.span))
}

// mark is a line of the axis with what it says.
type mark struct {
	x     float64
	words string
}

// marks divide the axis into a few parts of a length that people count in.
func (s scale) marks() []mark {
	const most = 8
	steps := []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 4 * 3600, 8 * 3600, 12 * 3600, 86400}
	step := steps[len(steps)-1]
	for _, x := range steps {
		if s.span/x <= most {
			step = x
			break
		}
	}
	for s.span/step > most {
		step *= 2
	}
	var list []mark
	for t := 0.0; t < s.span*0.94; t += step {
		list = append(list, mark{100 * t / s.span, axisWords(t)})
	}
	return list
}
