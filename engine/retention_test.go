package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

// talking is an agent that says a lot and writes a file.
func talking(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
	h.Emit(plugin.Text(strings.Repeat("word ", 400), ""))
	if err := os.WriteFile(filepath.Join(task.WorkDir, "new.txt"), []byte("text\n"), 0o644); err != nil {
		return plugin.Result{}, err
	}
	return enginetest.Done(ctx, task, h)
}

func wentBy(t *testing.T, e *engine.Engine, r engine.Retention) []plan.PlanID {
	t.Helper()
	x, err := e.PreviewRetention(bg, &r)
	must(t, err)
	ids := []plan.PlanID{}
	for _, p := range x.Go {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestRetentionSaysWhatWouldGo(t *testing.T) {
	t.Parallel()
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": talking})
	var later atomic.Int64
	began := time.Now()
	o.Now = func() time.Time { return began.Add(time.Duration(later.Load())) }
	e := enginetest.Start(t, o)
	first := finished(t, e, spec(t, "a b"))
	later.Add(int64(24 * time.Hour))
	second := finished(t, e, spec(t, "a"))
	resting, waiting := submit(t, e, spec(t, "a")), spec(t, "a u:a")
	waiting.Nodes[1].Kind = "user"
	third := submit(t, e, waiting)
	must(t, e.StartPlan(bg, third, plan.Builtin))
	enginetest.Until(t, e, third, "waiting", enginetest.State(ref(third, 2), plan.Ready))
	later.Add(int64(24 * time.Hour))

	for _, c := range []struct {
		by   engine.Retention
		want []plan.PlanID
	}{
		{engine.Retention{}, []plan.PlanID{}},
		{engine.Retention{KeepDays: 3}, []plan.PlanID{}},
		{engine.Retention{KeepDays: 1}, []plan.PlanID{first}},
		{engine.Retention{KeepGB: 1}, []plan.PlanID{}},
		{engine.Retention{KeepGB: 0.000_004}, []plan.PlanID{first}},
		{engine.Retention{KeepGB: 0.000_001}, []plan.PlanID{first, second}},
	} {
		if diff := cmp.Diff(c.want, wentBy(t, e, c.by)); diff != "" {
			t.Errorf("%+v:\n%s", c.by, diff)
		}
	}
	for id, words := range map[plan.PlanID]string{resting: "not over", third: "not over"} {
		refused(t, e.ApplyRetention(bg, []plan.PlanID{first, id}), plan.Invalid, words)
	}
	refused(t, e.ApplyRetention(bg, []plan.PlanID{99, first}), plan.Invalid, "there is no plan 99")
	refused(t, e.ApplyRetention(bg, nil), plan.Invalid, "plan_ids")
	if s, err := e.Snapshot(bg, first); err != nil || s.TrimmedAt != 0 {
		t.Errorf("a refusal removed something: %v %v", s.TrimmedAt, err)
	}
}

func TestAppliedRetentionKeepsResultsAndTakesTranscripts(t *testing.T) {
	t.Parallel()
	e := watching(t, talking)
	id, other := finished(t, e, spec(t, "a b:a")), finished(t, e, spec(t, "a"))
	told := func(p plan.PlanID) (events int, diff string) {
		t.Helper()
		run, err := e.RunOf(bg, ref(p, 1), 1)
		must(t, err)
		list, err := e.RunEvents(bg, run, 0, 0, 1000)
		must(t, err)
		files, err := e.Diffs(bg, ref(p, 1))
		must(t, err)
		for _, f := range files {
			diff += f.Path + " " + f.Note + f.Diff
		}
		return len(list), diff
	}
	must(t, e.ApplyRetention(bg, []plan.PlanID{id}))
	if n, diff := told(id); n != 0 || !strings.HasPrefix(diff, "new.txt removed on ") {
		t.Errorf("%d events, diffs %q", n, diff)
	}
	if n, diff := told(other); n == 0 || !strings.Contains(diff, "+text") {
		t.Errorf("of another plan: %d events, diffs %q", n, diff)
	}
	s, err := e.Snapshot(bg, id)
	must(t, err)
	if n := s.Node(ref(id, 2)); n.Result == nil || *n.Result != "did Step b" || s.TrimmedAt == 0 {
		t.Errorf("result %v, trimmed at %v", n.Result, s.TrimmedAt)
	}
	if got := wentBy(t, e, engine.Retention{KeepGB: 1e-9}); !cmp.Equal(got, []plan.PlanID{other}) {
		t.Errorf("what went would go again: %v", got)
	}
	must(t, e.ReworkNode(bg, ref(id, 2), "again"))
	enginetest.Until(t, e, id, "done again", enginetest.Status(plan.StatusDone))
	if got := wentBy(t, e, engine.Retention{KeepGB: 1e-9}); len(got) != 2 {
		t.Errorf("what was done since is not kept: %v", got)
	}
}

func TestPatchesGoWithTheirPlan(t *testing.T) {
	t.Parallel()
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": talking})
	o.NoSnapshots, o.DataDir = false, t.TempDir()
	e := enginetest.Start(t, o)
	dir := filepath.Join(o.DataDir, "patches")
	must(t, os.MkdirAll(dir, 0o700))
	keep := func(id plan.PlanID) string {
		t.Helper()
		runs, err := e.Runs(bg, ref(id, 1))
		must(t, err)
		path := filepath.Join(dir, fmt.Sprintf("%s-%s-1234.patch", ref(id, 1), runs[0].ID))
		must(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	gone, trimmed, stays := finished(t, e, spec(t, "a")), finished(t, e, spec(t, "a")), finished(t, e, spec(t, "a"))
	paths := []string{keep(gone), keep(trimmed), keep(stays), filepath.Join(dir, "notes.txt")}
	must(t, os.WriteFile(paths[3], nil, 0o600))
	must(t, e.DeletePlan(bg, gone))
	must(t, e.ApplyRetention(bg, []plan.PlanID{trimmed}))
	var there []bool
	for _, p := range paths {
		_, err := os.Stat(p)
		there = append(there, err == nil)
	}
	if diff := cmp.Diff([]bool{false, false, true, true}, there); diff != "" {
		t.Error(diff)
	}
}
