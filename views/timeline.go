package views

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// TimelineInput is what a timeline is made from besides the plan.
type TimelineInput struct {
	Stretches []Stretch  // of the whole tree, by step and time
	Runs      []plan.Run // by step and number
	Now       plan.Stamp
}

// Timeline is a plan and its subplans on an axis of time.
type Timeline struct {
	Plan     plan.PlanID
	Rows     []TimelineRow
	Estimate *Estimate
	scale    scale
}

// TimelineRow is one step of a timeline.
type TimelineRow struct {
	Node     plan.Ref
	Own      bool // it is a step of the plan itself, not of a subplan
	Depth    int
	Title    string
	URL      string
	Look     Look
	Critical bool
	Waited   stay // since it could have begun
	Worked   stay
	Words    string // what the bars show
	bars     []bar
}

// bar is a span as it is drawn, in hundredths of the axis.
type bar struct {
	class string
	x, w  float64
	from  plan.Stamp // of an open one: a script draws it on
}

// stay adds up times: those that are over, and one that goes on.
type stay struct {
	sum   plan.Stamp
	since plan.Stamp // 0: none goes on
}

func (s *stay) add(t timeSpan) {
	if t.open {
		s.since = t.from
		return
	}
	s.sum += t.to - t.from
}

// Since is from when a clock would have to count to show the sum; 0 when it
// stands still.
func (s stay) Since() plan.Stamp {
	if s.since == 0 {
		return 0
	}
	return s.since - s.sum
}

// Took writes the sum, "" for none.
func (s stay) Took() string {
	if s.sum == 0 {
		return ""
	}
	return brief(float64(s.sum))
}

// brief writes seconds; short times get a digit more.
func brief(seconds float64) string {
	switch {
	case seconds < 0.05:
		return "< 0.1s"
	case seconds < 9.95:
		return trimmed(seconds, 1) + "s"
	}
	return span(time.Duration(math.Round(seconds)) * time.Second)
}

// axisWords writes a number of seconds for a mark of the axis.
func axisWords(seconds float64) string {
	s := int64(seconds)
	d, h, m := s/86400, s%86400/3600, s%3600/60
	switch {
	case s == 0:
		return "0"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600 && s%60 != 0:
		return fmt.Sprintf("%d:%02dm", m, s%60)
	case s < 3600:
		return fmt.Sprintf("%dm", m)
	case d > 0 && h == 0:
		return fmt.Sprintf("%dd", d)
	case d > 0:
		return fmt.Sprintf("%dd %dh", d, h)
	case m == 0:
		return fmt.Sprintf("%dh", h)
	}
	return fmt.Sprintf("%dh %02dm", h, m)
}

func newTimeline(s *scene, at Place, in *TimelineInput) *Timeline {
	t := newTimes(s, in.Stretches, in.Runs)
	l := &Timeline{Plan: at.Plan, Estimate: s.estimate(in.Now)}
	critical := s.critical(at.Plan, in.Now)
	var all [][]timeSpan
	depth := len(s.Ancestors(at.Plan))
	s.WalkFrom(at.Plan, func(n *plan.Node) {
		spans := t.spans(n)
		all = append(all, spans)
		row := TimelineRow{Node: n.Ref(), Own: n.PlanID == at.Plan, Depth: len(s.Ancestors(n.PlanID)) - depth, Title: n.Title, URL: at.Node(n.Ref()),
			Look: s.look(n), Critical: critical[n.Ref()], Words: t.words(n, spans)}
		for _, x := range spans {
			switch {
			case x.kind == spanWork:
				row.Worked.add(x)
			case x.waits() && x.kind != spanDepends:
				row.Waited.add(x)
			}
		}
		l.Rows = append(l.Rows, row)
	})
	l.scale = newScale(all, in.Now)
	for i := range l.Rows {
		l.Rows[i].bars = l.scale.bars(all[i])
	}
	return l
}

// bars draws spans; what was too short to be seen is drawn as a line.
func (s scale) bars(spans []timeSpan) []bar {
	const thin = 0.12
	list := make([]bar, len(spans))
	for i, x := range spans {
		b := bar{class: "tl-" + x.kind, x: s.at(x.from)}
		if x.run != nil {
			b.class += " " + outcomeLook(x.run.Outcome).Class()
		}
		if x.open {
			b.from = x.from
		} else {
			b.w = max(thin, s.at(x.to)-b.x)
		}
		list[i] = b
	}
	return list
}

// words say what the bars of a step show.
func (t *times) words(n *plan.Node, spans []timeSpan) string {
	var list []string
	for _, x := range spans {
		if w := t.spanWords(n, &x); w != "" {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return "not begun"
	}
	return strings.Join(list, " · ")
}

func (t *times) spanWords(n *plan.Node, x *timeSpan) string {
	if x.run != nil {
		return runWords(x)
	}
	what := t.causeWords(n, x)
	switch {
	case x.open && x.waits():
		return "waits for " + what
	case x.waits():
		return "waited " + brief(float64(x.to-x.from)) + " for " + what
	case x.open:
		return what
	}
	return what + " " + brief(float64(x.to-x.from))
}

func runWords(x *timeSpan) string {
	name := fmt.Sprintf("run %d", x.run.Number)
	if x.kind == spanCheck {
		name = "review"
	}
	if x.run.AgentName != "" {
		name += " by " + x.run.AgentName
	}
	if x.open {
		return name + ", running"
	}
	return fmt.Sprintf("%s, %s, %s", name, strings.ToLower(outcomeWord(x.run.Outcome)), brief(float64(x.to-x.from)))
}

// causeWords name what a step waited for, or was at.
func (t *times) causeWords(n *plan.Node, x *timeSpan) string {
	switch x.kind {
	case spanDepends:
		return t.dependsWords(n)
	case spanFiles:
		if h := t.hold(n); x.open && !h.By.IsZero() {
			return "files that " + h.By.String() + " has"
		}
		return "files that another step had"
	case spanLimit:
		return "its provider's limit"
	case spanBudget:
		return "the plan's budget"
	case spanPerson:
		return "you"
	case spanCheck:
		return "checks and reviews"
	case spanSub:
		return "its subplan"
	}
	if t.Root().Executor == plan.External {
		return "someone to take it"
	}
	return "a free agent"
}

// dependsWords name the prerequisite that a step waited for longest, or still
// waits for.
func (t *times) dependsWords(n *plan.Node) string {
	var last *plan.Node
	open := 0
	for _, p := range t.prerequisites(n) {
		if !p.Satisfied() {
			if open == 0 {
				last = p
			}
			open++
		} else if open == 0 && (last == nil || p.FinishedAt > last.FinishedAt) {
			last = p
		}
	}
	switch {
	case last == nil:
		return "steps before it"
	case open > 1:
		return fmt.Sprintf("%s and %d more", last.Ref(), open-1)
	}
	return last.Ref().String()
}

// Topic is what a page with this timeline follows.
func (l *Timeline) topic() string { return "timeline:" + strconv.FormatInt(int64(l.Plan), 10) }

// pieces are the parts of the timeline that change.
func (l *Timeline) pieces() []Piece {
	list := []Piece{{ID: "tl-scale", Body: timelineScale(l)}, {ID: "tl-end", Body: timelineEnd(l)}}
	for i := range l.Rows {
		list = append(list, Piece{ID: dom("tl", l.Rows[i].Node), In: "tl-rows", Body: timelineRow(&l.Rows[i])})
	}
	return list
}

// find is what a step is found and marked by: its number, with that of its plan
// where that is another.
func (r *TimelineRow) find() string {
	if r.Own {
		return strconv.FormatInt(int64(r.Node.Node), 10)
	}
	return r.Node.String()
}

// critical says it to those who do not see the mark.
func (r *TimelineRow) label() string {
	if r.Critical {
		return r.Words + " · on the critical path"
	}
	return r.Words
}

// words say what an estimate is made from.
func (e *Estimate) words() string {
	text := fmt.Sprintf("%s left; the %s took %s on average", plural(e.Left, "step", "steps"), plural(e.From, "step that is done", "steps that are done"), brief(e.Usual))
	if e.Yours > 0 {
		text += "; not counting " + plural(e.Yours, "step of yours", "steps of yours")
	}
	return text
}
