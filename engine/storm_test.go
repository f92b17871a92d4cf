package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
)

// storm asks an engine for operations at random, several at once, while agents
// and external ones come and go.
type storm struct {
	*engine.Engine
	t     *testing.T
	r     *rand.Rand
	opts  engine.Options
	stop  func()
	cast  *cast
	w     *watcher
	view  *engine.Moment // what was there before the operations at hand
	asked []string
	did   map[string]int

	gates    bool // plans have gates, approval and budgets too
	isolated bool // and their steps work in worktrees
}

// operation is something to ask for. Its arguments are chosen at once, from the
// view; nil means that there is nothing to ask it of.
type operation struct {
	name   string
	weight int
	choose func(*storm) func(context.Context) error
}

func newStorm(t *testing.T, seed uint64, change ...func(*storm)) *storm {
	s := &storm{t: t, r: rand.New(rand.NewPCG(seed, 21)), cast: newCast(), did: map[string]int{}}
	s.w = &watcher{t: t, agents: 1 + s.r.IntN(4), last: func() string { return strings.Join(s.asked, "; ") }}
	for _, c := range change {
		c(s)
	}
	o := enginetest.Options(t, map[string]enginetest.Agent{"mock": s.cast.play, "judge": s.cast.judge})
	o.MaxConcurrency, o.RetryDelay, o.NoSnapshots = s.w.agents, time.Second, !s.isolated
	s.opts = engine.WithCrash(o, s.w.commit)
	s.open()
	for i, name := range []string{"slow", "quick"} {
		if _, err := s.CreateProfile(context.Background(), engine.ProfileFields{Name: &name, Harness: p("mock"), MaxParallel: p(1 + i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CreateProfile(context.Background(), engine.ProfileFields{Name: p("judge"), Harness: p("judge")}); err != nil {
		t.Fatal(err)
	}
	if s.gates { // deliveries are always on their way: nobody is there to take them
		hook(t, s.Engine, "http://127.0.0.1:1/")
	}
	return s
}

func (s *storm) open() {
	s.w.opening.Store(true)
	s.Engine, s.stop = enginetest.Run(s.t, s.opts)
	s.w.engine.Store(s.Engine)
	synctest.Wait()
	s.w.opening.Store(false)
}

func (s *storm) close() {
	s.w.engine.Store(nil)
	s.stop()
}

// look waits until nothing moves and reads what is there.
func (s *storm) look() {
	synctest.Wait()
	m, err := s.Look(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	s.view = m
}

// round asks for a few operations at once and checks what has become of them.
func (s *storm) round(ops []operation) {
	s.asked = nil
	s.look()
	var all sync.WaitGroup
	for range 1 + s.r.IntN(4) {
		o := s.draw(ops)
		do := o.choose(s)
		if do == nil {
			continue
		}
		s.did[o.name]++
		s.asked = append(s.asked, o.name)
		all.Go(func() {
			err := do(context.Background())
			if kind := plan.KindOf(err); kind == plan.Internal || kind == plan.Unavailable || kind == plan.Malformed {
				s.t.Errorf("%s: %v", o.name, err)
			}
		})
	}
	all.Wait()
	s.settle()
	if s.r.IntN(3) == 0 {
		time.Sleep(time.Duration(s.r.IntN(90)) * time.Second)
		s.settle()
	}
}

func (s *storm) draw(ops []operation) operation {
	total := 0
	for _, o := range ops {
		total += o.weight
	}
	k := s.r.IntN(total)
	return ops[slices.IndexFunc(ops, func(o operation) bool { k -= o.weight; return k < 0 })]
}

// settle waits until nothing moves, and checks what can be checked only then.
func (s *storm) settle() {
	s.look()
	s.w.check(s.view)
	for _, tree := range s.view.Trees {
		tree.Walk(func(n *plan.Node) {
			if n.Working() && n.Phase == plan.PhaseNeedsPerson {
				s.w.fail("step %s is %s and nobody works on it", n.Ref(), show(n))
			}
		})
	}
	diff, err := s.BoardDiffers(context.Background(), s.view)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff != "" {
		s.w.fail("the board: %s", diff)
	}
	if working := s.cast.list(); !s.w.wrong.Load() {
		open := 0
		for _, r := range s.view.Open {
			if r.Kind == plan.RunStep {
				open++
			}
		}
		if len(working) != open {
			s.w.fail("%d agents are at work, %d runs of theirs are open", len(working), open)
		}
	}
}

// restart ends the engine in order and opens it again.
func (s *storm) restart() {
	s.asked = []string{"restart"}
	s.close()
	s.w.before = nil
	s.open()
	s.settle()
}

// endEmpty marks steps done whose subplans wait for a first step that nobody adds.
func (s *storm) endEmpty(tree *plan.Snapshot) {
	tree.Walk(func(n *plan.Node) {
		if n.State == plan.Running && n.Phase == plan.PhaseSubplan && n.RunID == "" && len(tree.NodesOf(n.Subplan)) == 0 {
			must(s.t, s.MarkDone(context.Background(), n.Ref(), nil))
		}
	})
}

// end lets everything come to its end: whatever has happened, each plan can be
// finished.
func (s *storm) end() {
	s.cast.fall()
	for i := range 40 {
		s.asked = []string{fmt.Sprintf("the end, round %d", i)}
		s.look()
		left := false
		for _, tree := range s.view.Trees {
			if len(tree.NodesOf(tree.Root().ID)) > 0 && tree.Status(tree.Root().ID) != plan.StatusDone {
				left = true
				s.push(tree)
				s.endEmpty(tree)
			}
		}
		if !left {
			return
		}
		time.Sleep(2 * time.Minute)
		s.settle()
	}
	for _, tree := range s.view.Trees {
		if tree.Status(tree.Root().ID) != plan.StatusDone {
			tree.Walk(func(n *plan.Node) {
				s.t.Logf("%s %s, %d open, subplan %d, skipped by %q %d", n.Ref(), show(n), n.Blockers, n.Subplan, n.SkippedBy, n.SkippedCause)
			})
			s.w.fail("plan %d (started %v, on failure %q) does not come to its end", tree.Root().ID, tree.Root().Started, tree.Root().OnFailure)
		}
	}
}

// push does what a person would do about a plan that is not done.
func (s *storm) push(tree *plan.Snapshot) {
	ctx, id := context.Background(), tree.Root().ID
	s.pushGates(tree)
	s.look()
	tree = treeOf(s.view, id) // an approval may have started it
	if !tree.Root().Started {
		if err := s.StartPlan(ctx, id, plan.Builtin); err != nil && !strings.Contains(err.Error(), "results_from") {
			s.w.fail("start plan %d: %v", id, err)
		} else if err != nil {
			s.dropRequests(tree)
		}
	}
	if tree.Root().Executor == plan.External {
		s.finishClaims(ctx)
	}
	if _, err := s.RetryFailed(ctx, id); err != nil {
		s.w.fail("retry what failed in plan %d: %v", id, err)
	}
	tree.Walk(func(n *plan.Node) {
		if n.WaitingForUser() {
			if err := s.MarkDone(ctx, n.Ref(), nil); err != nil {
				s.w.fail("mark %s done: %v", n.Ref(), err)
			}
		}
	})
}

func (s *storm) dropRequests(tree *plan.Snapshot) {
	tree.Walk(func(n *plan.Node) {
		if len(n.ResultsFrom) > 0 && (n.State == plan.Pending || n.State == plan.Ready) {
			err := s.UpdateNode(context.Background(), engine.UpdateNodeIn{PlanID: n.PlanID, NodeID: n.ID,
				NodeFields: engine.NodeFields{ResultsFrom: &[]plan.NodeID{}}})
			if err != nil {
				s.w.fail("drop requests of %s: %v", n.Ref(), err)
			}
		}
	})
}

func (s *storm) finishClaims(ctx context.Context) {
	for {
		c, err := s.Claim(ctx, "finisher", 0)
		if err != nil || c == nil {
			break
		}
	}
	s.look()
	for _, r := range s.view.Open {
		if r.Kind == plan.RunExternal {
			if err := s.Complete(ctx, engine.CompleteIn{Ref: r.Ref(), Result: "done at last"}); err != nil {
				s.w.fail("complete %s: %v", r.Ref(), err)
			}
		}
	}
}

// stormSeeds is how many storms a test raises: a few in each run of all tests, and
// as many as one has time for with make storm.
func stormSeeds(t *testing.T, usual uint64) uint64 {
	text := os.Getenv("CLEARBOX_STORMS")
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		t.Fatalf("CLEARBOX_STORMS is %q: it must be a number of storms", text)
	}
	return n
}

func TestEngineInAStorm(t *testing.T) {
	seeds, rounds := stormSeeds(t, 4), 60
	if testing.Short() {
		seeds, rounds = 2, 30
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			raise(t, rounds, operations(), func(t *testing.T) *storm { return newStorm(t, seed) })
		})
	}
}

// raise has a storm rage for some rounds, and then come to its end.
func raise(t *testing.T, rounds int, ops []operation, begin func(*testing.T) *storm) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		for i := 0; i < rounds && !t.Failed(); i++ {
			s.round(ops)
			if s.r.IntN(25) == 0 && !t.Failed() {
				s.restart()
			}
		}
		if !t.Failed() {
			s.end()
		}
		s.cast.fall()
		s.close()
	})
}
