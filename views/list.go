package views

import (
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// List is a plan as a table.
type List struct {
	Plan plan.PlanID
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
	Bar        Bar
	Review     *Look // the verdict on it; nil: there is none
}

func newList(s *scene, at Place) *List {
	l := &List{Plan: at.Plan}
	g := s.Graph(at.Plan)
	for _, n := range s.NodesOf(at.Plan) {
		row := ListRow{Node: n.Ref(), URL: at.Node(n.Ref()), Title: n.Title, Look: s.look(n), User: n.Kind == plan.KindUser,
			Line: s.line(n), Review: s.reviewMark(n.Ref()), Agent: s.agentName(n), After: joinNumbers(g.Prerequisites(n.ID)),
			Tokens: tokens(n.TokensIn, n.TokensOut), TokenWords: tokenWords(n.TokensIn, n.TokensOut)}
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
	list := make([]Piece, len(l.Rows))
	for i := range l.Rows {
		list[i] = Piece{ID: dom("row", l.Rows[i].Node), In: "rows", Body: listRow(&l.Rows[i])}
	}
	return list
}
