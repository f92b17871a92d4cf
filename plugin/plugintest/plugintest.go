// Package plugintest is the suite that every harness must pass: ours and other
// people's. It starts the executable the way Clearbox does, once for each case,
// and watches what comes over the wire.
//
// A harness that needs a model is tested with [Options] that point it at a local
// stand-in, so that the suite costs nothing. Without tasks of its own for a case
// the suite falls back on the quick one or skips the case, and says so. What it
// cannot see from outside, such as whether a capability is really enforced, is
// for the harness's own tests.
package plugintest

import (
	"context"
	"testing"
	"time"

	"github.com/clearbox-go/clearbox/plugin"
)

// Options say how to run a harness. The zero value tests what can be tested
// without any knowledge of it.
type Options struct {
	Args    []string       // arguments of the executable
	Env     []string       // added to a short environment, KEY=VALUE
	Profile plugin.Profile // for all tasks and for Check

	// Tasks with a known course. RunID, WorkDir, RunDir and Profile are filled in
	// when empty.
	Quick plugin.Task // ends by itself within seconds; default: a prompt that asks for that
	Long  plugin.Task // runs for at least half a minute unless it is stopped
	Tools plugin.Task // calls at least one tool
	Big   plugin.Task // makes a tool or the agent print many megabytes
	Ask   plugin.Task // asks one question, and ends once it is allowed

	StopGrace  time.Duration // from Stop to the result; default 4 s, as Clearbox waits
	LeaveGrace time.Duration // from the host's leave to the end of all processes; default 10 s
	Timeout    time.Duration // of one case; default 1 min
}

// Status of an [Outcome].
type Status string

// The ways in which a case can end.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Outcome is what came of one case.
type Outcome struct {
	Name   string
	Status Status
	Detail string // why it failed or was skipped, one line for each reason
	Took   time.Duration
}

// Check runs the whole suite on the executable at path. It stops after the first
// case when the harness cannot even be started.
func Check(ctx context.Context, path string, o Options) []Outcome {
	s := newSuite(path, o)
	var out []Outcome
	for _, c := range cases() {
		got := s.outcome(ctx, c)
		out = append(out, got)
		if c.first && got.Status == Fail {
			break
		}
	}
	return out
}

// Run runs the suite as part of a Go test, each case as a subtest where t can
// have some.
func Run(t testing.TB, path string, o Options) {
	t.Helper()
	parent, ok := t.(*testing.T)
	if !ok {
		for _, got := range Check(t.Context(), path, o) {
			report(t, got)
		}
		return
	}
	s := newSuite(path, o)
	for _, c := range cases() {
		passed := parent.Run(c.name, func(t *testing.T) {
			got := s.outcome(t.Context(), c)
			if got.Status == Skip {
				t.Skip(got.Detail)
			}
			report(t, got)
		})
		if c.first && !passed {
			return
		}
	}
}

func report(t testing.TB, got Outcome) {
	t.Helper()
	switch got.Status {
	case Fail:
		t.Errorf("%s: %s", got.Name, got.Detail)
	case Skip:
		t.Logf("%s: skipped: %s", got.Name, got.Detail)
	}
}
