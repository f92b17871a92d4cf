package views

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestPlansAreFound(t *testing.T) {
	all := []PlanSummary{
		{ID: 4, Title: "Write the docs", Status: plan.StatusPending},
		{ID: 3, Title: "Fix the Parser", Status: plan.StatusRunning, Started: true, WorkDir: "/home/me/parser"},
		{ID: 2, Title: "Fix the build", Status: plan.StatusFailed, Started: true, Questions: 1},
		{ID: 1, Title: "Parser", Status: plan.StatusDone},
	}
	for _, c := range []struct {
		query, state string
		want         []plan.PlanID
	}{
		{"", "", []plan.PlanID{4, 3, 2, 1}},
		{"parser", "", []plan.PlanID{3, 1}},
		{"fix PARSER", "", []plan.PlanID{3}},
		{"home", "", []plan.PlanID{3}},
		{"", "running", []plan.PlanID{3}},
		{"", "you", []plan.PlanID{2}},
		{"parser", "done", []plan.PlanID{1}},
		{"", "nonsense", []plan.PlanID{4, 3, 2, 1}},
		{"xyz", "", nil},
	} {
		var got []plan.PlanID
		for _, p := range NewPlansPage(PlansInput{Plans: all, Query: c.query, State: c.state}).Plans {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q %q (-want +got):\n%s", c.query, c.state, diff)
		}
	}
}

func TestFiltersCountWhatTheyWouldShow(t *testing.T) {
	p := NewPlansPage(PlansInput{Plans: []PlanSummary{{Title: "a", Status: plan.StatusDone}, {Title: "b", Status: plan.StatusFailed}}, Query: "a", State: "failed"})
	var got []string
	for _, f := range p.Filters {
		got = append(got, f.Word, string(rune('0'+f.Count)))
	}
	if diff := cmp.Diff([]string{"All", "1", "Failed", "0", "Done", "1"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheSidebarIsBounded(t *testing.T) {
	s := &Sidebar{Plans: make([]PlanSummary, 100)}
	for i := range s.Plans {
		s.Plans[i].ID = plan.PlanID(100 - i)
	}
	pieces := s.Pieces()
	if len(pieces) != sidebarPlans+1 {
		t.Errorf("%d pieces", len(pieces))
	}
	if last := pieces[sidebarPlans-1]; last.ID != "side-100" || !last.First {
		t.Errorf("the newest is added as %+v", last)
	}
}
