package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// SubmitPlanIn is a whole plan: nodes and edges at once.
type SubmitPlanIn struct {
	PlanIn
	Nodes []NodeSpec `json:"nodes,omitempty" jsonschema:"The steps."`
	Edges [][]string `json:"edges,omitempty" jsonschema:"Pairs [from, to] of keys: from must be done before to may start. An edge orders; it passes nothing."`

	// Start starts the plan with this executor in the same change; when that is
	// refused nothing is created. Not for clients to set.
	Start plan.Executor `json:"-"`
}

// PlanIn is what a new plan is made of, besides its nodes.
type PlanIn struct {
	Title            string      `json:"title" jsonschema:"One line that names the goal."`
	Description      string      `json:"description,omitempty" jsonschema:"The overall goal, as every step's agent will read it."`
	WorkingDirectory string      `json:"working_directory,omitempty" jsonschema:"Absolute path of an existing folder that all steps work in. Required for a top-level plan; a subplan has its root's."`
	ParentPlanID     plan.PlanID `json:"parent_plan_id,omitempty" jsonschema:"For a subplan: the plan of the step that it breaks down."`
	ParentNodeID     plan.NodeID `json:"parent_node_id,omitempty" jsonschema:"For a subplan: that step."`
	MaxParallel      int         `json:"max_parallel,omitempty" jsonschema:"At most so many agents of this plan at once. Top-level plans only, as all settings below."`
	TestInstructions string      `json:"test_instructions,omitempty" jsonschema:"How this project's tests are run; agents get it verbatim."`
	IsolateSteps     bool        `json:"isolate_steps,omitempty" jsonschema:"Whether each step works in a git worktree of its own, and its changes are applied when it is done: the same as isolation worktree."`
	Isolation        string      `json:"isolation,omitempty" jsonschema:"none (default) or worktree; the working directory must be in a git repository then."`
	OnFailure        string      `json:"on_failure,omitempty" jsonschema:"hold (default): what depends on a failed step waits for a retry; skip: it is skipped and other branches go on."`
	MaxAttempts      int         `json:"max_attempts,omitempty" jsonschema:"How often a step that fails is tried in all, 1 to 20; default 1. Each further attempt is told why the last one failed."`
	MaxTokens        int64       `json:"max_tokens,omitempty" jsonschema:"Budget of tokens, in and out together: at it nothing new starts until it is raised; steps that run finish."`
	MaxCostUSD       float64     `json:"max_cost_usd,omitempty" jsonschema:"The same in US dollars; only agents that report what they cost can run then."`
	ReviewPolicy     string      `json:"review_policy,omitempty" jsonschema:"advisory (default): reviews advise; gate: each step is judged against its acceptance criteria before others build on it; off: nothing is reviewed by itself."`
	CheckCommand     string      `json:"check_command,omitempty" jsonschema:"Shell command that has to succeed for a step to pass its gate, run in the working directory, for example the test suite; needs review_policy gate."`
	Approval         string      `json:"approval,omitempty" jsonschema:"required: nothing of the plan runs before a person has approved it; default none."`
	StallAfter       int64       `json:"stall_after,omitempty" jsonschema:"Seconds without a sign of life after which an agent is ended and its step run again. Unset: after 15 minutes the step is only shown as stalled."`
}

// SubmitPlanOut says what was made.
type SubmitPlanOut struct {
	PlanID plan.PlanID            `json:"plan_id"`
	Nodes  map[string]plan.NodeID `json:"nodes"`
}

// SubmitPlan makes a plan with all its nodes and edges, or nothing: then one
// Invalid error lists everything that is wrong.
func (e *Engine) SubmitPlan(ctx context.Context, in SubmitPlanIn) (SubmitPlanOut, error) {
	d := newDraft(ctx, in, e.opts.MaxNodes)
	err := e.store.Write(ctx, func(tx *store.Tx) error {
		d.resolve(tx, e)
		if err := d.bad.Err("the plan was refused; nothing was created:"); err != nil {
			return err
		}
		return d.insert(tx, e)
	})
	if err != nil {
		return SubmitPlanOut{}, err
	}
	return SubmitPlanOut{PlanID: d.plan.ID, Nodes: d.ids()}, nil
}

// draft is a plan on its way in: everything that is wrong with it is collected,
// and only when that is nothing it is stored.
type draft struct {
	in    SubmitPlanIn
	actor plan.Actor
	bad   plan.Problems
	plan  plan.Plan
	key   string // of its folder
	nodes []*plan.Node
	at    map[string]int // key → index in nodes
	edges []plan.Edge    // between indexes + 1 until numbers are known
}

// newDraft checks all that can be checked without the database.
func newDraft(ctx context.Context, in SubmitPlanIn, maxNodes int) *draft {
	d := &draft{in: in, actor: plan.ActorFrom(ctx), at: map[string]int{}}
	d.checkPlan()
	if len(in.Nodes) > maxNodes {
		d.bad.Addf("nodes: %d steps are too many; the limit is %d", len(in.Nodes), maxNodes)
		return d
	}
	for i, spec := range in.Nodes {
		d.addNode(i, spec)
	}
	d.addEdges()
	d.addResultsFrom()
	return d
}

// checkPlan takes over the plan's own fields.
func (d *draft) checkPlan() {
	in := d.in.PlanIn
	checkTitle(&d.bad, "plan", in.Title)
	checkText(&d.bad, "plan", "description", in.Description)
	d.plan = plan.Plan{Title: in.Title, Description: in.Description, ParentPlan: in.ParentPlanID, ParentNode: in.ParentNodeID,
		Policies: plan.Policies{MaxParallel: in.MaxParallel, TestInstructions: strings.TrimSpace(in.TestInstructions),
			OnFailure: in.OnFailure, MaxAttempts: in.MaxAttempts, MaxTokens: in.MaxTokens, MaxCostUSD: in.MaxCostUSD,
			StallAfter: in.StallAfter, Isolation: isolationIn(in.IsolateSteps, in.Isolation), ReviewPolicy: in.ReviewPolicy, CheckCommand: strings.TrimSpace(in.CheckCommand)}}
	checkPolicies(&d.bad, "plan", d.plan.Policies)
	d.bad.Add(plan.Choice("plan: approval", in.Approval, []string{"none", "required"}))
	if in.Approval == "required" {
		d.plan.Approval = plan.Awaiting
	}
	if (in.ParentPlanID == 0) != (in.ParentNodeID == 0) {
		d.bad.Addf("parent_plan_id and parent_node_id go together: give both for a subplan, neither for a top-level plan")
		return
	}
	if d.plan.TopLevel() {
		dir, err := checkFolder(in.WorkingDirectory)
		d.bad.Add(err)
		d.plan.WorkDir, d.key = dir, folderKey(dir)
		return
	}
	d.refuseOnSubplan()
}

// refuseOnSubplan names the settings that only a top-level plan has.
func (d *draft) refuseOnSubplan() {
	if d.in.WorkingDirectory != "" {
		d.bad.Addf("working_directory belongs to the top-level plan; a subplan works in its root's")
	}
	if d.plan.Policies != (plan.Policies{}) || d.plan.Approval != "" {
		d.bad.Addf("%s belong to the top-level plan", topLevelSettings)
	}
}

func (d *draft) addNode(i int, spec NodeSpec) {
	what := fmt.Sprintf("nodes[%d]", i)
	if spec.Key != "" {
		what = fmt.Sprintf("node %q", spec.Key)
	}
	n := &plan.Node{Title: spec.Title, Description: spec.Description, TaskType: spec.TaskType,
		Criteria: spec.AcceptanceCriteria, MaxAttempts: spec.MaxAttempts, Isolation: spec.Isolation,
		CheckCommand: strings.TrimSpace(spec.CheckCommand)}
	switch _, twice := d.at[spec.Key]; {
	case strings.TrimSpace(spec.Key) == "":
		d.bad.Addf("%s: key must not be empty", what)
	case twice:
		d.bad.Addf("duplicate node key '%s'", spec.Key)
	default:
		d.at[spec.Key] = i
	}
	checkNode(&d.bad, what, n, spec.Kind, spec.Files)
	if d.actor.Role != plan.Trusted && (spec.CheckCommand != "" || spec.Isolation != "") {
		d.bad.Addf("%s: %s", what, notForAgents)
	}
	if spec.Agent != "" && d.actor.Role == plan.Worker {
		d.bad.Addf("%s: agent is not accepted here: steps of your subplan run on your own agent", what)
	}
	d.nodes = append(d.nodes, n)
}

// checkNode collects what is wrong with a node's fields and sets its kind and files.
func checkNode(bad *plan.Problems, what string, n *plan.Node, kind string, paths []string) {
	checkTitle(bad, what, n.Title)
	checkText(bad, what, "description", n.Description)
	checkCriteria(bad, what, n.Criteria)
	checkAttempts(bad, what, n.MaxAttempts)
	checkText(bad, what, "check_command", n.CheckCommand)
	bad.Add(plan.Choice(what+": task_type", n.TaskType, plan.TaskTypes))
	var err error
	if n.Kind, err = plan.ParseKind(kind); err != nil {
		bad.Addf("%s: %s", what, plan.MessageOf(err))
	}
	if len(paths) > maxFiles {
		bad.Addf("%s: %d files are too many; the limit is %d (declare a folder)", what, len(paths), maxFiles)
		return
	}
	if n.Files, err = plan.ParseFiles(paths); err != nil {
		bad.Addf("%s: %s", what, plan.MessageOf(err))
	}
}

// addEdges turns pairs of keys into edges between positions and looks for cycles.
func (d *draft) addEdges() {
	for i, pair := range d.in.Edges {
		if len(pair) != 2 {
			d.bad.Addf("edges[%d]: an edge is a pair [from, to]; this one has %d entries", i, len(pair))
			continue
		}
		from, ok1 := d.lookup(fmt.Sprintf("edges[%d]", i), pair[0])
		to, ok2 := d.lookup(fmt.Sprintf("edges[%d]", i), pair[1])
		switch {
		case !ok1 || !ok2:
		case from == to:
			d.bad.Addf("edges[%d]: self-loops are not allowed ('%s' → '%s')", i, pair[0], pair[1])
		default:
			d.edges = append(d.edges, plan.Edge{From: plan.NodeID(from + 1), To: plan.NodeID(to + 1)})
		}
	}
	if cycle := d.graph().Cycle(); cycle != nil {
		d.bad.Addf("edges: they would create a cycle: %s",
			plan.CyclePath(cycle, func(id plan.NodeID) string { return d.in.Nodes[id-1].Key }))
	}
}

func (d *draft) lookup(what, key string) (int, bool) {
	i, ok := d.at[key]
	if !ok {
		d.bad.Addf("%s: unknown node key '%s'", what, key)
	}
	return i, ok
}

// graph returns the order among positions, counted from 1.
func (d *draft) graph() *plan.Graph {
	ids := make([]plan.NodeID, len(d.nodes))
	for i := range ids {
		ids[i] = plan.NodeID(i + 1)
	}
	return plan.NewGraph(ids, d.edges)
}

func (d *draft) addResultsFrom() {
	var g *plan.Graph
	for i, spec := range d.in.Nodes {
		if len(spec.ResultsFrom) == 0 {
			continue
		}
		if g == nil {
			g = d.graph()
		}
		var foreign []string
		for _, key := range spec.ResultsFrom {
			from, ok := d.lookup(fmt.Sprintf("node %q: results_from", spec.Key), key)
			if !ok {
				continue
			}
			if !g.Reaches(plan.NodeID(from+1), plan.NodeID(i+1)) {
				foreign = append(foreign, "'"+key+"'")
			}
			d.nodes[i].ResultsFrom = append(d.nodes[i].ResultsFrom, plan.NodeID(from+1))
		}
		if len(foreign) > 0 {
			d.bad.Addf("node '%s': results_from names [%s], which it does not depend on: add an edge, or leave it out",
				spec.Key, strings.Join(foreign, ", "))
		}
	}
}

// resolve checks what only the database knows: parents, agents, folders.
func (d *draft) resolve(tx *store.Tx, e *Engine) {
	if !d.plan.TopLevel() {
		d.bad.Add(d.attach(tx))
	} else if d.actor.Role != plan.Trusted {
		d.bad.Addf("a worker can only make subplans of its own step: give parent_plan_id and parent_node_id")
	}
	known := map[AgentRef]plan.ProfileID{}
	for i, spec := range d.in.Nodes {
		if spec.Agent == "" || d.actor.Role == plan.Worker || i >= len(d.nodes) {
			continue
		}
		id, seen := known[spec.Agent]
		if !seen {
			var err error
			if id, err = findAgent(tx, spec.Agent); err != nil {
				d.bad.Addf("node '%s': %s", spec.Key, plan.MessageOf(err))
			}
			known[spec.Agent] = id
		}
		d.nodes[i].Profile = id
	}
	d.checkIsolation(e)
	if d.in.Start != "" && d.plan.TopLevel() && d.bad.Len() == 0 {
		d.bad.Add(folderFree(tx, 0, d.key))
	}
}

// checkIsolation refuses isolation that the folder of the plan cannot have.
func (d *draft) checkIsolation(e *Engine) {
	if d.plan.TopLevel() && d.plan.WorkDir != "" {
		d.bad.Add(e.checkIsolation(d.plan.Isolation, d.plan.WorkDir))
	}
	for i, n := range d.nodes {
		if err := plan.Choice("isolation", n.Isolation, []string{"none", worktree}); err != nil {
			d.bad.Addf("node '%s': %s", d.in.Nodes[i].Key, plan.MessageOf(err))
		}
	}
}

// attach makes sure that the parent node can take a subplan.
func (d *draft) attach(tx *store.Tx) error {
	parent, err := tx.Node(d.plan.Parent())
	if err != nil {
		return err
	}
	if err := mayExpand(tx, d.actor, parent); err != nil {
		return err
	}
	root, err := tx.RootOf(parent.PlanID)
	if err != nil {
		return err
	}
	d.plan.Root = root
	if d.actor.Role == plan.Worker {
		d.plan.DefaultProfile, err = workerProfile(tx, d.actor)
	}
	return err
}

// mayExpand checks that a node can get a subplan from an actor.
func mayExpand(tx *store.Tx, a plan.Actor, n *plan.Node) error {
	if err := mayTouchNode(tx, a, n.Ref()); err != nil {
		return err
	}
	switch {
	case n.Subplan != 0:
		return plan.Errorf(plan.Invalid, "step %s has a subplan already (plan %d): add steps to that one", n.Ref(), n.Subplan)
	case n.Kind == plan.KindUser:
		return plan.Errorf(plan.Invalid, "step %s is a person's: it cannot have a subplan", n.Ref())
	case n.State != plan.Pending && n.State != plan.Ready && n.State != plan.Running:
		return plan.Errorf(plan.Invalid, "step %s is %s: only a step that is pending, ready or running can get a subplan", n.Ref(), n.State)
	}
	return nil
}

// insert stores the draft.
func (d *draft) insert(tx *store.Tx, e *Engine) error {
	if err := tx.InsertPlan(&d.plan, d.key); err != nil {
		return err
	}
	if err := d.fill(tx, d.plan.ID); err != nil {
		return err
	}
	if d.actor.Role == plan.Worker && len(d.nodes) == 0 {
		if err := tx.SetPiecemeal(d.plan.ID); err != nil {
			return err
		}
	}
	if err := recordPlan(tx, d.plan.ID, true); err != nil {
		return err
	}
	if !d.plan.TopLevel() {
		if err := touchedBy(tx, d.actor, d.plan.ParentPlan); err != nil {
			return err
		}
		return settleParent(tx, d.plan.Parent())
	}
	if d.plan.Approval == plan.Awaiting {
		d.plan.Executor = d.in.Start // it is kept for when the plan is approved
		m := &mover{tx: tx, root: &d.plan}
		if err := m.tell(NoticeWaiting, WaitsApproval, nil, d.plan.Description); err != nil {
			return err
		}
		return m.revise(plan.AuthorPerson, "")
	}
	if d.in.Start != "" {
		return startPlan(tx, &d.plan, d.in.Start)
	}
	return nil
}

// settleParent tells that a node has a subplan now; one that was ready for an
// agent is entered instead, and waits there for the first node of an empty one.
func settleParent(tx *store.Tx, r plan.Ref) error {
	m, err := newMover(tx, r.Plan)
	if err != nil {
		return err
	}
	n, err := tx.Node(r)
	if err != nil {
		return err
	}
	if n.State == plan.Ready {
		return m.enter(n, plan.Entered)
	}
	return m.record(n)
}

func (d *draft) ids() map[string]plan.NodeID {
	out := make(map[string]plan.NodeID, len(d.at))
	for key, i := range d.at {
		out[key] = d.nodes[i].ID
	}
	return out
}

// recordPlan tells everyone that a plan is now as it is.
func recordPlan(tx *store.Tx, id plan.PlanID, shape bool) error {
	f, err := tx.PlanFacts(id)
	if err != nil {
		return err
	}
	return tx.Record(plan.Change{Root: f.Root, Plan: id, Kind: plan.ChangePlan, Shape: shape,
		Facts: &plan.Facts{Plans: []plan.PlanFacts{f}}})
}

// sortedUnique returns ids ascending and each once.
func sortedUnique(ids []plan.NodeID) []plan.NodeID {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}
