package shadow

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openRepo opens a data directory of its own.
func openRepo(t testing.TB, o Options) *Repo {
	t.Helper()
	r, err := Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// write makes files, and the folders that they need. A name that ends in a slash
// is a folder.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := dir + "/" + name
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func snap(t testing.TB, r *Repo, dir string, declared ...string) Tree {
	t.Helper()
	tree, _ := snapReport(t, r, dir, declared...)
	return tree
}

func snapReport(t testing.TB, r *Repo, dir string, declared ...string) (Tree, Report) {
	t.Helper()
	tree, rep, err := r.Snapshot(context.Background(), dir, SnapshotOptions{Declared: declared})
	if err != nil {
		t.Fatal(err)
	}
	return tree, rep
}

// git runs the real git as the user would, without the user's settings.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	var out, bad strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, bad.String())
	}
	return out.String()
}

// initOnce makes a repository with git, and returns what it consists of.
var initOnce = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("git", "init", "-q", "-b", "main", "--template=", dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w: %s", err, out)
	}
	return filesBelow(dir)
})

// filesBelow returns the files below a folder, and its folders with a slash.
func filesBelow(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if e.IsDir() {
			out[path[len(dir)+1:]+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		out[path[len(dir)+1:]] = string(b)
		return err
	})
	return out, err
}

// gitInit does what git init does, at the cost of a few files.
func gitInit(t testing.TB, dir string) {
	t.Helper()
	files, err := initOnce()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, files)
}

// listed returns what a tree has, as git reads it: path and mode.
func listed(t testing.TB, r *Repo, tree Tree) map[string]string {
	t.Helper()
	key, d, _, err := tree.parse()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	dir := filepath.Join(r.shadows(), key)
	for line := range strings.SplitSeq(strings.TrimSuffix(git(t, dir, "ls-tree", "-r", "-z", d.String()), "\x00"), "\x00") {
		if meta, path, ok := strings.Cut(line, "\t"); ok {
			out[path] = strings.Fields(meta)[0]
		}
	}
	return out
}

// content returns a file of a tree, as git reads it.
func content(t testing.TB, r *Repo, tree Tree, path string) string {
	t.Helper()
	key, d, _, err := tree.parse()
	if err != nil {
		t.Fatal(err)
	}
	return git(t, filepath.Join(r.shadows(), key), "cat-file", "blob", d.String()+":"+path)
}

func names(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func TestSnapshotTakesFilesAsTheyAre(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	files := map[string]string{
		"a.txt": "one\r\ntwo\r\n", "a/b.txt": "x", "a-b": "between a and a/", "empty": "", "id": "$Id$ $Id: old $",
		"latin1": "caf\xe9", "utf16": "\xff\xfea\x00", "deep/er/and/deeper": "d",
		".gitattributes": "* text=auto eol=lf ident working-tree-encoding=UTF-16 filter=evil\n",
	}
	write(t, dir, files)
	write(t, dir, map[string]string{"nothing/in/here/": ""})
	if err := os.Chmod(dir+"/a-b", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	tree, rep := snapReport(t, r, dir)
	want := map[string]string{"link": "120000"}
	for name := range files {
		want[name] = "100644"
	}
	want["a-b"] = "100755"
	if d := cmp.Diff(want, listed(t, r, tree)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Report{Files: 10}, rep); d != "" {
		t.Error(d)
	}
	for name, text := range files {
		if got := content(t, r, tree, name); got != text {
			t.Errorf("%s is %q, want %q", name, got, text)
		}
	}
	if got := content(t, r, tree, "link"); got != "../outside" {
		t.Errorf("the link is %q", got)
	}
	key, _, _, _ := tree.parse()
	git(t, filepath.Join(r.shadows(), key), "fsck", "--strict", "--no-dangling")
}

func TestSnapshotOfAnUnchangedTreeIsTheSame(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	write(t, dir, map[string]string{"a": "1", "b/c": "2"})
	first := snap(t, r, dir)
	if second := snap(t, r, dir); second != first {
		t.Errorf("%s then %s", first, second)
	}
	write(t, dir, map[string]string{"b/c": "3"}) // same size, perhaps the same tick
	third := snap(t, r, dir)
	if third == first {
		t.Error("a change of the same size was not seen")
	}
	write(t, dir, map[string]string{"b/c": "2"})
	if got := snap(t, r, dir); got != first {
		t.Errorf("changed back: %s, want %s", got, first)
	}
}
