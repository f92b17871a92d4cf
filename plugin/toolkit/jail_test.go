package toolkit

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestPathsThatLeaveAreRefused(t *testing.T) {
	outside := t.TempDir()
	plant(t, outside, tree{"secret.txt": "the secret\n", "dir/x.txt": "x\n"})
	k, dir := newKit(t, tree{
		"in.txt":      "in\n",
		"sub/a.txt":   "a\n",
		"up":          "-> ..",
		"file":        "-> " + filepath.Join(outside, "secret.txt"),
		"folder":      "-> " + outside,
		"sub/climb":   "-> ../../" + filepath.Base(outside),
		"chain":       "-> chain2",
		"chain2":      "-> folder/secret.txt",
		"loop":        "-> loop2",
		"loop2":       "-> loop",
		"sub/missing": "-> " + filepath.Join(outside, "new.txt"),
	})
	for _, p := range []string{
		"..", "../x", "sub/../../x", "/etc/passwd", filepath.Join(outside, "secret.txt"), dir + "/../x", dir + "x",
		"up/x", "file", "folder", "folder/secret.txt", "folder/dir/x.txt", "sub/climb/secret.txt", "chain", "loop", "sub/missing", "in.txt\x00",
	} {
		t.Run(p, func(t *testing.T) {
			wantErr(t, k, "read_file", m{"path": p})
			wantErr(t, k, "write_file", m{"path": p, "content": "overwritten"})
			wantErr(t, k, "edit_file", m{"path": p, "old_string": "secret", "new_string": "x"})
			wantErr(t, k, "list_dir", m{"path": p})
			wantErr(t, k, "grep", m{"pattern": "secret", "path": p})
		})
	}
	if got := content(t, outside, "secret.txt"); got != "the secret\n" {
		t.Errorf("the outside file is now %q", got)
	}
	if _, err := os.Lstat(filepath.Join(outside, "new.txt")); err == nil {
		t.Error("a file was made outside through a dangling link")
	}
	for _, tool := range []string{"glob", "grep"} {
		if text, _ := call(t, k, tool, m{"pattern": "**/*secret*"}); strings.Contains(text, "secret.txt") {
			t.Errorf("%s walked out: %s", tool, text)
		}
	}
}

func TestTheMessageOfARefusalSaysWhichRule(t *testing.T) {
	k, dir := newKit(t, tree{"out": "-> /etc"})
	wantErr(t, k, "read_file", m{"path": "../x"}, "../x", "outside the working directory", dir)
	wantErr(t, k, "read_file", m{"path": "out/passwd"}, "out/passwd", "a link that leads out")
	wantErr(t, k, "read_file", m{"path": "nothing"}, "nothing", "no such file")
}

func TestLinksThatStayAreFollowed(t *testing.T) {
	k, dir := newKit(t, tree{
		"real/a.txt": "a\n",
		"link.txt":   "-> real/a.txt",
		"dir":        "-> real",
		"real/up":    "-> ../real",
		"dir2":       "-> ./dir/up/../real",
	})
	must(t, os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "absolute")))
	must(t, os.Symlink(filepath.Join(dir, "real", "a.txt"), filepath.Join(dir, "real", "self")))
	for _, p := range []string{"link.txt", "dir/a.txt", "dir/up/up/a.txt", "dir2/a.txt", "dir/../real/a.txt", dir + "/link.txt", "absolute/a.txt", "real/self", ".//real/./a.txt"} {
		if text := wantOK(t, k, "read_file", m{"path": p}); text != "     1\ta" {
			t.Errorf("%s: %q", p, text)
		}
	}
	wantOK(t, k, "write_file", m{"path": "link.txt", "content": "b\n"})
	if got := content(t, dir, "real/a.txt"); got != "b\n" {
		t.Errorf("through the link: %q", got)
	}
	if info, err := os.Lstat(filepath.Join(dir, "link.txt")); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
}

func TestTheWorkingDirectoryMayBeALinkItself(t *testing.T) {
	real := t.TempDir()
	plant(t, real, tree{"a.txt": "a\n"})
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(real, link))
	k, _ := newKit(t, nil, func(c *Config) { c.WorkDir = link })
	for _, p := range []string{"a.txt", filepath.Join(link, "a.txt"), filepath.Join(real, "a.txt")} {
		wantOK(t, k, "read_file", m{"path": p})
	}
}

func TestGitsFilesAreNotWritten(t *testing.T) {
	k, dir := newKit(t, tree{
		".git/config":         "[core]\n",
		"sub/.git/hooks/":     "",
		"g":                   "-> .git",
		"hook":                "-> .git/hooks/pre-commit",
		"sub/gitdir":          "-> ../.git",
		".gitignore":          "x\n",
		".github/workflow.ym": "x\n",
	})
	for _, p := range []string{
		".git/config", ".git", "./.git/hooks/x", ".GIT/config", ".Git/config", ".git./config", ".git /config", ".git::$INDEX_ALLOCATION/config",
		"git~1/config", "GIT~1/config", ".g\u200cit/config", "sub/.git/hooks/post-checkout", "g/config", "hook", "sub/gitdir/config", "x/../.git/config", dir + "/.git/config",
	} {
		wantErr(t, k, "write_file", m{"path": p, "content": "x"}, "git")
		wantErr(t, k, "edit_file", m{"path": p, "old_string": "core", "new_string": "x"}, "git")
	}
	wantOK(t, k, "read_file", m{"path": ".git/config"})
	for _, p := range []string{".gitignore", ".github/workflow.ym", "git", ".gitx/a", "a.git/b"} {
		wantOK(t, k, "write_file", m{"path": p, "content": "x"})
	}
	if got := content(t, dir, ".git/config"); got != "[core]\n" {
		t.Errorf(".git/config is now %q", got)
	}
}

func TestWritesAreLimitedToTheDeclaredPaths(t *testing.T) {
	files := tree{
		"src/a.go": "package a\n", "other.go": "package b\n", "docs/guide.md": "guide\n",
		"sneaky.go": "-> other.go", "docs/code.md": "-> ../other.go", "here": "-> src",
	}
	k, dir := newKit(t, files, limitedTo("src/a.go", `docs\`, "New.txt"))
	for _, p := range []string{"src/a.go", "SRC/../src/a.go", "docs/guide.md", "docs/deep/er/x.md", "new.TXT", "here/a.go"} {
		wantOK(t, k, "write_file", m{"path": p, "content": "package a // new\n"})
	}
	for _, p := range []string{"other.go", "src/b.go", "src", "docs.md", "docsx/a", "sneaky.go", "docs/code.md", "docs/../other.go", `docs\x.md`} {
		wantErr(t, k, "write_file", m{"path": p, "content": "x"}, "may write only src/a.go, docs, New.txt")
	}
	wantErr(t, k, "edit_file", m{"path": "docs/code.md", "old_string": "b", "new_string": "x"}, "docs/code.md (which is other.go)")
	if got := content(t, dir, "other.go"); got != "package b\n" {
		t.Errorf("other.go is now %q", got)
	}
	wantOK(t, k, "read_file", m{"path": "other.go"})
}

func TestDesignStepsWriteDocumentsOnly(t *testing.T) {
	k, _ := newKit(t, tree{"docs/note.md": "-> run.sh", "docs/run.sh": "x\n"}, func(c *Config) { c.TaskType, c.Writable = "design", []string{"docs"} })
	for _, p := range []string{"docs/a.md", "docs/b.TXT", "docs/c.rst", "docs/d.adoc", "docs/e.svg", "docs/f.mermaid"} {
		wantOK(t, k, "write_file", m{"path": p, "content": "x"})
	}
	for _, p := range []string{"docs/a.py", "docs/Makefile", "docs/x.md.sh", "docs/note.md"} {
		wantErr(t, k, "write_file", m{"path": p, "content": "x"}, "documents only")
	}
	wantErr(t, k, "write_file", m{"path": "README.md", "content": "x"}, "may write only docs")
}

// swap replaces a directory by a link at the moment between look and open.
func swapOnce(t *testing.T, k *Kit, victim, target string) {
	var once sync.Once
	k.jail.between = func() {
		once.Do(func() {
			must(t, os.Rename(victim, victim+".away"))
			must(t, os.Symlink(target, victim))
		})
	}
}

func TestALinkSwappedInDuringTheCallIsNotFollowed(t *testing.T) {
	calls := map[string]m{
		"read_file":  {"path": "d/a.txt"},
		"write_file": {"path": "d/a.txt", "content": "overwritten"},
		"edit_file":  {"path": "d/a.txt", "old_string": "secret", "new_string": "x"},
		"list_dir":   {"path": "d"},
		"grep":       {"pattern": "secret", "path": "d"},
	}
	for _, where := range []string{"outside", "inside"} {
		for tool, arguments := range calls {
			t.Run(where+" "+tool, func(t *testing.T) {
				k, dir := newKit(t, tree{"d/a.txt": "harmless\n", "hidden/a.txt": "secret\n"})
				target, link := filepath.Join(dir, "hidden"), "hidden"
				if where == "outside" {
					target = t.TempDir()
					link = target
					plant(t, target, tree{"a.txt": "secret\n"})
				}
				swapOnce(t, k, filepath.Join(dir, "d"), link)
				text, isErr := call(t, k, tool, arguments)
				if !isErr || strings.Contains(text, "secret") {
					t.Errorf("not refused: %q", text)
				}
				if got := content(t, target, "a.txt"); got != "secret\n" {
					t.Errorf("the file behind the link is now %q", got)
				}
			})
		}
	}
}

func TestAFileSwappedForALinkDuringTheCallIsNotFollowed(t *testing.T) {
	for _, tool := range []string{"read_file", "grep"} {
		k, dir := newKit(t, tree{"a.txt": "harmless\n", "hidden/b.txt": "secret\n"})
		swapOnce(t, k, filepath.Join(dir, "a.txt"), "hidden/b.txt")
		arguments := m{"path": "a.txt"}
		if tool == "grep" {
			arguments["pattern"] = "."
		}
		if text, isErr := call(t, k, tool, arguments); !isErr || strings.Contains(text, "secret") {
			t.Errorf("%s: not refused: %q", tool, text)
		}
	}
}

func TestAWriteReplacesALinkSwappedInRatherThanItsTarget(t *testing.T) {
	k, dir := newKit(t, tree{"a.txt": "harmless\n", ".git/config": "[core]\n"})
	swapOnce(t, k, filepath.Join(dir, "a.txt"), ".git/config")
	wantOK(t, k, "write_file", m{"path": "a.txt", "content": "mine\n"})
	if got := content(t, dir, ".git/config"); got != "[core]\n" {
		t.Errorf(".git/config is now %q", got)
	}
	if got := content(t, dir, "a.txt"); got != "mine\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// A stranger swaps a folder to and fro as fast as it can while the tools work: not
// one call may show or change what is outside.
func TestSwappingAllTheTimeNeverLeaks(t *testing.T) {
	outside := t.TempDir()
	plant(t, outside, tree{"a.txt": "secret\n"})
	k, dir := newKit(t, tree{"d/a.txt": "harmless\n", "other": "-> " + outside})
	d, other, away := filepath.Join(dir, "d"), filepath.Join(dir, "other"), filepath.Join(dir, "away")
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				for _, move := range [][2]string{{d, away}, {other, d}, {d, other}, {away, d}} {
					_ = os.Rename(move[0], move[1])
				}
			}
		}
	})
	for i := range 300 {
		if text, _ := call(t, k, "read_file", m{"path": "d/a.txt"}); strings.Contains(text, "secret") {
			t.Fatalf("read %d leaked: %s", i, text)
		}
		call(t, k, "write_file", m{"path": "d/a.txt", "content": fmt.Sprint("harmless", i)})
	}
	close(stop)
	swapper.Wait()
	if got := content(t, outside, "a.txt"); got != "secret\n" {
		t.Errorf("the outside file is now %q", got)
	}
	if names, _ := os.ReadDir(outside); len(names) != 1 {
		t.Errorf("files were left outside: %v", names)
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"a", "../a", "0/in", "in/../../x", "in/out/x", "/etc", "\x00", "in/in/in/a", "out/../..", "./.git/../in"} {
		f.Add(s)
	}
	outside := f.TempDir()
	dir := f.TempDir()
	for name, target := range map[string]string{"in": ".", "out": outside, "up": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			f.Fatal(err)
		}
	}
	j, err := openJail(Config{WorkDir: dir})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, p string) {
		rel, err := j.resolve(p)
		if err != nil {
			return
		}
		if !filepath.IsLocal(rel) {
			t.Errorf("%q resolved to %q", p, rel)
		}
		for at := rel; at != "."; at = path.Dir(at) {
			if info, err := os.Lstat(filepath.Join(dir, at)); err == nil && info.Mode().Type() == os.ModeSymlink {
				t.Errorf("%q resolved to %q, where %s is a link", p, rel, at)
			}
		}
	})
}
