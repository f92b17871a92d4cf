package views

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/views/diff"
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

func FuzzDiffTable(f *testing.F) {
	for _, text := range []string{smallDiff, "", "@@", "@@ -a +b @@\n\n+", "@@ -1 +1 @@\n-a <b> \"c\"\n+a <i> \"d\"\n\\ x\n"} {
		f.Add("a.html", text)
		f.Add("a.go", text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		c := &Changes{}
		file := c.file(&plan.FileDiff{Path: name, Diff: text})
		for _, split := range []bool{false, true} {
			out := render(t, diffTable(file, split))
			for _, tag := range []string{"table", "tbody", "colgroup", "col", "tr", "td", "span", "mark"} {
				out = tagPattern(tag).ReplaceAllString(out, "")
			}
			if strings.ContainsAny(out, "<>") {
				t.Errorf("text became markup: %s", out)
			}
		}
	})
}

func tagPattern(tag string) *regexp.Regexp {
	return regexp.MustCompile(`</?` + tag + `( (class="[a-z -]+"|dir="ltr"|colspan="4"))*>`)
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
		head, _, _ := diff.Parse(c.diff.Diff, 10)
		if d := cmp.Diff(c.want, changeWords(&c.diff, head)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
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
	if n := strings.Count(out, `data-testid="file-change"`); n != 2 {
		t.Errorf("%d files are shown, want the undeclared and the declared one", n)
	}
}

func TestLongDiffsAreCut(t *testing.T) {
	long := "@@ -0,0 +1,2000 @@\n" + strings.Repeat("+x\n", 2000)
	var diffs []plan.FileDiff
	for i := range 320 {
		diffs = append(diffs, plan.FileDiff{Path: fmt.Sprint("f", i), Kind: plan.DiffAdded, Declared: true, Added: 2000, Diff: long})
	}
	c := changed(nil, plan.Run{BaseTree: "t", EndTree: "u"}, diffs...).Changes
	lines := 0
	for _, f := range c.Files {
		lines += len(f.Lines)
	}
	if f := c.Files[0]; len(f.Lines) != mostLines || f.Hidden != 501 || f.Open || !strings.Contains(f.rest(), "501 more lines") {
		t.Errorf("%d lines, %d more, open %v", len(f.Lines), f.Hidden, f.Open)
	}
	if lines > mostPanel || c.Total != 320 || c.MoreFiles != 20 || c.Added != 640_000 {
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
