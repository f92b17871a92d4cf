package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// running is a command that goes on.
type running struct {
	t    testing.TB
	cmd  *exec.Cmd
	done chan struct{}

	mu          sync.Mutex
	out, errOut bytes.Buffer
}

// start starts a command that is ended with the test if it does not end before.
func (d *desk) start(args ...string) *running {
	d.t.Helper()
	c := &running{t: d.t, done: make(chan struct{})}
	c.cmd = exec.Command(program(d.t, "clearbox"), args...)
	c.cmd.Dir, c.cmd.Env = d.dir, d.env
	c.cmd.Stdout, c.cmd.Stderr = lockedWriter{&c.mu, &c.out}, lockedWriter{&c.mu, &c.errOut}
	if err := c.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.done)
	}()
	d.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.done
	})
	return c
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (c *running) printed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

func (c *running) awaitPrinted(text string) {
	c.t.Helper()
	await(c.t, "it prints "+strconv.Quote(text), func() bool {
		select {
		case <-c.done:
			if !strings.Contains(c.printed(), text) {
				c.t.Fatalf("it ended without %q:\n%s%s", text, c.printed(), c.errOut.String())
			}
		default:
		}
		return strings.Contains(c.printed(), text)
	})
}

// wait returns how the command ended.
func (c *running) wait() outcome {
	c.t.Helper()
	await(c.t, "the command ends", func() bool {
		select {
		case <-c.done:
			return true
		default:
			return false
		}
	})
	return outcome{c.cmd.ProcessState.ExitCode(), c.out.String(), c.errOut.String()}
}

// stepLines are the lines that watch printed of steps, without their times.
func stepLines(out string) []string {
	var got []string
	for line := range strings.Lines(out) {
		if len(line) > 10 && line[2] == ':' && line[5] == ':' {
			got = append(got, strings.TrimSpace(line[10:]))
		}
	}
	return got
}

func TestWatchTellsAPlanFromStartToEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	g := graph{Title: "A walk", WorkingDirectory: t.TempDir(), Nodes: []node{
		{Key: "a", Title: "First", Description: "```mock\nresult one\\x1b[31m\n```"},
		{Key: "b", Title: "Yours", Kind: "user"},
		{Key: "c", Title: "Last", Description: "```mock\nask sure?\nfail \"no luck\\n\\x1b[31mtoday\"\n```"},
	}, Edges: [][2]string{{"a", "b"}, {"b", "c"}}}
	id := r.submit(g)
	w := d.start("plan", "watch", "1")
	w.awaitPrinted("plan 1: A walk (3 pending, not started)\n")
	checkWaiting := func(why string) {
		t.Helper()
		if o := d.run("plan", "watch", "1", "--until-waiting"); o.code != 3 || o.errOut != "" || !strings.HasSuffix(o.out, "plan 1 waits: "+why+"\n") {
			t.Errorf("%+v, want code 3 and %q", o, why)
		}
	}
	checkWaiting("it is not started")
	r.begin(id)
	w.awaitPrinted("Yours: waits for you")
	checkWaiting("step 1.2 is yours: Yours")
	d.fine([]string{"plan", "done", "1.2", "--result", "went well"})
	r.awaitQuestion("sure?")
	checkWaiting("the agent of step 1.3 asks: sure?")
	d.fine([]string{"answer", "1.3", "allow"})
	o := w.wait()
	if o.code != 1 || o.errOut != "" {
		t.Errorf("exit code %d, %q", o.code, o.errOut)
	}
	want := []string{"1.1    First: running, mock", "1.1    First: done: one\\x1b[31m", "1.2    Yours: waits for you",
		"1.2    Yours: done: went well", "1.3    Last: running, mock", "1.3    Last: failed: no luck"}
	if diff := cmp.Diff(want, withoutSpans(stepLines(o.out))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(o.out, "plan 1 has failed: 1 failed, 2 done\n") {
		t.Errorf("it ends with %q", o.out)
	}
	if strings.Contains(o.out, "\x1b") {
		t.Errorf("it steers the terminal: %q", o.out)
	}
	if o := d.run("plan", "watch", "1"); o.code != 1 || !strings.Contains(o.out, "has failed") {
		t.Errorf("of a plan that has failed it says %+v", o)
	}
}

// withoutSpans takes out how long steps took.
func withoutSpans(lines []string) []string {
	for i, line := range lines {
		if before, after, ok := strings.Cut(line, " after "); ok {
			_, rest, _ := strings.Cut(after, ":")
			lines[i] = before
			if rest != "" {
				lines[i] += ":" + rest
			}
		}
	}
	return lines
}

// keepPort makes a rig keep its port over restarts, as servers of people do.
func keepPort(r *rig) { r.flags = append(r.flags, "--port", strconv.Itoa(freePort(r.t))) }

func TestWatchMissesNothingWhenTheServerRestarts(t *testing.T) {
	t.Parallel()
	r := prepareRig(t, "--mock")
	keepPort(r)
	r.restart()
	d := r.desk()
	id, dir := r.play(lines(until("a"), "result one"), lines(until("b"), "result two"), lines(until("c"), "result three"))
	w := d.start("plan", "watch", strconv.Itoa(id), "--json")
	w.awaitPrinted(`"step":"1.3"`)
	touch(t, dir, "a")
	w.awaitPrinted(`"result":"one"`)
	r.kill()
	touch(t, dir, "b") // while nobody is there to tell
	r.restart()
	r.awaitStep(id, 2, "done")
	w.awaitPrinted(`"result":"two"`)
	d.fine([]string{"stop", "--server", r.url()}, "Stopped")
	r.wait()
	r.restart()
	touch(t, dir, "c")
	o := w.wait()
	if o.code != 0 || o.errOut != "" {
		t.Errorf("exit code %d, %q", o.code, o.errOut)
	}
	var got []string
	for line := range strings.Lines(o.out) {
		var ch change
		if err := json.Unmarshal([]byte(line), &ch); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if ch.Step != "" && ch.To != "ready" && ch.To != "pending" {
			got = append(got, ch.Step+" "+ch.To)
		}
	}
	// All are running when it comes; the stop ends the third, which runs again.
	want := map[string]int{"1.1 running": 1, "1.2 running": 1, "1.3 running": 2, "1.1 done": 1, "1.2 done": 1, "1.3 done": 1}
	counts := map[string]int{}
	for _, s := range got {
		counts[s]++
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("(-want +got):\n%s\nin:\n%s", diff, o.out)
	}
	if last := o.out[strings.LastIndex(strings.TrimSpace(o.out), "\n")+1:]; last != `{"status":"done","why":"3 done"}`+"\n" {
		t.Errorf("it ends with %q", last)
	}
}

func TestWatchGivesUpOnAServerThatStaysAway(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	id, _ := r.play("hang")
	w := d.start("plan", "watch", strconv.Itoa(id), "--patience", "300ms")
	w.awaitPrinted("running, mock")
	r.kill()
	o := w.wait()
	if o.code != 1 || !strings.Contains(o.errOut, "the connection is lost") || !strings.Contains(o.errOut, "did not come back within 300ms") {
		t.Errorf("%+v", o)
	}
	r.restart()
}

func TestWatchOfAPlanThatIsDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	id, _ := r.play("hang")
	w := d.start("plan", "watch", strconv.Itoa(id))
	w.awaitPrinted("running, mock")
	d.fine([]string{"plan", "delete", "1", "--yes"})
	if o := w.wait(); o.code != 1 || !strings.HasSuffix(o.out, "plan 1 was deleted\n") {
		t.Errorf("%+v", o)
	}
}

func TestWatchFollowsSubplans(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	id := r.submit(graph{WorkingDirectory: t.TempDir(), Nodes: []node{{Key: "a", Title: "Outer"}}})
	r.post("/api/plans", object{"title": "Inner", "parent_plan_id": id, "parent_node_id": 1, "nodes": []object{
		{"key": "x", "title": "In here", "description": "```mock\n@1 fail not yet\nresult deep\n```"}}}, nil)
	w := d.start("plan", "watch", "1")
	w.awaitPrinted("not started")
	r.begin(id)
	o := w.wait()
	want := []string{"1.1    Outer: running", "2.1    In here: running, mock", "2.1    In here: failed: not yet", "1.1    Outer: failed: a step of its subplan 2 failed"}
	if diff := cmp.Diff(want, withoutSpans(stepLines(o.out))); diff != "" || o.code != 1 {
		t.Errorf("exit code %d (-want +got):\n%s", o.code, diff)
	}
	d.fine([]string{"plan", "retry", "2.1"})
	r.awaitPlan(id, "done")
	d.fine([]string{"plan", "watch", "1"}, "plan 1 is done")
	d.fine([]string{"plan", "show", "1"}, "done 1/1 in plan 2")
}

func TestManyStepsAtOnceAreAllTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock", "--max-concurrency", "4")
	d := r.desk()
	g := graph{WorkingDirectory: t.TempDir()}
	for i := range 30 {
		g.Nodes = append(g.Nodes, node{Key: fmt.Sprint(i), Title: fmt.Sprint("Step ", i), Description: "```mock\nflood 20\nresult ok\n```"})
	}
	id := r.submit(g)
	w := d.start("plan", "watch", strconv.Itoa(id))
	w.awaitPrinted("not started")
	r.begin(id)
	o := w.wait()
	if o.code != 0 {
		t.Errorf("exit code %d: %s", o.code, o.errOut)
	}
	counts := map[string]int{}
	for _, line := range withoutSpans(stepLines(o.out)) {
		_, what, _ := strings.Cut(line, ": ")
		counts[what]++
	}
	if diff := cmp.Diff(map[string]int{"running, mock": 30, "done: ok": 30}, counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWatchThatNobodyReadsEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, "--mock")
	d := r.desk()
	id, _ := r.play("hang")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "clearbox"), "plan", "watch", strconv.Itoa(id))
	cmd.Env, cmd.Stdout = d.env, write
	read.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	if err := cmd.Wait(); err == nil {
		t.Error("it went on")
	}
}
