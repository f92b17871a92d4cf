package main

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// endings are all ways to end a server in order, and what they do with agents.
var endings = []struct {
	name   string
	flags  []string
	end    func(r *rig)
	detach bool
}{
	{"SIGTERM", nil, signalled(syscall.SIGTERM), false},
	{"SIGTERM with --on-exit detach", []string{"--on-exit", "detach"}, signalled(syscall.SIGTERM), true},
	{"SIGINT with --on-exit detach", []string{"--on-exit", "detach"}, signalled(os.Interrupt), false},
	{"POST /api/shutdown", []string{"--on-exit", "detach"}, shutdown(nil), false},
	{"POST /api/shutdown, detach", nil, shutdown(object{"on_exit": "detach"}), true},
}

func signalled(s os.Signal) func(*rig) { return func(r *rig) { r.t.Helper(); r.signal(s) } }

func shutdown(body any) func(*rig) {
	return func(r *rig) { r.t.Helper(); r.post("/api/shutdown", body, nil) }
}

func TestAServerEndsAsItIsToldAndTheNextOneGoesOn(t *testing.T) {
	t.Parallel()
	for _, tt := range endings {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, append([]string{"--mock"}, tt.flags...)...)
			id, dir := r.play(lines("text here", "@1 spawn 600", until("go"), "text there", "result the end"))
			r.awaitText(id, 1, 1, "here")
			before := r.harnesses()
			stream := r.openStream()
			tt.end(r)
			if code := r.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if err := <-stream; err != nil {
				t.Errorf("the stream was cut off: %v", err)
			}
			if tt.detach {
				checkDetached(t, r, before)
			} else {
				r.awaitNobody()
			}
			touch(t, dir, "go")
			r.restart()
			r.awaitPlan(id, "done")
			if tt.detach {
				r.checkUnbroken(id, 1, []string{"here", "there"})
			} else {
				checkStopped(t, r, id)
			}
		})
	}
}

func checkDetached(t *testing.T, r *rig, before []string) {
	t.Helper()
	if diff := cmp.Diff(before, r.harnesses()); diff != "" || len(before) != 1 {
		t.Errorf("the agent did not live on (-before +after):\n%s", diff)
	}
}

// checkStopped makes sure that the first run of a step was stopped, that the step
// went back to pending, and that this was no interruption.
func checkStopped(t *testing.T, r *rig, id int) {
	t.Helper()
	runs := r.runs(id, 1)
	if len(runs) != 2 || runs[0].Outcome != "stopped" || runs[0].Cause != "the server was stopped" || runs[1].Outcome != "done" {
		t.Fatalf("the runs are %+v", runs)
	}
	if v := r.step(id, 1); v.Interruptions != 0 || v.Attempts != 1 {
		t.Errorf("the step counts %d interruptions and %d attempts, want 0 and 1", v.Interruptions, v.Attempts)
	}
	back := func(e event) bool {
		return e.Kind == "status" && e.Data["from"] == "running" && e.Data["to"] == "pending"
	}
	if !slices.ContainsFunc(r.transcript(id, 1, 1), back) {
		t.Error("the step did not go back to pending")
	}
}

func TestAnIdleServerEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range endings {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, append([]string{"--mock"}, tt.flags...)...)
			stream := r.openStream()
			tt.end(r)
			if code := r.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if err := <-stream; err != nil {
				t.Errorf("the stream was cut off: %v", err)
			}
			r.awaitNobody()
		})
	}
}

// An agent that ignores every stop keeps a server that ends for seconds, in which
// the exit code of an orderly end is not there yet.
func TestASecondSignalEndsTheServerAtOnceAndStillLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	id, _ := r.play(lines("spawn 600", "orphan 600", "hang"))
	orphan := pidIn(t, r.awaitText(id, 1, 1, "orphan pid"))
	for !r.isOver() {
		r.signal(syscall.SIGTERM)
		time.Sleep(20 * time.Millisecond) // or the system takes two for one
	}
	if code := r.code(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	r.awaitNobody()
	await(t, "the child that hid is gone too", func() bool { return !alive(orphan) })
}

func TestAServerEndsAlthoughAnAgentIgnoresIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	id, _ := r.play(lines("spawn 600", "orphan 600", "@1 hang", "result the end"))
	orphan := pidIn(t, r.awaitText(id, 1, 1, "orphan pid"))
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.awaitNobody()
	await(t, "the child that hid is gone too", func() bool { return !alive(orphan) })
	r.restart()
	r.awaitPlan(id, "done")
	checkStopped(t, r, id)
}
