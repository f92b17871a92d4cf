package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// watcher looks at all that is stored at each commit, and says what must not be.
// It works everything out anew from plain snapshots.
type watcher struct {
	t       *testing.T
	engine  atomic.Pointer[engine.Engine]
	agents  int // at once, over all plans
	before  *engine.Moment
	recent  []*engine.Moment // the last few: what was decided may be committed a little later
	commits int
	wrong   atomic.Bool
	opening atomic.Bool   // what an earlier process left is not taken up yet
	last    func() string // what was asked for last, for messages
}

// commit is called before each commit: it sees what the one before left. It
// never asks for a crash.
func (w *watcher) commit() bool {
	e := w.engine.Load()
	if e == nil || w.wrong.Load() {
		return false
	}
	m, err := e.Look(context.Background())
	if err != nil {
		w.fail("look: %v", err)
		return false
	}
	w.commits++
	w.check(m)
	return false
}

func (w *watcher) fail(format string, args ...any) {
	if w.wrong.Swap(true) {
		return // what follows from it is of no use
	}
	w.t.Errorf("after %d commits, lately %s: %s", w.commits, w.last(), fmt.Sprintf(format, args...))
}

// check says what is wrong with a moment, and with how it came about.
func (w *watcher) check(m *engine.Moment) {
	for _, s := range m.Trees {
		c := &tree{s, w}
		c.checkCounts(m)
		bad := w.wrong.Load()
		s.Walk(c.checkNode)
		c.checkFiles()
		if !bad && w.wrong.Load() {
			w.t.Logf("now: %s", dump(s))
			if w.before != nil && treeOf(w.before, s.Root().ID) != nil {
				w.t.Logf("before: %s", dump(treeOf(w.before, s.Root().ID)))
			}
		}
		if over := s.Status(s.Root().ID) == plan.StatusDone; over != (s.Root().FinishedAt != 0) {
			w.fail("plan %d is %s and has the end %f", s.Root().ID, s.Status(s.Root().ID), s.Root().FinishedAt)
		}
	}
	w.checkRuns(m)
	if w.before != nil {
		w.checkStarts(m)
	}
	w.before = m
	w.recent = append(w.recent[max(0, len(w.recent)-9):], m)
}

// tree is one plan tree that is checked.
type tree struct {
	*plan.Snapshot
	w *watcher
}

// checkCounts compares what is kept with what is counted.
func (c *tree) checkCounts(m *engine.Moment) {
	at := slices.IndexFunc(m.Overviews, func(o engine.Overview) bool { return o.Plan.ID == c.Root().ID })
	if diff := cmp.Diff(c.Tally(c.Root().ID), m.Overviews[at].Tally); diff != "" {
		c.w.fail("tally of plan %d (-counted +kept):\n%s", c.Root().ID, diff)
	}
	for _, id := range c.PlanIDs() {
		if want := c.status(id); want != c.Status(id) || want != m.Kept[id] {
			c.w.fail("plan %d is %s, by its snapshot %s, by kept counts %s", id, want, c.Status(id), m.Kept[id])
		}
		if cycle := c.Graph(id).Cycle(); cycle != nil {
			c.w.fail("plan %d has the cycle %v", id, cycle)
		}
	}
}

// status is a plan's by the words of its definition.
func (c *tree) status(id plan.PlanID) plan.Status {
	nodes := c.NodesOf(id)
	some := func(is func(*plan.Node) bool) bool { return slices.ContainsFunc(nodes, is) }
	switch {
	case len(nodes) == 0:
		return plan.StatusEmpty
	case some(func(n *plan.Node) bool { return n.State == plan.Failed }):
		return plan.StatusFailed
	case !some(func(n *plan.Node) bool { return !satisfied(n) }):
		return plan.StatusDone
	case some(func(n *plan.Node) bool { return n.State != plan.Pending }):
		return plan.StatusRunning
	}
	return plan.StatusPending
}

func satisfied(n *plan.Node) bool {
	return n.State == plan.Done || n.State == plan.Skipped && n.SkippedBy == plan.SkippedByPerson
}

// open counts the prerequisites of a node that are not satisfied.
func (c *tree) open(n *plan.Node) int {
	open := 0
	for _, e := range c.EdgesOf(n.PlanID) {
		if e.To == n.ID && !satisfied(c.Node(plan.Ref{Plan: n.PlanID, Node: e.From})) {
			open++
		}
	}
	return open
}

// live reports whether the nodes of a plan may become ready.
func (c *tree) live(id plan.PlanID) bool {
	for n := c.Container(id); n != nil; n = c.Container(n.PlanID) {
		if n.State != plan.Running || n.Phase != plan.PhaseSubplan {
			return false
		}
	}
	return c.Root().Started && c.Root().Approval.MayStart()
}

func (c *tree) checkNode(n *plan.Node) {
	open := c.open(n)
	switch {
	case n.Blockers != open:
		c.w.fail("step %s has %d open prerequisites and %d are kept", n.Ref(), open, n.Blockers)
	case n.State == plan.Ready && (open > 0 || !c.Root().Started):
		c.w.fail("step %s is ready with %d open prerequisites in a plan that is started: %v", n.Ref(), open, c.Root().Started)
	case n.State == plan.Ready && n.Subplan != 0 && n.RunID == "": // else its agent was cut off and goes on
		c.w.fail("step %s has subplan %d and is ready for an agent", n.Ref(), n.Subplan)
	case n.State == plan.Pending && open == 0 && c.live(n.PlanID) && !c.w.opening.Load():
		c.w.fail("step %s waits for nothing and is pending in a plan that is at work", n.Ref())
	case n.State == plan.Skipped && n.SkippedBy != plan.SkippedByPerson && n.SkippedBy != plan.SkippedByFailure:
		c.w.fail("step %s was skipped by %q", n.Ref(), n.SkippedBy)
	case n.State == plan.Skipped && n.SkippedBy == plan.SkippedByFailure && !c.hasFailedAbove(n):
		c.w.fail("step %s was skipped because of step %d, and nothing before it has failed any more", n.Ref(), n.SkippedCause)
	case n.Kind == plan.KindUser && n.State == plan.Running:
		c.w.fail("step %s is a person's and runs", n.Ref())
	case n.State == plan.Running && n.Phase == plan.PhaseNone:
		c.w.fail("step %s runs in no phase", n.Ref())
	}
	if n.Subplan != 0 {
		c.checkContainer(n)
	}
}

func (c *tree) hasFailedAbove(n *plan.Node) bool {
	g := c.Graph(n.PlanID)
	return slices.ContainsFunc(c.NodesOf(n.PlanID), func(o *plan.Node) bool { return o.State == plan.Failed && g.Reaches(o.ID, n.ID) })
}

// checkContainer makes sure that a step with a subplan is where that is.
func (c *tree) checkContainer(n *plan.Node) {
	sub := c.Plan(n.Subplan)
	if sub == nil || sub.Parent() != n.Ref() {
		c.w.fail("step %s has subplan %d, which does not know of it", n.Ref(), n.Subplan)
		return
	}
	status := c.status(n.Subplan)
	goesOn := c.w.opening.Load() || slices.ContainsFunc(c.NodesOf(n.Subplan), func(o *plan.Node) bool { return o.State == plan.Ready || o.State == plan.Running })
	switch {
	case n.State == plan.Running && n.Phase == plan.PhaseSubplan && status == plan.StatusEmpty && n.RunID == "": // it waits to be filled
	case n.State == plan.Running && n.Phase == plan.PhaseSubplan && (status == plan.StatusDone || status == plan.StatusEmpty):
		c.w.fail("step %s works through subplan %d, which is %s", n.Ref(), n.Subplan, status)
	case n.State == plan.Running && n.Phase == plan.PhaseSubplan && status == plan.StatusFailed && !goesOn:
		c.w.fail("step %s works through subplan %d, which has failed", n.Ref(), n.Subplan)
	case n.State == plan.Running && n.Phase == plan.PhaseSubplan && !c.Root().Started:
		c.w.fail("step %s works through its subplan in a plan that is not started", n.Ref())
	}
}

// checkFiles makes sure that no two steps hold the same files.
func (c *tree) checkFiles() {
	var hold []*plan.Node
	c.Walk(func(n *plan.Node) {
		if n.State == plan.Running && n.Phase.HoldsFiles() && n.Kind == plan.KindAgent {
			hold = append(hold, n)
		}
	})
	for i, a := range hold {
		for _, b := range hold[:i] {
			if shared := plan.SharedFiles(a.Files, b.Files); len(shared) > 0 {
				c.w.fail("steps %s and %s hold %s at once", a.Ref(), b.Ref(), strings.Join(shared, ", "))
			}
		}
	}
}

// checkRuns makes sure that every step that an agent works on has one open run,
// and that there are no others.
func (w *watcher) checkRuns(m *engine.Moment) {
	open := map[plan.RunID]plan.Ref{}
	for _, r := range m.Open {
		if r.Kind != plan.RunStep && r.Kind != plan.RunExternal {
			continue
		}
		open[r.ID] = r.Ref()
		if n := nodeOf(m, r.Ref()); n == nil || n.State != plan.Running || n.RunID != r.ID || !n.Working() {
			w.fail("run %d of step %s is open, but the step is %s", r.Number, r.Ref(), show(n))
		}
	}
	for _, s := range m.Trees {
		s.Walk(func(n *plan.Node) {
			if r, ok := open[n.RunID]; n.Working() && n.Phase != plan.PhaseNeedsPerson && (!ok || r != n.Ref()) {
				w.fail("step %s is %s without an open run", n.Ref(), show(n))
			}
		})
	}
}

func show(n *plan.Node) string {
	if n == nil {
		return "gone"
	}
	return fmt.Sprintf("%s %s (agent %q done %v, run %q)", n.State, n.Phase, n.AgentKind, n.AgentDone, n.RunID)
}

// checkStarts looks at what has just started: whether it might.
func (w *watcher) checkStarts(m *engine.Moment) {
	started := false
	for _, s := range m.Trees {
		c := &tree{s, w}
		old := treeOf(w.before, s.Root().ID)
		s.Walk(func(n *plan.Node) {
			was := nodeOf(w.before, n.Ref())
			if n.State != plan.Running || was != nil && was.State == plan.Running && was.RunID == n.RunID {
				return
			}
			if c.open(n) > 0 && (was == nil || (&tree{old, w}).open(was) > 0) && !(was != nil && was.Subplan != 0) {
				w.fail("step %s has started with %d open prerequisites", n.Ref(), c.open(n))
			}
			if n.AgentKind != "" && !n.AgentDone {
				started = true
				w.checkTreeLimit(s, n)
			}
		})
	}
	if started {
		w.checkLimits(m)
	}
}

func (w *watcher) checkTreeLimit(s *plan.Snapshot, n *plan.Node) {
	limit := w.latelyAtMost(s.Root().MaxParallel, func(m *engine.Moment) int {
		if old := treeOf(m, s.Root().ID); old != nil {
			return old.Root().MaxParallel
		}
		return s.Root().MaxParallel
	})
	if running := builtin(s.Active()); limit > 0 && n.AgentKind == string(plan.Builtin) && running > limit {
		w.fail("step %s has started: %d agents of plan %d are at work, of at most %d", n.Ref(), running, s.Root().ID, limit)
	}
}

// latelyAtMost returns the highest that a limit was lately; 0 when there was none.
func (w *watcher) latelyAtMost(now int, then func(*engine.Moment) int) int {
	for _, m := range w.recent {
		old := then(m)
		if old == 0 || now == 0 {
			return 0
		}
		now = max(now, old)
	}
	return now
}

func builtin(nodes []*plan.Node) int {
	return len(slices.DeleteFunc(slices.Clone(nodes), func(n *plan.Node) bool { return n.AgentKind != string(plan.Builtin) }))
}

// checkLimits makes sure that after a start no more agents are at work than may.
func (w *watcher) checkLimits(m *engine.Moment) {
	all, by := 0, map[plan.ProfileID]int{}
	for _, r := range m.Open {
		// Also of plans that were stopped, until they have ended; a review that a person
		// asks for waits for no slot.
		if r.Kind != plan.RunExternal && r.Kind != plan.RunReview && r.Kind != plan.RunPlanReview {
			all++
			by[r.Profile]++
		}
	}
	if all > w.agents {
		w.fail("%d agents are at work, of at most %d", all, w.agents)
	}
	for id, n := range by {
		now := profile(m, id)
		if now == nil {
			continue
		}
		limit := w.latelyAtMost(now.MaxParallel, func(m *engine.Moment) int {
			if old := profile(m, id); old != nil {
				return old.MaxParallel
			}
			return now.MaxParallel
		})
		if limit > 0 && n > limit {
			w.fail("%d runs of agent %s are at work, of at most %d", n, now.Name, limit)
		}
	}
}

func profile(m *engine.Moment, id plan.ProfileID) *plan.Profile {
	for _, s := range m.Trees {
		return s.Profiles[id]
	}
	return nil
}

func treeOf(m *engine.Moment, root plan.PlanID) *plan.Snapshot {
	for _, s := range m.Trees {
		if s.Root().ID == root {
			return s
		}
	}
	return nil
}

func nodeOf(m *engine.Moment, r plan.Ref) *plan.Node {
	for _, s := range m.Trees {
		if n := s.Node(r); n != nil {
			return n
		}
	}
	return nil
}

// dump writes a tree down.
func dump(s *plan.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "started %v by %s, on failure %s\n", s.Root().Started, s.Root().Executor, s.Root().OnFailure)
	for _, id := range s.PlanIDs() {
		fmt.Fprintf(&b, "plan %d of %s, edges %v\n", id, s.Plan(id).Parent(), s.EdgesOf(id))
		for _, n := range s.NodesOf(id) {
			fmt.Fprintf(&b, "  %s %s %v %s, %d open, subplan %d, skipped by %q %d\n", n.Ref(), n.Kind, n.Files, show(n), n.Blockers, n.Subplan, n.SkippedBy, n.SkippedCause)
		}
	}
	return b.String()
}
