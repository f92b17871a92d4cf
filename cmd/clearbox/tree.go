package main

import (
	"context"
	"fmt"
)

// tree is a plan with the subplans that are at work in it.
type tree struct {
	top   *planPage
	plans map[int]*planPage
	steps map[stepKey]*stepView
	order []stepKey // as they are drawn: a subplan's steps after their container
	depth map[stepKey]int
	asked []question
}

// maxDepth bounds how deep subplans are followed.
const maxDepth = 20

// readTree reads a plan and, where a step has a subplan that is under way, that
// too. before is the tree as it was, whose finished subplans are still good.
func readTree(ctx context.Context, c *client, id int, before *tree) (*tree, error) {
	t := &tree{plans: map[int]*planPage{}, steps: map[stepKey]*stepView{}, depth: map[stepKey]int{}}
	var err error
	if t.top, err = c.plan(ctx, id); err != nil {
		return nil, err
	}
	r := treeReader{c, before, t}
	if err := r.add(ctx, t.top, 0); err != nil {
		return nil, err
	}
	all, err := c.questions(ctx)
	for _, q := range all {
		if t.steps[stepKey{q.PlanID, q.NodeID}] != nil {
			t.asked = append(t.asked, q)
		}
	}
	return t, err
}

// treeReader reads a tree, with the one before at hand.
type treeReader struct {
	client *client
	before *tree
	tree   *tree
}

// add adds a plan and what is under way in it.
func (r *treeReader) add(ctx context.Context, v *planPage, depth int) error {
	t := r.tree
	t.plans[v.Plan.ID] = v
	for i := range v.Nodes {
		n := &v.Nodes[i]
		at := stepKey{n.PlanID, n.NodeID}
		t.steps[at], t.depth[at] = n, depth
		t.order = append(t.order, at)
		if n.SubplanID == 0 || n.Status == "pending" || n.Status == "ready" || depth == maxDepth {
			continue
		}
		sub := r.before.finished(n)
		if sub == nil {
			var err error
			if sub, err = r.client.plan(ctx, n.SubplanID); refused(err, 404) {
				continue // removed just now
			} else if err != nil {
				return err
			}
		}
		if err := r.add(ctx, sub, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// finished returns the subplan of a step that had ended before already, and has
// not begun again.
func (t *tree) finished(n *stepView) *planPage {
	if t == nil || n.Status == "running" {
		return nil
	}
	if old := t.steps[stepKey{n.PlanID, n.NodeID}]; old != nil && old.Status == n.Status && old.PhaseSince == n.PhaseSince {
		return t.plans[n.SubplanID]
	}
	return nil
}

// judge says whether there is anything more to wait for.
func (t *tree) judge(untilWaiting bool) (end verdict, over bool) {
	if t.top.Status == "done" {
		return verdict{"done", t.top.Progress.words(), 0}, true
	}
	if why := t.waits(); untilWaiting && why != "" {
		return verdict{"waiting", why, 3}, true
	}
	if t.top.Status == "failed" && !t.goesOn(t.top) {
		return verdict{"failed", t.top.Progress.words(), 1}, true
	}
	return verdict{}, false
}

// waits says what the plan needs a person for, "" for nothing.
func (t *tree) waits() string {
	if len(t.asked) > 0 {
		return fmt.Sprintf("the agent of step %s asks: %s", t.asked[0].address(), t.asked[0].says())
	}
	switch {
	case t.top.Plan.Approval == "awaiting":
		return "it waits for approval"
	case t.top.Status == "empty":
		return "it has no steps"
	case !t.top.Root.Started:
		return "it is not started"
	}
	for _, at := range t.order {
		if n := t.steps[at]; n.WaitingForUser {
			return fmt.Sprintf("step %s is yours: %s", n.address(), plain(n.Title))
		}
	}
	return ""
}

// goesOn reports whether anything in a plan runs or will run by itself.
func (t *tree) goesOn(v *planPage) bool {
	if !v.Root.Started {
		return false
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case n.Status == "ready" && n.Kind != "user":
			return true
		case n.Status == "running" && (n.SubplanID == 0 || n.Phase != "subplan" || t.plans[n.SubplanID] == nil):
			return true
		case n.Status == "running" && t.goesOn(t.plans[n.SubplanID]):
			return true
		}
	}
	return false
}
