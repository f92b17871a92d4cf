package views

import (
	"fmt"
	"strconv"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func (s *scene) facts(n *plan.Node, runs []plan.Run) []Fact {
	var list []Fact
	add := func(name, value string) {
		if value != "" {
			list = append(list, Fact{Name: name, Value: value})
		}
	}
	if n.StartedAt != 0 {
		list = append(list, Fact{Name: "Started", At: n.StartedAt})
	}
	switch {
	case n.State == plan.Running && n.StartedAt != 0:
		list = append(list, Fact{Name: "Running for", Since: n.StartedAt})
	case n.FinishedAt != 0:
		add("Took", between(n.StartedAt, n.FinishedAt))
	}
	if h := s.hold(n); n.State == plan.Ready && h.Until != 0 {
		list = append(list, Fact{Name: "Starts again", At: h.Until})
	}
	if len(runs) > 1 {
		add("Runs", strconv.Itoa(len(runs)))
	}
	add("Attempts", s.attempts(n))
	if n.Interruptions > 0 {
		add("Interruptions", strconv.Itoa(n.Interruptions))
	}
	add("Tokens", tokenWords(n.TokensIn, n.TokensOut))
	add("Cost", cost(n.CostUSD))
	return list
}

// attempts says how often the step was tried, and how often it may be, "" where
// that says nothing.
func (s *scene) attempts(n *plan.Node) string {
	made, most := n.Attempts-n.AttemptsBefore, s.maxAttempts(n)
	switch {
	case most == 1 && n.Attempts < 2:
		return ""
	case most == 1:
		return strconv.Itoa(n.Attempts)
	case n.Attempts == 0:
		return fmt.Sprintf("up to %d", most)
	case n.AttemptsBefore > 0:
		return fmt.Sprintf("%d of %d; %d in all", made, most, n.Attempts)
	}
	return fmt.Sprintf("%d of %d", made, most)
}

func (s *scene) agentRow(n *plan.Node) AgentRow {
	if n.Kind == plan.KindUser {
		return AgentRow{Person: true, Name: "You"}
	}
	a := s.Agent(n)
	row := AgentRow{Capability: a.Capability, CapabilitySource: capabilitySource(a.CapabilitySource)}
	switch a.Source {
	case plan.FromNode:
		row.Source = "set on this step"
	case plan.FromPlan:
		row.Source = "this plan's default"
	case plan.FromInherited:
		row.Source = fmt.Sprintf("inherited from plan %d", a.FromPlan)
	default:
		row.Source = "the server's default"
	}
	if a.Profile != nil {
		row.Name, row.Model, row.Harness = a.Profile.Name, a.Profile.Model, a.Profile.Harness
	}
	return row
}

func capabilitySource(source string) string {
	switch source {
	case plan.FromProfile:
		return "set on the agent"
	case plan.FromCustom:
		return "narrowed by its own tools or permission mode"
	}
	return "the server's default"
}

func capabilityWords(what string) string {
	switch what {
	case "read":
		return "read and search"
	case "run":
		return "read, search and run commands"
	case "edit":
		return "read, search and edit files"
	case "full":
		return "read, search, edit files and run commands"
	}
	return what
}
