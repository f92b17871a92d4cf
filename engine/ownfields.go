package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// A planner decides neither who runs a step nor what is run to check it: people set
// that, and it stays with a step through the planner's next revisions.

// ownOf finds the step, as it stood, that a proposed one is: its number is the key,
// and the title or the description is the same. nil: it is a new one.
func ownOf(before []*plan.Node, spec *NodeSpec) *plan.Node {
	i := slices.IndexFunc(before, func(n *plan.Node) bool {
		return fmt.Sprint(n.ID) == spec.Key && (n.Title == spec.Title || n.Description != "" && n.Description == spec.Description)
	})
	if i < 0 {
		return nil
	}
	return before[i]
}

// withoutOwn leaves out of a proposal what only repeats what people had set.
func withoutOwn(in ProposalIn, before []*plan.Node) ProposalIn {
	in.Nodes = slices.Clone(in.Nodes)
	for i := range in.Nodes {
		spec := &in.Nodes[i].NodeSpec
		was := ownOf(before, spec)
		if was == nil {
			continue
		}
		if spec.CheckCommand == was.CheckCommand {
			spec.CheckCommand = ""
		}
		if spec.Isolation == was.Isolation {
			spec.Isolation = ""
		}
	}
	return in
}

// keepOwn gives a step of a new revision what people had set on it.
func keepOwn(n, was *plan.Node) {
	if was == nil {
		return
	}
	n.Profile, n.CheckCommand, n.Isolation = was.Profile, was.CheckCommand, was.Isolation
	n.MaxAttempts = cmp.Or(n.MaxAttempts, was.MaxAttempts)
}

// forPlanner is a revision as its planner is shown it: without what it may not set.
func forPlanner(in ProposalIn) ProposalIn {
	in.Nodes = slices.Clone(in.Nodes)
	for i := range in.Nodes {
		in.Nodes[i].Agent, in.Nodes[i].CheckCommand, in.Nodes[i].Isolation = "", "", ""
	}
	return in
}
