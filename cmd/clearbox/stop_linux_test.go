package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStopEndsTheServerAndFreesPortAndDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fine([]string{"stop"}, "No Clearbox is running at "+d.url())
	for range 3 { // each start finds the database of the one before free
		d.fine([]string{"ensure", "--mock"}, "background")
		d.fine([]string{"stop", "--db", "whatever"}, "Stopped Clearbox "+version, d.url())
		ln, err := net.Listen("tcp", strings.TrimPrefix(d.url(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		ln.Close()
	}
	d.fine([]string{"stop"}, "No Clearbox is running at")
	checkRefused(t, d.run("stop", "now"), 2, `"now"`)
}

func TestStopStopsAgentsAndRestartDoesNot(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fine([]string{"ensure", "--mock"}, "background")
	r := d.rig()
	id, dir := r.play(lines("text here", until("go"), "text there", "result the end"))
	r.awaitText(id, 1, 1, "here")
	before := r.harnesses()
	out := d.fine([]string{"restart", "--mock"}, "Stopped", "Started", d.url())
	if strings.Index(out, "Stopped") > strings.Index(out, "Started") {
		t.Errorf("it printed %q", out)
	}
	if diff := cmp.Diff(before, r.harnesses()); diff != "" || len(before) != 1 {
		t.Errorf("the agent did not live on (-before +after):\n%s", diff)
	}
	d.fine([]string{"stop"}, "Stopped")
	if left := processesIn(d.data); len(left) > 0 {
		t.Errorf("after stop these run: %v", left)
	}
	touch(t, dir, "go")
	d.fine([]string{"restart", "--mock"}, "No Clearbox is running", "Started")
	r.awaitPlan(id, "done")
	checkStopped(t, r, id)
}

func TestRestartKeepsTheOptionsOfTheServerInTheBackground(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.fine([]string{"ensure", "--mock", "--db", "mine.sqlite"}, "background")
	home := d.dir
	d.dir = t.TempDir()
	d.fine([]string{"restart"}, "Started")
	if !strings.Contains(d.log()[strings.LastIndex(d.log(), "Clearbox "+version):], filepath.Join(home, "mine.sqlite")) {
		t.Errorf("the new server has another database:\n%s", d.log())
	}
	d.fine([]string{"restart", "--mock"}, "Started") // options of its own are taken alone
	last := d.log()[strings.LastIndex(d.log(), "Clearbox "+version):]
	if !strings.Contains(last, filepath.Join(d.data, "clearbox", "clearbox.sqlite")) {
		t.Errorf("the new server has not the usual database:\n%s", last)
	}
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	d.fine([]string{"restart", "--max-concurrency", "2"}, "Started")
}

func TestAServerWithATokenIsStoppedWithIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const token = "a-token-that-nobody-guesses"
	d.write("token", token+"\n")
	d.write("wrong", "another-token-altogether\n")
	d.fine([]string{"ensure", "--mock", "--auth-token-file", "token"}, "background")
	d.fine([]string{"ensure"}, "running")
	checkRefused(t, d.run("stop"), 1, "needs its token", "--token-file")
	checkRefused(t, d.run("status"), 1, "needs its token", "CLEARBOX_AUTH_TOKEN")
	checkRefused(t, d.run("stop", "--token-file", "wrong"), 1, "does not accept")
	checkRefused(t, d.run("stop", "--token-file", "nowhere"), 2, "--token-file", "nowhere")
	d.fine([]string{"status", "--token-file", "token"}, version)
	d.fine([]string{"restart"}, "Stopped", "Started") // it remembers the file
	d.env = append(d.env, "CLEARBOX_AUTH_TOKEN="+token)
	o := d.run("stop")
	checkFine(t, o, "Stopped")
	if strings.Contains(d.log()+o.out, token) {
		t.Error("the token was printed")
	}
}

func TestALogThatHasGrownIsPutAside(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if err := os.MkdirAll(filepath.Dir(d.logFile()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.logFile(), make([]byte, maxLog+1), 0o600); err != nil {
		t.Fatal(err)
	}
	d.fine([]string{"ensure", "--mock"}, "background")
	if info, err := os.Stat(d.logFile()); err != nil || info.Size() > 1<<20 {
		t.Errorf("the log is %v, %v", info, err)
	}
	if info, err := os.Stat(d.logFile() + ".old"); err != nil || info.Size() != maxLog+1 {
		t.Errorf("the old log is %v, %v", info, err)
	}
}
