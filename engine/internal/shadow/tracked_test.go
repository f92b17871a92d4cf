package shadow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryFormOfAnIndexIsRead(t *testing.T) {
	long := strings.Repeat("long/", 900) + "path"
	for _, tc := range []struct {
		name   string
		init   []string
		change func(t *testing.T, dir string)
		asked  bool // of git
	}{
		{"version 2", nil, func(t *testing.T, dir string) {}, false},
		{"version 3", nil, func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"intended": "x"})
			git(t, dir, "add", "--intent-to-add", "intended")
		}, false},
		{"version 4", nil, func(t *testing.T, dir string) { git(t, dir, "update-index", "--index-version", "4") }, false},
		{"in parts", nil, func(t *testing.T, dir string) {
			git(t, dir, "update-index", "--split-index")
			write(t, dir, map[string]string{"more": "x"})
			git(t, dir, "add", "more")
		}, true},
		{"without a sum", nil, func(t *testing.T, dir string) {
			path := filepath.Join(dir, ".git/index")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			clear(b[len(b)-20:])
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"sparse", nil, func(t *testing.T, dir string) {
			git(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "d1")
		}, false},
		{"SHA-256", []string{"--object-format=sha256"}, func(t *testing.T, dir string) {}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, dir := openRepo(t, Options{}), t.TempDir()
			git(t, dir, append([]string{"init", "-q"}, tc.init...)...)
			for i := range 30 {
				write(t, dir, map[string]string{fmt.Sprintf("d%d/file%d", i%3, i*i): "x"})
			}
			write(t, dir, map[string]string{"new\nline": "x", "é": "x"})
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-q", "-m", "x")
			tc.change(t, dir)
			if tc.name == "version 2" {
				blob := strings.TrimSpace(git(t, dir, "hash-object", "-w", "é"))
				git(t, dir, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+long)
			}
			p, ok := findProject(dir)
			if !ok {
				t.Fatal("no project")
			}
			data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parseIndex(data); (err != nil) != tc.asked {
				t.Errorf("read without git: %v", err)
			}
			before := hashOf(t, dir)
			got, err := r.readTracked(context.Background(), &p)
			if err != nil {
				t.Fatal(err)
			}
			if hashOf(t, dir) != before {
				t.Error("the index was touched")
			}
			want := strings.Split(strings.TrimSuffix(git(t, dir, "ls-files", "--sparse", "-z"), "\x00"), "\x00")
			if d := cmp.Diff(tracked(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestABrokenIndexIsReported(t *testing.T) {
	for name, breakIt := range map[string]func(path string) error{
		"nonsense": func(path string) error { return os.WriteFile(path, []byte("DIRC nonsense"), 0o644) },
		"a fifo":   func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := openRepo(t, Options{}), t.TempDir()
			gitInit(t, dir)
			write(t, dir, map[string]string{"a": "1"})
			if err := breakIt(dir + "/.git/index"); err != nil {
				t.Fatal(err)
			}
			tree, rep := snapReport(t, r, dir)
			if d := cmp.Diff([]string{"a"}, names(listed(t, r, tree))); d != "" {
				t.Error(d)
			}
			if len(rep.LeftOut) != 1 || rep.LeftOut[0].Path != ".git/index" {
				t.Errorf("%+v", rep)
			}
		})
	}
}

func TestFindProject(t *testing.T) {
	top := t.TempDir()
	gitInit(t, top)
	write(t, top, map[string]string{"a/f": "1", "empty/.git/": "", "broken/.git": "gitdir: /nowhere", "broken/sub/": ""})
	git(t, top, "add", "a")
	git(t, top, "commit", "-q", "-m", "x")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, top, "worktree", "add", "-q", linked)
	for dir, want := range map[string]project{
		top:                  {top, top + "/.git", top + "/.git"},
		top + "/a":           {top, top + "/.git", top + "/.git"},
		top + "/empty":       {top, top + "/.git", top + "/.git"},
		top + "/broken/sub":  {},
		linked + "/a":        {linked, top + "/.git/worktrees/linked", top + "/.git"},
		filepath.Dir(linked): {},
		t.TempDir():          {},
		filepath.Dir(top):    {},
	} {
		got, ok := findProject(dir)
		if got != want || ok != (want != project{}) {
			t.Errorf("%s: %+v, want %+v", dir, got, want)
		}
	}
}
