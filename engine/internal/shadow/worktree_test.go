package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// worktreeOf makes a worktree that goes when the test ends.
func worktreeOf(t testing.TB, r *Repo, dir, id string, declared ...string) Worktree {
	t.Helper()
	w, _, err := r.CreateWorktree(context.Background(), dir, WorktreeOptions{ID: id, Declared: declared})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.RemoveWorktree(id); err != nil {
			t.Error(err)
		}
	})
	return w
}

// committed is what makeProject has git commit.
var committed = map[string]string{".gitignore": "*.log\n/out/\n", "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "bin": "\x00\x01\r\n", "run.sh": "#!/bin/sh\n",
	"crlf": "a\r\nb\r\n", ".gitattributes": "* text=auto ident\ncrlf eol=lf\n", "id": "$Id$\n", "forced.log": "tracked all the same\n", "sub/s.txt": "s\n"}

// projectGit is the .git of a project, as git made it once.
var projectGit = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script := "git init -q -b main --template= && git -c core.autocrlf=false add -f . && git commit -q -m first && git tag v1 && mkdir -p .git/info"
	for name, text := range committed {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(dir+"/run.sh", 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return filesBelow(dir + "/.git")
})

// makeProject makes a repository with one commit and something of each kind beside it.
func makeProject(t testing.TB, dir string) {
	t.Helper()
	files, err := projectGit()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/.git", files)
	write(t, dir, committed)
	write(t, dir, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\nnine\n", "untracked": "u\n", "x.log": "ignored\n", "out/o": "ignored\n", ".git/info/exclude": "*.tmp\n", "y.tmp": "ignored"})
	if err := errors.Join(os.Chmod(dir+"/run.sh", 0o755), os.Symlink("a.txt", dir+"/link")); err != nil {
		t.Fatal(err)
	}
}

func TestAWorktreeHasTheTreeAsItIs(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	makeProject(t, dir)
	before := hashOf(t, dir)
	w := worktreeOf(t, r, dir, "3.2-1")
	if got := hashOf(t, dir); got != before {
		t.Error("making a worktree changed the project")
	}
	if out := git(t, w.Dir, "status", "--porcelain", "--ignored"); out != "" {
		t.Errorf("git status is not clean:\n%s", out)
	}
	if err := os.Remove(filepath.Join(w.Dir, ".git/index")); err != nil {
		t.Fatal(err)
	}
	git(t, w.Dir, "reset", "-q") // reads all files again
	if out := git(t, w.Dir, "status", "--porcelain"); out != "" {
		t.Errorf("git status is not clean once all is read:\n%s", out)
	}
	if a, b := git(t, dir, "rev-parse", "HEAD"), git(t, w.Dir, "rev-parse", "HEAD^"); a != b {
		t.Errorf("the parent is %s, want %s", b, a)
	}
	git(t, w.Dir, "fsck", "--strict")
	if out := git(t, w.Dir, "log", "--format=%s", "main", "v1"); out != "first\n" {
		t.Errorf("the branches of the project: %q", out)
	}
	for _, name := range []string{".gitignore", "a.txt", "bin", "run.sh", "crlf", "id", "forced.log", "sub/s.txt", "untracked"} {
		want, _ := os.ReadFile(filepath.Join(dir, name))
		got, err := os.ReadFile(filepath.Join(w.Dir, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %q (%v), want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"x.log", "out", "y.tmp"} {
		if exists(filepath.Join(w.Dir, name)) {
			t.Errorf("%s is there, though it is ignored", name)
		}
	}
	if to, err := os.Readlink(filepath.Join(w.Dir, "link")); err != nil || to != "a.txt" {
		t.Errorf("link: %q, %v", to, err)
	}
	if info, err := os.Stat(filepath.Join(w.Dir, "run.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("run.sh cannot be run: %v", err)
	}
	if filepath.Base(w.Root) != filepath.Base(dir) {
		t.Errorf("the copy of %s is called %s", dir, w.Root)
	}
}

func TestCollect(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	makeProject(t, dir)
	w := worktreeOf(t, r, dir, "c", "x.log")
	if d := cmp.Diff(plan.Changes{}, collected(t, r, w)); d != "" {
		t.Error(d)
	}
	write(t, w.Dir, map[string]string{"a.txt": "changed\n", "new": "n\n", "forced.log": "changed\n", "y.log": "ignored\n", "z.tmp": "ignored", "x.log": "declared\n",
		".gitignore": "*\n", ".git/config": "[core]\n\tfsmonitor = false\n\tworktree = /\n", ".git/info/exclude": "new\n"})
	for _, err := range []error{os.Remove(w.Dir + "/bin"), os.Remove(w.Dir + "/.git/index"), os.Remove(w.Dir + "/.git/HEAD")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range collected(t, r, w, "x.log").Files {
		got = append(got, string(f.Kind)+" "+f.Path)
	}
	want := []string{"changed .gitignore", "changed a.txt", "deleted bin", "changed forced.log", "changed x.log"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// collected returns what changed in a worktree.
func collected(t testing.TB, r *Repo, w Worktree, declared ...string) plan.Changes {
	t.Helper()
	tree, _ := collect(t, r, w, declared...)
	return diff(t, r, w.Base, tree, declared...)
}

func collect(t testing.TB, r *Repo, w Worktree, declared ...string) (Tree, Report) {
	t.Helper()
	tree, rep, err := r.Collect(context.Background(), w.ID, declared)
	if err != nil {
		t.Fatal(err)
	}
	return tree, rep
}

func TestAWorktreeOfAFolderInARepository(t *testing.T) {
	r, top := openRepo(t, Options{}), t.TempDir()
	makeProject(t, top)
	w := worktreeOf(t, r, filepath.Join(top, "sub"), "s")
	if w.Dir != filepath.Join(w.Root, "sub") || !exists(w.Root+"/a.txt") || !exists(w.Dir+"/s.txt") {
		t.Errorf("%+v does not hold the project", w)
	}
	write(t, w.Dir, map[string]string{"s.txt": "changed\n", "../a.txt": "changed\n"})
	tree, rep := collect(t, r, w)
	if d := cmp.Diff([]LeftOut{{"a.txt", "it lies outside of the working directory"}}, rep.LeftOut); d != "" {
		t.Error(d)
	}
	c := diff(t, r, w.Base, tree, "s.txt")
	if len(c.Files) != 1 || c.Files[0].Path != "s.txt" {
		t.Errorf("%+v", c.Files)
	}
}

func TestWhereNoWorktreeCanBeMade(t *testing.T) {
	r, dir, ctx := openRepo(t, Options{}), t.TempDir(), context.Background()
	err := r.CanIsolate(dir)
	if plan.KindOf(err) != plan.Invalid || !strings.Contains(err.Error(), "git repository") {
		t.Errorf("no repository: %v", err)
	}
	if _, _, err := r.CreateWorktree(ctx, dir, WorktreeOptions{ID: "x"}); plan.KindOf(err) != plan.Invalid {
		t.Errorf("no repository: %v", err)
	}
	gitInit(t, dir)
	for _, id := range []string{"", "..", "a/b", ".x", "a..b", "x\n", strings.Repeat("x", 101)} {
		if _, _, err := r.CreateWorktree(ctx, dir, WorktreeOptions{ID: id}); plan.KindOf(err) != plan.Invalid {
			t.Errorf("id %q: %v", id, err)
		}
	}
	w := worktreeOf(t, r, dir, "empty") // no commit yet, and no file
	git(t, w.Dir, "fsck", "--strict")
	if out := git(t, w.Dir, "log", "--format=%P"); strings.TrimSpace(out) != "" {
		t.Errorf("a first commit has the parent %s", out)
	}
	if _, _, err := r.CreateWorktree(ctx, dir, WorktreeOptions{ID: "empty"}); plan.KindOf(err) != plan.Conflict {
		t.Errorf("the same id twice: %v", err)
	}
	if !exists(w.Dir) {
		t.Error("the second attempt removed the worktree")
	}
	sha256 := t.TempDir()
	git(t, sha256, "init", "-q", "--object-format=sha256")
	if err := r.CanIsolate(sha256); plan.KindOf(err) != plan.Unavailable {
		t.Errorf("SHA-256: %v", err)
	}
}

func TestOnlyWorktreesAreRemoved(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	gitInit(t, dir)
	if err := r.RemoveWorktree("none"); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
	write(t, r.data, map[string]string{"worktrees/users/file": "mine"})
	if err := r.RemoveWorktree("users"); err == nil || !exists(r.data+"/worktrees/users/file") {
		t.Errorf("a folder of the user's: %v", err)
	}
	if _, err := r.OpenWorktree("users"); plan.KindOf(err) != plan.NotFound {
		t.Errorf("a folder of the user's opens: %v", err)
	}
	w := worktreeOf(t, r, dir, "w")
	write(t, w.Dir, map[string]string{"shut/in/f": "x"})
	for _, d := range []string{"shut/in", "shut"} {
		if err := os.Chmod(filepath.Join(w.Dir, d), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, w.Dir+"/link"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"mine": "x"})
	if err := r.RemoveWorktree("w"); err != nil || exists(w.Root) || !exists(dir+"/mine") {
		t.Errorf("removed: %v", err)
	}
}
