package shadow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// hashOf sums up everything below a folder: names, modes, contents, links, times.
func hashOf(t testing.TB, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %v %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() && info.Size() < 1<<20 {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h.Write(b)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%q\n", to)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// trapped makes a repository that runs a program, in every way that git knows,
// when somebody careless looks at it. The program makes the canary.
func trapped(t testing.TB, dir string) (canary string) {
	t.Helper()
	canary = filepath.Join(t.TempDir(), "canary")
	trap := filepath.Join(t.TempDir(), "trap")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\ntouch '"+canary+"'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	gitInit(t, dir)
	write(t, dir, map[string]string{"code.go": "package a\n", "secret.bin": "\x00\x01", ".git/hooks/": ""})
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "first")
	git(t, dir, "update-index", "--split-index") // a form of which git itself must be asked
	write(t, dir, map[string]string{".gitattributes": "* filter=evil diff=evil merge=evil text eol=crlf ident\n*.bin diff=evil\n"})
	for _, s := range []string{"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "filter.evil.clean", "filter.evil.smudge",
		"filter.evil.process", "diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "gpg.program", "core.gitProxy",
		"credential.helper", "core.alternateRefsCommand", "uploadpack.packObjectsHook", "interactive.diffFilter"} {
		git(t, dir, "config", s, trap)
	}
	git(t, dir, "config", "filter.evil.required", "true")
	for _, hook := range []string{"pre-commit", "post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc",
		"post-commit", "post-merge", "post-rewrite", "prepare-commit-msg", "commit-msg", "applypatch-msg"} {
		if err := os.Symlink(trap, filepath.Join(dir, ".git/hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	return canary
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestNothingOfATreeIsRunAndNothingOfItChanges(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	canary := trapped(t, dir)
	for _, name := range []string{".git", "sub/.git", "sub/hooks"} {
		write(t, dir, map[string]string{name + "/x": "x"})
	}
	_ = os.Remove(canary)
	before := hashOf(t, dir)
	first := snap(t, r, dir)
	if got := hashOf(t, dir); got != before {
		t.Error("a snapshot changed something")
	}
	write(t, dir, map[string]string{"code.go": "package b\n", "secret.bin": "\x00\x02", ".gitattributes": "* diff=evil\n"})
	before = hashOf(t, dir)
	changes, err := r.Diff(context.Background(), first, snap(t, r, dir), []string{"code.go"})
	if err != nil {
		t.Fatal(err)
	}
	if len(changes.Files) != 3 {
		t.Errorf("%d files changed, want 3", len(changes.Files))
	}
	if got := hashOf(t, dir); got != before {
		t.Error("a diff changed something")
	}
	if exists(canary) {
		t.Error("something in the tree was run")
	}
}

func TestHostileNamesAndKinds(t *testing.T) {
	r, dir := openRepo(t, Options{MaxFile: 1 << 20}), t.TempDir()
	long := strings.Repeat("x", 255)
	files := map[string]string{
		"new\nline": "1", "tab\tand\"quote\\": "2", "bad\xff\xfe": "3", long: "4", "Case": "5", "case": "6", "CASE/a": "7", " lead": "8", "trail ": "9",
		"-rf": "10", "$(touch x)": "11", "sub/.gitmodules/x": "12", "COM1": "13", "a:b": "14", "git~2": "15", "é": "16", "e\u0301": "17",
	}
	write(t, dir, files)
	lost := map[string]string{".GIT/config": "x", "git~1/config": "x", ".g\u200cit/config": "x", ".git /x": "x", "in/.Git": "gitdir: /nowhere"}
	write(t, dir, lost)
	write(t, dir, map[string]string{"embedded/.git/HEAD": "ref: refs/heads/main", "embedded/f": "e", "linked/.git": "gitdir: ../..", "linked/f": "l"})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink("/etc/passwd", dir+"/.gitmodules"))
	must(os.Symlink("..", dir+"/loop"))
	must(syscall.Mkfifo(dir+"/.gitignore", 0o644)) // git itself would wait here for ever
	must(syscall.Mkfifo(dir+"/fifo", 0o644))
	must(os.WriteFile(dir+"/sparse", nil, 0o644))
	must(os.Truncate(dir+"/sparse", 2<<30))
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must(err)
	defer l.Close()

	first, rep := snapReport(t, r, dir)
	want := map[string]string{".gitmodules": "120000", "loop": "120000", "sparse": "100644", "embedded/f": "100644", "linked/f": "100644"}
	for name := range files {
		want[name] = "100644"
	}
	if d := cmp.Diff(want, listed(t, r, first)); d != "" {
		t.Error(d)
	}
	var left []string
	for _, l := range rep.LeftOut {
		left = append(left, l.Path)
	}
	wantLeft := []string{".GIT", ".git ", ".gitignore", ".g\u200cit", "embedded/.git", "fifo", "git~1", "in/.Git", "linked/.git", "socket", "sparse"}
	if d := cmp.Diff(wantLeft, left); d != "" {
		t.Error(d)
	}
	key, _, _, _ := first.parse()
	packs, err := filepath.Glob(filepath.Join(r.shadows(), key, "objects/pack/*.idx"))
	must(err)
	git(t, dir, append([]string{"verify-pack"}, packs...)...)

	// What was not kept is seen to change all the same.
	write(t, dir, map[string]string{"new\nline": "one", "bad\xff\xfe": "three", "tab\tand\"quote\\": "two", long: "four"})
	must(os.Truncate(dir+"/sparse", 3<<30))
	changes, err := r.Diff(context.Background(), first, snap(t, r, dir), []string{"sparse"})
	must(err)
	got := map[string]string{}
	for _, f := range changes.Files {
		got[f.Path] = fmt.Sprintf("%s %v %d %d %v", f.Kind, f.Declared, f.Added, f.Removed, f.Note != "")
	}
	wantDiff := map[string]string{`"new\nline"`: "changed false 1 1 false", `"bad\377\376"`: "changed false 1 1 false", `"tab\tand\"quote\\"`: "changed false 1 1 false",
		long: "changed false 1 1 false", "sparse": "changed true 0 0 true"}
	if d := cmp.Diff(wantDiff, got); d != "" {
		t.Error(d)
	}
	for _, f := range changes.Files {
		if strings.Contains(f.Path, "bad") && !strings.Contains(f.Diff, `--- "a/bad\377\376"`) {
			t.Errorf("the header of an invalid name is not quoted:\n%s", f.Diff)
		}
	}
}

func TestRepositoriesInATree(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	write(t, dir, map[string]string{"with/a": "1", "with/sub/b": "2", "without/c": "3"})
	for _, name := range []string{"with", "without"} {
		gitInit(t, dir+"/"+name)
	}
	git(t, dir+"/with", "add", ".")
	git(t, dir+"/with", "commit", "-q", "-m", "x")
	gitInit(t, dir)
	git(t, dir, "add", "with") // a gitlink
	if d := cmp.Diff([]string{"with/a", "with/sub/b", "without/c"}, names(listed(t, r, snap(t, r, dir)))); d != "" {
		t.Error(d)
	}
}

// TestUnreadable runs itself as a user who may not read everything.
func TestUnreadable(t *testing.T) {
	if os.Getenv("SHADOW_UNREADABLE") == "" && os.Getuid() == 0 {
		dir, err := os.MkdirTemp("", "unreadable")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		program := filepath.Join(dir, "test")
		own, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			t.Skip("no way to run this test as another user: ", err)
		}
		if err := os.WriteFile(program, own, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-test.run=^TestUnreadable$", "-test.v")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "SHADOW_UNREADABLE=1", "TMPDIR="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("SKIP")) {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	r, dir := openRepo(t, Options{}), t.TempDir()
	write(t, dir, map[string]string{"open": "1", "shut": "2", "folder/a": "3"})
	first := snap(t, r, dir)
	chmod := func(name string, mode uint32) {
		if err := unix.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod("shut", 0)
	chmod("folder", 0)
	defer chmod("folder", 0o755)
	second, rep := snapReport(t, r, dir)
	want := []LeftOut{{"folder", "no permission to read it"}, {"shut", "no permission to read it"}}
	if d := cmp.Diff(want, rep.LeftOut); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"folder/a", "open", "shut"}, names(listed(t, r, second))); d != "" {
		t.Error(d)
	}
	changes, err := r.Diff(context.Background(), first, second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"shut"}, changes.Undeclared); d != "" {
		t.Error(d)
	}
}
