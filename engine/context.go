package engine

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/internal/prompt"
	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Context returns the exact prompt that a node's agent gets: of a node that runs
// or ran, what it got; of another, what it would get now.
func (e *Engine) Context(ctx context.Context, r plan.Ref) (string, error) {
	var text string
	err := e.store.Read(ctx, func(tx *store.Tx) error {
		n, err := tx.Node(r)
		if err != nil {
			return err
		}
		if n.RunID != "" && n.State != plan.Pending && n.State != plan.Ready {
			if text, _, err = tx.Prompt(n.RunID); err == nil && text != "" {
				return nil
			}
		}
		root, err := tx.RootPlan(r.Plan)
		if err != nil {
			return err
		}
		text, err = e.taskPrompt(tx, n, root)
		return err
	})
	return text, err
}

// taskPrompt writes the prompt of a node from the plan as it is; root is that of
// its tree.
func (e *Engine) taskPrompt(tx *store.Tx, n *plan.Node, root *plan.Plan) (string, error) {
	in := prompt.TaskInput{Root: root, Plan: root, Node: n}
	var err error
	if n.PlanID != root.ID {
		if in.Plan, err = tx.Plan(n.PlanID); err != nil {
			return "", err
		}
	}
	if in.Way, err = wayTo(tx, in.Plan); err != nil {
		return "", err
	}
	if in.Others, err = tx.Nearby(n.Ref()); err != nil {
		return "", err
	}
	if in.LeftOut, err = leftOut(tx, n, in.Others); err != nil {
		return "", err
	}
	if in.Results, err = requested(tx, n); err != nil {
		return "", err
	}
	if in.WorkLost, err = e.workLost(tx, n); err != nil {
		return "", err
	}
	err = addBegun(tx, &in)
	return prompt.Task(in), err
}

// addBegun adds what an earlier session of the step has begun and could not end.
func addBegun(tx *store.Tx, in *prompt.TaskInput) error {
	last, err := lastCutOff(tx, in.Node)
	if err != nil {
		return err
	}
	in.CutOff = last != nil
	if in.Node.Subplan == 0 || in.Node.RunID == "" { // one that was planned beforehand has no agent
		return nil
	}
	s, err := tx.Snapshot(in.Node.Subplan)
	if err == nil {
		in.Subplan, in.Substeps = s.Plan(in.Node.Subplan), s.NodesOf(in.Node.Subplan)
	}
	return err
}

// wayTo returns the nodes that lead down to a plan, from the root of its tree.
func wayTo(tx *store.Tx, p *plan.Plan) ([]plan.Ancestor, error) {
	var way []plan.Ancestor
	for !p.TopLevel() {
		c, err := tx.Node(p.Parent())
		if err != nil {
			return nil, err
		}
		if p, err = tx.Plan(c.PlanID); err != nil {
			return nil, err
		}
		way = append([]plan.Ancestor{{Plan: p, Node: c}}, way...)
	}
	return way, nil
}

// leftOut counts the steps of a plan that a prompt does not name.
func leftOut(tx *store.Tx, n *plan.Node, named []*plan.Node) (plan.Tally, error) {
	_, all, err := tx.Status(n.PlanID)
	if err != nil {
		return all, err
	}
	all.Count(n.State, -1)
	for _, o := range named {
		all.Count(o.State, -1)
	}
	return all, nil
}

// requested returns the results that a node asked for.
func requested(tx *store.Tx, n *plan.Node) ([]prompt.Result, error) {
	var out []prompt.Result
	for _, id := range n.ResultsFrom {
		from, err := tx.Node(plan.Ref{Plan: n.PlanID, Node: id})
		if err != nil {
			return nil, err
		}
		ok, err := tx.Reaches(n.PlanID, id, n.ID)
		if err != nil {
			return nil, err
		}
		changed, err := changedBy(tx, from)
		if err != nil {
			return nil, err
		}
		out = append(out, prompt.Result{Node: from, Changed: changed, NoPath: !ok})
	}
	return out, nil
}

// changedBy returns which files the last run of a finished node changed.
func changedBy(tx *store.Tx, n *plan.Node) ([]prompt.Changed, error) {
	if n.State != plan.Done || n.RunID == "" {
		return nil, nil
	}
	files, err := tx.Changed(n.RunID)
	var out []prompt.Changed
	for _, f := range files {
		out = append(out, prompt.Changed{Path: f.Path, How: string(f.Kind), Added: f.Added, Removed: f.Removed})
	}
	return out, err
}

// workDir returns the folder that a tree's steps work in.
func workDir(workspace string, root *plan.Plan) string {
	if root.WorkDir != "" {
		return root.WorkDir
	}
	return filepath.Join(workspace, "plan-"+strconv.FormatInt(int64(root.ID), 10))
}
