package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// contents returns all files below a folder but git's: what they hold and how they
// can be used.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Name() == ".git" {
			return filepath.SkipDir
		}
		name := strings.TrimPrefix(path, dir+"/")
		info, err := e.Info()
		switch {
		case err != nil || path == dir:
			return err
		case e.IsDir():
			out[name+"/"] = ""
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			out[name] = "-> " + to
			return err
		default:
			b, err := os.ReadFile(path)
			out[name] = fmt.Sprintf("%o %s", info.Mode().Perm(), b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func apply(r *Repo, w Worktree, tree Tree, o ApplyOptions) (Applied, error) {
	o.Result = tree
	return r.Apply(context.Background(), w.ID, o)
}

func TestApplyBringsEverythingBack(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	makeProject(t, dir)
	write(t, dir, map[string]string{"becomes/a/folder.txt": "x", "was-file": "f", "secret": "s"})
	if err := os.Chmod(dir+"/secret", 0o600); err != nil {
		t.Fatal(err)
	}
	w := worktreeOf(t, r, dir, "w")
	if err := errors.Join(os.RemoveAll(w.Dir+"/becomes"), os.Remove(w.Dir+"/was-file"), os.Remove(w.Dir+"/sub/s.txt"), os.Remove(w.Dir+"/link"),
		os.Symlink("b.txt", w.Dir+"/link"), os.Chmod(w.Dir+"/run.sh", 0o644)); err != nil {
		t.Fatal(err)
	}
	write(t, w.Dir, map[string]string{"a.txt": "all new\r\n", "bin": "\xff\x00\r\n", "deep/er/new": "n\n", "becomes": "a file now", "was-file/in": "a folder now", "secret": "t"})
	gitBefore := hashOf(t, dir+"/.git")
	tree, _ := collect(t, r, w)
	before := contents(t, dir)
	if _, ok := before["deep/"]; ok {
		t.Error("something landed before the step ended")
	}
	got, err := apply(r, w, tree, ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name, c := range before {
		want[name] = c
	}
	for _, name := range []string{"becomes/", "becomes/a/", "becomes/a/folder.txt", "sub/", "sub/s.txt", "was-file"} {
		delete(want, name)
	}
	for name, c := range map[string]string{"a.txt": "644 all new\r\n", "bin": "644 \xff\x00\r\n", "deep/": "", "deep/er/": "", "deep/er/new": "644 n\n", "becomes": "644 a file now",
		"was-file/": "", "was-file/in": "644 a folder now", "link": "-> b.txt", "run.sh": "644 #!/bin/sh\n", "secret": "600 t"} {
		want[name] = c
	}
	if d := cmp.Diff(want, contents(t, dir)); d != "" {
		t.Error(d)
	}
	if len(got.Files) != 11 || len(got.LeftOut) != 0 {
		t.Errorf("%+v", got)
	}
	if hashOf(t, dir+"/.git") != gitBefore {
		t.Error("the user's repository changed")
	}
	if again, err := apply(r, w, tree, ApplyOptions{}); err != nil || len(again.Files) != 11 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
}

func TestApplyMerges(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	makeProject(t, dir)
	w := worktreeOf(t, r, dir, "w")
	write(t, w.Dir, map[string]string{"a.txt": "ONE\n2\n3\n4\n5\n6\n7\n8\nnine\n", "crlf": "A\r\nb\r\n", "same": "s", "run.sh": "#!/bin/bash\n"})
	write(t, dir, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\nNINE\n", "same": "s", "untracked": "others change this\n"})
	if err := os.Chmod(dir+"/run.sh", 0o644); err != nil {
		t.Fatal(err)
	}
	tree, _ := collect(t, r, w)
	got, err := apply(r, w, tree, ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []AppliedFile{{"a.txt", plan.DiffChanged, true}, {"crlf", plan.DiffChanged, false}, {"run.sh", plan.DiffChanged, true}, {"same", plan.DiffAdded, false}}
	if d := cmp.Diff(want, got.Files); d != "" {
		t.Error(d)
	}
	c := contents(t, dir)
	for name, want := range map[string]string{"a.txt": "644 ONE\n2\n3\n4\n5\n6\n7\n8\nNINE\n", "crlf": "644 A\r\nb\r\n", "run.sh": "644 #!/bin/bash\n", "untracked": "644 others change this\n"} {
		if c[name] != want {
			t.Errorf("%s is %q, want %q", name, c[name], want)
		}
	}
}

func TestAConflictAppliesNothing(t *testing.T) {
	for _, tc := range []struct {
		name           string
		step, meantime map[string]string // "" removes
		want           []string
	}{
		{"the same lines", map[string]string{"a.txt": "X\n2\n3\n4\n5\n6\n7\n8\nnine\n", "bin": "\x00new"}, map[string]string{"a.txt": "Y\n2\n3\n4\n5\n6\n7\n8\nnine\n"}, []string{"a.txt"}},
		{"binary files", map[string]string{"bin": "\x00mine"}, map[string]string{"bin": "\x00theirs"}, []string{"bin"}},
		{"deleted there", map[string]string{"a.txt": "changed\n"}, map[string]string{"a.txt": ""}, []string{"a.txt"}},
		{"deleted here", map[string]string{"a.txt": "", "new": "n"}, map[string]string{"a.txt": "changed\n"}, []string{"a.txt"}},
		{"added by both", map[string]string{"new": "mine\n"}, map[string]string{"new": "theirs\n"}, []string{"new"}},
		{"a file where a folder is to be", map[string]string{"new/file": "mine\n"}, map[string]string{"new": "theirs\n"}, []string{"new/file"}},
		{"a folder where a file is to be", map[string]string{"new": "mine\n"}, map[string]string{"new/file": "theirs\n"}, []string{"new"}},
		{"an ignored file where one is to be", map[string]string{"out": "mine\n"}, nil, []string{"out"}},
		{"more in a folder that goes", map[string]string{"sub/s.txt": "", "sub": "a file"}, map[string]string{"sub/other": "theirs"}, []string{"sub"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, dir := openRepo(t, Options{}), t.TempDir()
			makeProject(t, dir)
			w := worktreeOf(t, r, dir, "w")
			edit(t, w.Dir, tc.step)
			edit(t, dir, tc.meantime)
			tree, _ := collect(t, r, w)
			before := hashOf(t, dir)
			_, err := apply(r, w, tree, ApplyOptions{})
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("%v is no conflict", err)
			}
			if d := cmp.Diff(tc.want, conflict.Files); d != "" {
				t.Error(d)
			}
			for _, part := range append(tc.want, "Nothing was applied", conflict.Patch) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not name %q", err, part)
				}
			}
			if hashOf(t, dir) != before {
				t.Error("something changed")
			}
			// The patch holds what the step did.
			clean := t.TempDir()
			makeProject(t, clean)
			if err := os.RemoveAll(clean + "/out"); err != nil { // git would not replace it
				t.Fatal(err)
			}
			git(t, clean, "apply", "--whitespace=nowarn", conflict.Patch)
			for name, text := range tc.step {
				if b, err := os.ReadFile(filepath.Join(clean, name)); text != "" && string(b) != text {
					t.Errorf("the patch makes %s %q (%v)", name, b, err)
				}
			}
		})
	}
}

// edit writes files, and removes those with no content.
func edit(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if text == "" {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Dir(filepath.Join(dir, name))) // if it is empty
		}
	}
	for name, text := range files {
		if text != "" {
			write(t, dir, map[string]string{name: text})
		}
	}
}

func TestApplyLeavesWhatIsNotTheSteps(t *testing.T) {
	r, dir := openRepo(t, Options{MaxFile: 1000}), t.TempDir()
	makeProject(t, dir)
	write(t, dir, map[string]string{"big": strings.Repeat("b", 2000)})
	w := worktreeOf(t, r, dir, "w")
	if exists(w.Dir + "/big") {
		t.Error("a file whose content is not kept is in the worktree")
	}
	write(t, w.Dir, map[string]string{"mine/a": "1", "theirs/b": "2", "both": "3", "nobodys": "4", "huge": strings.Repeat("h", 3000)})
	if err := errors.Join(os.Symlink("/etc/passwd", w.Dir+"/mine/.gitignore"), os.Remove(w.Dir+"/a.txt"), os.Mkdir(w.Dir+"/a.txt", 0o755)); err != nil {
		t.Fatal(err)
	}
	tree, _ := collect(t, r, w)
	o := ApplyOptions{Declared: []string{"mine", "both"}, Others: []string{"THEIRS", "both"}}
	got, err := apply(r, w, tree, o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range got.Files {
		names = append(names, f.Path)
	}
	if d := cmp.Diff([]string{"a.txt", "both", "mine/a", "nobodys"}, names); d != "" {
		t.Error(d)
	}
	var left []string
	for _, l := range got.LeftOut {
		left = append(left, l.Path)
	}
	if d := cmp.Diff([]string{"huge", "mine/.gitignore", "theirs/b"}, left); d != "" {
		t.Error(d)
	}
	if !exists(dir+"/big") || exists(dir+"/theirs") {
		t.Error("what is not the step's was touched")
	}
	o.DeclaredOnly = true
	if got, err = apply(r, w, tree, o); err != nil || len(got.Files) != 2 {
		t.Errorf("declared only: %+v, %v", got.Files, err)
	}
	if _, err := apply(r, w, w.Base, ApplyOptions{}); plan.KindOf(err) != plan.Invalid {
		t.Errorf("a tree that was not collected: %v", err)
	}
}

func TestApplyThroughALinkIsRefused(t *testing.T) {
	r, dir, outside := openRepo(t, Options{}), t.TempDir(), t.TempDir()
	makeProject(t, dir)
	write(t, outside, map[string]string{"s.txt": "s\n"})
	w := worktreeOf(t, r, dir, "w")
	write(t, w.Dir, map[string]string{"sub/s.txt": "changed\n", "sub/new": "n"})
	if err := errors.Join(os.RemoveAll(dir+"/sub"), os.Symlink(outside, dir+"/sub")); err != nil {
		t.Fatal(err)
	}
	tree, _ := collect(t, r, w)
	var conflict *ConflictError
	if _, err := apply(r, w, tree, ApplyOptions{}); !errors.As(err, &conflict) {
		t.Errorf("%v is no conflict", err)
	}
	if d := cmp.Diff(map[string]string{"s.txt": "644 s\n"}, contents(t, outside)); d != "" {
		t.Error(d)
	}
}

func TestTwoStepsChangeDifferentPartsOfAFile(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	makeProject(t, dir)
	a, b := worktreeOf(t, r, dir, "a"), worktreeOf(t, r, dir, "b")
	write(t, a.Dir, map[string]string{"a.txt": "A\n2\n3\n4\n5\n6\n7\n8\nnine\n"})
	write(t, b.Dir, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\nB\n"})
	var wg sync.WaitGroup
	for _, w := range []Worktree{a, b} {
		wg.Go(func() {
			tree, _ := collect(t, r, w)
			if _, err := apply(r, w, tree, ApplyOptions{}); err != nil {
				t.Error(err)
			}
			if c := diff(t, r, w.Base, tree); len(c.Files) != 1 || c.Files[0].Added != 1 {
				t.Errorf("the diff of %s has more than its own change: %+v", w.ID, c.Files)
			}
		})
	}
	wg.Wait()
	if got := contents(t, dir)["a.txt"]; got != "644 A\n2\n3\n4\n5\n6\n7\n8\nB\n" {
		t.Errorf("a.txt is %q", got)
	}
}
