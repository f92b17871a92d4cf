package views

import (
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// List is a plan as a table.
type List struct {
	Plan plan.PlanID
	Show string // the look of the steps that are shown; "" : all
	Rows []ListRow
}

// ListRow is a step in the table.
type ListRow struct {
	Node       plan.Ref
	URL        string
	SubURL     string // of its subplan
	Title      string
	Look       Look
	User       bool
	Line       Line
	Agent      string
	After      string // what it depends on
	Tokens     string
	TokenWords string
	Since      plan.Stamp // of one that is at work
	Took       string     // of one that is over
	When       string     // it began and ended
	Cost       string
	Bar        Bar
	Review     *Look // the verdict on it; nil: there is none
}

func newList(s *scene, at Place) *List {
	l := &List{Plan: at.Plan, Show: at.Show}
	g := s.Graph(at.Plan)
	for _, n := range s.NodesOf(at.Plan) {
		row := ListRow{Node: n.Ref(), URL: at.Node(n.Ref()), Title: n.Title, Look: s.look(n), User: n.Kind == plan.KindUser,
			Line: s.line(n), Review: s.reviewMark(n.Ref()), Agent: s.agentName(n), After: joinNumbers(g.Prerequisites(n.ID)),
			Tokens: tokens(n.TokensIn, n.TokensOut), TokenWords: tokenWords(n.TokensIn, n.TokensOut),
			Took: between(n.StartedAt, n.FinishedAt), When: whenWords(n), Cost: cost(n.CostUSD)}
		if n.State == plan.Running {
			row.Since, row.Took = n.StartedAt, ""
		}
		if n.Subplan != 0 {
			row.SubURL, row.Bar = Place{Plan: n.Subplan, View: at.View}.URL(), barOf(s.Tally(n.Subplan))
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

// joinNumbers lists steps of one plan by number, at most six.
func joinNumbers(ids []plan.NodeID) string {
	const most = 6
	var b strings.Builder
	for i, id := range ids {
		if i == most {
			return b.String() + " +" + strconv.Itoa(len(ids)-most)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(int64(id), 10))
	}
	return b.String()
}

func (l *List) pieces() []Piece {
	list := make([]Piece, 0, len(l.Rows)+len(listFilters))
	for _, f := range l.filters() {
		list = append(list, Piece{ID: "show-" + f.State, Body: listCount(f)})
	}
	for i := range l.Rows {
		list = append(list, Piece{ID: dom("row", l.Rows[i].Node), In: "rows", Body: listRow(&l.Rows[i])})
	}
	return list
}

// The looks by which steps can be filtered, in the order in which they are
// offered.
var listFilters = []Look{{"", "All"}, lookRunning, lookYou, lookStalled, lookReady, lookPending, lookFailed, lookDone, lookSkipped}

// filters are the states to choose from, with how many steps are in each.
func (l *List) filters() []Filter {
	counts := map[string]int{"": len(l.Rows)}
	for i := range l.Rows {
		counts[l.Rows[i].Look.Name]++
	}
	list := make([]Filter, len(listFilters))
	for i, f := range listFilters {
		list[i] = Filter{State: f.Name, Word: f.Word, Count: counts[f.Name], On: f.Name == l.Show}
	}
	return list
}

// ShowOf returns the filter of a table that a word of the address means.
func ShowOf(word string) string {
	for _, f := range listFilters {
		if f.Name == word {
			return word
		}
	}
	return ""
}

// whenWords say when a step began and ended.
func whenWords(n *plan.Node) string {
	switch {
	case n.StartedAt == 0:
		return ""
	case n.FinishedAt == 0:
		return "since " + day(n.StartedAt)
	}
	return day(n.StartedAt) + " to " + day(n.FinishedAt)
}
