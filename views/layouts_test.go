package views

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const wordDiff = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n func f() int {\n-\treturn first(1) // <old>\n+\treturn second(1) // <old>\n }\n"

func TestChangedWordsAndColoursAreMarkup(t *testing.T) {
	out := render(t, DrawerView(changed(nil, plan.Run{BaseTree: "k:0123456789abcdef", EndTree: "u", Outcome: plan.OutcomeDone},
		plan.FileDiff{Path: "a.go", Kind: plan.DiffChanged, Declared: true, Added: 1, Removed: 1, Diff: wordDiff})))
	for _, want := range []string{`<span class="x-k">return</span> <mark><span class="x-f">first</span></mark>(<span class="x-n">1</span>)`,
		`<span class="x-c">// &lt;old&gt;</span>`, `<mark><span class="x-f">second</span></mark>`, "tree 0123456789",
		`data-copy-url="/plans/1/nodes/1/patch?path=a.go"`, `data-copy-url="/plans/1/nodes/1/patch"`, `href="/plans/1/nodes/1?tab=changes&amp;diff=split"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	if strings.Contains(out, "style=") {
		t.Error("there is a style in the markup, which pages must not have")
	}
}

// layoutAt is the changes of a step on some place.
func layoutAt(place Place, full bool) string {
	s := tree(func(nodes map[string]*plan.Node) { nodes["1.1"].RunID = "r2" })
	place.Plan, place.Tab = 1, TabChanges
	runs := []plan.Run{{ID: "r1", Number: 1, Kind: plan.RunStep, Outcome: plan.OutcomeFailed, BaseTree: "k:1", EndTree: "k:2"},
		{ID: "rev", Number: 2, Kind: plan.RunReview, Outcome: plan.OutcomeDone},
		{ID: "r2", Number: 3, Kind: plan.RunStep, Outcome: plan.OutcomeDone, BaseTree: "k:2", EndTree: "k:3", Isolation: "worktree", Worktree: "w",
			BaseWriters: []plan.Ref{{Plan: 1, Node: 2}}}}
	d := NewDrawer(DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: 1}, Place: place, Full: full, Runs: runs,
		Diffs: []plan.FileDiff{{Path: "a.go", Kind: plan.DiffChanged, Declared: true, Added: 1, Removed: 1, Diff: wordDiff},
			{Path: "odd.txt", Kind: plan.DiffAdded, Added: 1, Diff: smallDiff}}})
	var b strings.Builder
	if err := nodeBody(d).Render(context.Background(), &b); err != nil {
		return err.Error()
	}
	return b.String()
}

func TestDiffsStandBesideEachOtherWhereThereIsRoom(t *testing.T) {
	for name, c := range map[string]struct {
		place Place
		full  bool
		want  string
	}{
		"drawer":          {Place{}, false, `id="node-changes" `},
		"full page":       {Place{}, true, `id="node-changes-split"`},
		"drawer, chosen":  {Place{Layout: LayoutSplit}, false, `id="node-changes-split"`},
		"full, chosen":    {Place{Layout: LayoutUnified}, true, `id="node-changes" `},
		"an earlier run":  {Place{Run: 1}, false, `id="node-changes-past"`},
		"no step's run":   {Place{Run: 2}, false, `id="node-changes" `},
		"the last, named": {Place{Run: 3}, false, `id="node-changes" `},
	} {
		out := layoutAt(c.place, c.full)
		if !strings.Contains(out, c.want) {
			t.Errorf("%s: no %s in %.300s", name, c.want, out)
		}
		if split := strings.Contains(out, `class="diff d-split"`); split != strings.Contains(c.want, "split") {
			t.Errorf("%s: split is %v", name, split)
		}
	}
}

func TestARunIsChosenAndItsBaseIsNamed(t *testing.T) {
	last := layoutAt(Place{}, false)
	for _, want := range []string{`data-testid="change-runs"`, `href="?tab=changes&amp;diff=unified&amp;run=1"`, "It worked in a copy of its own", `data-testid="base-writers"`,
		"was writing in the folder", `href="/plans/1/nodes/2`} {
		if !strings.Contains(last, want) {
			t.Errorf("the last run: no %q in\n%s", want, last)
		}
	}
	if out := layoutAt(Place{View: ViewList}, false); !strings.Contains(out, `href="?view=list&amp;tab=changes&amp;diff=unified&amp;run=1"`) {
		t.Error("beside a table another run leads to the graph")
	}
	first := layoutAt(Place{Run: 1}, false)
	for _, want := range []string{"odd.txt", "/plans/1/nodes/1/patch?run=1&amp;path=a.go", "Compared with the folder"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first run: no %q in\n%s", want, first)
		}
	}
	for _, want := range []string{`href="?tab=changes&amp;diff=unified">Show the newest`, `href="/plans/1/nodes/1?tab=changes&amp;diff=split&amp;run=1"`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first run: no %q in\n%s", want, first)
		}
	}
	full := layoutAt(Place{Run: 1, Layout: LayoutSplit}, true)
	for _, want := range []string{`href="?tab=changes&amp;diff=split">Show the newest`, `href="/plans/1/nodes/1/full?tab=changes&amp;diff=unified&amp;run=1"`} {
		if !strings.Contains(full, want) {
			t.Errorf("the first run, on a page of its own: no %q in\n%s", want, full)
		}
	}
	if strings.Contains(first, "base-writers") {
		t.Error("the first run had no copy, and is said to have had one")
	}
}

// largeDiff is a change of n lines in files of 250.
func largeDiff(n int) []plan.FileDiff {
	var files []plan.FileDiff
	for i := range n / 250 {
		var b strings.Builder
		fmt.Fprintf(&b, "diff --git a/f%d.go b/f%d.go\n--- a/f%d.go\n+++ b/f%d.go\n@@ -1,125 +1,125 @@ func (s *server) handle() {\n", i, i, i, i)
		for k := range 125 {
			fmt.Fprintf(&b, "-\tresult := compute(first%d, \"second\", third) // as before\n+\tresult, err := compute(ctx, first%d, \"second\") // as it is now\n", k, k)
		}
		files = append(files, plan.FileDiff{Path: fmt.Sprintf("src/f%d.go", i), Kind: plan.DiffChanged, Declared: true, Added: 125, Removed: 125, Diff: b.String()})
	}
	return files
}

// BenchmarkChanges draws the tab of a step that changed 5,000 lines.
func BenchmarkChanges(b *testing.B) {
	files := largeDiff(5000)
	for _, layout := range []string{LayoutUnified, LayoutSplit} {
		b.Run(layout, func(b *testing.B) {
			for b.Loop() {
				d := changed(nil, plan.Run{BaseTree: "k:1", EndTree: "k:2", Outcome: plan.OutcomeDone}, files...)
				d.Place.Layout = layout
				var out strings.Builder
				if err := DrawerView(d).Render(b.Context(), &out); err != nil || strings.Count(out.String(), "<mark>") < 5000 {
					b.Fatal(err, out.Len())
				}
			}
		})
	}
}
