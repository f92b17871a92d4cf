package views

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// Edit is the form with which a person changes a step.
type Edit struct {
	Node   plan.Ref
	Back   string // where it leads to when it is saved or given up
	Seen   string // what was on show, see Seen
	Open   bool   // the step has not started: everything can change
	State  string
	Awaits bool // the plan waits for approval: an edit makes a revision
	Asks   bool // it is approved: an edit asks for approval again

	Title, Description     string
	User                   bool
	TaskType, Isolation    string
	Agent, Inherits        string
	Agents                 []string
	Criteria, Files        []string
	Check, PlanCheck       string
	Attempts, PlanAttempts string
	Estimate               string
}

// Order is what comes before a step and after it, and what is handed on to it.
type Order struct {
	Node     plan.Ref
	Open     bool // edges into it and results can change
	After    []OrderRow
	Before   []OrderRow
	CanAfter []Choice // steps that may still come before it; nil: too many to list
	CanLead  []Choice // and after it
	Many     bool
}

// OrderRow is a step that another is ordered with.
type OrderRow struct {
	NodeLink
	Number  plan.NodeID
	Edge    bool // else it comes before it through others
	Results bool // its result goes into the prompt
}

// Choice is a step to choose.
type Choice struct {
	Number plan.NodeID
	Name   string
}

// maxChoices is how many steps are offered in a list; beyond it people write a number.
const maxChoices = 200

// Seen stands for what a person saw of a step's fields when they began to edit it.
func Seen(n *plan.Node) string {
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode([]any{n.Title, n.Description, n.Kind, n.Profile, n.TaskType, n.Isolation, n.CheckCommand,
		n.MaxAttempts, n.EstimateMinutes, n.Criteria, n.Files}) // these always encode, and hashes take all
	return strconv.FormatUint(h.Sum64(), 36)
}

func (s *scene) edit(n *plan.Node, at Place) *Edit {
	root := s.Root()
	e := &Edit{Node: n.Ref(), Back: at.WithTab(TabTask).Node(n.Ref()), Seen: Seen(n), Open: unstarted(n), State: string(n.State),
		Awaits: root.Approval == plan.Awaiting, Asks: root.Approval == plan.Approved,
		Title: n.Title, Description: n.Description, User: n.Kind == plan.KindUser, TaskType: n.TaskType, Isolation: n.Isolation,
		Agents: s.agentNames(), Inherits: s.inherits(s.Plan(n.PlanID)), Criteria: n.Criteria, Check: n.CheckCommand, PlanCheck: root.CheckCommand,
		Attempts: count(int64(n.MaxAttempts)), PlanAttempts: count(int64(max(root.MaxAttempts, 1))), Estimate: decimal(n.EstimateMinutes)}
	if own := s.Profiles[n.Profile]; own != nil {
		e.Agent = own.Name
	}
	for _, f := range n.Files {
		e.Files = append(e.Files, f.Path)
	}
	return e
}

func unstarted(n *plan.Node) bool { return n.State == plan.Pending || n.State == plan.Ready }

func (s *scene) order(n *plan.Node, at Place) *Order {
	g, all := s.Graph(n.PlanID), s.NodesOf(n.PlanID)
	before, after := g.Prerequisites(n.ID), g.Dependants(n.ID)
	o := &Order{Node: n.Ref(), Open: unstarted(n), Many: len(all) > maxChoices}
	at = at.WithTab(TabEdit)
	for _, m := range all {
		edge, results, leads := slices.Contains(before, m.ID), slices.Contains(n.ResultsFrom, m.ID), slices.Contains(after, m.ID)
		if edge || results || leads {
			row := OrderRow{NodeLink: s.link(m, at), Number: m.ID, Edge: edge, Results: results}
			row.URL = at.Node(m.Ref())
			if edge || results {
				o.After = append(o.After, row)
			}
			if leads {
				o.Before = append(o.Before, row)
			}
		}
		if o.Many || m.ID == n.ID {
			continue
		}
		choice := Choice{m.ID, m.Ref().String() + " " + m.Title}
		if !edge && !g.Reaches(n.ID, m.ID) {
			o.CanAfter = append(o.CanAfter, choice)
		}
		if !leads && unstarted(m) && !g.Reaches(m.ID, n.ID) {
			o.CanLead = append(o.CanLead, choice)
		}
	}
	return o
}

func (e *Edit) url(action string) string  { return NodeURL(e.Node) + action }
func (o *Order) url(action string) string { return NodeURL(o.Node) + action }

// revisionWords say what an edit does to the plan's approval.
func (e *Edit) revisionWords() string {
	switch {
	case e.Awaits:
		return "The plan waits for approval: what you save makes its next revision. Title, attempts and estimate change without one."
	case e.Asks:
		return "The plan is approved: what you save asks for approval again before anything new starts. Title, attempts and estimate do not."
	case !e.Open:
		return "The step is " + e.State + ": what you save counts at its next start."
	}
	return ""
}

// typeWords say what steps of a type may do.
var typeWords = [][2]string{
	{"", "none: whatever its agent may"},
	{"design", "design: writes documents only"},
	{"implement", "implement: edits its files"},
	{"configure", "configure: edits its files"},
	{"test", "test: writes its files, runs commands"},
	{"review", "review: reads and runs, writes nothing"},
	{"integrate", "integrate: edits its files, runs commands"},
}

// isolationWords are the isolations to choose for steps and plans.
var isolationWords = [][2]string{{"", "as the server and the agent say"}, {"none", "none: in the working directory"}, {"worktree", "worktree: in a copy of its own"}}
