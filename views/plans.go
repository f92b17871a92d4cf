package views

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// The states by which plans can be filtered, in the order in which they are
// offered.
var planFilters = []string{"", "running", "you", "failed", "done", "pending", "stopped"}

// PlansInput is what the page of plans is made from.
type PlansInput struct {
	Plans []PlanSummary // the newest first
	Query string        // words that the title must have
	State string        // one of the filters; "" : all
	Sort  string        // one of the orders; "" : the newest first
	Seq   int64
}

// PlansPage lists plans.
type PlansPage struct {
	Query, State, Sort string

	Seq     int64
	Total   int
	Plans   []PlanSummary
	Filters []Filter
}

// Filter is one of the states to choose from.
type Filter struct {
	State, Word string
	Count       int
	On          bool
}

// NewPlansPage makes the page of plans.
func NewPlansPage(in PlansInput) *PlansPage {
	p := &PlansPage{Query: in.Query, State: in.State, Sort: in.Sort, Seq: in.Seq, Total: len(in.Plans)}
	if !slices.Contains(planFilters, in.State) {
		p.State = ""
	}
	counts := map[string]int{}
	for i := range in.Plans {
		s := &in.Plans[i]
		if !p.matches(s) {
			continue
		}
		for _, f := range planFilters {
			if isIn(s, f) {
				counts[f]++
			}
		}
		if isIn(s, p.State) {
			p.Plans = append(p.Plans, *s)
		}
	}
	if !slices.ContainsFunc(planOrders, func(o [2]string) bool { return o[0] == p.Sort }) {
		p.Sort = ""
	}
	sortPlans(p.Plans, p.Sort)
	for _, f := range planFilters {
		if counts[f] > 0 || f == p.State || f == "" {
			p.Filters = append(p.Filters, Filter{State: f, Word: filterWord(f), Count: counts[f], On: f == p.State})
		}
	}
	return p
}

func (p *PlansPage) matches(s *PlanSummary) bool {
	text := strings.ToLower(s.Title + " " + strconv.FormatInt(int64(s.ID), 10) + " " + s.WorkDir)
	for _, word := range strings.Fields(strings.ToLower(p.Query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func isIn(s *PlanSummary, filter string) bool {
	switch filter {
	case "":
		return true
	case "you":
		return s.Waiting() > 0
	}
	return s.Look().Name == filter
}

func filterWord(f string) string {
	switch f {
	case "":
		return "All"
	case "you":
		return "Waiting for you"
	}
	return strings.ToUpper(f[:1]) + f[1:]
}

// narrowed says that not all plans are shown, or in another order than usual.
func (p *PlansPage) narrowed() bool { return p.Query != "" || p.State != "" || p.Sort != "" }

// The orders in which plans can be listed.
var planOrders = [][2]string{{"", "Newest first"}, {"oldest", "Oldest first"}, {"title", "By title"}, {"waiting", "Waiting for you first"}, {"progress", "Least done first"}}

func sortPlans(list []PlanSummary, by string) {
	slices.SortStableFunc(list, func(a, b PlanSummary) int {
		switch by {
		case "oldest":
			return cmp.Compare(a.ID, b.ID)
		case "title":
			return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
		case "waiting":
			return cmp.Compare(b.Waiting(), a.Waiting())
		case "progress":
			return cmp.Compare(doneShare(a), doneShare(b))
		}
		return 0
	})
}

func doneShare(s PlanSummary) float64 {
	if s.Tally.Total == 0 {
		return 0
	}
	return float64(s.Tally.Done+s.Tally.Skipped) / float64(s.Tally.Total)
}

// RowPieces are the rows of plans for updates of pages that list them all.
func RowPieces(plans []PlanSummary) []Piece {
	list := make([]Piece, 0, len(plans))
	for i := len(plans) - 1; i >= 0; i-- {
		list = append(list, Piece{ID: domPlan("plan", plans[i].ID), In: "plan-rows", First: true, Body: planRow(&plans[i])})
	}
	return list
}

// rowsID names the list where new plans may be added: not where they might not
// belong.
func (p *PlansPage) rowsID() templ.Attributes {
	if p.narrowed() {
		return nil
	}
	return templ.Attributes{"id": "plan-rows"}
}
