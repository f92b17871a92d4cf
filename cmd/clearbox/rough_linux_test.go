package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// mostMemory is what no server may reach here, in MiB. The race detector takes
// several times what a server needs.
const mostMemory = 400

// watch asks the server for something all the time, until the returned function
// is called, which reports what was not answered.
func (r *rig) watch() (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	var faults []string
	go func() {
		defer close(done)
		for {
			for _, path := range []string{"/api/health", "/api/plans", "/"} {
				if status, _, err := r.ask(http.MethodGet, path, nil); status != http.StatusOK {
					faults = append(faults, fmt.Sprintf("%s: %d %v", path, status, err))
				}
				select {
				case <-end:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		}
	}()
	return func() {
		r.t.Helper()
		close(end)
		<-done
		if len(faults) > 0 {
			r.t.Errorf("the server did not answer: %v", faults)
		}
	}
}

// checkMemory makes sure that the server and the supervisors, which read what
// harnesses print, did not grow with it.
func (r *rig) checkMemory() {
	r.t.Helper()
	for _, p := range processesIn(r.dir) {
		most, err := peakMemory(p.pid)
		if p.isClearbox() && err == nil && most > mostMemory {
			r.t.Errorf("%v took %d MiB, more than %d", p, most, mostMemory)
		}
	}
}

func TestHarnessesThatMisbehaveCostTheirOwnStepOnly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		script  string
		status  string
		outcome string // of the first run
		cause   string // of the first run
		check   func(t *testing.T, r *rig, id int)
	}{
		{name: "prints a line of 100 MB", script: "line 100000000\nresult survived", status: "done", outcome: "done"},
		{name: "says 5 MB at once", script: "big 5000000\nresult survived", status: "done", outcome: "done",
			check: func(t *testing.T, r *rig, id int) {
				text := r.newest(id, 1, 1)[slices.IndexFunc(r.newest(id, 1, 1), func(e event) bool { return e.Kind == "text" })].text()
				if len(text) > 1<<20 || !strings.Contains(text, "characters left out") {
					t.Errorf("the text has %d bytes and ends with %q", len(text), text[len(text)-50:])
				}
			}},
		{name: "exits with code 0 without a result", script: "@1 text bye\n@1 die 0\nresult better", status: "done", outcome: "interrupted",
			cause: "exited with code 0"},
		{name: "dies with code 3", script: "stderr the disk is on fire\n@1 die 3\nresult better", status: "done", outcome: "interrupted",
			cause: "exited with code 3; it said last: the disk is on fire"},
		{name: "panics", script: "panic at the disco", status: "failed", outcome: "failed", cause: "at the disco"},
		{name: "dies each time", script: "die 3", status: "failed", outcome: "interrupted", cause: "exited with code 3",
			check: func(t *testing.T, r *rig, id int) {
				if v := r.step(id, 1); v.Interruptions != 3 || !strings.Contains(v.Error, "interrupted 3 times") {
					t.Errorf("after %d interruptions: %s", v.Interruptions, v.Error)
				}
			}},
		{name: "says that it failed", script: "fail no luck", status: "failed", outcome: "failed", cause: "no luck"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "--mock")
			stop := r.watch()
			id, _ := r.play(tt.script)
			r.awaitStep(id, 1, tt.status)
			stop()
			r.checkMemory()
			first := r.runs(id, 1)[0]
			if first.Outcome != tt.outcome || !strings.Contains(first.Cause, tt.cause) {
				t.Errorf("the first run ended as %q: %s", first.Outcome, first.Cause)
			}
			if tt.check != nil {
				tt.check(t, r, id)
			}
		})
	}
}

func TestAFloodOfEventsIsKeptWhole(t *testing.T) {
	t.Parallel()
	const size = 200_000
	r := newRig(t, "--mock")
	stop := r.watch()
	id, _ := r.play(fmt.Sprintf("flood %d\nresult out of breath", size), "sleep! 1s\nresult calm")
	r.awaitStep(id, 2, "done") // meanwhile
	r.awaitStep(id, 1, "done")
	stop()
	r.checkMemory()
	texts := textsOf(r.transcript(id, 1, 1), id, 1)
	if len(texts) != size {
		t.Fatalf("%d texts came, want %d", len(texts), size)
	}
	for i, text := range texts {
		if want := fmt.Sprintf("flood %d of %d", i+1, size); text != want {
			t.Fatalf("text %d is %q, want %q", i+1, text, want)
		}
	}
}

func TestAHarnessThatHangsCanBeStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	id, _ := r.play(lines("spawn 600", "orphan 600", "hang"), "result calm")
	orphan := pidIn(t, r.awaitText(id, 1, 1, "orphan pid"))
	stop := r.watch()
	r.post(fmt.Sprintf("/api/plans/%d/nodes/1/stop", id), nil, nil)
	stop()
	if v := r.step(id, 1); v.Status != "failed" || v.Error != "stopped by user" {
		t.Errorf("the step is %s: %s", v.Status, v.Error)
	}
	if run := r.runs(id, 1)[0]; run.Outcome != "stopped" {
		t.Errorf("the run is %s: %s", run.Outcome, run.Cause)
	}
	r.awaitStep(id, 2, "done")
	await(t, "the agent and its children are gone", func() bool { return len(r.harnesses()) == 0 && !alive(orphan) })
}

// What goes wrong before the handshake concerns a harness as a whole: it is
// listed with the reason, and its steps fail at once with the same words.
func TestAHarnessThatDoesNotSayHelloIsRefused(t *testing.T) {
	t.Parallel()
	for boot, why := range map[string]string{
		"garbage": `the first line that it prints is no handshake: "good morning, this is no handshake"`,
		"bigline": "no handshake",
		"exit":    "it ended before its handshake: exited with code 1; it printed: harness-mock: exit before the handshake, as told",
		"hang":    "it did not say hello within 10s",
	} {
		t.Run(boot, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			drop(t, "harness-stranger", folder)
			r := prepareRig(t, "--mock", "--harness-dir", folder, "--pass-env", "CLEARBOX_MOCK_BOOT")
			r.env = []string{"CLEARBOX_MOCK_BOOT=" + boot}
			r.restart()
			stop := r.watch()
			id, _ := r.play("result fine")
			v := r.awaitStep(id, 1, "failed")
			stop()
			r.checkMemory()
			if !strings.Contains(v.Error, `agent "mock" cannot run`) || !strings.Contains(v.Error, why) {
				t.Errorf("the step failed with: %s", v.Error)
			}
			if reason := r.refusal("mock"); !strings.Contains(reason, why) {
				t.Errorf("the list of harnesses says: %s", reason)
			}
			if reason := r.refusal("stranger"); reason != "" {
				t.Errorf("the other harness is refused: %s", reason)
			}
		})
	}
}

// refusal says why a harness is refused, "" when it is not.
func (r *rig) refusal(slug string) string {
	r.t.Helper()
	var list []struct{ Slug, Refused string }
	r.get("/api/harnesses", &list)
	for _, h := range list {
		if h.Slug == slug {
			return h.Refused
		}
	}
	r.t.Fatalf("there is no harness %q in %+v", slug, list)
	return ""
}
