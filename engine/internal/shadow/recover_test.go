package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// prepared makes a worktree with a change of every kind, ready to be applied. It
// returns what the working directory looks like.
func prepared(t *testing.T, data string) (r *Repo, dir string, w Worktree, tree Tree, before map[string]string) {
	t.Helper()
	r, err := Open(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	makeProject(t, dir)
	write(t, dir, map[string]string{"gone/deep/x": "x", "f": "file"})
	if w, _, err = r.CreateWorktree(context.Background(), dir, WorktreeOptions{ID: "w"}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\nNINE\n"})
	edit(t, w.Dir, map[string]string{"gone/deep/x": "", "f": "", "f/in": "folder", "new/deep/y": "y", "bin": "\x00\x00", "a.txt": "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"})
	tree, _ = collect(t, r, w)
	return r, dir, w, tree, contents(t, dir)
}

func TestApplyIsWholeWhereverItStops(t *testing.T) {
	data := t.TempDir()
	r, dir, w, tree, before := prepared(t, data)
	if _, err := apply(r, w, tree, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	after := contents(t, dir)
	for _, how := range []error{errKilled, errors.New("no more room")} {
		for stop := 1; ; stop++ {
			more := true
			t.Run(fmt.Sprintf("%v/%d", how, stop), func(t *testing.T) {
				restore(t, dir, before)
				step := 0
				r.stopAt = func(string) error {
					if step++; step == stop {
						return how
					}
					return nil
				}
				_, err := apply(r, w, tree, ApplyOptions{})
				if err == nil {
					more = false
					return
				}
				want := before
				if errors.Is(how, errKilled) {
					// A new process finds what is left.
					if r, err = Open(data, Options{}); err != nil {
						t.Fatal(err)
					}
					got, err := r.RecoverWorktrees(context.Background(), func(string) bool { return true })
					if err != nil {
						t.Fatal(err)
					}
					wantDone := Recovered{Undone: []string{"w"}}
					if stop > 1 { // all was prepared
						wantDone, want = Recovered{Completed: []string{"w"}}, after
					}
					if d := cmp.Diff(wantDone, got); d != "" {
						t.Error(d)
					}
				}
				if d := cmp.Diff(want, contents(t, dir)); d != "" {
					t.Error(d)
				}
				if exists(filepath.Join(r.placeOf("w"), journalFile)) {
					t.Error("the journal is still there")
				}
				r.stopAt = nil
				if _, err := apply(r, w, tree, ApplyOptions{}); err != nil {
					t.Errorf("once more: %v", err)
				}
				if d := cmp.Diff(after, contents(t, dir)); d != "" {
					t.Error(d)
				}
			})
			if !more || t.Failed() {
				break
			}
		}
	}
}

// restore makes a folder hold again what contents returned of it.
func restore(t *testing.T, dir string, was map[string]string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if e.Name() != ".git" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	for name, c := range was {
		path := dir + "/" + name
		err = errors.Join(err, os.MkdirAll(path[:strings.LastIndexByte(path, '/')], 0o755))
		if to, ok := strings.CutPrefix(c, "-> "); ok {
			err = errors.Join(err, os.Symlink(to, path))
		} else if perm, text, ok := strings.Cut(c, " "); ok {
			mode, bad := strconv.ParseUint(perm, 8, 32)
			err = errors.Join(err, bad, os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, os.FileMode(mode)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(was, contents(t, dir)); d != "" {
		t.Fatal(d)
	}
}

func TestRecoverUndoesWhatWouldOverwriteOthers(t *testing.T) {
	data := t.TempDir()
	r, dir, w, tree, before := prepared(t, data)
	step := 0
	r.stopAt = func(string) error {
		if step++; step == 5 {
			return errKilled
		}
		return nil
	}
	if _, err := apply(r, w, tree, ApplyOptions{}); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	// Of what is not done yet, somebody changes a part before the restart.
	j, err := readJournal(r.placeOf("w"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{j.Ops[len(j.Ops)-1].path(): "mine"})
	before[j.Ops[len(j.Ops)-1].path()] = "644 mine"
	for p := filepath.Dir(j.Ops[len(j.Ops)-1].path()); p != "."; p = filepath.Dir(p) {
		before[p+"/"] = ""
	}
	got, err := r.RecoverWorktrees(context.Background(), nil)
	if d := cmp.Diff(Recovered{Undone: []string{"w"}, Removed: []string{"w"}}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if d := cmp.Diff(before, contents(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestChangesWhileApplyingAreNotLost(t *testing.T) {
	r, dir, w, tree, _ := prepared(t, t.TempDir())
	once := false
	r.stopAt = func(step string) error {
		if step == "staged" && !once {
			once = true
			write(t, dir, map[string]string{"a.txt": "1\n2\n3\n4\nFIVE\n6\n7\n8\nNINE\n"})
		}
		return nil
	}
	if _, err := apply(r, w, tree, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir)["a.txt"]; got != "644 one\n2\n3\n4\nFIVE\n6\n7\n8\nNINE\n" {
		t.Errorf("a.txt is %q", got)
	}
}

func TestStartUpRemovesWorktreesThatNobodyKeeps(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	r, err := Open(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	makeProject(t, dir)
	for _, id := range []string{"keep", "drop", "half"} {
		if _, _, err := r.CreateWorktree(context.Background(), dir, WorktreeOptions{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	half, err := r.ownerOf("half")
	if err != nil {
		t.Fatal(err)
	}
	half.Ready = false // as when the process ended while it was made
	if err := half.save(r.placeOf("half")); err != nil {
		t.Fatal(err)
	}
	write(t, data, map[string]string{"worktrees/users/file": "mine", "worktrees/unmarked/": ""})
	got, err := r.RecoverWorktrees(context.Background(), func(id string) bool { return id == "keep" || id == "half" })
	if d := cmp.Diff(Recovered{Removed: []string{"drop", "half"}}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for name, want := range map[string]bool{"keep": true, "drop": false, "half": false, "users/file": true, "unmarked": false} {
		if exists(filepath.Join(data, "worktrees", name)) != want {
			t.Errorf("%s is there: %v, want %v", name, !want, want)
		}
	}
	w, err := r.OpenWorktree("keep")
	if err != nil || !exists(w.Dir+"/a.txt") {
		t.Errorf("%+v, %v", w, err)
	}
	age(r)
	write(t, w.Dir, map[string]string{"a.txt": "changed\n"})
	if err := r.Prune(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(w.Dir); err != nil || len(collected(t, r, w).Files) != 1 {
		t.Errorf("after a prune: %v", err)
	}
}
