package diff

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const small = `diff --git a/a.go b/a.go
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
	_, lines, more := Parse(small, 100)
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%c %d %d %s", l.Class, l.Old, l.New, l.Text))
	}
	want := []string{"@ 0 0 @@ -3,3 +4,4 @@ func a() {", "  3 4 same", "- 4 0 -- old", "+ 0 5 ++ new", "+ 0 6 more", "  5 7 end",
		"\\ 0 0 No newline at end of file", "@ 0 0 @@ -20 +22 @@", "- 20 0 x", "+ 0 22 y"}
	if diff := cmp.Diff(want, got); diff != "" || more != 0 {
		t.Errorf("%d more; -want +got:\n%s", more, diff)
	}
	if _, lines, more := Parse(small, 4); len(lines) != 4 || more != 6 {
		t.Errorf("cut at 4: %d lines and %d more", len(lines), more)
	}
	_, lines, _ = Parse("@@ -1 +1 @@\n+"+strings.Repeat("x", MostBytes+7), 9)
	if l := lines[1]; len(l.Text) != MostBytes || l.More != 7 {
		t.Errorf("a long line: %d bytes and %d more", len(l.Text), l.More)
	}
}

func TestModesAreRead(t *testing.T) {
	h, _, _ := Parse("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", 1)
	if h != (Head{"100644", "100755"}) {
		t.Errorf("got %+v", h)
	}
}

// marked shows the marks of replaced lines in brackets.
func marked(old, new string) string {
	_, lines, _ := Parse("@@ -1 +1 @@\n-"+old+"\n+"+new+"\n", 9)
	Mark(lines)
	var out []string
	for _, l := range lines[1:] {
		text, at := "", 0
		for _, m := range l.Marks {
			text += l.Text[at:m.Start] + "[" + l.Text[m.Start:m.End] + "]"
			at = m.End
		}
		out = append(out, text+l.Text[at:])
	}
	return strings.Join(out, " → ")
}

func TestChangedWordsAreMarked(t *testing.T) {
	for _, c := range [][3]string{
		{"a := first(x, y)", "a := second(x, y)", "a := [first](x, y) → a := [second](x, y)"},
		{"return nil", "return nil, err", "return nil → return nil[, err]"},
		{"the old grey wolf sleeps here", "the new red wolf sleeps here", "the [old grey] wolf sleeps here → the [new red] wolf sleeps here"},
		{"f(a, b, c)", "f(a, c)", "f(a, [b, ]c) → f(a, c)"},
		{"größe := 1", "größe := 2", "größe := [1] → größe := [2]"},
		{"\tx", "\t\tx", "[\t]x → [\t\t]x"},
		{"one thing", "quite another matter", "one thing → quite another matter"},
		{"", "x", " → x"},
	} {
		if got := marked(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// TestHostileLinesCostLittle would take hours if all words were compared.
func TestHostileLinesCostLittle(t *testing.T) {
	var b strings.Builder
	b.WriteString("@@ -1,20000 +1,20000 @@\n")
	for _, sign := range []string{"-", "+"} {
		for i := range 20_000 {
			fmt.Fprintf(&b, "%s%s%s%d\n", sign, sign, strings.Repeat("a,"+sign, 30), i)
		}
	}
	_, lines, _ := Parse(b.String(), 1<<20)
	Mark(lines)
	if last := lines[len(lines)-1]; len(lines) != 40_001 || len(last.Marks) > 1 {
		t.Errorf("%d lines; of the last, which has had its turn when the work was used up, %v is marked", len(lines), last.Marks)
	}
	if got := marked(strings.Repeat("a,", 900)+"x", "y"+strings.Repeat("b,a,", 400)); strings.Contains(got, "[") {
		t.Errorf("lines that have nothing in common at their ends are marked: %.60s", got)
	}
}

func TestLinesStandSideBySide(t *testing.T) {
	_, lines, _ := Parse("@@ -1,4 +1,5 @@\n same\n-a\n-b\n+A\n\\ No newline at end of file\n+B\n+C\n end\n+tail\n", 99)
	side := func(i int) string {
		if i < 0 {
			return ""
		}
		return string(lines[i].Class) + lines[i].Text
	}
	var got []string
	for _, r := range Rows(lines) {
		got = append(got, side(r.Left)+" | "+side(r.Right))
	}
	want := []string{"@@@ -1,4 +1,5 @@ | @@@ -1,4 +1,5 @@", " same |  same", "-a | +A", `-b | \No newline at end of file`, " | +B", " | +C", " end |  end", " | +tail"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func FuzzDiff(f *testing.F) {
	for _, text := range []string{small, "", "@@", "@@ -a +b @@\n\n+", "@@ -9999999999999999999,1 +1 @@\n-\xff\n", "old mode 100644\nnew mode 100755\n", "@@\n-a b\n+a c\n\\ x\n\\\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, few, more := Parse(text, 3)
		_, all, none := Parse(text, 1<<30)
		if len(few)+more != len(all) || none != 0 {
			t.Errorf("%d lines and %d more, of %d", len(few), more, len(all))
		}
		Mark(all)
		seen := make([]bool, len(all))
		for _, r := range Rows(all) {
			for _, i := range []int{r.Left, r.Right} {
				if i >= 0 {
					seen[i] = true
				}
			}
		}
		for i, l := range all {
			at := 0
			for _, m := range l.Marks {
				if m.Start < at || m.End <= m.Start || m.End > len(l.Text) || !utf8.ValidString(l.Text[m.Start:m.End]) {
					t.Errorf("line %d has the mark %v of %q", i, m, l.Text)
				}
				at = m.End
			}
			if !seen[i] || !utf8.ValidString(l.Text) {
				t.Errorf("line %d %q is in no row, or no UTF-8", i, l.Text)
			}
		}
	})
}

func BenchmarkMark(b *testing.B) {
	var text strings.Builder
	text.WriteString("@@ -1,2500 +1,2500 @@\n")
	for i := range 2500 {
		fmt.Fprintf(&text, "-\tresult := compute(first%d, second, third) // as before\n+\tresult, err := compute(ctx, first%d, second) // as it is now\n", i, i)
	}
	for b.Loop() {
		_, lines, _ := Parse(text.String(), 5001)
		Mark(lines)
	}
}
