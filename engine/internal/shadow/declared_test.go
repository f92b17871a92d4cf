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

func TestWhatIsIgnoredAndWhatIsDeclared(t *testing.T) {
	files := map[string]string{
		".gitignore": "*.log\n.env\n/build/\n", "a.go": "1", "x.log": "2", ".env": "3", "build/out": "4", "build/sub/deep": "5", "src/y.log": "6", "src/b.go": "7",
		"node_modules/m/index.js": "8", "src/node_modules/n.js": "9", "__pycache__/c.pyc": "10", ".venv/bin/python": "11", "venv/x": "12",
		".mypy_cache/x": "13", ".pytest_cache/x": "14", ".hg/x": "15", ".svn/x": "16", "tools/venv": "a file",
	}
	always := []string{".gitignore", "a.go", "src/b.go", "tools/venv"}
	for _, tc := range []struct {
		name     string
		declared []string
		more     []string
	}{
		{"nothing declared", nil, nil},
		{"a file by its name", []string{".env"}, []string{".env"}},
		{"in another case, with other slashes", []string{`SRC\Y.LOG`, "X.Log"}, []string{"x.log", "src/y.log"}},
		{"a file in a folder that is ignored", []string{"build/sub/deep"}, []string{"build/sub/deep"}},
		{"a folder: the rules hold in it", []string{"src", "build"}, nil},
		{"what is never taken", []string{"node_modules/m/index.js", "venv/x", ".git/config"}, nil},
		{"paths outside", []string{"../x.log", "/etc/passwd"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, dir := openRepo(t, Options{}), t.TempDir()
			write(t, dir, files)
			plain := snap(t, r, dir)
			want := map[string]bool{}
			for _, name := range append(always, tc.more...) {
				want[name] = true
			}
			for round := range 3 {
				got := map[string]bool{}
				for name := range listed(t, r, snap(t, r, dir, tc.declared...)) {
					got[name] = true
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("round %d: %s", round, d)
				}
				// Other snapshots see nothing of it.
				if again := snap(t, r, dir); again != plain {
					t.Errorf("round %d: the tree with nothing declared is another one", round)
				}
			}
		})
	}
}

func TestTheDataDirectoryIsNoPartOfATree(t *testing.T) {
	for _, place := range []string{".", "data", "deep/er/data"} {
		t.Run(place, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{"a": "1", place + "/": "", "other/x": "2"})
			r, err := Open(filepath.Join(dir, place), Options{Exclude: []string{filepath.Join(dir, "other")}})
			if err != nil {
				t.Fatal(err)
			}
			first := snap(t, r, dir)
			if d := cmp.Diff([]string{"a"}, names(listed(t, r, first))); d != "" {
				t.Error(d)
			}
			if second := snap(t, r, dir); second != first {
				t.Error("what a snapshot leaves behind is in the next one")
			}
		})
	}
}

func TestSnapshotOfAnEmptyDirectory(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	first, rep := snapReport(t, r, dir)
	if d := cmp.Diff(Report{}, rep); d != "" {
		t.Error(d)
	}
	write(t, dir, map[string]string{"a": "1\n"})
	changes := diff(t, r, first, snap(t, r, dir))
	if len(changes.Files) != 1 || changes.Files[0].Kind != plan.DiffAdded {
		t.Errorf("%+v", changes)
	}
}

func TestTooManyFilesLeaveTheDeclaredOnes(t *testing.T) {
	r, dir := openRepo(t, Options{MaxFiles: 20}), t.TempDir()
	write(t, dir, map[string]string{"src/a": "1", "src/x.log": "2", ".gitignore": "*.log", "top": "3"})
	small := snap(t, r, dir, "src")
	for i := range 30 {
		write(t, dir, map[string]string{fmt.Sprintf("many/%d", i): "x"})
	}
	write(t, dir, map[string]string{"src/a": "changed", "top": "changed"})
	big, rep := snapReport(t, r, dir, "src", "src/x.log")
	if d := cmp.Diff([]string{"src/a", "src/x.log"}, names(listed(t, r, big))); d != "" || !rep.DeclaredOnly {
		t.Error(d, rep)
	}
	changes := diff(t, r, small, big, "src")
	if len(changes.Files) != 2 || len(changes.Undeclared) != 0 {
		t.Errorf("what was not looked at counts as changed: %+v", changes)
	}
	_, _, err := r.Snapshot(context.Background(), dir, SnapshotOptions{Declared: []string{"many"}})
	if plan.KindOf(err) != plan.Unavailable {
		t.Errorf("too many declared files: %v", err)
	}
}

func TestNewContentIsBounded(t *testing.T) {
	r, dir := openRepo(t, Options{MaxNew: 10_000}), t.TempDir()
	for i := range 4 {
		write(t, dir, map[string]string{fmt.Sprint(i): strings.Repeat(fmt.Sprint(i), 4000)})
	}
	first, rep := snapReport(t, r, dir)
	if len(rep.LeftOut) != 2 || !strings.Contains(rep.LeftOut[0].Why, "9.8 KiB") {
		t.Errorf("left out: %+v", rep.LeftOut)
	}
	if second, _ := snapReport(t, r, dir); second != first {
		t.Error("the tree changed by itself")
	}
}

func TestSnapshotsAtOnce(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	for i := range 200 {
		write(t, dir, map[string]string{fmt.Sprintf("d%d/f%d", i%9, i): fmt.Sprint(i), fmt.Sprintf("d%d/i%d.log", i%9, i): "x", ".gitignore": "*.log"})
	}
	want := snap(t, r, dir)
	wantLog := snap(t, r, dir, "d1/i1.log")
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			switch i % 3 {
			case 0:
				if got := snap(t, r, dir); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			case 1:
				if got := snap(t, r, dir, "d1/i1.log"); got != wantLog {
					t.Errorf("%s, want %s", got, wantLog)
				}
			default:
				if err := r.Prune(context.Background(), []Tree{want}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestTheCacheOutlivesTheProcessAndDamage(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a/b": "1", "c": "2", "d.log": "3", ".gitignore": "*.log"})
	open := func() *Repo {
		r, err := Open(data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open()
	want := snap(t, r, dir, "d.log")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	key, _, _, _ := want.parse()
	cache := filepath.Join(data, "shadow", key, cacheName)
	whole, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"whole": whole, "half": whole[:len(whole)/2], "empty": nil, "changed": append([]byte("x"), whole[1:]...)} {
		if err := os.WriteFile(cache, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r := open()
		if got := snap(t, r, dir, "d.log"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		// What the cache counts on may be gone, too.
		packs, _ := filepath.Glob(filepath.Join(data, "shadow", key, "objects/pack/*"))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for _, p := range packs {
			os.Remove(p)
		}
		r = open()
		if d := cmp.Diff([]string{".gitignore", "a/b", "c", "d.log"}, names(listed(t, r, snap(t, r, dir, "d.log")))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWithoutGit(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	t.Setenv("PATH", t.TempDir())
	if _, _, err := r.Snapshot(context.Background(), dir, SnapshotOptions{}); !errors.Is(err, ErrNoGit) {
		t.Errorf("%v, want ErrNoGit", err)
	}
}

func TestSnapshotOfWhatIsNoDirectory(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	write(t, dir, map[string]string{"file": ""})
	for _, name := range []string{"file", "missing"} {
		if _, _, err := r.Snapshot(context.Background(), filepath.Join(dir, name), SnapshotOptions{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
