package views

import (
	"github.com/clearbox-go/clearbox/engine/plan"
)

// critical returns the steps that a plan's end has hung on: from the one that
// ended last, or goes on, back through the prerequisite that each waited for
// longest, and through the subplans of these.
func (s *scene) critical(id plan.PlanID, now plan.Stamp) map[plan.Ref]bool {
	on := map[plan.Ref]bool{}
	s.markCritical(id, now, on)
	return on
}

func (s *scene) markCritical(id plan.PlanID, now plan.Stamp, on map[plan.Ref]bool) {
	for n := s.latest(s.NodesOf(id), now); n != nil && !on[n.Ref()]; {
		on[n.Ref()] = true
		if n.Subplan != 0 {
			s.markCritical(n.Subplan, now, on)
		}
		n = s.latest(s.prerequisites(n), now)
	}
}

func (s *scene) prerequisites(n *plan.Node) []*plan.Node {
	ids := s.Graph(n.PlanID).Prerequisites(n.ID)
	list := make([]*plan.Node, 0, len(ids))
	for _, id := range ids {
		if p := s.Node(plan.Ref{Plan: n.PlanID, Node: id}); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// latest returns the step that ended last; one that goes on ends no earlier than
// now. nil where none has begun.
func (s *scene) latest(list []*plan.Node, now plan.Stamp) *plan.Node {
	var best *plan.Node
	bestEnd := plan.Stamp(0)
	for _, n := range list {
		if end := endOf(n, now); end > bestEnd || end == bestEnd && end != 0 && n.StartedAt < best.StartedAt {
			best, bestEnd = n, end
		}
	}
	return best
}

func endOf(n *plan.Node, now plan.Stamp) plan.Stamp {
	switch n.State {
	case plan.Running, plan.Ready:
		return now
	case plan.Done, plan.Failed, plan.Skipped:
		return n.FinishedAt
	}
	return 0
}

// Estimate is when a plan will be done, judged by its steps that are.
type Estimate struct {
	At    plan.Stamp
	Usual float64 // seconds that a step took
	From  int     // steps that this is known from
	Left  int     // steps of agents that are not done
	Yours int     // steps of people, which are not in it
}

// estimate returns nil where nothing can be said: the plan is over or not under
// way, or no step of it has been done.
func (s *scene) estimate(now plan.Stamp) *Estimate {
	root := s.Root()
	if !root.Started {
		return nil
	}
	e := &Estimate{}
	s.Walk(func(n *plan.Node) {
		switch {
		case n.Subplan != 0 || n.Satisfied() && (n.Kind == plan.KindUser || n.StartedAt == 0 || n.FinishedAt <= n.StartedAt):
		case n.State == plan.Done:
			e.From++
			e.Usual += float64(n.FinishedAt - n.StartedAt)
		case n.Satisfied() || n.State == plan.Skipped:
		case n.Kind == plan.KindUser:
			e.Yours++
		default:
			e.Left++
		}
	})
	if e.From == 0 || e.Left == 0 {
		return nil
	}
	e.Usual /= float64(e.From)
	way := &remaining{scene: s, usual: e.Usual, now: now, known: map[plan.Ref]float64{}}
	longest := way.ofPlan(root.ID)
	if root.MaxParallel > 0 {
		longest = max(longest, way.sum/float64(root.MaxParallel))
	}
	e.At = now + plan.Stamp(longest)
	return e
}

// remaining works out how long steps still take when nothing is in their way but
// their prerequisites.
type remaining struct {
	*scene
	usual float64
	now   plan.Stamp
	known map[plan.Ref]float64 // until each is done, seconds from now
	sum   float64              // the work of all
}

func (r *remaining) ofPlan(id plan.PlanID) float64 {
	longest := 0.0
	order := r.Graph(id).Order()
	for _, node := range order {
		n := r.Node(plan.Ref{Plan: id, Node: node})
		if n == nil {
			continue
		}
		before := 0.0
		for _, p := range r.Graph(id).Prerequisites(node) {
			before = max(before, r.known[plan.Ref{Plan: id, Node: p}])
		}
		end := before + r.ofNode(n)
		r.known[n.Ref()] = end
		longest = max(longest, end)
	}
	return longest
}

// ofNode is how long a step still takes once it can begin.
func (r *remaining) ofNode(n *plan.Node) float64 {
	switch {
	case n.Satisfied() || n.State == plan.Skipped:
		return 0
	case n.Subplan != 0:
		return r.ofPlan(n.Subplan)
	case n.Kind == plan.KindUser:
		return 0
	}
	takes := r.usual
	if n.EstimateMinutes > 0 {
		takes = 60 * n.EstimateMinutes
	}
	if n.State == plan.Running && n.StartedAt > 0 {
		// One that takes longer than usual goes on for some time yet.
		takes = max(takes-float64(r.now-n.StartedAt), 0.1*takes)
	}
	r.sum += takes
	return takes
}
