package views

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/a-h/templ"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views/graph"
)

// Limits of what a report shows; the server's limits for what it reads of
// transcripts come first.
const (
	maxReportText  = 8_000 // bytes of one entry of a transcript
	maxReportGraph = 400   // steps of one graph
)

// ReportInput is what a report is made from.
type ReportInput struct {
	*plan.Report
	Transcripts bool
	Now         plan.Stamp
	Version     string
	Style       string // CSS, ours
	LayoutOf    func(*plan.Snapshot, plan.PlanID) *graph.Layout
}

// Report is a plan as one document.
type Report struct {
	in     ReportInput
	scene  *scene
	Plan   *plan.Plan
	Status Look
	Facts  []Fact
	Review *Verdict
	Parts  []ReportPart // the plan, and what is nested in it
}

// ReportPart is one plan of the tree.
type ReportPart struct {
	Plan  *plan.Plan
	Graph *Graph // nil: it has no steps, or too many to draw
	Steps []ReportStep
}

// ReportStep is one step.
type ReportStep struct {
	Ref, Title string
	ID         string // of its element
	Look       Look
	Took, Cost string
	Task       *Task
	Verdict    *Verdict
	Judged     []Judgement
	Changes    *Changes
	Runs       []RunHead
	Segments   []Segment
	Older      bool
	LeftOut    bool
}

// NewReport lays a report out.
func NewReport(in ReportInput) *Report {
	s := newScene(in.Snapshot)
	r := &Report{in: in, scene: s, Plan: s.Plan(in.Plan)}
	r.Status = planLook(s.Status(in.Plan), s.Root().Started, s.Root().FirstStart != 0)
	r.Facts = r.facts()
	r.Review = newVerdict(s.Reviews[plan.Ref{Plan: in.Plan}])
	r.part(in.Plan)
	return r
}

func (r *Report) facts() []Fact {
	root, t := r.scene.Root(), r.scene.Tally(r.Plan.ID)
	list := []Fact{{Name: "Steps", Value: fmt.Sprintf("%d, of them %d done, %d failed", t.Total, t.Done, t.Failed)}}
	for _, at := range []Fact{{Name: "Created", At: r.Plan.CreatedAt}, {Name: "Started", At: root.FirstStart}, {Name: "Finished", At: root.FinishedAt}} {
		if at.At != 0 {
			list = append(list, at)
		}
	}
	if root.Tokens > 0 {
		list = append(list, Fact{Name: "Tokens of the whole tree", Value: grouped(root.Tokens)})
	}
	switch cost := root.Spent.CostUSD; {
	case cost > 0 && root.Uncosted > 0:
		list = append(list, Fact{Name: "Cost", Value: fmt.Sprintf("$%.2f, and %s whose cost is not known", cost, plural(root.Uncosted, "run", "runs"))})
	case cost > 0:
		list = append(list, Fact{Name: "Cost", Value: fmt.Sprintf("$%.2f", cost)})
	case root.Uncosted > 0:
		list = append(list, Fact{Name: "Cost", Value: "unknown"})
	}
	return list
}

// part lays out a plan, then those nested in it.
func (r *Report) part(id plan.PlanID) {
	s := r.scene
	p := ReportPart{Plan: s.Plan(id)}
	at := Place{Plan: id}
	if n := len(s.NodesOf(id)); n > 0 && n <= maxReportGraph {
		p.Graph = newGraph(s, at, r.in.LayoutOf(r.in.Snapshot, id))
	}
	var nested []plan.PlanID
	for _, number := range s.Graph(id).Order() {
		n := s.Node(plan.Ref{Plan: id, Node: number})
		p.Steps = append(p.Steps, r.step(n, at))
		if n.Subplan != 0 {
			nested = append(nested, n.Subplan)
		}
	}
	r.Parts = append(r.Parts, p)
	for _, sub := range nested {
		r.part(sub)
	}
}

func (r *Report) step(n *plan.Node, at Place) ReportStep {
	known := r.in.Steps[n.Ref()]
	if known == nil {
		known = &plan.StepReport{}
	}
	in := DrawerInput{Snapshot: r.in.Snapshot, Node: n.Ref(), Place: at, Runs: known.Runs, Diffs: known.Diffs}
	s := ReportStep{Ref: n.Ref().String(), Title: n.Title, ID: reportID(n.Ref()), Look: r.scene.look(n), Task: r.scene.task(n, in),
		Verdict: newVerdict(r.scene.Reviews[n.Ref()]), Changes: r.scene.newChanges(n, in), Runs: runHeads(known.Runs),
		Older: known.Older, LeftOut: known.LeftOut, Took: between(n.StartedAt, n.FinishedAt), Cost: cost(n.CostUSD)}
	s.Changes.Choices = nil
	for i := range known.Judgements {
		if j := &known.Judgements[i]; j.State == plan.ReviewDone {
			s.Judged = append(s.Judged, *newJudgement(j, n))
		}
	}
	if r.in.Transcripts {
		s.Segments = segments(NewScribe(n.Ref(), known.Runs).Entries(known.Events))
		for i := range s.Segments {
			shorten(s.Segments[i].Entries)
		}
	}
	return s
}

// shorten cuts what entries say to what a report has room for.
func shorten(list []Entry) {
	for i := range list {
		e := &list[i]
		short, more := cut(e.Text, maxReportText)
		e.Text, e.More = short, e.More+more
		for k := range e.Call.Args {
			if a := &e.Call.Args[k]; len(a.Value) > maxReportText {
				text, left := cut(a.Value, maxReportText)
				a.Value = text + " … " + grouped(int64(left)) + " more bytes"
			}
		}
		if e.Result != nil {
			one := []Entry{*e.Result}
			shorten(one)
			e.Result = &one[0]
		}
	}
}

// reportID is the id of a step's element in a report.
func reportID(r plan.Ref) string {
	return reportPrefix + strconv.FormatInt(int64(r.Plan), 10) + "-" + strconv.FormatInt(int64(r.Node), 10)
}

// Render writes the document: one file that loads nothing and does nothing.
func (r *Report) Render(ctx context.Context, w io.Writer) error {
	var b bytes.Buffer
	if err := reportBody(r).Render(ctx, &b); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "<!DOCTYPE html>\n<html lang=\"en\">"); err != nil {
		return err
	}
	if err := reportHead(r).Render(ctx, w); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "<body class=\"report\">"); err != nil {
		return err
	}
	if err := inert(w, &b); err != nil {
		return fmt.Errorf("write a report: %w", err)
	}
	_, err := io.WriteString(w, "</body></html>\n")
	return err
}

// style is our own CSS in the document itself.
func (r *Report) style() templ.Component { return templ.Raw("<style>" + r.in.Style + "</style>") }

// limits says what a report leaves out.
func (r *Report) limits() string {
	text := "A file's diff is cut after " + grouped(mostLines) + " lines, the diffs of a step after " + grouped(mostPanel) + "."
	if r.in.Transcripts {
		return text + " Of transcripts there are the newest 500 entries of each step, 12 MiB in all, each entry cut after " + grouped(maxReportText) + " bytes."
	}
	return text + " Transcripts were left out."
}
