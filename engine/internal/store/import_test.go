package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine/plan"
)

// What is the same in a database of theirs and in ours, as a query for each.
var sameInBoth = []struct{ what, theirs, ours string }{
	{"plans", `SELECT id || title || description || COALESCE(parent_plan_id, 0) || COALESCE(parent_node_id, 0) || COALESCE(cwd, '')
		|| next_node_id || created_at || COALESCE(default_agent_profile_id, 0) || COALESCE(max_parallel, 0)
		|| COALESCE(review_agent_profile_id, 0) || COALESCE(executor, '') FROM plans ORDER BY id`,
		`SELECT id || title || description || parent_plan_id || parent_node_id || working_directory || next_node_id || created_at
		|| default_profile_id || max_parallel || review_profile_id || executor FROM plans ORDER BY id`},
	{"steps", `SELECT plan_id || '.' || node_id || title || description || COALESCE(result, '-') || COALESCE(error, '-') || COALESCE(session_id, '')
		|| COALESCE(rework_brief, '-') || COALESCE(agent_profile_id, 0) || COALESCE(tokens_in, '-') || COALESCE(tokens_out, '-')
		|| COALESCE(agent_name, '') || created_at FROM nodes ORDER BY plan_id, node_id`,
		`SELECT plan_id || '.' || node_id || title || description || COALESCE(result, '-') || COALESCE(error, '-') || session_id
		|| COALESCE(rework_brief, '-') || profile_id || COALESCE(tokens_in, '-') || COALESCE(tokens_out, '-')
		|| agent_name || created_at FROM nodes ORDER BY plan_id, node_id`},
	{"states", `SELECT plan_id || '.' || node_id || CASE WHEN status IN ('done', 'failed') THEN status ||
		COALESCE(started_at, 0.0) || COALESCE(finished_at, 0.0) ELSE 'pending' END FROM nodes ORDER BY plan_id, node_id`,
		`SELECT plan_id || '.' || node_id || state || CASE WHEN state = 'pending' THEN '' ELSE started_at || finished_at END
		FROM nodes ORDER BY plan_id, node_id`},
	{"edges", `SELECT plan_id || ' ' || src || ' ' || dst FROM edges ORDER BY 1`,
		`SELECT plan_id || ' ' || from_node || ' ' || to_node FROM edges ORDER BY 1`},
	{"files", `SELECT plan_id || '.' || node_id || ' ' || path || ' ' || key FROM node_files ORDER BY 1`,
		`SELECT plan_id || '.' || node_id || ' ' || path || ' ' || key FROM node_files ORDER BY 1`},
	{"requests", `SELECT plan_id || ' ' || node_id || ' ' || from_node_id FROM node_results_from ORDER BY 1`,
		`SELECT plan_id || ' ' || node_id || ' ' || from_node FROM results_from ORDER BY 1`},
	{"transcripts", `SELECT id || ' ' || plan_id || ' ' || node_id || ' ' || ts || kind || data FROM events ORDER BY id`,
		`SELECT id || ' ' || plan_id || ' ' || node_id || ' ' || ts || kind || data FROM events ORDER BY id`},
	{"diffs", `SELECT plan_id || '.' || node_id || path || diff FROM node_diffs ORDER BY 1`,
		`SELECT n.plan_id || '.' || n.node_id || path || diff FROM diffs d JOIN nodes n ON n.run_id = d.run_id ORDER BY 1`},
	{"reviews", `SELECT plan_id || '.' || COALESCE(node_id, 0) || verdict || summary || COALESCE(findings, '-') || COALESCE(agent_name, '')
		|| COALESCE(tokens_in, '-') || COALESCE(tokens_out, '-') || created_at FROM reviews ORDER BY 1`,
		`SELECT plan_id || '.' || node_id || verdict || summary || COALESCE(findings, '-') || agent_name
		|| COALESCE(tokens_in, '-') || COALESCE(tokens_out, '-') || created_at FROM reviews WHERE dropped = 0 ORDER BY 1`},
	{"agents", `SELECT id || name || REPLACE(harness, 'claude-sdk', 'claude') || COALESCE(model, '') || COALESCE(base_url, '') || COALESCE(api_key_env, '') ||
		COALESCE(api_key, '') || params || tools || COALESCE(permission_mode, '') || COALESCE(system_append, '') ||
		COALESCE(max_parallel, 0) || description || created_at || updated_at FROM agent_profiles ORDER BY id`,
		`SELECT id || name || harness || model || base_url || api_key_env || COALESCE(api_key, '') || params || tools || permission_mode ||
		system_append || max_parallel || description || created_at || updated_at
		FROM profiles LEFT JOIN profile_keys ON profile_id = id ORDER BY id`},
}

func TestADatabaseOfThePythonProgramIsTakenOverWhole(t *testing.T) {
	for _, version := range originals {
		t.Run(version, func(t *testing.T) {
			path := original(t, version)
			s := open(t, Options{})
			out := mustImport(t, s, importing{path: path})
			if out.Shift != 0 || out.Version != version[:3] {
				t.Errorf("numbers go up by %d, version %s", out.Shift, out.Version)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for _, same := range sameInBoth {
				theirs, ours := rows(t, path, same.theirs), rows(t, s.opts.Path, same.ours)
				if same.what == "transcripts" {
					ours = ours[:min(len(ours), len(theirs))] // ours are added at the end
				}
				if len(theirs) == 0 {
					t.Errorf("%s: there are none, which shows nothing", same.what)
				}
				if diff := cmp.Diff(theirs, ours); diff != "" {
					t.Errorf("%s (-theirs +ours):\n%s", same.what, diff)
				}
			}
		})
	}
}

func TestWhatOnlyNewerVersionsHaveComesToo(t *testing.T) {
	s := open(t, Options{})
	mustImport(t, s, importing{path: original(t, "0.4.1",
		`UPDATE nodes SET undeclared_more = 3, undeclared_shared = 1 WHERE plan_id = 11 AND node_id = 1`,
		`UPDATE reviews SET verdict = 'ok', findings = NULL WHERE node_id IS NULL`)})
	for _, c := range []struct{ what, query, want string }{
		{"capability and test level", `SELECT capability || ' ' || test_level FROM profiles WHERE name = 'by-env'`, "edit light"},
		{"how to test", `SELECT test_instructions FROM plans WHERE id = 9`, "make test  # 試験"},
		{"steps in worktrees", `SELECT isolation FROM plans WHERE id = 5`, "worktree"},
		{"no worktrees", `SELECT isolation FROM plans WHERE id = 9`, ""},
		{"user step", `SELECT kind FROM nodes WHERE plan_id = 9 AND node_id = 7`, "user"},
		{"other step", `SELECT kind FROM nodes WHERE plan_id = 9 AND node_id = 6`, "agent"},
		{"undeclared changes", `SELECT undeclared || undeclared_more || undeclared_shared FROM nodes WHERE plan_id = 11 AND node_id = 1`, `["other.txt"]31`},
		{"verdict on the plan", `SELECT verdict || COALESCE(findings, ' none') FROM reviews WHERE node_id = 0`, "ok none"},
		{"key of the folder", `SELECT folder_key = 'key of ' || working_directory FROM plans WHERE id = 9`, "1"},
		{"lines of a diff", `SELECT group_concat(change || ' +' || added || ' -' || removed, ' ') FROM (SELECT * FROM diffs ORDER BY path)`, "changed +1 -0 added +2 -0"},
	} {
		if got := one[string](t, s, c.query); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}

func TestNothingComesInStartedAndTheTranscriptSaysWhy(t *testing.T) {
	s := open(t, Options{})
	out := mustImport(t, s, importing{path: original(t, "0.4.1")})
	if got, want := refsOf(out.Stopped), "6.2 9.4 9.5 9.6 10.2 11.2 11.5"; got != want {
		t.Errorf("stopped: got %s, want %s", got, want)
	}
	for ref, want := range map[string]string{
		"9.4":  `while "slow" worked on it`,
		"9.6":  "while its subplan 10 was at work",
		"11.2": "while its subplan 12 was at work",
		"11.5": `while "外部 agent" had claimed it`,
		"9.7":  `{"from":"ready","to":"pending"}`, // it waited, so nothing is lost
	} {
		r, err := plan.ParseRef(ref)
		if err != nil {
			t.Fatal(err)
		}
		read(t, s, func(tx *Tx) error {
			events, err := tx.NodeEventsBefore(r, 0, 1)
			if err == nil && !strings.Contains(strings.ReplaceAll(string(events[0].Data), `\"`, `"`), want) {
				t.Errorf("step %s: the last line is %s, want %q in it", ref, events[0].Data, want)
			}
			return err
		})
	}
	read(t, s, func(tx *Tx) error {
		n, err := tx.Node(plan.Ref{Plan: 11, Node: 2})
		if err == nil && (!n.AgentDone || n.AgentKind != "external") {
			t.Errorf("step 11.2: its own agent was done (%v) and of kind %q: only its subplan is left", n.AgentDone, n.AgentKind)
		}
		return err
	})
}

func TestRunsAreFoundAgainInTranscripts(t *testing.T) {
	s := open(t, Options{})
	mustImport(t, s, importing{path: original(t, "0.4.1")})
	const query = `SELECT plan_id || '.' || node_id || ' ' || number || ' ' || kind || ' ' || outcome || ' ' || agent_name || ' ' || harness || ' ' ||
		(SELECT COUNT(*) FROM events e WHERE e.run_id = r.id AND e.kind = 'status') || ' ' || COALESCE(tokens_in, '-')
		FROM runs r ORDER BY plan_id, node_id, number`
	want := strings.TrimSpace(`
1.0 1 plan_review done 秘书 🤖  0 100
1.0 2 plan_review done 秘书 🤖  0 100
1.1 1 step done 秘书 🤖 openai 2 200
1.1 2 review done 秘书 🤖  0 100
1.1 3 step done 秘书 🤖 openai 2 200
1.1 4 review done 秘书 🤖  0 100
1.2 1 step done mock mock 2 -
1.2 2 review done mock  0 -
1.5 1 step done mock mock 2 -
2.1 1 step done mock mock 2 -
3.1 1 step done mock mock 2 -
6.1 1 step done mock mock 2 -
7.1 1 step stopped slow mock 2 -
9.1 1 step done mock mock 2 -
9.2 1 step stopped slow mock 2 -
9.4 1 step interrupted slow mock 2 -
9.4 2 step interrupted slow mock 2 -
9.5 1 step stopped slow mock 2 -
9.5 2 step interrupted slow mock 2 -
9.5 3 step interrupted slow mock 2 -
9.8 1 step failed by-env openai 2 -
10.1 1 step done mock mock 2 -
10.2 1 step interrupted slow mock 2 -
10.2 2 step interrupted slow mock 2 -
11.1 1 external done 外部 agent  2 -
11.2 1 external done 外部 agent  2 -
11.3 1 external failed 外部 agent  2 -
11.5 1 external interrupted 外部 agent  2 -`)
	var got []string
	read(t, s, func(tx *Tx) error { return tx.list("list runs", &got, query) })
	if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	read(t, s, func(tx *Tx) error {
		run, err := tx.RunByNumber(plan.Ref{Plan: 11, Node: 3}, 1)
		if err == nil && (run.Cause != "no network 🛑" || run.StartedAt == 0 || run.FinishedAt < run.StartedAt) {
			t.Errorf("the run that failed: cause %q, from %v to %v", run.Cause, run.StartedAt, run.FinishedAt)
		}
		return err
	})
	if got := one[int](t, s, `SELECT attempts FROM nodes WHERE plan_id = 1 AND node_id = 1`); got != 2 {
		t.Errorf("the step that ran and was reworked has %d attempts", got)
	}
	if got := one[int](t, s, `SELECT SUM(tokens_in) FROM spend WHERE root_id = 1`); got != 800 {
		t.Errorf("plan 1 used %d tokens in, want those of two runs and four reviews: 800", got)
	}
}

func TestNumbersGoUpWhenTheyAreTaken(t *testing.T) {
	s := open(t, Options{})
	makePlan(t, s, 3)
	write(t, s, func(tx *Tx) error { return tx.Note(1, plan.Ref{Plan: 1, Node: 1}, "", "log", importText{"ours"}) })
	last := one[int64](t, s, `SELECT MAX(id) FROM events`)
	out := mustImport(t, s, importing{path: original(t, "0.4.1")})
	if out.Shift != 1 || out.Plans[0].Was != 1 || out.Plans[0].ID != 2 {
		t.Errorf("numbers go up by %d, the first plan from %d to %d", out.Shift, out.Plans[0].Was, out.Plans[0].ID)
	}
	for query, want := range map[string]string{
		`SELECT title FROM plans WHERE id = 1`:                                               "plan",
		`SELECT parent_plan_id || '.' || parent_node_id FROM plans WHERE id = 4`:             "3.2",
		`SELECT subplan_id FROM nodes WHERE plan_id = 10 AND node_id = 6`:                    "11",
		`SELECT MIN(id) > ` + strconv.FormatInt(last, 10) + ` FROM events WHERE plan_id > 1`: "1",
	} {
		if got := one[string](t, s, query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	next := makePlan(t, s, 1)
	if next.ID != 14 {
		t.Errorf("the next plan has the number %d, want 14", next.ID)
	}
}

func TestTheSameDatabaseIsNotTakenOverTwiceUnlessAsked(t *testing.T) {
	s := open(t, Options{})
	path := original(t, "0.4.1")
	mustImport(t, s, importing{path: path})
	before := dump(t, s)
	moved := filepath.Join(t.TempDir(), "elsewhere.db")
	copyTo(t, path, moved)
	db := openRaw(t, moved)
	if _, err := db.Exec(`INSERT INTO plans (title, created_at) VALUES ('made since', 1)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for _, p := range []string{path, moved} {
		_, err := importing{path: p}.into(t, s)
		if plan.KindOf(err) != plan.Invalid || !strings.Contains(err.Error(), "--again") || !strings.Contains(err.Error(), "plan 1, 2") {
			t.Errorf("%s once more: %v", p, err)
		}
	}
	if diff := cmp.Diff(before, dump(t, s)); diff != "" {
		t.Errorf("a refused import changed something:\n%s", diff)
	}
	out := mustImport(t, s, importing{path: path, again: true})
	if out.Shift != 12 {
		t.Errorf("once more: numbers go up by %d, want 12", out.Shift)
	}
	for _, p := range out.Profiles {
		if !p.Kept {
			t.Errorf("the agent %q came twice", p.Name)
		}
	}
	if _, err := (importing{path: original(t, "0.1.0")}).into(t, s); err != nil {
		t.Errorf("another database: %v", err)
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestARehearsedImportTellsAndLeavesNothing(t *testing.T) {
	s := open(t, Options{})
	makePlan(t, s, 2)
	before := dump(t, s)
	path := original(t, "0.4.1")
	told, err := importing{path: path, dry: true}.into(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, dump(t, s)); diff != "" {
		t.Fatalf("it changed something:\n%s", diff)
	}
	if diff := cmp.Diff(told, mustImport(t, s, importing{path: path})); diff != "" {
		t.Errorf("it told something else than what came (-told +came):\n%s", diff)
	}
}

func TestAnImportThatNobodyWaitsForIsUndone(t *testing.T) {
	s := open(t, Options{})
	path := original(t, "0.4.1")
	from, err := OpenOriginal(t.Context(), path, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	before := dump(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = s.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Import(ctx, from, ImportOptions{FolderKey: func(d string) string { return d }})
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, dump(t, s)); diff != "" {
		t.Errorf("it left something:\n%s", diff)
	}
}

func TestFoldersThatAreGoneAreReported(t *testing.T) {
	s := open(t, Options{})
	path := original(t, "0.1.0")
	base := filepath.Dir(filepath.Dir(path))
	workspace := filepath.Join(base, "data", "workspace")
	if err := os.MkdirAll(filepath.Join(workspace, "plan-9"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := mustImport(t, s, importing{path: path, from: workspace})
	gone := map[string]bool{}
	for _, p := range out.Plans {
		gone[p.Title] = p.FolderGone
		if p.Title == "Without a folder" && p.Folder != filepath.Join(workspace, "plan-9") {
			t.Errorf("a plan without a folder works in %q: it should keep the one it had", p.Folder)
		}
	}
	if !gone["Stopped half way"] || gone["Half way"] {
		t.Errorf("gone: %v", gone)
	}
	if got := one[string](t, s, `SELECT working_directory || first_started_at FROM plans WHERE title = 'Stopped half way'`); got != filepath.Join(base, "stopped")+"0.0" {
		t.Errorf("the plan whose folder is gone: %q; it keeps its name, and may be given another", got)
	}
	if one[int](t, s, `SELECT first_started_at > 0 FROM plans WHERE title = 'Half way'`) != 1 {
		t.Error("a plan that was started lost when")
	}
	if !slices.ContainsFunc(out.Notes, func(n string) bool { return strings.Contains(n, "plan-9") }) {
		t.Errorf("notes: %q", out.Notes)
	}
}
