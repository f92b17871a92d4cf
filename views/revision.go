package views

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// RevisionInput is what the page of a revision is made from.
type RevisionInput struct {
	Plan     *plan.Plan
	Revision *plan.Revision
	Before   *plan.Revision // nil: it is the first
	All      []plan.Revision
}

// RevisionPage is a plan as it stood at one revision.
type RevisionPage struct {
	Plan   *plan.Plan
	Row    RevisionRow
	Rows   []RevisionRow
	Title  string
	Steps  []RevisionStep
	Before int64 // the number of that which it is compared with; 0: none
	Diff   RevisionDiff
}

// RevisionStep is a step of a revision.
type RevisionStep struct {
	Number      int
	Title       string
	Description string
	Criteria    []string
	Facts       []Fact
}

// RevisionDiff is what a revision has that the one before had not.
type RevisionDiff struct {
	Title          *FieldChange
	Added, Removed []string
	Changed        []StepChange
}

// StepChange is a step that is in both revisions.
type StepChange struct {
	Title  string
	Fields []FieldChange
}

// FieldChange is a field that reads otherwise; "" is an empty one.
type FieldChange struct{ Name, Was, Is string }

// Same reports whether nothing differs.
func (d *RevisionDiff) Same() bool {
	return d.Title == nil && len(d.Added)+len(d.Removed)+len(d.Changed) == 0
}

// proposal is a plan as revisions keep it.
type proposal struct {
	Title string         `json:"title"`
	Nodes []proposedStep `json:"nodes"`
	Edges [][]string     `json:"edges"`
}

type proposedStep struct {
	Key         string   `json:"key"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Kind        string   `json:"kind"`
	TaskType    string   `json:"task_type"`
	Criteria    []string `json:"acceptance_criteria"`
	Files       []string `json:"files"`
	ResultsFrom []string `json:"results_from"`
	MaxAttempts int      `json:"max_attempts"`
	Check       string   `json:"check_command"`
	Agent       string   `json:"agent"`
	Isolation   string   `json:"isolation"`
	Minutes     float64  `json:"estimate_minutes"`
}

// NewRevisionPage makes the page of a revision.
func NewRevisionPage(in RevisionInput) (*RevisionPage, error) {
	is, err := readProposal(in.Revision)
	if err != nil {
		return nil, err
	}
	p := &RevisionPage{Plan: in.Plan, Rows: revisionRows(in.Plan, in.All), Title: is.Title}
	p.Row = revisionRows(in.Plan, []plan.Revision{*in.Revision})[0]
	for i := range is.Nodes {
		p.Steps = append(p.Steps, is.step(i))
	}
	if in.Before != nil {
		was, err := readProposal(in.Before)
		if err != nil {
			return nil, err
		}
		p.Before, p.Diff = in.Before.Number, compare(was, is)
	}
	return p, nil
}

func readProposal(r *plan.Revision) (*proposal, error) {
	p := &proposal{}
	if err := json.Unmarshal([]byte(r.Proposal), p); err != nil {
		return nil, fmt.Errorf("read revision %d of plan %d: %w", r.Number, r.PlanID, err)
	}
	return p, nil
}

// titles turns keys into the titles of their steps.
func (p *proposal) titles(keys []string) []string {
	var list []string
	for i := range p.Nodes {
		if slices.Contains(keys, p.Nodes[i].Key) {
			list = append(list, p.Nodes[i].Title)
		}
	}
	return list
}

// after are the keys of the steps that come before one.
func (p *proposal) after(key string) []string {
	var list []string
	for _, e := range p.Edges {
		if len(e) == 2 && e[1] == key {
			list = append(list, e[0])
		}
	}
	return list
}

func (p *proposal) step(i int) RevisionStep {
	n := &p.Nodes[i]
	s := RevisionStep{Number: i + 1, Title: n.Title, Description: n.Description, Criteria: n.Criteria}
	for _, f := range p.fields(n) {
		if f[1] != "" && f[0] != "Title" && f[0] != "Description" && f[0] != "Done when" {
			s.Facts = append(s.Facts, Fact{Name: f[0], Value: f[1]})
		}
	}
	return s
}

// fields are the names and values of what is compared.
func (p *proposal) fields(n *proposedStep) [][2]string {
	minutes := ""
	if n.Minutes > 0 {
		minutes = decimal(n.Minutes) + " min"
	}
	who := ""
	if n.Kind == string(plan.KindUser) {
		who = "you"
	}
	return [][2]string{{"Title", n.Title}, {"Description", n.Description}, {"Done by", who}, {"Agent", n.Agent}, {"Isolation", n.Isolation}, {"Type", n.TaskType}, {"Files", strings.Join(n.Files, ", ")},
		{"Done when", strings.Join(n.Criteria, "\n")}, {"Attempts", count(int64(n.MaxAttempts))}, {"Check", n.Check}, {"Estimate", minutes},
		{"After", strings.Join(p.titles(p.after(n.Key)), "; ")}, {"Results from", strings.Join(p.titles(n.ResultsFrom), "; ")}}
}

// compare lists what differs. Steps are the same that have the same key and title,
// or else the same title, or else the same key.
func compare(was, is *proposal) RevisionDiff {
	var d RevisionDiff
	if was.Title != is.Title {
		d.Title = &FieldChange{"Title", was.Title, is.Title}
	}
	pairs := matched(was, is)
	old := map[int]bool{}
	for i := range is.Nodes {
		j, ok := pairs[i]
		if !ok {
			d.Added = append(d.Added, is.Nodes[i].Title)
			continue
		}
		old[j] = true
		if c := changes(was.fields(&was.Nodes[j]), is.fields(&is.Nodes[i])); len(c) > 0 {
			d.Changed = append(d.Changed, StepChange{is.Nodes[i].Title, c})
		}
	}
	for j := range was.Nodes {
		if !old[j] {
			d.Removed = append(d.Removed, was.Nodes[j].Title)
		}
	}
	return d
}

// matched pairs the steps of a revision with those of the one before, by position.
func matched(was, is *proposal) map[int]int {
	pairs, taken := map[int]int{}, map[int]bool{}
	for _, same := range []func(a, b *proposedStep) bool{
		func(a, b *proposedStep) bool { return a.Key == b.Key && a.Title == b.Title },
		func(a, b *proposedStep) bool { return a.Title == b.Title },
		func(a, b *proposedStep) bool { return a.Key == b.Key },
	} {
		for i := range is.Nodes {
			for j := range was.Nodes {
				if _, done := pairs[i]; !done && !taken[j] && same(&was.Nodes[j], &is.Nodes[i]) {
					pairs[i], taken[j] = j, true
				}
			}
		}
	}
	return pairs
}

func changes(was, is [][2]string) []FieldChange {
	var list []FieldChange
	for i := range is {
		if was[i][1] != is[i][1] {
			list = append(list, FieldChange{is[i][0], was[i][1], is[i][1]})
		}
	}
	return list
}

// Head is the title of the page.
func (p *RevisionPage) Head() string {
	return "Revision " + strconv.FormatInt(p.Row.Number, 10) + " of plan " + strconv.FormatInt(int64(p.Plan.ID), 10)
}
