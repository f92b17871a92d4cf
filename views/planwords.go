package views

import "cmp"

// PlanWords are the fields of a plan that say what it is for and how its steps are
// checked.
type PlanWords struct {
	Title, Description string
	Check, Policy      string
	Isolation          string
	TopLevel           bool
	Fixed              bool // a step runs: isolation cannot change
}

// policyWords are the review policies to choose.
var policyWords = [][2]string{{"", "as usual: reviews advise"}, {"off", "off: no automatic reviews"}, {"advisory", "advisory: reviews advise"}, {"gate", "gate: a step passes before others start"}}

func or(a, b string) string { return cmp.Or(a, b) }

func agentChoices(inherits string, names []string) [][2]string {
	list := [][2]string{{"", "Inherit: " + inherits}}
	for _, n := range names {
		list = append(list, [2]string{n, n})
	}
	return list
}
