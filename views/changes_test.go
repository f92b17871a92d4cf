package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

const smallDiff = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -3,3 +4,4 @@ func a() {
 same
--- old
+++ new
+more
 end
\ No newline at end of file
@@ -20 +22 @@
-x
+y
`

func TestADiffIsReadLineByLine(t *testing.T) {
	_, lines, more := parseDiff(smallDiff, 100)
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%c %d %d %s", l.class, l.old, l.new, l.text))
	}
	want := []string{"@ 0 0 @@ -3,3 +4,4 @@ func a() {", "  3 4 same", "- 4 0 -- old", "+ 0 5 ++ new", "+ 0 6 more", "  5 7 end",
		"\\ 0 0 No newline at end of file", "@ 0 0 @@ -20 +22 @@", "- 20 0 x", "+ 0 22 y"}
	if diff := cmp.Diff(want, got); diff != "" || more != 0 {
		t.Errorf("%d more; -want +got:\n%s", more, diff)
	}
	if _, lines, more := parseDiff(smallDiff, 4); len(lines) != 4 || more != 6 {
		t.Errorf("cut at 4: %d lines and %d more", len(lines), more)
	}
}

func FuzzDiff(f *testing.F) {
	for _, text := range []string{smallDiff, "", "@@", "@@ -a +b @@\n\n+", "@@ -9999999999999999999,1 +1 @@\n-\xff\n", "old mode 100644\nnew mode 100755\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, few, more := parseDiff(text, 3)
		_, all, none := parseDiff(text, 1<<30)
		if len(few)+more != len(all) || none != 0 {
			t.Errorf("%d lines and %d more, of %d", len(few), more, len(all))
		}
		out := render(t, diffTable(&FileChange{Lines: all}))
		if n := strings.Count(out, "<tr "); n != len(all) || strings.Count(out, "<") != 2*(2+strings.Count(out, "<tr ")+strings.Count(out, "<td ")+strings.Count(out, "<span ")) {
			t.Errorf("%d rows of %d lines, or text that became markup:\n%s", n, len(all), out)
		}
	})
}

func TestWhatCannotBeSeenIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain\tück":   "plain\tück",
		"a\x00b\r":     "a␀b␍",
		"x\u202ey":     "x⟨U+202E⟩y",
		"bad\xffbytes": "bad\uFFFDbytes",
		"zero\u200bw":  "zero⟨U+200B⟩w",
	} {
		if got := visible(text); got != want {
			t.Errorf("visible(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWhatIsSaidOfAFile(t *testing.T) {
	for name, c := range map[string]struct {
		diff plan.FileDiff
		want []string
	}{
		"lines alone":       {plan.FileDiff{Kind: plan.DiffChanged, Diff: smallDiff}, nil},
		"binary":            {plan.FileDiff{Kind: plan.DiffChanged, Binary: true, Diff: "Binary files differ\n"}, []string{"A binary file: its content is not shown."}},
		"not kept":          {plan.FileDiff{Kind: plan.DiffAdded, Binary: true, Note: "too large"}, []string{"too large"}},
		"made executable":   {plan.FileDiff{Kind: plan.DiffMode, Diff: "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"}, []string{"It was made executable."}},
		"no longer":         {plan.FileDiff{Kind: plan.DiffMode, Diff: "old mode 100755\nnew mode 100644\n"}, []string{"It is no longer executable."}},
		"a new script":      {plan.FileDiff{Kind: plan.DiffAdded, Added: 1, Diff: "new file mode 100755\n@@ -0,0 +1 @@\n+x\n"}, []string{"It is executable."}},
		"a new empty file":  {plan.FileDiff{Kind: plan.DiffAdded, Diff: "new file mode 100644\n"}, []string{"It is empty."}},
		"a symbolic link":   {plan.FileDiff{Kind: plan.DiffAdded, Added: 1, Diff: "new file mode 120000\n@@ -0,0 +1 @@\n+x\n"}, []string{"It is a symbolic link."}},
		"a gone executable": {plan.FileDiff{Kind: plan.DiffDeleted, Removed: 1, Diff: "deleted file mode 100755\n"}, nil},
	} {
		head, _, _ := parseDiff(c.diff.Diff, 10)
		if diff := cmp.Diff(c.want, changeWords(&c.diff, head)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// changed is the drawer of a step with changes.
func changed(edit func(*plan.Node), run plan.Run, diffs ...plan.FileDiff) *Drawer {
	s := tree(func(nodes map[string]*plan.Node) {
		nodes["1.1"].RunID = "r"
		if edit != nil {
			edit(nodes["1.1"])
		}
	})
	run.ID = "r"
	return NewDrawer(DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: 1}, Place: Place{Plan: 1, Tab: TabChanges}, Runs: []plan.Run{run}, Diffs: diffs})
}

func TestWhyThereAreNoChanges(t *testing.T) {
	for want, d := range map[string]*Drawer{
		"It has not run yet":     changed(func(n *plan.Node) { n.RunID = "" }, plan.Run{}),
		"a person&#39;s":         changed(func(n *plan.Node) { n.RunID, n.Kind = "", plan.KindUser }, plan.Run{}),
		"Snapshots may be off":   changed(nil, plan.Run{Outcome: plan.OutcomeDone}),
		"It is at work":          changed(nil, plan.Run{BaseTree: "t"}),
		"at the end of its run":  changed(nil, plan.Run{BaseTree: "t", Outcome: plan.OutcomeDone}),
		"It changed nothing":     changed(nil, plan.Run{BaseTree: "t", EndTree: "t", Outcome: plan.OutcomeDone}),
		"none of the files that": changed(func(n *plan.Node) { n.Undeclared = []string{"x"} }, plan.Run{BaseTree: "t", EndTree: "u", Outcome: plan.OutcomeDone}),
	} {
		if out := render(t, DrawerView(d)); !strings.Contains(out, `data-testid="no-changes"`) || !strings.Contains(out, want) {
			t.Errorf("the tab does not say %q", want)
		}
	}
}

func TestUndeclaredChangesComeFirst(t *testing.T) {
	d := changed(func(n *plan.Node) { n.Undeclared, n.UndeclaredMore, n.UndeclaredShared = []string{"odd.txt"}, 7, true },
		plan.Run{BaseTree: "t", EndTree: "u", Outcome: plan.OutcomeDone, LeftOut: plan.LeftOutList{{Path: "huge.bin", Why: "too large"}}},
		plan.FileDiff{Path: "a.go", Kind: plan.DiffChanged, Declared: true, Added: 3, Removed: 2, Diff: smallDiff},
		plan.FileDiff{Path: "odd.txt", Kind: plan.DiffAdded, Added: 1, Diff: smallDiff})
	out := render(t, DrawerView(d))
	at := -1
	for _, want := range []string{`data-testid="undeclared"`, `data-testid="undeclared-shared"`, "odd.txt", "added", "and 7 more", "1 file", `data-testid="file-change"`,
		"a.go", "+3", "−2", `class="d-hunk"`, `<span class="d-sign">−</span>-- old`, "/plans/1/nodes/1/patch?path=a.go", `data-testid="left-out"`, "huge.bin", "too large"} {
		i := strings.Index(out[max(at, 0):], want)
		if i < 0 {
			t.Fatalf("%q is missing or not in its place:\n%s", want, out)
		}
		at = max(at, 0) + i
	}
	if n := strings.Count(out, `data-testid="file-change"`); n != 1 {
		t.Errorf("%d files are shown, want the declared one alone", n)
	}
}

func TestLongDiffsAreCut(t *testing.T) {
	long := "@@ -0,0 +1,1000 @@\n" + strings.Repeat("+x\n", 1000)
	var diffs []plan.FileDiff
	for i := range 320 {
		diffs = append(diffs, plan.FileDiff{Path: fmt.Sprint("f", i), Kind: plan.DiffAdded, Declared: true, Added: 1000, Diff: long})
	}
	c := changed(nil, plan.Run{BaseTree: "t", EndTree: "u"}, diffs...).Changes
	lines := 0
	for _, f := range c.Files {
		lines += len(f.Lines)
	}
	if f := c.Files[0]; len(f.Lines) != 400 || f.Hidden != 601 || !f.Open || c.Files[5].Open {
		t.Errorf("%d lines, %d more, open %v and %v", len(f.Lines), f.Hidden, f.Open, c.Files[5].Open)
	}
	if lines > mostPanel || c.Total != 320 || c.MoreFiles != 20 || c.Added != 320_000 {
		t.Errorf("%d lines; %d files, %d of them not shown; +%d", lines, c.Total, c.MoreFiles, c.Added)
	}
}

func TestEveryTabHasItsPieces(t *testing.T) {
	for _, tab := range []string{TabTask, TabChanges, TabReview} {
		s := reviewed()
		in := DrawerInput{Snapshot: s, Node: plan.Ref{Plan: 1, Node: 1}, Place: Place{Plan: 1, Tab: tab}, Diffs: []plan.FileDiff{{Path: "a", Declared: true, Diff: smallDiff}}}
		whole := render(t, DrawerView(NewDrawer(in)))
		in.AllTabs, in.Place.Tab = true, ""
		piece := htmlOf(t, NewDrawer(in).Pieces())["node-"+tab]
		if piece == "" || !strings.Contains(whole, piece) {
			t.Errorf("%s: the drawer does not hold the piece as it is sent", tab)
		}
	}
}
