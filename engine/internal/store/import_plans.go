package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Plans whose step is not there any more.
const orphanPlans = `SELECT id FROM plans p WHERE parent_plan_id IS NOT NULL AND NOT (
	EXISTS (SELECT 1 FROM nodes n WHERE n.plan_id = p.parent_plan_id AND n.node_id = p.parent_node_id)
	AND EXISTS (SELECT 1 FROM plans q WHERE q.id = p.parent_plan_id))`

// readPlans reads all plans, finds the tree that each belongs to and decides
// about their numbers.
func (k *takeover) readPlans() error {
	byID := map[int64]*oldPlan{}
	var orphans []int64
	if err := k.from.db.SelectContext(k.ctx, &orphans, orphanPlans); err != nil {
		return k.from.unreadable(err)
	}
	err := eachOld(k, "plans", k.from.table("plans", "id"), func(p *oldPlan) error {
		if p.ID <= 0 {
			return plan.Errorf(plan.Invalid, "%s is damaged: it has a plan number %d", k.from.path, p.ID)
		}
		k.plans = append(k.plans, p)
		byID[p.ID] = p
		return nil
	})
	if err != nil {
		return err
	}
	if err := k.numberPlans(); err != nil {
		return err
	}
	for _, p := range k.plans {
		p.id = plan.PlanID(p.ID) + k.shift
		if p.ParentPlan == nil || p.ParentNode == nil {
			continue
		}
		if slices.Contains(orphans, p.ID) {
			k.out.note("plan %d %q belonged to a step that is not there any more: it is a plan of its own here", p.id, p.Title)
			continue
		}
		p.parent = plan.Ref{Plan: plan.PlanID(*p.ParentPlan) + k.shift, Node: plan.NodeID(*p.ParentNode)}
	}
	return k.findTrees(byID)
}

const lastPlan = `SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'plans'`

// numberPlans decides how far the numbers of plans go up: not at all when none of them
// was ever given out here.
func (k *takeover) numberPlans() error {
	var last plan.PlanID
	if err := k.t.get("read the last plan number", &last, lastPlan); err != nil {
		return err
	}
	if len(k.plans) > 0 && plan.PlanID(k.plans[0].ID) <= last {
		k.shift = last
	}
	k.out.Shift = k.shift
	return nil
}

// findTrees finds the top-level plan above each plan.
func (k *takeover) findTrees(byID map[int64]*oldPlan) error {
	for _, p := range k.plans {
		top := p
		for range k.plans {
			if top.parent.IsZero() {
				break
			}
			top = byID[int64(top.parent.Plan-k.shift)]
		}
		if !top.parent.IsZero() {
			return plan.Errorf(plan.Invalid, "%s is damaged: plan %d lies inside itself", k.from.path, p.ID)
		}
		k.trees[p.id] = &oldTree{plan: top, subs: map[plan.NodeID]plan.PlanID{}}
		if top != p {
			top.nested++
			k.out.Nested++
		}
	}
	for _, p := range k.plans {
		if !p.parent.IsZero() {
			k.trees[p.parent.Plan].subs[p.parent.Node] = p.id
		}
	}
	return nil
}

const insertOldPlan = `INSERT INTO plans (id, root_id, parent_plan_id, parent_node_id, title, description, working_directory,
	folder_key, default_profile_id, review_profile_id, executor, next_node_id, created_at, max_parallel, test_instructions, isolation)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// insertPlans adds the plans, none of them started.
func (k *takeover) insertPlans() error {
	for _, p := range k.plans {
		now := plan.Plan{ID: p.id, Root: k.root(p.id), ParentPlan: p.parent.Plan, ParentNode: p.parent.Node, Title: cleaned(p.Title),
			Description: cleaned(p.Description), DefaultProfile: k.profile(p.Agent), ReviewProfile: k.profile(p.Reviewer),
			NextNode: plan.NodeID(max(p.NextNode, 1)), CreatedAt: p.CreatedAt}
		key := ""
		if now.TopLevel() {
			key = k.topLevel(p, &now)
		}
		if _, err := k.t.exec(fmt.Sprintf("insert plan %d", p.id), insertOldPlan, now.ID, now.Root, now.ParentPlan, now.ParentNode,
			now.Title, now.Description, now.WorkDir, key, now.DefaultProfile, now.ReviewProfile, now.Executor, now.NextNode,
			now.CreatedAt, now.MaxParallel, now.TestInstructions, now.Isolation); err != nil {
			return err
		}
	}
	return nil
}

// topLevel fills in what top-level plans alone have, and returns the key of the
// plan's folder.
func (k *takeover) topLevel(p *oldPlan, now *plan.Plan) (folderKey string) {
	if by, err := plan.ParseExecutor(textOf(p.Executor)); err == nil && p.Executor != nil {
		now.Executor = by
	}
	now.MaxParallel = int(oldNumber(p.MaxParallel))
	now.TestInstructions = textOf(p.Instructions)
	if oldNumber(p.Isolate) == 1 {
		now.Isolation = "worktree"
	}
	now.WorkDir = k.folder(p)
	if p.folder = now.WorkDir; p.folder == "" {
		return ""
	}
	return k.opts.FolderKey(p.folder)
}

// folder returns the working directory of a top-level plan. Plans without one had
// a folder in the workspace of that program, by their number there.
func (k *takeover) folder(p *oldPlan) string {
	if dir := textOf(p.Cwd); dir != "" {
		return filepath.Clean(dir)
	}
	dir := filepath.Join(k.opts.Workspace, fmt.Sprintf("plan-%d", p.ID))
	if k.opts.Workspace == "" || !isFolder(dir) {
		return ""
	}
	k.out.note("plan %d had no working directory of its own: it keeps working in %s", p.id, dir)
	return dir
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

const planTimes = `UPDATE plans SET started_at = ?, first_started_at = ?, finished_at = ? WHERE id = ?`

const nextNode = `UPDATE plans SET next_node_id = MAX(next_node_id,
	1 + (SELECT COALESCE(MAX(node_id), 0) FROM nodes WHERE plan_id = plans.id)) WHERE id = ?`

// settle gives the plans the times that follow from their steps, tells in the
// transcripts what became of what ran, and records all that came.
func (k *takeover) settle() error {
	all, err := k.t.Profiles()
	if err != nil {
		return err
	}
	if err := k.t.Record(plan.Change{Kind: plan.ChangeAgents, Profiles: all}); err != nil {
		return err
	}
	for _, p := range k.plans {
		if _, err := k.t.exec("number the next step", nextNode, p.id); err != nil {
			return err
		}
		if p.parent.IsZero() {
			if err := k.settlePlan(p); err != nil {
				return err
			}
		}
	}
	return k.tellStopped()
}

// settlePlan does so for a top-level plan.
func (k *takeover) settlePlan(p *oldPlan) error {
	report := ImportedPlan{Was: plan.PlanID(p.ID), ID: p.id, Title: cleaned(p.Title), Nested: p.nested, Steps: p.steps,
		WasStarted: p.Started != 0, Folder: p.folder, FolderGone: p.folder != "" && !isFolder(p.folder)}
	var err error
	if report.Status, _, err = k.t.Status(p.id); err != nil {
		return err
	}
	started, over := p.begun, plan.Stamp(0)
	if started == 0 && p.Executor != nil {
		started = p.CreatedAt
	}
	if report.Status == plan.StatusDone {
		over = p.ended
	}
	fixed := started
	if report.FolderGone {
		fixed = 0 // it could never be given another folder
	}
	k.out.Plans = append(k.out.Plans, report)
	if _, err := k.t.exec("set the times of a plan", planTimes, started, fixed, over, p.id); err != nil {
		return err
	}
	return k.t.Record(plan.Change{Root: p.id, Plan: p.id, Kind: plan.ChangePlan, Shape: true})
}
