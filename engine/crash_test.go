package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// world is what goes on while engines come and go: agents, and people who want
// three plans done.
type world struct {
	t    *testing.T
	db   string
	want []engine.SubmitPlanIn // the plans that are to be done
	yard *enginetest.Yard

	survive bool  // agents survive the death of their engine
	crashes []int // at which commits of each life the process dies; 0: never

	engine   atomic.Pointer[engine.Engine] // the one that lives
	crashed  atomic.Bool
	died     chan struct{} // closed when it crashes
	commits  int
	launcher *enginetest.Mortal
	stop     func()
	watch    *watcher

	mu      sync.Mutex
	tries   map[string]int // how often an agent has begun a step, by its title
	stopped bool           // the plan was stopped once
	told    map[string]int // reports that were taken, by text
	failed  bool           // the claim that had to fail has
	lives   int
}

func newWorld(t *testing.T, survive bool, crashes ...int) *world {
	w := &world{t: t, yard: enginetest.NewYard(), survive: survive, crashes: crashes,
		tries: map[string]int{}, told: map[string]int{}}
	w.db = enginetest.Options(t, nil).DB
	w.want = plans(t)
	w.watch = &watcher{t: t, agents: 3, last: func() string { return fmt.Sprintf("life %d, crashes at %v", w.lives, crashes) }}
	return w
}

// live opens an engine on what is there.
func (w *world) live() {
	w.launcher = enginetest.NewMortal(w.yard, map[string]enginetest.Agent{"mock": w.play})
	at := 0
	if w.lives < len(w.crashes) {
		at = w.crashes[w.lives]
	}
	w.lives++
	w.commits = 0
	w.crashed.Store(false)
	died := make(chan struct{})
	w.died = died
	w.watch.before, w.watch.recent = nil, nil
	launcher := w.launcher
	o := enginetest.Options(w.t, nil)
	o.DB, o.Launcher, o.RetryDelay, o.NoSnapshots = w.db, launcher, time.Second, true
	frozen := make(chan struct{}) // closed to clear away what is left of a dead engine
	o = engine.WithCrash(o, func() bool {
		if w.commits++; w.commits >= at && at > 0 {
			if launcher.Die(); !w.crashed.Swap(true) {
				close(died)
			}
			<-frozen
		}
		return w.crashed.Load()
	})
	opened := make(chan error, 1)
	var e *engine.Engine
	go func() {
		var err error
		e, err = engine.Open(context.Background(), o)
		opened <- err
	}()
	synctest.Wait()
	if w.crashed.Load() { // it died while it opened
		close(frozen)
		w.stop = func() {}
		<-opened
		return
	}
	must(w.t, <-opened)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	w.engine.Store(e)
	w.stop = func() {
		w.engine.Store(nil)
		cancel()
		close(frozen)
		if !w.survive {
			must(w.t, w.yard.Clear())
		}
		must(w.t, e.Shutdown(context.Background(), engine.ExitDetach))
		<-ended
		must(w.t, e.Close())
	}
}

// run lets the world go on until the plans are done.
func (w *world) run() *engine.Moment {
	w.live()
	defer func() {
		w.stop()
		must(w.t, w.yard.Clear())
	}()
	for range 400 {
		synctest.Wait()
		if w.crashed.Load() {
			w.stop()
			w.live()
			continue
		}
		e := w.engine.Load()
		m, err := e.Look(context.Background())
		must(w.t, err)
		w.checkSettled(e, m)
		if w.t.Failed() {
			return m
		}
		switch acted := w.act(e, m); {
		case acted || w.crashed.Load():
		case w.over(m):
			w.checkEvents(e, m)
			return m
		default:
			time.Sleep(20 * time.Minute) // nothing to do for now
		}
	}
	m, err := w.engine.Load().Look(context.Background())
	must(w.t, err)
	for _, s := range m.Trees {
		w.t.Log(dump(s))
	}
	w.t.Fatal("the plans do not come to their end")
	return nil
}

func (w *world) checkSettled(e *engine.Engine, m *engine.Moment) {
	w.watch.check(m)
	diff, err := e.BoardDiffers(context.Background(), m)
	must(w.t, err)
	if diff != "" {
		w.watch.fail("the board: %s", diff)
	}
}

func TestCrashAtEveryCommit(t *testing.T) {
	var undisturbed []string
	commits := 0
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		undisturbed = outcome(w.run())
		commits = w.commits
	})
	if t.Failed() || commits < 60 {
		t.Fatalf("undisturbed, it takes %d commits", commits)
	}
	t.Logf("%d commits", commits)
	stride := 1
	if testing.Short() {
		stride = 11
	}
	for k := 1; k <= commits; k += stride {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				survive := k%2 == 0
				w := newWorld(t, survive, k, 1+k%7) // and once more soon after the restart
				want, got := undisturbed, outcome(w.run())
				if !survive {
					want, got = withoutOwnShare(want), withoutOwnShare(got)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("after a crash at commit %d (agents survive: %v) it ends otherwise (-undisturbed +after):\n%s", k, survive, diff)
				}
			})
		})
	}
}

// withoutOwnShare leaves out what the agent said that made a subplan. When it dies
// after that and before its end, the step goes on with the subplan without it.
func withoutOwnShare(list []string) []string {
	var out []string
	for _, s := range list {
		s = strings.ReplaceAll(s, `did Step big\n\n`, "")
		out = append(out, strings.ReplaceAll(s, ", knowing did Step big", ""))
	}
	return out
}

// outcome is what remains of all plans, without times and names of runs.
func outcome(m *engine.Moment) []string {
	var out []string
	for _, s := range m.Trees {
		for _, id := range s.PlanIDs() {
			out = append(out, fmt.Sprintf("plan %d %s: %s, started %v", id, s.Plan(id).Title, s.Status(id), s.Root().Started))
		}
		s.Walk(func(n *plan.Node) {
			out = append(out, fmt.Sprintf("%s %s: %s %s, result %s, error %s, %d open, subplan %d, skipped by %q %d", n.Ref(), n.Title,
				n.State, n.Phase, text(n.Result), text(n.Error), n.Blockers, n.Subplan, n.SkippedBy, n.SkippedCause))
		})
	}
	return out
}

func text(s *string) string {
	if s == nil {
		return "none"
	}
	return fmt.Sprintf("%q", *s)
}

// checkEvents makes sure that nothing that was taken is lost or there twice, and
// that no step was done twice.
func (w *world) checkEvents(e *engine.Engine, m *engine.Moment) {
	for _, s := range m.Trees {
		s.Walk(func(n *plan.Node) {
			runs, err := e.Runs(context.Background(), n.Ref())
			must(w.t, err)
			done := 0
			var reported []string
			for i := range runs {
				if runs[i].Outcome == plan.OutcomeDone {
					done++
				}
				said := w.linesOf(e, &runs[i])
				if runs[i].Kind == plan.RunExternal {
					reported = append(reported, said...)
				} else {
					w.checkRun(n, &runs[i], said)
				}
			}
			if done > 1 {
				w.t.Errorf("step %s was done %d times", n.Ref(), done)
			}
			w.checkReports(n, reported)
		})
	}
}

// linesOf is what a run has said.
func (w *world) linesOf(e *engine.Engine, run *plan.Run) (said []string) {
	events, err := e.RunEvents(context.Background(), run, 1, 0, 1000)
	must(w.t, err)
	for _, ev := range events {
		if ev.Kind == "text" && strings.Contains(string(ev.Data), "line ") {
			said = append(said, string(ev.Data))
		}
	}
	return said
}

// checkRun makes sure that what an agent said is there once and in its order.
func (w *world) checkRun(n *plan.Node, run *plan.Run, said []string) {
	for i, line := range said {
		if !strings.Contains(line, fmt.Sprintf("line %d of %s", i+1, n.Title)) {
			w.t.Errorf("run %d of step %s: entry %d is %s", run.Number, n.Ref(), i+1, line)
		}
	}
	if run.Outcome == plan.OutcomeDone && len(said) != lines {
		w.t.Errorf("run %d of step %s ended well and has %d of %d lines", run.Number, n.Ref(), len(said), lines)
	}
}

// checkReports makes sure that what was taken is there once.
func (w *world) checkReports(n *plan.Node, said []string) {
	for want, times := range w.told {
		if !strings.HasSuffix(want, n.Ref().String()) {
			continue
		}
		got := strings.Count(strings.Join(said, "\n"), want+`"`)
		if got != times {
			w.t.Errorf("report %q was taken %d times and is there %d times", want, times, got)
		}
	}
}
