package shadow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// grow makes a tree of n files in folders of twenty, as old as sources are.
func grow(b testing.TB, dir string, n int) {
	b.Helper()
	old := time.Now().Add(-time.Hour)
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("p%d/q%d/file%d.go", i/400, i/20, i))
		if i%20 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		text := fmt.Sprintf("package q%d\n\n// Number is %d.\nconst Number = %d\n", i/20, i, i)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			b.Fatal(err)
		}
	}
	rules := "*.o\n*.log\n/build/\n.DS_Store\ndist/\n*.py[cod]\n!keep.log\ncoverage*\n"
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules), 0o644); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	ctx := context.Background()
	b.Run("first/20000", func(b *testing.B) {
		dir := b.TempDir()
		grow(b, dir, 20_000)
		for b.Loop() {
			b.StopTimer()
			r := openRepo(b, Options{})
			b.StartTimer()
			snap(b, r, dir)
		}
	})
	for _, n := range []int{20, 20_000} {
		b.Run(fmt.Sprintf("unchanged/%d", n), func(b *testing.B) {
			dir, r := b.TempDir(), openRepo(b, Options{})
			grow(b, dir, n)
			git(b, dir, "init", "-q")
			git(b, dir, "add", ".")
			first := snap(b, r, dir)
			for b.Loop() {
				if got := snap(b, r, dir); got != first {
					b.Fatal("the tree changed")
				}
			}
		})
		b.Run(fmt.Sprintf("reopened/%d", n), func(b *testing.B) {
			dir, data := b.TempDir(), b.TempDir()
			grow(b, dir, n)
			for i := 0; b.Loop(); i++ {
				r, err := Open(data, Options{})
				if err != nil {
					b.Fatal(err)
				}
				snap(b, r, dir)
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
				if i == 0 {
					b.ResetTimer()
				}
			}
		})
		b.Run(fmt.Sprintf("changed/%d", n), func(b *testing.B) {
			dir, r := b.TempDir(), openRepo(b, Options{})
			grow(b, dir, n)
			snap(b, r, dir)
			for i := 0; b.Loop(); i++ {
				before := snap(b, r, dir)
				write(b, dir, map[string]string{"p0/q0/file0.go": fmt.Sprintf("package q0 // %d\n", i)})
				if _, err := r.Diff(ctx, before, snap(b, r, dir), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWorktree measures what an isolated step costs beside its own work: a
// copy of the tree, what changed in it, and 200 changed files brought back.
func BenchmarkWorktree(b *testing.B) {
	ctx := context.Background()
	for _, n := range []int{400, 20_000} {
		dir, r := b.TempDir(), openRepo(b, Options{})
		grow(b, dir, n)
		git(b, dir, "init", "-q")
		git(b, dir, "add", ".")
		git(b, dir, "commit", "-q", "-m", "first")
		snap(b, r, dir)
		b.Run(fmt.Sprintf("create/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				id := fmt.Sprintf("create-%d", i)
				if _, _, err := r.CreateWorktree(ctx, dir, WorktreeOptions{ID: id}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := r.RemoveWorktree(id); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
		w := worktreeOf(b, r, dir, "w")
		tree, round := Tree(""), 0
		change := func() {
			round++
			for i := range 200 {
				write(b, w.Dir, map[string]string{fmt.Sprintf("p%d/q%d/file%d.go", i/400, i/20, i): fmt.Sprintf("package q // %d %d\n", i, round)})
			}
		}
		b.Run(fmt.Sprintf("collect/%d", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				change()
				b.StartTimer()
				tree, _ = collect(b, r, w)
			}
		})
		b.Run(fmt.Sprintf("apply200/%d", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				for i := range 200 { // as it was copied
					path := fmt.Sprintf("p%d/q%d/file%d.go", i/400, i/20, i)
					text := fmt.Sprintf("package q%d\n\n// Number is %d.\nconst Number = %d\n", i/20, i, i)
					write(b, dir, map[string]string{path: text})
				}
				b.StartTimer()
				if got, err := apply(r, w, tree, ApplyOptions{}); err != nil || len(got.Files) != 200 {
					b.Fatal(len(got.Files), err)
				}
			}
		})
	}
}
