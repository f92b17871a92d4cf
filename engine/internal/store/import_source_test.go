package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// content returns what is in a folder, by name.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

// crashed makes a database as a program that was killed leaves it: what it wrote
// last is in the log alone.
func crashed(t *testing.T) string {
	t.Helper()
	path := original(t, "0.4.1")
	db := openRaw(t, path)
	defer db.Close()
	for _, q := range []string{"PRAGMA wal_autocheckpoint = 0", "UPDATE plans SET title = 'only in the log' WHERE id = 8"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(t.TempDir(), "clearbox.db")
	copyTo(t, path, left)
	copyTo(t, path+"-wal", left+"-wal")
	return left
}

func TestWhatIsInTheLogAloneIsTakenOverAndTheFilesStayAsTheyAre(t *testing.T) {
	path := crashed(t)
	before := content(t, filepath.Dir(path))
	s := open(t, Options{})
	mustImport(t, s, importing{path: path})
	if got := one[string](t, s, `SELECT title FROM plans WHERE id = 8`); got != "only in the log" {
		t.Errorf("the title is %q", got)
	}
	if diff := cmp.Diff(before, content(t, filepath.Dir(path))); diff != "" {
		t.Error("the folder of the database is not as it was")
	}
}

func TestAReadOnlyFolderIsNoHindrance(t *testing.T) {
	path := crashed(t)
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	mustImport(t, open(t, Options{}), importing{path: path})
}

func TestWhatIsNoDatabaseOfThePythonProgramIsRefused(t *testing.T) {
	letter := func(t *testing.T, text string) string {
		path := filepath.Join(t.TempDir(), "letter.db")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	changed := func(q ...string) func(*testing.T) string {
		return func(t *testing.T) string { return original(t, "0.4.1", q...) }
	}
	made := func(q ...string) func(*testing.T) string {
		return func(t *testing.T) string { path, _ := foreign(t, q...); return path }
	}
	for _, c := range []struct {
		name string
		make func(*testing.T) string
		says string
	}{
		{"no file", func(t *testing.T) string { return filepath.Join(t.TempDir(), "none.db") }, "there is no file"},
		{"a folder", func(t *testing.T) string { return t.TempDir() }, "is not a file"},
		{"an empty file", func(t *testing.T) string { return letter(t, "") }, "is empty"},
		{"a letter", func(t *testing.T) string { return letter(t, strings.Repeat("Dear Sir, ", 50)) }, "is not a database"},
		{"a short letter", func(t *testing.T) string { return letter(t, "SQLite") }, "is not a database"},
		{"the head of a database", func(t *testing.T) string {
			b, err := os.ReadFile(original(t, "0.4.1"))
			if err != nil {
				t.Fatal(err)
			}
			return letter(t, string(b[:150])+strings.Repeat("x", 5000))
		}, "damaged"},
		{"one that was cut", func(t *testing.T) string {
			path := original(t, "0.4.1")
			if err := os.Truncate(path, 8192); err != nil {
				t.Fatal(err)
			}
			return path
		}, "damaged"},
		{"ours", func(t *testing.T) string {
			s := open(t, Options{})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return s.opts.Path
		}, "clearbox serve --db"},
		{"an empty database", made("CREATE TABLE t (a)", "DROP TABLE t"), "another program"},
		{"another program's", made("CREATE TABLE bookmarks (url)"), "another program"},
		{"another program's that has plans", made("CREATE TABLE plans (id)", "CREATE TABLE agent_profiles (id)"), "it lacks"},
		{"with a mark of another program", changed("PRAGMA application_id = 7"), "another program"},
		{"with a further column", changed("ALTER TABLE nodes ADD COLUMN mood TEXT"), "newer version of the Python program clearbox than this one knows (0.1 to 0.4): nothing was imported, since what it has further would be lost (nodes.mood)"},
		{"with a further table", changed("CREATE TABLE moods (plan_id, mood)"), "moods.plan_id"},
		{"with a version number", changed("PRAGMA user_version = 3"), "newer version"},
		{"with a further state", changed("UPDATE nodes SET status = 'musing' WHERE plan_id = 12"), `step 1 of plan 12 is "musing"`},
		{"with a further kind", changed("UPDATE nodes SET kind = 'robot' WHERE plan_id = 12"), `kind "robot"`},
		{"with a circle of edges", changed("INSERT INTO edges VALUES (1, 5, 1)"), "in a circle"},
		{"with an edge to itself", changed("INSERT INTO edges VALUES (1, 5, 5)"), "wait for itself"},
		{"with plans inside each other", changed("UPDATE plans SET parent_plan_id = 3, parent_node_id = 1 WHERE id = 2"), "lies inside itself"},
		{"with text for a number", changed("UPDATE nodes SET tokens_in = 'many' WHERE plan_id = 1"), "its column"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, Options{})
			before := dump(t, s)
			_, err := importing{path: c.make(t)}.into(t, s)
			if plan.KindOf(err) != plan.Invalid || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want it to say %q", err, c.says)
			}
			if diff := cmp.Diff(before, dump(t, s)); diff != "" {
				t.Errorf("it left something:\n%s", diff)
			}
		})
	}
}

func TestAKeyIsInNoError(t *testing.T) {
	path := original(t, "0.4.1", "UPDATE agent_profiles SET max_parallel = api_key WHERE api_key <> ''")
	_, err := importing{path: path}.into(t, open(t, Options{}))
	if err == nil || strings.Contains(err.Error(), "made-up-literal") || !strings.Contains(err.Error(), "max_parallel") {
		t.Errorf("got %v", err)
	}
}

// holdVariable makes this test program hold a database open instead of testing.
const holdVariable = "STORE_TEST_HOLDS"

func TestADatabaseInUseIsRefused(t *testing.T) {
	if path := os.Getenv(holdVariable); path != "" {
		db := openRaw(t, path)
		defer db.Close()
		if _, err := db.Exec("UPDATE plans SET title = title"); err != nil {
			t.Fatal(err)
		}
		fmt.Println("held")
		bufio.NewReader(os.Stdin).ReadString('\n')
		return
	}
	path := original(t, "0.4.1")
	cmd := exec.Command(os.Args[0], "-test.run=^TestADatabaseInUseIsRefused$")
	cmd.Env = append(os.Environ(), holdVariable+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "held\n" {
		t.Errorf("the other process said %q (%v)", line, err)
	}
	_, err = importing{path: path}.into(t, open(t, Options{}))
	if plan.KindOf(err) != plan.Unavailable || !strings.Contains(err.Error(), fmt.Sprintf("in use by process %d", cmd.Process.Pid)) {
		t.Errorf("while it is in use: %v", err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the other process: %v", err)
	}
	mustImport(t, open(t, Options{}), importing{path: path})
}
