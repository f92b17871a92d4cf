package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
)

// pythonDatabase makes a database as the Python program left it, in a folder, with
// the folders that its plans work in but one.
func pythonDatabase(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "engine", "internal", "store", "testdata", "original", "v0.4.1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	for _, name := range []string{"app", "api", "site", "later", "empty"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	made := foreign(t, "BEGIN;"+strings.ReplaceAll(string(text), "/tmp/clearbox-original", base)+"COMMIT")
	path := filepath.Join(dir, "clearbox.db")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(made, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func checkTells(t *testing.T, o outcome, parts ...string) {
	t.Helper()
	if o.code != 0 || o.errOut != "" {
		t.Fatalf("exit code %d, stderr %q, stdout %q", o.code, o.errOut, o.out)
	}
	for _, part := range parts {
		if !strings.Contains(o.out, part) {
			t.Errorf("%q is not in what it printed:\n%s", part, o.out)
		}
	}
	if strings.Contains(o.out, "sk-made-up") {
		t.Error("it printed a key")
	}
}

func TestImportTellsWhatComesAndThenBringsIt(t *testing.T) {
	t.Parallel()
	file := pythonDatabase(t, t.TempDir())
	db := filepath.Join(t.TempDir(), "data", "clearbox.sqlite")
	words := []string{
		"Python program clearbox 0.4", db,
		"6 plans with 5 inside them: 31 steps, 19 edges, 7 declared files", "of 28 runs, 2 diffs, 3 reviews",
		"6 agents: claude; mock; 秘书 🤖 with its key; by-env; slow; careful",
		"PLAN  STEPS  STATE      TITLE\n", "   1      8  done       翻訳サービス 🚀 Übersicht\n", "   6      3  half done  Stopped half way\n",
		"All plans keep their numbers.", "2 plans started there and not here: 9, 11", "7 steps at work there, pending here",
		"plan 6 works in", "not there any more",
	}
	told := execute(t, "import", file, "--dry-run", "--db", db)
	checkTells(t, told, append(words, "would bring", "nothing was changed")...)
	if _, err := os.Stat(filepath.Dir(db)); !os.IsNotExist(err) {
		t.Error("the dry run made the folder of the database")
	}
	checkTells(t, execute(t, "import", file, "CLEARBOX_DB="+db), append(words, "Imported "+file)...)
	checkRefused(t, execute(t, "import", file, "--db", db), 2, "was imported already", "--again")
	checkTells(t, execute(t, "import", "--again", file, "--db", db), "WAS  PLAN", "went up by 12", "the same here already, and kept: claude; mock; 秘书 🤖")
}

func TestImportIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := pythonDatabase(t, dir)
	checkRefused(t, execute(t, "import"), 2, "import needs FILE")
	checkRefused(t, execute(t, "import", filepath.Join(dir, "none.db")), 2, "there is no file")
	checkRefused(t, execute(t, "import", file, "--db", file), 2, "cannot be the one to import into")
	checkRefused(t, execute(t, "import", foreign(t, "CREATE TABLE bookmarks (url)")), 2, "another program")
}

func TestTheBannerNamesADatabaseToImportUntilItIs(t *testing.T) {
	t.Parallel()
	r := prepareRig(t, "--mock")
	file := pythonDatabase(t, r.dir)
	r.restart()
	await(t, "the banner names it", func() bool { return strings.Contains(r.printed(), "clearbox import "+file) })
	checkRefused(t, execute(t, "import", file, "--db", r.database()), 1, "another Clearbox has this database open", "stop that one")
	r.signal(os.Interrupt)
	r.wait()
	checkTells(t, execute(t, "import", file, "--db", r.database()), "All plans keep their numbers.", "kept: claude; mock")
	r.restart()
	var plans []struct{ Title, Status string }
	r.get("/api/plans", &plans) // it serves only when the banner is printed
	if said := r.printed(); strings.Contains(said, "clearbox import") {
		t.Errorf("the banner still names it:\n%s", said)
	}
	if len(plans) != 6 || plans[0].Title != "Site 🌐" {
		t.Errorf("the server shows %+v", plans)
	}
}

func TestCountedThings(t *testing.T) {
	t.Parallel()
	got := strings.Join([]string{counted(0, "plan"), counted(1, "transcript entry"), counted(1234567, "transcript entry"), counted(999, "step"), megabytes(1_260_000)}, ", ")
	if diff := cmp.Diff("0 plans, 1 transcript entry, 1,234,567 transcript entries, 999 steps, 1.3 MB", got); diff != "" {
		t.Error(diff)
	}
	notes := importNotes(&engine.Imported{Notes: []string{"a"}})
	if diff := cmp.Diff([]string{"a"}, notes); diff != "" {
		t.Error(diff)
	}
}
