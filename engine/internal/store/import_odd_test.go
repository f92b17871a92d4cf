package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

func TestWhatBelongsToNothingIsLeftOut(t *testing.T) {
	s := open(t, Options{})
	out := mustImport(t, s, importing{path: original(t, "0.4.1",
		`INSERT INTO nodes (plan_id, node_id, title, created_at) VALUES (99, 1, 'x', 1)`,
		`INSERT INTO edges VALUES (1, 1, 77), (99, 1, 2)`,
		`INSERT INTO events (plan_id, node_id, ts, kind, data) VALUES (1, 77, 1, 'text', '{}'), (99, 0, 1, 'text', '{}')`,
		`INSERT INTO node_files VALUES (1, 77, 'a', 'a'), (1, 5, '../b', 'b'), (1, 1, 'DOCS/plan.md', 'other')`,
		`INSERT INTO node_results_from VALUES (1, 77, 1), (1, 5, 77), (1, 5, 5)`,
		`INSERT INTO node_diffs VALUES (1, 77, 'a', ''), (1, 3, 'b', '')`,
		`INSERT INTO reviews (plan_id, node_id, verdict, created_at) VALUES (1, 77, 'ok', 1), (99, NULL, 'ok', 1), (1, 5, 'great', 1)`,
		`INSERT INTO plans (id, title, parent_plan_id, parent_node_id, started, created_at) VALUES (20, 'orphan', 1, 77, 0, 1), (21, 'orphan of a plan', 98, 1, 0, 1)`,
		`INSERT INTO plans (id, title, parent_plan_id, parent_node_id, started, created_at) VALUES (22, 'below the orphan', 20, 1, 0, 1)`,
		`INSERT INTO nodes (plan_id, node_id, title, created_at) VALUES (20, 1, 'x', 1)`,
		`UPDATE nodes SET undeclared_files = 'oops' WHERE plan_id = 1 AND node_id = 2`)})
	want := []string{
		`plan 20 "orphan" belonged to a step that is not there any more: it is a plan of its own here`,
		`plan 21 "orphan of a plan" belonged to a step that is not there any more: it is a plan of its own here`,
		`step 1.2: the list of files that it changed beyond those declared cannot be read, and is left out`,
		"steps left out, since what they belong to is not there any more: 1",
		"transcript entries left out, since what they belong to is not there any more: 2",
		"edges left out, since what they belong to is not there any more: 2",
		`step 1.5 declared the file "../b", which cannot be declared here; left out`,
		"files left out, since what they belong to is not there any more: 1",
		"requests for results left out, since what they belong to is not there any more: 3",
		"diffs left out, since their step is not there any more, or never ran: 2",
		`step 1.5: the verdict "great" of its review is not known here; it counts as an error`,
		"reviews left out, since what they belong to is not there any more: 2",
	}
	if diff := cmp.Diff(want, out.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if got := one[int](t, s, `SELECT root_id FROM plans WHERE id = 22`); got != 20 {
		t.Errorf("the plan below an orphan has the root %d, want 20", got)
	}
}

func TestTextsThatCannotBeStoredAsTheyAre(t *testing.T) {
	s := open(t, Options{})
	mustImport(t, s, importing{path: original(t, "0.4.1",
		`UPDATE plans SET title = CAST(x'61FF62' AS TEXT), description = 'a' || char(0) || 'b' WHERE id = 1`,
		`UPDATE nodes SET result = CAST(x'FF' AS TEXT) WHERE plan_id = 1`,
		`UPDATE events SET data = 'no JSON "at" all' WHERE id = 7`,
		`UPDATE events SET data = '{"text": 5, "session_id": "kept"}' WHERE id = 4`)})
	read(t, s, func(tx *Tx) error {
		p, err := tx.Plan(1)
		if err == nil && (p.Title != "a\uFFFDb" || p.Description != "a\uFFFDb") {
			t.Errorf("title %q, description %q", p.Title, p.Description)
		}
		return err
	})
	if got := one[string](t, s, `SELECT json_extract(data, '$.text') FROM events WHERE id = 7`); got != `no JSON "at" all` {
		t.Errorf("the entry that was no JSON says %q", got)
	}
	if got := one[string](t, s, `SELECT session_id FROM runs WHERE plan_id = 1 AND node_id = 1 AND number = 1`); got == "" {
		t.Error("the session of a run is lost because of another field")
	}
}

// Whatever the states are and whichever entries are missing, the import holds
// together.
func TestImportsOfAnythingHoldTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	states := []string{"pending", "ready", "running", "done", "failed"}
	for i := range 25 {
		var changes []string
		for range 12 {
			where := fmt.Sprintf("WHERE plan_id = %d AND node_id = %d", 1+r.IntN(12), 1+r.IntN(6))
			changes = append(changes,
				fmt.Sprintf("UPDATE nodes SET status = '%s' %s", states[r.IntN(len(states))], where),
				fmt.Sprintf("UPDATE nodes SET agent_done = 1 - agent_done, agent_kind = %s %s", []string{"NULL", "'builtin'", "'external'"}[r.IntN(3)], where),
				fmt.Sprintf("DELETE FROM events WHERE id %% %d = 0", 2+r.IntN(30)))
		}
		if r.IntN(3) == 0 {
			changes = append(changes, "DELETE FROM events WHERE plan_id > 1")
		}
		s := open(t, Options{})
		mustImport(t, s, importing{path: original(t, originals[r.IntN(3)], changes...)})
		if t.Failed() {
			t.Fatalf("round %d: %s", i, strings.Join(changes, ";\n"))
		}
	}
}

func TestDiffsAreRead(t *testing.T) {
	for _, c := range []struct {
		name, diff     string
		kind           plan.DiffKind
		added, removed int
	}{
		{"changed", "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n+d\n", plan.DiffChanged, 2, 1},
		{"changed, without git's lines", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", plan.DiffChanged, 1, 1},
		{"lines that look like heads", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n", plan.DiffChanged, 1, 1},
		{"lines that look like heads of new files", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n new file mode\n-x\n", plan.DiffChanged, 0, 1},
		{"added", "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file", plan.DiffAdded, 1, 0},
		{"added, without git's lines", "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n", plan.DiffAdded, 1, 0},
		{"deleted", "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", plan.DiffDeleted, 0, 1},
		{"mode", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", plan.DiffMode, 0, 0},
		{"mode and more", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", plan.DiffChanged, 1, 1},
		{"binary", "diff --git a/f b/f\nindex 1..2\nBinary files a/f and b/f differ\n", plan.DiffChanged, 0, 0},
		{"binary and mode", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\nBinary files a/f and b/f differ\n", plan.DiffChanged, 0, 0},
		{"nothing", "", plan.DiffChanged, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := plan.FileDiff{Kind: c.kind, Added: c.added, Removed: c.removed, Binary: strings.HasPrefix(c.name, "binary"), Diff: c.diff}
			if diff := cmp.Diff(want, readDiff(c.diff)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzReadOld(f *testing.F) {
	for _, s := range []string{`{"text": "agent: a (mock)", "agent": {"name": "a", "profile_id": 1}}`, `{"from": "ready", "to": "running"}`, `{"text": 5}`, "NaN", "", `"\ud800"`, "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		e := &oldEvent{Kind: "system", Data: data}
		d := readOld(e)
		for _, s := range []string{e.Data, d.Text, announced(d.Text)} {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				t.Errorf("%q holds what cannot be stored", s)
			}
		}
		again := &oldEvent{Kind: "system", Data: e.Data}
		if readOld(again); again.Data != e.Data {
			t.Errorf("read twice: %q, then %q", e.Data, again.Data)
		}
	})
}

func TestAnnouncedNames(t *testing.T) {
	for text, want := range map[string]string{
		"agent: mock (mock)":                            "mock",
		"review: agent: a (b) (openai / gpt (preview))": "a (b) (openai / gpt",
		"review: agent: bare":                           "bare",
		"something else":                                "",
	} {
		if got := announced(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
