package views

import (
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
	Seq   int64
}

// PlansPage lists plans.
type PlansPage struct {
	Query, State string
	Seq          int64
	Total        int
	Plans        []PlanSummary
	Filters      []Filter
}

// Filter is one of the states to choose from.
type Filter struct {
	State, Word string
	Count       int
	On          bool
}

// NewPlansPage makes the page of plans.
func NewPlansPage(in PlansInput) *PlansPage {
	p := &PlansPage{Query: in.Query, State: in.State, Seq: in.Seq, Total: len(in.Plans)}
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
	if p.Query != "" || p.State != "" {
		return nil
	}
	return templ.Attributes{"id": "plan-rows"}
}
