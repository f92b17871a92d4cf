package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// readNodes reads all steps and works out what each is here.
func (k *takeover) readNodes() error {
	lost := 0
	err := eachOld(k, "steps", k.from.table("nodes", "plan_id, node_id"), func(n *oldNode) error {
		r := plan.Ref{Plan: plan.PlanID(n.PlanID) + k.shift, Node: plan.NodeID(n.NodeID)}
		t := k.trees[r.Plan]
		if t == nil || r.Node <= 0 {
			lost++
			return nil
		}
		k.nodes[r] = n
		k.past[r] = &past{node: n}
		t.plan.steps++
		if at := oldMoment(n.StartedAt); at > 0 && (t.plan.begun == 0 || at < t.plan.begun) {
			t.plan.begun = at
		}
		t.plan.ended = max(t.plan.ended, oldMoment(n.FinishedAt))
		return k.convert(r, n, t.subs[r.Node])
	})
	if err != nil {
		return err
	}
	k.out.Steps = len(k.nodes)
	k.out.leftOut(lost, "steps")
	return nil
}

// convert fills in what a step is here.
func (k *takeover) convert(r plan.Ref, n *oldNode, subplan plan.PlanID) error {
	switch n.Status {
	case plan.Pending, plan.Ready, plan.Running, plan.Done, plan.Failed:
	default:
		return plan.Errorf(plan.Invalid, "%s is of a newer version of the Python program clearbox than this one knows: "+
			"step %d of plan %d is %q there", k.from.path, n.NodeID, n.PlanID, n.Status)
	}
	kind, err := plan.ParseKind(textOf(n.Kind))
	if err != nil {
		return plan.Errorf(plan.Invalid, "%s is of a newer version of the Python program clearbox than this one knows: "+
			"step %d of plan %d is of kind %q", k.from.path, n.NodeID, n.PlanID, textOf(n.Kind))
	}
	n.now = plan.Node{PlanID: r.Plan, ID: r.Node, Title: cleaned(n.Title), Description: cleaned(n.Description), Kind: kind,
		State: n.Status, Profile: k.profile(n.Agent), Subplan: subplan, Result: cleanedOr(n.Result), Error: cleanedOr(n.Error),
		ReworkBrief: cleanedOr(n.Brief), AgentKind: textOf(n.AgentKind), AgentName: textOf(n.AgentName), SessionID: textOf(n.SessionID),
		TokensIn: n.TokensIn, TokensOut: n.TokensOut, UndeclaredMore: int(oldNumber(n.UndeclaredMore)),
		UndeclaredShared: oldNumber(n.UndeclaredShared) == 1, CreatedAt: n.CreatedAt}
	n.now.AgentDone = n.AgentDone != 0 && n.now.AgentKind != ""
	if n.Undeclared != nil && json.Unmarshal([]byte(*n.Undeclared), &n.now.Undeclared) != nil {
		k.out.note("step %s: the list of files that it changed beyond those declared cannot be read, and is left out", r)
	}
	k.place(n)
	return nil
}

// place sets the state that a step comes in with: done and failed ones stay so,
// all others are pending, since nothing is started here.
func (k *takeover) place(n *oldNode) {
	now := &n.now
	if n.Status == plan.Done || n.Status == plan.Failed {
		now.StartedAt, now.FinishedAt, now.PhaseSince = oldMoment(n.StartedAt), oldMoment(n.FinishedAt), oldMoment(n.FinishedAt)
		return
	}
	now.State = plan.Pending
	if n.Status != plan.Pending {
		now.PhaseSince = k.t.now
	}
	if now.Subplan == 0 || !now.AgentDone { // else only its subplan is left to do
		now.AgentKind, now.AgentDone = "", false
	}
}

const insertOldNode = `INSERT INTO nodes (plan_id, node_id, title, description, kind, state, profile_id, subplan_id, result, error,
	rework_brief, agent_kind, agent_name, agent_done, session_id, run_id, tokens_in, tokens_out, cost_usd, attempts, undeclared,
	undeclared_more, undeclared_shared, created_at, phase_since, started_at, finished_at, attempts_before)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// insertNodes adds the steps with what their transcripts told of their runs.
func (k *takeover) insertNodes() error {
	for _, r := range k.refs() {
		n := &k.nodes[r].now
		if p := k.past[r]; p.last != nil {
			n.RunID, n.Attempts = p.last.ID, p.attempts
			if n.State == plan.Pending {
				n.AttemptsBefore = n.Attempts // whoever starts it here asks for another one
			} else {
				n.CostUSD = p.last.CostUSD
			}
		}
		if _, err := k.t.exec("insert step "+r.String(), insertOldNode, n.PlanID, n.ID, n.Title, n.Description, n.Kind, n.State,
			n.Profile, n.Subplan, n.Result, n.Error, n.ReworkBrief, n.AgentKind, n.AgentName, n.AgentDone, n.SessionID, n.RunID,
			n.TokensIn, n.TokensOut, n.CostUSD, n.Attempts, jsonOf(n.Undeclared), n.UndeclaredMore, n.UndeclaredShared,
			n.CreatedAt, n.PhaseSince, n.StartedAt, n.FinishedAt, n.AttemptsBefore); err != nil {
			return err
		}
	}
	return nil
}

// refs returns the steps in order.
func (k *takeover) refs() []plan.Ref {
	return slices.SortedFunc(maps.Keys(k.nodes), plan.Ref.Compare)
}

type importStatus struct {
	From plan.State `json:"from"`
	To   plan.State `json:"to"`
}

type importText struct {
	Text string `json:"text"`
}

// tellStopped adds to the transcripts of steps that were ready or at work what
// has become of that.
func (k *takeover) tellStopped() error {
	for _, r := range k.refs() {
		n := k.nodes[r]
		if n.Status != plan.Ready && n.Status != plan.Running {
			continue
		}
		top := k.root(r.Plan)
		if err := k.t.Note(top, r, n.now.RunID, plan.EventStatus, importStatus{n.Status, plan.Pending}); err != nil {
			return err
		}
		if n.Status == plan.Ready {
			continue
		}
		k.out.Stopped = append(k.out.Stopped, r)
		if err := k.t.Note(top, r, "", plan.EventSystem, importText{stoppedText(n)}); err != nil {
			return err
		}
	}
	return nil
}

// stoppedText says why a step that ran is pending.
func stoppedText(n *oldNode) string {
	const from = "taken over from the Python program clearbox "
	who := textOf(n.AgentName)
	switch {
	case n.now.Subplan != 0 && (n.AgentKind == nil || n.AgentDone != 0):
		return fmt.Sprintf(from+"while its subplan %d was at work; that goes on once the plan is started here", n.now.Subplan)
	case textOf(n.AgentKind) == string(plan.External):
		return fmt.Sprintf(from+"while %q had claimed it; claims do not come along: once the plan is started here, it can be claimed anew", who)
	}
	return fmt.Sprintf(from+"while %q worked on it; agents at work do not come along: once the plan is started here, it is run anew", who)
}

const insertEdge = `INSERT INTO edges (plan_id, from_node, to_node) VALUES (?, ?, ?)`

// takeEdges adds the edges. A circle would never end.
func (k *takeover) takeEdges() error {
	lost, byPlan := 0, map[plan.PlanID][]plan.Edge{}
	err := eachOld(k, "edges", k.from.table("edges", "plan_id, src, dst"), func(e *oldEdge) error {
		from, to := k.node(e.PlanID, e.Src), k.node(e.PlanID, e.Dst)
		if from == nil || to == nil {
			lost++
			return nil
		}
		id := from.now.PlanID
		byPlan[id] = append(byPlan[id], plan.Edge{Plan: id, From: from.now.ID, To: to.now.ID})
		k.out.Edges++
		_, err := k.t.exec("insert an edge", insertEdge, id, from.now.ID, to.now.ID)
		return err
	})
	if err != nil {
		return err
	}
	k.out.leftOut(lost, "edges")
	for id, edges := range byPlan {
		if err := k.noCircle(id, edges); err != nil {
			return err
		}
	}
	return nil
}

func (k *takeover) noCircle(id plan.PlanID, edges []plan.Edge) error {
	seen := map[plan.NodeID]bool{}
	var ids []plan.NodeID
	for _, e := range edges {
		for _, n := range []plan.NodeID{e.From, e.To} {
			if !seen[n] {
				seen[n] = true
				ids = append(ids, n)
			}
		}
		if e.From == e.To {
			return plan.Errorf(plan.Invalid, "%s is damaged: step %d of plan %d has to wait for itself", k.from.path, e.From, id-k.shift)
		}
	}
	if circle := plan.NewGraph(ids, edges).Cycle(); circle != nil {
		return plan.Errorf(plan.Invalid, "%s is damaged: steps %v of plan %d wait for each other in a circle", k.from.path, circle, id-k.shift)
	}
	return nil
}

const insertFile = `INSERT INTO node_files (plan_id, node_id, key, path) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`

// takeFiles adds the declared files.
func (k *takeover) takeFiles() error {
	lost := 0
	err := eachOld(k, "files", k.from.table("node_files", "plan_id, node_id, rowid"), func(f *oldFile) error {
		n := k.node(f.PlanID, f.NodeID)
		if n == nil {
			lost++
			return nil
		}
		key, err := plan.FileKey(f.Path)
		if err != nil {
			k.out.note("step %s declared the file %q, which cannot be declared here; left out", n.now.Ref(), cleaned(f.Path))
			return nil
		}
		added, err := k.t.exec("insert a file", insertFile, n.now.PlanID, n.now.ID, key, f.Path)
		k.out.Files += int(added)
		return err
	})
	k.out.leftOut(lost, "files")
	return err
}

const insertRequest = `INSERT INTO results_from (plan_id, node_id, from_node) VALUES (?, ?, ?)`

// takeRequests adds which steps want the results of which.
func (k *takeover) takeRequests() error {
	lost := 0
	err := eachOld(k, "requests for results", k.from.table("node_results_from", "plan_id, node_id, from_node_id"), func(q *oldRequest) error {
		n, from := k.node(q.PlanID, q.NodeID), k.node(q.PlanID, q.From)
		if n == nil || from == nil || n == from {
			lost++
			return nil
		}
		_, err := k.t.exec("insert a request for a result", insertRequest, n.now.PlanID, n.now.ID, from.now.ID)
		return err
	})
	k.out.leftOut(lost, "requests for results")
	return err
}
