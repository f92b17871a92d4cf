package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// pythonDatabase makes a database as a version of the Python program left it. Its
// plans work in folders beside it.
func pythonDatabase(t *testing.T, version string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("internal", "store", "testdata", "original", "v"+version+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	for _, dir := range []string{"app", "api", "site", "stopped", "later", "empty"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(base, "clearbox.db")
	db, err := sqlx.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("BEGIN;" + strings.ReplaceAll(string(text), "/tmp/clearbox-original", base) + "COMMIT"); err != nil {
		t.Fatal(err)
	}
	return path
}

// importInto imports into the database of options and returns what came.
func importInto(t *testing.T, o engine.Options, file string) *engine.Imported {
	t.Helper()
	got, err := engine.Import(t.Context(), engine.ImportOptions{File: file, DB: o.DB})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// titled returns the plan of a title that an import brought.
func titled(t *testing.T, got *engine.Imported, title string) plan.PlanID {
	t.Helper()
	for _, p := range got.Plans {
		if p.Title == title {
			return p.ID
		}
	}
	t.Fatalf("no plan %q came", title)
	return 0
}

func TestAnImportedPlanRunsToItsEnd(t *testing.T) {
	for _, version := range []string{"0.1.0", "0.3.0", "0.4.1"} {
		t.Run(version, func(t *testing.T) {
			o := enginetest.Options(t, map[string]enginetest.Agent{"openai": enginetest.Done})
			got := importInto(t, o, pythonDatabase(t, version))
			e := enginetest.Start(t, o)
			id := titled(t, got, "Half way")
			s, err := e.Snapshot(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if s.Root().Started || s.Status(id) != plan.StatusFailed {
				t.Fatalf("before: started %v, status %s", s.Root().Started, s.Status(id))
			}
			if err := e.StartPlan(t.Context(), id, plan.Builtin); err != nil {
				t.Fatal(err)
			}
			if _, err := e.RetryFailed(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			yours := plan.Ref{Plan: id, Node: 7}
			s = enginetest.Until(t, e, id, "all but the user step done", func(s *plan.Snapshot) bool {
				tally := s.Tally(id)
				return tally.Done+tally.Waiting == tally.Total
			})
			if n := s.Node(yours); n.Kind == plan.KindUser {
				if err := e.MarkDone(t.Context(), yours, nil); err != nil {
					t.Fatal(err)
				}
			}
			s = enginetest.Until(t, e, id, "done", enginetest.Status(plan.StatusDone))
			s.Walk(func(n *plan.Node) {
				if n.Subplan == 0 && n.Kind == plan.KindAgent && n.Result == nil {
					t.Errorf("step %s has no result", n.Ref())
				}
			})
			runs, err := e.Runs(t.Context(), plan.Ref{Plan: id, Node: 4})
			if err != nil || len(runs) != 3 || runs[2].Number != 3 || runs[2].Outcome != plan.OutcomeDone {
				t.Errorf("the step that was interrupted twice there has runs %+v (%v)", runs, err)
			}
		})
	}
}

func TestAnImportedContainerGoesOnWithItsSubplan(t *testing.T) {
	o := enginetest.Options(t, nil)
	got := importInto(t, o, pythonDatabase(t, "0.4.1"))
	e := enginetest.Start(t, o)
	id := titled(t, got, "Site 🌐")
	if err := e.StartPlan(t.Context(), id, plan.External); err != nil {
		t.Fatal(err)
	}
	claimed := 0
	for {
		c, err := e.Claim(t.Context(), "someone", id)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			break
		}
		claimed++
		if err := e.Complete(t.Context(), engine.CompleteIn{Ref: plan.Ref{Plan: c.PlanID, Node: c.NodeID}, Result: "Did " + c.Title}); err != nil {
			t.Fatal(err)
		}
	}
	if claimed != 3 { // the claimed one, the one that nobody had, and the one in the subplan
		t.Errorf("%d steps were claimed, want 3", claimed)
	}
	s, err := e.Snapshot(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	n := s.Node(plan.Ref{Plan: id, Node: 2})
	if n.State != plan.Done || n.Result == nil || !strings.Contains(*n.Result, "Split it up") || !strings.Contains(*n.Result, "Did About") {
		t.Errorf("the step with a subplan is %s with the result %v: want what its agent said there and what was done here", n.State, n.Result)
	}
}

func TestAnImportedReworkKeepsItsBrief(t *testing.T) {
	prompts := make(chan string, 10)
	o := enginetest.Options(t, map[string]enginetest.Agent{"openai": func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
		prompts <- task.Prompt // the plan's review runs an agent too, once the step is done
		return enginetest.Done(ctx, task, h)
	}})
	got := importInto(t, o, pythonDatabase(t, "0.4.1"))
	e := enginetest.Start(t, o)
	r := plan.Ref{Plan: titled(t, got, "翻訳サービス 🚀 Übersicht"), Node: 1}
	if err := e.StartPlan(t.Context(), r.Plan, plan.Builtin); err != nil {
		t.Fatal(err)
	}
	if err := e.ReworkNode(t.Context(), r, "Use 見出し."); err != nil {
		t.Fatal(err)
	}
	enginetest.Until(t, e, r.Plan, "reworked", func(s *plan.Snapshot) bool {
		n := s.Node(r)
		return n.State == plan.Done && n.Result != nil && strings.HasPrefix(*n.Result, "did ")
	})
	if prompt := <-prompts; !strings.Contains(prompt, "Use 見出し.") {
		t.Errorf("the prompt does not hold the new brief:\n%s", prompt)
	}
}

func TestADryRunMakesNoDatabase(t *testing.T) {
	file := pythonDatabase(t, "0.4.1")
	dir := t.TempDir()
	want, err := engine.Import(t.Context(), engine.ImportOptions{File: file, DB: filepath.Join(dir, "new", "clearbox.sqlite"), DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
	o := engine.ImportOptions{File: file, DB: filepath.Join(dir, "clearbox.sqlite")}
	got, err := engine.Import(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-told +came):\n%s", diff)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "clearbox.sqlite") {
			t.Errorf("the import left %s beside the database", entry.Name())
		}
	}
}

func TestImportsThatCannotBe(t *testing.T) {
	file := pythonDatabase(t, "0.4.1")
	if _, err := engine.Import(t.Context(), engine.ImportOptions{File: file, DB: file}); plan.KindOf(err) != plan.Invalid {
		t.Errorf("into itself: %v", err)
	}
	o := enginetest.Options(t, nil)
	e, stop := enginetest.Run(t, o)
	if was, err := e.ImportedFrom(t.Context(), file); was || err != nil {
		t.Errorf("before any import it says so: %v, %v", was, err)
	}
	_, err := engine.Import(t.Context(), engine.ImportOptions{File: file, DB: o.DB})
	if plan.KindOf(err) != plan.Unavailable || !strings.Contains(err.Error(), "stop that one") {
		t.Errorf("while a server has it open: %v", err)
	}
	stop()
	importInto(t, o, file)
	e = enginetest.Start(t, o)
	if was, err := e.ImportedFrom(t.Context(), file); !was || err != nil {
		t.Errorf("after the import it does not say so: %v, %v", was, err)
	}
}
