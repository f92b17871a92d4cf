package shadow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// age makes all trees look old enough to be forgotten.
func age(r *Repo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for tree := range r.recent {
		r.recent[tree] = time.Now().Add(-2 * graceTime)
	}
}

func gone(t *testing.T, r *Repo, tree Tree) bool {
	t.Helper()
	key, d, _, err := tree.parse()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := openObjects(filepath.Join(r.shadows(), key, "objects/pack"))
	if err != nil {
		t.Fatal(err)
	}
	return !objects.has(d)
}

func TestPruneKeepsWhatIsAskedForAndWhatIsInUse(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	write(t, dir, map[string]string{".gitignore": "*.log\nempty/\n", "x.log": "1", "empty/y.log": "2"})
	var trees []Tree
	for i := range manyPacks + 1 {
		write(t, dir, map[string]string{"f": fmt.Sprint(i)})
		trees = append(trees, snap(t, r, dir, "x.log", "empty/y.log"))
	}
	age(r)
	write(t, dir, map[string]string{"f": "recent"})
	recent := snap(t, r, dir)
	write(t, dir, map[string]string{"f": "now"})
	if err := r.Prune(context.Background(), trees[3:4]); err != nil {
		t.Fatal(err)
	}
	for i, tree := range trees {
		// The last one with the declared files differs from what the cache holds.
		if got, want := gone(t, r, tree), i != 3; got != want {
			t.Errorf("tree %d is gone: %v, want %v", i, got, want)
		}
	}
	if gone(t, r, recent) {
		t.Error("a tree of this moment is gone")
	}
	if d := cmp.Diff([]string{".gitignore", "f", "x.log", "empty/y.log"}, names(listed(t, r, snap(t, r, dir, "x.log", "empty/y.log")))); d != "" {
		if d := cmp.Diff([]string{".gitignore", "empty/y.log", "f", "x.log"}, names(listed(t, r, snap(t, r, dir, "x.log", "empty/y.log")))); d != "" {
			t.Error(d)
		}
	}
	got := diff(t, r, trees[3], recent)
	if len(got.Files) != 3 {
		t.Errorf("%d files differ, want 3", len(got.Files))
	}
}

func TestPruneForgetsDirectoriesThatAreGone(t *testing.T) {
	r := openRepo(t, Options{MaxOpen: 1})
	var dirs []string
	for range 3 {
		dirs = append(dirs, t.TempDir())
	}
	trees := []Tree{snap(t, r, dirs[0]), snap(t, r, dirs[1]), snap(t, r, dirs[2])}
	age(r)
	for _, dir := range dirs[:2] {
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Prune(context.Background(), trees[1:2]); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, true} {
		key, _, _, _ := trees[i].parse()
		if got := exists(filepath.Join(r.shadows(), key)); got != want {
			t.Errorf("shadow %d is there: %v, want %v", i, got, want)
		}
	}
}

func TestSmallPacksAreJoined(t *testing.T) {
	r, dir := openRepo(t, Options{}), t.TempDir()
	var trees []Tree
	for i := range mostSmall + 5 {
		write(t, dir, map[string]string{"f": fmt.Sprint(i), fmt.Sprintf("d/%d", i): "x"})
		trees = append(trees, snap(t, r, dir))
	}
	key, _, _, _ := trees[0].parse()
	packs, err := filepath.Glob(filepath.Join(r.shadows(), key, "objects/pack/*.pack"))
	if err != nil || len(packs) > 10 {
		t.Errorf("%d packs (%v), want few", len(packs), err)
	}
	git(t, filepath.Join(r.shadows(), key), append([]string{"verify-pack"}, packs...)...)
	for i, tree := range trees {
		if got := content(t, r, tree, "f"); got != fmt.Sprint(i) {
			t.Errorf("f is %q in tree %d", got, i)
		}
	}
}
