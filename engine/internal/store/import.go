package store

import (
	"context"
	"fmt"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// ImportOptions say how a database of the Python program is taken over.
type ImportOptions struct {
	Again     bool   // also when its plans are here already
	Workspace string // where plans without a working directory had theirs

	// FolderKey makes of a working directory what plans.folder_key holds.
	FolderKey func(dir string) string

	// Progress is called now and then with what is being taken over and how much
	// of it is done; nil when nobody wants to know.
	Progress func(what string, done, of int)
}

// Import takes over a whole database of the Python program: plans with steps and
// transcripts, agents with their keys. It is one change. Plans keep their numbers
// when none of ours has, or had, one of them; else all go up by the same. Nothing
// comes in started or running: what was is pending, and its transcript says why.
//
// It is Invalid when plans of it were taken over before, unless asked to do so
// again, and when what it says cannot be: then nothing is changed.
func (t *Tx) Import(ctx context.Context, from *Original, o ImportOptions) (*Imported, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	k := &takeover{ctx: ctx, t: t, from: from, opts: o, out: &Imported{From: from.path, Version: from.version(), Size: from.size},
		profiles: map[int64]plan.ProfileID{}, agents: map[string]plan.ProfileID{}, trees: map[plan.PlanID]*oldTree{},
		nodes: map[plan.Ref]*oldNode{}, past: map[plan.Ref]*past{}}
	for _, step := range []func() error{
		k.readPlans, k.refuseAgain, k.takeProfiles, k.insertPlans, k.readNodes, k.takeEvents, k.insertNodes,
		k.takeEdges, k.takeFiles, k.takeRequests, k.takeDiffs, k.takeReviews, k.settle, k.remember,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return k.out, ctx.Err()
}

// takeover is one import on its way.
type takeover struct {
	ctx  context.Context // ends when nobody waits any more; t goes on regardless
	t    *Tx
	from *Original
	opts ImportOptions
	out  *Imported

	profiles map[int64]plan.ProfileID  // ours, by the number there
	agents   map[string]plan.ProfileID // ours, by the name there

	// All that follows goes by our numbers.
	shift plan.PlanID // added to the numbers of plans
	plans []*oldPlan  // in the order of their numbers
	trees map[plan.PlanID]*oldTree
	nodes map[plan.Ref]*oldNode
	past  map[plan.Ref]*past // node 0: of the plan
}

// oldTree is what the import knows of a plan and those nested in it.
type oldTree struct {
	plan *oldPlan // the one that the others are nested in
	subs map[plan.NodeID]plan.PlanID
}

// root returns the top-level plan of a plan's tree.
func (k *takeover) root(id plan.PlanID) plan.PlanID { return k.trees[id].plan.id }

// node returns a step by the numbers that it has there, nil when there is none.
func (k *takeover) node(id, node int64) *oldNode {
	return k.nodes[plan.Ref{Plan: plan.PlanID(id) + k.shift, Node: plan.NodeID(node)}]
}

// eachOld runs fn on every row of a table of the original, and tells how far it is.
func eachOld[T any](k *takeover, what, query string, fn func(*T) error) error {
	const tellEvery = 5000
	of, err := k.from.count(k.ctx, query)
	if err != nil {
		return err
	}
	done := 0
	err = rowsOf(k.ctx, k.from, query, func(row *T) error {
		if done++; done%tellEvery == 0 {
			k.opts.Progress(what, done, of)
			if err := k.ctx.Err(); err != nil {
				return err
			}
		}
		return fn(row)
	})
	if err != nil {
		return fmt.Errorf("take over the %s: %w", what, err)
	}
	return nil
}
