package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clearbox-go/clearbox/engine/internal/store"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// Defaults of plans that are made from a goal.
const (
	goalAttempts    = 3
	plannerMaxNodes = 40
	maxRepairs      = 2  // how often a planner may put faults right
	maxCriteria     = 10 // per node
	maxGoalTitle    = 100
)

// FromGoalIn is a goal that a planner is to make a plan of.
type FromGoalIn struct {
	Goal             string   `json:"goal" jsonschema:"What is to be reached, in your own words."`
	WorkingDirectory string   `json:"working_directory" jsonschema:"Absolute path of the folder that the plan is about."`
	Constraints      string   `json:"constraints,omitempty" jsonschema:"What the plan must respect."`
	Agent            AgentRef `json:"agent,omitempty" jsonschema:"Name or id of the agent profile that plans; default: the server's planner."`
}

// PlanFromGoal makes a plan that a planner fills, and returns its id at once. It
// waits for a person's approval when it has been planned.
func (e *Engine) PlanFromGoal(ctx context.Context, in FromGoalIn) (plan.PlanID, error) {
	if err := trustedOnly(plan.ActorFrom(ctx)); err != nil {
		return 0, err
	}
	var bad plan.Problems
	if strings.TrimSpace(in.Goal) == "" {
		bad.Addf("goal must not be empty")
	}
	checkText(&bad, "plan", "goal", in.Goal)
	checkText(&bad, "plan", "constraints", in.Constraints)
	dir, err := checkFolder(in.WorkingDirectory)
	bad.Add(err)
	p := &plan.Plan{Title: titleOf(in.Goal), Description: strings.TrimSpace(in.Goal), WorkDir: dir, Approval: plan.Planning,
		Policies: plan.Policies{OnFailure: "skip", MaxAttempts: goalAttempts, ReviewPolicy: plan.PolicyGate}}
	err = e.store.Write(ctx, func(tx *store.Tx) error {
		planner, err := e.plannerFor(tx, in.Agent)
		bad.Add(err)
		if err := bad.Err("nothing was planned:"); err != nil {
			return err
		}
		if err := tx.InsertPlan(p, folderKey(dir)); err != nil {
			return err
		}
		if err := tx.SaveGoal(&plan.Goal{PlanID: p.ID, Text: p.Description, Constraints: strings.TrimSpace(in.Constraints), Planner: planner}); err != nil {
			return err
		}
		return recordPlan(tx, p.ID, true)
	})
	if err != nil {
		return 0, err
	}
	e.startPlanner(ctx, p.ID, plan.StartGoal)
	return p.ID, nil
}

// plannerFor resolves who plans: the given agent, the server's planner, its
// default agent.
func (e *Engine) plannerFor(tx *store.Tx, given AgentRef) (plan.ProfileID, error) {
	for _, ref := range []AgentRef{given, AgentRef(e.opts.PlannerAgent)} {
		if ref != "" {
			return findAgent(tx, ref)
		}
	}
	return e.server.DefaultProfile, nil
}

// titleOf makes a title of a goal's first line.
func titleOf(goal string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(goal), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if r := []rune(line); len(r) > maxGoalTitle {
		line = string(r[:maxGoalTitle-1]) + "…"
	}
	return line
}

// ProposalIn is a plan as a planner hands it in.
type ProposalIn struct {
	Title       string         `json:"title" jsonschema:"One line that names the goal."`
	Summary     string         `json:"summary,omitempty" jsonschema:"How the goal will be reached, in a few sentences."`
	TechStack   []string       `json:"tech_stack,omitempty" jsonschema:"What the project is built with, as far as it matters."`
	Nodes       []ProposedNode `json:"nodes" jsonschema:"The steps."`
	Edges       [][]string     `json:"edges,omitempty" jsonschema:"Pairs [from, to] of keys."`
	Risks       []string       `json:"risks,omitempty" jsonschema:"What could go wrong."`
	Assumptions []string       `json:"assumptions,omitempty" jsonschema:"What you took for granted."`
}

// ProposedNode is a step of a proposal.
type ProposedNode struct {
	NodeSpec
	EstimateMinutes float64 `json:"estimate_minutes,omitempty" jsonschema:"How long it may take an agent."`
}

// Propose takes a planner's plan: whole, or not at all with a list of what is wrong.
func (e *Engine) Propose(ctx context.Context, in ProposalIn) error {
	actor := plan.ActorFrom(ctx)
	if actor.Role != plan.Planner {
		return plan.Errorf(plan.Denied, "only the planner of a plan may propose it")
	}
	return e.store.Write(ctx, func(tx *store.Tx) error { return e.propose(tx, actor.Ref.Plan, in) })
}

func (e *Engine) propose(tx *store.Tx, id plan.PlanID, in ProposalIn) error {
	p, err := tx.Plan(id)
	if err != nil {
		return err
	}
	if p.Approval != plan.Planning {
		return plan.Errorf(plan.Invalid, "plan %d is not being planned: it is %s", id, p.Approval)
	}
	before, err := tx.Snapshot(id)
	if err != nil {
		return err
	}
	own := before.NodesOf(id)
	d := draftOf(p, withoutOwn(in, own))
	d.checkProposal(in, e.opts.PlannerMaxNodes)
	if err := d.bad.Err("the plan was refused; nothing was changed:"); err != nil {
		return err
	}
	g, err := tx.Goal(id)
	if err != nil {
		return err
	}
	if err := tx.ClearNodes(id); err != nil {
		return err
	}
	for i, n := range d.nodes {
		keepOwn(n, ownOf(own, &in.Nodes[i].NodeSpec))
	}
	p.Title, p.Approval = in.Title, plan.Awaiting
	if err := d.fill(tx, id); err != nil {
		return err
	}
	g.Summary, g.TechStack, g.Risks, g.Assumptions, g.Problems = in.Summary, in.TechStack, in.Risks, in.Assumptions, nil
	if err := tx.SaveGoal(g); err != nil {
		return err
	}
	m := &mover{tx: tx, root: p}
	if err := m.revise(plan.AuthorPlanner, g.Feedback); err != nil {
		return err
	}
	if err := m.tell(NoticeWaiting, WaitsApproval, nil, in.Summary); err != nil {
		return err
	}
	return m.say(plan.Ref{Plan: id}, "waiting for you: the plan is made; look at it and approve it, ask for changes or reject it")
}

// draftOf checks a proposal like a plan that is submitted.
func draftOf(p *plan.Plan, in ProposalIn) *draft {
	spec := SubmitPlanIn{PlanIn: PlanIn{Title: in.Title}, Edges: in.Edges}
	for _, n := range in.Nodes {
		spec.Nodes = append(spec.Nodes, n.NodeSpec)
	}
	d := &draft{in: spec, at: map[string]int{}, actor: plan.Actor{Role: plan.Worker}}
	checkTitle(&d.bad, "plan", in.Title)
	for i, n := range spec.Nodes {
		d.addNode(i, n)
		d.nodes[i].EstimateMinutes = in.Nodes[i].EstimateMinutes
	}
	d.addEdges()
	d.addResultsFrom()
	d.plan = *p
	return d
}

// checkProposal refuses what only a planner's plan may not do.
func (d *draft) checkProposal(in ProposalIn, maxNodes int) {
	if len(in.Nodes) == 0 {
		d.bad.Addf("nodes: a plan needs at least one step")
	}
	if len(in.Nodes) > maxNodes {
		d.bad.Addf("nodes: %d steps are too many; the limit is %d", len(in.Nodes), maxNodes)
	}
	for i, n := range d.nodes {
		what := fmt.Sprintf("node '%s'", in.Nodes[i].Key)
		switch {
		case n.Kind == plan.KindAgent && len(n.Criteria) == 0:
			d.bad.Addf("%s: acceptance_criteria must not be empty", what)
		case len(n.Criteria) > maxCriteria:
			d.bad.Addf("%s: %d acceptance_criteria are too many; the limit is %d", what, len(n.Criteria), maxCriteria)
		}
		checkEstimate(&d.bad, what, in.Nodes[i].EstimateMinutes)
	}
	for _, list := range [][]string{in.TechStack, in.Risks, in.Assumptions, {in.Summary}} {
		for _, text := range list {
			checkText(&d.bad, "plan", "summary, tech_stack, risks and assumptions", text)
		}
	}
}

// fill stores the nodes and edges of a draft in a plan that has none.
func (d *draft) fill(tx *store.Tx, id plan.PlanID) error {
	for i, n := range d.nodes {
		n.ID = plan.NodeID(i + 1)
	}
	if len(d.nodes) == 0 {
		return nil
	}
	if _, err := tx.TakeNodeIDs(id, len(d.nodes)); err != nil {
		return err
	}
	if err := tx.InsertNodes(id, d.nodes); err != nil {
		return err
	}
	_, err := tx.InsertEdges(id, d.edges)
	return err
}

// revise makes a new revision of a plan as it stands now, and stores the plan.
func (m *mover) revise(author, feedback string) error {
	m.root.Revision++
	if err := m.tx.UpdatePlan(m.root, keyOf(m.root)); err != nil {
		return err
	}
	s, err := m.tx.Snapshot(m.root.ID)
	if err != nil {
		return err
	}
	text, err := json.Marshal(proposalOf(s))
	if err != nil {
		return fmt.Errorf("write a revision: %w", err)
	}
	if err := m.tx.InsertRevision(&plan.Revision{PlanID: m.root.ID, Number: m.root.Revision, Proposal: string(text),
		Author: author, Feedback: feedback}); err != nil {
		return err
	}
	return recordPlan(m.tx, m.root.ID, true)
}

// proposalOf writes the top-level plan of a tree in the form in which a planner
// hands one in, so that revisions can be compared and planned on.
func proposalOf(s *plan.Snapshot) ProposalIn {
	root := s.Root()
	out := ProposalIn{Title: root.Title}
	key := func(id plan.NodeID) string { return fmt.Sprint(id) }
	for _, n := range s.NodesOf(root.ID) {
		spec := NodeSpec{Key: key(n.ID), Title: n.Title, Description: n.Description, Kind: string(n.Kind), AcceptanceCriteria: n.Criteria,
			TaskType: n.TaskType, MaxAttempts: n.MaxAttempts, CheckCommand: n.CheckCommand, Isolation: n.Isolation}
		if p := s.Profiles[n.Profile]; p != nil {
			spec.Agent = AgentRef(p.Name)
		}
		for _, f := range n.Files {
			spec.Files = append(spec.Files, f.Path)
		}
		for _, from := range n.ResultsFrom {
			spec.ResultsFrom = append(spec.ResultsFrom, key(from))
		}
		out.Nodes = append(out.Nodes, ProposedNode{NodeSpec: spec, EstimateMinutes: n.EstimateMinutes})
	}
	for _, e := range s.EdgesOf(root.ID) {
		out.Edges = append(out.Edges, []string{key(e.From), key(e.To)})
	}
	return out
}
