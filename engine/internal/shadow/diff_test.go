package shadow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func diff(t testing.TB, r *Repo, from, to Tree, declared ...string) plan.Changes {
	t.Helper()
	c, err := r.Diff(context.Background(), from, to, declared)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDiff(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	write(t, dir, map[string]string{
		"src/changed.go": "one\r\ntwo\r\n$Id: x $\n", "src/gone": "a\nb\n", "src/same": "x", "run": "#!/bin/sh\n", "binary": "\x00\x01", "café": "caf\xe9\n",
		"becomes-link": "text\n", "other": "1\n", "src/last": "no newline",
	})
	before := snap(t, r, dir)
	write(t, dir, map[string]string{
		"src/changed.go": "one\r\nTWO\r\n$Id: x $\n", "src/new": "n\n", "binary": "\x00\x02", "café": "th\xe9\n", "other": "2\n", "src/empty": "", "src/last": "no newline\n",
	})
	for _, err := range []error{os.Remove(dir + "/src/gone"), os.Chmod(dir+"/run", 0o755), os.Remove(dir + "/becomes-link"), os.Symlink("x", dir+"/becomes-link")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := diff(t, r, before, snap(t, r, dir), "SRC", "run", "binary")
	want := []plan.FileDiff{
		{Path: "becomes-link", Kind: plan.DiffChanged, Added: 1, Removed: 1},
		{Path: "binary", Kind: plan.DiffChanged, Declared: true, Binary: true},
		{Path: "café", Kind: plan.DiffChanged, Added: 1, Removed: 1},
		{Path: "other", Kind: plan.DiffChanged, Added: 1, Removed: 1},
		{Path: "run", Kind: plan.DiffMode, Declared: true},
		{Path: "src/changed.go", Kind: plan.DiffChanged, Added: 1, Removed: 1, Declared: true},
		{Path: "src/empty", Kind: plan.DiffAdded, Declared: true},
		{Path: "src/gone", Kind: plan.DiffDeleted, Removed: 2, Declared: true},
		{Path: "src/last", Kind: plan.DiffChanged, Added: 1, Removed: 1, Declared: true},
		{Path: "src/new", Kind: plan.DiffAdded, Added: 1, Declared: true},
	}
	texts := map[string]string{}
	for i := range got.Files {
		texts[got.Files[i].Path], got.Files[i].Diff = got.Files[i].Diff, ""
	}
	if d := cmp.Diff(want, got.Files); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"becomes-link", "café", "other"}, got.Undeclared); d != "" {
		t.Error(d)
	}
	for path, part := range map[string]string{
		"src/changed.go": "--- a/src/changed.go\n+++ b/src/changed.go\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+TWO\r\n $Id: x $\n",
		"src/new":        "new file mode 100644", "src/gone": "deleted file mode 100644\n", "run": "old mode 100644\nnew mode 100755\n",
		"binary": "Binary files a/binary and b/binary differ\n", "café": "-caf\xe9\n+th\xe9\n", "src/last": "-no newline\n\\ No newline at end of file\n+no newline\n",
		"becomes-link": "new file mode 120000", "src/empty": "new file mode 100644",
	} {
		if !strings.HasPrefix(texts[path], "diff --git a/"+path+" b/"+path+"\n") || !strings.Contains(texts[path], part) {
			t.Errorf("%s:\n%q", path, texts[path])
		}
	}
}

func TestDiffOfTheSame(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	write(t, dir, map[string]string{"a": "1"})
	tree := snap(t, r, dir)
	if d := cmp.Diff(plan.Changes{}, diff(t, r, tree, tree)); d != "" {
		t.Error(d)
	}
}

func TestDiffIsCutAtALine(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	before := snap(t, r, dir)
	const lines = 40_000
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line number %d\n", i)
	}
	write(t, dir, map[string]string{"long": b.String(), "wide": strings.Repeat("x", 2*mostFileDiff) + "\n"})
	for _, f := range diff(t, r, before, snap(t, r, dir)).Files {
		if !f.Cut || len(f.Diff) > mostFileDiff || !strings.HasSuffix(f.Diff, "\n") {
			t.Errorf("%s: cut %v at %d bytes", f.Path, f.Cut, len(f.Diff))
		}
		if want := map[string]int{"long": lines, "wide": 1}[f.Path]; f.Added != want {
			t.Errorf("%s: %d lines added, want %d", f.Path, f.Added, want)
		}
	}
}

func TestUndeclaredNamesAreCounted(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	before := snap(t, r, dir)
	for i := range mostUndeclared + 7 {
		write(t, dir, map[string]string{fmt.Sprintf("n%03d", i): "x"})
	}
	got := diff(t, r, before, snap(t, r, dir), "n005")
	if len(got.Undeclared) != mostUndeclared || got.UndeclaredMore != 6 || len(got.Files) != mostUndeclared+7 {
		t.Errorf("%d names and %d more, %d files", len(got.Undeclared), got.UndeclaredMore, len(got.Files))
	}
}

func TestDiffRefusesWhatDoesNotBelongTogether(t *testing.T) {
	r, a, b := openRepo(t, Options{}), t.TempDir(), t.TempDir()
	treeA, treeB := snap(t, r, a), snap(t, r, b)
	for _, pair := range [][2]Tree{{treeA, treeB}, {treeA, ""}, {"x", treeA}, {treeA, "../../../../x:" + Tree(strings.Repeat("0", 40))}} {
		if _, err := r.Diff(context.Background(), pair[0], pair[1], nil); plan.KindOf(err) != plan.Invalid {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

func TestGitAppliesAPatch(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	old := map[string]string{"a": "1\n2\n", "bin": "\x00old", "gone": "x\n", "bad\xff": "1\n", "keep": "k\n"}
	write(t, dir, old)
	before := snap(t, r, dir)
	write(t, dir, map[string]string{"a": "1\r\n3\n", "bin": "\x00new", "bad\xff": "2\n", "sub/new": "n", "keep": "other\n"})
	os.Remove(dir + "/gone")
	after := snap(t, r, dir)
	var patch strings.Builder
	if err := r.Patch(context.Background(), &patch, before, after, func(path string) bool { return path != "keep" }); err != nil {
		t.Fatal(err)
	}
	target := t.TempDir()
	write(t, target, old)
	file := filepath.Join(t.TempDir(), "patch")
	if err := os.WriteFile(file, []byte(patch.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, target, "apply", file)
	write(t, dir, map[string]string{"keep": "k\n"})
	if a, b := names(listed(t, r, snap(t, r, dir))), names(listed(t, r, snap(t, r, target))); !cmp.Equal(a, b) {
		t.Error(cmp.Diff(a, b))
	}
	for _, name := range []string{"a", "bin", "bad\xff", "sub/new", "keep"} {
		x, _ := os.ReadFile(filepath.Join(dir, name))
		y, _ := os.ReadFile(filepath.Join(target, name))
		if string(x) != string(y) {
			t.Errorf("%s is %q, want %q", name, y, x)
		}
	}
}
