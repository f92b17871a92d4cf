package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/clearbox-go/clearbox/engine"
	"github.com/clearbox-go/clearbox/engine/enginetest"
	"github.com/clearbox-go/clearbox/engine/plan"
	"github.com/clearbox-go/clearbox/plugin"
)

const (
	kept = "what it did is in the working directory"
	lost = "its changes were not kept"
)

// What an isolated step did is in the folder when it was brought back, and nowhere
// when it failed: the next agent must not look for it in vain.
func TestAReworkedIsolatedStepIsToldWhetherItsWorkIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		ends error
		want string
		not  string
	}{
		"brought back": {nil, kept, lost},
		"failed":       {errors.New("no"), lost, kept},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := replacing(nil)
			e := watching(t, func(ctx context.Context, task plugin.Task, h plugin.Host) (plugin.Result, error) {
				r, err := work(ctx, task, h)
				return r, errors.Join(err, c.ends)
			})
			id := submit(t, e, isolated(t, "2>two"))
			must(t, e.StartPlan(bg, id, plan.Builtin))
			enginetest.Until(t, e, id, "over", func(s *plan.Snapshot) bool {
				return s.Status(id) == plan.StatusDone || s.Status(id) == plan.StatusFailed
			})
			must(t, e.StopPlan(bg, id))
			must(t, e.ReworkNode(bg, ref(id, 1), "use tabs"))
			text, err := e.Context(bg, ref(id, 1))
			must(t, err)
			if !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
				t.Errorf("the next agent is told\n%s\nwant %q in it", text, c.want)
			}
		})
	}
}

// slowScan is a launcher that knows no harness before it was let look for them.
type slowScan struct {
	enginetest.Launcher
	look   chan struct{}
	looked chan struct{}
}

func (l *slowScan) Scan(ctx context.Context) []engine.HarnessFound {
	<-l.look
	close(l.looked)
	return l.Launcher.Scan(ctx)
}

func (l *slowScan) Found() []engine.HarnessFound {
	select {
	case <-l.looked:
		return l.Launcher.Found()
	default:
		return nil
	}
}

// A server that has only just started does not refuse what it will know in a moment.
func TestWhatNeedsAHarnessWaitsForTheFirstLook(t *testing.T) {
	l := &slowScan{look: make(chan struct{}), looked: make(chan struct{})}
	l.Agents = map[string]enginetest.Agent{"own": enginetest.Done}
	o := enginetest.Options(t, nil)
	o.Launcher = l
	e := enginetest.Start(t, o)
	ended, cancel := context.WithCancel(bg)
	cancel()
	if _, err := e.CreateProfile(ended, engine.ProfileFields{Name: p("a"), Harness: p("own")}); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait of a caller that has gone ends with %v", err)
	}
	id := submit(t, e, spec(t, "a"))
	if _, err := e.Review(ended, ref(id, 0), "mock"); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait for a review ends with %v", err)
	}
	made, judged := make(chan error, 2), make(chan error, 1)
	go func() {
		_, err := e.CreateProfile(bg, engine.ProfileFields{Name: p("a"), Harness: p("own")})
		made <- err
	}()
	go func() { made <- e.CheckDraft(bg, 0, engine.ProfileFields{Name: p("b"), Harness: p("own")}) }()
	go func() {
		_, err := e.Review(bg, ref(id, 0), "mock")
		judged <- err
	}()
	close(l.look)
	for _, c := range []chan error{made, made, judged} {
		must(t, <-c)
	}
}
