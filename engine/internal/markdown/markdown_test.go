package markdown

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/internal/goldenfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenfile.Check(t, filepath.Join("testdata", name+".md"), got, *update)
}

func text(s string) *string { return &s }

// sample is a plan with a step of every kind and a subplan.
func sample() Input {
	plans := []plan.Plan{{ID: 1, Root: 1, Title: "Dark mode", Description: "Every page in two themes."},
		{ID: 2, Root: 1, ParentPlan: 1, ParentNode: 3, Title: "Pages"}}
	nodes := []plan.Node{
		{PlanID: 1, ID: 1, Title: "Colours\nas variables", Kind: plan.KindAgent, State: plan.Done, Description: "One place for all colours.",
			Result: text("Moved 12 colours.\nSee app.css."), Criteria: []string{"no colour outside app.css"}, Undeclared: []string{"a`b.txt", "z.txt"},
			UndeclaredMore: 3, UndeclaredShared: true},
		{PlanID: 1, ID: 2, Title: "Choose a palette", Kind: plan.KindUser, State: plan.Done, Result: text("the blue one")},
		{PlanID: 1, ID: 3, Title: "All pages", Kind: plan.KindAgent, State: plan.Failed, Subplan: 2, Error: text("a step of its subplan 2 failed")},
		{PlanID: 1, ID: 4, Title: "Screenshots", Kind: plan.KindAgent, State: plan.Skipped, SkippedBy: plan.SkippedByFailure, SkippedCause: 3},
		{PlanID: 1, ID: 5, Title: "Release note", Kind: plan.KindAgent, State: plan.Skipped, SkippedBy: plan.SkippedByPerson, SkipNote: "later"},
		{PlanID: 2, ID: 1, Title: "Start page", Kind: plan.KindAgent, State: plan.Running},
		{PlanID: 2, ID: 2, Title: "List", Kind: plan.KindAgent, State: plan.Failed, Error: text("no such file")},
		{PlanID: 2, ID: 3, Title: "Settings", Kind: plan.KindAgent, State: plan.Pending},
	}
	edges := []plan.Edge{{Plan: 1, From: 2, To: 1}, {Plan: 1, From: 1, To: 3}, {Plan: 1, From: 3, To: 4}, {Plan: 2, From: 1, To: 3}}
	s := plan.NewSnapshot(plans, nodes, edges)
	s.Reviews[plan.Ref{Plan: 1, Node: 1}] = &plan.Review{Verdict: plan.VerdictConcerns, Summary: "Contrast is low.", Findings: text("- 3:1 in the sidebar")}
	s.Reviews[plan.Ref{Plan: 1}] = &plan.Review{Verdict: plan.VerdictOK, Summary: "Good so far."}
	return Input{Snapshot: s, Plan: 1, Diffs: true, Changes: map[plan.Ref][]plan.FileDiff{
		{Plan: 1, Node: 1}: {
			{Path: "app.css", Kind: plan.DiffChanged, Added: 2, Removed: 1, Declared: true, Diff: "--- a/app.css\n+++ b/app.css\n@@ -1 +1,2 @@\n-a\n+b\n+c ``` d\n"},
			{Path: "<logo>.png", Kind: plan.DiffAdded, Declared: true, Binary: true, Note: "A binary file.", Diff: "Binary files differ\n"},
		},
	}}
}

func TestExport(t *testing.T) {
	golden(t, "whole", Export(sample()))
	in := sample()
	in.Diffs = false
	golden(t, "without-diffs", Export(in))
	in.Plan = 2
	golden(t, "subplan", Export(in))
}

func TestADiffIsCutAfter400Lines(t *testing.T) {
	in := sample()
	in.Changes[plan.Ref{Plan: 1, Node: 1}] = []plan.FileDiff{{Path: "long.txt", Added: 500, Diff: strings.Repeat("+x\n", 500)}}
	got := Export(in)
	if strings.Count(got, "\n+x") != 400 || !strings.Contains(got, "Cut after 400 of 500 lines") {
		t.Errorf("%d lines of the diff are left, want 400 and a note", strings.Count(got, "\n+x"))
	}
}

func TestAnExportStaysBelowTheLimitOfItsReaders(t *testing.T) {
	in := sample()
	var many []plan.FileDiff
	for i := range 40 {
		many = append(many, plan.FileDiff{Path: fmt.Sprintf("f%d.txt", i), Added: 300, Diff: strings.Repeat("+some words\n", 300)})
	}
	in.Changes[plan.Ref{Plan: 1, Node: 1}] = many
	got := Export(in)
	if n := utf8.RuneCountInString(got); n > 65_536 {
		t.Errorf("the export has %d characters", n)
	}
	if !strings.Contains(got, "65,536-character limit") || strings.Count(got, "<details><summary>f") != 40 {
		t.Error("files beyond the limit keep their line, and a note says why")
	}
}
