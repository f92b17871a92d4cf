package engine_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// summed hashes everything below a folder but what is named: names, modes,
// contents, times of change.
func summed(t *testing.T, dir string, but ...string) string {
	t.Helper()
	h := sha256.New()
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, name := range but {
			if path == filepath.Join(dir, name) {
				return nil
			}
		}
		info, err := e.Info()
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(h, "%q %v %v %x\n", path, info.Mode(), info.ModTime(), text)
		return err
	}))
	return fmt.Sprintf("%x", h.Sum(nil))
}

func TestTheUsersRepositoryStaysAsItIs(t *testing.T) {
	for _, isolation := range []string{"none", "worktree"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			e := watching(t, replacing(nil))
			in := isolated(t, "2>two")
			in.IsolateSteps, in.Isolation = false, isolation
			in.Nodes[0].Files = []string{"c.txt"}
			must(t, os.WriteFile(filepath.Join(in.WorkingDirectory, "mine.txt"), []byte("a\r\n$Id$\xff\n"), 0o600))
			must(t, os.WriteFile(filepath.Join(in.WorkingDirectory, ".gitattributes"), []byte("* text eol=crlf ident filter=none\n"), 0o644))
			before := summed(t, in.WorkingDirectory, "c.txt")
			id := finished(t, e, in)
			if after := summed(t, in.WorkingDirectory, "c.txt"); after != before {
				t.Error("something besides the declared file has changed: index, refs, configuration or files")
			}
			text, err := os.ReadFile(filepath.Join(in.WorkingDirectory, "c.txt"))
			must(t, err)
			if string(text) != "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n" {
				t.Errorf("the declared file is %q", text)
			}
			files, err := e.Diffs(bg, ref(id, 1))
			must(t, err)
			if len(files) != 1 || !strings.Contains(files[0].Diff, "\n-2\n+two\n") {
				t.Errorf("changes %v", paths(files))
			}
		})
	}
}

func TestHowAFileIsEditedMakesNoDifference(t *testing.T) {
	if _, err := exec.LookPath("sed"); err != nil {
		t.Skip("there is no sed")
	}
	const was, is = "one\ntwo\nthree\n", "one\n2\nthree\n"
	shell := func(script string) func(dir string) error {
		return func(dir string) error {
			cmd := exec.Command("sh", "-c", script)
			cmd.Dir = dir
			return cmd.Run()
		}
	}
	ways := []func(dir string) error{
		func(dir string) error { return os.WriteFile(filepath.Join(dir, "f.txt"), []byte(is), 0o644) },
		shell(`printf 'one\n2\nthree\n' > f.txt`),
		shell(`sed -i.old 's/two/2/' f.txt && rm f.txt.old`),
		shell(`sed 's/two/2/' f.txt > new && mv new f.txt`),
		func(dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, "f.txt"), os.O_RDWR|os.O_TRUNC, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString(is)
			return err
		},
	}
	var first string
	for i, edit := range ways {
		e := watching(t, func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
			if err := edit(task.WorkDir); err != nil {
				return plugin.Result{}, err
			}
			return enginetest.Done(ctx, task, h)
		})
		in := spec(t, "a")
		in.Nodes[0].Files = []string{"f.txt"}
		must(t, os.WriteFile(filepath.Join(in.WorkingDirectory, "f.txt"), []byte(was), 0o644))
		files, err := e.Diffs(bg, ref(finished(t, e, in), 1))
		must(t, err)
		if len(files) != 1 || first != "" && files[0].Diff != first {
			t.Fatalf("way %d: %v\n%+v\nwant\n%s", i, paths(files), files, first)
		}
		first = files[0].Diff
	}
}

func TestAnyFolderCanBeWorkedIn(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir, data string){
		"empty, no repository": func(*testing.T, string, string) {},
		"an empty repository": func(t *testing.T, dir, _ string) {
			must(t, exec.Command("git", "init", "-q", dir).Run())
		},
		"with the data directory in it": func(t *testing.T, dir, data string) {
			must(t, os.MkdirAll(data, 0o700))
		},
		"of 50,000 files": func(t *testing.T, dir, _ string) {
			cmd := exec.Command("sh", "-c", `mkdir $(seq 0 99) && seq 0 49999 | awk '{ print int($1 / 500) "/" $1 }' | xargs touch`)
			cmd.Dir = dir
			must(t, cmd.Run())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := quickDir(t)
			o := enginetest.Options(t, map[string]enginetest.Agent{"mock": writing(map[string]string{"a.txt": "a\n"})})
			o.NoSnapshots = false
			if strings.HasPrefix(name, "with") {
				o.DataDir, o.DB = filepath.Join(dir, ".data"), filepath.Join(dir, ".data", "clearbox.sqlite")
			}
			prepare(t, dir, o.DataDir)
			e := enginetest.Start(t, o)
			in := spec(t, "a")
			in.WorkingDirectory, in.Nodes[0].Files = dir, []string{"a.txt"}
			id := finished(t, e, in)
			s, err := e.Snapshot(bg, id)
			must(t, err)
			files, err := e.Diffs(bg, ref(id, 1))
			must(t, err)
			runs, err := e.Runs(bg, ref(id, 1))
			must(t, err)
			if len(runs[0].LeftOut) > 0 {
				t.Errorf("left out: %v", runs[0].LeftOut)
			}
			if got := strings.Join(paths(files), ", "); got != "a.txt added" || len(s.Node(ref(id, 1)).Undeclared) != 0 {
				t.Errorf("changes %s; undeclared %v", got, s.Node(ref(id, 1)).Undeclared)
			}
		})
	}
}

// quickDir is a folder in memory where there is one: tens of thousands of files take
// seconds on a disk.
func quickDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "clearbox-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(t, exec.Command("rm", "-rf", dir).Run()) })
	return dir
}

func TestACopyMadeWhileOthersWriteSaysSo(t *testing.T) {
	writing, release := make(chan struct{}), make(chan struct{})
	e := watching(t, func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		if task.Title == "Step plain" {
			close(writing)
			<-release
		}
		return enginetest.Done(ctx, task, h)
	})
	in := spec(t, "plain gate copy:gate after:plain,copy")
	in.WorkingDirectory = repository(t)
	in.Nodes[1].Kind, in.Nodes[2].Isolation, in.Nodes[3].Isolation = "user", "worktree", "worktree"
	id := submit(t, e, in)
	must(t, e.StartPlan(bg, id, plan.Builtin))
	<-writing
	must(t, e.MarkDone(bg, ref(id, 2), nil))
	enginetest.Until(t, e, id, "the copy is done", func(s *plan.Snapshot) bool { return s.Node(ref(id, 3)).State == plan.Done })
	close(release)
	enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
	for n, want := range map[int]string{1: "[]", 3: "[1.1]", 4: "[]"} {
		runs, err := e.Runs(bg, ref(id, n))
		must(t, err)
		if got := fmt.Sprint(runs[0].BaseWriters); got != want {
			t.Errorf("step %d: written meanwhile by %s, want %s", n, got, want)
		}
		one, err := e.RunOf(bg, ref(id, n), 1)
		must(t, err)
		if got := fmt.Sprint(one.BaseWriters); got != want {
			t.Errorf("step %d, its run alone: %s, want %s", n, got, want)
		}
	}
}

// BenchmarkClaimInALargeFolder claims a step and completes it in a folder of 20,000
// files; the time of completing is not counted.
func BenchmarkClaimInALargeFolder(b *testing.B) {
	o := enginetest.Options(b, nil)
	o.NoSnapshots = false
	e := enginetest.Start(b, o)
	in := layered(b, 100)
	for i := range 20_000 {
		path := filepath.Join(in.WorkingDirectory, fmt.Sprintf("p%d/q%d/f%d.go", i/400, i/20, i))
		if i%20 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "package q\n\n// Number %d.\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	in.Edges, in.Start = nil, plan.External
	for i := range in.Nodes {
		in.Nodes[i].Files = nil
	}
	if _, err := e.SubmitPlan(bg, in); err != nil {
		b.Fatal(err)
	}
	claim := func() {
		c, err := e.Claim(bg, "bench", 0)
		if err != nil || c == nil {
			b.Fatal(c, err)
		}
		b.StopTimer()
		if err := e.Complete(bg, engine.CompleteIn{Ref: plan.Ref{Plan: c.PlanID, Node: c.NodeID}, Run: c.Run}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	claim() // the first reads every file
	for b.Loop() {
		claim()
	}
}
