package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// until is a line of a script that waits for a file in the working directory.
func until(name string) string { return "run until [ -e " + name + " ]; do sleep 0.02; done" }

func lines(l ...string) string { return strings.Join(l, "\n") }

// touch makes the file that an agent waits for.
func touch(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// harnesses returns the harness processes of a rig, as "pid since start".
func (r *rig) harnesses() []string {
	var out []string
	for _, p := range processesIn(r.dir) {
		if p.isHarness() {
			out = append(out, fmt.Sprintf("%d since %s", p.pid, p.start))
		}
	}
	slices.Sort(out)
	return out
}

// numbered is what the mock says in two floods.
func numbered(first, second int) []string {
	var want []string
	for _, n := range []int{first, second} {
		for i := 1; i <= n; i++ {
			want = append(want, fmt.Sprintf("flood %d of %d", i, n))
		}
	}
	return want
}

func TestAgentsWorkOnWhenTheServerIsKilledAndNothingIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	stream := r.listen(t)
	script := lines("text here", until("go"), "flood 1500", until("more"), "flood 900", until("end"), "result the end")
	id, dir := r.play(script, script, script)
	for n := 1; n <= 3; n++ {
		r.awaitText(id, n, 1, "here")
	}
	before := r.harnesses()
	if len(before) != 3 {
		t.Fatalf("%d harnesses run, want 3: %v", len(before), before)
	}
	again := func() {
		r.kill()
		r.restart()
		stream.moved(r.url())
	}
	touch(t, dir, "go")
	await(t, "the agents are in the middle", func() bool { return len(stream.heard(id, 1)) > 50 })
	r.kill()
	touch(t, dir, "more") // what they say now, nobody hears
	r.restart()
	stream.moved(r.url())
	again() // perhaps before it has found them again
	r.awaitText(id, 2, 1, "flood")
	again()
	for n := 1; n <= 3; n++ {
		r.awaitText(id, n, 1, "flood 900 of 900")
	}
	if diff := cmp.Diff(before, r.harnesses()); diff != "" {
		t.Errorf("other processes go on (-before +after):\n%s", diff)
	}
	touch(t, dir, "end")
	r.awaitPlan(id, "done")
	want := append([]string{"here"}, numbered(1500, 900)...)
	for n := 1; n <= 3; n++ {
		r.checkUnbroken(id, n, want)
		await(t, "the stream has it all", func() bool { return len(stream.heard(id, n)) >= len(want) })
		if diff := cmp.Diff(want, stream.heard(id, n)); diff != "" {
			t.Errorf("step %d, heard over the stream (-want +got):\n%s", n, diff)
		}
	}
	if stream.resyncs != 0 {
		t.Errorf("the stream gave up %d times", stream.resyncs)
	}
}

// checkUnbroken makes sure that a step was done by one run that was never
// interrupted, and that said exactly this.
func (r *rig) checkUnbroken(id, n int, want []string) {
	r.t.Helper()
	v := r.step(id, n)
	if v.Status != "done" || v.Interruptions != 0 || v.Result != "the end" {
		r.t.Errorf("step %d is %s with result %q after %d interruptions", n, v.Status, v.Result, v.Interruptions)
	}
	if runs := r.runs(id, n); len(runs) != 1 || runs[0].Outcome != "done" {
		r.t.Errorf("step %d has the runs %+v", n, runs)
	}
	events := r.transcript(id, n, 1)
	if diff := cmp.Diff(want, textsOf(events, id, n)); diff != "" {
		r.t.Errorf("step %d (-want +got):\n%s", n, diff)
	}
	for i := 1; i < len(events); i++ {
		if events[i].ID <= events[i-1].ID {
			r.t.Fatalf("event %d comes after event %d", events[i].ID, events[i-1].ID)
		}
	}
}

// Two kills at any moment cannot make a step fail: that takes three
// interruptions.
func TestAPlanSurvivesKillsAtAnyMoment(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	r := newRig(t, "--mock")
	g := graph{WorkingDirectory: t.TempDir()}
	const steps = 12
	for i := 1; i <= steps; i++ {
		g.Nodes = append(g.Nodes, node{Key: strconv.Itoa(i), Title: strconv.Itoa(i), Description: lines("```mock",
			fmt.Sprintf("append log.txt \"%d\\n\"", i), "flood 100", "result the end", "```")})
		if i > 3 {
			g.Edges = append(g.Edges, [2]string{strconv.Itoa(i - 3), strconv.Itoa(i)})
		}
	}
	stream := r.listen(t)
	id := r.submit(g)
	r.begin(id)
	for range 2 {
		count := func() int { return strings.Count(stream.all(), "\n\n") }
		goal := count() + 1 + rng.IntN(40)
		await(t, "something has happened", func() bool { return count() >= goal || r.plan(id).Status == "done" })
		r.kill()
		r.restart()
		stream.moved(r.url())
	}
	r.awaitPlan(id, "done")
	interrupted := 0
	for n := 1; n <= steps; n++ {
		runs := r.runs(id, n)
		last := len(runs)
		if diff := cmp.Diff(numbered(100, 0), textsOf(r.transcript(id, n, last), id, n)); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", n, diff)
		}
		for _, run := range runs[:last-1] {
			if interrupted++; run.Outcome != "interrupted" || run.Cause == "" {
				t.Errorf("step %d has a run that ended as %q: %s", n, run.Outcome, run.Cause)
			}
		}
	}
	written, err := os.ReadFile(filepath.Join(g.WorkingDirectory, "log.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(written), "\n"); got < steps || got > steps+interrupted {
		t.Errorf("%d steps were interrupted %d times, and worked %d times", steps, interrupted, got)
	}
}

// pidIn reads the number of a process that an agent told.
func pidIn(t testing.TB, text string) int {
	t.Helper()
	f := strings.Fields(text)
	pid, err := strconv.Atoi(f[len(f)-1])
	if err != nil {
		t.Fatalf("no process in %q", text)
	}
	return pid
}

// harnessOf finds the harness of a step that has run "echo $PPID", and its
// supervisor.
func (r *rig) harnessOf(id, n int) (harness, supervisor process) {
	r.t.Helper()
	pid := pidIn(r.t, r.awaitText(id, n, 1, "harness "))
	harness, ok := readProcess(pid)
	if !ok || !harness.isHarness() {
		r.t.Fatalf("process %d is no harness: %v", pid, harness)
	}
	if supervisor, ok = readProcess(harness.parent); !ok {
		r.t.Fatalf("harness %d has no supervisor", pid)
	}
	return harness, supervisor
}

func TestAStepWhoseAgentIsKilledIsRunAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		kill  func(r *rig, harness, supervisor process)
		cause string
	}{
		{"the harness", func(_ *rig, harness, _ process) { harness.kill() }, "killed by signal 9"},
		{"the supervisor", func(_ *rig, _, supervisor process) { supervisor.kill() }, "its supervisor was killed"},
		{"the harness while there is no server", func(r *rig, harness, _ process) {
			r.kill()
			harness.kill()
			await(r.t, "it is gone", func() bool { return !alive(harness.pid) })
			r.restart()
		}, "killed by signal 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "--mock")
			whole := lines("run echo harness $PPID", until("go"), "result the end")
			children := "@1 spawn 600"
			if tt.name != "the supervisor" { // who alone knows of a child that hides so well
				children = lines(children, "@1 orphan 600")
			}
			id, dir := r.play(lines(children, "@1 run echo harness $PPID", "@1 hang", "result the end"), whole, whole)
			victim, supervisor := r.harnessOf(id, 1)
			others := []process{{}, {}}
			for i := range others {
				others[i], _ = r.harnessOf(id, i+2)
			}
			left := []int{pidIn(t, r.awaitText(id, 1, 1, "spawned pid"))}
			if tt.name != "the supervisor" {
				left = append(left, pidIn(t, r.awaitText(id, 1, 1, "orphan pid")))
			}
			for _, pid := range left {
				if !alive(pid) {
					t.Fatalf("process %d of the agent is gone before its time", pid)
				}
			}
			tt.kill(r, victim, supervisor)
			r.awaitStep(id, 1, "done")
			if first := r.runs(id, 1)[0]; first.Outcome != "interrupted" || !strings.Contains(first.Cause, tt.cause) {
				t.Errorf("the run ended as %q, %q; want interrupted by %q", first.Outcome, first.Cause, tt.cause)
			}
			for _, pid := range append(left, victim.pid, supervisor.pid) {
				await(t, fmt.Sprintf("process %d of the killed run is gone", pid), func() bool { return !alive(pid) })
			}
			for _, p := range others {
				if now, ok := readProcess(p.pid); !ok || now.start != p.start {
					t.Errorf("another agent, %v, is gone", p)
				}
			}
			touch(t, dir, "go")
			r.awaitPlan(id, "done")
			if v := r.step(id, 1); v.Interruptions != 1 || v.Attempts != 1 {
				t.Errorf("the step counts %d interruptions and %d attempts, want 1 and 1", v.Interruptions, v.Attempts)
			}
			for n := 2; n <= 3; n++ {
				r.checkUnbroken(id, n, nil)
			}
		})
	}
}

func TestAgentsOfAServerThatNeverComesBackEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock", "--orphan-after", "500ms")
	id, _ := r.play(lines("spawn 600", "orphan 600", "@1 hang", "result the end"))
	orphan := pidIn(t, r.awaitText(id, 1, 1, "orphan pid"))
	r.kill()
	r.awaitNobody()
	await(t, "the child that hid is gone too", func() bool { return !alive(orphan) })
	r.restart() // at last
	r.awaitPlan(id, "done")
	if first := r.runs(id, 1)[0]; first.Outcome != "interrupted" || !strings.Contains(first.Cause, "no server came back") {
		t.Errorf("the run ended as %q: %s", first.Outcome, first.Cause)
	}
}
