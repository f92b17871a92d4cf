package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// ProposalStep is a step as it is to be approved.
type ProposalStep struct {
	Link     NodeLink
	EditURL  string
	Terms    string // type, agent, files, estimate, in one line
	Criteria []string
}

// maxProposed is how many steps are written out.
const maxProposed = 60

// propose fills in what a person has to know before approving.
func (a *Approval) propose(s *scene, at Place) {
	root := s.Root()
	a.Facts = s.proposalFacts(root)
	agents := map[string]bool{}
	for _, n := range s.NodesOf(root.ID) {
		if len(a.Table) < maxProposed {
			a.Table = append(a.Table, s.proposalStep(n, at))
		}
		if row := s.agentRow(n); !row.Person && hasShell(row.Capability, n.TaskType) {
			agents[row.Name] = true
		}
	}
	if len(agents) > 0 {
		names := make([]string, 0, len(agents))
		for name := range agents {
			names = append(names, name)
		}
		slices.Sort(names)
		a.Shell = strings.Join(names, ", ") + " may run commands, and no sandbox holds them: a worker with a shell has your own rights on this machine."
	}
}

// hasShell reports whether a step's agent can run commands.
func hasShell(capability, taskType string) bool {
	switch taskType {
	case "design":
		return false
	case "implement", "configure":
		return capability == "full"
	}
	return capability == "full" || capability == "run"
}

func (s *scene) proposalFacts(root *plan.Plan) []Fact {
	var list []Fact
	add := func(name, value string) { list = append(list, Fact{Name: name, Value: value}) }
	add("Agents", strings.Join(s.proposalAgents(root), ", "))
	add("Isolation", or(root.Isolation, "as the server and the agents say"))
	budget := "none"
	switch {
	case root.MaxTokens > 0 && root.MaxCostUSD > 0:
		budget = grouped(root.MaxTokens) + " tokens, " + dollars(root.MaxCostUSD)
	case root.MaxTokens > 0:
		budget = grouped(root.MaxTokens) + " tokens"
	case root.MaxCostUSD > 0:
		budget = dollars(root.MaxCostUSD)
	}
	add("Budget", budget)
	gate := "none: steps are not judged"
	if root.ReviewPolicy == plan.PolicyGate {
		gate = fmt.Sprintf("each step is judged by its criteria, in up to %s", plural(max(root.MaxAttempts, 1), "attempt", "attempts"))
	}
	add("Gate", gate)
	add("Check command", or(root.CheckCommand, "none"))
	failure := "what depends on it waits"
	if root.OnFailure == "skip" {
		failure = "what depends on it is skipped, the rest goes on"
	}
	add("When a step fails", failure)
	return list
}

// proposalAgents are who would work, with what they may do.
func (s *scene) proposalAgents(root *plan.Plan) []string {
	var list []string
	for _, n := range s.NodesOf(root.ID) {
		row := s.agentRow(n)
		words := "you"
		if !row.Person {
			words = or(row.Name, "no agent") + " (may " + capabilityWords(row.Capability) + ")"
		}
		if !slices.Contains(list, words) {
			list = append(list, words)
		}
	}
	return list
}

func (s *scene) proposalStep(n *plan.Node, at Place) ProposalStep {
	row := s.agentRow(n)
	terms := []string{or(n.TaskType, "no type")}
	if row.Person {
		terms = []string{"yours"}
	} else {
		terms = append(terms, or(row.Name, "no agent"))
	}
	if len(n.Files) > 0 {
		files := make([]string, len(n.Files))
		for i, f := range n.Files {
			files[i] = f.Path
		}
		terms = append(terms, strings.Join(files, ", "))
	}
	if n.EstimateMinutes > 0 {
		terms = append(terms, "about "+estimate(n.EstimateMinutes))
	}
	if n.CheckCommand != "" {
		terms = append(terms, "checked by "+n.CheckCommand)
	}
	if n.Isolation != "" {
		terms = append(terms, "isolation "+n.Isolation)
	}
	if n.MaxAttempts > 0 {
		terms = append(terms, "up to "+strconv.Itoa(n.MaxAttempts)+" attempts")
	}
	return ProposalStep{Link: s.link(n, at), EditURL: at.WithTab(TabEdit).Node(n.Ref()), Terms: strings.Join(terms, " · "), Criteria: n.Criteria}
}

// roundWords say how often the planner has been asked.
func (a *Approval) roundWords() string {
	if a.Goal != nil && a.Goal.Rounds > 0 {
		return fmt.Sprintf("puts its proposal right, round %d", a.Goal.Rounds+1)
	}
	return "looks at the repository"
}
